// Declarations that the files of the solver share, one section for each file. Every method that
// bounds a problem gives its bound as a Dual, in exact integers. Fixing and branching read nothing
// else.
#ifndef SHARDCC_SOLVER_INTERNAL_H
#define SHARDCC_SOLVER_INTERNAL_H

#include "solver/assign/solver.h"

static inline bool is_forbidden(int64_t cost) { return cost >= COST_FORBIDDEN; }

// How many numbers an edge's matrix has.
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

// The problem's size, which limits of work are multiples of.
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
// Searches count their work, so that a run can be repeated exactly. The deadline only ends them.
typedef struct Deadline {
    double start;
    double limit;  // seconds from start; 0: none
} Deadline;

Deadline deadline_start(double limit);
double deadline_seconds(const Deadline *w);  // since start
Stop deadline_check(const Deadline *w);      // STOP_DONE: neither has come

// A callback that gets each choice that is the cheapest so far.
typedef struct Listener {
    void (*found)(void *to, const int *choice, Wide cost);  // NULL: none
    void *to;
    const Wide *enough;  // the search may end at this cost; may be NULL
} Listener;

static inline void listener_tell(const Listener *l, const int *choice, Wide cost)
{
    if (l->found)
        l->found(l->to, choice, cost);
}

// ---- scan.c: JSON of a known form ----
// One pass over a file of any size, gzipped or not. The first mistake is an error with its line,
// and every later read returns false.
struct z_stream_s;

typedef struct Scan {
    const uint8_t *at, *end;  // unread part of the current chunk
    const uint8_t *chunk;     // start of the current chunk
    int64_t before;           // bytes of text before the current chunk
    uint64_t hash;            // of the text up to the end of the current chunk
    File raw;
    size_t taken;  // bytes of `raw` that were read
    struct z_stream_s *zip;
    uint8_t *buffer;
    Diag *d;
    bool is_wrong;
    bool stops;  // ends the reading when signal_is_pending()
} Scan;

// A member of a JSON object. `read` reads its value into the address `to` + `offset`.
typedef struct Member {
    const char *name;
    bool (*read)(Scan *s, void *to);
    size_t offset;
    bool is_optional;
} Member;

