// Branch and bound over one component.
//
// The search fills the address range from below. A buffer is put at the lowest address where any
// buffer can still begin, so all later buffers lie above it or at other times: each section has a
// floor. It chooses one section on the lowest floor and tries every buffer that may come next
// there, then to waste the bytes up to where the next one could begin. A section whose floor and
// remaining bytes exceed the capacity ends the branch.
//
// Only packings in which no buffer can slide down are considered: each buffer lies at 0 or on
// another one that is live with it. Pinned buffers count as if something were below them; a branch
// in which one can't have its offset any more has ended.
//
// Like MiniMalloc (see packer.h): canonical packings, bounds of sections, several static orders,
// parts of time that nothing joins any more are solved one after the other. Differences: the
// branches are those of one section, the one with fewest, instead of all buffers; wasted bytes are
// a branch of their own; sections that have failed often come first; and orders get more noise and
// work from run to run, so that a bad beginning costs little.
#include <time.h>

#include "packer/search.h"

enum {
    MAX_DEPTH = 3000,     // of recursion: 300 bytes of stack each
    LOOK_AT_CLOCK = 256,  // nodes between two looks
};

// ---- branching ----

// A branching: the buffers that may come next on the floor of a section, or a higher floor.
typedef struct Branching {
    int section;
    int64_t slack;  // bytes of the section that may be wasted
    int64_t next;   // the floor after wasting bytes; NO_FLOOR: that isn't possible
    int64_t branches;
} Branching;

// The lowest offset at which buffer i of the section can lie on a buffer of other sections alone
// that is still to be packed.
static int64_t lowest_support(PackSearch *x, int i, const WordRange *live)
{
    const WordRange *near = &x->s->near[i];
    int64_t least = NO_FLOOR;

    x->limits->work -= near->end - near->first;
    for (int k = near->first; k < near->end; k++) {
        bool may_be_live = k >= live->first && k < live->end;
        uint64_t bits = to_pack(x, near, k) & ~(may_be_live ? live->word[k - live->first] : 0);
        for (; bits; bits &= bits - 1) {
            int j = k * 64 + __builtin_ctzll(bits);
            int64_t end = x->low[j] + x->s->bytes[j];
            least = end < least ? end : least;
            x->limits->work--;
        }
    }
    return least;
}

// Where the first buffer of the section can begin if none begins at `floor`. NO_FLOOR if the
// capacity forbids it.
static int64_t next_floor(PackSearch *x, int section, int64_t floor, int64_t slack)
{
    const WordRange *live = &x->s->live[section];
    int64_t least = NO_FLOOR;

    if (slack < x->s->unit)
        return NO_FLOOR;
    for (int k = live->first; k < live->end; k++)
        for (uint64_t bits = to_pack(x, live, k); bits; bits &= bits - 1) {
            int i = k * 64 + __builtin_ctzll(bits);
            int64_t at = x->low[i] > floor ? x->low[i] : lowest_support(x, i, live);
            least = at < least ? at : least;
        }
    return least != NO_FLOOR && least - floor <= slack ? least : NO_FLOOR;
}

// Has `a` fewer branches than `b`, or as many and less slack? Failures count as if they divided
// the branches.
static bool is_narrower(const PackSearch *x, const Branching *a, const Branching *b)
{
    double n = (double)a->branches, m = (double)b->branches;

    if (x->style.weighs_failures) {
        n /= 1 + (double)x->failures[a->section];
        m /= 1 + (double)x->failures[b->section];
    }
    return n < m || (n <= m && a->slack < b->slack);
}

