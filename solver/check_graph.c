// The steps of a certificate, gone again.
#include "solver/check.h"

static bool refuse(const Remains *r, const char *why, int64_t node, int64_t other)
{
    diag_error(r->d, "a step of the duals, of nodes %" PRId64 " and %" PRId64 ": %s", node, other,
               why);
    return false;
}

Wide bond_cost(const Remains *r, const Bond *e, int at, int k, int l)
{
    int n = r->point[e->b].n;
    int64_t i = e->a == at ? (int64_t)k * n + l : (int64_t)l * n + k;

    if (e->made)
        return e->made[i];
    return e->given[i] >= COST_FORBIDDEN ? BARRED : r->unit * e->given[i];
}

static int far_end(const Bond *e, int at) { return e->a == at ? e->b : e->a; }

// Forgets the bonds of a point that are gone.
static void bonds_tidy(Remains *r, Point *x)
{
    int to = 0;

    for (int i = 0; i < x->n_bonds; i++)
        if (!r->bond[x->bond[i]].is_gone)
            x->bond[to++] = x->bond[i];
    x->n_bonds = to;
}

static int bond_between(const Remains *r, int a, int b)
{
    int from = r->point[a].n_bonds < r->point[b].n_bonds ? a : b;

    for (int i = 0; i < r->point[from].n_bonds; i++) {
        int id = r->point[from].bond[i];
        if (!r->bond[id].is_gone && far_end(&r->bond[id], from) == a + b - from)
            return id;
    }
    return -1;
}

Bond *remains_find(const Remains *r, int64_t a, int64_t b)
{
    if (a < 0 || a >= r->p->n_nodes || b < 0 || b >= r->p->n_nodes || a == b)
        return NULL;
    int id = bond_between(r, (int)a, (int)b);
    return id < 0 ? NULL : &r->bond[id];
}

// ---- alternatives without a partner ----

static void wait(Remains *r, int id)
{
    if (r->bond[id].is_waiting)
        return;
    r->bond[id].is_waiting = true;
    *arena_push(r->arena, r->queue, r->n_queue, r->cap_queue) = id;
}

static bool has_partner(const Remains *r, const Bond *e, int at, int k)
{
    const Point *y = &r->point[far_end(e, at)];

    for (int l = 0; l < y->n; l++)
        if (!y->is_out[l] && bond_cost(r, e, at, k, l) < BARRED)
            return true;
    return false;
}

static void settle_end(Remains *r, int id, int at)
{
    Point *x = &r->point[at];
    bool is_any = false, drops = false;

    for (int k = 0; k < x->n; k++) {
        if (x->is_out[k])
            continue;
        x->is_out[k] = !has_partner(r, &r->bond[id], at, k);
        drops |= x->is_out[k];
        is_any |= !x->is_out[k];
    }
    r->is_empty |= !is_any;
    for (int i = 0; i < x->n_bonds && drops; i++)
        if (!r->bond[x->bond[i]].is_gone)
            wait(r, x->bond[i]);
}

static void settle(Remains *r)
{
    for (int i = 0; i < r->n_queue && !r->is_empty; i++) {
        int id = r->queue[i];
        r->bond[id].is_waiting = false;
        if (r->bond[id].is_gone)
            continue;
        settle_end(r, id, r->bond[id].a);
        settle_end(r, id, r->bond[id].b);
    }
    r->n_queue = 0;
}

// ---- making ----

static void bond_new(Remains *r, int a, int b, const int64_t *given, Wide *made)
{
    int id = r->n_bonds;

    *arena_push(r->arena, r->bond, r->n_bonds, r->cap) = (Bond){a, b, given, made, false, false};
    for (int s = 0; s < 2; s++) {
        Point *x = &r->point[s ? b : a];
        *arena_push(r->arena, x->bond, x->n_bonds, x->cap) = id;
    }
    wait(r, id);
}

static Wide *matrix_new(const Remains *r, int a, int b)
{
    return arena_array(r->arena, Wide, (size_t)r->point[a].n * (size_t)r->point[b].n);
}

