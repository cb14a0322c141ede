// Checks that each pass leaves what a graph computes.
#include <math.h>
#include <string.h>

#include "ir/values/internal.h"

// Operations on elements: of one evaluation, above which a graph isn't evaluated, and of one
// evaluation for each edge, which bounds how many edges are tried. eval does 1e8 of them a second.
static const double MAX_WORK = 5e8, MAX_EDGE_WORK = 6e7;

// ---- work ----

// Multiplies the sizes of the factors: the steps of eval's loops, for most operators.
static double node_steps(const Graph *g, const Node *n)
{
    Arena *a = arena_new();
    Rule r;
    double steps = 1, all = 0;

    node_rule(a, g, n, &r);
    for (int i = 0; i < r.n_factors; i++)
        steps *= (double)r.size[i];
    arena_free(a);
    for (int k = 0; k < n->n_out; k++)
        all += (double)value_count(value_of(g, n->out[k]));
    return fmax(fmax(steps, all), n->op->work ? n->op->work(g, n) / 2 : 0);
}

static double graph_steps(const Graph *g)
{
    double steps = 0;

    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer)
            steps += (double)value_count(value_of(g, v));
    for (NodeId i = 1; i < g->n_nodes; i++)
        steps += node_steps(g, &g->nodes[i]);
    return steps;
}

// Is the edge one of those to try?
static bool is_tried(const ValueCheck *c, Edge e)
{
    int n = 0, at = 0;

    for (int i = EDGE_NONE + 1; i < N_EDGES; i++) {
        n += draws_edge(&c->draws, i);
        at += i < (int)e && draws_edge(&c->draws, i);
    }
    bool is_drawn = !c->seed || (n && (int)(c->seed % (uint64_t)n) == at);
    return draws_edge(&c->draws, e) && (e == EDGE_NONE || is_drawn);
}

static int count_edges(const ValueCheck *c, const Side *s)
{
    double most = MAX_EDGE_WORK / (graph_steps(s->g) * side_accumulate(c, s));

    return most < 1 ? 1 : most > N_EDGES ? N_EDGES : (int)most;
}

// ---- sides ----

// Has autodiff run? Where nothing is trained, it makes at most accumulators.
static bool has_gradients(const Graph *g)
{
    bool has = output_of_role(g, OUTPUT_GRADIENT);

    for (int i = 0; i < g->n_carries; i++)
        has |= g->carries[i].scope == SCOPE_MICRO;
    return has;
}

// The graph with the gradients that autodiff makes of it, if it has a loss and none yet.
static Graph *with_gradients(Arena *a, Graph *g, int accumulate)
{
    Text said = {0};
    Diag d = {.to = &said};
    Graph *to = g;

    if (g->training && output_of_role(g, OUTPUT_LOSS_SUM) && !has_gradients(g)) {
        to = graph_clone(a, g);
        if (!autodiff(to, accumulate, &d))
            to = g;
    }
    text_free(&said);
    return to;
}

static void list_ends(Side *s)
{
    const Graph *g = s->g;

    s->end = arena_array(s->arena, End, g->n_outputs + g->n_carries + 1);
    for (int i = 0; i < g->n_outputs; i++) {
        const Output *o = &g->outputs[i];
        s->end[s->n_ends++] = (End){o->name ? o->name : "", o->role, o->value};
    }
    for (int i = 0; i < g->n_carries; i++) {
        const char *name = value_of(g, g->carries[i].in)->name;
        if (g->carries[i].scope == SCOPE_STEP && name)
            s->end[s->n_ends++] = (End){name, N_ROLES, g->carries[i].out};
    }
}

static Tensor copied(Arena *a, const Tensor *t)
{
    Tensor y = tensor_new(a, t->dtype, t->rank, t->dim);

    memcpy(y.f ? (void *)y.f : y.i, t->f ? (void *)t->f : t->i, 8 * (size_t)tensor_count(t));
    return y;
}

static void eval_ends(const ValueCheck *c, Side *s, Edge e)
{
    Arena *a = arena_new();
    Tensor *value = side_eval(a, c, s, e, NULL);

    s->result[e] = arena_array(s->arena, Tensor, s->n_ends + 1);
    for (int i = 0; i < s->n_ends; i++)
        s->result[e][i] = copied(s->arena, &value[s->map[s->end[i].v]]);
    arena_free(a);
}

