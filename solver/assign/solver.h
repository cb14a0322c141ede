// The assignment problem, its solver, and certificates of its answers. The problem knows nothing of
// models. Every node takes one of its alternatives. An alternative has a cost and holds bytes over
// intervals of time. Every edge has a cost for each pair of its ends' alternatives. The bytes held
// at any time must stay within a limit. The solver minimizes the sum of the costs.
#ifndef SHARDCC_SOLVER_H
#define SHARDCC_SOLVER_H

#include "base/budget.h"

// A sum of costs, in 128 bits.
__extension__ typedef __int128 Wide;

#define WIDE_MAX ((((Wide)1 << 126) - 1) * 2 + 1)  // 2^127 - 1

// An alternative or a pair that costs this much or more is forbidden.
#define COST_FORBIDDEN INT64_C(1000000000000000000)

// Bytes that an alternative holds at the times t with first <= t < last. Times are >= 0, bytes > 0.
typedef struct LiveBytes {
    int first, last;
    int64_t bytes;
} LiveBytes;

// Alternative k of node a with alternative l of node b costs cost[k * alternatives of b + l]. Edges
// with equal matrices may share one. a != b, and two nodes have at most one edge.
typedef struct Edge {
    int a, b;
    const int64_t *cost;
} Edge;

// Alternative k of node i has index first[i] + k in every array by alternative. A zero Problem has
// no nodes. The arrays belong to an arena and are constant once the problem is built.
typedef struct Problem {
    const char *name;  // from the file; may be NULL
    int n_nodes, n_edges;
    int *first;       // [n_nodes + 1]
    int64_t *cost;    // [first[n_nodes]]; costs may be negative
    int *first_live;  // [first[n_nodes] + 1]: where each alternative's part of `live` begins
    LiveBytes *live;  // [first_live[first[n_nodes]]]
    Edge *edge;       // [n_edges]
    int64_t limit;    // bytes
    uint64_t hash;    // of the text that was read; 0 for a problem that code built
} Problem;

static inline int n_alternatives(const Problem *p, int node)
{
    return p->first[node + 1] - p->first[node];
}

static inline int64_t edge_cost(const Problem *p, const Edge *e, int k, int l)
{
    return e->cost[k * n_alternatives(p, e->b) + l];
}

// Reads a problem in the JSON form of google/iopddl (see docs/solver.md), gzipped or not. False
// after one error, which names where it is.
bool problem_read(Arena *a, const char *path, Problem *p, Diag *d);

// Joins the edges between the same two nodes into one, which keeps the first one's index and
// direction. Adds an edge from a node to itself to the node's costs. Every problem that code builds
// must pass through here. False, with an error, where a sum of finite costs reaches COST_FORBIDDEN.
bool problem_join_edges(Arena *a, Problem *p, Diag *d);

// A small graph of conversion steps. Metric gives an edge that costs as much as the cheapest path
// through the graph; each alternative of the edge's ends represents one of its points.
typedef struct PathStep {
    int from, to;  // points
    int64_t cost;  // >= 0
} PathStep;
typedef struct Metric {
    int n_points, n_steps;
    const PathStep *step;
} Metric;

// The matrix of an edge whose costs are cheapest paths, in the arena. of_a[k] is the point of
// alternative k of node a, of_b[l] the point of alternative l of b. COST_FORBIDDEN: there is no
// path.
const int64_t *metric_matrix(Arena *a, const Metric *m, const int *of_a, int n_a, const int *of_b,
                             int n_b);

// The problem with only the alternatives that `keep` marks, at least one of each node, in their
// order. (*original)[i] is the number, within its node, that the alternative of index i had in p.
Problem problem_restrict(Arena *a, const Problem *p, const bool *keep, int **original);
// Translates a choice of p, all of whose alternatives are kept, into one of the restricted problem.
int *restricted_choice(Arena *a, const Problem *kept, const int *original, const int *choice);

// The cost and the peak of a choice, which is one alternative for each node. A forbidden choice has
// cost 0.
typedef struct ChoicePrice {
    bool is_forbidden;
    Wide cost;
    int64_t peak;  // bytes at the fullest time
    int at;        // the first such time
} ChoicePrice;
ChoicePrice problem_price(const Problem *p, const int *choice);

// Multipliers that prove a lower bound (Lagrangian relaxation; the dual of the local polytope:
// Wainwright and Jordan 2008, section 4.1). All numbers are integers in the unit u = 2^-shift of a
// cost. If the prices are >= 0, then
//   bound = sum over nodes of min over k of
//               cost[k] / u + sum over t of price[t] * bytes held at t - sum of messages to k
//         + sum over edges of min over k, l of
//               cost[k, l] / u + message to a[k] + message to b[l]
//         - limit * sum of price
// is at most the cost of every choice within the limit, whatever the other numbers are.
typedef struct Dual {
    int shift;  // 0 to 40
    int n_times;
    int *time;         // times at which bytes have a price, ascending
    int64_t *price;    // u per byte, > 0
    int64_t *message;  // edge by edge in order: one for each alternative of a, then of b
} Dual;

// A copy of the dual's times and prices, without its messages, in the arena.
Dual dual_prices(Arena *a, const Dual *d);

// The two nodes of an edge, and how many messages it has.
typedef struct Ends {
    int a, b;
    int n_messages;
} Ends;

// The bound of a dual in whole units of cost, rounded up since every choice's cost is whole.
// WIDE_MAX where all alternatives of a node or all pairs of an edge are forbidden: then no choice
// has a cost.
Wide dual_bound(const Problem *p, const Dual *dual);

