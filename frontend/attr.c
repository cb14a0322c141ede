// Reads attributes of a node. In the body of a function, an attribute may refer to one of the call.
#include "frontend/internal.h"

enum { TYPE_FLOAT = 1, TYPE_INT = 2 };

static const Onnx__AttributeProto *find_in(size_t n, Onnx__AttributeProto **attribute,
                                           const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (attribute[i]->name && !strcmp(attribute[i]->name, name))
            return attribute[i];
    return NULL;
}

const Onnx__AttributeProto *attr_find(const Op *o, const char *name)
{
    const Onnx__AttributeProto *a = find_in(o->node->n_attribute, o->node->attribute, name);

    if (!a || !a->ref_attr_name || !*a->ref_attr_name)
        return a;
    const Onnx__FunctionProto *f = o->frame->function;
    if (!f)
        return NULL;
    const Onnx__AttributeProto *given = attr_find(o->frame->call, a->ref_attr_name);
    return given ? given : find_in(f->n_attribute_proto, f->attribute_proto, a->ref_attr_name);
}

int64_t attr_int(const Op *o, const char *name, int64_t missing)
{
    const Onnx__AttributeProto *a = attr_find(o, name);

    return a && (a->has_i || a->type == TYPE_INT) ? a->i : missing;
}

double attr_float(const Op *o, const char *name, double missing)
{
    const Onnx__AttributeProto *a = attr_find(o, name);

    return a && (a->has_f || a->type == TYPE_FLOAT) ? a->f : missing;
}

const char *attr_text(const Op *o, const char *name, const char *missing)
{
    const Onnx__AttributeProto *a = attr_find(o, name);

    return a && a->has_s ? arena_copy(o->x->arena, (const char *)a->s.data, a->s.len) : missing;
}

const int64_t *attr_ints(const Op *o, const char *name, int *n)
{
    const Onnx__AttributeProto *a = attr_find(o, name);

    *n = a && a->n_ints <= MAX_OPERANDS ? (int)a->n_ints : 0;
    return a ? a->ints : NULL;
}

bool attr_ints_of(Op *o, const char *name, int n, int64_t missing, int64_t *v)
{
    const Onnx__AttributeProto *a = attr_find(o, name);

    if (a && a->n_ints && a->n_ints != (size_t)n)
        return op_error(o, "attribute %s has %zu numbers, expected %d", name, a->n_ints, n);
    for (int i = 0; i < n; i++)
        v[i] = a && a->n_ints ? a->ints[i] : missing;
    return true;
}
