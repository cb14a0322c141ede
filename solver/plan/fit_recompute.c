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

typedef struct Tried {
    int64_t bytes;  // of the arena, without predictions
    double seconds;
} Tried;

// A place at which a plan was tried.
typedef struct TriedPlace {
    int at;
    Tried tried;
} TriedPlace;

// Places at which one plan was tried, in their order.
typedef struct TriedPlaces {
    TriedPlace *place;
    int n, cap;
} TriedPlaces;

// A plan that fits at a place.
typedef struct Candidate {
    const Plan *plan;
    int place;
    double seconds;
} Candidate;

typedef struct Search {
    Arena *a;
    const PlanRequest *r;
    const Cluster *c;
    const Graph *train, *predict;
    const KeepPath *path;
    Candidate best;      // the shortest step; its plan is NULL if none fits
    Candidate soonest;   // of the steps at the first places at which plans fit
    TriedPlaces before;  // of the plan that was considered last
    bool is_scarce;      // the unlimited plan doesn't fit where nothing runs again
    PlanResult least;    // about the smallest plan, once it was asked for
    PlanStatus least_status;
    Diag *d;
} Search;

// ---- one plan at one place ----

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

static bool fits(const Search *s, const TriedPlace *p) { return p->tried.bytes <= s->r->memory; }

// The bytes of the plan that was tried before at all places, as if they were linear between those
// where they are known. Another plan's go down much alike. Of the first plan nothing is known but
// that they go down.
static double bytes_before(const Search *s, int at)
{
    const TriedPlace *x = s->before.place;
    int i = 1;

    if (s->before.n < 2)
        return -at;
    while (i < s->before.n - 1 && x[i].at < at)
        i++;
    double part = (double)(at - x[i - 1].at) / (x[i].at - x[i - 1].at);
    return (double)x[i - 1].tried.bytes + part * (double)(x[i].tried.bytes - x[i - 1].tried.bytes);
}

// Between two places, the one where bytes would be those of the memory if they went down as those
// of the plan before. After some turns every other place is the middle, as they don't.
static int guess(const Search *s, const TriedPlace *low, const TriedPlace *high, int turn)
{
    double part = (double)(low->tried.bytes - s->r->memory) /
                  (double)(low->tried.bytes - high->tried.bytes),
           most = bytes_before(s, low->at), least = bytes_before(s, high->at);
    int at = low->at + 1, first_middle = s->before.n < 2 ? 1 : 3;

    if (turn >= first_middle && turn % 2)
        return low->at + (high->at - low->at) / 2;
    while (at < high->at - 1 && most - bytes_before(s, at) < part * (most - least))
        at++;
    return at;
}

// Would the step at the place after `low` still be longer than the best one, if steps went on to
// get shorter as they do between the last place and `high`?
static bool is_hopeless(const Search *s, const TriedPlace *low, const TriedPlace *high,
                        const TriedPlace *last)
{
    if (!s->best.plan || high->at == last->at)
        return false;
    double slope = (last->tried.seconds - high->tried.seconds) / (last->at - high->at);
    return high->tried.seconds - slope * (high->at - low->at - 1) > s->best.seconds;
}

static void add_place(TriedPlaces *l, TriedPlace p, Arena *a)
{
    *arena_push(a, l->place, l->n, l->cap) = p;
    for (int i = l->n - 1; i && l->place[i - 1].at > p.at; i--) {
        l->place[i] = l->place[i - 1];
        l->place[i - 1] = p;
    }
}

static void keep_shorter(Candidate *x, const Plan *plan, const TriedPlace *p)
{
    if (!x->plan || p->tried.seconds < x->seconds)
        *x = (Candidate){plan, p->at, p->tried.seconds};
}

static TriedPlace try_place(Search *s, const Plan *plan, int at, TriedPlaces *all)
{
    TriedPlace p = {at, try_at(s, plan, at)};

    add_place(all, p, s->a);
    if (fits(s, &p) && !s->d->errors)
        keep_shorter(&s->best, plan, &p);
    return p;
}

