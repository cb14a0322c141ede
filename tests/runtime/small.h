// Two models written by hand as the generator writes them, with plain loops. Also runs a trainer
// and collects its output.
#ifndef SHARDCC_TESTS_SMALL_H
#define SHARDCC_TESTS_SMALL_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/core.h"
#include "runtime/rt_cpu.h"
#include "runtime/trainer/data.h"

#define N(a) (int)(sizeof(a) / sizeof *(a))
#define F(p, offset) ((float *)((p) + (offset)))
#define I(p, offset) ((int64_t *)((p) + (offset)))

// ---- linear: y = x w + b, mse, sgd; 4 samples of 3 numbers in a micro-batch ----

enum { LB = 4, LD = 3 };
enum {
    L_W = 0,
    L_BIAS = 128,
    L_DW = 256,
    L_DBIAS = 384,
    L_SUM = 512,
    L_COUNT = 640,
    L_LR = 768,
    L_DECAY = 896,
    L_STEP = 1024,
    L_INDEX = 1152,
    L_SEED = 1280,
    L_MICRO = 1408,
    L_ZONE = L_MICRO + 64,
    L_X = 1536,
    L_LABELS = 1600,
    L_Y = 1664,
    L_NORM = 1728,
    L_BYTES = 1792
};

static const RtTensor linear_tensors[] = {
    {.role = RT_PARAMETER, .type = RT_F32, .name = "weight", .rank = 1, .dim = {LD}, .at = L_W},
    {.role = RT_PARAMETER, .type = RT_F32, .name = "bias", .at = L_BIAS},
    {.role = RT_ZERO, .type = RT_F32, .name = "dw", .rank = 1, .dim = {LD}, .at = L_DW},
    {.role = RT_ZERO, .type = RT_F32, .name = "db", .at = L_DBIAS},
    {.role = RT_ZERO, .type = RT_F32, .name = "sum", .at = L_SUM},
    {.role = RT_ZERO, .type = RT_F32, .name = "count", .at = L_COUNT},
    {.role = RT_HYPER, .type = RT_F32, .name = "lr", .at = L_LR, .fill = 0.1},
    {.role = RT_HYPER, .type = RT_F32, .name = "weight_decay", .at = L_DECAY},
    {.role = RT_HYPER, .type = RT_F32, .name = "step", .at = L_STEP},
    {.role = RT_HYPER, .type = RT_I64, .name = "step_index", .at = L_INDEX},
    {.role = RT_HYPER, .type = RT_I64, .name = "seed", .at = L_SEED},
    {.role = RT_HYPER, .type = RT_I64, .name = "micro", .at = L_MICRO},
};
static const RtTensor linear_train[] = {
    {.role = RT_INPUT, .type = RT_F32, .name = "x", .rank = 2, .dim = {LB, LD}, .at = L_X},
    {.role = RT_INPUT,
     .type = RT_F32,
     .name = "labels",
     .rank = 1,
     .dim = {LB},
     .at = L_LABELS,
     .is_labels = true},
    {.role = RT_GRADIENT, .type = RT_F32, .name = "weight", .rank = 1, .dim = {LD}},
    {.role = RT_GRADIENT, .type = RT_F32, .name = "bias", .gradient = 1},
    {.role = RT_LOSS_SUM, .type = RT_F32, .name = "sum", .at = L_SUM},
    {.role = RT_LOSS_COUNT, .type = RT_F32, .name = "count", .at = L_COUNT},
    {.role = RT_GRAD_NORM, .type = RT_F32, .name = "norm", .at = L_NORM},
};
static const RtTensor linear_predict[] = {
    {.role = RT_INPUT, .type = RT_F32, .name = "x", .rank = 2, .dim = {LB, LD}, .at = L_X},
    {.role = RT_INPUT,
     .type = RT_F32,
     .name = "labels",
     .rank = 1,
     .dim = {LB},
     .at = L_LABELS,
     .is_labels = true,
     .is_for_loss = true},
    {.role = RT_OUTPUT, .type = RT_F32, .name = "y", .rank = 1, .dim = {LB}, .at = L_Y},
    {.role = RT_LOSS_SUM, .type = RT_F32, .name = "sum", .at = L_SUM},
    {.role = RT_LOSS_COUNT, .type = RT_F32, .name = "count", .at = L_COUNT},
};

