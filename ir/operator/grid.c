// Checks, rules, evaluation and kernel calls of grid_sample and its gradients.
#include <string.h>

#include "ir/operator/grid.h"

enum { MODE, PADDING, CORNERS };  // attributes, from `first` on

static const char *const modes[] = {"nearest", "linear", "cubic"};
static const char *const paddings[] = {"zeros", "border", "reflection"};

static int index_of(const char *const *names, const char *name)
{
    for (int i = 0; i < 3; i++)
        if (name && !strcmp(name, names[i]))
            return i;
    return -1;
}

Sampling grid_sampling(const Node *n, int first)
{
    const Attr *a = &n->attr[first];

    return (Sampling){a[MODE].s, a[PADDING].s, a[CORNERS].i != 0};
}

// ---- types ----

// The operands as parts; the one that the node makes is NULL.
static void parts_of(const Graph *g, const Node *n, const GridPart *parts, const Value **v)
{
    for (int i = 0; i < n->n_in; i++)
        v[parts[i]] = in(g, n, i);
}

static bool infer_attrs(const Graph *g, const Node *n, int first, Diag *d)
{
    const Attr *a = &n->attr[first];

    if (index_of(modes, a[MODE].s) < 0)
        return node_error(g, n, d, "mode \"%s\" is not nearest, linear or cubic",
                          a[MODE].s ? a[MODE].s : "");
    return index_of(paddings, a[PADDING].s) >= 0 ||
           node_error(g, n, d, "padding \"%s\" is not zeros, border or reflection",
                      a[PADDING].s ? a[PADDING].s : "");
}

// Checks the dims of x, and of the grid against them.
static bool infer_planes(const Graph *g, const Node *n, int rank, const int64_t *x,
                         const Value *grid, Diag *d)
{
    int64_t plane = 1;

    if (rank < 3 || rank > 5)
        return node_error(g, n, d, "the rank of x must be 3 to 5, not %d", rank);
    for (int i = 2; i < rank; i++)
        if (x[i] < 1 || !mul_size(plane, x[i], &plane) || plane > INT32_MAX)
            return node_error(g, n, d, "a plane of x must have 1 to 2^31 - 1 elements");
    if (grid->rank < 3 || grid->dim[grid->rank - 1] != rank - 2 || grid->dim[0] != x[0])
        return node_error(g, n, d, "the grid must be [%" PRId64 ", points, %d], not %s", x[0],
                          rank - 2, type_text(g->arena, grid));
    return true;
}

// Checks y or its gradient.
static bool infer_sampled(const Graph *g, const Node *n, const int64_t *x, const Value *grid,
                          const Value *y, Diag *d)
{
    bool fits = y->rank == grid->rank && y->dim[0] == x[0] && y->dim[1] == x[1];

    for (int i = 1; fits && i < grid->rank - 1; i++)
        fits = y->dim[1 + i] == grid->dim[i];
    return fits ||
           node_error(g, n, d, "the sampled gradient doesn't fit: %s", type_text(g->arena, y));
}

bool infer_grid(Graph *g, Node *n, const GridPart *parts, int first, Diag *d)
{
    const Value *v[3] = {NULL};
    int64_t dim[MAX_RANK];

    parts_of(g, n, parts, v);
    for (int i = 0; i < n->n_in; i++)
        if (!dtype_is_float(in(g, n, i)->dtype) || in(g, n, i)->dtype != in(g, n, 0)->dtype)
            return node_error(g, n, d, "needs floats of one type");
    int rank = v[GRID_X] ? v[GRID_X]->rank : n->attr[0].n;
    const int64_t *x = v[GRID_X] ? v[GRID_X]->dim : n->attr[0].v;
    if (!infer_attrs(g, n, first, d) || !infer_planes(g, n, rank, x, v[GRID_GRID], d))
        return false;
    if (v[GRID_Y] && !infer_sampled(g, n, x, v[GRID_GRID], v[GRID_Y], d))
        return false;
    DType t = in(g, n, 0)->dtype;
    if (parts[n->n_in] == GRID_X)
        return infer_set(g, n, 0, t, rank, x, d);
    if (parts[n->n_in] == GRID_GRID)
        return infer_set(g, n, 0, t, v[GRID_GRID]->rank, v[GRID_GRID]->dim, d);
    memcpy(dim, v[GRID_GRID]->dim, sizeof dim);
    for (int i = v[GRID_GRID]->rank - 1; i > 1; i--)
        dim[i] = dim[i - 1];
    dim[1] = x[1];
    return infer_set(g, n, 0, t, v[GRID_GRID]->rank, dim, d);
}

// ---- rules ----

