// From the graphs of one rank to the program of many: a plan of each graph, the graphs split as
// they say, and lowered. The rows of a plan's memory don't know how buffers pack, nor what
// communication needs in between: where the arena is larger than they say, the search gets less.
#include "driver/spread.h"

#include <string.h>

#include "analyzer/plan_file.h"
#include "driver/pins.h"
#include "driver/plan_make.h"
#include "driver/plan_text.h"

// ---- what is asked for ----

typedef struct Job {
    Arena *a;
    const Options *o;
    const Cluster *c;
    const Graph *train, *predict;  // train may be NULL
    const Graph *g;                // that is planned: train, if it is there
    PlanOptions wish;
    const Mesh *mesh;
    int n_meshes;
    Plan given;  // where `follows`: without a search
    bool follows;
    Diag *d, at;  // at: the plan's file, where there is one
} Job;

static PlanOptions options_of(const Job *j)
{
    return (PlanOptions){.accumulate = j->o->accumulate,
                         .copies = COPIES_SURE,
                         .memory = j->o->memory ? j->o->memory : (int64_t)j->c->memory,
                         .solve = {.time_limit = 60,
                                   .gap = 1e-2,
                                   .threads = 2,
                                   .seed = 1,
                                   .engine = "cbc",
                                   .programs = program_folder(j->a),
                                   .is_quick = true}};
}

static bool read_wishes(Job *j)
{
    Mesh *given = arena_array(j->a, Mesh, 1);
    Preset *preset = arena_array(j->a, Preset, 1);
    Diag of_options = {.file = "shardcc", .to = j->d->to};
    Pin *pin = NULL;

    j->n_meshes = 1;
    j->mesh = given;
    if (!j->o->mesh)
        j->n_meshes = mesh_shapes(j->a, j->c, j->o->ranks, &j->mesh, &of_options);
    else if (!mesh_parse(j->a, j->c, j->o->ranks, j->o->mesh, given, &of_options))
        return false;
    if (!j->n_meshes)
        return false;
    j->wish.n_pins = pins_read(j->a, j->o, j->g, j->mesh, &pin, j->d);
    j->wish.pin = pin;
    j->wish.preset = j->o->preset ? preset : NULL;
    return j->wish.n_pins >= 0 && (!j->o->preset || preset_parse(j->o->preset, preset, j->d));
}

// The plan of a file, whose edited entries are pins.
static bool read_plan(Job *j)
{
    Mesh *mesh = arena_array(j->a, Mesh, 1);
    PlanPins pins;
    PlanFile f;

    if (!plan_file_open(j->a, j->o->plan, &f, &j->at) ||
        !plan_file_read(&f, j->g, j->c, &j->given, &pins, j->a, &j->at))
        return false;
    *mesh = j->given.mesh;
    j->mesh = mesh;
    j->n_meshes = 1;
    Pin *pin = arena_array(j->a, Pin, pins.n_values + pins.n_nodes);
    for (int i = 0; i < pins.n_values; i++)
        pin[j->wish.n_pins++] =
            (Pin){.kind = PIN_REST, .id = pins.value[i], .spec = j->given.spec[pins.value[i]]};
    for (int i = 0; i < pins.n_nodes; i++)
        pin[j->wish.n_pins++] = (Pin){
            .kind = PIN_STRATEGY, .id = pins.node[i], .spec = j->given.strategy[pins.node[i]]};
    j->wish.pin = pin;
    j->follows = !j->wish.n_pins;
    return true;
}

// ---- from a plan to a program ----

// A plan of the forward-only graph on the mesh of the other's.
static bool plan_like(const Job *j, const Plan *like, int64_t limit, Graph *predict, Plan *to)
{
    PlanOptions o = options_of(j);
    Planned p;

    o.memory = limit;
    o.is_alone = true;
    o.is_brief = limit == 1;
    if (!plan_predict(predict, j->train, like, j->c, &o, &p, j->a, j->d))
        return false;
    if (!p.answer.choice)
        diag_error(j->d, "no plan of predictions was found in time");
    *to = p.plan;
    return p.answer.choice;
}

static const Sharded *split(const Job *j, const Graph *g, const Plan *p)
{
    const Sharded *s = partition(j->a, g, p, j->d);

    return s ? bucket(j->a, s) : NULL;
}