static inline void linear_y(char *m)
{
    for (int b = 0; b < LB; b++) {
        F(m, L_Y)[b] = *F(m, L_BIAS);
        for (int i = 0; i < LD; i++)
            F(m, L_Y)[b] += F(m, L_X)[b * LD + i] * F(m, L_W)[i];
    }
}

static inline void linear_forward(Rt *rt, char *m)
{
    linear_y(m);
    *F(m, L_SUM) = 0;
    *F(m, L_COUNT) = LB;
    for (int b = 0; b < LB; b++)
        *F(m, L_SUM) += powf(F(m, L_Y)[b] - F(m, L_LABELS)[b], 2);
}

static inline void linear_micro(Rt *rt, char *m)
{
    linear_y(m);
    for (int b = 0; b < LB; b++) {
        float e = F(m, L_Y)[b] - F(m, L_LABELS)[b];

        *F(m, L_SUM) += e * e;
        *F(m, L_COUNT) += 1;
        *F(m, L_DBIAS) += 2 * e;
        for (int i = 0; i < LD; i++)
            F(m, L_DW)[i] += 2 * e * F(m, L_X)[b * LD + i];
    }
}

static inline void linear_reduce(Rt *rt, char *m)
{
    float norm = 0;

    *F(m, L_DBIAS) /= *F(m, L_COUNT);
    for (int i = 0; i < LD; i++) {
        F(m, L_DW)[i] /= *F(m, L_COUNT);
        norm += F(m, L_DW)[i] * F(m, L_DW)[i];
    }
    rt_gradient(rt, 0, 0, m + L_DW);
    rt_gradient(rt, 1, 0, m + L_DBIAS);
    *F(m, L_NORM) = sqrtf(norm + *F(m, L_DBIAS) * *F(m, L_DBIAS));
}

static inline void linear_update(Rt *rt, char *m)
{
    *F(m, L_BIAS) -= *F(m, L_LR) * *F(m, L_DBIAS);
    for (int i = 0; i < LD; i++)
        F(m, L_W)[i] -= *F(m, L_LR) * (F(m, L_DW)[i] + *F(m, L_DECAY) * F(m, L_W)[i]);
}

static const RtModel linear = {
    .device = &rt_cpu,
    .name = "linear",
    .options = "linear.onnx --loss mse(y, labels)",
    .plan = "one rank",
    .arena_bytes = L_BYTES,
    .accumulate = 1,
    .threads = 64,
    .init_std = 0.02,
    .flops = 48,
    .tensors = linear_tensors,
    .n_tensors = N(linear_tensors),
    .train = linear_train,
    .n_train = N(linear_train),
    .predict = linear_predict,
    .n_predict = N(linear_predict),
    .redzone = 64,
    .micro = linear_micro,
    .reduce = linear_reduce,
    .update = linear_update,
    .forward = linear_forward,
};

// ---- bigram: logits = Σ of 2 layers of table[token]; cross entropy, sgd, windows of 4 bytes ----

enum { BB = 2, BT = 4, BV = 128, B_TABLE = 4 * BV * BV };
enum {
    B_W = 0,
    B_D = 2 * B_TABLE,
    B_SUM = 4 * B_TABLE,
    B_COUNT = B_SUM + 64,
    B_LR = B_SUM + 128,
    B_IDS = B_SUM + 192,
    B_LABELS = B_SUM + 256,
    B_BAD = B_SUM + 320,
    B_Y = B_SUM + 384,
    B_BYTES = B_Y + 4 * BB * BT * BV
};

#define BIGRAM_LAYERS                                                                              \
    .type = RT_F32, .name = "h.{}.weight", .layers = 2, .first = 3, .by = 2, .rank = 2,            \
    .dim = {BV, BV}, .step = B_TABLE
