// Runs the passes of lowering in their order over both sets, and lowers again with less overlap if
// memory is short.
#include "base/search.h"
#include "lower/internal.h"

// The most values that lowering adds: kernels may want copies of their inputs.
static int count_inputs(const Graph *g)
{
    int n = 0;

    for (NodeId i = 1; i < g->n_nodes; i++)
        n += COPY_ROUNDS * g->nodes[i].n_in;
    return n;
}

// Does the operator take halves? It sums in f32, or moves elements.
static bool takes_halves(const OpDef *op)
{
    return op->is_product || op == &op_cast || op == &op_select || op == &op_reduce_sum ||
           op == &op_reduce_max || op == &op_reduce_min || (!op->flops && !op->work && !op->expr);
}

bool check_types(const Graph *g, Diag *d)
{
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in + n->n_out; k++) {
            DType t = value_of(g, operand_value(n, k))->dtype;
            if (dtype_is_half(t) && !takes_halves(n->op))
                return node_error(g, n, d,
                                  "trainers don't compute in %s: export the model in f32, "
                                  "and give --precision",
                                  dtype_name(t));
        }
    }
    return true;
}

Lowering lowering_new(Program *p, int set, Graph *g, const LowerOptions *o, Diag *d)
{
    Lowering l = {.p = p, .s = &p->set[set], .g = g, .d = d, .o = o};

    *l.s = (Set){.g = g, .sharded = o->sharded[set]};
    l.cap_values = g->n_values + count_inputs(g);
    l.needs_memory = arena_array(p->arena, bool, l.cap_values);
    l.is_copied = arena_array(p->arena, bool, l.cap_values);
    l.item_of = arena_array(p->arena, int32_t, l.cap_values);
    l.table = class_tables(p->arena, g);
    return l;
}

static bool (*const passes[])(Lowering *l) = {
#define SET_PASS(name, run, text) run,
#include "lower/passes.def"
};

static bool lower_once(Program *p, int set, Graph *g, const LowerOptions *o, Diag *d, bool *retries)
{
    Lowering l = lowering_new(p, set, g, o, d);

    for (int i = 0; i < COUNT(passes); i++)
        if (!passes[i](&l)) {
            *retries = l.retries;
            return false;
        }
    return true;
}

bool lower_set(Program *p, int set, Graph *g, const LowerOptions *o, Diag *d)
{
    int n_buffers = p->n_buffers, n_named = p->n_named, n_slots = p->n_slots;
    int n_values = g->n_values;
    bool retries = false;

    while (!lower_once(p, set, g, o, d, &retries)) {
        if (!retries)
            return false;
        p->n_buffers = n_buffers;
        p->n_slots = n_slots;
        g->n_values = n_values;
        if (p->n_named != n_named) {  // only the first set adds named storage
            p->n_named = n_named;
            p->name_index = (Map){.arena = p->arena};
        }
    }
    return true;
}

Program *program_new(Arena *a, const Target *t, int accumulate)
{
    Program *p = arena_array(a, Program, 1);

    p->arena = a;
    p->target = t;
    p->accumulate = accumulate;
    p->name_index.arena = a;
    arena_push(a, p->buffers, p->n_buffers, p->cap_buffers);
    arena_push(a, p->named_storage, p->n_named, p->cap_named);
    return p;
}

static Program *lower_sets(Arena *a, Graph *train, Graph *predict, const LowerOptions *o, Diag *d)
{
    Program *p = program_new(a, o->target, o->accumulate);

    if ((train && !check_types(train, d)) || (predict && !check_types(predict, d)))
        return NULL;
    if (train && !lower_set(p, SET_TRAIN, train, o, d))
        return NULL;
    if (predict && !lower_set(p, SET_PREDICT, predict, o, d))
        return NULL;
    if (!lower_arena(p, o, d))
        return NULL;
    lower_tensors(p);
    program_finish(p);
    return p;
}

static bool has_fission(const Program *p)
{
    const Set *s = &p->set[SET_TRAIN];

    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_LOOP && s->items[i].loop.fission_part)
            return true;
    return false;
}

// Does the program with cut loops save enough of a step's time to be worth its memory?
static bool pays_off(const Program *fissioned, const Program *whole, const Cluster *c)
{
    return program_simulate(fissioned, SET_TRAIN, c).seconds <
           (1 - MIN_FISSION_GAIN) * program_simulate(whole, SET_TRAIN, c).seconds;
}

// ---- levels of overlap ----

typedef struct Levels {
    Arena *a;
    Graph *g[N_SETS];
    int n_values[N_SETS];  // before lowering, which adds some
    const LowerOptions *o;
    Diag *d;
} Levels;

static Program *lower_at(const Levels *x, OverlapLevel level)
{
    LowerOptions o = *x->o;
    int64_t n_nodes = 0;

    o.overlap_level = level;
    for (int i = 0; i < N_SETS; i++)
        if (x->g[i]) {
            x->g[i]->n_values = x->n_values[i];
            n_nodes += x->g[i]->n_nodes;
        }
    if (!budget_add(o.budget, BUDGET_programs, n_nodes) ||
        budget_is_passed(o.budget, BUDGET_packing))
        return NULL;
    return lower_sets(x->a, x->g[SET_TRAIN], x->g[SET_PREDICT], &o, x->d);
}

static bool fits(const Levels *x, const Program *p)
{
    return !x->o->memory || p->arena_bytes <= x->o->memory;
}

// The program with the most overlap that fits, at a level after the first one. If none fits, the
// one without overlap: it is tried first, since it tells whether others need be.
static Program *lower_less(const Levels *x)
{
    OverlapLevel level = x->o->overlap_level == OVERLAP_BEST ? OVERLAP_PART : x->o->overlap_level;
    Program *none = lower_at(x, OVERLAP_NONE), *p = NULL;

    if (!none || !fits(x, none))
        return none;
    while (++level < OVERLAP_NONE && (p = lower_at(x, level)))
        if (fits(x, p))
            return p;
    return none;
}

Program *lower(Arena *a, Graph *train, Graph *predict, const LowerOptions *o, Diag *d)
{
    const Levels x = {.a = a,
                      .g = {[SET_TRAIN] = train, [SET_PREDICT] = predict},
                      .n_values = {[SET_TRAIN] = train ? train->n_values : 0,
                                   [SET_PREDICT] = predict ? predict->n_values : 0},
                      .o = o,
                      .d = d};
    Program *p = lower_at(&x, o->overlap_level);

    if (!p || !p->n_slots)
        return p;
    if (!fits(&x, p)) {
        Program *less = lower_less(&x);
        if (less)
            less->full_overlap_bytes = p->arena_bytes;
        return less;
    }
    if (o->overlap_level != OVERLAP_BEST || !has_fission(p))
        return p;
    Program *whole = lower_at(&x, OVERLAP_LOOP);
    return whole && fits(&x, whole) && !pays_off(p, whole, o->cluster) ? whole : p;
}
