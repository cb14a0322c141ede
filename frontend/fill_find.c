// Looks up the values that fill tensors of the model.
#include "frontend/weight_file.h"

static Fill *find(const Import *x, const Onnx__TensorProto *t)
{
    char key[PART_KEY];
    int32_t i = x->fills ? map_get(&x->fills->index, part_key(key, t)) : 0;

    return i ? &x->fills->fill[i - 1] : NULL;
}

const WeightValue *fill_value(const Import *x, const Onnx__TensorProto *t)
{
    const Fill *f = find(x, t);

    return f && !x->o->only_weights ? f->value : NULL;
}

bool fill_lacks_bytes(const Import *x, const Onnx__TensorProto *t)
{
    const Fill *f = find(x, t);

    return f && f->lacks_bytes;
}

bool fill_share(Import *x, const Onnx__TensorProto *a, const Onnx__TensorProto *b)
{
    Fill *f = find(x, a), *g = find(x, b);

    if (!f || !g || f->value == g->value)
        return true;
    if (f->value && g->value && !weight_value_equal(f->value, g->value)) {
        diag_error(x->diag,
                   "'%.200s' and '%.200s' are one tensor of the model, but have two values in "
                   "'%.200s'",
                   a->name, b->name, x->o->values->name);
        return false;
    }
    f->value = g->value = f->value ? f->value : g->value;
    return true;
}

void fill_note(Import *x, const Onnx__TensorProto *t, const char *weight)
{
    Fill *f = find(x, t);

    if (f)
        f->weight = weight;
}