static LowerOptions program_options(const Job *j, int64_t memory)
{
    return (LowerOptions){
        .fuse = !j->o->no_fuse, .accumulate = j->o->accumulate, .cluster = j->c, .memory = memory};
}

// The program of a plan, as quick as `memory` allows.
static Program *lower_plan(const Job *j, const Plan *plan, int64_t memory, int64_t predict_limit)
{
    LowerOptions o = program_options(j, memory);
    Plan *p = arena_array(j->a, Plan, 2);
    Graph *predict = graph_twin(j->predict, j->a), *train = NULL;

    p[0] = p[1] = *plan;
    if (j->train) {
        o.sharded[SET_TRAIN] = split(j, j->train, &p[0]);
        if (!o.sharded[SET_TRAIN] || !plan_like(j, plan, predict_limit, predict, &p[1]))
            return NULL;
        train = o.sharded[SET_TRAIN]->g;
    }
    o.sharded[SET_PREDICT] = split(j, predict, &p[1]);
    return o.sharded[SET_PREDICT] ? lower(j->a, train, o.sharded[SET_PREDICT]->g, &o, j->d) : NULL;
}

// The program of a plan, whatever it takes. Where only predictions take too much, they are planned
// for the least rows.
static Program *make_program(const Job *j, const Plan *plan, int64_t memory)
{
    Program *p = lower_plan(j, plan, memory, memory);

    if (!p || !j->train || p->arena_bytes <= memory || p->set[SET_TRAIN].end > memory)
        return p;
    Program *least = lower_plan(j, plan, memory, 1);
    return !least || least->arena_bytes < p->arena_bytes ? least : p;
}

// ---- as much memory as there is ----

// A plan whose rows keep to the options, where there is one, or else of the least rows, and its
// program for `memory`.
static Spreading make(Job *j, const PlanOptions *wish, int64_t memory, Spread *to)
{
    LowerOptions program = program_options(j, memory);
    PlanOptions o = *wish;

    o.program = j->train ? &program : NULL;
    *to = (Spread){.wish = j->wish};
    if (j->follows)
        to->planned.plan = j->given;
    else if (!plan_search(j->g, j->c, j->mesh, j->n_meshes, &o, &to->planned, j->a, &j->at))
        return SPREAD_WRONG;
    if (!j->follows && !to->planned.answer.choice)
        return SPREAD_NOTHING;
    to->program = make_program(j, &to->planned.plan, memory);
    if (!to->program)
        return SPREAD_WRONG;
    to->step = program_simulate(to->program, j->train ? SET_TRAIN : SET_PREDICT, j->c);
    return SPREAD_DONE;
}

static bool fits(const Spread *s, int64_t memory) { return s->program->arena_bytes <= memory; }

// Takes what fits and is faster. Presets and bounds are those of the first search, whose limit was
// the memory itself; the cost is the least of all that fit.
static void take(const Spread *x, Spread *best, int64_t memory)
{
    Wide bound = best->planned.answer.bound, cost = x->planned.answer.cost;
    Answer *a = &best->planned.answer;

    if (!fits(x, memory))
        return;
    if (fits(best, memory) && a->cost < cost)
        cost = a->cost;
    if (!fits(best, memory) || x->step.seconds < best->step.seconds) {
        Spread y = *x;
        memcpy(y.planned.preset, best->planned.preset, sizeof y.planned.preset);
        y.planned.n_presets = best->planned.n_presets;
        y.planned.least = best->planned.least;
        *best = y;
    }
    a->cost = cost;
    a->bound = cost > bound ? bound : cost;
}

// What a search counts, and how much it looks at.
enum { COPIES = 1, ALONE = 2, BRIEF = 4, PRICED = 8 };

// Another plan, of at most so many bytes of rows, and its program for `limit`; taken if it is
// better. PRICED: it begins with the best one's prices of bytes, and goes to half of the gap, as
// what copies cost adds to it; the bound is the first search's, so that no engine is asked for
// more, and where that search didn't get to the gap, this one spends less on it.
static Spreading attempt(Job *j, int how, int64_t rows, int64_t limit, Spread *x, Spread *best)
{
    PlanOptions o = j->wish;

    o.memory = rows;
    o.copies = how & COPIES ? COPIES_ALL : COPIES_SURE;
    o.is_alone = how & ALONE;
    o.is_brief = how & BRIEF;
    if (how & PRICED) {
        o.solve.prices = best->planned.answer.prices;
        o.solve.is_short = true;
        o.solve.is_again = best->planned.answer.outcome != OUTCOME_PROVED;
        o.solve.gap /= 2;
    }
    Spreading made = make(j, &o, limit, x);
    if (made == SPREAD_DONE)
        take(x, best, j->wish.memory);
    return made;
}

