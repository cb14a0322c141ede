// Reads a request for a plan: makes the graph to be planned, and finds the meshes, the pins and the
// plan that is followed.
#include "compile/fit/plan_job.h"

#include <string.h>

#include "base/search.h"
#include "lower/recompute/policies.h"
#include "solver/plan/follow_plan.h"
#include "solver/plan/parse_pins.h"

PlanOptions plan_job_options(const PlanJob *j)
{
    bool takes_all = !j->r->memory;  // that the device has, with that of communicators
    const ExchangeMemory none = {0};

    return (PlanOptions){.target = j->r->target,
                         .accumulate = j->r->accumulate,
                         .copies = COPIES_SURE,
                         .memory = takes_all ? (int64_t)j->c->memory : j->r->memory,
                         .exchange_memory =
                             takes_all ? exchange_memory_of(j->r->target, j->c) : none,
                         .skips_presets = j->proposal && j->proposal->skips_presets,
                         .solve = {.gap = PLAN_GAP,
                                   .threads = 2,
                                   .seed = 1,
                                   .skips_certificate = true,
                                   .budget = j->r->budget,
                                   .is_peak_rough = j->proposal}};
}

LowerOptions plan_job_lowering(const PlanJob *j, int64_t memory)
{
    LowerOptions o = request_lowering(j->r);

    o.cluster = j->c;
    o.memory = memory;
    return o;
}

// Makes the graph to be planned. `train` may be NULL.
static bool make_graph(PlanJob *j, const Graph *train)
{
    const RecomputePolicy none = {RECOMPUTE_NONE};

    j->model = train ? train : j->predict;
    j->made =
        recompute_traced(j->a, j->model, train ? &j->r->recompute : &none, j->r->target, j->d);
    j->g = j->made.g;
    if (train) {
        j->train = j->made.g;
        Graph *predict = graph_clone(j->a, j->predict);
        if (j->train)
            classes_align(predict, j->train);
        j->predict = predict;
    }
    return j->g && graph_verify(j->g, j->d);
}

// The model's node that a node of a graph made of it is, or repeats.
static NodeId model_node(const PlanJob *j, const Recomputed *x, NodeId n)
{
    return value_of(j->model, x->origin[x->g->nodes[n].out[0]])->producer;
}

// By node of the model: the one of the graph to be planned, whose nodes are the model's.
static NodeId *planned_nodes(const PlanJob *j)
{
    NodeId *node = arena_array(j->a, NodeId, j->model->n_nodes);

    for (NodeId n = 1; n < j->g->n_nodes; n++)
        node[model_node(j, &j->made, n)] = n;
    return node;
}

// Makes the graphs of the request's other policies.
static bool make_others(PlanJob *j)
{
    int n = j->proposal ? j->proposal->n_others : 0;
    OtherGraph *other = arena_array(j->a, OtherGraph, n);
    const NodeId *planned = n ? planned_nodes(j) : NULL;

    for (int i = 0; i < n; i++) {
        Recomputed x = recompute_traced(j->a, j->model, &j->proposal->other[i], j->r->target, j->d);
        if (!x.g)
            return false;
        NodeId *node = arena_array(j->a, NodeId, x.g->n_nodes);
        for (NodeId k = 1; k < x.g->n_nodes; k++)
            node[k] = planned[model_node(j, &x, k)];
        other[i] = (OtherGraph){x.g, node};
    }
    j->options.other = other;
    j->options.n_others = n;
    return true;
}

// Pins the compute specs that several readers share. Returns how many pins there are then.
static int pin_compute_specs(const PlanJob *j, const Plan *p, Pin *pin, int n)
{
    const TiedValues tied = tied_find(j->a, j->g);
    const int *readers = tied_readers(j->a, j->g, &tied);

    for (int at = 3; at < 3 * j->g->n_values; at++)
        if (readers[at] > 1)
            pin[n++] = (Pin){.kind = PIN_COMPUTE,
                             .id = at / 3,
                             .phase = (Phase)(at % 3),
                             .spec = p->compute_spec[at],
                             .is_given = true};
    return n;
}

