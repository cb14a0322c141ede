// All joint plans of a small training step, enumerated without the search, priced and made to
// programs. Equal layers are sharded equally, and a node that runs again has the specs and
// strategies of the node that it repeats.
#ifndef SHARDCC_TESTS_SOLVER_JOINT_ALL_H
#define SHARDCC_TESTS_SOLVER_JOINT_ALL_H

#include <math.h>
#include <stdlib.h>

#include "tests/solver/joint_choices.h"

// ---- prices ----

static inline int64_t path_price(const Joint *j, const Policy *p, ValueId v, Spec from, Spec to)
{
    return reshard_fastest(j->reshard[p->is_bucketed[v]], value_of(p->g, v), from, to);
}

// Does an earlier input of the node read the same value in the same spec?
static inline bool is_repeated(const Policy *p, const Plan *plan, NodeId n, int i)
{
    Spec spec = strategy_spec(&p->rule[n], &plan->strategy[n], i);
    InputSources x = tied_input_sources(p->g, &p->tied, n, i);

    for (int k = 0; k < i; k++) {
        Spec other = strategy_spec(&p->rule[n], &plan->strategy[n], k);
        InputSources y = tied_input_sources(p->g, &p->tied, n, k);
        if (x.first == y.first && x.second == y.second && x.last == y.last &&
            spec_equal(&spec, &other))
            return true;
    }
    return false;
}

// The price of reading the inputs of a node. first[]: which input is the first to read a value in a
// phase, and so makes the copy that the others share.
static inline int64_t inputs_price(const Joint *j, const Policy *p, const Plan *plan, NodeId n,
                                   int64_t *first)
{
    const Node *x = &p->g->nodes[n];
    int64_t sum = 0;

    for (int i = 0; i < x->n_in; i++) {
        if (!x->in[i] || (x->block.cls && x->block.iter &&
                          sources_are_equal(tied_input_sources(p->g, &p->tied, n, i))))
            continue;
        ValueId v = p->tied.value[tied_input_value(p->g, &p->tied, n, i)];
        int at = 3 * v + (int)x->phase;
        int64_t key = ((int64_t)p->tied.node[n] << 32) + i + 1;
        Spec stored = plan->storage_spec[v], shared = plan->compute_spec[at];
        first[at] = first[at] ? first[at] : key;
        sum += path_price(j, p, p->tied.value[x->in[i]], plan->storage_spec[x->in[i]], stored);
        if (first[at] == key)
            sum += path_price(j, p, v, stored, shared);
        if (!is_repeated(p, plan, n, i))
            sum += path_price(j, p, v, shared, strategy_spec(&p->rule[n], &plan->strategy[n], i));
    }
    return sum;
}

// The price of a plan, added up node by node as the cost model says.
static inline Priced plan_price(Arena *scratch, const Joint *j, const Policy *p, const Plan *plan)
{
    int64_t *first = arena_array(scratch, int64_t, 3 * (size_t)p->g->n_values);
    Priced sum = {0};

    for (NodeId n = 1; n < p->g->n_nodes; n++) {
        const Node *x = &p->g->nodes[n];
        const Strategy *s = &plan->strategy[n];
        NodeId t = p->tied.node[n];
        Work w = shard_work(p->g, &p->g->nodes[t], &p->work[t], &p->traffic, &p->rule[t],
                            &plan->mesh, s);
        sum.compute += llround(1e12 * shard_seconds(&j->step->cluster, &w));
        for (int i = 0; i < x->n_out; i++)
            sum.communication +=
                path_price(j, p, x->out[i], strategy_spec(&p->rule[n], s, x->n_in + i),
                           plan->storage_spec[x->out[i]]);
        sum.communication += inputs_price(j, p, plan, n, first);
    }
    return sum;
}

// ---- one plan ----

