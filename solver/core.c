// Bounds and choices of a large problem by way of its core: of each node the few alternatives that
// may be in a cheap choice (Balas and Zemel, "An algorithm for large zero-one knapsack problems",
// Operations Research 1980). Prices and choices are looked for in the core, where a sweep takes a
// small part of the time; what a few sweeps then prove of the whole at these prices is the bound,
// and says which alternatives the core lacks.
#include <float.h>
#include <string.h>

#include "solver/ascent.h"

enum {
    TURNS = 5,
    LARGE_TURNS = 1,    // where the core isn't small
    FIRST_SWEEPS = 60,  // of the whole, in a turn
    SWEEPS = 20,
    LAST_SWEEPS = 180,
    LARGE_LAST_SWEEPS = 120,
    CORE_SWEEPS = 1500,
    LARGE_SWEEPS = 500,  // … that isn't small
    AGAIN_SWEEPS = 200,  // … from prices that are near
    SMALL = 8,           // a core that is so many times smaller than the whole
};
static const double GAIN = 3e-3;  // that the first step of a core's prices aims at
// A turn that takes less than this off what is between choice and bound is the last.
static const double LITTLE = 0.25;

typedef struct Core {
    const Problem *p;
    Ascent *whole;
    double *lower;  // by alternative: no choice with it is cheaper
    bool *keep;     // by alternative: is it in the core?
    double *price;  // by slot of the whole: the core's
    double best;    // bound of the whole, with
    double *best_price, *best_message;
    double part;    // of the way to them that the next prices are
    double left;    // between choice and bound, before the last turn
    bool is_slow;   // the last turn gave little
    bool is_small;  // the last core was
    Aim aim;
    bool is_found;
    int *choice;  // the cheapest, if one was found
    bool *taken;  // by alternative: choices to make another of have it
    const Watch *watch;
    Listener l;
} Core;

// ---- the whole ----

// What is proved at the present prices, and of each alternative.
static void bound_whole(Core *c, int sweeps)
{
    Ascent *s = c->whole;

    ascent_hasten(s, (Climb){.work = s->work + sweeps * problem_size(c->p),
                             .enough = DBL_MAX,
                             .watch = c->watch});
    s->lower = c->lower;
    ascent_sweep(s, false);
    ascent_sweep(s, true);
    s->lower = NULL;
}

// Keeps the present state if it is the best of all turns, or else goes back to that. Is it?
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

// From the best prices to the core's, as far as has been good until now.
static void move_prices(Core *c)
{
    Ascent *s = c->whole;

    for (int t = 0; t < s->f->n_slots; t++)
        s->price[t] = c->best_price[t] + c->part * (c->price[t] - c->best_price[t]);
    ascent_rent(s);
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
            c->keep[k] |= before < c->aim.members;
        }
}

// What the whole knows: its best prices, and the messages to the core's members.
static void warm(const Core *c, Ascent *s)
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
        int slot = field_slot(s->f, whole->f->slot_time[t]);
        if (slot >= 0 && c->best_price[t] > 0) {
            s->price[slot] += c->best_price[t];
            s->is_priced[slot] = true;
        }
    }
    ascent_rent(s);
}

static void take_prices(Core *c, const Ascent *s)
{
    const Field *f = c->whole->f;

    memset(c->price, 0, (size_t)f->n_slots * sizeof *c->price);
    for (int t = 0; t < s->f->n_slots; t++) {
        int slot = field_slot(f, s->f->slot_time[t]);
        if (slot >= 0)
            c->price[slot] += s->price[t];
    }
}

// A choice that is cheaper is one to make the next of.
static void hear(void *to, const int *choice, Wide cost)
{
    Core *c = to;

    if (cost >= c->aim.cost)
        return;
    c->aim.cost = cost;
    c->is_found = true;
    memcpy(c->choice, choice, (size_t)c->p->n_nodes * sizeof *choice);
    for (int i = 0; i < c->p->n_nodes; i++)
        c->taken[c->p->first[i] + choice[i]] = true;
    c->l.found(c->l.to, choice, cost);
}

