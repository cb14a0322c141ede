// Lists the collectives of a plan for its file: the communication in the graph that it splits.
#include "lower/lower.h"
#include "report/report.h"

typedef struct CollectiveList {
    const Sharded *s;
    const char **name;  // by ValueId of the whole graph
    ValueId *entry;     // by ValueId: the value whose entry in the file applies to it
    int accumulate;
    const bool *is_once;  // by NodeId: it makes half copies of parameters, once a step
    Arena *arena;
    PlanCollective *to;
    int n, cap;
} CollectiveList;

static const char *axes_of(const CollectiveList *m, const Node *n)
{
    const Attr *axes = &n->attr[0];
    Text t = {0};

    for (int i = 0; i < axes->n; i++)
        text_printf(&t, "%s%s", i ? "+" : "", m->s->plan->mesh.name[axes->v[i]]);
    char *s = arena_copy(m->arena, t.s, t.n);
    text_free(&t);
    return s;
}

// The name of the next node that is a shard of a node in the whole graph.
static const char *next_node(const CollectiveList *m, NodeId n)
{
    for (; n < m->s->n_nodes; n++)
        if (m->s->node[n].of) {
            const Node *of = &m->s->whole->nodes[m->s->node[n].of];
            return printable_text(m->arena, m->name[m->entry[of->out[0]]]);
        }
    return NULL;
}

// Adds the collective of node `n`, which moves value `of` of the whole graph.
static void add_collective(CollectiveList *m, NodeId n, const ShardedNode *known, ValueId of,
                           int bucket)
{
    const Sharded *s = m->s;
    const Node *x = &s->g->nodes[n];
    int64_t times = x->phase == UPDATE || m->is_once[n] ? 1 : m->accumulate;

    if (!known->planned_picoseconds && !known->bytes)  // a slice, which sends nothing
        return;
    times *= x->block.cls ? s->g->classes[x->block.cls].length : 1;
    *arena_push(m->arena, m->to, m->n, m->cap) =
        (PlanCollective){.kind = x->op->name,
                         .value = printable_text(m->arena, m->name[m->entry[of]]),
                         .axis = axes_of(m, x),
                         .phase = phase_names[x->phase],
                         .before = next_node(m, n),
                         .block = x->block.cls,
                         .bucket = bucket,
                         .times = times,
                         .bytes = known->bytes,
                         .seconds = 1e-12 * (double)times * (double)known->planned_picoseconds};
}

static void add_collectives(CollectiveList *m)
{
    const Sharded *s = m->s;
    int bucket = 0;

    for (NodeId n = 1; n < s->n_nodes; n++) {
        const Node *x = &s->g->nodes[n];
        const ShardedNode *known = &s->node[n];
        if (!x->op->exchange || x->block.iter)
            continue;
        if (!known->n_joined)
            add_collective(m, n, known, s->value[x->in[0]].of, 0);
        bucket += known->n_joined > 0;
        for (int i = 0; i < known->n_joined; i++)
            add_collective(m, n, &known->joined[i], known->joined[i].of, bucket);
    }
}

// Adds the seconds of each value's collectives to its entry.
static void add_seconds(Arena *a, PlanFile *f)
{
    Map value = {.arena = a};

    for (int i = 0; i < f->n_values; i++)
        map_set(&value, f->value[i].name, i + 1);
    for (int i = 0; i < f->n_collectives; i++)
        f->value[map_get(&value, f->collective[i].value) - 1].seconds += f->collective[i].seconds;
}

void plan_make_collectives(Arena *a, PlanFile *f, const Sharded *s, int accumulate)
{
    CollectiveList m = {.s = s,
                        .name = graph_names(a, s->whole),
                        .entry = plan_file_entries(a, s->whole),
                        .accumulate = accumulate,
                        .is_once = sharded_half_copies(a, s),
                        .arena = a};

    add_collectives(&m);
    f->collective = m.to;
    f->n_collectives = m.n;
    add_seconds(a, f);
}
