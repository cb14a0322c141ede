// Chooses what runs again together with the plan. To run more again leaves more room to shard less,
// but takes time itself. A search proposes plans: first one that needn't keep to the memory, then
// some that have to, at several places of the path of ways (keep_path.h). The specs and strategies
// of each are then tried all along the path: the first place at which its program fits is the best
// for them, as a step gets longer from place to place. Of all these programs the one with the
// shortest simulated step is taken.
#include <math.h>
#include <string.h>

#include "solver/plan/fit_memory.h"
#include "solver/plan/follow_plan.h"
#include "solver/plan/keep_path.h"
#include "solver/plan/plan_job.h"

// How often the part of the path before the best place is halved.
enum { HALVINGS = 3 };

// How many vectors of ways the bound may be of: each takes a search.
enum { MOST_VECTORS = 8 };

// More than any plan takes.
static const int64_t ENOUGH_BYTES = INT64_C(1) << 50;

typedef struct Search {
    Arena *a;
    const PlanRequest *r;
    const Cluster *c;
    const Graph *train, *predict;
    const KeepPath *path;
    const Plan *best;  // NULL: none fits
    int place;         // of the best one
    double seconds;
    bool is_scarce;  // the unlimited plan doesn't fit where nothing runs again
    Diag *d;
} Search;

// ---- one plan at one place ----

typedef struct Tried {
    int64_t bytes;  // of the arena, without predictions
    double seconds;
} Tried;

static Tried try_at(const Search *s, const Plan *plan, int place)
{
    Arena *a = arena_new();
    RecomputePolicy policy = keep_path_at(s->path, place, a);
    LowerOptions o = {.target = s->r->target,
                      .fuse = s->r->fuse,
                      .accumulate = s->r->accumulate,
                      .cluster = s->c,
                      .memory = s->r->memory,
                      .is_trial = true};
    const Program *p =
        s->d->errors ? NULL : lower_followed(a, s->train, plan, &policy, s->c, &o, s->d);
    Tried t = {INT64_MAX, INFINITY};

    if (p)
        t = (Tried){p->arena_bytes, program_simulate(p, SET_TRAIN, s->c).seconds};
    arena_free(a);
    return t;
}

// ---- one plan at all places ----

// Between two places whose bytes are known, where bytes would be those of the memory if they were
// linear. Every other time it is the middle, as they aren't.
static int guess(const Search *s, int low, int64_t more, int high, int64_t less, int turn)
{
    double part = turn % 2 ? 0.5 : (double)(more - s->r->memory) / (double)(more - less);
    int at = low + (int)ceil((high - low) * part);

    return at <= low ? low + 1 : at >= high ? high - 1 : at;
}

// Finds the first place at which the plan fits, and keeps plan and place if its step is the
// shortest so far.
static void consider(Search *s, const Plan *plan)
{
    int low = 0, high = s->path->n_places;
    Tried most = try_at(s, plan, low),
          least = most.bytes > s->r->memory && high ? try_at(s, plan, high) : most;

    if (most.bytes <= s->r->memory)
        high = 0;
    for (int turn = 0; high - low > 1 && least.bytes <= s->r->memory; turn++) {
        int at = guess(s, low, most.bytes, high, least.bytes, turn);
        Tried t = try_at(s, plan, at);
        if (t.bytes <= s->r->memory) {
            high = at;
            least = t;
        } else {
            low = at;
            most = t;
        }
    }
    if (least.bytes > s->r->memory || (s->best && least.seconds >= s->seconds) || s->d->errors)
        return;
    s->best = plan;
    s->place = high;
    s->seconds = least.seconds;
}

// ---- proposals ----

static PlanStatus propose(Search *s, int place, int64_t memory, PlanResult *to)
{
    PlanRequest r = *s->r;

    r.recompute = keep_path_at(s->path, place, s->a);
    r.memory = memory;
    r.is_proposal = true;
    return fit_memory(s->a, &r, s->c, s->train, s->predict, to, s->d);
}

