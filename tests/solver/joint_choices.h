// The choices of a joint plan of a small training step, listed without the search: the policies of
// all policies and counts of layers, and the specs and strategies of each decision.
#ifndef SHARDCC_TESTS_SOLVER_JOINT_CHOICES_H
#define SHARDCC_TESTS_SOLVER_JOINT_CHOICES_H

#include "lower/recompute/policies.h"
#include "tests/solver/joint_graphs.h"

enum { MAX_POLICIES = 64, MAX_OPTIONS = 256, MAX_LEVELS = 4 };

// A decision about the training graph: the storage spec of tied values, or the strategy of tied
// nodes.
typedef struct Decision {
    bool is_strategy, is_free;
    int32_t id;    // the first of the tied values or nodes
    Spec *option;  // all that the plan may choose
    int n;
    Spec base;  // that of a decision that isn't free
} Decision;

// The readers of a value in one phase that share a compute spec. Values of a policy's graph that
// are the same value of the training graph are one value here.
typedef struct Slot {
    int at;  // 3 · ValueId of the training graph + phase
    int n;
    NodeId *reader;
    int *input;
} Slot;

// A policy, and the graph that it makes.
typedef struct Policy {
    RecomputePolicy policy;
    Graph *g;
    TiedValues tied;
    Traffic traffic;
    bool *is_bucketed;  // by ValueId of g
    Rule *rule;         // by NodeId of g
    Work *work;         // by NodeId of g
    NodeId *node;       // by NodeId of g: the first tied node of the training graph
    ValueId *value;     // by ValueId of g: the first tied value of the training graph
    bool *is_shared;    // by 3 · first tied value of g + phase: several nodes read it
    Slot *slot;         // those with a shared value
    int n_slots;
} Policy;

// The program of a joint plan. Overlap is reduced where memory is short: the levels are in the
// order in which they are tried.
typedef struct Priced {
    int64_t compute, communication;  // picoseconds
    int n_levels;
    int64_t bytes[MAX_LEVELS];
    double seconds[MAX_LEVELS];
} Priced;

typedef struct Joint {
    Arena *a;
    const Step *step;
    Diag *d;
    TiedValues tied;
    Rule *rule;  // by NodeId of the training graph
    Decision *decision;
    int n_decisions;
    int *of_node, *of_value;  // by id of the training graph: the decision
    Spec **any;               // by ValueId of the training graph: all specs
    int *n_any;
    Policy policy[MAX_POLICIES];
    int n_policies;
    Resharder *reshard[2];               // [1]: of values whose small steps join buckets
    Spec *strategy, *storage, *compute;  // those being tried, by id of the training graph
    int64_t n_tried, most_tried;         // most_tried: plans are only counted, up to this number
    Priced *priced;
    int n_priced, cap_priced;
} Joint;

// ---- policies ----

static inline void add_policy(Joint *j, const ClassPolicies *classes, int outside, int policy,
                              int n)
{
    KeepRun *run = arena_array(j->a, KeepRun, 3);
    RecomputePolicy *to = &j->policy[j->n_policies].policy;

    assert_true(j->n_policies++ < MAX_POLICIES);
    *to = (RecomputePolicy){.rule = RECOMPUTE_MIN_CUT, .run = run};
    if (outside)
        run[to->n_runs++] = (KeepRun){.again = classes[0].policy[outside].again,
                                      .n_again = classes[0].policy[outside].n_again};
    if (policy)
        run[to->n_runs++] =
            (KeepRun){1, 0, n, classes[1].policy[policy].again, classes[1].policy[policy].n_again};
    if (policy > 1 && n < LAYERS)
        run[to->n_runs++] = (KeepRun){1, n, LAYERS - n, classes[1].policy[policy - 1].again,
                                      classes[1].policy[policy - 1].n_again};
}

// The value of the training graph that a value of a policy's graph is, or makes again.
static inline ValueId find_origin(const Joint *j, const Graph *g, const Map *name, ValueId v)
{
    const Node *n = value_of(g, v)->producer ? producer(g, v) : NULL;
    int i = 0;

    if (!n)
        return map_get(name, value_of(g, v)->name);
    while (n->out[i] != v)
        i++;
    return j->step->train->nodes[n->source - j->step->source].out[i];
}

static inline void find_origins(Joint *j, Policy *p)
{
    const Graph *train = j->step->train, *g = p->g;
    Map name = {.arena = j->a};

    p->node = arena_array(j->a, NodeId, g->n_nodes);
    p->value = arena_array(j->a, ValueId, g->n_values);
    for (ValueId v = 1; v < train->n_values; v++)
        if (!value_of(train, v)->producer)
            map_set(&name, value_of(train, v)->name, v);
    for (NodeId n = 1; n < g->n_nodes; n++)
        p->node[n] = j->tied.node[g->nodes[n].source - j->step->source];
    for (ValueId v = 1; v < g->n_values; v++)
        p->value[v] = j->tied.value[find_origin(j, g, &name, v)];
}

// The value whose compute spec an input has; 0: the input is absent.
static inline ValueId read_value(const Policy *p, NodeId n, int i)
{
    return p->g->nodes[n].in[i] ? p->tied.value[tied_input_value(p->g, &p->tied, n, i)] : 0;
}

static inline Slot *slot_at(Joint *j, Policy *p, int at)
{
    int i = 0;

    while (i < p->n_slots && p->slot[i].at != at)
        i++;
    if (i == p->n_slots)
        p->slot[p->n_slots++] = (Slot){at, 0, arena_array(j->a, NodeId, p->g->n_nodes * 4),
                                       arena_array(j->a, int, p->g->n_nodes * 4)};
    return &p->slot[i];
}

