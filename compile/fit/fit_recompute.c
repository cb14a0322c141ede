// Chooses what runs again together with the plan. Recomputing more leaves memory to shard less, but
// takes time itself. A search proposes plans: first one that needn't keep to the memory, then some
// that pay for bytes what it takes to save them by running more again (Lagrangian relaxation), and
// some that have to keep to the memory at an index of the path of policies (keep_path.h). The specs
// and strategies of each plan are then tried all along the path. Steps get longer along it, so the
// first index at which a program fits is the best one. Of all these programs the one with the
// shortest simulated step is taken.
#include <math.h>

#include "base/search.h"
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

static CompileStatus propose(Search *s, int index, int64_t memory, bool is_brief, Copies copies,
                             PlanResult *to)
{
    PlanRequest r = *s->along.r;

    r.recompute = keep_path_at(s->along.a, s->along.path, index);
    r.memory = memory;
    const Proposal p = {.is_brief = is_brief,
                        .is_quick = memory < ENOUGH_BYTES,
                        .copies = copies,
                        .skips_presets =
                            !index &&
                            memory == s->along.r->memory};  // they were tried without a limit
    return propose_plan(s->along.a, &r, &p, s->along.c, s->along.train, s->along.predict, to,
                        s->along.d);
}

// The plan in a form that any index of the path can take over.
static const ModelPlan *plan_to_follow(const Search *s, const PlanResult *x)
{
    ModelPlan *m = arena_array(s->along.a, ModelPlan, 1);

    *m = plan_of_model(s->along.a, s->along.train, &x->made, &x->planned.plan);
    return m;
}

// Tries the plan that was proposed for an index all along the path.
static void consider(Search *s, const PlanResult *x, int index)
{
    along_path_consider(&s->along, plan_to_follow(s, x), index);
}

// The bytes by which the plan that was considered last misses the memory at an index. 0: it fits
// there, or wouldn't be faster than the best plan by a hundredth.
static int64_t last_excess(const Search *s, int index)
{
    for (int i = 0; i < s->along.before.n; i++) {
        const TriedIndex *x = &s->along.before.index[i];
        if (x->at == index && x->tried.bytes > s->along.memory &&
            along_path_gains(&s->along, x->tried.seconds))
            return x->tried.bytes - s->along.memory;
    }
    return 0;
}

// Considers plans that pay for bytes what these cost at the best index, or at the last one if no
// plan fits yet: a plan that takes fewer bytes runs less again. If bytes have another price where
// the new plan fits best, the next plan pays that price.
static void propose_priced(Search *s)
{
    for (int i = 0; i < PRICED_TRIES && s->along.path->n_steps && !s->along.d->errors; i++) {
        int index = s->along.best.is_found ? s->along.best.index : s->along.path->last_index;
        RecomputePolicy policy = keep_path_at(s->along.a, s->along.path, index);
        BytePrice price = {picoseconds_of_byte(&s->along, index), AT_FIRST_BACKWARD};
        double paid = s->priced.n ? s->priced.plan[s->priced.n - 1].price.picoseconds : 0;
        PlanResult x;
        if (!index || fabs(price.picoseconds - paid) <= SAME_PRICE * paid ||
            propose_with_price(&s->along, &s->priced, &policy, price, &x) != COMPILE_DONE)
            return;
        consider(s, &x, index);
    }
}

// Considers plans that pay for bytes where nothing runs again, as long as they fit there: the less
// bytes cost, the larger the plans.
static void propose_cheaper(Search *s)
{
    RecomputePolicy policy = keep_path_at(s->along.a, s->along.path, 0);
    double price = picoseconds_of_byte(&s->along, 0);
    bool fits = true;

    for (int i = 0; i < PRICE_HALVINGS && fits && !s->along.d->errors; i++, price /= 2) {
        PlanResult x;
        if (propose_with_price(&s->along, &s->priced, &policy,
                               (BytePrice){price, AT_FIRST_BACKWARD}, &x) != COMPILE_DONE)
            return;
        consider(s, &x, 0);
        fits = s->along.before.index[0].tried.bytes <= s->along.memory;
    }
}

// Considers a plan whose memory rows sum to at most `rows` bytes at an index. Returns their bytes,
// or 0 if no plan has so few. Then *least becomes the plan with the fewest, if there is one. Once a
// plan fits, searches are brief where kernels run again: the kernels make more of a difference than
// the plans.
static int64_t propose_rows(Search *s, int index, int64_t rows, Copies copies,
                            const ModelPlan **least)
{
    PlanResult x;

    if (propose(s, index, rows, index && s->along.best.is_found, copies, &x) != COMPILE_DONE)
        return 0;
    if (x.planned.answer.outcome == OUTCOME_INFEASIBLE) {
        *least = plan_to_follow(s, &x);
        return 0;
    }
    consider(s, &x, index);
    return x.planned.answer.peak;
}

