// Moves of many nodes together: solves exactly a tree that the graph induces on some nodes, while
// the others stay (Hamze and de Freitas, "From fields to trees", UAI 2004). Bytes are priced.
#include <string.h>

#include "solver/assign/search.h"

typedef struct Tree {
    int n;
    int *node;               // parents before children
    int *parent;             // by position in the tree; -1: the root
    HalfEdge *up;            // half edge to its parent
    int *choice;             // by position
    int *n_tree_neighbours;  // by node: how many neighbours are in the tree; IN_TREE for a member
    int n_front;
    // Nodes that may join next, the positions of their parents, and the half edges to these.
    int *front, *front_parent;
    HalfEdge *front_up;
    double *cost;  // by alternative: its cost with the subtree below it
    double *pass;
} Tree;

enum { IN_TREE = 1 << 20 };

Tree *tree_new(Arena *a, const FloatProblem *f)
{
    Tree *t = arena_array(a, Tree, 1);
    int n = f->p->n_nodes;

    t->node = arena_array(a, int, n);
    t->parent = arena_array(a, int, n);
    t->up = arena_array(a, HalfEdge, n);
    t->choice = arena_array(a, int, n);
    t->n_tree_neighbours = arena_array(a, int, n);
    t->front = arena_array(a, int, n);
    t->front_parent = arena_array(a, int, n);
    t->front_up = arena_array(a, HalfEdge, n);
    t->cost = arena_array(a, double, f->p->first[n]);
    t->pass = arena_array(a, double, f->max_alternatives);
    return t;
}

// ---- growing ----

static void join(const Search *s, Tree *t, int node, int parent, HalfEdge up)
{
    const FloatProblem *f = s->f;
    int position = t->n++;

    t->node[position] = node;
    t->parent[position] = parent;
    t->up[position] = up;
    t->n_tree_neighbours[node] = IN_TREE;
    for (int j = f->first_half_edge[node]; j < f->first_half_edge[node + 1]; j++) {
        HalfEdge l = f->half_edge[j];
        if (++t->n_tree_neighbours[l.other] == 1) {
            t->front[t->n_front] = l.other;
            t->front_parent[t->n_front] = position;
            t->front_up[t->n_front++] = (HalfEdge){.edge = l.edge, .other = node, .is_a = !l.is_a};
        }
    }
}

static void grow(Search *s, Tree *t, int root, int size)
{
    t->n = t->n_front = 0;
    join(s, t, root, -1, (HalfEdge){0});
    while (t->n < size && t->n_front) {
        int j = (int)search_random(s, (uint64_t)t->n_front), last = --t->n_front;
        int node = t->front[j], parent = t->front_parent[j];
        HalfEdge up = t->front_up[j];
        t->front[j] = t->front[last];
        t->front_parent[j] = t->front_parent[last];
        t->front_up[j] = t->front_up[last];
        if (t->n_tree_neighbours[node] == 1)
            join(s, t, node, parent, up);
    }
}

static void forget(const Search *s, Tree *t)
{
    const FloatProblem *f = s->f;

    for (int j = 0; j < t->n; j++) {
        int i = t->node[j];
        t->n_tree_neighbours[i] = 0;
        for (int h = f->first_half_edge[i]; h < f->first_half_edge[i + 1]; h++)
            t->n_tree_neighbours[f->half_edge[h].other] = 0;
    }
}

// ---- solving ----

// Computes the costs of each member's alternatives, given the choices of the nodes outside the
// tree.
static void weigh(Search *s, Tree *t, double scale)
{
    const FloatProblem *f = s->f;

    for (int j = 0; j < t->n; j++) {
        int i = t->node[j], first = f->p->first[i], n = n_alternatives(f->p, i);
        for (int k = first; k < first + n; k++)
            t->cost[k] = s->given[k] + scale * s->byte_cost[k];
        s->work += n;
    }
    for (int j = 1; j < t->n; j++) {
        int i = t->node[j], parent = t->node[t->parent[j]];
        HalfEdge up = t->up[j], down = {.edge = up.edge, .other = i, .is_a = !up.is_a};
        float_problem_add_row(f, i, up, s->choice[parent], -1, t->cost + f->p->first[i]);
        float_problem_add_row(f, parent, down, s->choice[i], -1, t->cost + f->p->first[parent]);
    }
}

static void decide(Search *s, Tree *t, int forced)
{
    const FloatProblem *f = s->f;

    for (int j = t->n - 1; j > 0; j--) {
        int i = t->node[j], parent = t->node[t->parent[j]], n = n_alternatives(f->p, parent);
        float_problem_pass(f, i, t->up[j], t->cost + f->p->first[i], t->pass);
        for (int k = 0; k < n; k++)
            t->cost[f->p->first[parent] + k] += t->pass[k];
        s->work += (int64_t)n * n_alternatives(f->p, i);
    }
    for (int j = 0; j < t->n; j++) {
        int i = t->node[j], best = s->choice[i];
        double *cost = t->cost + f->p->first[i];
        if (j)
            float_problem_add_row(f, i, t->up[j], t->choice[t->parent[j]], 1, cost);
        for (int k = 0; k < n_alternatives(f->p, i); k++)
            best = cost[k] < cost[best] ? k : best;
        t->choice[j] = j == 0 && forced >= 0 ? forced : best;
    }
}

static void exchange(Search *s, Tree *t)
{
    for (int j = 0; j < t->n; j++) {
        int before = s->choice[t->node[j]];
        search_set(s, t->node[j], t->choice[j]);
        t->choice[j] = before;
    }
}

int search_tree(Search *s, TreeMove b)
{
    Tree *t = s->tree;
    double before = s->cost;
    int64_t peak = profile_peak(&s->profile), most = peak > s->limit ? peak : s->limit;

    grow(s, t, b.root, b.size);
    weigh(s, t, b.scale);
    decide(s, t, b.forced);
    forget(s, t);
    exchange(s, t);
    if (b.is_kept && (s->cost > before || profile_peak(&s->profile) > most))
        exchange(s, t);
    return t->n;
}