static inline Plan plan_of(Arena *a, const Joint *j, const Policy *p)
{
    const Graph *g = p->g;
    Plan plan = {.mesh = j->step->mesh,
                 .storage_spec = arena_array(a, Spec, g->n_values),
                 .strategy = arena_array(a, Strategy, g->n_nodes),
                 .compute_spec = arena_array(a, Spec, 3 * (size_t)g->n_values),
                 .recompute = p->policy};
    Spec *compute = plan.compute_spec;

    for (ValueId v = 1; v < g->n_values; v++) {
        plan.storage_spec[v] = j->storage[p->value[v]];
        for (int i = 0; i < 3; i++)
            compute[3 * v + i] = p->is_shared[3 * p->tied.value[v] + i]
                                     ? j->compute[3 * p->value[v] + i]
                                     : plan.storage_spec[v];
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        plan.strategy[n] = j->strategy[p->node[n]];
        for (int i = 0; i < g->nodes[n].n_in && p->tied.node[n] == n; i++) {
            ValueId v = read_value(p, n, i);
            int at = 3 * v + (int)g->nodes[n].phase;
            if (v && !p->is_shared[at])
                compute[at] = strategy_spec(&p->rule[n], &plan.strategy[n], i);
        }
    }
    for (int at = 3; at < 3 * g->n_values; at++)
        compute[at] = compute[3 * p->tied.value[at / 3] + at % 3];
    return plan;
}

static inline void try_plan(Joint *j, const Policy *p)
{
    static const OverlapLevel levels[MAX_LEVELS] = {OVERLAP_BEST, OVERLAP_LOOP, OVERLAP_ITERATION,
                                                    OVERLAP_NONE};
    const Step *s = j->step;
    Arena *a = arena_new();
    Plan plan = plan_of(a, j, p);
    Priced x = plan_price(a, j, p, &plan);
    LowerOptions o = {.target = &target_cpu, .fuse = true, .accumulate = 1, .cluster = &s->cluster};
    Sharded *split = partition(a, p->g, &plan, j->d);

    assert_non_null(split);
    o.sharded[SET_TRAIN] = split = bucket(a, split);
    for (bool overlaps = true; overlaps && x.n_levels < MAX_LEVELS; x.n_levels++) {
        int n_values = split->g->n_values;
        o.overlap_level = levels[x.n_levels];
        const Program *program = lower(a, split->g, NULL, &o, j->d);
        assert_non_null(program);
        split->g->n_values = n_values;
        x.bytes[x.n_levels] = program->arena_bytes;
        x.seconds[x.n_levels] = program_simulate(program, SET_TRAIN, &s->cluster).seconds;
        overlaps = program->n_slots;
    }
    *arena_push(j->a, j->priced, j->n_priced, j->cap_priced) = x;
    arena_free(a);
}

// ---- all plans ----

static inline bool is_sum(const Spec *s) { return spec_partial(s) == SPEC_SUM; }

// Tries all compute specs of the slots from i on. If all readers need the spec in which the value
// is stored, there is nothing to choose. Sums are for readers of sums.
static inline void try_slots(Joint *j, const Policy *p, int i)
{
    if (j->most_tried && j->n_tried > j->most_tried)
        return;
    if (i == p->n_slots) {
        j->n_tried++;
        if (!j->most_tried)
            try_plan(j, p);
        return;
    }
    const Slot *x = &p->slot[i];
    ValueId v = x->at / 3;
    bool is_equal = true, has_sums = is_sum(&j->storage[v]);
    for (int k = 0; k < x->n; k++) {
        NodeId n = x->reader[k];
        Spec need = strategy_spec(&p->rule[n], &j->strategy[p->node[n]], x->input[k]);
        is_equal &= spec_equal(&need, &j->storage[v]);
        has_sums |= is_sum(&need);
    }
    for (int k = 0; k < (is_equal ? 1 : j->n_any[v]); k++) {
        j->compute[x->at] = is_equal ? j->storage[v] : j->any[v][k];
        if (has_sums || !is_sum(&j->compute[x->at]))
            try_slots(j, p, i + 1);
    }
}

static inline void try_decisions(Joint *j, int i)
{
    const Decision *x = &j->decision[i];

    for (int k = 0; i == j->n_decisions && k < j->n_policies; k++)
        try_slots(j, &j->policy[k], 0);
    for (int k = 0; i < j->n_decisions && k < (x->is_free ? x->n : 1); k++) {
        Spec *to = x->is_strategy ? j->strategy : j->storage;
        to[x->id] = x->is_free ? x->option[k] : x->base;
        try_decisions(j, i + 1);
    }
}

