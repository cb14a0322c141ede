// Chooses what runs again together with the plan. Recomputing more leaves memory to shard less, but
// takes time itself. A search proposes plans: first one that needn't keep to the memory, then some
// that pay for bytes what it takes to save them by running more again (Lagrangian relaxation), and
// some that have to keep to the memory at a place of the path of ways (keep_path.h). The specs and
// strategies of each are then tried all along the path: the first place at which its program fits
// is the best for them, as a step gets longer from place to place. Of all these programs the one
// with the shortest simulated step is taken.
#include <math.h>

#include "compile/fit/bound_recompute.h"
#include "compile/fit/local_search.h"
#include "compile/fit/plan_job.h"

typedef struct Search {
    AlongPath along;
    bool is_scarce;    // the unlimited plan doesn't fit as it is where nothing runs again
    PlanResult least;  // about the smallest plan, once it was asked for
    CompileStatus least_status;
    const ModelPlan *smallest;  // the last plan that had to be small
    PricedPlans priced;
} Search;

// ---- proposals ----

static CompileStatus propose(Search *s, int place, int64_t memory, bool is_brief, Copies copies,
                             PlanResult *to)
{
    PlanRequest r = *s->along.r;

    r.recompute = keep_path_at(s->along.a, s->along.path, place);
    r.memory = memory;
    const Proposal p = {.is_brief = is_brief,
                        .is_quick = memory < ENOUGH_BYTES,
                        .copies = copies,
                        .skips_presets =
                            !place &&
                            memory == s->along.r->memory};  // they were tried without a limit
    return propose_plan(s->along.a, &r, &p, s->along.c, s->along.train, s->along.predict, to,
                        s->along.d);
}

// The plan as any place of the path can take it over.
static const ModelPlan *plan_to_follow(const Search *s, const PlanResult *x)
{
    ModelPlan *m = arena_array(s->along.a, ModelPlan, 1);

    *m = plan_of_model(s->along.a, s->along.train, &x->made, &x->planned.plan);
    return m;
}

// Tries the plan that was proposed for a place all along the path.
static void consider(Search *s, const PlanResult *x, int place)
{
    along_path_consider(&s->along, plan_to_follow(s, x), place);
}

// The bytes by which the program of the plan that was considered last misses the memory at a place
// where it would be faster than the best plan by a hundredth; 0: there is none.
static int64_t last_excess(const Search *s, int place)
{
    for (int i = 0; i < s->along.before.n; i++) {
        const TriedPlace *x = &s->along.before.place[i];
        if (x->at == place && x->tried.bytes > s->along.memory &&
            along_path_gains(&s->along, x->tried.seconds))
            return x->tried.bytes - s->along.memory;
    }
    return 0;
}

// Considers plans that pay for bytes what these cost at the best place, or at the last one if no
// plan fits yet: what a plan takes less than others do, it runs less again. If bytes have another
// price where it fits best, the next plan pays that.
static void propose_priced(Search *s)
{
    enum { TRIES = 3 };
    static const double same = 0.01;  // part by which prices differ that count as one

    for (int i = 0; i < TRIES && s->along.path->n_steps && !s->along.d->errors; i++) {
        int place = s->along.best.is_found ? s->along.best.place : s->along.path->n_places;
        RecomputePolicy policy = keep_path_at(s->along.a, s->along.path, place);
        BytePrice price = {picoseconds_of_byte(&s->along, place), AT_FIRST_BACKWARD};
        double paid = s->priced.n ? s->priced.plan[s->priced.n - 1].price.picoseconds : 0;
        PlanResult x;
        if (!place || fabs(price.picoseconds - paid) <= same * paid ||
            propose_with_price(&s->along, &s->priced, &policy, price, &x) != COMPILE_DONE)
            return;
        consider(s, &x, place);
    }
}

// Considers plans that pay for bytes where nothing runs again, as long as they fit there: the less
// bytes cost, the larger the plans.
static void propose_cheaper(Search *s)
{
    RecomputePolicy policy = keep_path_at(s->along.a, s->along.path, 0);
    double price = picoseconds_of_byte(&s->along, 0);
    bool fits = true;

    for (int i = 0; i < HALVINGS && fits && !s->along.d->errors; i++, price /= 2) {
        PlanResult x;
        if (propose_with_price(&s->along, &s->priced, &policy,
                               (BytePrice){price, AT_FIRST_BACKWARD}, &x) != COMPILE_DONE)
            return;
        consider(s, &x, 0);
        fits = s->along.before.place[0].tried.bytes <= s->along.memory;
    }
}

