// Repeats the steps of a certificate, and checks that each is valid.
#include "solver/assign/check.h"

static bool refuse(const Residual *r, const char *why, int64_t node, int64_t other)
{
    diag_error(r->d, "a step of the duals, of nodes %" PRId64 " and %" PRId64 ": %s", node, other,
               why);
    return false;
}

Wide residual_arc_cost(const Residual *r, const ResidualArc *e, int at, int k, int l)
{
    int n = r->vertex[e->b].n;
    int64_t i = e->a == at ? (int64_t)k * n + l : (int64_t)l * n + k;

    if (e->made)
        return e->made[i];
    return e->given[i] >= COST_FORBIDDEN ? COST_EXCLUDED : r->unit * e->given[i];
}

static int other_end(const ResidualArc *e, int at) { return e->a == at ? e->b : e->a; }

// Removes from a vertex's list the arcs that are gone.
static void arcs_tidy(Residual *r, ResidualVertex *x)
{
    int to = 0;

    for (int i = 0; i < x->n_arcs; i++)
        if (!r->arc[x->arc[i]].is_gone)
            x->arc[to++] = x->arc[i];
    x->n_arcs = to;
}

static int arc_between(const Residual *r, int a, int b)
{
    int from = r->vertex[a].n_arcs < r->vertex[b].n_arcs ? a : b;

    for (int i = 0; i < r->vertex[from].n_arcs; i++) {
        int id = r->vertex[from].arc[i];
        if (!r->arc[id].is_gone && other_end(&r->arc[id], from) == a + b - from)
            return id;
    }
    return -1;
}

ResidualArc *residual_find(const Residual *r, int64_t a, int64_t b)
{
    if (a < 0 || a >= r->p->n_nodes || b < 0 || b >= r->p->n_nodes || a == b)
        return NULL;
    int id = arc_between(r, (int)a, (int)b);
    return id < 0 ? NULL : &r->arc[id];
}

// ---- alternatives without a partner ----

static void queue_arc(Residual *r, int id)
{
    if (r->arc[id].is_queued)
        return;
    r->arc[id].is_queued = true;
    *arena_push(r->arena, r->queue, r->n_queue, r->cap_queue) = id;
}

static bool has_partner(const Residual *r, const ResidualArc *e, int at, int k)
{
    const ResidualVertex *y = &r->vertex[other_end(e, at)];

    for (int l = 0; l < y->n; l++)
        if (!y->is_out[l] && residual_arc_cost(r, e, at, k, l) < COST_EXCLUDED)
            return true;
    return false;
}

static void propagate_end(Residual *r, int id, int at)
{
    ResidualVertex *x = &r->vertex[at];
    bool is_any = false, drops = false;

    for (int k = 0; k < x->n; k++) {
        if (x->is_out[k])
            continue;
        x->is_out[k] = !has_partner(r, &r->arc[id], at, k);
        drops |= x->is_out[k];
        is_any |= !x->is_out[k];
    }
    r->is_empty |= !is_any;
    for (int i = 0; i < x->n_arcs && drops; i++)
        if (!r->arc[x->arc[i]].is_gone)
            queue_arc(r, x->arc[i]);
}

static void propagate(Residual *r)
{
    for (int i = 0; i < r->n_queue && !r->is_empty; i++) {
        int id = r->queue[i];
        r->arc[id].is_queued = false;
        if (r->arc[id].is_gone)
            continue;
        propagate_end(r, id, r->arc[id].a);
        propagate_end(r, id, r->arc[id].b);
    }
    r->n_queue = 0;
}

// ---- building ----

static void residual_arc_new(Residual *r, int a, int b, const int64_t *given, Wide *made)
{
    int id = r->n_arcs;

    *arena_push(r->arena, r->arc, r->n_arcs, r->cap) =
        (ResidualArc){a, b, given, made, false, false};
    for (int s = 0; s < 2; s++) {
        ResidualVertex *x = &r->vertex[s ? b : a];
        *arena_push(r->arena, x->arc, x->n_arcs, x->cap) = id;
    }
    queue_arc(r, id);
}

static Wide *matrix_new(const Residual *r, int a, int b)
{
    return arena_array(r->arena, Wide, (size_t)r->vertex[a].n * (size_t)r->vertex[b].n);
}

// Adds the costs of a matrix, which the arena owns, to the arc of two vertices, or makes an arc of
// it.
static void residual_arc_put(Residual *r, int a, int b, Wide *made)
{
    int id = arc_between(r, a, b), n = r->vertex[b].n;

    if (id < 0) {
        residual_arc_new(r, a, b, NULL, made);
        return;
    }
    for (int k = 0; k < r->vertex[a].n; k++)
        for (int l = 0; l < n; l++) {
            Wide *x = &made[(int64_t)k * n + l], y = residual_arc_cost(r, &r->arc[id], a, k, l);
            *x = *x >= COST_EXCLUDED || y >= COST_EXCLUDED ? COST_EXCLUDED : *x + y;
        }
    arena_drop(r->arena, r->arc[id].made, (size_t)r->vertex[a].n * (size_t)n, sizeof *made);
    r->arc[id].a = a;
    r->arc[id].b = b;
    r->arc[id].made = made;
    queue_arc(r, id);
}

