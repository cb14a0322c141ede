// The problem while presolve makes it smaller: a constraint net whose vertices lose alternatives
// and go away. Its arcs are the problem's edges, and new ones that reductions make.
#ifndef SHARDCC_SOLVER_PRESOLVE_H
#define SHARDCC_SOLVER_PRESOLVE_H

#include "solver/assign/internal.h"

// Bytes held at the times t with first <= t < last, which are indices of the kept times. `bytes` is
// by original alternative in Vertex.row, by index in Vertex.joint.
typedef struct Row {
    int first, last;
    int64_t *bytes;
} Row;

typedef enum State { LIVE, MERGED, OUT } State;

// An alternative has an index k among those that remain, and an original number id[k], which never
// changes.
typedef struct Vertex {
    State state;
    int k;             // alternatives that remain
    int n_ids;         // alternatives of the original node
    int *id;           // [k]
    int64_t *cost;     // [k]
    bool *is_dead;     // [k]: vertex_compact will remove it
    int n_edges, cap;  // of `edge`, in which some arcs may be gone
    int *edge;
    bool is_dirty;  // changed since net_dominate last looked at it
    // MERGED: map[id] is the alternative here that goes with the parent's alternative of that id.
    int parent, *map;
    int n_rows;
    Row *row;  // the bytes of the original node
    // The bytes of this vertex and all that are merged into it, where alternatives differ, by index
    // k. Rows are disjoint, ascending, and have their least taken off.
    int n_joint;
    Row *joint;
} Vertex;

// cost[i][j], row by row, is the cost of alternative i of vertex end[0] with alternative j of
// vertex end[1].
typedef struct Arc {
    int end[2];
    int64_t *cost;
    bool is_gone, is_own, is_queued;  // is_own: no other arc or edge shares `cost`
} Arc;

// How presolve_undo chooses for an eliminated vertex: the cheapest alternative with its neighbours'
// choices.
typedef struct Elimination {
    int node, n;  // n: neighbours, up to 2
    int k, *id;   // the vertex's alternatives when it was eliminated
    int64_t *cost;
    struct Side {
        int node, k, *id;
        int64_t *cost;  // [k of the neighbour][k of the vertex], or transposed
        bool is_transposed;
    } side[2];
} Elimination;

typedef struct ConstraintNet {
    Arena *arena, *round;  // round: for the results of bytes_update
    int n_nodes, n_arcs, cap_arcs;
    Vertex *node;
    Arc *arc;
    int *slot, n_slots;              // hash table of (end, end): index of arc + 1
    int *queue, n_queue, cap_queue;  // arcs to look at
    Elimination *elimination;
    int n_eliminations, cap_eliminations;
    int *merged, n_merged;  // vertices, in the order of merging
    Wide offset;
    int64_t limit;
    int n_times, *time;  // the kept times, as times of the problem
    int64_t *base;       // [n_times]: bytes that no choice changes
    bool is_impossible;
    bool may_overflow;  // sums of costs may overflow: use only rules that form none
    // Records the reductions, and allows only those of certificates. NULL: allows all.
    Replay *replay;
} ConstraintNet;

struct Undo {
    int n_nodes, n_eliminations, n_kept;
    const Elimination *elimination;
    int *kept;  // original nodes that remain, in order
    int **id;   // [n_kept]: original numbers of their alternatives
};

// The cost of alternative k of end s of an arc with alternative l of its other end.
static inline int64_t *arc_at(const ConstraintNet *g, const Arc *e, int s, int k, int l)
{
    return s ? &e->cost[(size_t)l * (size_t)g->node[e->end[1]].k + (size_t)k]
             : &e->cost[(size_t)k * (size_t)g->node[e->end[1]].k + (size_t)l];
}

static inline int64_t cost_add(int64_t a, int64_t b)
{
    return is_forbidden(a) || is_forbidden(b) ? COST_FORBIDDEN : a + b;
}

// The first index in ascending x whose value is at least `at`; n if there is none.
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
void net_build(Arena *a, ConstraintNet *g, const Problem *p);
void net_queue(ConstraintNet *g, int arc);
void arc_own(ConstraintNet *g, Arc *e);  // gives the arc a matrix of its own, to write to
void arc_remove(ConstraintNet *g, int arc);
// Removes dead alternatives from a vertex and its arcs.
void vertex_compact(ConstraintNet *g, int node);
// Adds the costs of a matrix, which the arena owns, to the arc of two vertices, or makes an arc of
// it.
void arc_put(ConstraintNet *g, int a, int b, int64_t *cost);
// Eliminates a vertex. Its choice will follow the choices of its n neighbours, to which the given
// arcs lead.
void vertex_eliminate(ConstraintNet *g, int node, int n, const int *arc);
// Merges `gone` into `into`. f[k] is the only alternative of `gone` that has a finite cost with
// alternative k of `into` on the arc.
void vertex_merge(ConstraintNet *g, int into, int gone, int arc, const int *f);

// ---- presolve_arc.c: arc consistency, separable arcs, merging ----
void net_propagate(ConstraintNet *g);

// ---- presolve_bytes.c ----
void bytes_read(ConstraintNet *g, const Problem *p);  // makes rows, keeps the times that can bind
void bytes_update(ConstraintNet *g);  // renews the joint rows, `base`, and the times that can bind
// All alternatives of the vertex hold the same bytes at all times: its bytes don't affect the
// choice.
static inline bool bytes_are_equal(const Vertex *v) { return v->n_joint == 0; }

// Records a reduction in g->replay, if there is one.
static inline void net_note(ConstraintNet *g, RuleKind kind, int node, int other)
{
    if (g->replay)
        *arena_push(g->arena, g->replay->step, g->replay->n, g->replay->cap) =
            (Reduction){kind, node, other};
}

// ---- presolve_dominate.c ----
bool net_dominate(ConstraintNet *g);  // also eliminates; true if anything changed

// ---- presolve_fix.c ----
void net_fix(ConstraintNet *g, const Problem *p, const Dual *dual, Wide cutoff);

#endif