// Rows don't know how buffers pack, nor the transient bytes of communication. So while the program
// doesn't fit at the index, the next plan has fewer bytes of rows: by the excess of the program,
// but the first time not by much, as arenas don't follow rows closely. If no plan has so few, the
// next plan has one byte less, and the last plan the fewest.
static bool propose_fewer(Search *s, int index, Copies copies)
{
    int64_t memory = s->along.r->memory, step = memory / ROWS_PER_STEP, least = 1, excess;
    const ModelPlan *least_plan = NULL;
    int64_t peak = propose_rows(s, index, memory, copies, &least_plan);

    if (!peak)
        return false;
    for (int i = 0; i < PROPOSED_ROWS_TRIES && peak > least && (excess = last_excess(s, index));
         i++) {
        int64_t rows = peak - (i || excess < step ? excess : step);
        rows = rows < least ? peak - 1 : rows;
        int64_t next = propose_rows(s, index, rows, copies, &least_plan);
        if (next)
            peak = next;
        else
            least = rows + 1;
    }
    if (least_plan && last_excess(s, index))
        along_path_consider(&s->along, least_plan, index);
    return true;
}

// Proposes plans for the memory at an index. False if none fits there. Rows with all copies are an
// upper bound of the bytes. If they lead to no plan that fits, rows with the certain copies alone,
// a lower bound, have to keep to the memory.
static bool propose_at(Search *s, int index)
{
    bool has_rows = propose_fewer(s, index, COPIES_ALL);

    return (has_rows && !last_excess(s, index)) || propose_fewer(s, index, COPIES_SURE) || has_rows;
}

// ---- the smallest plan ----

static CompileStatus make_given(const Search *s, const ModelPlan *plan, int index, PlanResult *to)
{
    PlanRequest r = *s->along.r;

    r.is_part = true;
    r.given = plan;
    r.preset = NULL;  // which the plan follows
    r.recompute = keep_path_at(s->along.a, s->along.path, index);
    return fit_memory(s->along.a, &r, s->along.c, s->along.train, s->along.predict, to, s->along.d);
}

// Finds the plan that needs the least memory at the last index, and moves it to the index at which
// it needs the least. An estimate takes few searches.
static CompileStatus find_smallest(Search *s, bool is_estimate, PlanResult *to)
{
    PlanRequest r = *s->along.r;
    PlanResult x;

    r.is_part = true;
    r.is_estimate = is_estimate;
    r.recompute = keep_path_at(s->along.a, s->along.path, s->along.path->last_index);
    CompileStatus status =
        fit_memory(s->along.a, &r, s->along.c, s->along.train, s->along.predict, to, s->along.d);
    if (status != COMPILE_INFEASIBLE)
        return status;
    const ModelPlan *plan = s->smallest = plan_to_follow(s, to);
    if (to->program->arena_bytes <= to->options.memory)
        return COMPILE_DONE;
    int index = along_path_least(&s->along, plan);
    if (index < s->along.path->last_index) {
        status = make_given(s, plan, index, &x);
        bool is_made = status == COMPILE_DONE || status == COMPILE_INFEASIBLE;
        if (is_made && x.program->arena_bytes < to->program->arena_bytes)
            *to = x;
    }
    return to->program->arena_bytes <= to->options.memory ? COMPILE_DONE : COMPILE_INFEASIBLE;
}

// Does a plan fit at the last index? Then the search proposes one there.
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
        along_path_consider(&s->along, s->smallest, s->along.path->last_index);
    local_search(&s->along);
}

// Proposes plans that shard more than the unlimited one.
static void propose_smaller(Search *s)
{
    int last = s->along.path->last_index;

    propose_priced(s);
    bool is_last_proposed = !s->along.best.is_found && last && may_fit(s);
    if (is_last_proposed) {
        propose_at(s, last);
        propose_priced(s);
    }
    if (s->along.best.index && !(is_last_proposed && s->along.best.index == last))
        propose_at(s, s->along.best.index);
    if (s->along.best.index > 1)
        propose_at(s, s->along.best.index / 2);
    propose_at(s, 0);
    if (s->along.best.is_found && !s->along.best.index && s->along.path->n_steps)
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

    if (x->plan == s->along.best.plan && x->index == s->along.best.index)
        return;
    if (make_given(s, x->plan, x->index, &other) == COMPILE_DONE &&
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
    const Candidate *x = &s->along.best;
    CompileStatus status = COMPILE_INFEASIBLE;

    for (int i = 0; i < BEST_TRIES && x->is_found; i++) {
        status = make_given(s, x->plan, x->index, to);
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
    s->is_scarce = s->along.best.index > 0 || !s->along.best.is_found || s->along.best.tried.is_cut;
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
