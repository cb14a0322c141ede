// Tests training, evaluation, weights and logs, on two models so small that their results are
// known.
#include <signal.h>
#include <sys/resource.h>

#include "tests/runtime/small.h"

static void learns_a_line(void **state)
{
    float w[LD];

    write_linear("data", 24);
    Said s = run_trainer(&linear, "--data data --steps 600 --save w.safetensors --log log.jsonl");
    assert_ran(&s);
    assert_string_equal(s.out, "");
    read_tensor("w.safetensors", "weight", w, sizeof w);
    assert_float_equal(w[0], 1, 1e-3);
    assert_float_equal(w[1], -2, 1e-3);
    assert_float_equal(w[2], 3, 1e-3);
    assert_true(last_loss("log.jsonl", "\"loss\": ") < 1e-6);
    assert_non_null(strstr(s.err, "step 600/600  loss 0.0000  "));
    assert_non_null(strstr(s.err, " samples/s"));
    assert_non_null(strstr(s.err, "wrote w.safetensors\n"));
}

// Two micro-batches of 4 give the gradients of one batch of 8, up to the rounding of another
// order.
static void accumulates(void **state)
{
    RtModel two = linear;
    float g[LD], expected[LD] = {0}, bias;

    two.accumulate = 2;
    write_linear("data8", 8);
    Said s = run_trainer(&linear, "--data data8 --steps 0 --save w0.safetensors --seed 3");
    assert_ran(&s);
    s = run_trainer(&two, "--data data8 --no-shuffle --load w0.safetensors --log log.jsonl"
                          " --save-gradients g.safetensors --save w1.safetensors");
    assert_ran(&s);
    float w[LD], w1[LD], x[8 * LD], y[8];
    char file[4096];
    read_text("data8/x.npy", file, sizeof file);
    memcpy(x, file + 128, sizeof x);
    read_text("data8/labels.npy", file, sizeof file);
    memcpy(y, file + 128, sizeof y);
    read_tensor("w0.safetensors", "weight", w, sizeof w);
    for (int b = 0; b < 8; b++) {
        float e = -y[b];
        for (int i = 0; i < LD; i++)
            e += x[b * LD + i] * w[i];
        for (int i = 0; i < LD; i++)
            expected[i] += 2 * e * x[b * LD + i] / 8;
    }
    read_tensor("g.safetensors", "weight", g, sizeof g);
    read_tensor("g.safetensors", "bias", &bias, sizeof bias);
    read_tensor("w1.safetensors", "weight", w1, sizeof w1);
    for (int i = 0; i < LD; i++) {
        assert_float_equal(g[i], expected[i], 1e-5);
        assert_float_equal(w1[i], w[i] - 0.1f * g[i], 1e-6);
    }
    assert_float_equal(last_loss("log.jsonl", "\"step\": "), 1, 0);  // the default of --steps is 1
}

