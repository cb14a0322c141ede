// Branch and bound by ascent, best bound first. If bytes bind, the relaxation mixes choices that
// hold too much with choices that hold too little; no single choice can do that. So branching
// splits the node whose alternatives in these choices differ most in the cost of their bytes, at
// the mean of that cost.
#include <float.h>
#include <math.h>
#include <string.h>

#include "solver/assign/ascent.h"
#include "solver/assign/search.h"

enum {
    ROOT_WORK_DIVISOR = 3,  // 1 / this of the work goes to messages of the whole problem
    PART_SWEEPS = 40,       // sweeps for the bound of one part
    KICKS_PER_PART = 20
};
static const double ROOT_STEP_GROWTH = 1.1;
static const double ROOT_STEP_GAIN = 0.01, ROUNDING_ERROR = 1e-13;  // as parts of the cost

// A part of the problem, as the alternatives that it excludes from its parent.
typedef struct Part {
    int parent;  // index of its parent; -1: this is the whole problem
    double bound;
    int n_gone, *gone;  // the excluded alternatives
    int n_prices, *slot;
    double *price;
} Part;

typedef struct Branching {
    FloatProblem *f;
    double *cost;           // f->cost, before alternatives were excluded
    double *lower;          // by alternative: bound of the current part with it
    double bound;           // bound of the current part
    double rounding_error;  // most that rounding may have added to these bounds
    int *scratch;
    Ascent *ascent;
    Search *search;
    int n_parts, cap_parts;
    Part *part;
    int last;         // the part that was bounded last
    double *message;  // messages of the whole problem
    int n_open, cap_open;
    int *open;  // a heap of parts, the least bound first
    Wide best;  // cost of the best choice or the cutoff
    double gap;
    Listener l;
    Arena *arena;
} Branching;

// ---- open parts ----

static bool is_lower(const Branching *b, int i, int j)
{
    const Part *x = &b->part[b->open[i]], *y = &b->part[b->open[j]];

    return x->bound != y->bound ? x->bound < y->bound : b->open[i] < b->open[j];
}

static void swap_open(Branching *b, int i, int j)
{
    int x = b->open[i];

    b->open[i] = b->open[j];
    b->open[j] = x;
}

static void open_part(Branching *b, Part part)
{
    int i = b->n_open;

    *arena_push(b->arena, b->part, b->n_parts, b->cap_parts) = part;
    *arena_push(b->arena, b->open, b->n_open, b->cap_open) = b->n_parts - 1;
    for (; i && is_lower(b, i, (i - 1) / 2); i = (i - 1) / 2)
        swap_open(b, i, (i - 1) / 2);
}

static int close_part(Branching *b)
{
    int part = b->open[0], i = 0;

    swap_open(b, 0, --b->n_open);
    for (;;) {
        int least = i;
        for (int c = 2 * i + 1; c <= 2 * i + 2 && c < b->n_open; c++)
            least = is_lower(b, c, least) ? c : least;
        if (least == i)
            return part;
        swap_open(b, i, least);
        i = least;
    }
}

// ---- a part ----

// A part whose bound is at least this holds no choice that is better by more than the gap. Costs
// are whole numbers, so a choice is better by 1 or more.
static double enough(const Branching *b)
{
    double cost = (double)b->best, gap = b->gap * fabs(cost),
           whole = 0.99 - ROUNDING_ERROR * fabs(cost);

    return cost - (gap > whole ? gap : whole);
}

// Makes a part current. It begins with its parent's messages if the parent was bounded last, else
// with those of the whole problem. Messages of any other part may be bad, above all of one that
// costs too much.
static void enter(Branching *b, int part)
{
    FloatProblem *f = b->f;
    Ascent *s = b->ascent;
    const Part *x = &b->part[part];

    memcpy(f->cost, b->cost, (size_t)f->p->first[f->p->n_nodes] * sizeof *f->cost);
    memset(s->price, 0, (size_t)f->n_slots * sizeof *s->price);
    for (int i = 0; i < x->n_prices; i++)
        s->price[x->slot[i]] = x->price[i];
    for (int i = part; i >= 0; i = b->part[i].parent)
        for (int j = 0; j < b->part[i].n_gone; j++)
            f->cost[b->part[i].gone[j]] = f->forbidden;
    if (x->parent != b->last)
        memcpy(s->message, b->message,
               (size_t)s->first_message[f->p->n_edges] * sizeof *s->message);
    b->last = part;
    ascent_update_byte_costs(s);
}

