// Tests generated programs for GPUs against each operator's own eval, as generator/kernel_test.c
// does for CPUs, on the double of CUDA's runtime: in three orders of blocks, threads and streams,
// which must give the same bits. `program_test NAME` tests one operator, `rows` or `columns`.
#include <sys/wait.h>

#include "runtime/cuda/cuda.h"
#include "tests/cuda/cudart.h"
#include "tests/generator/group_graph.h"

// Programs are compiled without sanitizers: beside these every twelfth operator is tried.
#ifdef __SANITIZE_ADDRESS__
enum { EACH = 12 };
#else
enum { EACH = 1 };
#endif

enum { ORDERS = 3 };
static const struct {
    unsigned order;
    bool is_lazy;
} orders[ORDERS] = {{0, false}, {1, true}, {12345, false}};

// Compiles all programs of a folder, each with its kernels as C++, several at a time.
static void compile_programs(const char *dir)
{
    char command[1024];

    snprintf(command, sizeof command,
             "echo image >%s/kernels.fatbin && ls %s/*.cu | sed 's/.cu$//' | xargs -P $(nproc) -I "
             "FILE sh -c '"
             "${CC:-cc} -std=c11 -O1 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall "
             "-Wextra -Werror -Iruntime -I%s -fPIC -c -o FILE.o FILE.c && "
             "${CXX:-c++} -std=c++20 -O1 -march=native -ffp-contract=off -fno-math-errno "
             "-fno-trapping-math -Wall -Wextra -Werror -Wno-unknown-pragmas -Wno-unused-parameter "
             "-Wno-maybe-uninitialized -I. -xc++ -include tests/cuda/gpu.h -fPIC -c -o FILE.cu.o "
             "FILE.cu && "
             "${CXX:-c++} -shared -Wl,-z,lazy -o FILE.c.so FILE.o FILE.cu.o'",
             dir, dir, dir);
    if (system(command))
        fail_msg("what was generated doesn't compile: see %s", dir);
}

static void succeed(cudaError_t e)
{
    if (e)
        fail_msg("%s", cudaGetErrorString(e));
}

static void copy_inputs(const Cases *c, const RtModel *m, const Tensor *values, char *arena)
{
    for (int i = 0; i < c->n_inputs; i++) {
        ValueId v = c->inputs[i].v;
        Arena *a = arena_new();
        const RtTensor *to = find_tensor(m, value_of(c->g, v)->name);
        size_t bytes = (size_t)value_bytes(value_of(c->g, v));
        memcpy(arena + to->at, tensor_pack(a, &values[v]), bytes);
        arena_free(a);
    }
}

// Runs the program's forward part on the GPU, in one order. `arena` has its bytes before and gets
// those after it.
static void run_gpu(const RtModel *m, char *arena, int k)
{
    size_t bytes = (size_t)m->arena_bytes;
    RtCuda cuda = {0};
    Rt rt = {.threads = 1, .cuda = &cuda};

    cudart_order(orders[k].order, orders[k].is_lazy);
    rt.kernel = calloc((size_t)m->n_kernels + 1, sizeof *rt.kernel);
    succeed(rt_cuda_load(&cuda, m->kernels));
    succeed(cudaStreamCreateWithFlags(&cuda.stream, cudaStreamNonBlocking));
    succeed(cudaMalloc((void **)&rt.arena, bytes));
    succeed(cudaMemcpy(rt.arena, arena, bytes, cudaMemcpyHostToDevice));
    m->init(&rt);
    m->forward(&rt, rt.arena);
    succeed(cudaStreamSynchronize(cuda.stream));
    succeed(cudaMemcpy(arena, rt.arena, bytes, cudaMemcpyDeviceToHost));
    succeed(cudaFree(rt.arena));
    succeed(cudaStreamDestroy(cuda.stream));
    rt_kernels_free(&rt, m->n_kernels);
    rt_cuda_unload(&cuda);
    free(rt.kernel);
}