static const RtTensor bigram_tensors[] = {
    {.role = RT_PARAMETER, BIGRAM_LAYERS, .at = B_W},
    {.role = RT_ZERO, BIGRAM_LAYERS, .at = B_D},
    {.role = RT_ZERO, .type = RT_F32, .name = "sum", .at = B_SUM},
    {.role = RT_ZERO, .type = RT_F32, .name = "count", .at = B_COUNT},
    {.role = RT_HYPER, .type = RT_F32, .name = "lr", .at = B_LR, .fill = 8},
};
#define BIGRAM_INPUTS                                                                              \
    {.role = RT_INPUT,                                                                             \
     .type = RT_I64,                                                                               \
     .name = "input_ids",                                                                          \
     .rank = 2,                                                                                    \
     .dim = {BB, BT},                                                                              \
     .at = B_IDS},                                                                                 \
        {.role = RT_INPUT,                                                                         \
         .type = RT_I64,                                                                           \
         .name = "labels",                                                                         \
         .rank = 2,                                                                                \
         .dim = {BB, BT},                                                                          \
         .at = B_LABELS,                                                                           \
         .is_labels = true,                                                                        \
         .is_for_loss = true},                                                                     \
        {.role = RT_LOSS_SUM, .type = RT_F32, .name = "sum", .at = B_SUM},                         \
        {.role = RT_LOSS_COUNT, .type = RT_F32, .name = "count", .at = B_COUNT},                   \
    {                                                                                              \
        .role = RT_BAD_LABEL, .type = RT_I64, .name = "bad", .at = B_BAD                           \
    }
static const RtTensor bigram_train[] = {
    BIGRAM_INPUTS,
    {.role = RT_GRADIENT, BIGRAM_LAYERS},
};
static const RtTensor bigram_predict[] = {
    BIGRAM_INPUTS,
    {.role = RT_OUTPUT,
     .type = RT_F32,
     .name = "logits",
     .rank = 3,
     .dim = {BB, BT, BV},
     .at = B_Y},
};

// Computes the logits and probabilities of position p and returns its loss; -1 for an invalid
// label.
static inline double bigram_position(char *m, int p, float *probability)
{
    int64_t id = I(m, B_IDS)[p], label = I(m, B_LABELS)[p];
    float *y = F(m, B_Y) + p * BV, sum = 0, most = -INFINITY;

    for (int v = 0; v < BV; v++) {
        y[v] = F(m, B_W)[id * BV + v] + F(m, B_W + B_TABLE)[id * BV + v];
        most = y[v] > most ? y[v] : most;
    }
    for (int v = 0; v < BV; v++)
        sum += probability[v] = expf(y[v] - most);
    for (int v = 0; v < BV; v++)
        probability[v] /= sum;
    return label < 0 || label >= BV ? -1 : -logf(probability[label]);
}

static inline void bigram_forward(Rt *rt, char *m)
{
    float probability[BV];

    *F(m, B_SUM) = *F(m, B_COUNT) = 0;
    *I(m, B_BAD) = 0;
    for (int p = 0; p < BB * BT; p++) {
        double loss = bigram_position(m, p, probability);
        if (loss < 0)
            *I(m, B_BAD) = p + 1;
        *F(m, B_SUM) += (float)loss;
        *F(m, B_COUNT) += 1;
    }
}

static inline void bigram_micro(Rt *rt, char *m)
{
    float probability[BV];

    *I(m, B_BAD) = 0;
    for (int p = 0; p < BB * BT; p++) {
        double loss = bigram_position(m, p, probability);
        float *row = F(m, B_D) + I(m, B_IDS)[p] * BV;

        if (loss < 0) {
            *I(m, B_BAD) = p + 1;
            I(m, B_LABELS)[p] = -1;  // later the program reuses the input's bytes
            return;
        }
        probability[I(m, B_LABELS)[p]] -= 1;
        for (int v = 0; v < BV; v++)
            row[v] += probability[v];
        *F(m, B_SUM) += (float)loss;
        *F(m, B_COUNT) += 1;
    }
}

static inline void bigram_reduce(Rt *rt, char *m)
{
    for (int i = 0; i < BV * BV; i++)
        F(m, B_D + B_TABLE)[i] = F(m, B_D)[i] /= *F(m, B_COUNT);
    for (int i = 0; i < 2; i++)
        rt_gradient(rt, 0, i, m + B_D + i * B_TABLE);
}

static inline void bigram_update(Rt *rt, char *m)
{
    for (int i = 0; i < 2 * BV * BV; i++)
        F(m, B_W)[i] -= *F(m, B_LR) * F(m, B_D)[i];
}

static const RtModel bigram = {
    .device = &rt_cpu,
    .name = "bigram",
    .arena_bytes = B_BYTES,
    .accumulate = 1,
    .threads = 64,
    .init_std = 0.02,
    .flops = 1e3,
    .vocabulary = BV,
    .tensors = bigram_tensors,
    .n_tensors = N(bigram_tensors),
    .train = bigram_train,
    .n_train = N(bigram_train),
    .predict = bigram_predict,
    .n_predict = N(bigram_predict),
    .micro = bigram_micro,
    .reduce = bigram_reduce,
    .update = bigram_update,
    .forward = bigram_forward,
};