static void exclude_pairs(Residual *r, const ExcludedPairs *x)
{
    Wide *made = matrix_new(r, x->a, x->b);

    for (int64_t i = 0; i < (int64_t)r->vertex[x->a].n * r->vertex[x->b].n; i++)
        made[i] = x->is_out[i] ? COST_EXCLUDED : 0;
    residual_arc_put(r, x->a, x->b, made);
}

void residual_build(Arena *a, Residual *r, const Problem *p, Wide unit, Wide *cost, bool *is_out,
                    const ExcludedPairs *excluded, int n_excluded_pairs, Diag *d)
{
    *r = (Residual){.p = p, .arena = a, .d = d, .unit = unit};
    r->vertex = arena_array(a, ResidualVertex, p->n_nodes);
    for (int i = 0; i < p->n_nodes; i++) {
        bool is_any = false;
        r->vertex[i] = (ResidualVertex){.n = p->first[i + 1] - p->first[i],
                                        .is_out = is_out + p->first[i],
                                        .cost = cost + p->first[i],
                                        .merged_into = -1};
        for (int k = 0; k < r->vertex[i].n; k++)
            is_any |= !r->vertex[i].is_out[k];
        r->is_empty |= !is_any;
    }
    for (int e = 0; e < p->n_edges; e++)
        residual_arc_new(r, p->edge[e].a, p->edge[e].b, p->edge[e].cost, NULL);
    for (int i = 0; i < n_excluded_pairs; i++)
        exclude_pairs(r, &excluded[i]);
    propagate(r);
}

// ---- steps ----

// The only alternative of `gone` that has a finite cost with alternative k of the other end; -1 if
// there isn't exactly one.
static int only_partner(const Residual *r, const ResidualArc *e, int gone, int k)
{
    const ResidualVertex *x = &r->vertex[gone];
    int found = -1;

    for (int l = 0; l < x->n; l++) {
        if (x->is_out[l] || residual_arc_cost(r, e, gone, l, k) >= COST_EXCLUDED)
            continue;
        if (found >= 0)
            return -1;
        found = l;
    }
    return found;
}

static void residual_arc_move(Residual *r, int id, int gone, int into, const int *partner)
{
    int to = other_end(&r->arc[id], gone), n = r->vertex[to].n;
    Wide *made = matrix_new(r, into, to);

    for (int k = 0; k < r->vertex[into].n; k++)
        for (int l = 0; l < n; l++)
            made[(int64_t)k * n + l] = r->vertex[into].is_out[k]
                                           ? COST_EXCLUDED
                                           : residual_arc_cost(r, &r->arc[id], gone, partner[k], l);
    r->arc[id].is_gone = true;
    arena_drop(r->arena, r->arc[id].made, (size_t)r->vertex[gone].n * (size_t)n, sizeof *made);
    residual_arc_put(r, into, to, made);
}

static bool merge(Residual *r, int gone, int into)
{
    int id = arc_between(r, gone, into);

    if (id < 0)
        return refuse(r, "there is no edge between them", gone, into);
    ResidualVertex *x = &r->vertex[into], *y = &r->vertex[gone];
    int *partner = arena_array(r->arena, int, x->n);
    for (int k = 0; k < x->n; k++) {
        if (x->is_out[k])
            continue;
        partner[k] = only_partner(r, &r->arc[id], gone, k);
        if (partner[k] < 0)
            return refuse(r, "the first isn't settled by the second", gone, into);
        x->cost[k] += y->cost[partner[k]] + residual_arc_cost(r, &r->arc[id], into, k, partner[k]);
    }
    r->arc[id].is_gone = true;
    arcs_tidy(r, x);
    arcs_tidy(r, y);
    for (int i = 0; i < y->n_arcs; i++)
        residual_arc_move(r, y->arc[i], gone, into, partner);
    y->is_gone = true;
    y->merged_into = into;
    y->partner = partner;
    return true;
}

// The least cost of the vertex and its two arcs, given alternative k of one neighbour and l of the
// other.
static Wide between(const Residual *r, int node, const ResidualArc *const *e, int k, int l)
{
    const ResidualVertex *x = &r->vertex[node];
    Wide least = COST_EXCLUDED;

    for (int m = 0; m < x->n; m++) {
        if (x->is_out[m])
            continue;
        Wide c = residual_arc_cost(r, e[0], node, m, k), d = residual_arc_cost(r, e[1], node, m, l);
        if (c < COST_EXCLUDED && d < COST_EXCLUDED && x->cost[m] + c + d < least)
            least = x->cost[m] + c + d;
    }
    return least;
}

static void eliminate_into_arc(Residual *r, int node, const int *id)
{
    const ResidualArc *const e[] = {&r->arc[id[0]], &r->arc[id[1]]};
    int end[] = {other_end(e[0], node), other_end(e[1], node)}, n = r->vertex[end[1]].n;
    Wide *made = matrix_new(r, end[0], end[1]);

    for (int k = 0; k < r->vertex[end[0]].n; k++)
        for (int l = 0; l < n; l++) {
            bool is_out = r->vertex[end[0]].is_out[k] || r->vertex[end[1]].is_out[l];
            made[(int64_t)k * n + l] = is_out ? COST_EXCLUDED : between(r, node, e, k, l);
        }
    r->arc[id[0]].is_gone = r->arc[id[1]].is_gone = true;
    residual_arc_put(r, end[0], end[1], made);
}