// Counts the plans, up to a number.
static inline int64_t count_plans(Joint *j, int64_t most)
{
    j->n_tried = 0;
    j->most_tried = most;
    try_decisions(j, 0);
    j->most_tried = 0;
    return j->n_tried;
}

// ---- which decisions are free ----

// Splits, along each axis, what has one of three sizes, or nothing.
static inline Spec split_sizes(const Joint *j, int32_t id, bool is_node, const int64_t *size)
{
    Spec s = spec_replicated();
    const Value *v = value_of(j->step->train, is_node ? 0 : id);
    const Rule *r = &j->rule[is_node ? id : 0];
    int n = is_node ? r->n_factors : v->rank, n_shared[MAX_FACTORS + MAX_RANK] = {0};

    for (int a = 0; a < j->step->mesh.n_axes; a++)
        for (int i = 0; i < n && s.at[a] == SPEC_REPLICATED; i++) {
            Spec with = s;
            with.at[a] = (int8_t)i;
            with.level[a] = (int8_t)n_shared[i];
            if ((is_node ? r->size : v->dim)[i] != size[a] || !is_right(j, id, is_node, &with))
                continue;
            s = with;
            n_shared[i]++;
        }
    return s;
}

// Draws what each axis splits where nothing is free: the batch, or one size of the weights.
static inline void draw_base(Joint *j, Dice *dice)
{
    const Graph *g = j->step->train;
    const int64_t *x = value_of(g, 1)->dim;
    int64_t size[MAX_AXES] = {0};

    for (int a = 0; a < j->step->mesh.n_axes; a++)
        size[a] = chance(dice, 60) ? x[0] : j->step->inner;
    for (int i = 0; i < j->n_decisions; i++) {
        Decision *y = &j->decision[i];
        y->base = split_sizes(j, y->id, y->is_strategy, size);
    }
    for (int i = 0; i < j->n_decisions; i++) {
        Decision *y = &j->decision[i];
        NodeId n = y->is_strategy ? 0 : value_of(g, y->id)->producer;
        if (n)
            y->base = strategy_spec(&j->rule[n], &j->decision[j->of_node[j->tied.node[n]]].base,
                                    g->nodes[n].n_in);
        for (int a = 0; a < MAX_AXES && !y->is_strategy; a++)
            if (y->base.at[a] < SPEC_REPLICATED)
                y->base.at[a] = SPEC_REPLICATED;
    }
}

static inline bool is_beside(const Joint *j, const Decision *node, const Decision *value)
{
    const Node *n = &j->step->train->nodes[node->id];

    for (int i = 0; i < n->n_in + n->n_out; i++)
        if (nth_operand(n, i) && j->tied.value[nth_operand(n, i)] == value->id)
            return node->is_strategy && !value->is_strategy;
    return false;
}

// Is it of a value from outside of the layers that the first of them reads? On one rank that value
// lies in the stack of what the layers hand on, and rows count it as one of these.
static inline bool begins_layers(const Joint *j, const Decision *x)
{
    const Graph *g = j->step->train;
    bool is_read = false;

    for (NodeId n = 1; n < g->n_nodes && !x->is_strategy && !value_block(g, x->id).cls; n++)
        for (int i = 0; i < g->nodes[n].n_in; i++)
            is_read |= g->nodes[n].block.cls && g->nodes[n].in[i] == x->id;
    return is_read;
}

// Frees decisions, first one and then some more, as long as there are at most so many plans.
static inline void free_some(Joint *j, Dice *dice, int64_t most)
{
    enum { TRIES = 60 };

    for (int t = 0; t < TRIES; t++) {
        Decision *x = &j->decision[roll(dice, j->n_decisions)];
        bool is_near = t < TRIES / 4;
        for (int i = 0; i < j->n_decisions; i++)
            is_near |= j->decision[i].is_free &&
                       (is_beside(j, x, &j->decision[i]) || is_beside(j, &j->decision[i], x));
        if (x->is_free || x->n < 2 || !is_near || begins_layers(j, x))
            continue;
        x->is_free = true;
        x->is_free = count_plans(j, most) <= most;
    }
}