// Considers a plan whose rows take at most `rows` bytes at a place. Returns the bytes that they
// take; 0: those of none do. Then *least becomes the plan with the least rows, if there is one.
// Once a plan fits, searches are brief where kernels run again: these make more of a difference
// than the plans do.
static int64_t propose_rows(Search *s, int place, int64_t rows, Copies copies,
                            const ModelPlan **least)
{
    PlanResult x;

    if (propose(s, place, rows, place && s->along.best.is_found, copies, &x) != COMPILE_DONE)
        return 0;
    if (x.planned.answer.outcome == OUTCOME_INFEASIBLE) {
        *least = plan_to_follow(s, &x);
        return 0;
    }
    consider(s, &x, place);
    return x.planned.answer.peak;
}

// Rows don't know how buffers pack, nor the transient bytes of communication. So while the program
// doesn't fit at the place, the next plan has fewer rows: by what the program takes too much, but
// the first time not by much, as arenas don't follow rows closely. If no plan has so few, the next
// one has fewer at all, and the last one the least.
static bool propose_fewer(Search *s, int place, Copies copies)
{
    enum { TRIES = 5, MEMORY_PER_STEP = 32 };
    int64_t memory = s->along.r->memory, step = memory / MEMORY_PER_STEP, least = 1, excess;
    const ModelPlan *least_plan = NULL;
    int64_t peak = propose_rows(s, place, memory, copies, &least_plan);

    if (!peak)
        return false;
    for (int i = 0; i < TRIES && peak > least && (excess = last_excess(s, place)); i++) {
        int64_t rows = peak - (i || excess < step ? excess : step);
        rows = rows < least ? peak - 1 : rows;
        int64_t next = propose_rows(s, place, rows, copies, &least_plan);
        if (next)
            peak = next;
        else
            least = rows + 1;
    }
    if (least_plan && last_excess(s, place))
        along_path_consider(&s->along, least_plan, place);
    return true;
}

// Proposes plans for the memory at a place. False if none fits there. Rows with all copies count
// rather too much: if no plan that fits comes of them, rows with the copies that are sure have to
// keep to the memory.
static bool propose_at(Search *s, int place)
{
    bool has_rows = propose_fewer(s, place, COPIES_ALL);

    return (has_rows && !last_excess(s, place)) || propose_fewer(s, place, COPIES_SURE) || has_rows;
}

// ---- the smallest plan ----

static CompileStatus make_given(const Search *s, const ModelPlan *plan, int place, PlanResult *to)
{
    PlanRequest r = *s->along.r;

    r.is_part = true;
    r.given = plan;
    r.preset = NULL;  // which the plan follows
    r.recompute = keep_path_at(s->along.a, s->along.path, place);
    return fit_memory(s->along.a, &r, s->along.c, s->along.train, s->along.predict, to, s->along.d);
}

// Finds the plan that needs the least memory where as much runs again as can, and takes it to the
// place at which it needs the least. An estimate is of few searches.
static CompileStatus find_smallest(Search *s, bool is_estimate, PlanResult *to)
{
    PlanRequest r = *s->along.r;
    PlanResult x;

    r.is_part = true;
    r.is_estimate = is_estimate;
    r.recompute = keep_path_at(s->along.a, s->along.path, s->along.path->n_places);
    CompileStatus status =
        fit_memory(s->along.a, &r, s->along.c, s->along.train, s->along.predict, to, s->along.d);
    if (status != COMPILE_INFEASIBLE)
        return status;
    const ModelPlan *plan = s->smallest = plan_to_follow(s, to);
    if (to->program->arena_bytes <= to->options.memory)
        return COMPILE_DONE;
    int place = along_path_least(&s->along, plan);
    if (place < s->along.path->n_places) {
        status = make_given(s, plan, place, &x);
        bool is_made = status == COMPILE_DONE || status == COMPILE_INFEASIBLE;
        if (is_made && x.program->arena_bytes < to->program->arena_bytes)
            *to = x;
    }
    return to->program->arena_bytes <= to->options.memory ? COMPILE_DONE : COMPILE_INFEASIBLE;
}

// Does a plan fit at the last place? Then the search proposes one there.
static bool may_fit(Search *s)
{
    s->least_status = find_smallest(s, true, &s->least);
    return s->least_status == COMPILE_DONE;
}

// Changes single decisions of the plans that were considered. If none of them fits, the smallest
// plan is considered too.
static void change_decisions(Search *s)
{
    if (!local_search_takes_part(&s->along))
        return;
    if (!s->along.best.is_found && !s->least.program)
        may_fit(s);
    if (!s->along.best.is_found && s->smallest)
        along_path_consider(&s->along, s->smallest, s->along.path->n_places);
    local_search(&s->along);
}

