// iota: every element is its own index along one dim.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { SHAPE, AXIS, DTYPE };

static bool iota_infer(Graph *g, Node *n, Diag *d)
{
    DType t = (DType)n->attr[DTYPE].i;

    if (n->attr[DTYPE].i <= DT_NONE || n->attr[DTYPE].i >= N_DTYPES || t == BOOL)
        return node_error(g, n, d, "makes floats or integers, not %s",
                          t > DT_NONE && t < N_DTYPES ? dtype_name(t) : "none");
    return infer_axis(g, n, "axis", n->attr[AXIS].i, n->attr[SHAPE].n, d) &&
           infer_set(g, n, 0, t, n->attr[SHAPE].n, n->attr[SHAPE].v, d);
}

static void iota_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x, Tensor *y)
{
    int axis = (int)n->attr[AXIS].i;
    int64_t index[MAX_RANK] = {0}, offset = p ? p->offset[axis] : 0;

    for (int64_t k = 0; k < tensor_count(y); k++, index_next(index, y->rank, y->dim)) {
        if (y->f)
            y->f[k] = (double)(offset + index[axis]);
        else
            y->i[k] = offset + index[axis];
    }
}

static const char *iota_expr(const Graph *g, const Node *n)
{
    const char *cast = arena_string(g->arena, "(%s)", dtype_c_type(out(g, n)->dtype));

    return arena_string(g->arena, "%s$i%d", out(g, n)->dtype == I64 ? "" : cast,
                        (int)n->attr[AXIS].i);
}

// Keeps the axis whole: the index along several dims would be a sum of iotas.
static void iota_relate(const Graph *g, const Node *n, Relation *r)
{
    relate_whole(r, 0, (int)n->attr[AXIS].i);
}

static ValueId iota_split(Graph *g, const Node *n, const Split *s)
{
    const Refined *y = &s->operand[0];

    return make_iota(g, (DType)n->attr[DTYPE].i, y->rank, y->dim, y->first[n->attr[AXIS].i]);
}

const OpDef op_iota = {
    .name = "iota",
    .n_in = 0,
    .attrs = {{"shape", ATTR_INTS}, {"axis", ATTR_INT}, {"dtype", ATTR_INT, .is_dtype = true}},
    .infer = iota_infer,
    .rule = rule_source,
    .relate = iota_relate,
    .split = iota_split,
    .localise = localise_shape,
    .eval = iota_eval,
    .expr = iota_expr,
    .no_grad = "it has no inputs",
};