// Pins all specs and strategies of the plan that is given. The user's pins come first.
static bool take_given(PlanJob *j)
{
    Plan *p = arena_array(j->a, Plan, 1);
    ValueId *value;
    NodeId *node;
    int n_values = plan_file_values(j->a, j->g, &value),
        n_nodes = plan_file_nodes(j->a, j->g, &node), n = j->n_user_pins;
    Pin *pin = arena_array(j->a, Pin, (size_t)n + n_values + n_nodes + 3 * j->g->n_values);

    if (!plan_translate(j->a, j->model, j->r->given, &j->made, p, j->d))
        return false;
    if (n)
        memcpy(pin, j->options.pin, (size_t)n * sizeof *pin);
    for (int i = 0; i < n_values; i++)
        pin[n++] = (Pin){.kind = PIN_STORAGE,
                         .id = value[i],
                         .spec = p->storage_spec[value[i]],
                         .is_given = true};
    for (int i = 0; i < n_nodes; i++)
        pin[n++] = (Pin){.kind = PIN_STRATEGY, .id = node[i], .spec = p->strategy[node[i]]};
    j->options.pin = pin;
    j->options.n_pins = pin_compute_specs(j, p, pin, n);
    j->mesh = &p->mesh;
    j->n_meshes = 1;
    return true;
}

static bool read_request(PlanJob *j)
{
    Mesh *given = arena_array(j->a, Mesh, 1);
    Preset *preset = arena_array(j->a, Preset, 1);
    Diag of_options = {.file = "shardcc", .to = j->d->to};
    Pin *pin = NULL;

    j->n_meshes = 1;
    j->mesh = given;
    if (!j->r->mesh)
        j->n_meshes = mesh_shapes(j->a, j->c, j->r->ranks, &j->mesh, &of_options);
    else if (!mesh_parse(j->a, j->c, j->r->ranks, j->r->mesh, given, &of_options))
        return false;
    if (!j->n_meshes)
        return false;
    j->options.n_pins = pins_read(j->a, j->r->pin, j->r->n_pins, j->g, j->mesh, &pin, j->d);
    j->options.pin = pin;
    j->options.preset = j->r->preset ? preset : NULL;
    j->n_user_pins = j->options.n_pins;
    return j->options.n_pins >= 0 && (!j->r->preset || preset_parse(j->r->preset, preset, j->d)) &&
           (!j->r->given || take_given(j));
}

// Takes the plan of the request's file, or the pins that it has.
static bool read_plan(PlanJob *j)
{
    const PlannedStep step = {j->model, j->made, &j->r->recompute, j->c, j->r->target};
    FollowedPlan *followed = arena_array(j->a, FollowedPlan, 1);
    PlanFile f;

    if (!plan_file_open(j->a, j->r->plan, &f, &j->at) ||
        !plan_follow(j->a, &f, &step, followed, &j->at))
        return false;
    j->given = followed->plan;
    j->mesh = &followed->plan.mesh;
    j->n_meshes = 1;
    j->options.pin = followed->pin;
    j->options.n_pins = followed->n_pins;
    j->follows = !followed->n_pins;
    return true;
}

bool plan_job_read(Arena *a, const PlanRequest *r, const Proposal *p, const Cluster *c,
                   const Graph *train, const Graph *predict, PlanJob *to, Diag *d)
{
    *to = (PlanJob){.a = a,
                    .r = r,
                    .proposal = p,
                    .c = c,
                    .predict = predict,
                    .d = d,
                    .at = {.file = r->plan ? base_name(r->plan) : d->file, .to = d->to}};
    to->options = plan_job_options(to);
    return make_graph(to, train) && make_others(to) && (r->plan ? read_plan : read_request)(to);
}