static void check_program(Test *t, const char *name, const char *dir)
{
    Arena *a = arena_new();
    Loaded p = load_program(dir, name);
    Tensor *values = eval_values(&t->cases, a);
    size_t bytes = (size_t)p.model->arena_bytes;
    char *arena[ORDERS];

    for (int k = 0; k < ORDERS; k++) {
        arena[k] = malloc(bytes + 1);
        assert_non_null(arena[k]);
        memset(arena[k], 0xff, bytes);
        copy_inputs(&t->cases, p.model, values, arena[k]);
        run_gpu(p.model, arena[k], k);
        if (k == 0)
            check_outputs(t, p.model, arena[k], values);
        if (memcmp(arena[k], arena[0], bytes))
            fail_msg("%s depends on the order of threads", name);
    }
    for (int k = 0; k < ORDERS; k++)
        free(arena[k]);
    arena_free(a);
}

// Starts a program in a process of its own: kernels of two programs may have one name. A failure
// there is reported there.
static void start(Test *t, const char *name, const char *dir)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        check_program(t, name, dir);
        _exit(0);
    }
}

// Waits for the end of one of these processes. Returns whether it succeeded.
static bool end_one(void)
{
    int status;

    assert_true(wait(&status) > 0);
    return status == 0;
}

static const char *asked_name;

static void remove_files(const char *dir, const char *name)
{
    static const char *const ends[] = {".c", ".cu", ".o", ".cu.o", ".c.so"};
    char path[256];

    for (int i = 0; i < COUNT(ends); i++) {
        snprintf(path, sizeof path, "%s/%s%s", dir, name, ends[i]);
        unlink(path);
    }
}

static void remove_folder(const char *dir)
{
    char path[256];

    snprintf(path, sizeof path, "%s/kernels.fatbin", dir);
    unlink(path);
    rmdir(dir);
}

static bool is_chosen(int i)
{
    return is_tried(op_table[i], asked_name) && (asked_name || i % EACH == 0);
}

static void programs_are_eval(void **state)
{
    char dir[] = "/tmp/program_test.XXXXXX";
    Test t[OPS] = {0};
    Diag d = {.file = "kernels.def"};

    if (asked_name && !op_find(asked_name))
        return;
    assert_non_null(mkdtemp(dir));
    for (int i = 0; op_table[i]; i++) {
        assert_true(i < OPS);
        if (!is_chosen(i))
            continue;
        make_graph(&t[i], op_table[i], SMALL_VOLUME, &d);
        write_program_for(&target_cuda, &cuda_text, &t[i].cases, op_table[i]->name, dir, &d);
    }
    compile_programs(dir);
    long most = sysconf(_SC_NPROCESSORS_ONLN), running = 0, failed = 0;
    for (int i = 0; op_table[i]; i++) {
        if (!is_chosen(i))
            continue;
        if (running == most) {
            failed += !end_one();
            running--;
        }
        start(&t[i], op_table[i]->name, dir);
        running++;
    }
    while (running--)
        failed += !end_one();
    assert_int_equal(failed, 0);
    for (int i = 0; op_table[i]; i++) {
        if (!is_chosen(i))
            continue;
        arena_free(t[i].cases.arena);
        remove_files(dir, op_table[i]->name);
    }
    remove_folder(dir);
}

static void check_graph(void (*make)(Test *t, Diag *d), const char *name)
{
    char dir[] = "/tmp/program_test.XXXXXX";
    Test t = {0};
    Diag d = {.file = name};

    if (asked_name && strcmp(asked_name, name))
        return;
    assert_non_null(mkdtemp(dir));
    make(&t, &d);
    write_program_for(&target_cuda, &cuda_text, &t.cases, name, dir, &d);
    compile_programs(dir);
    start(&t, name, dir);
    assert_true(end_one());
    arena_free(t.cases.arena);
    remove_files(dir, name);
    remove_folder(dir);
}

static void rows_are_eval(void **state) { check_graph(make_row_graph, "rows"); }

static void columns_are_eval(void **state) { check_graph(make_column_graph, "columns"); }

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_eval),
                                       cmocka_unit_test(columns_are_eval),
                                       cmocka_unit_test(programs_are_eval)};

    asked_name = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