// Lists of numbers in one array: list i begins at x[first[i]].
typedef struct Lists {
    const char *what;  // for messages, which add the list's number: "costs of node"
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

void scan_begin(Scan *s, File raw, Diag *d);  // the caller owns the bytes
void scan_end(Scan *s);
bool scan_wrong(Scan *s, const char *fmt, ...) PRINTF(2, 3);  // returns false
// Reads an object. Bit i of `seen` (may be NULL) tells whether member i was there.
bool scan_object(Scan *s, void *to, const Member *members, int n, uint64_t *seen);
bool scan_list(Scan *s, void *to, bool (*item)(Scan *s, void *to));
bool scan_numbers(Scan *s, Lists *l);  // reads a list and appends it to l
bool scan_whole(Scan *s, int64_t *x);  // from -(2^63 - 1) to 2^63 - 1
bool scan_wide(Scan *s, Wide *x);      // from -(2^126 - 1) to 2^126 - 1
// The text as in the file, a string without its quotes, up to `size` - 1 bytes.
bool scan_string(Scan *s, char *text, size_t size);
bool scan_number(Scan *s, char *text, size_t size);
bool scan_nothing(Scan *s);  // checks that only blanks are left

// ---- instance.c ----
// problem_read from the bytes of a file.
bool problem_parse(Arena *a, File file, Problem *p, Diag *d);

// ---- answer.c ----
// Writes the text of answer_write's file to t, which must be empty.
void answer_print(Text *t, const Problem *p, const SolveOptions *o, const Answer *answer,
                  const char *version);

// ---- check_read.c: what the file of an answer says ----
enum { STORED_TEXT = 256, PROOF_ROUNDS = 12 };  // bytes of a text, most rounds of a certificate

typedef struct StoredRound {
    Wide shift;
    // steps has 3 numbers for each step, edges 2 for each edge, and messages one list for each
    // edge.
    Lists steps, times, prices, edges, messages;
} StoredRound;

typedef struct Stored {
    char version[STORED_TEXT], instance[STORED_TEXT], hash[STORED_TEXT], outcome[STORED_TEXT];
    char stop[STORED_TEXT], bound_by[STORED_TEXT], gap[STORED_TEXT], gap_wanted[STORED_TEXT];
    Wide seed, cost, bound, certified, peak, least_bound, least, at;
    Lists choice;  // one list, or none
    StoredRound *round;
    int n_rounds, cap_rounds;
    char checksum[STORED_TEXT];
    bool is_infeasible;
} Stored;

// Reads the file of an answer and checks only its form. False, with an error, where the form is
// wrong, or where a member is missing or doesn't belong to the outcome.
bool stored_read(Arena *a, File file, Stored *s, Diag *d);

// ---- check_dual.c ----
// The bound that the rounds prove, given that a choice of this cost exists. False, with an error,
// where they don't fit the problem.
bool stored_bound(const Problem *p, const Stored *s, Wide cost, Wide *bound, Diag *d);

// ---- check.c ----
// answer_check from the bytes of a file.
bool stored_check(File file, const Problem *p, Text *said, Diag *d);

// ---- presolve.c: a smaller problem with the same optimum ----
typedef struct Undo Undo;
typedef struct Presolved {
    Problem problem;  // its last node may hold the bytes that no choice changes
    Wide offset;      // original cost = cost of the choice of `problem` + offset
    int n_left;       // nodes of the original that are in `problem`
    Undo *undo;
} Presolved;

// Makes a smaller problem. Every choice of r->problem represents a choice of p, and p's optimum is
// among these if it is cheaper than `cutoff`. `dual` (may be NULL) serves for reduced-cost fixing.
// False: no choice within the limit is cheaper than the cutoff.
bool presolve(Arena *a, const Problem *p, const Dual *dual, Wide cutoff, Presolved *r);
// The same, with only the reductions that certificates know. `replay` records them.
typedef struct Replay {
    int n, cap;
    Reduction *step;
} Replay;
bool presolve_plain(Arena *a, const Problem *p, Replay *replay, Presolved *r);
// The node of p that is node i of r->problem, and the original numbers of its alternatives. i must
// not be the added last node, which holds the bytes that no choice changes.
int presolve_origin(const Presolved *r, int i, const int **alternative);
// Writes the choice of p that a choice of r->problem represents.
void presolve_undo(const Presolved *r, const int *choice, int *original);

// ---- presolve_fix.c ----
// Marks the alternatives, and the pairs of all edges in order, that no choice cheaper than the
// cutoff has, as Round defines. False: the dual's bound alone isn't below the cutoff.
bool slack_mark(const Problem *p, const Dual *dual, Wide cutoff, bool *mark, bool *pair);

// ---- float_problem.c: a problem in floating point, for bounds and searches ----
typedef struct HalfEdge {
    int edge, other;
    bool is_a;  // this node is the edge's a
} HalfEdge;

// A problem in doubles, with `forbidden` as the cost of all that is forbidden. It has the edges of
// each node, and slots: the times that can be the fullest.
typedef struct FloatProblem {
    const Problem *p;
    int max_alternatives;  // the most alternatives of a node
    double forbidden;
    double *cost;          // by alternative
    double **matrix;       // by edge; NULL if there is `rough`
    float **rough;         // the same in floats: half as many bytes to read
    int *first_half_edge;  // [n_nodes + 1]
    HalfEdge *half_edge;   // in the order of the edges
    int n_slots;
    int *slot_time;
    int *first_live;  // by alternative, as in Problem
    LiveBytes *live;  // with slots for times
} FloatProblem;

FloatProblem *float_problem_new(Arena *a, const Problem *p);
// The same with matrices in floats, if they are too large for a cache. The rounding is harmless in
// a bound: any messages give a valid lower bound, only a weaker one. Not for code that needs exact
// costs.
FloatProblem *float_problem_new_rough(Arena *a, const Problem *p);
// The slot of a time, or else the last slot before it; may be -1.
int float_problem_slot(const FloatProblem *f, int time);
// Writes the cost of each alternative's bytes, at a price per byte for each slot. `sum` has n_slots
// + 1 elements and gets the prefix sums of the prices.
void float_problem_byte_costs(const FloatProblem *f, const double *price, double *sum,
                              double *byte_cost);
// Writes the bytes that a choice holds, by slot.
void float_problem_live_bytes(const FloatProblem *f, const int *choice, double *live_bytes);
// Adds to to[k], for each alternative k of the node, `sign` times the edge's cost with alternative
// `other` of the node at its other end.
void float_problem_add_row(const FloatProblem *f, int node, HalfEdge l, int other, double sign,
                           double *to);
// to[l] = min over the node's k of from[k] + the edge's cost of k with alternative l of the other
// end
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
// x if x >= 0, else -x - 1. The bitwise or of several magnitudes tells how many bits the largest
// has.
static inline int64_t magnitude(int64_t x) { return x ^ (x >> 63); }
// out[l] = min(out[l], v + row[l] · 2^shift) where row[l] isn't forbidden. bits[l] collects
// magnitude(row[l]) of these. Sums that don't fit wrap around.
void shifted_row(const int64_t *row, int n, int shift, int64_t v, int64_t *out, int64_t *bits);
// The largest absolute value, except forbidden costs.
int64_t row_most(const int64_t *row, int64_t n);
void row_add(const double *row, int n, double *to);
void row_sum(const double *a, const double *b, int n, double *to);   // a + b
void row_less(const double *a, const double *b, int n, double *to);  // a - b
void row_scale(double by, int n, double *row);
double row_least(const double *row, int n);
// The least and the largest, except forbidden costs. low > high: there are none.
void row_range(const int64_t *row, int64_t n, int64_t *low, int64_t *high);
// Convert costs to doubles or floats; forbidden costs become `forbidden`.
void row_image(const int64_t *row, int n, double forbidden, double *to);
void row_rough(const int64_t *row, int n, double forbidden, float *to);
// Clears mark[i], which is -1 or 0, where x[i] > most.
void most_mark(const int64_t *x, int n, int64_t most, int64_t *mark);

// ---- ascent.c: bounds of problems that are too large for an engine ----
// Raises the bound of `dual` (empty, or of p) by at most `work` counted steps, and returns it. The
// dual's new arrays belong to the arena. is_rough: uses matrices in floats. It comes before
// engines: on a reduced problem of thousands of nodes a fraction of a second gives as good a bound
// as an engine's relaxation.
Wide ascent(Arena *a, const Problem *p, bool is_rough, Dual *dual, int64_t work, const Deadline *w);

// ---- core.c: bounds and choices of problems that are too large for many sweeps ----
typedef struct CoreOptions {
    Wide cost;              // of a known choice; WIDE_MAX: none is known
    double gap;             // gap between choice and bound at which to stop
    int members;            // alternatives of each node that a round adds to the core
    const SolveOptions *o;  // of the solver that chooses in the core
} CoreOptions;

// As ascent. `l` gets choices, each cheaper than the one before.
Wide core_ascent(Arena *a, const Problem *p, Dual *dual, CoreOptions options, const Deadline *w,
                 Listener l);

// ---- certify.c: certificates ----
// Makes a certificate for a choice of this cost. The first round begins with `prices`, which are of
// p's times; messages aren't used.
void certify(Arena *a, const Problem *p, const SolveOptions *o, Wide cost, const Dual *prices,
             bool has_engine, const Deadline *w, Certificate *to);

// ---- branch.c: branch and bound by ascent ----
// Looks for choices cheaper than the cutoff and gives them to `l`. Raises *bound to a cost that no
// choice of p is below; this rests on branching. `dual` may be NULL, or lack messages. True:
// nothing is left to do, as the cheapest choice found, or else the cutoff, is within the gap of
// *bound.
bool branch_by_ascent(const Problem *p, const Dual *dual, Wide cutoff, double gap, Wide *bound,
                      uint64_t seed, int64_t work, const Deadline *w, Listener l);

// ---- search.c: cheap choices by local search ----
// Searches from `choice` (is_start), or from starts of its own that `dual` (may be NULL) guides.
// Writes the cheapest choice that it found and its cost. False: it found none within the limit.
bool search(const Problem *p, const Dual *dual, bool is_start, int *choice, Wide *cost,
            uint64_t seed, int64_t work, const Deadline *w, Listener l);

// ---- restrict.c: fewer alternatives ----
// Gives `l` the cheapest choice that it finds among the kept alternatives. `start` is a known
// choice of them (may be NULL).
void solve_restricted(const Problem *p, const bool *keep, const int *start, const SolveOptions *o,
                      Listener l);

// ---- blend.c: alternatives to blend into a new choice ----
// Marks the alternatives of the choices that sweeps make at the dual's prices and at prices around
// them.
void blend_mark(const Problem *p, const Dual *dual, const Deadline *w, bool *mark);

// ---- dive.c: a choice among the alternatives that a bound says are cheap ----
// Gives `l` at most one choice. `dual` is of p. `cost` is about the cost of a choice of the
// original problem.
void dive(const Problem *p, const Dual *dual, Wide cost, const SolveOptions *o, const Deadline *w,
          Listener l);

// ---- lowest_peak.c: the lowest peak, for problems that no choice fits ----
typedef struct LowestPeak {
    int64_t bound;  // no allowed choice has a lower peak; INT64_MAX: none is allowed
    bool is_found;
    int64_t peak;  // of the choice that was found
    int at;
} LowestPeak;

// Finds the lowest peak, whatever the costs. Writes `choice` if it finds one.
LowestPeak lowest_peak(const Problem *p, int *choice, uint64_t seed, int64_t work,
                       const Deadline *w);

#endif