static Branching choose_section(PackSearch *x, int first, int last, int64_t floor)
{
    Branching best = {.branches = INT64_MAX};

    for (int k = first; k <= last; k++) {
        if (x->floor[k] != floor)
            continue;
        Branching b = {k, x->capacity - floor - x->left[k], NO_FLOOR, x->choices[k]};
        b.branches += b.slack >= x->s->unit;
        if (!is_narrower(x, &b, &best))
            continue;
        if (!x->choices[k]) {
            b.next = next_floor(x, k, floor, b.slack);
            if (b.next == NO_FLOOR) {
                b.branches = 0;
                return b;
            }
        }
        best = b;
    }
    if (x->choices[best.section]) {
        best.next = next_floor(x, best.section, floor, best.slack);
        best.branches = x->choices[best.section] + (best.next != NO_FLOOR);
    }
    return best;
}

// The more walls of the gap a buffer touches, and the more of them it ends level with, the less it
// leaves that nothing fits.
static int snugness(const PackSearch *x, int i, int first, int last, int64_t floor)
{
    const Sections *s = x->s;
    int before = s->first[i] - 1, after = s->last[i] + 1;
    int64_t left = before < first ? NO_FLOOR : x->floor[before];
    int64_t right = after > last ? NO_FLOOR : x->floor[after], end = floor + s->bytes[i];

    return 2 * (left > floor && right > floor) + (left == end) + (right == end);
}

// Are the buffers alike in all but their number?
static bool is_same_shape(const Sections *s, int i, int j)
{
    return s->first[i] == s->first[j] && s->last[i] == s->last[j] && s->bytes[i] == s->bytes[j] &&
           s->is_pinned[i] == s->is_pinned[j];
}

static bool has_same_shape(const PackSearch *x, int from, int i)
{
    for (int k = from; k < x->n_candidates; k++)
        if (is_same_shape(x->s, x->candidate[k], i))
            return true;
    return false;
}

// Pushes the candidates of a section onto the stack, the most urgent first; one of each shape.
static void push_candidates(PackSearch *x, const Branching *b, int first, int last)
{
    const WordRange *live = &x->s->live[b->section];
    int64_t floor = x->floor[b->section];
    int from = x->n_candidates;

    for (int k = live->first; k < live->end; k++)
        for (uint64_t bits = to_pack(x, live, k); bits; bits &= bits - 1) {
            int i = k * 64 + __builtin_ctzll(bits), at;
            if (x->low[i] != floor || !can_begin(x, i) || has_same_shape(x, from, i))
                continue;
            int snug = x->style.fits_snugly ? snugness(x, i, first, last, floor) : 0;
            x->urgency[i] = (int64_t)snug * x->s->n - x->rank[i];
            arena_push(x->a, x->candidate, x->n_candidates, x->cap_candidates);
            for (at = x->n_candidates - 1; at > from; at--) {
                if (x->urgency[x->candidate[at - 1]] >= x->urgency[i])
                    break;
                x->candidate[at] = x->candidate[at - 1];
            }
            x->candidate[at] = i;
        }
}

// ---- the search ----

double pack_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_stopped(const PackSearch *x)
{
    if (x->nodes > x->most_nodes || x->limits->work <= 0 || x->depth >= MAX_DEPTH)
        return true;
    return x->nodes % LOOK_AT_CLOCK == 0 &&
           (signal_is_pending() || (x->limits->deadline > 0 && pack_clock() > x->limits->deadline));
}

static PackOutcome solve(PackSearch *x, int first, int last);

// Solves the parts of the sections that no buffer joins any more, one after the other. If one
// can't be solved, other packings of the parts before don't help.
static PackOutcome solve_parts(PackSearch *x, int first, int last)
{
    PackOutcome outcome = PACK_FOUND;

    for (int k = first; k <= last && outcome == PACK_FOUND; k++)
        if (k == last || !x->joins[k]) {
            outcome = solve(x, first, k);
            first = k + 1;
        }
    return outcome;
}

