// Bounds and choices of a large problem through its core: the few alternatives of each node that a
// cheap choice may take (Balas and Zemel, "An algorithm for large zero-one knapsack problems",
// Operations Research 1980). Prices and choices are sought in the core, where a sweep is much
// faster. A few sweeps of the whole problem at these prices then prove the bound, and tell which
// alternatives the core lacks.
#include <float.h>
#include <string.h>

#include "solver/assign/ascent.h"

enum {
    MAX_CORE_ROUNDS = 5,
    MAX_LARGE_CORE_ROUNDS = 1,  // rounds if the core isn't small
    FIRST_WHOLE_SWEEPS = 60,    // sweeps of the whole problem, in the first round
    WHOLE_SWEEPS = 20,
    LAST_WHOLE_SWEEPS = 180,
    LAST_WHOLE_SWEEPS_OF_LARGE = 120,
    CORE_SWEEPS = 1500,
    LARGE_CORE_SWEEPS = 500,  // of a core that isn't small
    WARM_CORE_SWEEPS = 200,   // with is_warm_start
    SMALL_CORE_DIVISOR = 8,   // a small core is this many times smaller than the whole
};
static const double CORE_STEP_GAIN = 3e-3;  // aim of the first step, as a part of the bound
// A round that reduces the difference of choice and bound by a smaller share is the last.
static const double MIN_GAP_REDUCTION = 0.25;

typedef struct Core {
    const Problem *p;
    Ascent *whole;
    double *lower;  // by alternative: no choice with it is cheaper
    bool *keep;     // by alternative: is it in the core?
    double *price;  // by slot of the whole problem: the core's prices
    double best;    // best bound of the whole problem, with
    double *best_price, *best_message;
    double part;    // how far to move from the best prices to the core's, 0 to 1
    double left;    // cost minus bound, before the last round
    bool is_slow;   // the last round gained little
    bool is_small;  // the last core was small
    CoreOptions options;
    bool is_found;
    int *choice;  // the cheapest that was found, if is_found
    bool *taken;  // by alternative: it is in a choice to blend
    const Deadline *deadline;
    Listener l;
} Core;

// ---- the whole problem ----

// Finds the bound of the whole problem at the current prices, and the bound of each alternative.
static void bound_whole(Core *c, int sweeps)
{
    Ascent *s = c->whole;

    ascent_accelerate(s, (ClimbOptions){.work = s->work + sweeps * problem_size(c->p),
                                        .enough = DBL_MAX,
                                        .deadline = c->deadline});
    s->lower = c->lower;
    ascent_sweep(s, false);
    ascent_sweep(s, true);
    s->lower = NULL;
}

// Saves the current state if its bound is the best so far, else restores the best. True if it is
// the best.
static bool keep_better(Core *c)
{
    Ascent *s = c->whole;
    size_t prices = (size_t)s->f->n_slots * sizeof *s->price;
    size_t messages = (size_t)s->first_message[c->p->n_edges] * sizeof *s->message;
    bool is_better = s->bound > c->best;

    memcpy(is_better ? c->best_price : s->price, is_better ? s->price : c->best_price, prices);
    memcpy(is_better ? c->best_message : s->message, is_better ? s->message : c->best_message,
           messages);
    c->best = is_better ? s->bound : c->best;
    return is_better;
}

// Moves from the best prices towards the core's, by the part that was good so far.
static void move_prices(Core *c)
{
    Ascent *s = c->whole;

    for (int t = 0; t < s->f->n_slots; t++)
        s->price[t] = c->best_price[t] + c->part * (c->price[t] - c->best_price[t]);
    ascent_update_byte_costs(s);
}

// ---- the core ----

static void add_members(Core *c)
{
    const Problem *p = c->p;
    const double *lower = c->lower;

    for (int i = 0; i < p->n_nodes; i++)
        for (int k = p->first[i]; k < p->first[i + 1]; k++) {
            int before = 0;
            for (int l = p->first[i]; l < p->first[i + 1]; l++)
                before += lower[l] < lower[k] || (lower[l] == lower[k] && l < k);
            c->keep[k] |= before < c->options.members;
        }
}

// Starts the core's ascent with the best prices of the whole problem, and with its messages to the
// core's alternatives.
static void core_warm_start(const Core *c, Ascent *s)
{
    const Problem *p = c->p;
    const Ascent *whole = c->whole;
    const double *from = c->best_message;
    double *to = s->message;

    for (const Edge *e = p->edge; e < p->edge + p->n_edges; e++)
        for (int side = 0; side < 2; side++) {
            int i = side ? e->b : e->a;
            for (int k = p->first[i]; k < p->first[i + 1]; k++, from++)
                if (c->keep[k])
                    *to++ = *from;
        }
    for (int t = 0; t < whole->f->n_slots; t++) {
        int slot = float_problem_slot(s->f, whole->f->slot_time[t]);
        if (slot >= 0 && c->best_price[t] > 0) {
            s->price[slot] += c->best_price[t];
            s->is_priced[slot] = true;
        }
    }
    ascent_update_byte_costs(s);
}

static void take_prices(Core *c, const Ascent *s)
{
    const FloatProblem *f = c->whole->f;

    memset(c->price, 0, (size_t)f->n_slots * sizeof *c->price);
    for (int t = 0; t < s->f->n_slots; t++) {
        int slot = float_problem_slot(f, s->f->slot_time[t]);
        if (slot >= 0)
            c->price[slot] += s->price[t];
    }
}