// Every window of the text follows the same rule, so the loss falls to almost 0.
static void learns_text(void **state)
{
    char text[1200];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "abcde"[i % 5];
    write_file("text.bin", text, sizeof text);
    Said s = run_trainer(&bigram, "--data text.bin --eval-data text.bin --eval-every 50 --steps 100"
                                  " --save t.safetensors --log log.jsonl --generate 8"
                                  " --prompt bcd --temperature 0");
    assert_ran(&s);
    assert_string_equal(s.out, "bcdeabcdeab\n");
    assert_true(last_loss("log.jsonl", "\"eval_loss\": ") < 0.05);
    assert_non_null(strstr(s.err, " tokens/s"));
    assert_non_null(strstr(s.err, "step 50  eval loss "));
    assert_non_null(strstr(s.err, "eval: 1 of 299 samples don't fill a batch and are left out\n"));
    s = run_trainer(&bigram, "--load t.safetensors --eval-data text.bin --quiet");
    assert_ran(&s);
    assert_float_equal(atof(s.out + strlen("eval_loss ")),
                       last_loss("log.jsonl", "\"eval_loss\": "), 1e-7);
    assert_string_equal(s.err, "");

    // The first 14 samples are windows of 4 tokens, and a label more.
    write_file("few.bin", text, 14 * 4 + 1);
    Said few = run_trainer(&bigram, "--load t.safetensors --eval-data few.bin");
    Said first = run_trainer(&bigram, "--load t.safetensors --eval-data text.bin"
                                      " --eval-samples 14");
    assert_ran(&first);
    assert_string_equal(few.out, first.out);
    assert_string_not_equal(s.out, first.out);

    // One tensor holds both layers, but their names in the file differ.
    float a[BV * BV], b[BV * BV];
    read_tensor("t.safetensors", "h.3.weight", a, sizeof a);
    read_tensor("t.safetensors", "h.5.weight", b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
}

// ---- a vocabulary larger than bytes: after token t comes t + 7 ----

enum { CT = 4, CV = 300, C_IDS = 0, C_Y = 64, C_BYTES = C_Y + 4 * CT * CV };

static const RtTensor counting_predict[] = {
    {RT_INPUT, RT_I64, "input_ids", .rank = 2, .dim = {1, CT}, .at = C_IDS},
    {RT_OUTPUT, RT_F32, "logits", .rank = 3, .dim = {1, CT, CV}, .at = C_Y},
};

static void count_on(Rt *rt, char *m)
{
    for (int p = 0; p < CT; p++)
        for (int v = 0; v < CV; v++)
            F(m, C_Y)[p * CV + v] = (I(m, C_IDS)[p] + 7) % CV == v;
}

static void generates_numbers(void **state)
{
    static const struct {
        const char *prompt, *out, *err;
    } cases[] = {
        {"290\t\v2", "290 2 9 16 \n", ""},
        {"\t299", "299 6 13 \n", ""},
        {"3x", "3 ",
         "counting: error: --prompt: 'x' is not the number of a token: this model's vocabulary "
         "isn't bytes\n"},
        {"300", "", "counting: error: --prompt: token 300 is not below the vocabulary's 300\n"},
        {"-1", "", "counting: error: --prompt: token -1 is not below the vocabulary's 300\n"},
    };
    static const RtModel counting = {
        .device = &rt_cpu,
        .name = "counting",
        .arena_bytes = C_BYTES,
        .init_std = 1,  // weights are drawn, there is no file of them
        .accumulate = 1,
        .threads = 64,
        .predict = counting_predict,
        .n_predict = N(counting_predict),
        .forward = count_on,
    };

    for (int i = 0; i < N(cases); i++) {
        char args[80];
        snprintf(args, sizeof args, "--generate 2 --temperature 0 --quiet --prompt %s",
                 cases[i].prompt);
        Said s = run_trainer(&counting, args);
        assert_string_equal(s.err, cases[i].err);
        assert_string_equal(s.out, cases[i].out);
    }
}

// The same seed gives the same bits, another seed other bits. Checking the arena changes nothing.
static void repeats(void **state)
{
    static const struct {
        const char *args;
        bool same;
    } cases[] = {
        {"", true},
        {" --seed 0 --threads 1", true},
        {" --check-arena", true},
        {" --schedule constant --lr=8", true},
        {" --seed 1", false},
        {" --no-shuffle", false},
        {" --warmup 3", false},
        {" --schedule cosine", false},
        {" --lr 7.5", false},
        {" --steps 29", false},
    };
    char text[400], args[256];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * i * 7 % 101);
    write_file("noise.bin", text, sizeof text);
    for (int i = -1; i < N(cases); i++) {
        snprintf(args, sizeof args,
                 "--data noise.bin --eval-data noise.bin --eval-every 7 --steps 120 --quiet"
                 " --save %s.safetensors%s",
                 i < 0 ? "a" : "b", i < 0 ? "" : cases[i].args);
        Said s = run_trainer(&bigram, args);
        assert_ran(&s);
        if (i >= 0 && same_files("a.safetensors", "b.safetensors") != cases[i].same)
            fail_msg("options '%s': the same bits %s", cases[i].args,
                     cases[i].same ? "expected" : "were not expected");
    }
}

