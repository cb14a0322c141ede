// Tests the trainer on several ranks against one rank. In the linear model of small.h the first
// mesh axis splits the samples and the second the features. In the bigram model the first axis
// splits the positions and the second the vocabulary.
#include <signal.h>

#include "tests/runtime/ranks.h"

enum { FIRST, SECOND };  // indices of cuts and of axes

static const RtCut line_cuts[] = {{LB, 1, {FIRST}}, {LD, 1, {SECOND}}};
static const RtCut bigram_cuts[] = {{BT, 1, {FIRST}}, {BV, 1, {SECOND}}};

// A program on a mesh of two axes, and its tensors.
typedef struct Split {
    RtModel m;
    RtTensor tensors[16], train[16], predict[16];
} Split;

// Splits every dim that is as long as a cut's whole.
static void cut_tensors(RtTensor *to, const RtTensor *from, int n, const RtCut cut[2])
{
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].n_parts = from[i].rank;
        memcpy(to[i].part, from[i].dim, sizeof from[i].dim);
        for (int k = 0; k < from[i].rank; k++)
            for (int c = 0; c < 2; c++)
                to[i].cut[k] = from[i].dim[k] == cut[c].whole ? 1 + c : to[i].cut[k];
    }
}

static void split(Split *x, const RtModel *m, const RtCut cut[2], int p, int q)
{
    x->m = *m;
    x->m.mesh = (RtMesh){2, {p, q}, {"dp", "tp"}};
    x->m.cuts = cut;
    x->m.n_cuts = 2;
    x->m.transport = &shared_memory;
    x->m.tensors = x->tensors;
    x->m.train = x->train;
    x->m.predict = x->predict;
    cut_tensors(x->train, m->train, m->n_train, cut);
    cut_tensors(x->predict, m->predict, m->n_predict, cut);
    cut_tensors(x->tensors, m->tensors, m->n_tensors, cut);
}

// ---- linear ----

// Is the rank the first along the axis? It alone adds terms that all ranks along the axis have.
static bool is_first(const Rt *rt, int axis)
{
    const RtMesh *mesh = &rt->comm->model->mesh;
    return rt_mesh_coordinate(mesh, axis, rt_comm_rank(rt->comm)) == 0;
}

static void line_y(Rt *rt, char *m)
{
    RtShard rows = rt->shard[FIRST], columns = rt->shard[SECOND];
    int64_t room = rt_chunk(&rt->comm->model->mesh, &line_cuts[SECOND]);
    float y[LB] = {0};

    for (int64_t r = 0; r < rows.extent; r++)
        for (int64_t i = 0; i < columns.extent; i++)
            y[rows.offset + r] += F(m, L_X)[r * room + i] * F(m, L_W)[i];
    sum_over_ranks(rt, y, LB);
    for (int64_t r = 0; r < rows.extent; r++)
        F(m, L_Y)[r] = y[rows.offset + r] + *F(m, L_BIAS);
}

// Sums of the loss and the samples, and gradients of the bias and the weights.
enum { OF_LOSS, OF_COUNT, OF_BIAS, OF_W };

static void line_sums(Rt *rt, char *m, float sum[OF_W + LD])
{
    RtShard rows = rt->shard[FIRST], columns = rt->shard[SECOND];
    int64_t room = rt_chunk(&rt->comm->model->mesh, &line_cuts[SECOND]);

    line_y(rt, m);
    memset(sum, 0, (OF_W + LD) * sizeof *sum);
    for (int64_t r = 0; r < rows.extent; r++) {
        float e = F(m, L_Y)[r] - F(m, L_LABELS)[r], once = is_first(rt, SECOND);

        sum[OF_LOSS] += once * e * e;
        sum[OF_COUNT] += once;
        sum[OF_BIAS] += once * 2 * e;
        for (int64_t i = 0; i < columns.extent; i++)
            sum[OF_W + columns.offset + i] += 2 * e * F(m, L_X)[r * room + i];
    }
    sum_over_ranks(rt, sum, OF_W + LD);
}