// Takes a cheaper choice, and blends it into the next ones.
static void on_choice(void *to, const int *choice, Wide cost)
{
    Core *c = to;

    if (cost >= c->options.cost)
        return;
    c->options.cost = cost;
    c->is_found = true;
    memcpy(c->choice, choice, (size_t)c->p->n_nodes * sizeof *choice);
    for (int i = 0; i < c->p->n_nodes; i++)
        c->taken[c->p->first[i] + choice[i]] = true;
    listener_tell(&c->l, choice, cost);
}

// Makes a choice by blending the choices that the core's prices lead to and the cheapest ones so
// far.
static void blend_core(Arena *a, Core *c, const Problem *core, const Dual *dual,
                       const int *original)
{
    bool *mark = arena_array(a, bool, core->first[core->n_nodes]);

    blend_mark(core, dual, c->deadline, mark);
    for (int i = 0; i < core->n_nodes; i++)
        for (int k = core->first[i]; k < core->first[i + 1]; k++)
            c->taken[c->p->first[i] + original[k]] |= mark[k];
    solve_restricted(c->p, c->taken, c->is_found ? c->choice : NULL, c->options.o,
                     (Listener){on_choice, c, NULL});
}

static void raise_core(Ascent *s, int64_t work, const Deadline *w)
{
    ClimbOptions c = {CORE_STEP_GAIN, 1, work, DBL_MAX, w, 0};

    ascent_accelerate(s, c);
    ascent_reprice(s, c);
}

static void work_core(Core *c)
{
    Arena *own = arena_new();
    int *original;
    Problem core = problem_restrict(own, c->p, c->keep, &original);
    Ascent *s = ascent_new(own, float_problem_new_rough(own, &core));
    Dual dual;

    core_warm_start(c, s);
    bool is_small = c->is_small = SMALL_CORE_DIVISOR * problem_size(&core) < problem_size(c->p);
    int sweeps = c->options.o->is_warm_start ? WARM_CORE_SWEEPS
                 : is_small                  ? CORE_SWEEPS
                                             : LARGE_CORE_SWEEPS;
    raise_core(s, sweeps * problem_size(&core), c->deadline);
    take_prices(c, s);
    ascent_to_dual(own, s, &dual);
    if (is_small || c->options.o->is_warm_start || c->options.cost == WIDE_MAX)
        blend_core(own, c, &core, &dual, original);
    arena_free(own);
}

// ---- rounds ----

static bool is_over(const Core *c)
{
    return c->is_slow || deadline_check(c->deadline) != STOP_DONE ||
           (c->options.cost < WIDE_MAX &&
            answer_gap(c->options.cost, (Wide)c->best) <= c->options.gap);
}

static void core_round(Core *c, int number)
{
    bound_whole(c, number ? WHOLE_SWEEPS : FIRST_WHOLE_SWEEPS);
    bool is_better = keep_better(c);
    c->part = is_better ? 1 : c->part / 2;
    add_members(c);
    double left = (double)c->options.cost - c->best;
    c->is_slow = number > 1 && is_better && c->options.cost < WIDE_MAX &&
                 left > (1 - MIN_GAP_REDUCTION) * c->left;
    c->left = left;
    if (is_over(c))
        return;
    work_core(c);
    move_prices(c);
}

static int n_rounds(const Core *c)
{
    return c->options.o->is_warm_start ? 1 : c->is_small ? MAX_CORE_ROUNDS : MAX_LARGE_CORE_ROUNDS;
}

static void bound_last(Core *c)
{
    bound_whole(c, c->options.o->is_warm_start ? WHOLE_SWEEPS
                   : c->is_small               ? LAST_WHOLE_SWEEPS
                                               : LAST_WHOLE_SWEEPS_OF_LARGE);
    if (keep_better(c))
        return;
    ascent_update_byte_costs(c->whole);
    ascent_sweep(c->whole, false);
    ascent_sweep(c->whole, true);
}

Wide core_ascent(Arena *a, const Problem *p, Dual *dual, CoreOptions options, const Deadline *w,
                 Listener l)
{
    Arena *own = arena_new();
    int n = p->first[p->n_nodes];
    Core c = {.p = p,
              .whole = ascent_new(own, float_problem_new_rough(own, p)),
              .lower = arena_array(own, double, n),
              .keep = arena_array(own, bool, n),
              .choice = arena_array(own, int, p->n_nodes),
              .taken = arena_array(own, bool, n),
              .options = options,
              .deadline = w,
              .l = l};

    c.price = arena_array(own, double, c.whole->f->n_slots);
    c.best = -DBL_MAX;
    c.best_price = arena_array(own, double, c.whole->f->n_slots);
    c.best_message = arena_array(own, double, c.whole->first_message[p->n_edges]);
    c.is_small = true;
    c.whole->chooses = false;
    ascent_warm_start(c.whole, dual);
    for (int i = 0; i < n_rounds(&c) && !(i && is_over(&c)); i++)
        core_round(&c, i);
    bound_last(&c);
    ascent_to_dual(a, c.whole, dual);
    arena_free(own);
    return dual_bound(p, dual);
}
