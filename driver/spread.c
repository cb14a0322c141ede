// From the graphs of one rank to those of many: a plan of each, and the graph split as it says.
#include "driver/spread.h"

#include <string.h>

#include "analyzer/plan_file.h"
#include "driver/pins.h"

PlanOptions spread_options(Arena *a, const Options *o, const Cluster *c)
{
    return (PlanOptions){.accumulate = o->accumulate,
                         .memory = o->memory ? o->memory : (int64_t)c->memory,
                         .solve = {.time_limit = 60,
                                   .gap = 1e-2,
                                   .threads = 2,
                                   .seed = 1,
                                   .engine = "cbc",
                                   .programs = program_folder(a),
                                   .is_quick = true}};
}

int spread_meshes(Arena *a, const Options *o, const Cluster *c, int ranks, const Mesh **mesh,
                  Diag *d)
{
    Mesh *given = arena_array(a, Mesh, 1);

    *mesh = given;
    return o->mesh ? mesh_parse(a, c, ranks, o->mesh, given, d) : mesh_shapes(a, c, ranks, mesh, d);
}

bool spread_wishes(Arena *a, const Options *o, const Graph *g, const Mesh *mesh, PlanOptions *po,
                   Diag *d)
{
    Preset *preset = arena_array(a, Preset, 1);
    Pin *pin = NULL;

    po->n_pins = pins_read(a, o, g, mesh, &pin, d);
    po->pin = pin;
    po->preset = o->preset ? preset : NULL;
    return po->n_pins >= 0 && (!o->preset || preset_parse(o->preset, preset, d));
}

// The cheapest plan of all meshes that the options allow.
static bool find_plan(Arena *a, const Options *o, const Cluster *c, const Graph *g, Planned *to,
                      Diag *d)
{
    PlanOptions po = spread_options(a, o, c);
    const Mesh *mesh;
    int n = spread_meshes(a, o, c, o->ranks, &mesh, d);

    if (!n || !spread_wishes(a, o, g, mesh, &po, d) || !plan_search(g, c, mesh, n, &po, to, a, d))
        return false;
    if (!is_found(to->answer.outcome))
        diag_error(d, "no plan for %d ranks was found that fits %" PRId64 " bytes a rank", o->ranks,
                   po.memory);
    return is_found(to->answer.outcome);
}

// The plan of a file; where entries of it are pins, the cheapest with these.
static bool read_plan(Arena *a, const Options *o, const Cluster *c, const Graph *g, Planned *to,
                      Diag *d)
{
    PlanOptions po = spread_options(a, o, c);
    Diag at = {.file = base_name(o->plan)};
    PlanPins pins;
    PlanFile f;
    Plan p;

    if (!plan_file_open(a, o->plan, &f, &at) || !plan_file_read(&f, g, c, &p, &pins, a, &at))
        return false;
    *to = (Planned){.plan = p};
    Pin *pin = arena_array(a, Pin, pins.n_values + pins.n_nodes);
    for (int i = 0; i < pins.n_values; i++)
        pin[po.n_pins++] =
            (Pin){.kind = PIN_REST, .id = pins.value[i], .spec = p.spec[pins.value[i]]};
    for (int i = 0; i < pins.n_nodes; i++)
        pin[po.n_pins++] =
            (Pin){.kind = PIN_STRATEGY, .id = pins.node[i], .spec = p.strategy[pins.node[i]]};
    po.pin = pin;
    if (!po.n_pins)
        return true;
    if (!plan_find(g, c, &p.mesh, &po, to, a, &at))
        return false;
    if (!is_found(to->answer.outcome))
        diag_error(&at, "no plan with these pins fits %" PRId64 " bytes a rank", po.memory);
    return is_found(to->answer.outcome);
}

// Layers whose parameters rest otherwise from layer to layer, as they may where the training
// graph's layers aren't all alike, are no loop of predictions.
static void part_layers(Arena *a, const Graph *train, const Plan *p, Graph *predict)
{
    Map at = {.arena = a}, first = {.arena = a};
    bool *differs = arena_array(a, bool, predict->n_classes + 1);

    for (ValueId v = 1; v < train->n_values; v++)
        if (value_of(train, v)->name && !value_of(train, v)->producer)
            map_set(&at, value_of(train, v)->name, v);
    for (ValueId v = 1; v < predict->n_values; v++) {
        const Value *x = value_of(predict, v);
        int like = x->block.cls && x->name && !x->producer ? map_get(&at, x->name) : 0;
        const char *place = arena_string(a, "%d.%d", x->block.cls, x->block.pos);
        if (like && !map_get(&first, place))
            map_set(&first, place, like);
        if (like && !spec_equal(&p->spec[like], &p->spec[map_get(&first, place)]))
            differs[x->block.cls] = true;
    }
    for (int c = 1; c < predict->n_classes; c++)
        if (differs[c])
            graph_write_out(predict, c);
}

// A plan of the forward-only graph on the mesh of the other's.
static bool find_like(Arena *a, const Options *o, const Cluster *c, const Graph *train,
                      Graph *predict, const Plan *like, Plan *to, Diag *d)
{
    PlanOptions po = spread_options(a, o, c);
    Planned p;

    part_layers(a, train, like, predict);
    if (!plan_predict(predict, train, like, c, &po, &p, a, d))
        return false;
    if (!is_found(p.answer.outcome))
        diag_error(d, "no plan of predictions that fits was found");
    *to = p.plan;
    return is_found(p.answer.outcome);
}

bool spread(Arena *a, const Options *o, const Cluster *c, const Graph *train, Graph *predict,
            Spread *to, Diag *d)
{
    Plan *p = arena_array(a, Plan, 2);

    if (!(o->plan ? read_plan : find_plan)(a, o, c, train ? train : predict, &to->planned, d))
        return false;
    p[0] = to->planned.plan;
    if (train && !(to->set[SET_TRAIN] = partition(a, train, &p[0], d)))
        return false;
    p[1] = p[0];
    if (train && !find_like(a, o, c, train, predict, &p[0], &p[1], d))
        return false;
    to->set[SET_PREDICT] = partition(a, predict, &p[1], d);
    return to->set[SET_PREDICT];
}