// The reductions that a certificate may record and a checker repeats. After each one, an
// alternative without a finite pair on one of its edges is dropped as well.
typedef enum RuleKind {
    // Each alternative of `other` has exactly one finite partner in `node`: `node` joins `other`.
    RULE_MERGE,
    // `node` has at most two edges. It goes, and takes the cheapest alternative for its neighbours'
    // choices.
    RULE_ELIMINATE,
    // The cost of the edge of `node` and `other` is a sum of one cost for each end: the edge goes.
    RULE_SEPARATE,
    // Drops each alternative that exceeds the limit even if all other nodes hold their least.
    RULE_FULL,
} RuleKind;

typedef struct Reduction {
    RuleKind kind;
    int node, other;
} Reduction;

// One round of a certificate: a dual of the problem that the exclusions of earlier rounds and the
// reductions of this one leave. Its times are times of the original problem. The round excludes an
// alternative of a remaining node if these sum to at least the cost of the answer's choice: the
// dual's bound, the slack of the alternative and, for each of its edges, the least slack of a pair
// with it and of the alternative at the other end.
typedef struct Round {
    int n_steps;
    Reduction *step;  // in order
    int n_edges;      // edges that remain
    Ends *edge;
    Dual dual;  // messages edge by edge, only of the alternatives that remain
} Round;

typedef struct Certificate {
    int n_rounds;
    Round *round;
    Wide bound;  // the best bound of the rounds, at most the cost of the choice
} Certificate;

typedef enum Outcome {
    OUTCOME_PROVED,      // the cost is within the gap of the bound
    OUTCOME_FOUND,       // a choice, not proved to be within the gap
    OUTCOME_INFEASIBLE,  // proved: no choice stays within the limit
    OUTCOME_NOTHING,     // stopped before a choice was found
} Outcome;

// Is there a choice that keeps to the limit?
static inline bool is_found(Outcome x) { return x == OUTCOME_PROVED || x == OUTCOME_FOUND; }

// Why a search ended: nothing was left to do, its work was used up, the deadline passed, Ctrl-C.
typedef enum Stop { STOP_DONE, STOP_WORK, STOP_DEADLINE, STOP_SIGNAL } Stop;

typedef enum SolvePhase {
    PHASE_PRESOLVE,
    PHASE_RELAX,
    PHASE_ASCENT,
    PHASE_SEARCH,
    PHASE_BRANCH,
    PHASE_CERTIFY,
    PHASES,
} SolvePhase;

typedef struct SolveOptions {
    double time_limit;  // seconds; 0: none
    double gap;         // (cost - bound) / max(1, |cost|) that counts as proved
    int threads;        // 1 or 2
    uint64_t seed;
    const char *engine;    // "cbc" or "glpk"
    const char *programs;  // the folder of the engines' programs
    FILE *progress;        // a line for each improvement goes here; NULL: nowhere
    bool is_verbose;
    // Makes no certificate, asks no engine, whose work can't be counted, and ends after less work.
    // answer_write refuses such an answer.
    bool skips_certificate;
    bool is_single_pass;  // makes one round only
    // `prices` are good: a similar problem's. A cheap choice matters more than its bound.
    bool is_warm_start;
    bool stops_early;    // stops soon after the first choice
    bool is_peak_rough;  // does little work for the lowest peak where nothing fits
    const int *start;    // a choice to begin with; NULL: none is known
    Dual prices;         // prices of bytes to begin with; messages aren't read; may be empty
    Wide enough;         // looks only for choices cheaper than this; 0: for all
    Budget *budget;      // counts the work; NULL: it isn't counted
} SolveOptions;

// The result of a search. The arrays belong to the caller's arena.
typedef struct Answer {
    Outcome outcome;
    Stop stop;
    int *choice;       // [n_nodes]; NULL when none was found
    Wide cost;         // of choice
    Wide bound;        // no choice is cheaper
    bool is_branched;  // the bound rests on branching, which no certificate proves
    Certificate proof;
    Dual prices;          // prices of bytes of the bound; without messages
    int64_t peak;         // bytes of choice
    int64_t least_bound;  // infeasible: no choice has a lower peak
    int64_t least;        // infeasible: the peak of `choice`, the lowest that was found
    int at;               // the time of the peak
    int n_left;           // nodes after presolve
    double seconds[PHASES];
} Answer;

// Finds the cheapest choice. With `enough`, OUTCOME_NOTHING may mean that no choice is cheaper than
// that: then the bound says so. A missing engine is a warning. With is_verbose, the solver logs its
// steps to stderr.
void solve(Arena *a, const Problem *p, const SolveOptions *o, Answer *answer, Diag *d);

double answer_gap(Wide cost, Wide bound);

// Writes x in decimal to `text`, and returns it.
enum { WIDE_DIGITS = 48 };
const char *wide_text(Wide x, char text[WIDE_DIGITS]);

// Checks an answer as answer_check does, and writes it to `path` unless that is NULL
// (docs/solver.md has the form). The outcome must not be OUTCOME_NOTHING. `version` is the
// program's. False after an error.
bool answer_write(const char *path, const Problem *p, const SolveOptions *o, const Answer *answer,
                  const char *version, Diag *d);

// Recomputes, in code of its own, everything that the file of an answer says of p. False, with an
// error, where it differs. `said` gets one line about the answer.
bool answer_check(const char *path, const Problem *p, Text *said, Diag *d);

#endif