static PackOutcome try_branches(PackSearch *x, const Branching *b, int first, int last)
{
    PackOutcome outcome = PACK_NONE;
    int from = x->n_candidates, mark = x->n_trail;

    push_candidates(x, b, first, last);
    for (int k = from, end = x->n_candidates; k < end && outcome == PACK_NONE; k++) {
        if (floors_put(x, x->candidate[k]))
            outcome = solve_parts(x, first, last);
        if (outcome != PACK_FOUND)
            floors_undo(x, mark);
    }
    x->n_candidates = from;
    if (outcome != PACK_NONE || b->next == NO_FLOOR)
        return outcome;
    if (floors_raise(x, b->section, b->next))
        outcome = solve(x, first, last);
    if (outcome != PACK_FOUND)
        floors_undo(x, mark);
    return outcome;
}

static PackOutcome solve(PackSearch *x, int first, int last)
{
    int64_t floor = NO_FLOOR;

    for (int k = first; k <= last; k++)
        floor = x->floor[k] < floor ? x->floor[k] : floor;
    x->limits->work -= (last - first) / 4;
    if (floor == NO_FLOOR)
        return PACK_FOUND;
    x->nodes++;
    if (is_stopped(x))
        return PACK_STOPPED;
    Branching b = choose_section(x, first, last, floor);
    x->failures[b.section] += !b.branches;
    x->depth++;
    PackOutcome outcome = b.branches ? try_branches(x, &b, first, last) : PACK_NONE;
    x->depth--;
    return outcome;
}

PackSearch *pack_search_new(Arena *a, const Sections *s)
{
    PackSearch *x = arena_array(a, PackSearch, 1);

    *x = (PackSearch){.s = s, .a = a};
    x->low = arena_array(a, int64_t, s->n);
    x->support = arena_array(a, int64_t, s->n);
    x->offset = arena_array(a, int64_t, s->n);
    x->rank = arena_array(a, int64_t, s->n);
    x->urgency = arena_array(a, int64_t, s->n);
    x->order = arena_array(a, int, s->n);
    x->unpacked = arena_array(a, uint64_t, s->n / 64 + 1);
    x->floor = arena_array(a, int64_t, s->n_sections);
    x->choices = arena_array(a, int64_t, s->n_sections);
    x->left = arena_array(a, int64_t, s->n_sections);
    x->joins = arena_array(a, int64_t, s->n_sections);
    x->is_stale = arena_array(a, bool, s->n_sections);
    x->failures = arena_array(a, int64_t, s->n_sections);
    return x;
}

// Chooses how the next run goes: the styles and orders one after the other, without chance in the
// first round of each.
static void choose_style(PackSearch *x)
{
    enum { STYLES = 2 };
    const double noise = 0.3;
    int turn = x->run / (ORDERS * STYLES);
    Order order = (Order)(x->run % ORDERS);

    x->style.weighs_failures = x->run / ORDERS % STYLES == 1;
    x->style.fits_snugly = turn % 2 == 1;
    sections_order(x->s, order, turn < 2 ? 0 : noise, (uint64_t)x->run, x->order);
    for (int k = 0; k < x->s->n; k++)
        x->rank[x->order[k]] = k;
}

PackOutcome pack_search(PackSearch *x, int64_t capacity, PackLimits *limits)
{
    // Nodes of the first runs, and how they grow from round to round. Of 54 instances (MiniMalloc's
    // A to F, random ones without waste) these solved most in 4 s.
    const double first_nodes = 1000, growth = 1.3;
    PackOutcome outcome = PACK_STOPPED;

    x->capacity = capacity;
    x->limits = limits;
    for (double nodes = first_nodes + 4 * x->s->n; outcome == PACK_STOPPED; x->run++) {
        choose_style(x);
        x->most_nodes = (int64_t)nodes;
        x->nodes = x->n_candidates = x->depth = 0;
        outcome = floors_start(x) ? solve(x, 0, x->s->n_sections - 1) : PACK_NONE;
        if (outcome == PACK_STOPPED && (limits->work <= 0 || signal_is_pending() ||
                                        (limits->deadline > 0 && pack_clock() > limits->deadline)))
            break;
        nodes *= x->run % ORDERS ? 1 : growth;
    }
    return outcome;
}

int64_t pack_search_offset(const PackSearch *x, int i) { return x->offset[i]; }
