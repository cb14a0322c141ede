// Choices. The core is the assignment problem, which knows nothing of models: every node takes one
// of its alternatives, which has a cost and holds bytes over intervals of time; every edge has a
// cost for each pair of its ends' alternatives; the bytes held at any time stay within a limit; the
// sum of the costs is least.
#ifndef SHARDCC_SOLVER_H
#define SHARDCC_SOLVER_H

#include "base/base.h"

// Costs are added up in 128 bits.
__extension__ typedef __int128 Wide;

#define WIDE_MAX ((((Wide)1 << 126) - 1) * 2 + 1)  // the largest

// A cost of this much or more forbids what has it.
#define COST_FORBIDDEN INT64_C(1000000000000000000)

// Bytes held from `first` to before `last`; times are >= 0, bytes > 0.
typedef struct LiveBytes {
    int first, last;
    int64_t bytes;
} LiveBytes;

// The cost of alternative k of node a with l of node b is cost[k * alternatives of b + l]. Edges
// with equal matrices share one. a != b; two nodes have one edge at most.
typedef struct Edge {
    int a, b;
    const int64_t *cost;
} Edge;

// Alternative k of node i has the index first[i] + k in what is kept by alternative. Zero is the
// problem without nodes. Arrays are an arena's and aren't written to once the problem stands.
typedef struct Problem {
    const char *name;  // as the file has it; may be NULL
    int n_nodes, n_edges;
    int *first;       // [n_nodes + 1]
    int64_t *cost;    // [first[n_nodes]]; negative ones are allowed
    int *first_live;  // [first[n_nodes] + 1]: the uses of each alternative, by time, apart
    LiveBytes *live;  // [first_live[first[n_nodes]]]
    Edge *edge;       // [n_edges]
    int64_t limit;    // bytes
    uint64_t hash;    // of what was read; 0 for one that was made
} Problem;

static inline int n_alternatives(const Problem *p, int node)
{
    return p->first[node + 1] - p->first[node];
}

static inline int64_t edge_cost(const Problem *p, const Edge *e, int k, int l)
{
    return e->cost[k * n_alternatives(p, e->b) + l];
}

// Reads the JSON form of google/iopddl (see docs/solver.md), gzipped or not. What is wrong is one
// error with its place; false then.
bool problem_read(const char *path, Problem *p, Arena *a, Diag *d);

// Makes one edge of those between the same two nodes, and costs of those from a node to itself;
// the first one's place and direction stay. Problems that are made come through here. False, with
// an error, where a sum reaches COST_FORBIDDEN without being forbidden.
bool problem_join_edges(Problem *p, Arena *a, Diag *d);

// An edge whose cost is that of the cheapest path through a small graph of single steps, which is
// what conversions are: each alternative of its ends is a point.
typedef struct PathStep {
    int from, to;  // points
    int64_t cost;  // >= 0
} PathStep;
typedef struct Metric {
    int n_points, n_steps;
    const PathStep *step;
} Metric;

// The matrix of such an edge; of_a[k] is the point of alternative k of its node a.
const int64_t *metric_matrix(const Metric *m, const int *of_a, int n_a, const int *of_b, int n_b,
                             Arena *a);

// The problem with the alternatives alone that `keep` marks, at least one of each node, as they
// were ordered; (*original)[i] is what that of index i was of its node.
Problem problem_restrict(const Problem *p, const bool *keep, int **original, Arena *a);
// A choice of p, whose alternatives all are kept, as one of the problem that is left.
int *restricted_choice(const Problem *kept, const int *original, const int *choice, Arena *a);

// What a choice (an alternative for each node) costs and holds. A forbidden choice has no cost.
typedef struct ChoicePrice {
    bool is_forbidden;
    Wide cost;
    int64_t peak;  // bytes at the fullest time
    int at;        // the first such time
} ChoicePrice;
ChoicePrice problem_price(const Problem *p, const int *choice);

// Multipliers that prove a bound (Lagrange; the dual of the local polytope: Wainwright and Jordan
// 2008, section 4.1). With the unit u = 2^-shift of a cost, and everything in it an integer,
//   bound = sum over nodes  of min over k    of cost[k] / u + sum of price[t] * bytes held at t -
//   sum of its messages[k]
//         + sum over edges  of min over k, l of cost[k, l] / u + message to a[k] + message to b[l]
//         - limit * sum of price
// is below the cost of every choice within the limit, whatever the numbers are, if prices are >= 0.
typedef struct Dual {
    int shift;  // 0 to 40
    int n_times;
    int *time;         // where memory has a price, ascending
    int64_t *price;    // u a byte, > 0
    int64_t *message;  // edge by edge in order: one for each alternative of a, then of b
} Dual;

// Without its messages, in the arena.
Dual dual_prices(const Dual *d, Arena *a);