// The rounding error of the bound. Each addition is off by at most an ulp of the sum of all terms'
// sizes.
static double rounding_error_of(const Branching *b)
{
    const Problem *p = b->f->p;
    const Ascent *s = b->ascent;
    double size = 0;

    for (int t = 0; t < b->f->n_slots; t++)
        size += s->price[t] * (double)p->limit;
    for (int i = 0; i < p->n_nodes; i++)
        size += fabs(s->node_bound[i]) + fabs(s->edge_bound[i]);
    return DBL_EPSILON * (p->n_nodes + p->n_edges + b->f->n_slots) * size;
}

static void bound_part(Branching *b, int part, ClimbOptions c)
{
    Ascent *s = b->ascent;
    double above = b->part[part].bound;

    s->lower = NULL;
    ascent_sweep(s, false);
    ascent_sweep(s, true);
    ascent_save_best(s);
    ascent_climb(s, c);
    ascent_restore_best(s);
    s->lower = b->lower;
    ascent_sweep(s, false);
    ascent_sweep(s, true);
    b->rounding_error = rounding_error_of(b);
    b->bound = s->bound - b->rounding_error > above ? s->bound - b->rounding_error : above;
}

static void on_choice(Branching *b, const int *choice)
{
    const Problem *p = b->f->p;
    ChoicePrice now = problem_price(p, choice);

    if (now.is_forbidden || now.peak > p->limit || now.cost >= b->best)
        return;
    b->best = now.cost;
    listener_tell(&b->l, choice, now.cost);
}

static void try_choice(Branching *b)
{
    Search *s = b->search;

    search_price(s, b->ascent->price);
    search_start(s, b->ascent->choice);
    if (!search_repair(s))
        return;
    for (int i = 0; i < KICKS_PER_PART; i++)
        search_kick(s);
    on_choice(b, s->choice);
}

static bool is_left(const Branching *b, int k) { return b->f->cost[k] < b->f->forbidden; }

// ---- splitting ----

// The variance, over the last choices, of the byte cost of node i's alternative, and its mean.
static double byte_cost_variance(const Branching *b, int i, double *mean)
{
    const Problem *p = b->f->p;
    const double *taken = b->ascent->taken, *byte_cost = b->ascent->byte_cost;
    double sum = 0;

    *mean = 0;
    for (int k = p->first[i]; k < p->first[i + 1]; k++)
        *mean += taken[k] * byte_cost[k];
    for (int k = p->first[i]; k < p->first[i + 1]; k++)
        sum += taken[k] * (byte_cost[k] - *mean) * (byte_cost[k] - *mean);
    return sum;
}

// Splits the node's remaining alternatives by the cost of their bytes, up to the mean or above it.
// False if all lie on one side.
static bool split_by_byte_cost(const Branching *b, int i, double mean, bool *is_upper)
{
    const Problem *p = b->f->p;
    int n[2] = {0};

    for (int k = p->first[i]; k < p->first[i + 1]; k++) {
        is_upper[k - p->first[i]] = b->ascent->byte_cost[k] > mean;
        n[is_upper[k - p->first[i]]] += is_left(b, k);
    }
    return n[0] && n[1];
}

// The remaining alternative with the largest share of the last choices; -1: none remains.
static int most_taken(const Branching *b, int i)
{
    const Problem *p = b->f->p;
    int best = -1;

    for (int k = p->first[i]; k < p->first[i + 1]; k++)
        if (is_left(b, k) && (best < 0 || b->ascent->taken[k] > b->ascent->taken[best]))
            best = k;
    return best < 0 ? -1 : best - p->first[i];
}

// Splits off the alternative with the largest share, for nodes whose bytes make no difference.
// False if no other remains.
static bool split_by_choice(const Branching *b, int i, bool *is_upper)
{
    const Problem *p = b->f->p;
    int most = most_taken(b, i), others = 0;

    for (int k = 0; k < n_alternatives(p, i); k++) {
        is_upper[k] = k != most;
        others += is_upper[k] && is_left(b, p->first[i] + k);
    }
    return others > 0;
}

// The node to split, and how; -1 if at most one choice remains.
static int find_split(const Branching *b, bool *is_upper)
{
    const Problem *p = b->f->p;
    double widest = 0, mean = 0, least_decided = -1;
    int best = -1, any = -1;

    for (int i = 0; i < p->n_nodes; i++) {
        double at, width = byte_cost_variance(b, i, &at);
        int most = most_taken(b, i);
        if (most < 0)
            return -1;
        if (width > widest && split_by_byte_cost(b, i, at, is_upper)) {
            widest = width;
            mean = at;
            best = i;
        }
        double others = 1 - b->ascent->taken[p->first[i] + most];
        if (others > least_decided && split_by_choice(b, i, is_upper)) {
            least_decided = others;
            any = i;
        }
    }
    if (best >= 0 && split_by_byte_cost(b, best, mean, is_upper))
        return best;
    return any >= 0 && split_by_choice(b, any, is_upper) ? any : -1;
}

