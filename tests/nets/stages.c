// Random schedules of stages that run again, for programs of nets that are chains.
#include "tests/nets/judge.h"

typedef struct Drawing {
    uint64_t dice;
    StageRun *run;
    int n, cap;
    Arena *arena;
} Drawing;

enum { MAX_RUNS = 400 };

static int draw(Drawing *x, int n)
{
    x->dice = x->dice * 6364136223846793005u + 1442695040888963407u;
    return (int)((x->dice >> 33) % (uint64_t)n);
}

static void add(Drawing *x, int stage, bool is_backward, bool is_last)
{
    *arena_push(x->arena, x->run, x->n, x->cap) = (StageRun){stage, is_backward, is_last};
}

// Runs stages first to last forward and backward: saves the first one, or runs some forward, the
// rest forward and backward, and then these again.
static void draw_runs(Drawing *x, int first, int last)
{
    int n = last - first;

    if (!n || x->n > MAX_RUNS || draw(x, 2)) {
        add(x, first, false, true);
        if (n)
            draw_runs(x, first + 1, last);
        add(x, first, true, false);
        return;
    }
    int split = first + 1 + draw(x, n);
    for (int i = first; i < split; i++)
        add(x, i, false, false);
    draw_runs(x, split, last);
    draw_runs(x, first, split - 1);
}

int choose_random_runs(Arena *a, void *seed, const ProgramChain *chain, StageRun **run)
{
    Drawing x = {.dice = *(uint64_t *)seed, .arena = a};

    draw_runs(&x, 0, chain->n_stages - 1);
    *run = x.run;
    return x.n;
}
