// Tests generated programs for GPUs against each operator's own eval, as generator/kernel_test.c
// does for CPUs, on the double of CUDA's runtime: in three orders of blocks, threads and streams,
// which must give the same bits. `program_test NAME [SEED]` tests one operator, with a seed on
// other numbers, or `rows`, `columns` or `forms`.
#include <sys/mman.h>
#include <sys/wait.h>

#include "generator/cuda/threads.h"
#include "lower/internal.h"
#include "runtime/cuda/cuda.h"
#include "tests/cuda/cudart.h"
#include "tests/generator/group_graph.h"
#include "tests/sanitized.h"

enum { EACH = IS_SANITIZED ? 12 : 1 };  // operator is tried; programs have no sanitizers

enum { ORDERS = 3 };
static const char *asked_name;  // NULL: all
static uint64_t asked_seed;

static const struct {
    unsigned order;
    bool is_lazy;
    unsigned char fill;  // of the arena before: NaN, or -8 or so, which changes in each operator
} orders[ORDERS] = {{0, false, 0xff}, {1, true, 0xc1}, {12345, false, 0xff}};

// Writes a program whose buffers share no byte at any time, so that it shows at the end where a
// kernel has written.
static const Program *write_spread(const Test *t, const char *name, const char *dir, Diag *d)
{
    Program *p = lower_cases(&target_cuda, &t->cases, d);

    p->arena_bytes = 0;
    for (int i = 1; i < p->n_buffers; i++) {
        p->buffers[i].offset = p->arena_bytes;
        p->arena_bytes += p->buffers[i].bytes;
    }
    p->set[SET_PREDICT].end = p->arena_bytes;
    program_finish(p);
    write_texts(p, &t->cases, name, dir, d);
    return p;
}

// Compiles all programs of a folder, each with its kernels as C++, several at a time.
static void compile_programs(const char *dir)
{
    char command[1024];

    snprintf(command, sizeof command,
             "ls %s/*.cu | sed 's/.cu$//' | xargs -P $(nproc) -I "
             "FILE sh -c '"
             "${CC:-cc} -std=c11 -O0 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall "
             "-Wextra -Werror -Iruntime -I" RT_CUDA_FOLDER
             " -fPIC -c -o FILE.o FILE.c && " RT_CUDA_FOLDER
             "/bin/nvcc -I. -o FILE.cu.so FILE.cu && "
             "${CC:-cc} -shared -Wl,-z,lazy,--no-as-needed -o FILE.c.so FILE.o FILE.cu.so'",
             dir);
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
    Rt rt = {.threads = 1, .state = &cuda};

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

// Marks the bytes of a value, but for the padding of its rows.
static void mark_rows(bool *is_used, const Value *v, int64_t row)
{
    int64_t n = row ? v->dim[v->rank - 1] : value_count(v), size = dtype_size(v->dtype);

    for (int64_t i = 0; n && i < value_count(v) / n; i++)
        memset(is_used + i * row * size, true, (size_t)(n * size));
}

// No kernel writes bytes that hold no value: after rows, after buffers.
static void check_unused(const Program *p, const char *arena, char fill)
{
    const Set *s = &p->set[SET_PREDICT];
    bool *is_used = calloc((size_t)p->arena_bytes + 1, sizeof *is_used);

    assert_non_null(is_used);
    for (ValueId v = 1; v < s->g->n_values; v++) {
        const Storage *at = &s->storage[v];
        if (at->buffer)
            mark_rows(is_used + p->buffers[at->buffer].offset + at->offset, value_of(s->g, v),
                      at->row);
    }
    for (int i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].kind == BUFFER_WORKSPACE)
            memset(is_used + p->buffers[i].offset, true, (size_t)p->buffers[i].bytes);
    for (int64_t i = 0; i < p->arena_bytes; i++)
        if (!is_used[i] && arena[i] != fill)
            fail_msg("byte %" PRId64 " of the arena is written, which holds no value", i);
    free(is_used);
}

