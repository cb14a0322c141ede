// Turns the graphs of one rank into the program of many: finds a plan of each graph, splits the
// graphs by it, and lowers them. The memory rows of a plan don't know how buffers pack, nor what
// communication needs in between. If the arena is larger than the rows, the search is repeated with
// less memory.
#include <string.h>

#include "base/search.h"
#include "compile/fit/make_program.h"
#include "compile/fit/memory_parts.h"
#include "compile/fit/plan_job.h"
#include "compile/fit/plan_predictions.h"

// ---- bytes of a rank ----

// Limits are bytes of a rank with its communicators, which depend on the mesh. So these functions
// count them, too. There are none if the request says what the program may take.

static int64_t exchange_bytes(const PlanJob *j, const Mesh *m)
{
    return mesh_exchange_bytes(m, &j->options.exchange_memory);
}

static int64_t arena_of(const PlanJob *j, const PlanResult *s)
{
    return s->program->arena_bytes + exchange_bytes(j, &s->planned.plan.mesh);
}

static int64_t rows_of(const PlanJob *j, const PlanResult *s)
{
    return s->planned.answer.peak + exchange_bytes(j, &s->planned.plan.mesh);
}

static bool fits(const PlanJob *j, const PlanResult *s, int64_t memory)
{
    return arena_of(j, s) <= memory;
}

// ---- from a plan to a program ----

// Plans the forward-only graph on the mesh of the training plan. A limit of 1 byte gives the plan
// with the least rows.
static bool plan_predictions(const PlanJob *j, const Plan *training_plan, int64_t limit,
                             Graph *predict, Plan *to)
{
    PlanOptions o = plan_job_options(j);

    o.memory = limit;
    o.skips_presets = true;
    o.stops_early = limit == 1;
    const Planned *p =
        plan_predict(j->a, j->r->predictions, predict, j->train, training_plan, j->c, &o, j->d);
    if (!p)
        return false;
    if (!p->answer.choice)
        diag_error(j->d, "no plan for predictions was found in time");
    *to = p->plan;
    return p->answer.choice;
}

// Lowers a plan to the fastest program that fits `memory`, if any does.
static Program *lower_plan(const PlanJob *j, const Plan *plan, int64_t memory,
                           int64_t predict_limit)
{
    LowerOptions o =
        plan_job_lowering(j, mesh_memory_left(&plan->mesh, &j->options.exchange_memory, memory));
    Plan *p = arena_array(j->a, Plan, 2);
    Graph *predict = graph_clone(j->a, j->predict);

    p[0] = p[1] = *plan;
    if (j->train && !plan_predictions(j, plan, predict_limit, predict, &p[1]))
        return NULL;
    return program_of_plans(j->a, j->train, &p[0], predict, &p[1], &o, j->d);
}

// Lowers a plan to a program, of any size. If only its predictions need too much memory, they are
// planned again for the least rows.
static Program *make_program(const PlanJob *j, const Plan *plan, int64_t memory)
{
    int64_t left = memory - exchange_bytes(j, &plan->mesh);
    Program *p = lower_plan(j, plan, memory, memory);

    if (!p || !j->train || p->arena_bytes <= left || p->set[SET_TRAIN].end > left)
        return p;
    Program *smallest = lower_plan(j, plan, memory, 1);
    return !smallest || smallest->arena_bytes < p->arena_bytes ? smallest : p;
}

// ---- as much memory as there is ----

// Makes a plan and its program for `memory`. The plan's rows keep to options->memory if any plan's
// do; otherwise it is the plan with the least rows.
static CompileStatus make_result(PlanJob *j, const PlanOptions *options, int64_t memory,
                                 PlanResult *to)
{
    const TrialOptions programs = {plan_job_lowering(j, memory), options->exchange_memory};
    const PlanTrials trials = trials_of(&programs);
    PlanOptions o = *options;

    o.trials = j->train ? &trials : NULL;
    *to = (PlanResult){.made = j->made, .options = j->options};
    if (j->follows)
        to->planned.plan = j->given;
    else if (!plan_search(j->a, j->g, j->c, j->mesh, j->n_meshes, &o, &to->planned, &j->at))
        return COMPILE_WRONG;
    if (!j->follows && !to->planned.answer.choice)
        return COMPILE_NOT_FOUND;
    to->planned.plan.recompute = j->r->recompute;
    to->program = make_program(j, &to->planned.plan, memory);
    if (!to->program)
        return COMPILE_WRONG;
    to->step = program_simulate(to->program, j->train ? SET_TRAIN : SET_PREDICT, j->c);
    return COMPILE_DONE;
}