// ---- the whole ----

// The decisions of a step of which about `most` joint plans are left, and all of these plans.
static inline Joint *joint_new(Arena *a, const Step *s, Dice *dice, int64_t most, Diag *d)
{
    Joint *j = arena_array(a, Joint, 1);
    const Graph *g = s->train;

    *j = (Joint){.a = a, .step = s, .d = d, .tied = tied_find(a, g)};
    j->rule = arena_array(a, Rule, g->n_nodes);
    j->decision = arena_array(a, Decision, g->n_nodes + g->n_values);
    j->of_node = arena_array(a, int, g->n_nodes);
    j->of_value = arena_array(a, int, g->n_values);
    j->any = arena_array(a, Spec *, g->n_values);
    j->n_any = arena_array(a, int, g->n_values);
    j->strategy = arena_array(a, Spec, g->n_nodes);
    j->storage = arena_array(a, Spec, g->n_values);
    j->compute = arena_array(a, Spec, 3 * (size_t)g->n_values);
    j->reshard[0] = resharder_new(a, &s->mesh);
    j->reshard[1] = resharder_new_bucketed(a, &s->mesh);
    make_policies(j);
    make_decisions(j);
    draw_base(j, dice);
    free_some(j, dice, most);
    return j;
}

// The pins of all decisions that aren't free, as the user gives them. Returns how many.
static inline int joint_pins(const Joint *j, const char **pin)
{
    const Graph *g = j->step->train;
    int n = 0;

    for (int k = 0; k < 2; k++)
        for (int32_t i = 1; i < (k ? g->n_values : g->n_nodes); i++) {
            const Decision *x =
                &j->decision[k ? j->of_value[j->tied.value[i]] : j->of_node[j->tied.node[i]]];
            ValueId v = k ? i : g->nodes[i].out[0];
            Text t = {0};
            if (x->is_free)
                continue;
            text_printf(&t, "%s=", value_of(g, v)->name);
            if (k)
                spec_print(&j->step->mesh, value_of(g, v), &x->base, &t);
            else
                strategy_print(&j->rule[x->id], &j->step->mesh, &x->base, &t);
            pin[n++] = arena_string(j->a, "%s", t.s);
            text_free(&t);
        }
    return n;
}

// Enumerates all plans and prices them.
static inline void joint_enumerate(Joint *j) { try_decisions(j, 0); }

// The best of the plans whose programs fit the memory.
typedef struct Least {
    int64_t price;    // of the cheapest one
    int64_t overlap;  // the least time of one whose computation and communication overlap fully
    double seconds;   // of the one with the shortest step
    int64_t bytes;    // of that one
} Least;

static inline Least joint_least(const Joint *j, int64_t memory)
{
    Least least = {.price = INT64_MAX, .overlap = INT64_MAX, .seconds = INFINITY};

    for (int i = 0; i < j->n_priced; i++) {
        const Priced *x = &j->priced[i];
        int k = 0;
        while (k < x->n_levels && x->bytes[k] > memory)
            k++;
        if (k == x->n_levels)
            continue;
        int64_t price = x->compute + x->communication,
                overlap = x->compute > x->communication ? x->compute : x->communication;
        least.price = price < least.price ? price : least.price;
        least.overlap = overlap < least.overlap ? overlap : least.overlap;
        if (x->seconds[k] < least.seconds) {
            least.seconds = x->seconds[k];
            least.bytes = x->bytes[k];
        }
    }
    return least;
}

// The fewest bytes that any plan takes.
static inline int64_t joint_fewest_bytes(const Joint *j)
{
    int64_t bytes = INT64_MAX;

    for (int i = 0; i < j->n_priced; i++)
        for (int k = 0; k < j->priced[i].n_levels; k++)
            bytes = j->priced[i].bytes[k] < bytes ? j->priced[i].bytes[k] : bytes;
    return bytes;
}

#endif
