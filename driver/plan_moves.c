// What a plan's ranks send each other: the communication of the graph that it splits.
#include "driver/plan_make.h"
#include "lower/lower.h"

typedef struct Moves {
    const Sharded *s;
    const char **name;  // by ValueId of the whole graph
    ValueId *entry;     // … the value that stands for it in the file
    Layouts *layouts;
    int accumulate;
    Arena *arena;
    PlanCollective *to;
    int n, cap;
} Moves;

static const char *axes_of(const Moves *m, const Node *n)
{
    const Attr *axes = &n->attr[0];
    Text t = {0};

    for (int i = 0; i < axes->n; i++)
        text_printf(&t, "%s%s", i ? "+" : "", m->s->plan->mesh.name[axes->v[i]]);
    char *s = arena_copy(m->arena, t.s, t.n);
    text_free(&t);
    return s;
}

// The node of the whole graph whose piece comes next.
static const char *next_node(const Moves *m, NodeId n)
{
    for (; n < m->s->n_nodes; n++)
        if (m->s->node[n].of) {
            const Node *of = &m->s->whole->nodes[m->s->node[n].of];
            return printable_text(m->arena, m->name[m->entry[of->out[0]]]);
        }
    return NULL;
}

static void add_move(Moves *m, NodeId n)
{
    const Sharded *s = m->s;
    const Node *x = &s->g->nodes[n];
    const ShardedValue *from = &s->value[x->in[0]], *to = &s->value[x->out[0]];
    const Way *way;
    int64_t bytes = 0, times = x->phase == UPDATE ? 1 : m->accumulate;

    layout_ways(m->layouts, value_of(s->whole, from->of), from->spec, to->spec, &way);
    for (int i = 0; i < way->n_steps; i++)
        bytes += way->step[i]->bytes;
    if (!way->picoseconds && !bytes)  // each rank takes a part of what it has
        return;
    times *= x->block.cls ? s->g->classes[x->block.cls].length : 1;
    *arena_push(m->arena, m->to, m->n, m->cap) =
        (PlanCollective){.kind = x->op->name,
                         .value = printable_text(m->arena, m->name[m->entry[from->of]]),
                         .axis = axes_of(m, x),
                         .phase = phase_names[x->phase],
                         .before = next_node(m, n),
                         .block = x->block.cls,
                         .times = times,
                         .bytes = bytes,
                         .seconds = 1e-12 * (double)times * (double)way->picoseconds};
}

// What the collectives of each value take.
static void add_seconds(PlanFile *f, Arena *a)
{
    Map value = {.arena = a};

    for (int i = 0; i < f->n_values; i++)
        map_set(&value, f->value[i].name, i + 1);
    for (int i = 0; i < f->n_collectives; i++)
        f->value[map_get(&value, f->collective[i].value) - 1].seconds += f->collective[i].seconds;
}

void plan_make_moves(PlanFile *f, const Sharded *s, int accumulate, Arena *a)
{
    Moves m = {.s = s,
               .name = graph_names(s->whole, a),
               .entry = plan_file_entries(s->whole, a),
               .layouts = layouts_new(a, &s->plan->mesh),
               .accumulate = accumulate,
               .arena = a};

    for (NodeId n = 1; n < s->n_nodes; n++)
        if (!s->node[n].of && !s->g->nodes[n].block.iter)
            add_move(&m, n);
    f->collective = m.to;
    f->n_collectives = m.n;
    add_seconds(f, a);
}
