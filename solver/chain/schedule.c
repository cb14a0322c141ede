// Writes schedules: the optimal one, by the table, and those by rules.
#include <assert.h>
#include <math.h>

#include "solver/chain/internal.h"

typedef struct Writer {
    const ChainProblem *p;
    ChainSchedule *s;
    Arena *a;
} Writer;

static void put_op(Writer *w, ChainOpKind kind, int stage, int policy)
{
    *arena_push(w->a, w->s->op, w->s->n_ops, w->s->cap_ops) = (ChainOp){kind, stage, policy};
}

// Runs the stages before `split` forward; the input of `first` stays.
static void put_forwards(Writer *w, int first, int split)
{
    for (int i = first; i < split; i++)
        put_op(w, i == first ? CHAIN_CHECKPOINT : CHAIN_FORWARD, i, 0);
}

static void finish(Writer *w)
{
    bool ok = chain_replay(w->a, w->p, w->s);

    assert(ok);
    (void)ok;
}

// ---- by rules ----

static void put_saved(Writer *w, int first, int after)
{
    for (int i = first; i < after; i++)
        put_op(w, CHAIN_SAVE, i, fastest_policy(&w->p->stage[i]));
    for (int i = after - 1; i >= first; i--)
        put_op(w, CHAIN_BACKWARD, i, 0);
}

void chain_by_rule(Arena *a, const ChainProblem *p, ChainRule rule, ChainSchedule *s)
{
    int64_t n = p->n_stages, segments = rule == CHAIN_NONE   ? 1
                                        : rule == CHAIN_FULL ? n
                                                             : (int64_t)round(sqrt((double)n));
    Writer w = {p, s, a};

    s->n_ops = 0;
    for (int64_t i = 0; i + 1 < segments; i++)
        put_forwards(&w, (int)(i * n / segments), (int)((i + 1) * n / segments));
    for (int64_t i = segments - 1; i >= 0; i--)
        put_saved(&w, (int)(i * n / segments), (int)((i + 1) * n / segments));
    finish(&w);
}

// ---- by the table ----

typedef struct Extractor {
    const ChainTable *t;
    Writer w;
    Choice *choice;
} Extractor;

// The choice that takes the least time within so many bytes. Sizes aren't rounded here: slots only
// say how long the rest takes.
static Choice best_choice(const Extractor *x, int first, int last, int64_t memory)
{
    int n = list_choices(x->t, first, last, x->choice), best = -1;
    double least = INFINITY;

    for (int i = 0; i < n; i++) {
        const Choice *c = &x->choice[i];
        if (c->need > memory)
            continue;
        double time =
            c->time + row_time(x->t, c->rest, memory - c->held) + row_time(x->t, c->before, memory);
        if (time < least) {
            least = time;
            best = i;
        }
    }
    assert(best >= 0);
    return x->choice[best];
}

// The recursion is as deep as there are stages.
static void put_subchain(Extractor *x, int first, int last, int64_t memory)
{
    Choice c = best_choice(x, first, last, memory);

    if (c.split) {
        put_forwards(&x->w, first, c.split);
        put_subchain(x, c.split, last, memory - c.held);
        put_subchain(x, first, c.split - 1, memory);
        return;
    }
    put_op(&x->w, CHAIN_SAVE, first, c.policy);
    if (first < last)
        put_subchain(x, first + 1, last, memory - c.held);
    put_op(&x->w, CHAIN_BACKWARD, first, 0);
}

bool chain_schedule(Arena *a, const ChainTable *t, int64_t memory, ChainSchedule *s)
{
    Extractor x = {t, {t->p, s, a}, arena_array(a, Choice, t->p->n_stages + MAX_STAGE_POLICIES)};

    s->n_ops = 0;
    if (memory < chain_least(t))
        return false;
    put_subchain(&x, 0, t->p->n_stages - 1, memory - t->p->input);
    finish(&x.w);
    assert(s->peak <= memory);
    return true;
}