// Proposes a plan for the memory at a place. False if none fits there.
static bool propose_at(Search *s, int place)
{
    PlanResult *x = arena_array(s->a, PlanResult, 1);

    if (propose(s, place, s->r->memory, x) != PLAN_DONE ||
        x->planned.answer.outcome == OUTCOME_INFEASIBLE)
        return false;
    consider(s, &x->planned.plan);
    return true;
}

// Proposes plans that shard more than the unlimited one: where nothing runs again, where as much
// does as can if no plan has fitted yet, and between the first place and the best one. That part is
// halved: towards the first place as long as steps get shorter.
static void propose_smaller(Search *s)
{
    int low = 0;

    propose_at(s, 0);
    if (!s->best)
        propose_at(s, s->path->n_places);
    for (int i = 0; i < HALVINGS && s->best && s->place - low > 1 && !s->d->errors; i++) {
        const Plan *best = s->best;
        int middle = low + (s->place - low) / 2;
        propose_at(s, middle);
        if (s->best == best)
            low = middle;
    }
}

// ---- the whole ----

// Presets were tried without a limit.
static void limit_presets(const Search *s, Planned *p)
{
    for (int i = 0; i < p->n_presets; i++)
        if (p->preset[i].peak > s->r->memory)
            p->preset[i].outcome = OUTCOME_INFEASIBLE;
}

// Goes to the next vector of ways. False after the last one.
static bool next_ways(const KeepPath *x, int *way)
{
    for (int32_t k = 0; k < x->g->n_classes; k++) {
        if (++way[k] < x->ways[k].n_ways)
            return true;
        way[k] = 0;
    }
    return false;
}

static int64_t count_vectors(const KeepPath *x)
{
    int64_t n = 1;

    for (int32_t k = 0; k < x->g->n_classes && n <= MOST_VECTORS; k++)
        n *= x->ways[k].n_ways;
    return n;
}

// A bound of all plans that keep to the memory and shard equal layers equally, whatever runs again
// (Lagrangian relaxation). The bytes held when the backward part begins get a price there instead
// of a limit. With equal shards, a plan whose layers keep in several ways costs and holds as much
// as a mean of plans whose layers all keep in one of them, so the least bound of these is one of
// all. 0: there are too many of them.
static Wide bound_with_price(Search *s, double price)
{
    int *way = arena_array(s->a, int, s->train->n_classes);
    Wide least = WIDE_MAX;

    if (count_vectors(s->path) > MOST_VECTORS)
        return 0;
    do {
        PlanRequest r = *s->r;
        PlanResult x;
        r.recompute = keep_path_pure(s->path, way, s->a);
        r.memory = ENOUGH_BYTES;
        r.is_proposal = r.skips_presets = true;
        r.byte_price = price;
        if (fit_memory(s->a, &r, s->c, s->train, s->predict, &x, s->d) != PLAN_DONE)
            return 0;
        least = x.planned.answer.bound < least ? x.planned.answer.bound : least;
    } while (next_ways(s->path, way));
    return least - (Wide)ceil(price * (double)s->r->memory);
}

// No plan is faster than the bound of all plans that run nothing again and need not keep to the
// memory. If the memory is scarce, the price of a byte is about what it costs to save one by
// running more again.
static void set_bounds(Search *s, const Planned *free, PlanResult *to)
{
    Planned *p = &to->planned;
    Answer *x = &p->answer;

    memcpy(p->preset, free->preset, sizeof p->preset);
    p->n_presets = free->n_presets;
    limit_presets(s, p);
    p->step_bound = free->step_bound;
    p->n_searched = free->n_searched;
    p->n_excluded = free->n_excluded;
    p->n_left_out = free->n_left_out;
    x->bound = free->answer.bound;
    if (s->is_scarce && s->path->n_steps) {
        const KeepStep *step = keep_path_step(s->path, s->place);
        Wide bound = bound_with_price(s, 1e12 * step->slope * s->r->accumulate);
        x->bound = bound > x->bound ? bound : x->bound;
    }
    x->bound = x->bound < x->cost ? x->bound : x->cost;
    x->outcome =
        answer_gap(x->cost, x->bound) <= to->options.solve.gap ? OUTCOME_PROVED : OUTCOME_FOUND;
}