// Copies *x to *best if it fits and is faster. Presets and the bound stay those of the first
// search, whose limit was the memory itself. The cost is the least of all plans that fit.
static void keep_faster(const PlanJob *j, const PlanResult *x, PlanResult *best)
{
    int64_t memory = j->options.memory;
    Wide bound = best->planned.answer.bound, cost = x->planned.answer.cost;
    Answer *a = &best->planned.answer;

    if (!fits(j, x, memory))
        return;
    if (fits(j, best, memory) && a->cost < cost)
        cost = a->cost;
    if (!fits(j, best, memory) || x->step.seconds < best->step.seconds) {
        PlanResult y = *x;
        memcpy(y.planned.preset, best->planned.preset, sizeof y.planned.preset);
        y.planned.n_presets = best->planned.n_presets;
        y.planned.step_bound = best->planned.step_bound;
        *best = y;
    }
    a->cost = cost;
    a->bound = cost > bound ? bound : cost;
}

// Flags of a search: the rows count all copies; no presets are tried; the search stops at the first
// plan found; it begins with the prices of the best plan.
enum { COUNT_ALL_COPIES = 1, SKIP_PRESETS = 2, FIRST_FOUND = 4, WARM_PRICES = 8 };

// Searches for a plan whose rows take at most `rows` bytes, lowers it for `limit`, and keeps it if
// it is better. With WARM_PRICES the search begins with the best plan's prices of bytes, and goes
// to half of the gap, to make up for the cost of copies. The bound remains that of the first
// search, so a single pass without another engine is enough. If the first search didn't reach its
// gap, this one is a warm start, which spends less.
static CompileStatus try_search(PlanJob *j, int flags, int64_t rows, int64_t limit, PlanResult *x,
                                PlanResult *best)
{
    PlanOptions o = j->options;

    o.memory = rows;
    o.copies = flags & COUNT_ALL_COPIES ? COPIES_ALL : COPIES_SURE;
    o.skips_presets |= flags & SKIP_PRESETS;
    o.stops_early = flags & FIRST_FOUND;
    if (flags & WARM_PRICES) {
        o.solve.prices = best->planned.answer.prices;
        o.solve.is_single_pass = true;
        o.solve.is_warm_start = best->planned.answer.outcome != OUTCOME_PROVED;
        o.solve.gap /= 2;
    }
    CompileStatus status = make_result(j, &o, limit, x);
    if (status == COMPILE_DONE)
        keep_faster(j, x, best);
    return status;
}

// Searches for plans that count copies, each time with fewer rows by the overshoot of the last
// arena. The first time takes off a single step (ROWS_PER_STEP) at most, because arenas don't
// follow rows closely. If the first plan's arena is larger than the memory by more than 2 steps,
// the search begins with one step less, because that is usually needed.
static CompileStatus find_fewer_rows(PlanJob *j, PlanResult *best)
{
    int64_t memory = j->options.memory, step = memory / ROWS_PER_STEP, rows = memory;
    bool is_large_overshoot = arena_of(j, best) - memory > LARGE_OVERSHOOT_STEPS * step;

    for (int i = 0; i < FEWER_ROWS_TRIES && rows > 0; i++) {
        bool is_ahead = is_large_overshoot && !i;
        PlanResult x;
        CompileStatus status = try_search(j, COUNT_ALL_COPIES | SKIP_PRESETS | WARM_PRICES,
                                          is_ahead ? memory - step : rows, memory, &x, best);
        bool is_there = status == COMPILE_DONE && x.planned.answer.outcome != OUTCOME_INFEASIBLE;
        int64_t overshoot = is_there ? arena_of(j, &x) - memory : 0;
        if (is_ahead && status != COMPILE_WRONG && (!is_there || overshoot <= -step))
            continue;  // one step less was too little, or was not needed
        if (!is_there || overshoot <= 0)
            return status == COMPILE_NOT_FOUND ? COMPILE_DONE : status;
        rows = rows_of(j, &x) - (i || is_large_overshoot || overshoot < step ? overshoot : step);
    }
    return COMPILE_DONE;
}

// The same as try_search. It also keeps the smallest program so far.
static CompileStatus attempt_smaller(PlanJob *j, int flags, int64_t rows, int64_t limit,
                                     PlanResult *x, PlanResult *smallest, PlanResult *best)
{
    CompileStatus status = try_search(j, flags, rows, limit, x, best);

    if (status == COMPILE_DONE && (!smallest->program || arena_of(j, x) < arena_of(j, smallest)))
        *smallest = *x;
    return status;
}