// Plans with copies, of fewer rows by what the last arena was larger than the memory: at first of a
// little fewer, as arenas don't follow rows closely. Where the first plan's arena was far too
// large, that little less comes first: mostly it is needed.
static Spreading find_within(Job *j, Spread *best)
{
    enum { TRIES = 3, STEPS = 32, FAR = 2 };
    int64_t memory = j->wish.memory, step = memory / STEPS, rows = memory;
    bool is_far = best->program->arena_bytes - memory > FAR * step;

    for (int i = 0; i < TRIES && rows > 0; i++) {
        bool is_ahead = is_far && !i;
        Spread x;
        Spreading made =
            attempt(j, COPIES | ALONE | PRICED, is_ahead ? memory - step : rows, memory, &x, best);
        bool is_there = made == SPREAD_DONE && x.planned.answer.outcome != OUTCOME_INFEASIBLE;
        int64_t beyond = is_there ? x.program->arena_bytes - memory : 0;
        if (is_ahead && made != SPREAD_WRONG && (!is_there || beyond <= -step))
            continue;  // it was too little, or not needed
        if (!is_there || beyond <= 0)
            return made == SPREAD_NOTHING ? SPREAD_DONE : made;
        rows = x.planned.answer.peak - (i || is_far || beyond < step ? beyond : step);
    }
    return SPREAD_DONE;
}

// … on the way to the least.
static Spreading attempt_small(Job *j, int how, int64_t rows, int64_t limit, Spread *x,
                               Spread *least, Spread *best)
{
    Spreading made = attempt(j, how, rows, limit, x, best);

    if (made == SPREAD_DONE &&
        (!least->program || x->program->arena_bytes < least->program->arena_bytes))
        *least = *x;
    return made;
}

// Plans of the least rows, without copies and with them, and of rows a little larger, as the least
// ones needn't be the smallest arena.
static Spreading find_least_rows(Job *j, Spread *least, Spread *best)
{
    int64_t rows = 1;

    for (int i = 0; i < 3; i++) {
        Spread x;
        int how = i ? BRIEF | COPIES : BRIEF;
        Spreading made = attempt_small(j, how, rows, 1, &x, least, best);
        if (made != SPREAD_DONE)
            return i && made == SPREAD_NOTHING ? SPREAD_DONE : made;
        if (i)
            rows = x.planned.answer.peak + x.planned.answer.peak / 32;
    }
    return SPREAD_DONE;
}

// The plan, and others of fewer rows where its program is larger than the memory. copies: what the
// rows of the last counted.
static Spreading search(Job *j, Spread *best, int *copies)
{
    Spreading made = make(j, &j->wish, j->wish.memory, best);
    bool is_enough = made != SPREAD_DONE || j->follows || fits(best, j->wish.memory);

    *copies = is_enough ? 0 : COPIES;
    if (is_enough || !is_found(best->planned.answer.outcome))
        return made;
    return find_within(j, best);
}

// A smaller arena than the least so far: of smaller rows with copies, or else what a search for one
// byte less finds.
static Spreading find_smaller(Job *j, Spread *least, Spread *best)
{
    int64_t limit = least->program->arena_bytes - 1, rows = least->planned.answer.peak - 1;
    Job less = *j;
    int copies;
    Spread x;
    Spreading made = attempt_small(j, BRIEF | COPIES, rows, limit, &x, least, best);

    if (made == SPREAD_WRONG || fits(least, limit))
        return made;
    less.wish.memory = limit;
    made = search(&less, &x, &copies);
    if (made == SPREAD_DONE && fits(&x, limit)) {
        *least = x;
        take(&x, best, j->wish.memory);
    }
    return made;
}