static void check_same(const Test *t, const RtModel *m, const char *a, const char *b)
{
    const Graph *g = t->cases.g;

    for (int i = 0; i < t->n_checks; i++) {
        const RtTensor *y = find_tensor(m, g->outputs[i].name);
        if (memcmp(a + y->at, b + y->at, (size_t)value_bytes(value_of(g, t->checks[i].v))))
            fail_msg("%s depends on the order of threads, or on bytes that hold no value", y->name);
    }
}

// ---- forms ----

enum { MAX_FORMS = 64 };
static long *launches;  // by form, of all processes

// Counts the launches of a program's kernels. The text says each one's form before its name.
static void count_launches(const char *dir, const char *name)
{
    Arena *a = arena_new();
    Diag d = {0};
    File f;

    assert_true(file_map(arena_string(a, "%s/%s.cu", dir, name), &f, &d));
    const char *text = arena_copy(a, (const char *)f.data, f.size);
    file_unmap(&f);
    for (int i = 0; form_name(i); i++) {
        const char *line = arena_string(a, "\n// %s\nextern", form_name(i));
        for (const char *s = text; (s = strstr(s, line)); s++) {
            const char *entry = strstr(s, "\nRT_ENTRY(") + strlen("\nRT_ENTRY(");
            const char *kernel = arena_copy(a, entry, strcspn(entry, ")"));
            __atomic_fetch_add(&launches[i], cudart_launches(kernel), __ATOMIC_RELAXED);
        }
    }
    arena_free(a);
}

static void forms_are_launched(void **state)
{
    bool is_complete = true;

    for (int i = 0; form_name(i); i++) {
        printf("# %ld launches: %s\n", launches[i], form_name(i));
        is_complete &= launches[i] > 0;
    }
    assert_true(is_complete || asked_name);
}

// ---- programs ----

static void check_program(Test *t, const Program *program, const char *name, const char *dir)
{
    Arena *a = arena_new();
    Loaded p = load_program(dir, name);
    Tensor *values = eval_values(a, &t->cases);
    size_t bytes = (size_t)p.model->arena_bytes;
    char *arena[ORDERS];

    for (int k = 0; k < ORDERS; k++) {
        arena[k] = malloc(bytes + 1);
        assert_non_null(arena[k]);
        memset(arena[k], orders[k].fill, bytes);
        copy_inputs(&t->cases, p.model, values, arena[k]);
        run_gpu(p.model, arena[k], k);
        if (k == 0)
            check_outputs(t, p.model, arena[k], values);
        check_same(t, p.model, arena[k], arena[0]);
        check_unused(program, arena[k], (char)orders[k].fill);
    }
    count_launches(dir, name);
    for (int k = 0; k < ORDERS; k++)
        free(arena[k]);
    arena_free(a);
}

// Starts a program in a process of its own: kernels of two programs may have one name. A failure
// there is reported there.
static void start(Test *t, const Program *p, const char *name, const char *dir)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        check_program(t, p, name, dir);
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

static void remove_files(const char *dir, const char *name)
{
    static const char *const ends[] = {".c", ".cu", ".o", ".cu.so", ".c.so"};
    char path[256];

    for (int i = 0; i < COUNT(ends); i++) {
        snprintf(path, sizeof path, "%s/%s%s", dir, name, ends[i]);
        unlink(path);
    }
}

static bool is_chosen(int i)
{
    return is_tried(op_table[i], asked_name) && (asked_name || i % EACH == 0);
}

