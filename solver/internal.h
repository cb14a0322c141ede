// What the files of the solver share, one section a file. A Dual is the common coin: whatever
// bounds a problem says so in exact integers, and fixing and branching read nothing else.
#ifndef SHARDCC_SOLVER_INTERNAL_H
#define SHARDCC_SOLVER_INTERNAL_H

#include "solver/solver.h"

static inline bool is_forbidden(int64_t cost) { return cost >= COST_FORBIDDEN; }

// The numbers in an edge's matrix; the alternatives of its ends, which have a message each.
static inline int64_t edge_pairs(const Problem *p, int e)
{
    return (int64_t)n_alternatives(p, p->edge[e].a) * n_alternatives(p, p->edge[e].b);
}

static inline int64_t problem_pairs(const Problem *p)
{
    int64_t n = 0;

    for (int e = 0; e < p->n_edges; e++)
        n += edge_pairs(p, e);
    return n;
}

// The size that work is counted by.
static inline int64_t problem_size(const Problem *p)
{
    return problem_pairs(p) + (p->n_nodes ? p->first[p->n_nodes] : 0) + 100;
}

static inline bool problem_has_bytes(const Problem *p)
{
    return p->n_nodes && p->first_live[p->first[p->n_nodes]] > 0;
}

static inline int edge_messages(const Problem *p, int e)
{
    return n_alternatives(p, p->edge[e].a) + n_alternatives(p, p->edge[e].b);
}

// ---- deadline.c: the clock and Ctrl-C ----
// Searches count their work, so that a run repeats; the watch only ends them.
typedef struct Deadline {
    double start;
    double limit;  // seconds from start; 0: none
} Deadline;

Deadline deadline_start(double limit);
double deadline_seconds(const Deadline *w);  // since start
Stop deadline_check(const Deadline *w);      // STOP_DONE: go on

// Who hears of a choice of a problem that is the cheapest until now.
typedef struct Listener {
    void (*found)(void *to, const int *choice, Wide cost);  // NULL: nobody
    void *to;
    const Wide *enough;  // with a choice that costs no more a search may end; may be NULL
} Listener;

// ---- scan.c: JSON of a known form ----
// One pass over a file of any size, gzipped or not. The first thing that is wrong is an error with
// its place, and the end: whatever reads returns false from then on.
struct z_stream_s;

typedef struct Scan {
    const uint8_t *at, *end;  // what is left of the piece of text that is at hand
    const uint8_t *chunk;     // its start
    int64_t before;           // bytes of text before it
    uint64_t hash;            // of the text up to its end
    File raw;
    size_t taken;  // bytes of raw
    struct z_stream_s *zip;
    uint8_t *buffer;
    Diag *d;
    bool is_wrong;
    bool stops;  // when asked to (signal_is_pending)
} Scan;

// A member of an object, and what reads its value: `read` is given `to` moved on by `offset`.
typedef struct Member {
    const char *name;
    bool (*read)(Scan *s, void *to);
    size_t offset;
    bool is_optional;
} Member;

// Lists of numbers, one after the other: list i begins at x[first[i]].
typedef struct Lists {
    const char *what;  // with its number, for messages: "costs of node"
    Arena *arena;
    int most, most_numbers;
    int *first;
    int64_t *x;
    int n, n_x, cap, cap_x;
} Lists;

static inline int list_size(const Lists *l, int i)
{
    return (i + 1 < l->n ? l->first[i + 1] : l->n_x) - l->first[i];
}

static inline const int64_t *list_at(const Lists *l, int i) { return l->x + l->first[i]; }

void scan_begin(Scan *s, File raw, Diag *d);  // the bytes stay the caller's
void scan_end(Scan *s);
bool scan_wrong(Scan *s, const char *fmt, ...) PRINTF(2, 3);  // false
// Bit i of `seen` (may be NULL): member i was there.
bool scan_object(Scan *s, void *to, const Member *members, int n, uint64_t *seen);
bool scan_list(Scan *s, void *to, bool (*item)(Scan *s, void *to));
bool scan_numbers(Scan *s, Lists *l);  // adds a list
bool scan_whole(Scan *s, int64_t *x);  // from -(2^63 - 1) to 2^63 - 1
bool scan_wide(Scan *s, Wide *x);      // from -(2^126 - 1) to 2^126 - 1
// As they are written, a string without its quotes; up to `size` - 1 bytes.
bool scan_string(Scan *s, char *text, size_t size);
bool scan_number(Scan *s, char *text, size_t size);
bool scan_nothing(Scan *s);  // only blanks are left

// ---- instance.c ----
// problem_read of the bytes of a file.
bool problem_parse(File file, Problem *p, Arena *a, Diag *d);

// ---- answer.c ----
// What answer_write writes, into an empty text.
void answer_print(Text *t, const Problem *p, const SolveOptions *o, const Answer *answer,
                  const char *version);

// ---- check_read.c: what the file of an answer says ----
enum { STORED_TEXT = 256, PROOF_ROUNDS = 12 };  // rounds of a certificate