// The smallest arena: one byte less finds nothing. What is searched doesn't depend on the memory
// that was asked for, so that it is the same for all who ask for less; who asks for more needn't
// know it.
static Spreading find_least(Job *j, Spread *least, Spread *best)
{
    enum { TRIES = 16 };
    Spreading made = find_least_rows(j, least, best);

    for (int i = 0; i < TRIES && made == SPREAD_DONE; i++) {
        int64_t bytes = least->program->arena_bytes;
        if (bytes <= j->wish.memory)
            break;
        made = find_smaller(j, least, best);
        if (least->program->arena_bytes == bytes)
            break;
    }
    return made == SPREAD_NOTHING && least->program ? SPREAD_DONE : made;
}

// Where what is sent can't go on beside computation for want of memory, a plan that leaves so much,
// and a little more as arenas don't follow rows closely, may take the shorter step. So may one of a
// little less memory, if the plan fills that; and else one whose rows say too much of copies: it
// makes fewer.
static Spreading find_quicker(Job *j, int copies, Spread *best)
{
    enum { FULL = 16, LITTLE = 56 };
    int64_t memory = j->wish.memory, lacking = best->program->eager_bytes - memory;
    bool is_full = !copies && best->planned.answer.peak > memory - memory / FULL;
    int64_t rows = best->planned.answer.peak - lacking - memory / LITTLE;
    Spread x;

    if (is_full) {
        rows = lacking > 0 ? memory - memory / LITTLE : memory;
        copies = lacking > 0 ? 0 : COPIES;
    }
    if ((lacking <= 0 && !is_full) || rows <= 0)
        return SPREAD_DONE;
    Spreading made = attempt(j, ALONE | PRICED | copies, rows, memory, &x, best);
    return made == SPREAD_NOTHING ? SPREAD_DONE : made;
}

// Mostly there is memory enough: the first search counts the copies alone that are sure, so that
// its bound holds for all. Rows with copies say too much rather than too little: what takes the
// least is there for whatever nothing else fits.
static Spreading find(Job *j, Spread *best)
{
    Spread least = {0};
    int copies;
    Spreading made = search(j, best, &copies);

    if (made == SPREAD_DONE && !j->follows && !fits(best, j->wish.memory))
        made = find_least(j, &least, best);
    if (made != SPREAD_DONE || j->follows)
        return made;
    if (!fits(best, j->wish.memory)) {
        *best = least;
        return SPREAD_INFEASIBLE;
    }
    return find_quicker(j, copies, best);
}

static void say_infeasible(const Job *j, const Spread *s)
{
    int64_t bytes = s->program->arena_bytes;
    PlanFile f = {0};
    Text what = {0};

    plan_make_memory(&f, s->program, j->a);
    diag_error(j->d,
               "no plan of %d ranks fits %s a rank: the least that was found takes %" PRId64
               " bytes (%s)",
               j->o->ranks, bytes_text(j->a, (double)j->wish.memory), bytes,
               bytes_text(j->a, (double)bytes));
    plan_holders(j->a, &f, &what);
    diag_note(j->d, "most is held in %s", what.s);
    text_free(&what);
}

static void warn_idle(const Job *j, const Program *p)
{
    int idle = sharded_idle(p->set[j->train ? SET_TRAIN : SET_PREDICT].sharded);

    if (idle)
        diag_warn(
            j->d,
            "%d of %d ranks %s nothing to compute: what the plan cuts is too small for so many",
            idle, j->o->ranks, idle == 1 ? "has" : "have");
}

Spreading spread(Arena *a, const Options *o, const Cluster *c, const Graph *train,
                 const Graph *predict, Spread *to, Diag *d)
{
    Job j = {.a = a,
             .o = o,
             .c = c,
             .train = train,
             .predict = predict,
             .g = train ? train : predict,
             .d = d,
             .at = {.file = o->plan ? base_name(o->plan) : d->file, .to = d->to}};

    j.wish = options_of(&j);
    if (!(o->plan ? read_plan : read_wishes)(&j))
        return SPREAD_WRONG;
    Spreading found = find(&j, to);
    if (found == SPREAD_NOTHING)
        diag_error(d, "no plan was found in time");
    if (found == SPREAD_INFEASIBLE)
        say_infeasible(&j, to);
    if (found == SPREAD_DONE)
        warn_idle(&j, to->program);
    return found;
}