// False: it takes too long, or can't be evaluated in f64.
static bool side_new(ValueCheck *c, const Graph *g, Side *s, Diag *d)
{
    Text said = {0};
    Diag quiet = {.to = &said};
    double steps;

    *s = (Side){.arena = arena_new()};
    s->base = graph_clone(s->arena, g);
    s->g = with_gradients(s->arena, s->base, c->accumulate);
    steps = graph_steps(s->g) * side_accumulate(c, s);
    if (steps > MAX_WORK) {
        diag_warn(d,
                  "--verify checks the graph's form alone: to evaluate it takes %.2g operations on "
                  "elements, more than %.2g; smaller dims, by --bind or --shape, take less",
                  steps, MAX_WORK);
        return false;
    }
    s->wide = graph_widen(s->arena, s->g, &s->map, &quiet);
    if (!s->wide)
        diag_warn(d, "--verify checks the graph's form alone: it can't be evaluated in f64");
    text_free(&said);
    if (!s->wide)
        return false;
    list_ends(s);
    for (int e = 0, n = count_edges(c, s); e < N_EDGES && n > 0; e++)
        if (is_tried(c, e)) {
            eval_ends(c, s, e);
            n--;
        }
    return true;
}

static void side_end(Side *s)
{
    if (s->arena)
        arena_free(s->arena);
    *s = (Side){0};
}

// ---- random numbers ----

static bool is_drawing(const Node *n) { return n->phase == FORWARD && node_site(n); }

static bool is_same_source(const Node *a, const Node *b)
{
    return a->source && b->source && !strcmp(a->source->name, b->source->name) &&
           !strcmp(a->source->scope, b->source->scope);
}

// The node of `g` that draws the same numbers as node `i` of `from`. NULL: it isn't known.
static const Node *find_draw(const Graph *g, const Graph *from, NodeId i)
{
    int before = 0;

    for (NodeId k = 1; k < i; k++)
        before += is_drawing(&from->nodes[k]) && is_same_source(&from->nodes[k], &from->nodes[i]);
    for (NodeId k = 1; k < g->n_nodes; k++)
        if (is_drawing(&g->nodes[k]) && is_same_source(&g->nodes[k], &from->nodes[i]) && !before--)
            return &g->nodes[k];
    return NULL;
}

// The pass that labels blocks gives new numbers to the nodes that draw random ones, which is no
// other model. Numbers those of the earlier graph alike. Returns whether any number is new.
static bool renumber_draws(Graph *was, const Graph *now)
{
    bool is_new = false;

    for (NodeId i = 1; i < was->n_nodes; i++) {
        Node *n = &was->nodes[i];
        const Node *from = is_drawing(n) ? find_draw(now, was, i) : NULL;
        if (!from)
            continue;
        for (int k = 0; k < 2; k++) {
            int64_t number = from->attr[node_site(from) + k].i;
            is_new |= n->attr[node_site(n) + k].i != number;
            n->attr[node_site(n) + k].i = number;
        }
    }
    return is_new;
}

static bool side_renew(ValueCheck *c, Side *was, const Graph *now, Diag *d)
{
    Side s;

    if (!renumber_draws(was->base, now))
        return true;
    bool ok = side_new(c, was->base, &s, d);
    side_end(was);
    *was = s;
    return ok;
}

// ---- reports ----

static const char *const role_names[] = {
    [OUTPUT_MODEL] = "output",       [OUTPUT_LOSS_SUM] = "output",
    [OUTPUT_LOSS_COUNT] = "output",  [OUTPUT_GRADIENT] = "gradient of",
    [OUTPUT_GRAD_NORM] = "output",   [OUTPUT_BAD_LABEL] = "output",
    [OUTPUT_BAD_INDEX] = "output",   [OUTPUT_BAD_SIZES] = "output",
    [OUTPUT_LOSS_FACTOR] = "output", [OUTPUT_LOSS_SCALE] = "output",
    [N_ROLES] = "new value of"};

static bool tensors_differ(const Tensor *x, const Tensor *y, int64_t *at)
{
    double scale = tensor_scale(x);

    for (*at = 0; *at < tensor_count(x); ++*at)
        if (!is_near(tensor_at(x, *at), tensor_at(y, *at), scale, 1e-6))
            return true;
    return false;
}