typedef struct StoredRound {
    Wide shift;
    // One list each; steps by threes, edges by twos; messages one list for each edge.
    Lists steps, times, prices, edges, messages;
} StoredRound;

typedef struct Stored {
    char version[STORED_TEXT], instance[STORED_TEXT], hash[STORED_TEXT], outcome[STORED_TEXT];
    char stop[STORED_TEXT], bound_by[STORED_TEXT], gap[STORED_TEXT], gap_wanted[STORED_TEXT];
    Wide seed, cost, bound, certified, peak, least_bound, least, at;
    Lists choice;  // one list
    StoredRound *round;
    int n_rounds, cap_rounds;
    char checksum[STORED_TEXT];
    bool is_infeasible;
} Stored;

// The form of the file only. False, with an error, where it isn't kept, or where something doesn't
// belong to the outcome or is lacking.
bool stored_read(File file, Stored *s, Arena *a, Diag *d);

// ---- check_dual.c ----
// The bound that the rounds prove, if there is a choice of that cost. False, with an error, where
// they don't fit the problem.
bool stored_bound(const Problem *p, const Stored *s, Wide cost, Wide *bound, Diag *d);

// ---- check.c ----
// answer_check of the bytes of a file.
bool stored_check(File file, const Problem *p, Text *said, Diag *d);

// ---- presolve.c: a smaller problem with the same optimum ----
typedef struct Undo Undo;
typedef struct Presolved {
    Problem problem;  // its last node may hold what is held whatever is chosen
    Wide offset;      // cost of a choice of the original = cost of the choice of `problem` + offset
    int n_left;       // nodes of the original in it
    Undo *undo;
} Presolved;

// Every choice of r->problem stands for one of `p`, and p's optimum is among these, if it is
// cheaper than `cutoff` (fixing by the reduced costs of `dual`, which may be NULL). False: no
// choice within the limit is cheaper than the cutoff.
bool presolve(const Problem *p, const Dual *dual, Wide cutoff, Presolved *r, Arena *a);
// The same by the steps of certificates alone, which are written down.
typedef struct Replay {
    int n, cap;
    Reduction *step;
} Replay;
bool presolve_plain(const Problem *p, Replay *replay, Presolved *r, Arena *a);
// The node of the original that is node i of r->problem (not the last one if that only holds what
// is held whatever is chosen), and its alternatives' originals.
int presolve_origin(const Presolved *r, int i, const int **alternative);
// The choice of p that a choice of r->problem stands for.
void presolve_undo(const Presolved *r, const int *choice, int *original);

// ---- presolve_fix.c ----
// Marks alternatives, and pairs of edges one after the other, that no choice cheaper than the
// cutoff has, as Round says. False: the dual's bound alone is not below the cutoff.
bool slack_mark(const Problem *p, const Dual *dual, Wide cutoff, bool *mark, bool *pair);

// ---- float_problem.c: what bounds and searches see of a problem ----
typedef struct HalfEdge {
    int edge, other;
    bool is_a;  // the node whose link this is is the edge's a
} HalfEdge;

// Costs in doubles, a forbidden one as `forbidden`; the edges of each node; of the times only
// those that can be the fullest: slots.
typedef struct FloatProblem {
    const Problem *p;
    int max_alternatives;  // the most alternatives of a node
    double forbidden;
    double *cost;          // by alternative
    double **matrix;       // by edge; NULL where there is …
    float **rough;         // … this, which takes half the time to read
    int *first_half_edge;  // [n_nodes + 1]
    HalfEdge *half_edge;   // in the order of the edges
    int n_slots;
    int *slot_time;
    int *first_live;  // by alternative, as in Problem
    LiveBytes *live;  // in slots
} FloatProblem;

FloatProblem *float_problem_new(const Problem *p, Arena *a);
// The same with rough matrices, if they are too large for a cache: good for messages, of which any
// prove a bound, and so for what needs no last digit of it.
FloatProblem *float_problem_new_rough(const Problem *p, Arena *a);
int float_problem_slot(const FloatProblem *f,
                       int time);  // whose time this is, or the one before; may be -1
// What the bytes of each alternative cost, at a price a byte for each slot. `sum`, of n_slots + 1,
// is the prices added up.
void float_problem_byte_costs(const FloatProblem *f, const double *price, double *sum,
                              double *byte_cost);
void float_problem_live_bytes(const FloatProblem *f, const int *choice,
                              double *live_bytes);  // bytes, by slot
// Adds to each alternative of the node what the edge costs with the other's alternative.
void float_problem_add_row(const FloatProblem *f, int node, HalfEdge l, int other, double sign,
                           double *to);
// to[l] = min over the node's k of from[k] + the edge's cost with alternative l of the other
void float_problem_pass(const FloatProblem *f, int node, HalfEdge l, const double *from,
                        double *to);