static inline void find_slots(Joint *j, Policy *p)
{
    const Graph *g = p->g;
    int *readers = arena_array(j->a, int, 3 * (size_t)g->n_values);

    p->is_shared = arena_array(j->a, bool, 3 * (size_t)g->n_values);
    p->slot = arena_array(j->a, Slot, 3 * (size_t)g->n_values);
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && p->tied.node[n] == n; i++)
            readers[3 * read_value(p, n, i) + (int)g->nodes[n].phase]++;
    for (int at = 3; at < 3 * g->n_values; at++)
        p->is_shared[at] = readers[at] > 1;
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && p->tied.node[n] == n; i++) {
            ValueId v = read_value(p, n, i);
            int phase = (int)g->nodes[n].phase;
            if (!p->is_shared[3 * v + phase])
                continue;
            Slot *s = slot_at(j, p, 3 * p->value[v] + phase);
            s->reader[s->n] = n;
            s->input[s->n++] = i;
        }
}

static inline void make_policy(Joint *j, Policy *p)
{
    p->g = recompute(j->a, j->step->train, &p->policy, &target_cpu, j->d);
    assert_non_null(p->g);
    p->tied = tied_find(j->a, p->g);
    p->traffic = traffic_find(j->a, p->g);
    p->is_bucketed = values_bucketed(j->a, p->g, &p->tied);
    p->rule = arena_array(j->a, Rule, p->g->n_nodes);
    p->work = arena_array(j->a, Work, p->g->n_nodes);
    for (NodeId n = 1; n < p->g->n_nodes; n++) {
        node_rule(j->a, p->g, &p->g->nodes[n], &p->rule[n]);
        p->work[n] = node_work(p->g, &p->g->nodes[n]);
    }
    find_origins(j, p);
    find_slots(j, p);
}

static inline void make_policies(Joint *j)
{
    const Step *s = j->step;
    const ClassPolicies *classes =
        recompute_policies(j->a, s->train, &target_cpu, &s->cluster, j->d);

    assert_non_null(classes);
    for (int outside = 0; outside < classes[0].n_policies; outside++) {
        add_policy(j, classes, outside, 0, LAYERS);
        for (int policy = 1; policy < classes[1].n_policies; policy++)
            for (int n = 1; n <= LAYERS; n++)
                add_policy(j, classes, outside, policy, n);
    }
    for (int i = 0; i < j->n_policies; i++)
        make_policy(j, &j->policy[i]);
}

// ---- alternatives ----

static inline bool is_right(const Joint *j, int32_t id, bool is_node, const Spec *s)
{
    const Value *x = value_of(j->step->train, is_node ? 0 : id);
    const Rule *r = &j->rule[is_node ? id : 0];
    int n = is_node ? r->n_factors : x->rank;

    for (int a = 0; a < j->step->mesh.n_axes; a++)
        if (s->at[a] >= 0 && s->at[a] < n && (is_node ? r->size : x->dim)[s->at[a]] == 1)
            return false;
    return is_node ? strategy_is_legal(r, &j->step->mesh, s)
                   : spec_is_valid(&j->step->mesh, x->rank, s);
}

// Lists all specs of a value, or all strategies of a node: of all that `at` in [low, high) and
// `level` allow, those that are right.
static inline int list_options(const Joint *j, int32_t id, bool is_node, int low, int high,
                               Spec *to)
{
    const Mesh *m = &j->step->mesh;
    int width = (high - low) * m->n_axes, total = m->n_axes > 1 ? width * width : width, n = 0;

    for (int i = 0; i < total; i++) {
        Spec s = spec_replicated();
        for (int a = 0, rest = i; a < m->n_axes; a++, rest /= width) {
            s.at[a] = (int8_t)(low + rest % width / m->n_axes);
            s.level[a] = (int8_t)(rest % width % m->n_axes);
        }
        if (!is_right(j, id, is_node, &s))
            continue;
        assert_true(n < MAX_OPTIONS);
        to[n++] = s;
    }
    return n;
}

static inline void add_decision(Joint *j, Decision x)
{
    const Graph *g = j->step->train;

    x.option = arena_array(j->a, Spec, MAX_OPTIONS);
    if (x.is_strategy) {
        x.n = list_options(j, x.id, true, LINEAR_JOINT, LINEAR_SINGLE + 4, x.option);
        j->of_node[x.id] = j->n_decisions;
    } else {
        Spec *any = j->any[x.id] = arena_array(j->a, Spec, MAX_OPTIONS);
        j->n_any[x.id] = list_options(j, x.id, false, SPEC_SUM, value_of(g, x.id)->rank, any);
        for (int i = 0; i < j->n_any[x.id]; i++)
            if (storage_allows(j->tied.storage_rule[x.id], &any[i]))
                x.option[x.n++] = any[i];
        j->of_value[x.id] = j->n_decisions;
    }
    j->decision[j->n_decisions++] = x;
}

static inline void make_decisions(Joint *j)
{
    const Graph *g = j->step->train;

    for (NodeId n = 1; n < g->n_nodes; n++) {
        node_rule(j->a, g, &g->nodes[n], &j->rule[n]);
        if (j->tied.node[n] == n)
            add_decision(j, (Decision){.is_strategy = true, .id = n});
    }
    for (ValueId v = 1; v < g->n_values; v++)
        if (j->tied.value[v] == v)
            add_decision(j, (Decision){.id = v});
}

#endif
