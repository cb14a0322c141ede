// Gives an operator's importer access to its node: inputs, outputs, messages.
#include "frontend/internal.h"

bool has(const Op *o, int i) { return i < o->n_in && (o->in[i].value || o->in[i].is_sequence); }

const char *metadata_value(size_t n, Onnx__StringStringEntryProto **prop, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (prop[i]->key && prop[i]->value && !strcmp(prop[i]->key, key))
            return prop[i]->value;
    return NULL;
}

const char *fx_node_of(const Onnx__NodeProto *node)
{
    const char *s =
        metadata_value(node->n_metadata_props, node->metadata_props, "pkg.torch.onnx.fx_node");

    return s ? s : "";
}

bool wants(const Op *o, int i) { return i < o->n_out && *o->node->output[i]; }

void give(Op *o, int i, ValueId v)
{
    if (i >= o->n_out)
        return;
    if (!v)
        o->failed = true;
    o->out[i].value = v ? known_canonical(o->x, v) : 0;
}

const Tensor *arg_known(const Op *o, int i) { return has(o, i) ? known_of(o->x, arg(o, i)) : NULL; }

static bool not_known(Op *o, int i, const char *what)
{
    op_error(o, "%s must be known when compiling, '%s' is not", what, arg_name(o, i));
    if (known_is_full(o->x))
        diag_note(o->x->diag, "too many values were computed at compile time already");
    return false;
}

bool arg_ints(Op *o, int i, const char *what, int max, int *n, int64_t *v)
{
    const Tensor *t = arg_known(o, i);
    const Value *value = arg_value(o, i);

    if (!t)
        return not_known(o, i, what);
    if (dtype_is_float(t->dtype) || t->rank > 1)
        return op_error(o, "%s must be a vector of integers", what);
    int64_t count = value_count(value);
    if (count > max)
        return op_error(o, "%s has %" PRId64 " elements, more than %d", what, count, max);
    *n = (int)count;
    for (int k = 0; k < *n; k++)
        v[k] = t->i[t->rank && t->dim[0] > 1 ? k : 0];
    return true;
}

bool arg_number(Op *o, int i, const char *what, double *v)
{
    const Tensor *t = arg_known(o, i);

    if (!t)
        return not_known(o, i, what);
    if (!known_is_splat(t))
        return op_error(o, "%s must be a single number", what);
    *v = known_number(t, 0);
    return true;
}

bool op_axis(Op *o, int64_t *axis, int rank)
{
    if (*axis < -rank || *axis >= rank)
        return op_error(o, "axis %" PRId64 " is out of range for rank %d", *axis, rank);
    *axis += *axis < 0 ? rank : 0;
    return true;
}

bool op_split(Op *o, int axis, int n, const int64_t *size, int64_t each, ValueId *part)
{
    int64_t whole = arg_value(o, 0)->dim[axis], left = whole;

    for (int i = 0; i < n; i++) {
        int64_t k = size ? size[i] : each < left ? each : left;
        if (k < 0 || k > left)
            return op_error(o, "its parts don't add up to %" PRId64, whole);
        part[i] = slice_axis(o->g, arg(o, 0), axis, whole - left, k, 1);
        left -= k;
    }
    return left == 0 || op_error(o, "its parts don't add up to %" PRId64, whole);
}

bool op_axes(Op *o, int n, int64_t *axes, int rank)
{
    bool taken[MAX_RANK] = {false};

    for (int i = 0; i < n; i++) {
        if (!op_axis(o, &axes[i], rank))
            return false;
        if (taken[axes[i]])
            return op_error(o, "axis %" PRId64 " occurs twice", axes[i]);
        taken[axes[i]] = true;
    }
    for (int axis = 0, i = 0; axis < rank; axis++)
        if (taken[axis])
            axes[i++] = axis;
    return true;
}