static PlanStatus make_given(const Search *s, const Plan *plan, int place, PlanResult *to)
{
    PlanRequest r = *s->r;

    r.is_part = true;
    r.given = plan;
    r.preset = NULL;  // which the plan follows
    r.recompute = keep_path_at(s->path, place, s->a);
    return fit_memory(s->a, &r, s->c, s->train, s->predict, to, s->d);
}

// The place near the last one at which the plan takes the least bytes. Layers whose backward part
// comes first run again while all else is kept, so the least is often one where a few keep more.
static int least_place(const Search *s, const Plan *plan)
{
    int last = s->path->n_places, least = last;
    int64_t bytes = try_at(s, plan, last).bytes;

    for (int back = 1; back <= last / 2; back *= 2) {
        int64_t found = try_at(s, plan, last - back).bytes;
        if (found >= bytes)
            break;
        bytes = found;
        least = last - back;
    }
    return least;
}

// Finds the plan that needs the least memory where as much runs again as can, and takes it to the
// place at which it needs the least. An estimate is of few searches.
static PlanStatus find_smallest(const Search *s, bool is_estimate, PlanResult *to)
{
    PlanRequest r = *s->r;
    PlanResult x;

    r.is_part = true;
    r.is_estimate = is_estimate;
    r.recompute = keep_path_at(s->path, s->path->n_places, s->a);
    PlanStatus status = fit_memory(s->a, &r, s->c, s->train, s->predict, to, s->d);
    if (status != PLAN_INFEASIBLE)
        return status;
    int place = least_place(s, &to->planned.plan);
    if (place < s->path->n_places) {
        status = make_given(s, &to->planned.plan, place, &x);
        bool is_made = status == PLAN_DONE || status == PLAN_INFEASIBLE;
        if (is_made && x.program->arena_bytes < to->program->arena_bytes)
            *to = x;
    }
    return to->program->arena_bytes <= to->options.memory ? PLAN_DONE : PLAN_INFEASIBLE;
}

// Finds a plan where no proposal fits, or the smallest plan. The estimate is tried too, so that
// nobody who asks for as much as it takes is refused.
static PlanStatus find_least(const Search *s, PlanResult *to)
{
    PlanResult x;
    PlanStatus status = find_smallest(s, false, to);

    if (status != PLAN_INFEASIBLE)
        return status;
    status = find_smallest(s, true, &x);
    if (status != PLAN_DONE && status != PLAN_INFEASIBLE)
        return status;
    if (x.program->arena_bytes < to->program->arena_bytes)
        *to = x;
    if (to->program->arena_bytes <= to->options.memory)
        return PLAN_DONE;
    plan_say_least(s->a, s->r, to, s->d);
    return PLAN_INFEASIBLE;
}

// Makes the program of the best plan, or of the one that needs the least memory.
static PlanStatus make_best(const Search *s, PlanResult *to)
{
    PlanStatus status = s->best ? make_given(s, s->best, s->place, to) : PLAN_INFEASIBLE;

    return status == PLAN_INFEASIBLE ? find_least(s, to) : status;
}

static PlanStatus search(Search *s, PlanResult *to)
{
    PlanResult free;
    PlanStatus status = propose(s, 0, ENOUGH_BYTES, &free);

    if (status == PLAN_NOT_FOUND)
        diag_error(s->d, "no plan was found in time");
    if (status != PLAN_DONE)
        return status;
    consider(s, &free.planned.plan);
    s->is_scarce = s->place > 0 || !s->best;
    if (s->is_scarce)
        propose_smaller(s);
    status = s->d->errors ? PLAN_WRONG : make_best(s, to);
    if (status == PLAN_DONE)
        set_bounds(s, &free.planned, to);
    return status;
}

PlanStatus fit_recompute(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                         const Graph *predict, PlanResult *to, Diag *d)
{
    Search s = {.a = a,
                .r = r,
                .c = c,
                .train = train,
                .predict = predict,
                .path = keep_path_find(a, train, r->recompute.rule, r->target, c, d),
                .d = d};

    if (!s.path)
        return PLAN_WRONG;
    return r->is_estimate ? find_smallest(&s, true, to) : search(&s, to);
}
