// Reads the JSON form of google/iopddl. Edges may come before the nodes, whose alternatives give
// their matrices a shape. So everything is read into lists first, and checked and converted
// afterwards.
#include <limits.h>
#include <string.h>

#include "solver/assign/internal.h"

// Limits far above real instances. Indices of alternatives and matrices fit ints, and sums of costs
// fit 128 bits.
enum {
    MAX_NODES = 1 << 24,
    MAX_EDGES = 1 << 25,
    MAX_ALTERNATIVES = 1 << 13,  // of one node; a matrix has at most the square of this
    MAX_NUMBERS = 1 << 28,       // numbers of one kind, over all nodes
};

typedef struct Matrix {
    const int64_t *cost;
    int n;
    uint64_t hash;
} Matrix;

// The contents of the file. Equal matrices are kept once. `slot` is a hash table with open
// addressing; an entry is an index of `matrix` + 1.
typedef struct Raw {
    Arena *arena;  // arena of the problem
    char *name;
    int64_t limit;
    Lists interval, cost, usage, end;
    Lists row;  // the matrix that was read last
    Matrix *matrix;
    int n_matrices, cap_matrices;
    int *slot, n_slots;
    int *matrix_of;  // by edge: index of its matrix
    int n_edges, cap_edges;
} Raw;

// ---- lists ----

// Checks the numbers of the last list, which belongs to node or edge `id`.
static bool check_range(Scan *s, const Lists *l, int id, int64_t least, int64_t most)
{
    for (int i = l->first[l->n - 1]; i < l->n_x; i++)
        if (l->x[i] < least || l->x[i] > most)
            return scan_wrong(s, "the %s %d: %" PRId64 " isn't from %" PRId64 " to %" PRId64,
                              l->what, id, l->x[i], least, most);
    return true;
}

static bool check_pair(Scan *s, const Lists *l)
{
    int i = l->n - 1, n = list_size(l, i);
    return n == 2 || scan_wrong(s, "the %s %d: expected two numbers, found %d", l->what, i, n);
}

// Reads a list of costs, which are at least -(10^18 - 1). All forbidden costs become
// COST_FORBIDDEN.
static bool read_costs_of(Scan *s, Lists *l, int id)
{
    if (!scan_numbers(s, l) || !check_range(s, l, id, 1 - COST_FORBIDDEN, INT64_MAX))
        return false;
    for (int i = l->first[l->n - 1]; i < l->n_x; i++)
        if (is_forbidden(l->x[i]))
            l->x[i] = COST_FORBIDDEN;
    return true;
}

// ---- nodes ----

static bool read_interval(Scan *s, void *to)
{
    Lists *l = &((Raw *)to)->interval;
    int i = l->n;

    if (!scan_numbers(s, l) || !check_pair(s, l) || !check_range(s, l, i, 0, INT_MAX))
        return false;
    const int64_t *x = list_at(l, i);
    return x[0] <= x[1] || scan_wrong(s, "the interval of node %d ends before it begins", i);
}

static bool read_cost(Scan *s, void *to)
{
    Lists *l = &((Raw *)to)->cost;
    return read_costs_of(s, l, l->n);
}

static bool read_usage(Scan *s, void *to)
{
    Lists *l = &((Raw *)to)->usage;
    return scan_numbers(s, l) && check_range(s, l, l->n - 1, 0, COST_FORBIDDEN);
}

static bool read_intervals(Scan *s, void *to) { return scan_list(s, to, read_interval); }
static bool read_costs(Scan *s, void *to) { return scan_list(s, to, read_cost); }
static bool read_usages(Scan *s, void *to) { return scan_list(s, to, read_usage); }

static const Member node_members[] = {
    {"intervals", read_intervals},
    {"costs", read_costs},
    {"usages", read_usages},
};

static bool read_nodes(Scan *s, void *to)
{
    return scan_object(s, to, node_members, COUNT(node_members), NULL);
}

// ---- edges ----

static void grow_slots(Raw *r)
{
    int n = r->n_slots ? 2 * r->n_slots : 1 << 10;

    arena_drop(r->row.arena, r->slot, (size_t)r->n_slots, sizeof *r->slot);
    r->slot = arena_array(r->row.arena, int, n);
    r->n_slots = n;
    for (int m = 0; m < r->n_matrices; m++) {
        uint64_t i = r->matrix[m].hash;
        while (r->slot[i & (uint64_t)(n - 1)])
            i++;
        r->slot[i & (uint64_t)(n - 1)] = m + 1;
    }
}