static void line_forward(Rt *rt, char *m)
{
    float sum[OF_W + LD];

    line_sums(rt, m, sum);
    *F(m, L_SUM) = sum[OF_LOSS];
    *F(m, L_COUNT) = sum[OF_COUNT];
}

static void line_micro(Rt *rt, char *m)
{
    RtShard columns = rt->shard[SECOND];
    float sum[OF_W + LD];

    line_sums(rt, m, sum);
    *F(m, L_SUM) += sum[OF_LOSS];
    *F(m, L_COUNT) += sum[OF_COUNT];
    *F(m, L_DBIAS) += sum[OF_BIAS];
    for (int64_t i = 0; i < columns.extent; i++)
        F(m, L_DW)[i] += sum[OF_W + columns.offset + i];
}

static void line_reduce(Rt *rt, char *m)
{
    float norm = 0;

    *F(m, L_DBIAS) /= *F(m, L_COUNT);
    for (int64_t i = 0; i < rt->shard[SECOND].extent; i++) {
        F(m, L_DW)[i] /= *F(m, L_COUNT);
        norm += is_first(rt, FIRST) * F(m, L_DW)[i] * F(m, L_DW)[i];
    }
    sum_over_ranks(rt, &norm, 1);
    rt_gradient(rt, 0, 0, m + L_DW);
    rt_gradient(rt, 1, 0, m + L_DBIAS);
    *F(m, L_NORM) = sqrtf(norm + *F(m, L_DBIAS) * *F(m, L_DBIAS));
}

static void line_update(Rt *rt, char *m)
{
    *F(m, L_BIAS) -= *F(m, L_LR) * *F(m, L_DBIAS);
    for (int64_t i = 0; i < rt->shard[SECOND].extent; i++)
        F(m, L_W)[i] -= *F(m, L_LR) * (F(m, L_DW)[i] + *F(m, L_DECAY) * F(m, L_W)[i]);
}

static void split_line(Split *x, int p, int q)
{
    split(x, &linear, line_cuts, p, q);
    x->m.micro = line_micro;
    x->m.reduce = line_reduce;
    x->m.update = line_update;
    x->m.forward = line_forward;
}

// Checks that only rank `speaker` prints a message. `said` NULL: any message.
static void assert_all(const Ranks *x, int n, int status, int speaker, const char *said)
{
    for (int r = 0; r < n; r++) {
        const char *expected = r == speaker ? said : "";

        if (x->said[r].status != status)
            fail_msg("rank %d: %d: %s", r, x->said[r].status, x->said[r].err);
        if (expected)
            assert_string_equal(x->said[r].err, expected);
        if (r != speaker)
            assert_string_equal(x->said[r].out, "");
    }
    assert_int_not_equal(system("ls *.tmp 2>/dev/null"), 0);
}

static void assert_close(const char *name, const char *path, const char *expected, int n)
{
    char a[64], b[64];
    float x[LD], y[LD];

    snprintf(a, sizeof a, "%s.safetensors", path);
    snprintf(b, sizeof b, "%s.safetensors", expected);
    read_tensor(a, name, x, (size_t)n * sizeof *x);
    read_tensor(b, name, y, (size_t)n * sizeof *y);
    for (int i = 0; i < n; i++)
        assert_float_equal(x[i], y[i], 1e-5);
}

static const int meshes[][2] = {{2, 1}, {1, 2}, {2, 2}, {3, 1}, {1, 3}, {2, 3}, {5, 1}, {1, 4}};

static const char all[] = "--data data --eval-data data --eval-every 2 --steps 5 --seed 3"
                          " --no-shuffle --check-arena --predict ten -o %s.npz --log %s.jsonl"
                          " --save %s.safetensors --save-gradients g%s.safetensors";

static void read_y(const char *path, float y[10])
{
    RtMap map;
    RtStored t;
    RtFileError e;

    assert_true(rt_map(&map, path, &e));
    assert_true(rt_npz_find(&map, "y", &t, &e));
    assert_int_equal(t.bytes, 40);
    memcpy(y, t.data, 40);
    rt_unmap(&map);
}