// Looks for a place at which a plan fits that fits neither at the first nor at the last one. Along
// a step of the path bytes first fall, as less is kept, and may then rise: the layers whose
// backward part comes first run again while all else is still kept. So each step is looked at near
// its begin, in its middle and near its end. *low becomes the last place before *high that was
// tried.
static void look_along(Search *s, const Plan *plan, TriedPlace *low, TriedPlace *high,
                       TriedPlaces *all)
{
    enum { LOOKS = 4 };

    for (int i = 0; i < LOOKS * s->path->n_steps && !s->d->errors; i++) {
        int n = s->path->step[i / LOOKS].n_layers;
        const int layers[LOOKS] = {1, n / 2, n - 1, n};
        int at = keep_path_begin(s->path, i / LOOKS) + layers[i % LOOKS];
        if (at <= low->at || at >= s->path->n_places)
            continue;
        TriedPlace p = try_place(s, plan, at, all);
        if (fits(s, &p)) {
            *high = p;
            return;
        }
        *low = p;
    }
}

// Finds the first place at which the plan fits. Keeps plan and place if the step there, or at a
// later place that was tried on the way, is the shortest so far: where a program just fits, it may
// lack the room to overlap.
static void consider(Search *s, const Plan *plan)
{
    TriedPlaces all = {0};
    TriedPlace low = try_place(s, plan, 0, &all), high = low;

    if (!fits(s, &low) && s->path->n_places)
        high = try_place(s, plan, s->path->n_places, &all);
    if (!fits(s, &low) && !fits(s, &high) && !s->best.plan)
        look_along(s, plan, &low, &high, &all);
    TriedPlace last = high;
    for (int turn = 0; high.at - low.at > 1 && fits(s, &high) && !s->d->errors; turn++) {
        TriedPlace p = try_place(s, plan, guess(s, &low, &high, turn), &all);
        if (fits(s, &p))
            high = p;
        else
            low = p;
        if (is_hopeless(s, &low, &high, &last))
            break;
    }
    s->before = all;
    if (fits(s, &high) && !s->d->errors)
        keep_shorter(&s->soonest, plan, &high);
}

// ---- proposals ----

static PlanStatus propose(Search *s, int place, int64_t memory, bool is_brief, Copies copies,
                          PlanResult *to)
{
    PlanRequest r = *s->r;

    r.recompute = keep_path_at(s->path, place, s->a);
    r.memory = memory;
    r.is_proposal = true;
    r.is_brief = is_brief;
    r.copies = copies;
    r.skips_presets |= !place && memory == s->r->memory;  // they were tried without a limit
    return fit_memory(s->a, &r, s->c, s->train, s->predict, to, s->d);
}

// Proposes a plan whose rows keep to the memory at a place. False if those of none do. Once a plan
// fits, searches are brief: what runs again makes more of a difference than their plans do.
static bool propose_rows(Search *s, int place, Copies copies)
{
    PlanResult *x = arena_array(s->a, PlanResult, 1);

    if (propose(s, place, s->r->memory, s->best.plan, copies, x) != PLAN_DONE ||
        x->planned.answer.outcome == OUTCOME_INFEASIBLE)
        return false;
    consider(s, &x->planned.plan);
    return true;
}

// Proposes a plan for the memory at a place. False if none fits there. Rows with all copies count
// rather too much: if none of these keep to the memory, those with the copies that are sure have
// to, as long as no plan fits.
static bool propose_at(Search *s, int place)
{
    return propose_rows(s, place, COPIES_ALL) ||
           (!s->best.plan && propose_rows(s, place, COPIES_SURE));
}

// ---- the smallest plan ----

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
    if (to->program->arena_bytes <= to->options.memory)
        return PLAN_DONE;
    int place = least_place(s, &to->planned.plan);
    if (place < s->path->n_places) {
        status = make_given(s, &to->planned.plan, place, &x);
        bool is_made = status == PLAN_DONE || status == PLAN_INFEASIBLE;
        if (is_made && x.program->arena_bytes < to->program->arena_bytes)
            *to = x;
    }
    return to->program->arena_bytes <= to->options.memory ? PLAN_DONE : PLAN_INFEASIBLE;
}

// Does a plan fit at the last place? Then the search proposes one there.
static bool may_fit(Search *s)
{
    s->least_status = find_smallest(s, true, &s->least);
    return s->least_status == PLAN_DONE;
}