// Proposes plans that shard more than the unlimited one.
static void propose_smaller(Search *s)
{
    int last = s->along.path->n_places;

    propose_priced(s);
    bool is_last_proposed = !s->along.best.is_found && last && may_fit(s);
    if (is_last_proposed) {
        propose_at(s, last);
        propose_priced(s);
    }
    if (s->along.best.place && !(is_last_proposed && s->along.best.place == last))
        propose_at(s, s->along.best.place);
    if (s->along.best.place > 1)
        propose_at(s, s->along.best.place / 2);
    propose_at(s, 0);
    if (s->along.best.is_found && !s->along.best.place && s->along.path->n_steps)
        propose_cheaper(s);
    change_decisions(s);
}

// ---- the whole ----

// Finds a plan where no proposal fits, or reports the smallest one.
static CompileStatus find_least(Search *s, PlanResult *to)
{
    if (!s->least.program)
        may_fit(s);
    *to = s->least;
    if (s->least_status == COMPILE_INFEASIBLE)
        plan_say_least(s->along.a, s->along.r, to, s->along.d);
    if (s->least_status != COMPILE_DONE)
        return s->least_status;
    CompileStatus status = find_smallest(s, false, to);
    if (status == COMPILE_INFEASIBLE)
        *to = s->least;
    return status == COMPILE_INFEASIBLE ? COMPILE_DONE : status;
}

// Lowers answer->cost to the cost of the cheapest plan found, which may not be the plan with the
// shortest step.
static void take_cost(const Search *s, PlanResult *to)
{
    const Candidate *x = &s->along.soonest;
    Answer *answer = &to->planned.answer;
    PlanResult other;

    if (x->plan == s->along.best.plan && x->place == s->along.best.place)
        return;
    if (make_given(s, x->plan, x->place, &other) == COMPILE_DONE &&
        other.planned.answer.cost < answer->cost)
        answer->cost = other.planned.answer.cost;
}

// The program of the best plan doesn't fit with predictions, which have constants of their own.
// Goes on with as much less memory, and less than the program took without them.
static void lower_limit(Search *s, const Program *p)
{
    int64_t memory = s->along.r->memory, less = s->along.best.tried.bytes - 1;

    for (int i = 1; i < p->n_buffers; i++)
        if (p->buffers[i].kind == BUFFER_PERSISTENT && p->buffers[i].set == SET_PREDICT)
            memory -= p->buffers[i].bytes;
    along_path_limit(&s->along, memory < less ? memory : less);
    change_decisions(s);
}

// Makes the program of the best plan, or of the one that needs the least memory.
static CompileStatus make_best(Search *s, PlanResult *to)
{
    enum { TRIES = 3 };
    const Candidate *x = &s->along.best;
    CompileStatus status = COMPILE_INFEASIBLE;

    for (int i = 0; i < TRIES && x->is_found; i++) {
        status = make_given(s, x->plan, x->place, to);
        if (status != COMPILE_INFEASIBLE)
            break;
        lower_limit(s, to->program);
    }
    if (status == COMPILE_DONE)
        take_cost(s, to);
    return status == COMPILE_INFEASIBLE ? find_least(s, to) : status;
}

static CompileStatus search(Search *s, PlanResult *to)
{
    PlanResult none;
    CompileStatus status = propose(s, 0, ENOUGH_BYTES, false, COPIES_ALL, &none);

    if (status == COMPILE_NOT_FOUND)
        diag_error(s->along.d, "no plan was found in time");
    if (status != COMPILE_DONE)
        return status;
    consider(s, &none, 0);
    s->is_scarce = s->along.best.place > 0 || !s->along.best.is_found || s->along.best.tried.is_cut;
    if (s->is_scarce)
        propose_smaller(s);
    status = s->along.d->errors ? COMPILE_WRONG : make_best(s, to);
    return status == COMPILE_DONE
               ? bound_recompute(&s->along, &s->priced, s->is_scarce, &none.planned, to)
               : status;
}

CompileStatus fit_recompute(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                            const Graph *predict, PlanResult *to, Diag *d)
{
    const KeepPath *path = keep_path_find(a, train, r->recompute.rule, r->target, c, d);
    Search s = {.along = {.a = a,
                          .r = r,
                          .c = c,
                          .train = train,
                          .predict = predict,
                          .path = path,
                          .memory = r->memory,
                          .d = d}};

    if (!path)
        return COMPILE_WRONG;
    return r->is_estimate ? find_smallest(&s, true, to) : search(&s, to);
}
