// The problem while presolve makes it smaller: a graph whose nodes lose alternatives and go away.
#ifndef SHARDCC_SOLVER_PRESOLVE_H
#define SHARDCC_SOLVER_PRESOLVE_H

#include "solver/internal.h"

// Bytes held from `first` to before `last`, which count the times kept; `bytes` is by original
// alternative of the node whose row it is.
typedef struct Row {
    int first, last;
    int64_t *bytes;
} Row;

typedef enum State { LIVE, MERGED, OUT } State;

// An alternative is known by its place k among those left, and for good by its original, id[k].
typedef struct Vertex {
    State state;
    int k;             // alternatives left
    int n_ids;         // alternatives that there were
    int *id;           // [k]
    int64_t *cost;     // [k]
    bool *is_dead;     // [k]: to be taken out
    int n_edges, cap;  // of `edge`, which may hold some that are gone
    int *edge;
    bool is_dirty;     // dominance hasn't looked since it changed
    int parent, *map;  // MERGED: which alternative here each of parent's stands for, by ids
    int n_rows;
    Row *row;     // its own bytes
    int n_joint;  // of it with all that is merged into it, where they differ, by place k:
    Row *joint;   // apart, ascending, the least taken off
} Vertex;

// cost[i][j] is that of place i of node end[0] with place j of node end[1], row by row.
typedef struct Arc {
    int end[2];
    int64_t *cost;
    bool is_gone, is_own, is_queued;  // is_own: `cost` is no one else's
} Arc;

// How a node that went away is chosen again: the cheapest with its neighbours' choices.
typedef struct Elimination {
    int node, n;  // of neighbours, up to 2
    int k, *id;   // node's alternatives when it went
    int64_t *cost;
    struct Side {
        int node, k, *id;
        int64_t *cost;  // [k of the neighbour][k of the node], or turned
        bool is_transposed;
    } side[2];
} Elimination;

typedef struct ConstraintNet {
    Arena *arena, *round;  // round: what bytes_update made
    int n_nodes, n_arcs, cap_arcs;
    Vertex *node;
    Arc *arc;
    int *slot, n_slots;              // hash of (end, end) to tie + 1
    int *queue, n_queue, cap_queue;  // ties to look at
    Elimination *elimination;
    int n_eliminations, cap_eliminations;
    int *merged, n_merged;  // nodes, as they were merged
    Wide offset;
    int64_t limit;
    int n_times, *time;  // kept times, in the problem's
    int64_t *base;       // [n_times]: held whatever is chosen
    bool is_impossible;
    bool may_overflow;  // sums of costs may overflow: only rules that form none
    Replay *replay;     // only the rules of a certificate, written down here; NULL: all rules
} ConstraintNet;

struct Undo {
    int n_nodes, n_eliminations, n_kept;
    const Elimination *elimination;
    int *kept;  // nodes of the original that are left, in order
    int **id;   // [n_kept]: their alternatives' originals
};

// The cost of place k here with place l over there, seen from side s of a tie.
static inline int64_t *arc_at(const ConstraintNet *g, const Arc *e, int s, int k, int l)
{
    return s ? &e->cost[(size_t)l * (size_t)g->node[e->end[1]].k + (size_t)k]
             : &e->cost[(size_t)k * (size_t)g->node[e->end[1]].k + (size_t)l];
}

static inline int64_t cost_add(int64_t a, int64_t b)
{
    return is_forbidden(a) || is_forbidden(b) ? COST_FORBIDDEN : a + b;
}

// First place in ascending x whose value is at least `at`.
static inline int lower(const int *x, int n, int at)
{
    int lo = 0, hi = n;

    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (x[mid] < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// ---- presolve_graph.c ----
void net_build(ConstraintNet *g, const Problem *p, Arena *a);
void net_queue(ConstraintNet *g, int arc);
void arc_own(ConstraintNet *g, Arc *e);  // before it is written to
void arc_remove(ConstraintNet *g, int arc);
// Takes dead alternatives out of a node and its ties.
void vertex_compact(ConstraintNet *g, int node);
// Adds a matrix, the arena's, between two nodes: to the tie that is there, or as one.
void arc_put(ConstraintNet *g, int a, int b, int64_t *cost);
// The node goes: its choice will follow those of its neighbours (n of them, by the ties given).
void vertex_eliminate(ConstraintNet *g, int node, int n, const int *arc);
// Deletes `gone`, whose place f[k] is the only one with place k of `into`, across the tie.
void vertex_merge(ConstraintNet *g, int into, int gone, int arc, const int *f);

// ---- presolve_arc.c: arc consistency, separable ties, merging ----
void net_propagate(ConstraintNet *g);

// ---- presolve_bytes.c ----
void bytes_read(ConstraintNet *g, const Problem *p);  // rows and the times worth keeping
void bytes_update(ConstraintNet *g);                  // held, base, times that can still bind
// No place of the node holds more anywhere than another: its bytes can't matter.
static inline bool bytes_are_equal(const Vertex *v) { return v->n_joint == 0; }

// Writes down what a rule did, if anyone wants to know.
static inline void net_note(ConstraintNet *g, RuleKind kind, int node, int other)
{
    if (g->replay)
        *arena_push(g->arena, g->replay->step, g->replay->n, g->replay->cap) =
            (Reduction){kind, node, other};
}

// ---- presolve_dominate.c ----
bool net_dominate(ConstraintNet *g);  // also eliminates; did anything change?

// ---- presolve_fix.c ----
void net_fix(ConstraintNet *g, const Problem *p, const Dual *dual, Wide cutoff);

#endif
