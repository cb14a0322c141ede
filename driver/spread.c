// From the graphs of one rank to those of many: a plan of each, and the graph split as it says.
#include "driver/spread.h"

#include <string.h>

static PlanOptions plan_options(Arena *a, const Options *o, const Cluster *c)
{
    return (PlanOptions){.accumulate = o->accumulate,
                         .memory = o->memory ? o->memory : (int64_t)c->memory,
                         .solve = {.time_limit = 60,
                                   .gap = 1e-3,
                                   .threads = 2,
                                   .seed = 1,
                                   .engine = "cbc",
                                   .programs = program_folder(a),
                                   .is_quick = true}};
}

// The cheapest plan of all meshes that the options allow.
static bool find_plan(Arena *a, const Options *o, const Cluster *c, const Graph *g, Planned *best,
                      Diag *d)
{
    PlanOptions po = plan_options(a, o, c);
    const Mesh *mesh;
    Mesh given;
    int n = 1;

    if (o->mesh && !mesh_parse(a, c, o->ranks, o->mesh, &given, d))
        return false;
    if (o->mesh)
        mesh = &given;
    else if (!(n = mesh_shapes(a, c, o->ranks, &mesh, d)))
        return false;
    *best = (Planned){0};
    for (int i = 0; i < n; i++) {
        Planned p;
        if (!plan_find(g, c, &mesh[i], &po, &p, a, d))
            return false;
        if (p.answer.choice && (!best->answer.choice || p.answer.cost < best->answer.cost))
            *best = p;
    }
    if (!best->answer.choice)
        diag_error(d, "no plan for %d ranks was found that fits %" PRId64 " bytes a rank", o->ranks,
                   po.memory);
    return best->answer.choice;
}

// A plan of the forward-only graph: parameters and buffers rest as they do in training, all else is
// every rank's.
static Plan plan_like(Arena *a, const Graph *train, const Graph *predict, const Plan *p)
{
    Plan q = {p->mesh, arena_array(a, Spec, predict->n_values),
              arena_array(a, Strategy, predict->n_nodes)};
    Map at = {.arena = a};

    for (ValueId v = 1; v < train->n_values; v++)
        if (value_of(train, v)->name && !value_of(train, v)->producer)
            map_set(&at, value_of(train, v)->name, v);
    for (NodeId n = 1; n < predict->n_nodes; n++)
        q.strategy[n] = spec_whole();
    for (ValueId v = 1; v < predict->n_values; v++) {
        const Value *x = value_of(predict, v);
        bool is_kept = x->kind == VALUE_PARAMETER || x->kind == VALUE_BUFFER;
        int like = is_kept && !x->producer && x->name ? map_get(&at, x->name) : 0;
        q.spec[v] = like ? p->spec[like] : spec_whole();
    }
    return q;
}

bool spread(Arena *a, const Options *o, const Cluster *c, const Graph *train, const Graph *predict,
            Spread *to, Diag *d)
{
    Plan *p = arena_array(a, Plan, 2);

    if (!find_plan(a, o, c, train ? train : predict, &to->planned, d))
        return false;
    p[0] = to->planned.plan;
    if (train && !(to->set[SET_TRAIN] = partition(a, train, &p[0], d)))
        return false;
    p[1] = train ? plan_like(a, train, predict, &p[0]) : p[0];
    to->set[SET_PREDICT] = partition(a, predict, &p[1], d);
    return to->set[SET_PREDICT];
}