static void predicts(void **state)
{
    RtMap map;
    RtStored y;
    RtFileError e;

    write_linear("ten", 10);  // two and a half batches
    Said s = run_trainer(&linear, "--data ten --steps 500 --save w.safetensors --quiet");
    assert_ran(&s);
    unlink("ten/labels.npy");
    s = run_trainer(&linear, "--load w.safetensors --predict ten -o y.npz --check-arena");
    assert_ran(&s);
    assert_string_equal(s.err, "wrote y.npz: 1 output of 10 samples\n");
    assert_true(rt_map(&map, "y.npz", &e));
    assert_true(rt_npz_find(&map, "y", &y, &e));
    assert_int_equal(y.rank, 1);
    assert_int_equal(y.dim[0], 10);
    rt_unmap(&map);
    s = run_trainer(&linear, "--load w.safetensors --predict ten/x.npy -o z.npz --quiet");
    assert_ran(&s);
    assert_true(same_files("y.npz", "z.npz"));
    s = run_trainer(&linear, "--load w.safetensors --predict gone -o y.npz");
    assert_int_equal(s.status, 1);
    assert_true(same_files("y.npz", "z.npz"));
}

// ---- failures while training ----

static void interrupt_at_3(Rt *rt, char *m)
{
    linear_update(rt, m);
    if (*F(m, L_STEP) == 3)
        raise(SIGINT);
}

static void saves_when_interrupted(void **state)
{
    RtModel m = linear;

    m.update = interrupt_at_3;
    write_linear("data", 24);
    Said s =
        run_trainer(&m, "--data data --steps 600 --save i.safetensors --log log.jsonl --quiet");
    assert_int_equal(s.status, 130);
    assert_float_equal(last_loss("log.jsonl", "\"step\": "), 3, 0);
    s = run_trainer(&linear, "--data data --steps 3 --save j.safetensors --quiet");
    assert_ran(&s);
    assert_true(same_files("i.safetensors", "j.safetensors"));
}

static void diverges(void **state)
{
    write_linear("data", 24);
    write_file("old.safetensors", "old", 3);
    Said s = run_trainer(&linear, "--data data --steps 600 --lr 1e18 --save old.safetensors"
                                  " --log log.jsonl --quiet");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err,
                        "linear: error: step 3: the loss is infinite; stopped, nothing is saved\n");
    char text[4096];
    read_text("old.safetensors", text, sizeof text);
    assert_string_equal(text, "old");
    read_text("log.jsonl", text, sizeof text);
    assert_non_null(strstr(text, "{\"step\": 3, \"loss\": null, "));
}

// Another process shortens the data. Of the text, whole pages are gone.
static void cut_data(Rt *rt, char *m)
{
    linear_update(rt, m);
    if (*F(m, L_STEP) == 3)
        (void)!truncate("data/x.npy", 400);
}

static void cut_text(Rt *rt, char *m)
{
    bigram_update(rt, m);
    (void)!truncate("long.bin", 5000);
}

static void stops_at_cut_files(void **state)
{
    RtModel m = linear, b = bigram;
    static char text[20000];

    m.update = cut_data;
    write_linear("data", 24);
    Said s = run_trainer(&m, "--data data --steps 600 --save never --quiet");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err, "linear: error: data/x.npy: it was cut short while it was read: "
                               "400 of 416 bytes are left\n");
    b.update = cut_text;
    memset(text, 'x', sizeof text);
    write_file("long.bin", text, sizeof text);
    s = run_trainer(&b, "--data long.bin --steps 600 --save never --quiet");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err, "bigram: error: long.bin: it was cut short while it was read: "
                               "5000 of 20000 bytes are left\n");
    assert_int_not_equal(access("never", F_OK), 0);
}

static void fill_disk(Rt *rt, char *m)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000});
    bigram_update(rt, m);
}

static void keeps_the_old_file(void **state)
{
    RtModel m = bigram;
    char text[64];

    m.update = fill_disk;
    memset(text, 'x', sizeof text);
    write_file("x.bin", text, sizeof text);
    write_file("old.safetensors", "old", 3);
    Said s = run_trainer(&m, "--data x.bin --steps 1 --save old.safetensors --quiet");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err, "bigram: error: old.safetensors: not saved: File too large\n");
    read_text("old.safetensors", text, sizeof text);
    assert_string_equal(text, "old");
    assert_int_not_equal(system("ls old.safetensors.*.tmp 2>/dev/null"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_a_line),
        cmocka_unit_test(accumulates),
        cmocka_unit_test(learns_text),
        cmocka_unit_test(generates_numbers),
        cmocka_unit_test(repeats),
        cmocka_unit_test(predicts),
        cmocka_unit_test(saves_when_interrupted),
        cmocka_unit_test(diverges),
        cmocka_unit_test(keeps_the_old_file),
        cmocka_unit_test(stops_at_cut_files),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