// A matrix, the arena's, comes between two points.
static void bond_put(Remains *r, int a, int b, Wide *made)
{
    int id = bond_between(r, a, b), n = r->point[b].n;

    if (id < 0) {
        bond_new(r, a, b, NULL, made);
        return;
    }
    for (int k = 0; k < r->point[a].n; k++)
        for (int l = 0; l < n; l++) {
            Wide *x = &made[(int64_t)k * n + l], y = bond_cost(r, &r->bond[id], a, k, l);
            *x = *x >= BARRED || y >= BARRED ? BARRED : *x + y;
        }
    arena_drop(r->arena, r->bond[id].made, (size_t)r->point[a].n * (size_t)n, sizeof *made);
    r->bond[id].a = a;
    r->bond[id].b = b;
    r->bond[id].made = made;
    wait(r, id);
}

static void bar(Remains *r, const Barred *x)
{
    Wide *made = matrix_new(r, x->a, x->b);

    for (int64_t i = 0; i < (int64_t)r->point[x->a].n * r->point[x->b].n; i++)
        made[i] = x->is_out[i] ? BARRED : 0;
    bond_put(r, x->a, x->b, made);
}

void remains_build(Remains *r, const Problem *p, Wide unit, Wide *cost, bool *is_out,
                   const Barred *barred, int n_barred, Arena *a, Diag *d)
{
    *r = (Remains){.p = p, .arena = a, .d = d, .unit = unit};
    r->point = arena_array(a, Point, p->n_nodes);
    for (int i = 0; i < p->n_nodes; i++) {
        bool is_any = false;
        r->point[i] = (Point){.n = p->first[i + 1] - p->first[i],
                              .is_out = is_out + p->first[i],
                              .cost = cost + p->first[i],
                              .holder = -1};
        for (int k = 0; k < r->point[i].n; k++)
            is_any |= !r->point[i].is_out[k];
        r->is_empty |= !is_any;
    }
    for (int e = 0; e < p->n_edges; e++)
        bond_new(r, p->edge[e].a, p->edge[e].b, p->edge[e].cost, NULL);
    for (int i = 0; i < n_barred; i++)
        bar(r, &barred[i]);
    settle(r);
}

// ---- steps ----

// The only alternative of `gone` that goes with alternative k of the other end; -1 if there are
// more.
static int only_partner(const Remains *r, const Bond *e, int gone, int k)
{
    const Point *x = &r->point[gone];
    int found = -1;

    for (int l = 0; l < x->n; l++) {
        if (x->is_out[l] || bond_cost(r, e, gone, l, k) >= BARRED)
            continue;
        if (found >= 0)
            return -1;
        found = l;
    }
    return found;
}

static void bond_move(Remains *r, int id, int gone, int into, const int *partner)
{
    int to = far_end(&r->bond[id], gone), n = r->point[to].n;
    Wide *made = matrix_new(r, into, to);

    for (int k = 0; k < r->point[into].n; k++)
        for (int l = 0; l < n; l++)
            made[(int64_t)k * n + l] =
                r->point[into].is_out[k] ? BARRED : bond_cost(r, &r->bond[id], gone, partner[k], l);
    r->bond[id].is_gone = true;
    arena_drop(r->arena, r->bond[id].made, (size_t)r->point[gone].n * (size_t)n, sizeof *made);
    bond_put(r, into, to, made);
}

static bool merge(Remains *r, int gone, int into)
{
    int id = bond_between(r, gone, into);

    if (id < 0)
        return refuse(r, "there is no edge between them", gone, into);
    Point *x = &r->point[into], *y = &r->point[gone];
    int *partner = arena_array(r->arena, int, x->n);
    for (int k = 0; k < x->n; k++) {
        if (x->is_out[k])
            continue;
        partner[k] = only_partner(r, &r->bond[id], gone, k);
        if (partner[k] < 0)
            return refuse(r, "the first isn't settled by the second", gone, into);
        x->cost[k] += y->cost[partner[k]] + bond_cost(r, &r->bond[id], into, k, partner[k]);
    }
    r->bond[id].is_gone = true;
    bonds_tidy(r, x);
    bonds_tidy(r, y);
    for (int i = 0; i < y->n_bonds; i++)
        bond_move(r, y->bond[i], gone, into, partner);
    y->is_gone = true;
    y->holder = into;
    y->partner = partner;
    return true;
}

// What alternative k of one neighbour and l of another cost with the point between them at its
// best.
static Wide between(const Remains *r, int node, const Bond *const *e, int k, int l)
{
    const Point *x = &r->point[node];
    Wide least = BARRED;

    for (int m = 0; m < x->n; m++) {
        if (x->is_out[m])
            continue;
        Wide c = bond_cost(r, e[0], node, m, k), d = bond_cost(r, e[1], node, m, l);
        if (c < BARRED && d < BARRED && x->cost[m] + c + d < least)
            least = x->cost[m] + c + d;
    }
    return least;
}