static void keep_prices(Branching *b, Part *part)
{
    const Ascent *s = b->ascent;

    part->slot = arena_array(b->arena, int, b->f->n_slots);
    part->price = arena_array(b->arena, double, b->f->n_slots);
    for (int t = 0; t < b->f->n_slots; t++)
        if (s->price[t] > 0) {
            part->slot[part->n_prices] = t;
            part->price[part->n_prices++] = s->price[t];
        }
}

// Opens a part for each side of the node. Neither has alternatives whose bound is too high.
static void split(Branching *b, int parent, int node, const bool *is_upper)
{
    const Problem *p = b->f->p;
    int n = p->first[p->n_nodes];
    Part part = {.parent = parent, .bound = b->bound};

    keep_prices(b, &part);
    for (int side = 0; side < 2; side++) {
        part.gone = b->scratch;
        part.n_gone = 0;
        for (int k = 0; k < n; k++) {
            bool is_there = k >= p->first[node] && k < p->first[node + 1];
            bool is_other = is_there && is_upper[k - p->first[node]] != side;
            if (is_left(b, k) && (is_other || b->lower[k] - b->rounding_error >= enough(b)))
                part.gone[part.n_gone++] = k;
        }
        part.gone = arena_array(b->arena, int, part.n_gone);
        memcpy(part.gone, b->scratch, (size_t)part.n_gone * sizeof *part.gone);
        open_part(b, part);
    }
}

// Tries the last choice that remains, if there is one.
static void try_last(Branching *b)
{
    for (int i = 0; i < b->f->p->n_nodes; i++) {
        b->scratch[i] = most_taken(b, i);
        if (b->scratch[i] < 0)
            return;
    }
    on_choice(b, b->scratch);
}

// ---- the search ----

static Branching *branching_new(Arena *a, const Problem *p, const Dual *dual, uint64_t seed,
                                ClimbOptions c)
{
    Branching *b = arena_array(a, Branching, 1);
    int n = p->first[p->n_nodes];

    b->arena = a;
    b->f = float_problem_new(a, p);
    b->cost = arena_array(a, double, n);
    memcpy(b->cost, b->f->cost, (size_t)n * sizeof *b->cost);
    b->lower = arena_array(a, double, n);
    b->scratch = arena_array(a, int, n + p->n_nodes);
    b->ascent = ascent_new(a, b->f);
    b->search = search_new(a, b->f, seed);
    if (dual)
        ascent_warm_start(b->ascent, dual);
    ascent_converge(b->ascent, c);
    size_t n_messages = (size_t)b->ascent->first_message[p->n_edges];
    b->message = arena_array(a, double, n_messages);
    memcpy(b->message, b->ascent->message, n_messages * sizeof *b->message);
    Part whole = {.parent = -1, .bound = -DBL_MAX};
    keep_prices(b, &whole);
    open_part(b, whole);
    return b;
}

bool branch_by_ascent(const Problem *p, const Dual *dual, Wide cutoff, double gap, Wide *bound,
                      uint64_t seed, int64_t work, const Deadline *w, Listener l)
{
    Arena *a = arena_new();
    ClimbOptions first = {.work = work / ROOT_WORK_DIVISOR, .enough = DBL_MAX, .deadline = w};
    Branching *b = branching_new(a, p, dual, seed, first);
    Ascent *s = b->ascent;
    bool *is_upper = arena_array(a, bool, b->f->max_alternatives);
    int64_t sweep = problem_pairs(p) + 4 * (int64_t)p->first[p->n_nodes];

    b->best = cutoff;
    b->gap = gap;
    b->l = l;
    b->search->work_limit = INT64_MAX;
    b->search->deadline = w;
    while (b->n_open && b->part[b->open[0]].bound < enough(b) && s->work < work &&
           deadline_check(w) == STOP_DONE) {
        int part = b->open[0];
        enter(b, part);
        bound_part(b, part,
                   (ClimbOptions){ROOT_STEP_GAIN, ROOT_STEP_GROWTH, s->work + PART_SWEEPS * sweep,
                                  enough(b), w});
        close_part(b);
        if (b->bound < enough(b))
            try_choice(b);
        if (b->bound >= enough(b))
            continue;
        int node = find_split(b, is_upper);
        if (node >= 0)
            split(b, part, node, is_upper);
        else
            try_last(b);
    }
    bool is_done = !b->n_open || b->part[b->open[0]].bound >= enough(b);
    double least = is_done ? enough(b) : b->part[b->open[0]].bound;
    Wide proved = (Wide)ceil(least - ROUNDING_ERROR * fabs(least) - 0.001);
    *bound = proved > *bound ? proved : *bound;
    arena_free(a);
    return is_done;
}