static void programs_are_eval(void **state)
{
    char dir[] = "/tmp/program_test.XXXXXX";
    Test t[OPS] = {0};
    const Program *p[OPS] = {NULL};
    Diag d = {.file = "kernels.def"};

    if (asked_name && !op_find(asked_name))
        return;
    assert_non_null(mkdtemp(dir));
    for (int i = 0; op_table[i]; i++) {
        assert_true(i < OPS);
        if (!is_chosen(i))
            continue;
        t[i].rounds_weights = true;
        make_graph(&t[i], op_table[i], SMALL_VOLUME, asked_seed, &d);
        p[i] = write_spread(&t[i], op_table[i]->name, dir, &d);
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
        start(&t[i], p[i], op_table[i]->name, dir);
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
    rmdir(dir);
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
    const Program *p = write_spread(&t, name, dir, &d);
    compile_programs(dir);
    start(&t, p, name, dir);
    assert_true(end_one());
    arena_free(t.cases.arena);
    remove_files(dir, name);
    rmdir(dir);
}

static void rows_are_eval(void **state) { check_graph(make_row_graph, "rows"); }

static void columns_are_eval(void **state) { check_graph(make_column_graph, "columns"); }

// ---- all forms ----

static const Line form_line = {BOUND_SUM, 0, "f32", "forms"};

// A row of which each element is read once, from element `first` on.
static void add_squares(Test *t, int64_t rows, int64_t first, int64_t n)
{
    ValueId x = add_input(&t->cases, F32, 2, (int64_t[]){rows, first + n}, (Mark){0});

    if (first)
        x = make_slice(t->cases.g, x, (int64_t[]){0, first}, (int64_t[]){rows, n},
                       (int64_t[]){1, 1});
    add_check(t, &form_line,
              make_reduce_sum(t->cases.g, make_mul(t->cases.g, x, x), 1, (int64_t[]){1}), n);
}

// Elements that all have the index of the first dim, and those of the last dim in all rows.
static void add_flat(Test *t, int64_t rows, int64_t n)
{
    Graph *g = t->cases.g;
    const int64_t dim[] = {rows, n};
    ValueId x = add_input(&t->cases, F32, 2, dim, (Mark){0});
    ValueId y = add_input(&t->cases, F32, 1, &n, (Mark){0});

    y = make_broadcast(g, y, 2, dim, (int64_t[]){1});
    add_check(t, &form_line, make_tanh(g, make_add(g, x, y)), 1);
}

// The same of halves and f32, each read and written.
static void add_halves(Test *t, int64_t rows, int64_t n)
{
    Graph *g = t->cases.g;
    const int64_t dim[] = {rows, n};
    ValueId x = add_input(&t->cases, BF16, 2, dim, (Mark){0});
    ValueId y = add_input(&t->cases, F32, 1, &n, (Mark){0});

    x = make_cast(g, x, F32);
    y = make_add(g, x, make_broadcast(g, y, 2, dim, (int64_t[]){1}));
    add_check(t, &form_line, y, 1);
    add_check(t, &form_line, make_cast(g, y, F16), 1);
}

// Shares of a product's rows of halves, which another product reads. Padding follows both, so that
// rows begin at multiples of 16 bytes, and end among a thread's elements.
static void add_product_rows(Test *t, int64_t rows, int64_t n)
{
    static const Line line = {BOUND_WEIGHTS, 0, "bf16", "rows of products"};
    Graph *g = t->cases.g;
    const int64_t dim[] = {rows, n}, axis[] = {1};
    ValueId x = add_input(&t->cases, BF16, 2, (int64_t[]){rows, 4}, (Mark){0});
    ValueId w = add_input(&t->cases, BF16, 2, (int64_t[]){4, n}, (Mark){0});
    ValueId v = add_input(&t->cases, BF16, 2, (int64_t[]){n, 3}, (Mark){0});
    ValueId p = make_cast(g, make_dot(g, x, w, "mk,kn->mn"), F32);
    ValueId e = make_exp(g, make_mul(g, p, scalar_like(g, p, 0.25)));
    ValueId sum = make_reduce_sum(g, e, 1, axis);
    ValueId y = make_div(g, e, make_broadcast(g, sum, 2, dim, (int64_t[]){0}));

    add_check(t, &line, make_cast(g, sum, BF16), n);
    add_check(t, &line, make_dot(g, make_cast(g, y, BF16), v, "mn,nk->mk"), n);
}

// Elements of one dim, whose number no vector divides; others lie `step` apart, and two apart.
static void add_line(Test *t, int64_t n, int64_t step)
{
    Graph *g = t->cases.g;
    const int64_t all[] = {step * n}, one[] = {n, 1};
    ValueId x = add_input(&t->cases, F32, 1, all, (Mark){0});
    ValueId y = add_input(&t->cases, F32, 1, &n, (Mark){0});
    ValueId sum = make_add(g, make_slice(g, x, (int64_t[]){0}, &n, &step), y);
    ValueId both[] = {make_reshape(g, make_tanh(g, sum), 2, one),
                      make_reshape(g, make_mul(g, sum, y), 2, one)};

    add_check(t, &form_line, make_tanh(g, y), 1);
    add_check(t, &form_line, make_concat(g, 2, both, 1), 1);
}

// Sums over the positions of each channel, which lies last. tanh keeps them after the convolution.
static void add_channels(Test *t, int64_t channels)
{
    const Window plain = {.n = 2, .stride = {1, 1}, .dilation = {1, 1}};
    const int64_t image[] = {3, 2, 9, 13}, window[] = {channels, 2, 1, 1};
    Graph *g = t->cases.g;
    ValueId x = add_input(&t->cases, F32, 4, image, (Mark){0});
    ValueId w = add_input(&t->cases, F32, 4, window, (Mark){0});
    ValueId y = make_tanh(g, make_conv(g, x, w, &plain, 1));

    add_check(t, &form_line, make_reduce_sum(g, y, 3, (int64_t[]){0, 2, 3}), 351);
    add_check(t, &form_line, make_reduce_sum(g, make_mul(g, y, y), 2, (int64_t[]){2, 3}), 117);
}

static void make_form_graph(Test *t, Diag *d)
{
    t->cases = (Cases){.arena = arena_new(), .r = {7}};
    t->rounds_weights = true;
    t->cases.g = graph_new(t->cases.arena, "forms");
    t->cases.g->diag = d;
    add_line(t, 5, 500000);  // an element too much is outside of the arena
    add_line(t, 1027, 2);
    add_line(t, 2049, 2);
    add_flat(t, 35, 36);
    add_flat(t, 35, 37);
    for (int i = 0; i < 3; i++)
        add_halves(t, 35, (int64_t[]){36, 37, 40}[i]);
    add_halves(t, 1, 2059);
    for (int i = 0; i < 6; i++)
        add_norm(t, 35, (int64_t[]){5, 64, 37, 300, 261, 600}[i]);
    for (int i = 0; i < 2; i++)
        add_norm(t, 1, (int64_t[]){20501, 24004}[i]);
    for (int i = 0; i < 2; i++)
        add_squares(t, 35, 0, (int64_t[]){37, 300}[i]);
    add_squares(t, 1, 1, 6000);  // no vector
    for (int i = 0; i < 4; i++)
        add_product_rows(t, 35, (int64_t[]){29, 261, 1027, 4099}[i]);
    add_shares(t, 3, 150);
    add_channels(t, 11);
    add_channels(t, 12);
    assert_true(graph_verify(t->cases.g, d));
}

static void forms_are_eval(void **state) { check_graph(make_form_graph, "forms"); }

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_eval), cmocka_unit_test(columns_are_eval),
        cmocka_unit_test(forms_are_eval), cmocka_unit_test(programs_are_eval),
        cmocka_unit_test(forms_are_launched)};

    asked_name = argc > 1 ? argv[1] : NULL;
    asked_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    launches = mmap(NULL, MAX_FORMS * sizeof *launches, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (launches == MAP_FAILED)
        abort();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
