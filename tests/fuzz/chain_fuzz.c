// Fuzzes chain files: any bytes are refused with one message, or give a chain whose schedules keep
// to their memory.
#include <stdlib.h>

#include "solver/chain/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void look(Arena *a, const ChainProblem *p)
{
    enum { MAX_STAGES = 20, SLOTS = 50 };
    ChainSchedule none = {0}, s = {0};

    if (p->n_stages > MAX_STAGES)
        return;
    chain_by_rule(a, p, CHAIN_NONE, &none);
    const ChainTable *t = chain_solve(a, p, none.peak, SLOTS);
    int64_t least = chain_least(t);
    promise(least <= none.peak && !chain_schedule(a, t, least - 1, &s));
    for (int i = 0; i <= 4; i++) {
        int64_t memory = least + (none.peak - least) / 4 * i;
        promise(chain_schedule(a, t, memory, &s) && s.peak <= memory);
        promise(s.time <= chain_time(t, memory) * (1 + 1e-9));
    }
}

static void print(Arena *a, const ChainProblem *p)
{
    ChainSchedule s = {0};
    Text t = {0};

    chain_by_rule(a, p, CHAIN_SQRT, &s);
    chain_print(p, &s, &t);
    text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    ChainProblem p;

    bool ok = chain_parse(a, (const char *)data, size, &p, &d);
    promise(d.errors == !ok);
    if (ok) {
        look(a, &p);
        print(a, &p);
    }
    text_free(&messages);
    arena_free(a);
    return 0;
}
