// Tests a trainer's messages about wrong options (status 2) and about wrong data and weights
// (status 1).
#include "runtime/trainer/trainer_options.h"
#include "tests/runtime/small.h"

typedef struct Case {
    const char *args, *says;  // says: after "linear: error: "
} Case;

static const Case wrong_options[] = {
    {"", "nothing to do: give --data, --eval-data, --predict or --generate; --help lists all "
         "options\n"},
    {"--step 5", "unknown option '--step' (did you mean '--steps'?)\n"},
    {"--weight_decay 5", "unknown option '--weight_decay' (did you mean '--weight-decay'?)\n"},
    {"--seeed=1", "unknown option '--seeed' (did you mean '--seed'?)\n"},
    {"--micro 1", "unknown option '--micro'; --help lists them\n"},
    {"--frobnicate", "unknown option '--frobnicate'; --help lists them\n"},
    {"--\x1b[1m", "unknown option '--\\x1b[1m'; --help lists them\n"},
    {"data", "unexpected argument 'data'\n"},
    {"--steps", "--steps needs a value\n"},
    {"--lr", "--lr needs a value\n"},
    {"--quiet=1", "--quiet takes no value\n"},
    {"--tune", "--tune: this program is for a CPU, which doesn't have it\n"},
    {"--steps 1e3", "--steps: '1e3' is not a whole number of at least 0\n"},
    {"--steps -1", "--steps: '-1' is not a whole number of at least 0\n"},
    {"--steps=", "--steps: '' is not a whole number of at least 0\n"},
    {"--seed 99999999999999999999",
     "--seed: '99999999999999999999' is not a whole number of at least 0\n"},
    {"--threads 0", "--threads: '0' is not a whole number from 1 to 2147483647\n"},
    {"--lr fast", "--lr: 'fast' is not a number\n"},
    {"--lr nan", "--lr: 'nan' is not a number\n"},
    {"--temperature -1", "--temperature: '-1' is less than 0\n"},
    {"--schedule cosin",
     "--schedule: 'cosin' is not one of constant|linear|cosine (did you mean 'cosine'?)\n"},
    {"--token-bytes 3", "--token-bytes: '3' is not one of 1|2|4\n"},
    {"--predict x", "--predict needs -o\n"},
    {"--data x -o y", "-o needs --predict\n"},
    {"--data x --prompt y", "--prompt needs --generate\n"},
    {"--data x --eval-every 3", "--eval-every needs --eval-data\n"},
    {"--data x --eval-samples 3", "--eval-samples needs --eval-data\n"},
    {"--eval-data x --eval-samples 0", "--eval-samples: '0' is not a whole number of at least 1\n"},
    {"--eval-data x --save y", "--save needs --data\n"},
    {"--predict x -o y --log z", "--log needs --data or --eval-data\n"},
    {"--generate 1 --tensorboard y", "--tensorboard needs --data or --eval-data\n"},
    {"--data x --keep-best", "--keep-best needs --eval-data\n"},
    {"--data x --eval-data y --keep-best", "--keep-best needs --checkpoint\n"},
    {"--data x --checkpoint-every 90s", "--checkpoint-every needs --checkpoint\n"},
    {"--data x --checkpoint-in-place", "--checkpoint-in-place needs --checkpoint\n"},
    {"--eval-data x --spike 2", "--spike needs --data\n"},
    {"--data x --documents packed", "--documents needs --document-end\n"},
    {"--data x --document-end 0", "--document-end needs --documents\n"},
};

