// Values that are one number everywhere.
#include "ir/internal.h"

bool value_splat(const Graph *g, ValueId v, double *x)
{
    const Value *value = value_of(g, v);

    if (!v || (value->kind != VALUE_CONSTANT && !value->producer))
        return false;
    if (value->kind == VALUE_CONSTANT) {
        if (value_count(value) != 1 || !value->data)
            return false;
        Value scalar = *value;
        scalar.rank = 0;
        Tensor t = tensor_of(g->arena, &scalar);
        *x = t.f ? t.f[0] : float_of_int(t.dtype, t.i[0]);
        return true;
    }
    const Node *n = producer(g, v);
    if (n->op != &op_broadcast && n->op != &op_reshape && n->op != &op_cast)
        return false;
    if (!value_splat(g, n->in[0], x))
        return false;
    if (dtype_is_float(value->dtype))
        *x = round_float(value->dtype, *x);
    else
        *x = float_of_int(value->dtype, int_of_float(value->dtype, *x));
    return true;
}