static void trains_as_one_rank(void **state)
{
    char args[512];
    float y[10], expected[10];
    RtModel one = linear;
    Ranks said;
    Split x;

    one.accumulate = 2;
    write_linear("data", 24);
    write_linear("ten", 10);
    snprintf(args, sizeof args, all, "one", "one", "one", "one");
    Said s = run_trainer(&one, args);
    assert_ran(&s);
    for (int i = 0; i < N(meshes); i++) {
        split_line(&x, meshes[i][0], meshes[i][1]);
        x.m.accumulate = 2;
        snprintf(args, sizeof args, all, "all", "all", "all", "all");
        run_ranks(&said, &x.m, args);
        assert_all(&said, meshes[i][0] * meshes[i][1], 0, 0, NULL);
        assert_non_null(strstr(said.said[0].err, "wrote all.npz: 1 output of 10 samples\n"));
        assert_close("weight", "all", "one", LD);
        assert_close("bias", "all", "one", 1);
        assert_close("weight", "gall", "gone", LD);
        assert_close("bias", "gall", "gone", 1);
        static const char *const keys[] = {"\"loss\": ", "\"grad_norm\": ", "\"eval_loss\": "};
        for (int k = 0; k < N(keys); k++)
            assert_float_equal(last_loss("all.jsonl", keys[k]), last_loss("one.jsonl", keys[k]),
                               1e-5);
        read_y("one.npz", expected);
        read_y("all.npz", y);
        for (int k = 0; k < 10; k++)
            assert_float_equal(y[k], expected[k], 1e-5);
    }
}

// Drawn weights don't depend on the mesh, to the last bit, and files don't depend on who wrote
// them.
static void starts_as_one_rank(void **state)
{
    static const char args[] = "--data data --steps 0 --seed 5 --save all.safetensors --quiet";
    Ranks said;
    Split x;

    write_linear("data", 24);
    Said s = run_trainer(&linear, "--data data --steps 0 --seed 5 --save one.safetensors --quiet");
    assert_ran(&s);
    for (int i = 0; i < N(meshes); i++) {
        split_line(&x, meshes[i][0], meshes[i][1]);
        run_ranks(&said, &x.m, args);
        assert_all(&said, meshes[i][0] * meshes[i][1], 0, 0, "");
        assert_true(same_files("one.safetensors", "all.safetensors"));
        unlink("all.safetensors");
    }
}

// ---- failures of one rank ----

static void interrupt_rank_1(Rt *rt, char *m)
{
    line_update(rt, m);
    if (*F(m, L_STEP) == 3 && rt_comm_rank(rt->comm) == 1)
        raise(SIGINT);
}

static void all_stop_after_the_same_step(void **state)
{
    Ranks said;
    Split x;

    write_linear("data", 24);
    split_line(&x, 2, 2);
    run_ranks(&said, &x.m, "--data data --steps 3 --save three.safetensors --quiet");
    assert_all(&said, 4, 0, 0, "");
    x.m.update = interrupt_rank_1;
    run_ranks(&said, &x.m, "--data data --steps 600 --save i.safetensors --log i.jsonl --quiet");
    assert_all(&said, 4, 130, 0, "");
    assert_float_equal(last_loss("i.jsonl", "\"step\": "), 3, 0);
    assert_true(same_files("i.safetensors", "three.safetensors"));
}

static void fill_disk_of_rank_1(Rt *rt, char *m)
{
    line_update(rt, m);
    if (rt_comm_rank(rt->comm) == 1)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
}

static void write_behind_on_rank_1(Rt *rt, char *m)
{
    line_update(rt, m);
    if (rt_comm_rank(rt->comm) == 1)
        *F(m, L_W + 64) = 0;
}

static void write_behind_forward(Rt *rt, char *m)
{
    line_forward(rt, m);
    if (rt_comm_rank(rt->comm) == 1)
        *F(m, L_W + 64) = 0;
}

