// Compares the kernels of the two targets.
#include "tests/cuda/both.h"
#include "tests/runtime/halves.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_OPERANDS = 16, ORDERS = 3 };
static const struct {
    unsigned order;
    bool is_lazy;
} orders[ORDERS] = {{0, false}, {1, true}, {12345, false}};

static void *copied(const void *data, int64_t bytes)
{
    void *to = NULL;

    if (posix_memalign(&to, 64, (size_t)bytes + 1))
        abort();
    if (bytes)
        memcpy(to, data, (size_t)bytes);
    return to;
}

static void succeed(cudaError_t e)
{
    if (e)
        fail_msg("%s", cudaGetErrorString(e));
}

// Runs the GPU's call in one order; `result` gets the operands' bytes after it.
static void run_gpu(Call *call, const void *p, const Operand *o, int n, int64_t workspace, int k,
                    void **result)
{
    void *device[MAX_OPERANDS], *room;
    RtCuda cuda = {0};
    void *kernel[TEST_KERNELS] = {NULL};
    Rt rt = {.kernel = kernel, .state = &cuda};

    cudart_order(orders[k].order, orders[k].is_lazy);
    succeed(rt_cuda_load(&cuda, "image"));
    succeed(cudaStreamCreateWithFlags(&cuda.stream, cudaStreamNonBlocking));
    succeed(cudaMalloc(&room, (size_t)workspace));
    rt.workspace = room;
    for (int i = 0; i < n; i++) {
        device[i] = NULL;
        if (o[i].data) {
            succeed(cudaMalloc(&device[i], (size_t)o[i].bytes));
            succeed(cudaMemcpy(device[i], o[i].data, (size_t)o[i].bytes, cudaMemcpyHostToDevice));
        }
    }
    call(&rt, p, device);
    succeed(cudaStreamSynchronize(cuda.stream));
    for (int i = 0; i < n; i++) {
        result[i] = copied(o[i].data, o[i].data ? o[i].bytes : 0);
        if (o[i].data)
            succeed(cudaMemcpy(result[i], device[i], (size_t)o[i].bytes, cudaMemcpyDeviceToHost));
        succeed(cudaFree(device[i]));
    }
    for (int i = 0; i < TEST_KERNELS; i++)
        free(kernel[i]);
    succeed(cudaFree(room));
    succeed(cudaStreamDestroy(cuda.stream));
    rt_cuda_unload(&cuda);
    assert_int_equal(cudart_objects(), 0);
}

// ---- halves, which the CPU's function computes in f32 ----

static int64_t elements_of(const Operand *o) { return o->bytes / rt_type_bytes(o->type); }

void *widen(const Operand *o)
{
    int64_t n = elements_of(o);
    void *to = NULL;

    if (posix_memalign(&to, 64, (size_t)(n + 1) * sizeof(float)))
        abort();
    for (int64_t i = 0; i < n; i++)
        ((float *)to)[i] = element(o->type, o->data, i);
    return to;
}

static void *copied_operand(const Operand *o)
{
    return is_half(o->type) ? widen(o) : copied(o->data, o->bytes);
}

// ---- results ----

