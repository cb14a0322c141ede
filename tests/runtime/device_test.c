// Runs trainers on a device whose memory the host can't touch: Rt.arena is a reserved address, and
// the bytes are elsewhere. Results must be those of the CPU's device.
#include <stdatomic.h>
#include <sys/mman.h>

#include "runtime/device.h"
#include "tests/runtime/small.h"

// The device's memory. Each trainer is a process of its own.
static char *memory;
static int synchronised, marked;
static atomic_int copies_of_others;  // by threads other than the trainer's

static bool far_allocate(Rt *rt, const RtModel *m)
{
    void *p = mmap(NULL, (size_t)m->arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    rt->arena = p;
    memory = calloc((size_t)m->arena_bytes, 1);
    return p != MAP_FAILED && memory;
}

static void far_copy_in(Rt *rt, int64_t to, const void *from, int64_t bytes)
{
    copies_of_others += gettid() != getpid();
    memcpy(memory + to, from, (size_t)bytes);
}

static void far_copy_out(Rt *rt, void *to, int64_t from, int64_t bytes)
{
    copies_of_others += gettid() != getpid();
    memcpy(to, memory + from, (size_t)bytes);
}

static void far_fill(Rt *rt, int64_t to, const void *element, int64_t bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(memory + to + i * bytes, element, (size_t)bytes);
}

static void far_synchronise(Rt *rt) { synchronised++; }

static RtShare far_share(struct RtComm *c) { return (RtShare){.threads = 3}; }

static bool far_start(Rt *rt, const RtModel *m, RtShare share, int threads, bool pins)
{
    assert_int_equal(share.threads, 3);
    rt->threads = threads;
    return true;
}

static void far_close(Rt *rt, const RtModel *m)
{
    FILE *f = fopen("counted", "w");

    fprintf(f, "synchronised %d marked %d others %d", synchronised, marked, copies_of_others);
    fclose(f);
    munmap(rt->arena, (size_t)m->arena_bytes);
    free(memory);
}

static void far_run(Rt *rt, RtPart part) { part(rt, rt->arena); }

static void far_mark(Rt *rt, RtMark *m)
{
    m->seconds = rt_seconds();
    marked++;
}

static double far_seconds_between(const RtMark *from, const RtMark *to)
{
    return to->seconds - from->seconds;
}

static void far_free_mark(RtMark *m) { *m = (RtMark){0}; }

static const RtDevice far_device = {
    .name = "far",
    .kind = "CPU",
    .can = RT_CAN_THREAD | RT_CAN_WATCH,
    .share = far_share,
    .allocate = far_allocate,
    .close = far_close,
    .start_threads = far_start,
    .copy_in = far_copy_in,
    .copy_out = far_copy_out,
    .fill = far_fill,
    .run = far_run,
    .synchronise = far_synchronise,
    .mark = far_mark,
    .seconds_between = far_seconds_between,
    .free_mark = far_free_mark,
};

// ---- programs for it: they get the reserved address, and work on the memory at it ----

static void far_linear_micro(Rt *rt, char *m)
{
    RT_AT(rt, "micro", 1, 1, 1);
    linear_micro(rt, memory);
}

// Shows its gradients by their addresses.
static void far_linear_reduce(Rt *rt, char *m)
{
    linear_reduce(&(Rt){0}, memory);
    rt_gradient(rt, 0, 0, m + L_DW);
    rt_gradient(rt, 1, 0, m + L_DBIAS);
}

static void far_linear_update(Rt *rt, char *m) { linear_update(rt, memory); }
static void far_linear_forward(Rt *rt, char *m) { linear_forward(rt, memory); }
static void far_bigram_micro(Rt *rt, char *m) { bigram_micro(rt, memory); }

static void far_bigram_reduce(Rt *rt, char *m)
{
    bigram_reduce(&(Rt){0}, memory);
    for (int i = 0; i < 2; i++)
        rt_gradient(rt, 0, i, m + B_D + i * B_TABLE);
}

static void far_bigram_update(Rt *rt, char *m) { bigram_update(rt, memory); }
static void far_bigram_forward(Rt *rt, char *m) { bigram_forward(rt, memory); }

static RtModel far_model(const RtModel *m)
{
    RtModel f = *m;
    bool is_linear = m == &linear;

    f.device = &far_device;
    f.micro = is_linear ? far_linear_micro : far_bigram_micro;
    f.reduce = is_linear ? far_linear_reduce : far_bigram_reduce;
    f.update = is_linear ? far_linear_update : far_bigram_update;
    f.forward = is_linear ? far_linear_forward : far_bigram_forward;
    return f;
}

// ---- tests ----

static const struct {
    const RtModel *m;
    const char *args, *file[3];  // files that it writes, after "near." or "far."
} runs[] = {
    {&linear,
     "--data data --eval-data data --epochs 3 --threads 1 --quiet --predict data -o %s.npz"
     " --save %s.safetensors --save-gradients %s.g",
     {"npz", "safetensors", "g"}},
    {&linear,
     "--data data --steps 2 --check-arena --quiet --save %s.safetensors --save-gradients %s.g"
     " --predict data -o %s.npz",
     {"npz", "safetensors", "g"}},
    {&linear, "--load near.safetensors --eval-data data --quiet", {NULL}},
    {&bigram,
     "--data text --steps 4 --check-arena --save %s.safetensors --save-gradients %s.g --quiet"
     " --generate 12 --prompt ab",
     {"safetensors", "g"}},
};

static void is_as_the_cpu(void **state)
{
    write_linear("data", 24);
    write_file("text", "a text of sixty-five bytes, which is 16 samples of four bytes each.", 67);
    for (int i = 0; i < N(runs); i++) {
        static const char *const names[] = {"near", "far"};
        const RtModel far = far_model(runs[i].m);
        Said s[2];

        for (int k = 0; k < 2; k++) {
            char args[512];
            snprintf(args, sizeof args, runs[i].args, names[k], names[k], names[k]);
            s[k] = run_trainer(k ? &far : runs[i].m, args);
            assert_ran(&s[k]);
        }
        assert_string_equal(s[0].out, s[1].out);
        assert_string_equal(s[0].err, s[1].err);
        for (int f = 0; f < 3 && runs[i].file[f]; f++) {
            char a[32], b[32];
            snprintf(a, sizeof a, "near.%s", runs[i].file[f]);
            snprintf(b, sizeof b, "far.%s", runs[i].file[f]);
            assert_true(same_files(a, b));
        }
    }
}

// --profile marks the start and the end of each call, and reads the marks when the device has been
// waited for, once a step.
static void marks_what_it_measures(void **state)
{
    RtModel far = far_model(&linear);

    Said s = run_trainer(&far, "--data data --steps 2 --profile --threads 1 --quiet");
    assert_ran(&s);
    assert_int_equal(last_loss("counted", "synchronised "), 2);
    assert_int_equal(last_loss("counted", "marked "), 2 * 2);
    s = run_trainer(&far, "--data data --steps 2 --threads 1 --quiet");
    assert_ran(&s);
    assert_int_equal(last_loss("counted", "synchronised "), 2);
    assert_int_equal(last_loss("counted", "marked "), 0);
}

// A device whose copies share something, staging memory say, copies by one thread, also where a
// tensor is large enough for several.
static void copies_by_one_thread(void **state)
{
    enum { COUNT = 1 << 19 };
    RtTensor tensors[N(linear_tensors) + 1];
    RtModel far = far_model(&linear);

    memcpy(tensors, linear_tensors, sizeof linear_tensors);
    tensors[N(linear_tensors)] = (RtTensor){.role = RT_PARAMETER,
                                            .type = RT_F32,
                                            .name = "large",
                                            .rank = 1,
                                            .dim = {COUNT},
                                            .at = L_BYTES};
    far.tensors = tensors;
    far.n_tensors = N(tensors);
    far.arena_bytes = L_BYTES + 4 * COUNT + 64;
    Said s = run_trainer(&far, "--data data --steps 2 --checkpoint runs --checkpoint-every 1"
                               " --threads 1 --quiet");
    assert_ran(&s);
    assert_int_equal(last_loss("counted", "others "), 0);
}

// An element of any size is repeated, and nothing else is written.
static void cpu_fills(void **state)
{
    char arena[96], element[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    Rt rt = {.arena = arena};

    for (int bytes = 1; bytes <= 8; bytes *= 2)
        for (int count = 0; count < 10; count++) {
            memset(arena, 9, sizeof arena);
            rt_cpu.fill(&rt, 8, element, bytes, count);
            for (int i = 0; i < N(arena); i++)
                assert_int_equal(arena[i],
                                 i < 8 || i >= 8 + bytes * count ? 9 : element[(i - 8) % bytes]);
        }
}

// Copies of all sizes are whole, on one thread and on several, and nothing else is written.
static void cpu_copies(void **state)
{
    enum { MAX_SIZE = (5 << 20) + 3, ROOM = MAX_SIZE + 2 };
    static const int sizes[] = {0, 1, 4096, 1 << 21, (1 << 21) + 1, MAX_SIZE};
    char *arena = malloc(ROOM), *from = malloc(MAX_SIZE), *to = malloc(ROOM);

    for (int i = 0; i < MAX_SIZE; i++)
        from[i] = (char)(i * 7 + i / 4093);
    for (int k = 0; k < 2 * N(sizes); k++) {
        Rt rt = {.arena = arena, .threads = k % 2 ? 3 : 1};
        int n = sizes[k / 2];

        memset(arena, 99, ROOM);
        memset(to, 98, ROOM);
        rt_cpu.copy_in(&rt, 1, from, n);
        assert_true(arena[0] == 99 && arena[n + 1] == 99);
        rt_cpu.copy_out(&rt, to + 1, 1, n);
        assert_true(to[0] == 98 && to[n + 1] == 98);
        assert_memory_equal(to + 1, from, n);
    }
    free(arena);
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_as_the_cpu),        cmocka_unit_test(marks_what_it_measures),
        cmocka_unit_test(copies_by_one_thread), cmocka_unit_test(cpu_fills),
        cmocka_unit_test(cpu_copies),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