static void bridge(Remains *r, int node, const int *id)
{
    const Bond *const e[] = {&r->bond[id[0]], &r->bond[id[1]]};
    int end[] = {far_end(e[0], node), far_end(e[1], node)}, n = r->point[end[1]].n;
    Wide *made = matrix_new(r, end[0], end[1]);

    for (int k = 0; k < r->point[end[0]].n; k++)
        for (int l = 0; l < n; l++) {
            bool is_out = r->point[end[0]].is_out[k] || r->point[end[1]].is_out[l];
            made[(int64_t)k * n + l] = is_out ? BARRED : between(r, node, e, k, l);
        }
    r->bond[id[0]].is_gone = r->bond[id[1]].is_gone = true;
    bond_put(r, end[0], end[1], made);
}

// Leaves its cheapest cost to its only neighbour, or to nobody.
static void prune(Remains *r, int node, int n_bonds)
{
    Point *x = &r->point[node];
    Wide least = BARRED;

    if (n_bonds == 0) {
        for (int k = 0; k < x->n; k++)
            least = !x->is_out[k] && x->cost[k] < least ? x->cost[k] : least;
        r->base += least;
        return;
    }
    Bond *e = &r->bond[x->bond[0]];
    Point *y = &r->point[far_end(e, node)];
    for (int l = 0; l < y->n; l++) {
        least = BARRED;
        for (int k = 0; k < x->n; k++) {
            Wide c = x->is_out[k] ? BARRED : bond_cost(r, e, node, k, l);
            least = c < BARRED && x->cost[k] + c < least ? x->cost[k] + c : least;
        }
        if (!y->is_out[l])
            y->cost[l] += least;  // settled: there is one
    }
    e->is_gone = true;
}

static bool eliminate(Remains *r, int node)
{
    enum { MOST_WORK = 1 << 30 };
    Point *x = &r->point[node];

    bonds_tidy(r, x);
    if (x->n_bonds > 2)
        return refuse(r, "the first has more than two edges", node, 0);
    if (x->n_bonds == 2) {
        int id[] = {x->bond[0], x->bond[1]};
        int64_t work = (int64_t)r->point[far_end(&r->bond[id[0]], node)].n * x->n;
        if (work * r->point[far_end(&r->bond[id[1]], node)].n > MOST_WORK)
            return refuse(r, "the first has too many alternatives between its neighbours'", node,
                          0);
        bridge(r, node, id);
    } else {
        prune(r, node, x->n_bonds);
    }
    x->is_gone = true;
    return true;
}

static int first_left(const Point *x)
{
    int k = 0;

    while (x->is_out[k])
        k++;
    return k;
}

static bool separate(Remains *r, int a, int b)
{
    int id = bond_between(r, a, b);

    if (id < 0)
        return refuse(r, "there is no edge between them", a, b);
    const Bond *e = &r->bond[id];
    Point *x = &r->point[a], *y = &r->point[b];
    int k0 = first_left(x), l0 = first_left(y);
    Wide corner = bond_cost(r, e, a, k0, l0);
    for (int k = 0; k < x->n; k++)
        for (int l = 0; l < y->n; l++) {
            if (x->is_out[k] || y->is_out[l])
                continue;
            Wide c = bond_cost(r, e, a, k, l);
            if (c >= BARRED || c - bond_cost(r, e, a, k0, l) != bond_cost(r, e, a, k, l0) - corner)
                return refuse(r, "their edge isn't a sum", a, b);
        }
    for (int k = 0; k < x->n; k++)
        x->cost[k] += x->is_out[k] ? 0 : bond_cost(r, e, a, k, l0);
    for (int l = 0; l < y->n; l++)
        y->cost[l] += y->is_out[l] ? 0 : bond_cost(r, e, a, k0, l) - corner;
    r->bond[id].is_gone = true;
    return true;
}

static bool is_there(const Remains *r, int64_t node)
{
    return node >= 0 && node < r->p->n_nodes && !r->point[node].is_gone;
}

// Whatever is out may leave others without a partner.
static void drop_full(Remains *r)
{
    r->is_empty |= !remains_full(r);
    for (int id = 0; id < r->n_bonds; id++)
        if (!r->bond[id].is_gone)
            wait(r, id);
}

bool remains_step(Remains *r, int64_t kind, int64_t node, int64_t other)
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
    settle(r);
    return ok;
}