static double element_of(RtType t, const void *x, int64_t i)
{
    return t == RT_F64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static void check_result(const char *what, const Operand *o, const void *got, const void *want)
{
    int64_t width = rt_type_bytes(o->type), n = o->bytes / width;

    for (int64_t i = 0; i < n; i++) {
        const char *x = (const char *)got + i * width, *y = (const char *)want + i * width;
        if (memcmp(x, y, (size_t)width) == 0)
            continue;
        if (o->type != RT_F32 && o->type != RT_F64)
            fail_msg("%s: element %" PRId64 " of %" PRId64 " differs", what, i, n);
        double a = element_of(o->type, got, i), b = element_of(o->type, want, i);
        if (!(fabs(a - b) <= o->limit) && !(isnan(a) && isnan(b)))
            fail_msg("%s: element %" PRId64 " of %" PRId64 " is %.9g, not %.9g (limit %g)", what, i,
                     n, a, b, o->limit);
    }
}

static void check_halves(const char *what, const Operand *o, const void *got, const float *want)
{
    check_tensor(what, o->type, got, want, elements_of(o), o->limit);
}

void check_both(const char *what, Call *cpu, Call *gpu, const void *cpu_p, const void *gpu_p,
                const Operand *o, int n, int64_t cpu_bytes, int64_t gpu_bytes)
{
    void *want[MAX_OPERANDS], *got[ORDERS][MAX_OPERANDS], *args[MAX_OPERANDS];
    Rt rt = rt_new(1, cpu_bytes);

    for (int i = 0; i < n; i++) {
        want[i] = o[i].data ? copied_operand(&o[i]) : NULL;
        args[i] = want[i];
    }
    cpu(&rt, cpu_p, args);
    for (int k = 0; k < ORDERS; k++)
        run_gpu(gpu, gpu_p, o, n, gpu_bytes, k, got[k]);
    for (int i = 0; i < n; i++) {
        int64_t bytes = o[i].data ? o[i].bytes : 0;
        if (o[i].is_result && bytes && is_half(o[i].type))
            check_halves(what, &o[i], got[0][i], want[i]);
        else if (o[i].is_result && bytes)
            check_result(what, &o[i], got[0][i], want[i]);
        else
            assert_memory_equal(got[0][i], o[i].data ? o[i].data : "", (size_t)bytes);
        for (int k = 1; k < ORDERS; k++)
            if (memcmp(got[0][i], got[k][i], (size_t)bytes))
                fail_msg("%s: operand %d depends on the order of threads", what, i);
        free(want[i]);
        for (int k = 0; k < ORDERS; k++)
            free(got[k][i]);
    }
    rt_delete(&rt);
}

void read_failure(void (*f)(const void *x), const void *x, char *text, size_t room)
{
    int pipes[2], status;
    size_t n = 0;

    assert_return_code(pipe(pipes), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], 2);
        f(x);
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t k; n + 1 < room && (k = read(pipes[0], text + n, room - n - 1)) > 0;)
        n += (size_t)k;
    text[n] = 0;
    close(pipes[0]);
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
        fail_msg("status %d: '%s'", status, text);
}

void check_failure(void (*f)(const void *x), const void *x, const char *says)
{
    char text[1024];

    read_failure(f, x, text, sizeof text);
    if (!strstr(text, says))
        fail_msg("'%s' isn't in '%s'", says, text);
}

static void put_integer(Random *r, RtType t, void *x, int64_t i)
{
    int64_t v = draw(r, 9) - 4;

    switch (rt_type_bytes(t)) {
    case 1:
        ((uint8_t *)x)[i] = (uint8_t)(t == RT_BOOL ? v & 1 : v);
        break;
    case 2:
        ((uint16_t *)x)[i] = (uint16_t)v;
        break;
    case 4:
        ((uint32_t *)x)[i] = (uint32_t)v;
        break;
    default:
        ((uint64_t *)x)[i] = (uint64_t)v;
    }
}

void *draw_elements(Random *r, RtType t, int64_t n, bool has_odd)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0};
    void *x;

    if (posix_memalign(&x, 64, (size_t)(n + 1) * 8))
        abort();
    for (int64_t i = 0; i < n; i++) {
        bool is_odd = has_odd && draw(r, 20) == 0;
        // Few different values, so that some are equal.
        double v = is_odd ? odd[draw(r, 4)] : has_odd ? (double)draw(r, 16) - 8 : 0;
        if (!is_odd && !has_odd)
            v = (double)draw_float(r);
        if (t == RT_F32 || is_half(t))
            set_element(t, x, i, (float)v);
        else if (t == RT_F64)
            ((double *)x)[i] = v;
        else
            put_integer(r, t, x, i);
    }
    return x;
}