// x is nc and letters of WINDOWS, the grid n, letters of points and d, and y nc and the points.
void rule_grid(const Graph *g, const Node *n, const GridPart *parts, Rule *r)
{
    const Value *v[3] = {NULL};
    char part[3][MAX_RANK + 2], text[RULE_TEXT] = "";

    parts_of(g, n, parts, v);
    v[parts[n->n_in]] = out(g, n);
    int spatial = v[GRID_X]->rank - 2, points = v[GRID_GRID]->rank - 2;
    snprintf(part[GRID_X], sizeof part[0], "nc%.*s", spatial, "uvz");
    snprintf(part[GRID_GRID], sizeof part[0], "n%.*sd", points, "pqrstwxyab");
    snprintf(part[GRID_Y], sizeof part[0], "nc%.*s", points, "pqrstwxyab");
    for (int i = 0; i <= n->n_in; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                 i == 0         ? ""
                 : i == n->n_in ? "->"
                                : ",",
                 part[parts[i]]);
    rule_set(g, n, r, text);
    for (const char *s = "uvzd"; *s; s++)
        if (strchr(text, *s))
            rule_kind(r, *s, FACTOR_BLOCKED);
}

// Each tap is a product and a sum.
double work_grid(const Graph *g, const Node *n, const GridPart *parts, int first)
{
    const Value *v[3] = {NULL};

    parts_of(g, n, parts, v);
    v[parts[n->n_in]] = out(g, n);
    int taps = rt_grid_taps(index_of(modes, n->attr[first].s));
    double work = 2 * (double)value_count(v[GRID_Y]);
    for (int i = 2; i < v[GRID_X]->rank; i++)
        work *= taps;
    return work;
}

// ---- evaluation ----

GridPoint grid_points(const Node *n, int first, const Tensor *x, const Tensor *grid)
{
    GridPoint p = {.spatial = x->rank - 2, .taps = 1, .planes = x->dim[1], .plane = 1, .count = 1};
    int along = rt_grid_taps(index_of(modes, n->attr[first].s));

    for (int i = 0; i < p.spatial; i++) {
        p.taps *= along;
        p.plane *= x->dim[2 + i];
    }
    for (int i = 1; i < grid->rank - 1; i++)
        p.count *= grid->dim[i];
    return p;
}

// The taps along one dim, computed in the type of the tensor.
static RtTaps_f64 taps_of(const Node *n, int first, DType t, int64_t size, double position)
{
    const Attr *a = &n->attr[first];
    int mode = index_of(modes, a[MODE].s), padding = index_of(paddings, a[PADDING].s);
    RtTaps_f64 taps;

    if (t == F64) {
        rt_grid_taps_f64(mode, padding, a[CORNERS].i, size, position, &taps);
        return taps;
    }
    RtTaps_f32 narrow;
    rt_grid_taps_f32(mode, padding, a[CORNERS].i, size, (float)position, &narrow);
    for (int k = 0; k < rt_grid_taps(mode); k++) {
        taps.at[k] = narrow.at[k];
        taps.weight[k] = narrow.weight[k];
        taps.slope[k] = narrow.slope[k];
    }
    return taps;
}

void grid_point(GridPoint *p, const Node *n, int first, const Tensor *x, const Tensor *grid,
                int64_t i)
{
    int along = rt_grid_taps(index_of(modes, n->attr[first].s));
    RtTaps_f64 taps[3];

    // The grid's last coordinate is that of x's first spatial dim.
    for (int d = 0; d < p->spatial; d++)
        taps[d] = taps_of(n, first, x->dtype, x->dim[2 + d],
                          grid->f[i * p->spatial + p->spatial - 1 - d]);
    for (int k = 0; k < p->taps; k++) {
        int tap[3];
        p->at[k] = 0;
        p->weight[k] = 1;
        for (int d = p->spatial - 1, rest = k; d >= 0; d--, rest /= along)
            tap[d] = rest % along;
        for (int d = 0; d < p->spatial; d++) {
            int64_t at = taps[d].at[tap[d]];
            p->at[k] = at < 0 || p->at[k] < 0 ? -1 : p->at[k] * x->dim[2 + d] + at;
            p->weight[k] *= taps[d].weight[tap[d]];
        }
        for (int c = 0; c < p->spatial; c++) {
            p->slope[c][k] = 1;
            for (int d = 0; d < p->spatial; d++)
                p->slope[c][k] *=
                    d == p->spatial - 1 - c ? taps[d].slope[tap[d]] : taps[d].weight[tap[d]];
        }
    }
}

// ---- kernel calls ----

void kernel_grid(const Graph *g, const Node *n, const GridPart *parts, int first,
                 const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    const Value *v[3] = {NULL};

    parts_of(g, n, parts, v);
    v[parts[n->n_in]] = out(g, n);
    const Value *x = v[GRID_X], *grid = v[GRID_GRID];
    const Attr *a = &n->attr[first];
    RtGrid p = {.type = (RtType)x->dtype,
                .mode = index_of(modes, a[MODE].s),
                .outside = index_of(paddings, a[PADDING].s),
                .corners = a[CORNERS].i != 0,
                .spatial = x->rank - 2,
                .n = x->dim[0],
                .c = x->dim[1],
                .points = 1};
    for (int i = 0; i < p.spatial; i++)
        p.dim[i] = x->dim[2 + i];
    for (int i = 1; i < grid->rank - 1; i++)
        p.points *= grid->dim[i];
    kernel_dense(g, n, stride, k);
    k->def = kernel_find(n->op->name);
    k->params.grid = p;
}