// Eliminates a vertex with at most one neighbour. Its cheapest cost goes to the neighbour's
// alternatives, or to r->base.
static void prune(Residual *r, int node, int n_arcs)
{
    ResidualVertex *x = &r->vertex[node];
    Wide least = COST_EXCLUDED;

    if (n_arcs == 0) {
        for (int k = 0; k < x->n; k++)
            least = !x->is_out[k] && x->cost[k] < least ? x->cost[k] : least;
        r->base += least;
        return;
    }
    ResidualArc *e = &r->arc[x->arc[0]];
    ResidualVertex *y = &r->vertex[other_end(e, node)];
    for (int l = 0; l < y->n; l++) {
        least = COST_EXCLUDED;
        for (int k = 0; k < x->n; k++) {
            Wide c = x->is_out[k] ? COST_EXCLUDED : residual_arc_cost(r, e, node, k, l);
            least = c < COST_EXCLUDED && x->cost[k] + c < least ? x->cost[k] + c : least;
        }
        if (!y->is_out[l])
            y->cost[l] += least;  // finite, as propagate() left no alternative without a partner
    }
    e->is_gone = true;
}

static bool eliminate(Residual *r, int node)
{
    enum { MAX_PAIR_STEPS = 1 << 30 };
    ResidualVertex *x = &r->vertex[node];

    arcs_tidy(r, x);
    if (x->n_arcs > 2)
        return refuse(r, "the first has more than two edges", node, 0);
    if (x->n_arcs == 2) {
        int id[] = {x->arc[0], x->arc[1]};
        int64_t work = (int64_t)r->vertex[other_end(&r->arc[id[0]], node)].n * x->n;
        if (work * r->vertex[other_end(&r->arc[id[1]], node)].n > MAX_PAIR_STEPS)
            return refuse(r, "the first has too many alternatives between its neighbours'", node,
                          0);
        eliminate_into_arc(r, node, id);
    } else {
        prune(r, node, x->n_arcs);
    }
    x->is_gone = true;
    return true;
}

static int first_left(const ResidualVertex *x)
{
    int k = 0;

    while (x->is_out[k])
        k++;
    return k;
}

static bool separate(Residual *r, int a, int b)
{
    int id = arc_between(r, a, b);

    if (id < 0)
        return refuse(r, "there is no edge between them", a, b);
    const ResidualArc *e = &r->arc[id];
    ResidualVertex *x = &r->vertex[a], *y = &r->vertex[b];
    int k0 = first_left(x), l0 = first_left(y);
    Wide corner = residual_arc_cost(r, e, a, k0, l0);
    for (int k = 0; k < x->n; k++)
        for (int l = 0; l < y->n; l++) {
            if (x->is_out[k] || y->is_out[l])
                continue;
            Wide c = residual_arc_cost(r, e, a, k, l);
            if (c >= COST_EXCLUDED ||
                c - residual_arc_cost(r, e, a, k0, l) != residual_arc_cost(r, e, a, k, l0) - corner)
                return refuse(r, "their edge isn't a sum", a, b);
        }
    for (int k = 0; k < x->n; k++)
        x->cost[k] += x->is_out[k] ? 0 : residual_arc_cost(r, e, a, k, l0);
    for (int l = 0; l < y->n; l++)
        y->cost[l] += y->is_out[l] ? 0 : residual_arc_cost(r, e, a, k0, l) - corner;
    r->arc[id].is_gone = true;
    return true;
}

static bool is_there(const Residual *r, int64_t node)
{
    return node >= 0 && node < r->p->n_nodes && !r->vertex[node].is_gone;
}

// Drops what exceeds the limit. Queues all arcs, since dropped alternatives may leave others
// without a partner.
static void drop_full(Residual *r)
{
    r->is_empty |= !residual_drop_full(r);
    for (int id = 0; id < r->n_arcs; id++)
        if (!r->arc[id].is_gone)
            queue_arc(r, id);
}

bool residual_step(Residual *r, int64_t kind, int64_t node, int64_t other)
{
    bool ok = true;

    if (kind < RULE_MERGE || kind > RULE_FULL)
        return refuse(r, "there is no such step", node, other);
    if (kind != RULE_FULL)
        ok = is_there(r, node);
    if (kind == RULE_MERGE || kind == RULE_SEPARATE)
        ok &= is_there(r, other) && node != other;
    if (!ok)
        return refuse(r, "they aren't there", node, other);
    if (kind == RULE_MERGE)
        ok = merge(r, (int)node, (int)other);
    else if (kind == RULE_ELIMINATE)
        ok = eliminate(r, (int)node);
    else if (kind == RULE_SEPARATE)
        ok = separate(r, (int)node, (int)other);
    else
        drop_full(r);
    propagate(r);
    return ok;
}