static void diverge(Rt *rt, char *m)
{
    line_reduce(rt, m);
    *F(m, L_SUM) = NAN;
}

// Writes data in which the second number of sample 2 is out of range.
static void write_bad_index(void)
{
    float x[8 * LD] = {[2 * LD + 1] = 7};

    write_linear("bad", 8);
    write_npy("bad/x.npy", "F32", 2, (int64_t[]){8, LD}, x);
}

// p × q ranks; options; the status of all ranks; the rank that prints and its message;
// replacements of the program's functions.
static const struct {
    int p, q;
    const char *args;
    int status, speaker;
    const char *said;
    void (*update)(Rt *rt, char *m), (*reduce)(Rt *rt, char *m), (*forward)(Rt *rt, char *m);
} failures[] = {
    {2, 2, "--data data --bogus", 2, 0,
     "linear: error: unknown option '--bogus'; --help lists them\n"},
    {2, 1, "--data gone", 1, 0, "linear: error: gone: No such file or directory\n"},
    {2, 1, "--data data --save gone/w --quiet", 1, 0,
     "linear: error: gone/w: No such file or directory\n"},
    {2, 1, "--data data --log gone/l --quiet", 1, 0,
     "linear: error: gone/l: No such file or directory\n"},
    {1, 3, "--data data --load old --quiet", 1, 0,
     "linear: error: old: safetensors: 3 bytes are too few\n"},
    {2, 2, "--data bad --no-shuffle --quiet", 1, 2,
     "linear: error: input 'x': sample 2, position 1: 7 is out of range, -3 to 2\n"
     "  on rank 2 of 4\n"},
    {1, 3, "--predict bad -o bad.npz --quiet", 1, 1,
     "linear: error: input 'x': sample 2, position 1: 7 is out of range, -3 to 2\n"
     "  on rank 1 of 3\n"},
    {2, 1, "--data data --quiet", 1, 0,
     "linear: error: step 1: the loss is NaN; stopped, nothing is saved\n", .reduce = diverge},
    {1, 2, "--data data --steps 1 --save old --quiet", 1, 1,
     "linear: error: old: not saved: File too large\n  on rank 1 of 2\n",
     .update = fill_disk_of_rank_1},
    {1, 2, "--data data --steps 1 --checkpoint runs --quiet", 0, 1,
     "linear: warning: runs/step-000000000001: not saved: File too large\n  on rank 1 of 2\n",
     .update = fill_disk_of_rank_1},
    {1, 2, "--data data --check-arena --steps 1 --quiet", 1, 1,
     "linear: error: arena: something wrote past the end of weight\n  on rank 1 of 2\n",
     .update = write_behind_on_rank_1},
    {2, 1, "--data data --check-arena --save old --quiet", 1, 1,
     "linear: error: arena: something wrote past the end of weight\n  on rank 1 of 2\n",
     .update = write_behind_on_rank_1},
    {2, 1, "--predict data -o never --check-arena --timeout 2", 1, 1,
     "linear: error: arena: something wrote past the end of weight\n  on rank 1 of 2\n",
     .forward = write_behind_forward},
    {2, 1, "--eval-data data --check-arena --timeout 2", 1, 1,
     "linear: error: arena: something wrote past the end of weight\n  on rank 1 of 2\n",
     .forward = write_behind_forward},
};

static void one_speaks_for_all(void **state)
{
    char text[16];
    Ranks said;
    Split x;

    write_linear("data", 24);
    write_bad_index();
    write_file("old", "old", 3);
    for (int i = 0; i < N(failures); i++) {
        int n = failures[i].p * failures[i].q;

        split_line(&x, failures[i].p, failures[i].q);
        x.train[0].least = x.predict[0].least = -3;  // the range of x
        x.train[0].bound = x.predict[0].bound = 3;
        x.m.update = failures[i].update ? failures[i].update : x.m.update;
        x.m.reduce = failures[i].reduce ? failures[i].reduce : x.m.reduce;
        x.m.forward = failures[i].forward ? failures[i].forward : x.m.forward;
        run_ranks(&said, &x.m, failures[i].args);
        assert_all(&said, n, failures[i].status, failures[i].speaker, failures[i].said);
        read_text("old", text, sizeof text);
        assert_string_equal(text, "old");
    }
}

