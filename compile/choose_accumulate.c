// Compiles with 1, 2, 3 … micro-batches, as far as the batch can be split so. More of them need
// fewer bytes for activations, but run more and smaller kernels. So nothing after the first number
// with which nothing has to run again can be better. If the loss reads several samples together,
// there is nothing to try.
#include "base/search.h"
#include "compile/internal.h"

typedef struct Trial {
    int64_t bytes;  // of the arena; 0: with this number there is no program
    double seconds;
    bool fits, runs_again, has_batch_statistics;
} Trial;

static Trial try_number(const CompileRequest *given, int n, const char *file)
{
    Arena *a = arena_new();
    CompileRequest r = *given;
    Text said = {0};
    Diag d = {.file = file, .to = &said};
    Trial t = {0};
    Compiled c;

    r.accumulate = n;
    if (compile_try(a, &r, &c, &t.fits, &d) && c.train) {
        const Cluster *machine = r.cluster ? r.cluster : &cluster_assumed;
        t.bytes = c.program->arena_bytes;
        t.seconds = program_simulate(c.program, SET_TRAIN, machine).seconds;
        t.runs_again = c.recompute.n_runs > 0;
        t.has_batch_statistics = has_batch_statistics(c.train);
    }
    text_free(&said);
    arena_free(a);
    return t;
}

static bool is_better(const Trial *x, const Trial *best)
{
    if (!best->bytes || x->fits != best->fits)
        return !best->bytes || x->fits;
    return x->fits ? x->seconds < best->seconds : x->bytes < best->bytes;
}

int compile_accumulate(const CompileRequest *r, const char *file)
{
    Trial best = {0};
    int chosen = 1;

    for (int n = 1; n <= MAX_MICRO_BATCHES; n++) {
        Trial t = try_number(r, n, file);
        if (t.bytes && is_better(&t, &best)) {
            best = t;
            chosen = n;
        }
        bool is_enough = t.fits && !t.runs_again;
        if (is_enough ||
            (n == 1 && (!t.bytes || t.has_batch_statistics || !passes_may_split(r, file))))
            break;
    }
    return chosen;
}