// Hashes eight bytes a step, as matrices are most of a file.
static uint64_t hash_numbers(const int64_t *x, int n)
{
    uint64_t h = 0;

    for (int i = 0; i < n; i++)
        h = ((h ^ (uint64_t)x[i]) * 0x9e3779b97f4a7c15) ^ h >> 29;
    return hash_bytes(&h, sizeof h, (uint64_t)n);
}

// The index of the matrix in r->row, which becomes a new one if it isn't known yet.
static int share_matrix(Raw *r)
{
    size_t bytes = (size_t)r->row.n_x * sizeof *r->row.x;
    Matrix m = {NULL, r->row.n_x, hash_numbers(r->row.x, r->row.n_x)};

    if (2 * r->n_matrices >= r->n_slots)
        grow_slots(r);
    uint64_t i = m.hash, mask = (uint64_t)r->n_slots - 1;
    for (; r->slot[i & mask]; i++) {
        const Matrix *o = &r->matrix[r->slot[i & mask] - 1];
        if (o->hash == m.hash && o->n == m.n && (!bytes || !memcmp(o->cost, r->row.x, bytes)))
            return r->slot[i & mask] - 1;
    }
    int64_t *cost = arena_array(r->arena, int64_t, m.n);
    if (bytes)
        memcpy(cost, r->row.x, bytes);
    m.cost = cost;
    *arena_push(r->row.arena, r->matrix, r->n_matrices, r->cap_matrices) = m;
    r->slot[i & mask] = r->n_matrices;
    return r->n_matrices - 1;
}

static bool read_matrix(Scan *s, void *to)
{
    Raw *r = to;

    if (r->n_edges >= MAX_EDGES)
        return scan_wrong(s, "the costs of edges: more than %d lists", MAX_EDGES);
    r->row.n = r->row.n_x = 0;
    if (!read_costs_of(s, &r->row, r->n_edges))
        return false;
    *arena_push(r->row.arena, r->matrix_of, r->n_edges, r->cap_edges) = share_matrix(r);
    return true;
}

static bool read_end(Scan *s, void *to)
{
    Lists *l = &((Raw *)to)->end;

    return scan_numbers(s, l) && check_pair(s, l) && check_range(s, l, l->n - 1, 0, MAX_NODES - 1);
}

static bool read_ends(Scan *s, void *to) { return scan_list(s, to, read_end); }
static bool read_matrices(Scan *s, void *to) { return scan_list(s, to, read_matrix); }

static const Member edge_members[] = {{"nodes", read_ends}, {"costs", read_matrices}};

static bool read_edges(Scan *s, void *to)
{
    return scan_object(s, to, edge_members, COUNT(edge_members), NULL);
}

// ---- the file ----

static bool read_name(Scan *s, void *to)
{
    Raw *r = to;
    char name[256];

    if (!scan_string(s, name, sizeof name))
        return false;
    r->name = arena_copy(r->arena, name, strlen(name));
    return true;
}

static bool read_limit(Scan *s, void *to)
{
    Raw *r = to;

    return scan_whole(s, &r->limit) &&
           (r->limit >= 0 || scan_wrong(s, "usage_limit is %" PRId64, r->limit));
}

static const Member problem_members[] = {
    {"name", read_name, 0, true},
    {"nodes", read_nodes},
    {"edges", read_edges},
    {"usage_limit", read_limit},
};

static bool read_problem(Scan *s, void *to)
{
    return scan_object(s, to, problem_members, COUNT(problem_members), NULL);
}

static const Member whole[] = {{"problem", read_problem}};

static bool wrong(Diag *d, const char *fmt, ...) PRINTF(2, 3);

static bool wrong(Diag *d, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    diag_verror(d, fmt, args);
    va_end(args);
    return false;
}

static bool check_nodes(const Raw *r, Diag *d)
{
    int64_t total = 0;

    if (r->cost.n != r->interval.n || r->usage.n != r->interval.n)
        return wrong(d, "nodes: %d intervals, %d lists of costs, %d of usages", r->interval.n,
                     r->cost.n, r->usage.n);
    for (int i = 0; i < r->cost.n; i++) {
        int n = list_size(&r->cost, i);
        int64_t most = 0;
        if (n < 1 || n > MAX_ALTERNATIVES)
            return wrong(d, "node %d: %d costs, expected 1 to %d", i, n, MAX_ALTERNATIVES);
        if (list_size(&r->usage, i) != n)
            return wrong(d, "node %d: %d costs, but %d usages", i, n, list_size(&r->usage, i));
        for (int k = 0; k < n; k++)
            most = list_at(&r->usage, i)[k] > most ? list_at(&r->usage, i)[k] : most;
        if (!add_size(total, most, &total))
            return wrong(d, "node %d: the sum of all usages to here doesn't fit 64 bits", i);
    }
    return true;
}

