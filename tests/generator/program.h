// Lowers, generates, compiles and runs programs of graphs, as a trainer would have them.
#ifndef SHARDCC_TESTS_GENERATOR_PROGRAM_H
#define SHARDCC_TESTS_GENERATOR_PROGRAM_H

#include <dlfcn.h>
#include <unistd.h>

#include "generator/generator.h"
#include "tests/generator/case.h"

// The program of a graph, in the cases' arena.
static inline Program *lower_cases(const Target *target, const Cases *c, Diag *d)
{
    Program *p = lower(c->arena, NULL, c->g,
                       &(LowerOptions){.target = target, .fuse = true, .accumulate = 1}, d);

    assert_non_null(p);
    return p;
}

// Writes the program's text to dir/NAME.c, with a function the_model that returns its RtModel, and
// that of its kernels, if there are any, to dir/NAME.cu.
static inline void write_texts(const Program *p, const Cases *c, const char *name, const char *dir,
                               Diag *d)
{
    GenerateOptions o = {.name = name, .options = "", .plan = "one rank", .gpus = "sm_80"};
    char *path = arena_string(c->arena, "%s/%s", dir, name);
    ProgramTexts t = {{0}, {0}};

    assert_true(program_check(p, d));
    generate_texts(p, &o, &t);
    if (t.kernels.n)
        assert_true(out_write(arena_string(c->arena, "%s.cu", path), t.kernels.s, t.kernels.n, d));
    text_printf(&t.c, "const RtModel *the_model(void);\n"
                      "const RtModel *the_model(void) { return &model; }\n");
    assert_true(out_write(arena_string(c->arena, "%s.c", path), t.c.s, t.c.n, d));
    texts_free(&t);
}

static inline void write_program(const Cases *c, const char *name, const char *dir, Diag *d)
{
    write_texts(lower_cases(&target_cpu, c, d), c, name, dir, d);
}

#ifdef __SANITIZE_ADDRESS__
// Accesses are checked by calls, not in line: the C compiler takes longer than the programs run.
#define FLAGS                                                                                      \
    "-fsanitize=address,undefined -fno-sanitize-recover=all "                                      \
    "--param asan-instrumentation-with-call-threshold=0"
#else
#define FLAGS "-march=native"
#endif

// Compiles all programs of a folder, several at a time. The flags are those of
// generator/compile_c.c, except that `level` replaces -O3, which compiles more slowly.
static inline void compile_all(const char *dir, const char *level)
{
    char command[512];

    snprintf(command, sizeof command,
             "ls %s/*.c | xargs -P $(nproc) -I FILE ${CC:-cc} -std=c11 %s " FLAGS
             " -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp -Wall -Wextra -Werror "
             "-Iruntime -shared -fPIC -o FILE.so FILE",
             dir, level);
    if (system(command))
        fail_msg("what was generated doesn't compile: see %s", dir);
}

static inline const RtTensor *find_tensor(const RtModel *m, const char *name)
{
    for (int i = 0; i < m->n_predict; i++)
        if (!strcmp(m->predict[i].name, name))
            return &m->predict[i];
    fail_msg("the program has no %s", name);
    return NULL;
}

// The loaded program dir/NAME.c.so. What it calls of the trainer may be missing.
typedef struct Loaded {
    void *handle;
    const RtModel *model;
} Loaded;

static inline Loaded load_program(const char *dir, const char *name)
{
    char path[256];
    Loaded p;

    snprintf(path, sizeof path, "%s/%s.c.so", dir, name);
    p.handle = dlopen(path, RTLD_LAZY);
    if (!p.handle)
        fail_msg("%s", dlerror());
    const RtModel *(*model)(void) = (const RtModel *(*)(void))dlsym(p.handle, "the_model");
    assert_true(model);
    p.model = model();
    return p;
}

// Removes the files that write_program and compile_all made.
static inline void remove_program(const char *dir, const char *name)
{
    char path[256];

    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s.c%s", dir, name, k ? ".so" : "");
        unlink(path);
    }
}

// Runs the program's forward part in an arena of NaN, which the caller frees.
static inline char *run_program(const Cases *c, const RtModel *m, const Tensor *values, int threads)
{
    size_t bytes = (size_t)m->arena_bytes + 1;
    Rt rt = {.threads = threads, .kernel = calloc((size_t)m->n_kernels + 1, sizeof *rt.kernel)};

    if (posix_memalign((void **)&rt.arena, 64, bytes))
        abort();
    memset(rt.arena, 0xff, bytes);
    for (int i = 0; i < c->n_inputs; i++) {
        ValueId v = c->inputs[i].v;
        const RtTensor *to = find_tensor(m, value_of(c->g, v)->name);
        Arena *a = arena_new();
        memcpy(rt.arena + to->at, tensor_pack(a, &values[v]),
               (size_t)value_bytes(value_of(c->g, v)));
        arena_free(a);
    }
    m->init(&rt);
    m->forward(&rt, rt.arena);
    rt_kernels_free(&rt, m->n_kernels);
    free(rt.kernel);
    return rt.arena;
}

// Draws numbers for the inputs and evaluates the graph; returns the tensors of all values, by
// ValueId.
static inline Tensor *eval_values(Arena *a, Cases *c)
{
    Tensor *values = arena_array(a, Tensor, c->g->n_values);

    for (int i = 0; i < c->n_inputs; i++) {
        const Input *x = &c->inputs[i];
        values[x->v] = draw_tensor(a, &c->r, value_of(c->g, x->v), x->mark);
    }
    graph_eval(a, c->g, values);
    return values;
}

#endif