// Another choice of those that the core's prices lead to, and of the cheapest ones until now.
static void blend_core(Core *c, const Problem *core, const Dual *dual, const int *original,
                       Arena *a)
{
    bool *mark = arena_array(a, bool, core->first[core->n_nodes]);

    blend_mark(core, dual, c->watch, mark);
    for (int i = 0; i < core->n_nodes; i++)
        for (int k = core->first[i]; k < core->first[i + 1]; k++)
            c->taken[c->p->first[i] + original[k]] |= mark[k];
    solve_restricted(c->p, c->taken, c->is_found ? c->choice : NULL, c->aim.o,
                     (Listener){hear, c, NULL});
}

// Better messages, then better prices.
static void raise_core(Ascent *s, int64_t work, const Watch *w)
{
    Climb c = {GAIN, 1, work, DBL_MAX, w, 0};

    ascent_hasten(s, c);
    ascent_reprice(s, c);
}

static void work_core(Core *c)
{
    Arena *own = arena_new();
    int *original;
    Problem core = problem_restrict(c->p, c->keep, &original, own);
    Ascent *s = ascent_new(field_new_rough(&core, own), own);
    Dual dual;

    warm(c, s);
    bool is_small = c->is_small = SMALL * problem_size(&core) < problem_size(c->p);
    int sweeps = c->aim.o->is_again ? AGAIN_SWEEPS : is_small ? CORE_SWEEPS : LARGE_SWEEPS;
    raise_core(s, sweeps * problem_size(&core), c->watch);
    take_prices(c, s);
    ascent_to_dual(s, &dual, own);
    if (is_small || c->aim.o->is_again || c->aim.cost == WIDE_MOST)
        blend_core(c, &core, &dual, original, own);
    arena_free(own);
}

// ---- both in turns ----

static bool is_over(const Core *c)
{
    return c->is_slow || watch_stop(c->watch) != STOP_DONE ||
           (c->aim.cost < WIDE_MOST && answer_gap(c->aim.cost, (Wide)c->best) <= c->aim.gap);
}

static void turn(Core *c, int number)
{
    bound_whole(c, number ? SWEEPS : FIRST_SWEEPS);
    bool is_better = keep_better(c);
    c->part = is_better ? 1 : c->part / 2;
    add_members(c);
    double left = (double)c->aim.cost - c->best;
    c->is_slow =
        number > 1 && is_better && c->aim.cost < WIDE_MOST && left > (1 - LITTLE) * c->left;
    c->left = left;
    if (is_over(c))
        return;
    work_core(c);
    move_prices(c);
}

static int n_turns(const Core *c)
{
    return c->aim.o->is_again ? 1 : c->is_small ? TURNS : LARGE_TURNS;
}

static void bound_last(Core *c)
{
    bound_whole(c, c->aim.o->is_again ? SWEEPS : c->is_small ? LAST_SWEEPS : LARGE_LAST_SWEEPS);
    if (keep_better(c))
        return;
    ascent_rent(c->whole);
    ascent_sweep(c->whole, false);
    ascent_sweep(c->whole, true);
}

Wide core_ascent(const Problem *p, Dual *dual, Aim aim, const Watch *w, Listener l, Arena *a)
{
    Arena *own = arena_new();
    int n = p->first[p->n_nodes];
    Core c = {.p = p,
              .whole = ascent_new(field_new_rough(p, own), own),
              .lower = arena_array(own, double, n),
              .keep = arena_array(own, bool, n),
              .choice = arena_array(own, int, p->n_nodes),
              .taken = arena_array(own, bool, n),
              .aim = aim,
              .watch = w,
              .l = l};

    c.price = arena_array(own, double, c.whole->f->n_slots);
    c.best = -DBL_MAX;
    c.best_price = arena_array(own, double, c.whole->f->n_slots);
    c.best_message = arena_array(own, double, c.whole->first_message[p->n_edges]);
    c.is_small = true;
    c.whole->chooses = false;
    ascent_warm(c.whole, dual);
    for (int i = 0; i < n_turns(&c) && !(i && is_over(&c)); i++)
        turn(&c, i);
    bound_last(&c);
    ascent_to_dual(c.whole, dual, a);
    arena_free(own);
    return dual_bound(p, dual);
}