// data/ is good; each other folder differs from it in one respect.
static const Case wrong_data[] = {
    {"--data gone", "gone: No such file or directory\n"},
    {"--data empty", "empty/x.npy: No such file or directory\n"},
    {"--data data/x.npy",
     "data/x.npy: the model has 2 inputs: give a folder with a file for each\n"},
    {"--data data --threads 65", "--threads 65: at most 64 are possible; shardcc --threads N sets "
                                 "that number, up to 64\n"},
    {"--data few", "few: samples found: 3; a step takes 4\n"},
    {"--eval-data few", "few: samples found: 3; a batch takes 4\n"},
    {"--eval-data data --eval-samples 9", "--eval-samples: data: samples found: 8, not 9\n"},
    {"--eval-data data --eval-samples 3", "--eval-samples: 3; a batch takes 4\n"},
    {"--data shape", "shape/x.npy: found F32[8,2], expected F32[samples,3]\n"},
    {"--data rank", "rank/labels.npy: found F32[8,1], expected F32[samples]\n"},
    {"--data dtype", "dtype/labels.npy: found I64[8], expected F32[samples]\n"},
    {"--data count", "count/labels.npy: 9 samples, but x.npy has 8\n"},
    {"--data short", "short/x.npy: npy: its header says F32[8,3], 96 bytes; 95 are there\n"},
    {"--data text", "text/x.npy: not an npy file\n"},
    {"--data pipe", "pipe/x.npy: not a regular file\n"},
    {"--data tokens.bin", "tokens.bin: a file of tokens serves inputs of tokens and labels, both "
                          "[batch, time]; give a folder with a .npy file for each of these\n"
                          "  x F32[4,3]\n  labels F32[4]\n"},
    {"--data data --save gone/x", "gone/x: No such file or directory\n"},
    {"--data data --save data", "data: not a regular file\n"},
    {"--data data --log gone/x", "gone/x: No such file or directory\n"},
    {"--data data --load gone", "gone: No such file or directory\n"},
    {"--data data --load text/x.npy",
     "text/x.npy: safetensors: its header says 8675467939688574835 bytes, the file has 13: "
     "truncated?\n"},
    {"--data data --load wrong.safetensors",
     "wrong.safetensors: these are not the weights of this model\n"
     "  different   bias: found F64[], expected F32[]\n"
     "  unexpected  extra%d F32[2]\n"
     "  missing     weight F32[3]\n"},
    {"--data data --load many.safetensors",
     "many.safetensors: these are not the weights of this model\n"
     "  missing     bias F32[]\n"
     "  unexpected  t00 F32[]\n  unexpected  t01 F32[]\n  unexpected  t02 F32[]\n"
     "  unexpected  t03 F32[]\n  unexpected  t04 F32[]\n  unexpected  t05 F32[]\n"
     "  unexpected  t06 F32[]\n  unexpected  t07 F32[]\n  unexpected  t08 F32[]\n"
     "  unexpected  t09 F32[]\n  unexpected  t10 F32[]\n  and 9 more\n"},
    {"--generate 5", "--generate: it takes a model with an input of tokens [batch, time] and an "
                     "output [batch, time, vocabulary]\n"},
};

static const Case wrong_text[] = {
    {"--data x.bin --token-bytes 2", "x.bin: 13 bytes are not a whole number of tokens of 2 bytes "
                                     "(--token-bytes)\n"},
    {"--data few.bin", "few.bin: samples found: 1; a step takes 2\n"},
    {"--data high.bin --no-shuffle", "step 2: sample 2, position 1: label 200 is out of range\n"},
    {"--eval-data high.bin", "step 1: sample 2, position 1: label 200 is out of range\n"},
    {"--generate 5 --prompt \xc3\xa4", "--prompt: token 195 is not below the vocabulary's 128\n"},
};

// Options that others need are there.
static void needed_options(void **state)
{
    for (int i = 0; i < rt_n_options; i++)
        for (int k = 0; k < RT_MAX_NEEDS && rt_options[i].needs[k]; k++) {
            char names[64], *rest = names;
            snprintf(names, sizeof names, "%s", rt_options[i].needs[k]);
            for (const char *name; (name = strtok_r(rest, " ", &rest));) {
                bool is_there = strcmp(name, "or") == 0;
                for (int n = 0; n < rt_n_options; n++)
                    is_there |= strcmp(name, rt_options[n].name) == 0;
                assert_true(is_there);
            }
        }
}

static void write_safe(const char *path, const RtStored *t, int n)
{
    int64_t bytes;
    char *header = rt_safe_header(t, n, &bytes), zeros[64] = {0};
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    fwrite(header, 1, (size_t)bytes, f);
    for (int i = 0; i < n; i++)
        fwrite(zeros, (size_t)rt_dtype_bytes(t[i].dtype), t[i].rank ? (size_t)t[i].dim[0] : 1, f);
    fclose(f);
    free(header);
}

static void write_weights(void)
{
    RtStored wrong[] = {{.name = "bias", .dtype = "F64"},
                        {.name = "extra%d", .dtype = "F32", .rank = 1, .dim = {2}}};
    RtStored many[21] = {{.name = "weight", .dtype = "F32", .rank = 1, .dim = {3}}};
    char name[21][8];

    for (int i = 1; i < 21; i++) {
        snprintf(name[i], sizeof name[i], "t%02d", i - 1);
        many[i] = (RtStored){.name = name[i], .dtype = "F32"};
    }
    write_safe("wrong.safetensors", wrong, 2);
    write_safe("many.safetensors", many, 21);
}