// Proposes plans that shard more than the unlimited one: where nothing runs again, where as much
// does as can if no plan has fitted yet, and between the first place and the best one. That part is
// halved: towards the first place as long as steps get shorter, and no further after a plan that
// fits but isn't faster. If none fits at the first place, none will in the first half.
static void propose_smaller(Search *s)
{
    bool is_first = propose_at(s, 0);

    if (!s->best.plan && may_fit(s))
        propose_at(s, s->path->n_places);
    int low = is_first ? 0 : s->best.place / 2;
    for (int i = is_first ? 0 : 1; i < HALVINGS && s->best.plan && !s->d->errors; i++) {
        const Plan *best = s->best.plan;
        int middle = low + (s->best.place - low) / 2;
        if (middle == low || (propose_at(s, middle) && s->best.plan == best))
            return;
        if (s->best.plan == best || low + (s->best.place - low) / 2 >= middle)
            low = middle;  // no plan fits there, or one was proposed there
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
// all. 0: there are too many of them, or it is no larger than `known`.
static Wide bound_with_price(Search *s, double price, Wide known)
{
    Wide whole = (Wide)ceil(price * (double)s->r->memory);
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
        r.copies = COPIES_SURE;
        r.byte_price = price;
        if (fit_memory(s->a, &r, s->c, s->train, s->predict, &x, s->d) != PLAN_DONE)
            return 0;
        least = x.planned.answer.bound < least ? x.planned.answer.bound : least;
    } while (least - whole > known && next_ways(s->path, way));
    return least - whole;
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
        const KeepStep *step = keep_path_step(s->path, s->soonest.place);
        Wide bound = bound_with_price(s, 1e12 * step->slope * s->r->accumulate, x->bound);
        x->bound = bound > x->bound ? bound : x->bound;
    }
    x->bound = x->bound < x->cost ? x->bound : x->cost;
    x->outcome =
        answer_gap(x->cost, x->bound) <= to->options.solve.gap ? OUTCOME_PROVED : OUTCOME_FOUND;
}

// Finds a plan where no proposal fits, or reports the smallest one.
static PlanStatus find_least(Search *s, PlanResult *to)
{
    if (!s->least.program)
        may_fit(s);
    *to = s->least;
    if (s->least_status == PLAN_INFEASIBLE)
        plan_say_least(s->a, s->r, to, s->d);
    if (s->least_status != PLAN_DONE)
        return s->least_status;
    PlanStatus status = find_smallest(s, false, to);
    if (status == PLAN_INFEASIBLE)
        *to = s->least;
    return status == PLAN_INFEASIBLE ? PLAN_DONE : status;
}

// The price of the best plan at the first place at which it fits is less than that of the one with
// the shortest step, if they differ.
static void take_cost(const Search *s, PlanResult *to)
{
    const Candidate *x = &s->soonest;
    Answer *answer = &to->planned.answer;
    PlanResult other;

    if (x->plan == s->best.plan && x->place == s->best.place)
        return;
    if (make_given(s, x->plan, x->place, &other) == PLAN_DONE &&
        other.planned.answer.cost < answer->cost)
        answer->cost = other.planned.answer.cost;
}

// Makes the program of the best plan, or of the one that needs the least memory.
static PlanStatus make_best(Search *s, PlanResult *to)
{
    const Candidate *x = &s->best;
    PlanStatus status = x->plan ? make_given(s, x->plan, x->place, to) : PLAN_INFEASIBLE;

    if (status == PLAN_DONE)
        take_cost(s, to);
    return status == PLAN_INFEASIBLE ? find_least(s, to) : status;
}

static PlanStatus search(Search *s, PlanResult *to)
{
    PlanResult free;
    PlanStatus status = propose(s, 0, ENOUGH_BYTES, false, COPIES_ALL, &free);

    if (status == PLAN_NOT_FOUND)
        diag_error(s->d, "no plan was found in time");
    if (status != PLAN_DONE)
        return status;
    consider(s, &free.planned.plan);
    s->is_scarce = s->best.place > 0 || !s->best.plan;
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
