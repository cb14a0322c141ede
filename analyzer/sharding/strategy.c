// Lists the strategies of a node on a mesh. They follow from its factors alone.
#include "analyzer/sharding/internal.h"

// May an axis split the factor? It may if all outputs have a dim of it, or its kind says how
// partial outputs are reduced.
static bool is_open(const Rule *r, int f)
{
    if (r->kind[f] >= FACTOR_WINDOW)
        return false;
    for (int o = r->n_in; o < r->n_in + r->n_out && r->kind[f] == FACTOR_PARALLEL; o++)
        if (!operand_has_factor(r, o, f))
            return false;
    return true;
}

static bool is_choice(const Rule *r, int at)
{
    if (at == FACTOR_NONE)
        return true;
    if (at == LINEAR_JOINT)
        return r->joint != 0;
    if (at >= LINEAR_SINGLE)
        return at - LINEAR_SINGLE < 64 && r->single >> (at - LINEAR_SINGLE) & 1;
    return at >= 0 && at < r->n_factors && is_open(r, at);
}

bool strategy_is_legal(const Rule *r, const Mesh *m, const Strategy *s)
{
    for (int a = 0; a < MAX_AXES; a++) {
        bool is_factor = s->at[a] >= 0 && s->at[a] < LINEAR_SINGLE;
        int n_same = 0, outer = 0;

        if (a >= m->n_axes ? s->at[a] != FACTOR_NONE : !is_choice(r, s->at[a]))
            return false;
        for (int b = 0; b < MAX_AXES && is_factor; b++) {
            n_same += b != a && s->at[b] == s->at[a] && s->level[b] == s->level[a];
            outer += s->at[b] == s->at[a] && s->level[b] < s->level[a];
        }
        if (s->level[a] != outer || n_same)
            return false;
    }
    return true;
}

// Spec.at of an axis whose factor isn't a dim of the operand.
static int8_t without_dim(const Rule *r, int at, int operand)
{
    bool is_out = operand >= r->n_in;

    if (at == LINEAR_JOINT)
        return is_out || r->joint >> operand & 1 ? SPEC_SUM : SPEC_REPLICATED;
    if (at >= LINEAR_SINGLE)
        return is_out || at - LINEAR_SINGLE == operand ? SPEC_SUM : SPEC_REPLICATED;
    if (at == FACTOR_NONE || !is_out)
        return SPEC_REPLICATED;
    return r->kind[at] == FACTOR_MAX ? SPEC_MAX : r->kind[at] == FACTOR_MIN ? SPEC_MIN : SPEC_SUM;
}

Spec strategy_spec(const Rule *r, const Strategy *s, int operand)
{
    Spec to = {{0}, {0}};

    for (int a = 0; a < MAX_AXES; a++) {
        int8_t dim = -1;
        for (int8_t i = 0; i < MAX_RANK && s->at[a] >= 0; i++)
            if (r->dim[operand][i] == s->at[a])
                dim = i;
        to.at[a] = dim >= 0 ? dim : without_dim(r, s->at[a], operand);
        to.level[a] = dim >= 0 ? s->level[a] : 0;
    }
    return to;
}

// ---- all of them ----

enum { MAX_CHOICES = MAX_FACTORS + 2 + 64 };

typedef struct StrategyList {
    const Mesh *mesh;
    int8_t choice[MAX_CHOICES];
    int n;
    Strategy *to;
    int n_to;
} StrategyList;

// Appends all strategies that agree with `s` on the axes before `axis`; stops after MAX_STRATEGIES.
// An axis that shares a factor with others gets every level among them.
static void list_strategies(StrategyList *w, Strategy s, int axis)
{
    if (w->n_to > MAX_STRATEGIES)
        return;
    if (axis == w->mesh->n_axes) {
        if (w->n_to < MAX_STRATEGIES)
            w->to[w->n_to] = s;
        w->n_to++;
        return;
    }
    for (int i = 0; i < w->n; i++) {
        int sharing = 0;
        for (int a = 0; a < axis; a++)
            sharing += w->choice[i] >= 0 && w->choice[i] < LINEAR_SINGLE && s.at[a] == w->choice[i];
        for (int level = sharing; level >= 0; level--) {
            Strategy next = s;
            for (int a = 0; a < axis && level < sharing; a++)
                next.level[a] =
                    (int8_t)(s.level[a] + (s.at[a] == w->choice[i] && s.level[a] >= level));
            next.at[axis] = w->choice[i];
            next.level[axis] = (int8_t)level;
            list_strategies(w, next, axis + 1);
        }
    }
}

// Lists the factors that may be split, the largest first.
static int open_factors(const Rule *r, int8_t *factor)
{
    int n = 0;

    for (int8_t f = 0; f < r->n_factors; f++) {
        int at = n;
        if (!is_open(r, f))
            continue;
        for (; at > 0 && r->size[factor[at - 1]] < r->size[f]; at--)
            factor[at] = factor[at - 1];
        factor[at] = f;
        n++;
    }
    return n;
}

int strategies_of(Arena *a, const Rule *r, const Mesh *m, Strategy **to)
{
    StrategyList w = {.mesh = m, .to = arena_array(a, Strategy, MAX_STRATEGIES)};
    int8_t factor[MAX_FACTORS];
    int n = open_factors(r, factor), other = 0;
    const Strategy whole = {{FACTOR_NONE, FACTOR_NONE, FACTOR_NONE, FACTOR_NONE}, {0}};

    w.choice[other++] = FACTOR_NONE;
    if (r->joint)
        w.choice[other++] = LINEAR_JOINT;
    for (int i = 0; i < 64; i++)
        if (r->single >> i & 1)
            w.choice[other++] = (int8_t)(LINEAR_SINGLE + i);
    do {
        w.n_to = 0;
        w.n = other;
        for (int i = 0; i < n; i++)
            w.choice[w.n++] = factor[i];
        list_strategies(&w, whole, 0);
    } while (w.n_to > MAX_STRATEGIES && n-- > 0);
    *to = w.to;
    return w.n_to;
}