static void starts_together(void **state)
{
    Ranks said;
    Split x;

    write_linear("data", 24);
    split_line(&x, 3, 1);
    for (fileless = 0; fileless < 3; fileless++) {
        char text[128];
        int n = snprintf(text, sizeof text, "linear: error: data/x.npy: Too many open files\n");

        if (fileless > 0)
            snprintf(text + n, sizeof text - (size_t)n, "  on rank %d of 3\n", fileless);
        run_ranks(&said, &x.m, "--data data --timeout 2");
        assert_all(&said, 3, 1, fileless, text);
    }
    fileless = -1;
}

static void counts_ranks(void **state)
{
    Ranks said;
    Split x;

    split_line(&x, 2, 2);
    Said s = run_trainer(&x.m, "--data data");
    assert_int_equal(s.status, 1);
    assert_string_equal(s.err, "linear: error: 1 rank was started, but the program has 4 ranks "
                               "(dp=2, tp=2): mpirun -n 4\n");
    s = run_trainer(&x.m, "--info");
    assert_ran(&s);
    assert_non_null(strstr(s.out, "ranks       4 (dp=2, tp=2), which talk by mpi\n"));
    x.m.mesh.size[0] = 3;
    run_ranks(&said, &x.m, "--help");
    assert_non_null(strstr(said.said[0].out, "mpirun -n 6 linear OPTIONS\n"));
}

// ---- bigrams ----

static void bigram_shard(Rt *rt, char *m)
{
    RtShard positions = rt->shard[FIRST], words = rt->shard[SECOND];
    const RtMesh *mesh = &rt->comm->model->mesh;
    int64_t t_room = rt_chunk(mesh, &bigram_cuts[FIRST]);
    int64_t v_room = rt_chunk(mesh, &bigram_cuts[SECOND]);

    for (int64_t b = 0; b < BB; b++)
        for (int64_t t = 0; t < positions.extent; t++)
            for (int64_t v = 0; v < words.extent; v++) {
                int64_t position = b * t_room + t, id = I(m, B_IDS)[position];
                F(m, B_Y)[position * v_room + v] = F(m, B_W)[id * BV + words.offset + v];
            }
}

static void bigram_whole(Rt *rt, char *m)
{
    for (int64_t position = 0; position < BB * BT; position++)
        memcpy(F(m, B_Y) + position * BV, F(m, B_W) + I(m, B_IDS)[position] * BV,
               BV * sizeof(float));
}

static void generates_as_one_rank(void **state)
{
    static const char args[] = "--generate 20 --prompt ab --temperature 0.05 --seed 4";
    RtModel one = bigram;
    Ranks said;
    Split x;

    one.forward = bigram_whole;
    Said s = run_trainer(&one, args);
    assert_ran(&s);
    for (int i = 0; i < N(meshes); i++) {
        split(&x, &one, bigram_cuts, meshes[i][0], meshes[i][1]);
        for (int k = 0; k < x.m.n_tensors; k++)  // the table isn't split
            x.tensors[k].n_parts = 0;
        x.m.forward = bigram_shard;
        run_ranks(&said, &x.m, args);
        assert_all(&said, meshes[i][0] * meshes[i][1], 0, 0, "");
        assert_string_equal(said.said[0].out, s.out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trains_as_one_rank),
        cmocka_unit_test(starts_as_one_rank),
        cmocka_unit_test(all_stop_after_the_same_step),
        cmocka_unit_test(one_speaks_for_all),
        cmocka_unit_test(starts_together),
        cmocka_unit_test(counts_ranks),
        cmocka_unit_test(generates_as_one_rank),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