// Searches for plans with the least rows, without copies and with them, and then with a step more,
// because the least rows needn't give the smallest arena.
static CompileStatus find_smallest_rows(PlanJob *j, PlanResult *smallest, PlanResult *best)
{
    int64_t rows = 1;
    int tries = j->r->is_estimate ? 2 : 3;

    for (int i = 0; i < tries; i++) {
        PlanResult x;
        int flags = i ? FIRST_FOUND | COUNT_ALL_COPIES : FIRST_FOUND;
        CompileStatus status = attempt_smaller(j, flags, rows, 1, &x, smallest, best);
        if (status != COMPILE_DONE)
            return i && status == COMPILE_NOT_FOUND ? COMPILE_DONE : status;
        if (i)
            rows = rows_of(j, &x) + x.planned.answer.peak / ROWS_PER_STEP;
    }
    return COMPILE_DONE;
}

// Finds a plan that is about as small as any, whatever the memory.
static CompileStatus estimate_least(PlanJob *j, PlanResult *to)
{
    PlanResult none = {0};

    *to = (PlanResult){0};
    j->options.memory = 1;  // no plan is better than `none`
    CompileStatus status = find_smallest_rows(j, to, &none);
    return status == COMPILE_DONE ? COMPILE_INFEASIBLE : status;
}

// Searches for a plan. If its program is larger than the memory, it searches for plans with fewer
// rows. Sets *copies to COUNT_ALL_COPIES if the last search counted them, else to 0.
static CompileStatus search_and_fit(PlanJob *j, PlanResult *best, int *copies)
{
    CompileStatus status = make_result(j, &j->options, j->options.memory, best);
    bool is_enough = status != COMPILE_DONE || j->follows || fits(j, best, j->options.memory);

    *copies = is_enough ? 0 : COUNT_ALL_COPIES;
    if (is_enough || !is_found(best->planned.answer.outcome))
        return status;
    return find_fewer_rows(j, best);
}

// Searches for an arena smaller than *smallest: first with fewer rows that count copies, then as
// for a memory of one byte less. An engine may branch for long, so a larger search doesn't ask one.
static CompileStatus find_smaller_arena(PlanJob *j, PlanResult *smallest, PlanResult *best)
{
    int64_t limit = arena_of(j, smallest) - 1, rows = rows_of(j, smallest) - 1;
    PlanJob less = *j;
    int copies;
    PlanResult x;
    CompileStatus status =
        attempt_smaller(j, FIRST_FOUND | COUNT_ALL_COPIES, rows, limit, &x, smallest, best);

    if (status == COMPILE_WRONG || fits(j, smallest, limit))
        return status;
    less.options.memory = limit;
    less.options.solve.is_single_pass = j->r->is_part;
    status = search_and_fit(&less, &x, &copies);
    if (status == COMPILE_DONE && fits(j, &x, limit)) {
        *smallest = x;
        keep_faster(j, &x, best);
    }
    return status;
}

// Shrinks the arena until a search with one byte less finds nothing. The search doesn't depend on
// the memory that the user asked for, so it gives the same answer for every request below it. It
// stops early if the request is met.
static CompileStatus find_smallest_arena(PlanJob *j, PlanResult *smallest, PlanResult *best)
{
    CompileStatus status = find_smallest_rows(j, smallest, best);

    for (int i = 0; i < SMALLEST_ARENA_TRIES && status == COMPILE_DONE; i++) {
        int64_t bytes = arena_of(j, smallest);
        if (bytes <= j->options.memory)
            break;
        status = find_smaller_arena(j, smallest, best);
        if (arena_of(j, smallest) == bytes)
            break;
    }
    return status == COMPILE_NOT_FOUND && smallest->program ? COMPILE_DONE : status;
}

// Searches for one more plan that may have a shorter step, in two cases. First: the program needs
// more memory to overlap all communication (full_overlap_bytes). A plan with that many fewer bytes
// leaves this memory free; a margin (ROWS_PER_MARGIN) is added, because arenas don't follow rows
// closely. Second: the plan's rows fill the memory but for a small part (ROWS_PER_FULL_MARGIN),
// without counting all copies. Then a plan of a little less memory, or one that counts all copies
// and so makes fewer, may be faster.
static CompileStatus find_faster_step(PlanJob *j, int copies, PlanResult *best)
{
    int64_t memory = j->options.memory;
    int64_t lacking =
        best->program->full_overlap_bytes + exchange_bytes(j, &best->planned.plan.mesh) - memory;
    bool is_full = !copies && rows_of(j, best) > memory - memory / ROWS_PER_FULL_MARGIN;
    int64_t rows = rows_of(j, best) - lacking - memory / ROWS_PER_MARGIN;
    PlanResult x;

    if (is_full) {
        rows = lacking > 0 ? memory - memory / ROWS_PER_MARGIN : memory;
        copies = lacking > 0 ? 0 : COUNT_ALL_COPIES;
    }
    if ((lacking <= 0 && !is_full) || rows <= 0)
        return COMPILE_DONE;
    CompileStatus status =
        try_search(j, SKIP_PRESETS | WARM_PRICES | copies, rows, memory, &x, best);
    return status == COMPILE_NOT_FOUND ? COMPILE_DONE : status;
}