static void write_all(void)
{
    static const char *const folders[] = {"data",  "shape", "rank", "dtype",
                                          "count", "short", "text", "pipe"};
    float x[32] = {0};
    int64_t labels[16] = {0};
    char text[13] = "some text 123";

    for (int i = 0; i < N(folders); i++)
        write_linear(folders[i], 8);
    write_linear("few", 3);
    mkdir("empty", 0777);
    write_npy("shape/x.npy", "F32", 2, (int64_t[]){8, 2}, x);
    write_npy("rank/labels.npy", "F32", 2, (int64_t[]){8, 1}, x);
    write_npy("dtype/labels.npy", "I64", 1, (int64_t[]){8}, labels);
    write_npy("count/labels.npy", "F32", 1, (int64_t[]){9}, x);
    assert_int_equal(truncate("short/x.npy", 128 + 95), 0);
    write_file("text/x.npy", text, sizeof text);
    unlink("pipe/x.npy");
    assert_int_equal(mkfifo("pipe/x.npy", 0777), 0);
    write_file("tokens.bin", text, sizeof text);
    write_file("x.bin", text, sizeof text);
    write_file("few.bin", text, 8);
    char high[40] = {0};
    high[2 * BT + 2] = (char)200;
    write_file("high.bin", high, sizeof high);
    write_weights();
}

static void run_cases(const RtModel *m, const Case *cases, int n, int status)
{
    char expected[8192];

    for (int i = 0; i < n; i++) {
        char args[512];
        snprintf(args, sizeof args, "%s --quiet", cases[i].args);
        Said s = run_trainer(m, status == 2 ? cases[i].args : args);
        snprintf(expected, sizeof expected, "%s: error: %s", m->name, cases[i].says);
        if (s.status != status || strcmp(s.err, expected) != 0 || s.out[0])
            fail_msg("%s %s: status %d, says\n%s%s\nexpected %d\n%s", m->name, cases[i].args,
                     s.status, s.out, s.err, status, expected);
    }
}

static void options(void **state) { run_cases(&linear, wrong_options, N(wrong_options), 2); }
static void data(void **state) { run_cases(&linear, wrong_data, N(wrong_data), 1); }
static void text(void **state) { run_cases(&bigram, wrong_text, N(wrong_text), 1); }

// There is no weights file, and the program can't draw weights.
static void no_weights(void **state)
{
    RtModel m = linear;

    m.init_std = 0;
    Said s = run_trainer(&m, "--data data");
    assert_int_equal(s.status, 1);
    assert_non_null(strstr(s.err, "/linear.safetensors: No such file or directory; give --load\n"));
}

static void no_training(void **state)
{
    RtModel m = linear;

    m.micro = NULL;
    Said s = run_trainer(&m, "--data data");
    assert_int_equal(s.status, 1);
    assert_string_equal(
        s.err, "linear: error: --data: it was compiled without a loss and can't be trained\n");
}

static void no_memory(void **state)
{
    RtModel m = linear;

    m.arena_bytes = (int64_t)1 << 60;
    Said s = run_trainer(&m, "--data data");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err, "linear: error: no memory for the arena of 1099511627776.0 MiB: "
                               "Cannot allocate memory\n");
}

static void help(void **state)
{
    Said s = run_trainer(&linear, "--help");

    assert_int_equal(s.status, 0);
    assert_string_equal(s.err, "");
    for (int i = 0; i < rt_n_options; i++) {
        bool is_shown = strstr(s.out, rt_options[i].name);
        assert_int_equal(is_shown, rt_has_option(&linear, &rt_options[i]));
    }
    assert_null(strstr(s.out, "--no-graph"));
    assert_non_null(strstr(s.out, "  --lr X                  (0.1)"));
    assert_non_null(strstr(s.out, "  --weight-decay X        (0)"));
    assert_null(strstr(s.out, "--micro"));
    for (char *line = strtok(s.out, "\n"); line; line = strtok(NULL, "\n"))
        assert_in_range(strlen(line), 1, 101);
}

static void info(void **state)
{
    Said s = run_trainer(&bigram, "--info");

    assert_int_equal(s.status, 0);
    assert_string_equal(s.out, "bigram  \n"
                               "arena       0.3 MiB\n"
                               "step        1e-06 GFLOP, 1 micro-batch\n"
                               "parameters  32768 numbers, buffers 0, optimizer 0\n"
                               "training\n"
                               "  input       input_ids I64[2,4]\n"
                               "  input       labels I64[2,4]\n"
                               "forward only\n"
                               "  input       input_ids I64[2,4]\n"
                               "  input       labels I64[2,4]\n"
                               "  output      logits F32[2,4,128]\n"
                               "weights\n"
                               "  h.3.weight F32[128,128]\n"
                               "  h.5.weight F32[128,128]\n");
}

static int enter_and_write(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    write_all();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options),        cmocka_unit_test(data),
        cmocka_unit_test(text),           cmocka_unit_test(no_weights),
        cmocka_unit_test(no_training),    cmocka_unit_test(no_memory),
        cmocka_unit_test(help),           cmocka_unit_test(info),
        cmocka_unit_test(needed_options),
    };

    return cmocka_run_group_tests(tests, enter_and_write, leave_folder);
}