// ---- minplus.c: products of matrices and vectors, with min for + and + for * ----
// out[l] = min over k of v[k] + m[k * n_b + l]
void minplus_down(const double *m, int n_a, int n_b, const double *v, double *out);
// out[k] = min over l of m[k * n_b + l] + v[l]
void minplus_across(const double *m, int n_a, int n_b, const double *v, double *out);
void minplus_down_rough(const float *m, int n_a, int n_b, const double *v, double *out);
void minplus_across_rough(const float *m, int n_a, int n_b, const double *v, double *out);
void minplus_whole(const int64_t *m, int n_a, int n_b, const int64_t *v, int64_t *out);
// The bits of a number without its sign; those of several tell how large the largest is.
static inline int64_t magnitude(int64_t x) { return x ^ (x >> 63); }
// The same of row[l] · 2^shift, where that isn't forbidden; bits[l] gathers how large such row[l]
// are. What doesn't fit wraps.
void shifted_row(const int64_t *row, int n, int shift, int64_t v, int64_t *out, int64_t *bits);
int64_t row_most(const int64_t *row,
                 int64_t n);  // the largest without its sign, forbidden ones apart
void row_add(const double *row, int n, double *to);
void row_sum(const double *a, const double *b, int n, double *to);   // a + b
void row_less(const double *a, const double *b, int n, double *to);  // a - b
void row_scale(double by, int n, double *row);
double row_least(const double *row, int n);
// The least and the largest, forbidden ones apart; low > high: there are none.
void row_range(const int64_t *row, int64_t n, int64_t *low, int64_t *high);
// In doubles or floats, with another number for forbidden ones.
void row_image(const int64_t *row, int n, double forbidden, double *to);
void row_rough(const int64_t *row, int n, double forbidden, float *to);
// Takes the mark (-1; 0 is none) from all that is more than `most`.
void most_mark(const int64_t *x, int n, int64_t most, int64_t *mark);

// ---- ascent.c: bounds of what is too large for an engine ----
// Raises the bound of `dual` (empty, or of p) by at most `work` counted steps, and gives it. The
// dual's arrays are then a's. A fraction of a second bounds a reduced problem of thousands of nodes
// as well as its relaxation by an engine does, so this comes first. is_rough: by rough matrices.
Wide ascent(const Problem *p, bool is_rough, Dual *dual, int64_t work, const Deadline *w, Arena *a);

// ---- core.c: bounds and choices of what is too large for many sweeps ----
typedef struct CoreOptions {
    Wide cost;              // of a choice that is known; WIDE_MAX: none is
    double gap;             // between choice and bound that is small enough
    int members;            // of each node, that a turn adds to the core
    const SolveOptions *o;  // of what chooses in the core
} CoreOptions;

// As ascent; `l` hears of choices, each cheaper than the one before.
Wide core_ascent(const Problem *p, Dual *dual, CoreOptions options, const Deadline *w, Listener l,
                 Arena *a);

// ---- certify.c: rounds of bounds that anyone can check ----
// `cost` is that of a choice; `prices` are of p's times and where it begins (messages aren't used).
void certify(const Problem *p, const SolveOptions *o, Wide cost, const Dual *prices,
             bool has_engine, const Deadline *w, Certificate *to, Arena *a);

// ---- branch.c: branch and bound by ascent ----
// Looks for choices cheaper than the cutoff, of which `l` hears, and raises *bound to what no
// choice of p is below (this rests on branching). `dual` may be NULL, or lack messages. True: the
// cheapest choice heard of, or else the cutoff, is within the gap of *bound, and nothing is left to
// do.
bool branch_by_ascent(const Problem *p, const Dual *dual, Wide cutoff, double gap, Wide *bound,
                      uint64_t seed, int64_t work, const Deadline *w, Listener l);

// ---- search.c: cheap choices by local search ----
// From choice (is_start), or from starts of its own guided by `dual` (may be NULL): the cheapest
// choice that was found, and its cost. False: none within the limit.
bool search(const Problem *p, const Dual *dual, bool is_start, int *choice, Wide *cost,
            uint64_t seed, int64_t work, const Deadline *w, Listener l);

// ---- restrict.c: fewer alternatives ----
// About the cheapest choice of those that are kept, of which `l` hears; `start` is one that is
// known (may be NULL).
void solve_restricted(const Problem *p, const bool *keep, const int *start, const SolveOptions *o,
                      Listener l);

// ---- blend.c: choices to make another of ----
// Marks the alternatives of those that sweeps make at a dual's prices and around these.
void blend_mark(const Problem *p, const Dual *dual, const Deadline *w, bool *mark);

// ---- dive.c: a choice among what a bound says is cheap ----
// `l` hears of one, or of none. `dual` is of p; `cost` is about that of a choice of the original.
void dive(const Problem *p, const Dual *dual, Wide cost, const SolveOptions *o, const Deadline *w,
          Listener l);

// ---- lowest_peak.c: where nothing stays within the limit ----
typedef struct LowestPeak {
    int64_t bound;  // no choice that is allowed has a lower peak; INT64_MAX: none is allowed
    bool is_found;
    int64_t peak;  // of the choice that was found
    int at;
} LowestPeak;

// The lowest peak, whatever the costs. `choice` is written where one was found.
LowestPeak lowest_peak(const Problem *p, int *choice, uint64_t seed, int64_t work,
                       const Deadline *w);

#endif
