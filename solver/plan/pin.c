// Applies pins, the decisions that are given.
#include <string.h>

#include "solver/plan/build_problem.h"

enum { SPECS_SUGGESTED = 3 };

// The number of axes in which two specs differ.
static int distance(const Mesh *m, const Spec *a, const Spec *b)
{
    int n = 0;

    for (int i = 0; i < m->n_axes; i++)
        n += a->at[i] != b->at[i] || a->level[i] != b->level[i];
    return n;
}

static const char *name_of(const Graph *g, ValueId v)
{
    const char *name = value_of(g, v)->name;

    return name ? name : arena_string(g->arena, "v%d", (int)v);
}

static void print_nearest(const Mesh *m, const Value *x, const Variable *v, const Spec *to, Text *t)
{
    int n = 0;

    for (int n_axes_between = 1; n_axes_between <= m->n_axes; n_axes_between++)
        for (int k = 0; k < v->n && n < SPECS_SUGGESTED; k++)
            if (distance(m, &v->spec[k], to) == n_axes_between) {
                text_put(t, ", ", n++ ? 2 : 0);
                spec_print(m, x, &v->spec[k], t);
            }
}

static bool no_spec(const Graph *g, const Mesh *m, const Pin *pin, const Variable *v, Diag *d)
{
    static const char *const in[] = {"forward", "backward", "the update"};
    const Value *x = value_of(g, pin->id);
    Text spec = {0}, nearest = {0};

    spec_print(m, x, &pin->spec, &spec);
    if (v)
        print_nearest(m, x, v, &pin->spec, &nearest);
    if (!v)
        diag_error(d, "value '%s' has a pinned compute spec, but nothing reads it in %s",
                   name_of(g, pin->id), in[pin->phase]);
    else if (pin->kind == PIN_STORAGE)
        diag_error(d, "value '%s': no strategy allows the storage spec %s; the nearest are %s",
                   name_of(g, pin->id), spec.s, nearest.s);
    else
        diag_error(d,
                   "value '%s': no strategy allows the compute spec %s in %s; the nearest are %s",
                   name_of(g, pin->id), spec.s, in[pin->phase], nearest.s);
    text_free(&spec);
    text_free(&nearest);
    return false;
}

static int variable_of(const PlanProblem *q, const Pin *pin)
{
    if (pin->kind == PIN_STRATEGY)
        return q->of_node[q->tied.node[pin->id]];
    if (pin->kind == PIN_STORAGE)
        return q->of_value[q->tied.value[pin->id]];
    return q->of_compute_spec[3 * q->tied.value[pin->id] + (int)pin->phase];
}

static bool disagree(const Graph *g, const Pin *pin, Diag *d)
{
    if (pin->kind == PIN_STRATEGY)
        return node_error(g, &g->nodes[pin->id], d,
                          "its pin differs from that of another iteration of its block");
    diag_error(d, "value '%s': its pin differs from that of a tied value", name_of(g, pin->id));
    return false;
}

static bool pin_apply(const PlanProblem *q, const Graph *g, const Mesh *m, const Pin *pin,
                      bool *keep, Diag *d)
{
    int at = variable_of(q, pin), k = 0;
    const Variable *v = at < 0 ? NULL : &q->variable[at];

    while (v && k < v->n && !spec_equal(&v->spec[k], &pin->spec))
        k++;
    if (!v || k == v->n)
        return pin->kind == PIN_STRATEGY
                   ? node_error(g, &g->nodes[pin->id], d,
                                "the pinned strategy is not one of its strategies")
                   : no_spec(g, m, pin, v, d);
    keep += q->problem.first[at];
    if (!keep[k])
        return disagree(g, pin, d);
    memset(keep, 0, (size_t)v->n * sizeof *keep);
    return keep[k] = true;
}

bool pins_apply(const PlanProblem *q, const Graph *g, const Mesh *m, const PlanOptions *o,
                bool *keep, Diag *d)
{
    bool ok = true;

    for (int i = 0; i < o->n_pins; i++)
        ok &= pin_apply(q, g, m, &o->pin[i], keep, d);
    return ok;
}
