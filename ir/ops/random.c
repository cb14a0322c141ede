// random: uniform numbers in [0, 1) that depend only on seed, step, site, layer and the element's
// index in the whole batch. So sharding, micro-batches and recomputation don't change them.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_philox.h"

enum { SHAPE, SITE, LAYER, MICRO_AXIS, MICRO };

static bool random_infer(Graph *g, Node *n, Diag *d)
{
    const Attr *shape = &n->attr[SHAPE];
    int64_t axis = n->attr[MICRO_AXIS].i, whole;

    if (axis != -1 && !infer_axis(g, n, "micro_axis", axis, shape->n, d))
        return false;
    if (!infer_draw(g, n, 0, SITE, n->attr[MICRO].i, d))
        return false;
    if (!infer_set(g, n, 0, F32, shape->n, shape->v, d))
        return false;
    if (!mul_size(value_count(out(g, n)), n->attr[MICRO].i, &whole))
        return node_error(g, n, d, "the whole batch has too many elements");
    return true;
}

static void random_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                        Tensor *y)
{
    int64_t index[MAX_RANK] = {0}, global[MAX_RANK], whole[MAX_RANK];
    int64_t seed = x[0].i[0], step = x[1].i[0], micro = x[2].i[0], axis = n->attr[MICRO_AXIS].i;

    for (int64_t k = 0; k < tensor_count(y); k++, index_next(index, y->rank, y->dim)) {
        for (int i = 0; i < y->rank; i++) {
            whole[i] = p ? p->whole[i] : y->dim[i];
            global[i] = (p ? p->offset[i] : 0) + index[i];
            if (i == axis) {
                global[i] += micro * whole[i];
                whole[i] *= n->attr[MICRO].i;
            }
        }
        y->f[k] = (double)rt_uniform(seed, step, n->attr[SITE].i, n->attr[LAYER].i,
                                     index_at(global, y->rank, whole));
    }
}

// Do micro-batches split dim i?
static bool is_split(const Node *n, int i)
{
    return i == n->attr[MICRO_AXIS].i && n->attr[MICRO].i > 1;
}

// Prints the row-major index of the element in the whole batch, by Horner's rule.
static void print_element(const Node *n, Text *t)
{
    const Attr *shape = &n->attr[SHAPE];

    if (shape->n == 0)
        text_printf(t, "0");
    for (int i = is_split(n, 0) ? 1 : 2; i < shape->n; i++)
        text_printf(t, "(");
    for (int i = 0; i < shape->n; i++) {
        bool split = is_split(n, i);

        if (i)
            text_printf(t, "%s * $n%d", i > 1 || is_split(n, 0) ? ")" : "", i);
        if (i && split)
            text_printf(t, " * %" PRId64, n->attr[MICRO].i);
        text_printf(t, "%s$i%d", i ? " + " : "", i);
        if (split)
            text_printf(t, " + $2 * $n%d", i);
    }
}

static const char *random_expr(const Graph *g, const Node *n)
{
    Text t = {0};

    text_printf(&t, "rt_uniform($0, $1, %" PRId64 ", $a%d, ", n->attr[SITE].i, LAYER);
    print_element(n, &t);
    text_printf(&t, ")");
    const char *s = arena_copy(g->arena, t.s, t.n);
    text_free(&t);
    return s;
}

// Keeps the dim that micro-batches split, even if it has size 1.
static void random_relate(const Graph *g, const Node *n, Relation *r)
{
    int axis = (int)n->attr[MICRO_AXIS].i;

    if (axis >= 0 && out(g, n)->dim[axis] == 1)
        relate_whole(r, n->n_in, axis);
}

// Elements keep their row-major index, so their numbers stay the same.
static ValueId random_split(Graph *g, const Node *n, const Split *s)
{
    const Refined *y = &s->operand[n->n_in];
    int64_t axis = n->attr[MICRO_AXIS].i;

    return make_random(g, s->in[0], s->in[1], s->in[2], y->rank, y->dim, n->attr[SITE].i,
                       n->attr[LAYER].i, axis < 0 ? -1 : y->first[axis], n->attr[MICRO].i);
}

static int random_site(const Node *n) { return SITE; }

const OpDef op_random = {
    .name = "random",
    .n_in = 3,
    .attrs = {{"shape", ATTR_INTS},
              {"site", ATTR_INT},
              {"layer", ATTR_INT, .is_affine = true},
              {"micro_axis", ATTR_INT, .missing = -1},
              {"micro", ATTR_INT, .missing = 1}},
    .infer = random_infer,
    .rule = rule_source,
    .relate = random_relate,
    .split = random_split,
    .localise = localise_shape,
    .eval = random_eval,
    .expr = random_expr,
    .site = random_site,
    .flops = 30,
    .no_grad = "it has no float inputs",
};