// Makes the program of a given plan, whose pins leave no choice.
static CompileStatus fit_given(PlanJob *j, PlanResult *to)
{
    CompileStatus status = make_result(j, &j->options, j->options.memory, to);

    to->options.n_pins = j->n_user_pins;
    return status == COMPILE_DONE && !fits(j, to, j->options.memory) ? COMPILE_INFEASIBLE : status;
}

// Fits a plan to the memory. Usually there is memory enough, so the first search counts only the
// copies that are sure, and its bound holds for all plans. Rows with all copies count too much
// rather than too little. So if nothing fits, the smallest arena found serves for the message.
static CompileStatus fit_plan(PlanJob *j, PlanResult *best)
{
    PlanResult smallest = {0};
    int copies;
    CompileStatus status = search_and_fit(j, best, &copies);

    if (status == COMPILE_DONE && !j->follows && !fits(j, best, j->options.memory))
        status = find_smallest_arena(j, &smallest, best);
    if (status == COMPILE_DONE && !fits(j, best, j->options.memory)) {
        *best = smallest.program ? smallest : *best;
        return COMPILE_INFEASIBLE;
    }
    if (status != COMPILE_DONE || j->follows)
        return status;
    return find_faster_step(j, copies, best);
}

void plan_say_least(Arena *a, const PlanRequest *r, const PlanResult *s, Diag *d)
{
    int64_t bytes = s->program->arena_bytes, memory = s->options.memory;
    PlanFile f = {0};
    Text what = {0};

    plan_make_memory(a, &f, s->program);
    if (r->plan)
        diag_error(d, "the plan takes %" PRId64 " bytes of each rank, but memory is %" PRId64,
                   bytes, memory);
    else
        diag_error(d,
                   "no plan for %d ranks fits in %s a rank: the smallest one found takes %" PRId64
                   " bytes (%s)",
                   r->ranks, bytes_text(a, (double)memory), bytes, bytes_text(a, (double)bytes));
    print_memory_parts(a, &f, &what);
    diag_note(d, "its peak is in %s", what.s);
    if (s->exchange_bytes)
        diag_note(d, "%s of the device's memory are left for exchanges",
                  bytes_text(a, (double)s->exchange_bytes));
    text_free(&what);
}

static void warn_idle_ranks(const PlanJob *j, const Program *p)
{
    int idle = sharded_idle(p->set[j->train ? SET_TRAIN : SET_PREDICT].sharded);

    if (idle)
        diag_warn(j->d,
                  "%d of %d ranks %s nothing to compute: the dims that the plan splits are smaller "
                  "than the number of ranks",
                  idle, j->r->ranks, idle == 1 ? "has" : "have");
}

CompileStatus fit_memory(Arena *a, const PlanRequest *r, const Cluster *c, const Graph *train,
                         const Graph *predict, PlanResult *to, Diag *d)
{
    PlanJob j;

    if (!plan_job_read(a, r, NULL, c, train, predict, &j, d))
        return COMPILE_WRONG;
    CompileStatus found = (r->given         ? fit_given
                           : r->is_estimate ? estimate_least
                                            : fit_plan)(&j, to);
    const PlanOptions asked = plan_job_options(&j);  // not those of a search for less
    const Mesh *m = &to->planned.plan.mesh;
    to->exchange_bytes = mesh_exchange_bytes(m, &asked.exchange_memory);
    to->options.memory = mesh_memory_left(m, &asked.exchange_memory, asked.memory);
    to->options.exchange_memory = (ExchangeMemory){0};
    if (found == COMPILE_NOT_FOUND)
        diag_error(d, "no plan was found in time");
    if (found == COMPILE_INFEASIBLE && !r->is_part)
        plan_say_least(a, r, to, j.follows ? &j.at : d);
    if (found == COMPILE_DONE)
        warn_idle_ranks(&j, to->program);
    return found;
}