static bool check_edges(const Raw *r, Diag *d)
{
    if (r->end.n != r->n_edges)
        return wrong(d, "edges: %d pairs of nodes, but %d lists of costs", r->end.n, r->n_edges);
    for (int e = 0; e < r->n_edges; e++) {
        const int64_t *end = list_at(&r->end, e);
        for (int i = 0; i < 2; i++)
            if (end[i] >= r->cost.n)
                return wrong(d, "edge %d: there is no node %" PRId64 ", only %d nodes", e, end[i],
                             r->cost.n);
        int a = list_size(&r->cost, (int)end[0]), b = list_size(&r->cost, (int)end[1]);
        int n = r->matrix[r->matrix_of[e]].n;
        if (n != a * b)
            return wrong(d, "edge %d: %d costs, expected %d x %d", e, n, a, b);
    }
    return true;
}

static void make_nodes(Arena *a, const Raw *r, Problem *p)
{
    int n_live = 0;

    p->n_nodes = r->cost.n;
    p->first = arena_array(a, int, p->n_nodes + 1);
    p->cost = arena_array(a, int64_t, r->cost.n_x);
    p->first_live = arena_array(a, int, r->cost.n_x + 1);
    p->live = arena_array(a, LiveBytes, r->cost.n_x);
    for (int i = 0; i < p->n_nodes; i++) {
        const int64_t *interval = list_at(&r->interval, i);
        p->first[i] = r->cost.first[i];
        for (int k = 0; k < list_size(&r->cost, i); k++) {
            int64_t bytes = list_at(&r->usage, i)[k];
            p->cost[p->first[i] + k] = list_at(&r->cost, i)[k];
            p->first_live[p->first[i] + k] = n_live;
            if (bytes && interval[0] < interval[1])
                p->live[n_live++] = (LiveBytes){(int)interval[0], (int)interval[1], bytes};
        }
    }
    p->first[p->n_nodes] = r->cost.n_x;
    p->first_live[r->cost.n_x] = n_live;
}

static void make_edges(Arena *a, const Raw *r, Problem *p)
{
    p->n_edges = r->n_edges;
    p->edge = arena_array(a, Edge, p->n_edges);
    for (int e = 0; e < p->n_edges; e++) {
        const int64_t *end = list_at(&r->end, e);
        p->edge[e] = (Edge){(int)end[0], (int)end[1], r->matrix[r->matrix_of[e]].cost};
    }
}

bool problem_parse(Arena *a, File file, Problem *p, Diag *d)
{
    Arena *scratch = arena_new();
    Raw r = {
        .arena = a,
        .interval = {"interval of node", scratch, MAX_NODES, MAX_NUMBERS},
        .cost = {"costs of node", scratch, MAX_NODES, MAX_NUMBERS},
        .usage = {"usages of node", scratch, MAX_NODES, MAX_NUMBERS},
        .end = {"nodes of edge", scratch, MAX_EDGES, MAX_NUMBERS},
        .row = {"costs of edge", scratch, 1, MAX_ALTERNATIVES * MAX_ALTERNATIVES},
    };
    Scan s;

    scan_begin(&s, file, d);
    s.stops = true;
    bool ok = scan_object(&s, &r, whole, COUNT(whole), NULL) && scan_nothing(&s) &&
              check_nodes(&r, d) && check_edges(&r, d);
    if (ok) {
        *p = (Problem){.name = r.name, .limit = r.limit, .hash = s.hash};
        make_nodes(a, &r, p);
        make_edges(a, &r, p);
        ok = problem_join_edges(a, p, d);
    }
    scan_end(&s);
    arena_free(scratch);
    return ok;
}

bool problem_read(Arena *a, const char *path, Problem *p, Diag *d)
{
    File f;

    if (!file_map(path, &f, d))
        return false;
    bool ok = problem_parse(a, f, p, d);
    file_unmap(&f);
    return ok;
}