// ---- running ----

typedef struct Said {
    int status;
    char out[8192], err[8192];
} Said;

static inline void read_text(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, room - 1, f) : 0;

    to[n] = 0;
    if (f)
        fclose(f);
}

// Starts a trainer in a process of its own, which writes to the files out and err in `folder`.
// `args` are divided at blanks.
static inline pid_t start_trainer_in(const char *folder, const RtModel *m, const char *args)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char text[1024], out[64], err[64], *argv[64] = {(char *)m->name};
    int argc = 1;
    snprintf(text, sizeof text, "%s", args);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr))
        _exit(99);
    exit(rt_main(m, argc, argv));
}

static inline Said end_trainer_in(const char *folder, pid_t pid)
{
    Said s = {0};
    int status = 0;
    char path[64];

    waitpid(pid, &status, 0);
    s.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    snprintf(path, sizeof path, "%s/out", folder);
    read_text(path, s.out, sizeof s.out);
    snprintf(path, sizeof path, "%s/err", folder);
    read_text(path, s.err, sizeof s.err);
    return s;
}

static inline Said run_trainer(const RtModel *m, const char *args)
{
    return end_trainer_in(".", start_trainer_in(".", m, args));
}

static inline void assert_ran(const Said *s)
{
    if (s->status)
        print_error("%s", s->err);
    assert_int_equal(s->status, 0);
}

static inline void read_tensor(const char *path, const char *name, void *to, size_t bytes)
{
    RtSafe s;
    RtFileError e;

    assert_true(rt_safe_open(&s, path, &e));
    const RtStored *t = rt_safe_find(&s, name);
    assert_non_null(t);
    assert_int_equal(t->bytes, bytes);
    memcpy(to, t->data, bytes);
    rt_safe_close(&s);
}

// The last value of `key` in a log.
static inline double last_loss(const char *path, const char *key)
{
    static char text[1 << 19];
    char *at = NULL;
    double v = NAN;

    read_text(path, text, sizeof text);
    for (char *p = text; (p = strstr(p, key)); p++)
        at = p;
    if (at)
        sscanf(at + strlen(key), "%lf", &v);
    return v;
}

static inline bool same_files(const char *a, const char *b)
{
    char command[128];

    snprintf(command, sizeof command, "cmp -s %s %s", a, b);
    return system(command) == 0;
}

// Makes a new, empty folder and enters it.
static inline int enter_folder(void **state)
{
    static char folder[] = "/tmp/shardcc-test-XXXXXX";

    *state = folder;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **state)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    return system(command);
}

static inline void write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void write_npy(const char *path, const char *dtype, int rank, const int64_t *dim,
                             const void *data)
{
    RtStored t = {.dtype = dtype, .rank = rank};
    char header[512];
    int64_t bytes = rt_dtype_bytes(dtype);
    FILE *f = fopen(path, "wb");

    for (int i = 0; i < rank; i++)
        bytes *= t.dim[i] = dim[i];
    assert_non_null(f);
    fwrite(header, 1, rt_npy_header(header, sizeof header, &t), f);
    fwrite(data, 1, (size_t)bytes, f);
    assert_int_equal(fclose(f), 0);
}

// Writes `n` samples of y = x0 - 2 x1 + 3 x2 + 0.5 to the folder.
static inline void write_linear(const char *folder, int n)
{
    char path[64];
    float *x = calloc((size_t)n * LD, sizeof *x), *y = calloc((size_t)n, sizeof *y);

    for (int i = 0; i < n; i++) {
        for (int k = 0; k < LD; k++)
            x[i * LD + k] = (float)((i * 7 + k * 5 + i * k * 3) % 11) / 5 - 1;
        y[i] = x[i * LD] - 2 * x[i * LD + 1] + 3 * x[i * LD + 2] + 0.5f;
    }
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/x.npy", folder);
    write_npy(path, "F32", 2, (int64_t[]){n, LD}, x);
    snprintf(path, sizeof path, "%s/labels.npy", folder);
    write_npy(path, "F32", 1, (int64_t[]){n}, y);
    free(x);
    free(y);
}

#endif