static const char *node_text(Arena *a, const Graph *g, const Node *n)
{
    const char *name = n->source && n->source->name[0] ? n->source->name : NULL;

    return name ? arena_string(a, "node '%s' (%s)", name, n->op->name)
                : arena_string(a, "a node %s", n->op->name);
}

// Finds the first value of the later graph that the earlier one has by name and with other numbers.
// 0: there is none.
static ValueId find_first(Arena *a, const Side *was, const Side *now, const Tensor *x,
                          const Tensor *y, ValueId *before, int64_t *at)
{
    Map names = {.arena = a};

    for (ValueId v = 1; v < was->g->n_values; v++)
        if (value_of(was->g, v)->producer && value_of(was->g, v)->name)
            map_set(&names, value_of(was->g, v)->name, v);
    for (NodeId i = 1; i < now->g->n_nodes; i++)
        for (int k = 0; k < now->g->nodes[i].n_out; k++) {
            ValueId v = now->g->nodes[i].out[k];
            const char *name = value_of(now->g, v)->name;
            *before = name ? map_get(&names, name) : 0;
            if (!*before)
                continue;
            const Tensor *s = &x[was->map[*before]], *t = &y[now->map[v]];
            if (tensor_count(s) == tensor_count(t) && tensors_differ(s, t, at))
                return v;
        }
    return 0;
}

static void say_where(const ValueCheck *c, const Side *now, Edge e, const Difference *diff, Diag *d)
{
    const Side *was = &c->was;
    Arena *a = arena_new();
    Tensor *x = side_eval(a, c, was, e, NULL), *y = side_eval(a, c, now, e, NULL);
    ValueId before, v = find_first(a, was, now, x, y, &before, &(int64_t){0});
    int64_t at = 0;

    if (v) {
        tensors_differ(&x[was->map[before]], &y[now->map[v]], &at);
        diag_note(
            d, "the first value that differs is '%s', of %s: element %" PRId64 " was %.9g, is %.9g",
            value_of(now->g, v)->name, node_text(a, now->g, producer(now->g, v)), at,
            tensor_at(&x[was->map[before]], at), tensor_at(&y[now->map[v]], at));
    } else if (producer(now->g, now->end[diff->end].v)->op) {
        diag_note(d, "it is of %s", node_text(a, now->g, producer(now->g, now->end[diff->end].v)));
    }
    arena_free(a);
}

static bool compare_edge(const ValueCheck *c, const Side *now, Edge e, const char *pass, Diag *d)
{
    Difference diff;
    double slope[2];

    if (sides_differ(c, &c->was, now, e, &diff)) {
        const End *end = &now->end[diff.end];
        diag_error(d,
                   "after the pass '%s', with %s, %s '%s' is another one: element %" PRId64
                   " was %.9g, is %.9g",
                   pass, edge_names[e], role_names[end->role], end->name, diff.element, diff.was,
                   diff.is);
        say_where(c, now, e, &diff, d);
        return false;
    }
    if (output_of_role(c->was.base, OUTPUT_GRADIENT) ||
        !output_of_role(now->base, OUTPUT_GRADIENT) || e > EDGE_TIES)
        return true;
    const char *name = find_wrong_slope(c, &c->was, now, e, slope);
    if (name)
        diag_error(d,
                   "after the pass '%s', with %s, the gradient of '%s' is wrong: along a random "
                   "direction the slope is %.9g, differences of the loss say %.9g",
                   pass, edge_names[e], name, slope[0], slope[1]);
    return !name;
}

// ---- passes ----

ValueCheck *value_check_new(Arena *a, int accumulate, uint64_t seed)
{
    ValueCheck *c = arena_array(a, ValueCheck, 1);

    c->accumulate = accumulate;
    c->seed = seed;
    c->draws.arena = a;
    return c;
}

void value_check_end(ValueCheck *c) { side_end(&c->was); }

bool value_check(ValueCheck *c, const Graph *g, const char *pass, Diag *d)
{
    bool ok = true;
    Side now = {0};

    if (c->is_over)
        return true;
    draws_learn(&c->draws, g);
    c->is_over = (c->was.arena && !side_renew(c, &c->was, g, d)) || !side_new(c, g, &now, d);
    for (int e = 0; e < N_EDGES && ok && c->was.arena && !c->is_over; e++)
        if (c->was.result[e] && now.result[e])
            ok = compare_edge(c, &now, e, pass, d);
    side_end(&c->was);
    c->was = now;
    if (c->is_over)
        side_end(&c->was);
    return ok;
}