// An edge by its nodes, and how many messages it has.
typedef struct Ends {
    int a, b;
    int n_messages;
} Ends;

// The bound of a dual, in whole units of cost: rounded up, as every choice's cost is whole.
// WIDE_MAX where all alternatives of a node or all pairs of an edge are forbidden: then no choice
// has a cost.
Wide dual_bound(const Problem *p, const Dual *dual);

// Steps that make a problem smaller and that anyone can go again. Alternatives that an edge leaves
// without a finite pair are out at every moment.
typedef enum RuleKind {
    RULE_MERGE,      // each alternative of `other` has one finite partner in `node`, which joins it
    RULE_ELIMINATE,  // of `node`, which has two edges at most, the cheapest for its neighbours'
                     // choices
    RULE_SEPARATE,   // the edge of `node` and `other` is the sum of a cost of each
    RULE_FULL,       // out is what, with the least that all others hold, holds more than the limit
} RuleKind;

typedef struct Reduction {
    RuleKind kind;
    int node, other;
} Reduction;

// A bound of the problem without the alternatives that the rounds before have ruled out: a dual of
// what its reductions leave, whose prices are those of the times of the problem. It rules out each
// alternative, of a node that is left, which cost at least that of the answer's choice: the dual's
// bound, the slack of that alternative, and for each of its edges the least slack of a pair with it
// and of the alternative at the other end.
typedef struct Round {
    int n_steps;
    Reduction *step;  // in order
    int n_edges;      // that are left
    Ends *edge;
    Dual dual;  // messages edge by edge, only of the alternatives left
} Round;

typedef struct Certificate {
    int n_rounds;
    Round *round;
    Wide bound;  // the best of the rounds', or the cost of the choice where that is less
} Certificate;

typedef enum Outcome {
    OUTCOME_PROVED,      // the cost is within the gap of the bound
    OUTCOME_FOUND,       // a choice, not proved
    OUTCOME_INFEASIBLE,  // proved: no choice stays within the limit
    OUTCOME_NOTHING,     // stopped before a choice was found
} Outcome;

// Is there a choice that keeps to the limit?
static inline bool is_found(Outcome x) { return x == OUTCOME_PROVED || x == OUTCOME_FOUND; }

// What ended a search: nothing was left to do, its work was used up, the clock, Ctrl-C.
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
    FILE *progress;        // gets a line for each improvement; NULL: nobody does
    bool is_verbose;
    bool skips_certificate;  // without a certificate: such an answer can't be written
    bool is_single_pass;     // one turn and no more, and asks no engine
    bool is_warm_start;  // the prices are of a like problem: they are near, and a choice is wanted
                         // more than its bound
    bool stops_early;    // stops where proving would take more than a turn, and asks no engine
    bool is_peak_rough;  // little is tried for the least peak where nothing fits
    const int *start;    // a choice to begin with; NULL: none is known
    Dual prices;         // … and prices of bytes (messages aren't read); there may be none
    Wide enough;         // no choice is looked for that costs as much; 0: all are
} SolveOptions;

// What a search found. The arrays are the caller's arena's.
typedef struct Answer {
    Outcome outcome;
    Stop stop;
    int *choice;       // [n_nodes]; NULL when none was found
    Wide cost;         // of choice
    Wide bound;        // no choice is cheaper
    bool is_branched;  // bound rests on an engine's branching, which is the engine's word
    Certificate proof;
    Dual prices;          // of bytes, that the bound has; without messages
    int64_t peak;         // bytes of choice
    int64_t least_bound;  // infeasible: no choice has a lower peak
    int64_t least;        // the peak of `choice`, the lowest that was found (infeasible)
    int at;               // the time of the peak
    int n_left;           // nodes after presolve
    double seconds[PHASES];
} Answer;

// Finds the cheapest choice (with `enough`, OUTCOME_NOTHING may mean that none is cheaper: then the
// bound says so). An engine that isn't there is a warning. With is_verbose, what it does
// goes to stderr.
void solve(const Problem *p, const SolveOptions *o, Answer *answer, Arena *a, Diag *d);

double answer_gap(Wide cost, Wide bound);

// The digits of x, in `text`.
enum { WIDE_DIGITS = 48 };
const char *wide_text(Wide x, char text[WIDE_DIGITS]);

// Checks an answer that isn't OUTCOME_NOTHING as answer_check does, and writes it to `path`, if
// that isn't NULL (docs/solver.md has the form); `version` is the program's.
bool answer_write(const char *path, const Problem *p, const SolveOptions *o, const Answer *answer,
                  const char *version, Diag *d);

// Recomputes all that the file of an answer says of p, in code of its own; false, with an error,
// where it differs. `said` is one line about it.
bool answer_check(const char *path, const Problem *p, Text *said, Diag *d);

#endif
