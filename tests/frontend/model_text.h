// Small ONNX models from text, so that a test's table shows them. Statements are lines (or parts of
// a line between ';'):
//
//     ir 8                               IR version, default 10
//     opset 13                           default 18
//     producer pytorch                   default none
//     input x f32[batch,4]
//     init w f32[2,2] 1 2 3 4            one number repeats
//     buffer w f32[2] 1                  the same, which PyTorch's exporter marks as a buffer
//     extern w f32[4] "w.bin" 16         external data at an offset
//     y, z = Op(a, , b) axis=1 alpha=0.5f ints=[1,2] mode='x' names=['x'] body={ … } in domain
//     y = Op(x) floats=[1f,2f] node="name"
//     y = Op(x) fx='aten.max.dim'        the operator of torch.export, in the node's metadata
//     output y
//     function domain Name(a, b) -> c { … }
//
// A value ref:NAME makes an attribute that refers to an attribute of the function.
//
// The tests write these texts, so a mistake in one is an assertion.
#ifndef SHARDCC_TESTS_MODEL_TEXT_H
#define SHARDCC_TESTS_MODEL_TEXT_H

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "onnx.pb-c.h"

typedef struct Reader {
    Arena *a;
    const char *s;
    Onnx__ModelProto *model;
} Reader;

static void *copy_of(Reader *r, const void *init, size_t size)
{
    return memcpy(arena_alloc(r->a, 1, size), init, size);
}

#define NEW(r, T, INIT) ((T *)copy_of(r, &(T)INIT, sizeof(T)))

// Appends to a repeated field: arrays of the generated structs have no capacity.
#define ADD(r, array, n, item)                                                                     \
    do {                                                                                           \
        void *old_ = (array);                                                                      \
        (array) = arena_alloc((r)->a, (n) + 1, sizeof *(array));                                   \
        if ((n) && old_)                                                                           \
            memcpy((array), old_, (n) * sizeof *(array));                                          \
        (array)[(n)++] = (item);                                                                   \
    } while (0)

static void skip_blanks(Reader *r)
{
    while (*r->s == ' ')
        r->s++;
}

static void skip_ends(Reader *r)
{
    while (*r->s && strchr(" \n;", *r->s))
        r->s++;
}

static bool take(Reader *r, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(r);
    if (strncmp(r->s, word, n) ||
        (isalnum((unsigned char)word[n - 1]) && isalnum((unsigned char)r->s[n])))
        return false;
    r->s += n;
    return true;
}

static void expect(Reader *r, const char *word)
{
    if (take(r, word))
        return;
    fprintf(stderr, "expected '%s' before '%s'\n", word, r->s);
    abort();
}

static char *name(Reader *r)
{
    const char *start;
    size_t n;

    skip_blanks(r);
    if (*r->s == '"' || *r->s == '\'') {
        char quote = *r->s++;
        start = r->s;
        n = strcspn(r->s, (char[]){quote, 0});
        r->s += n + 1;
    } else {
        start = r->s;
        n = strcspn(r->s, " \n;,()[]{}=");
        r->s += n;
    }
    return arena_copy(r->a, start, n);
}

static double number(Reader *r)
{
    char *end;

    skip_blanks(r);
    double v = strtod(r->s, &end);
    assert(end != r->s);
    r->s = end;
    return v;
}

static int32_t element_type(Reader *r)
{
    static const struct {
        const char *name;
        int32_t type;
    } types[] = {{"f32", 1},  {"u8", 2},   {"i8", 3},   {"i32", 6},  {"i64", 7},  {"str", 8},
                 {"bool", 9}, {"f16", 10}, {"f64", 11}, {"u64", 13}, {"bf16", 16}};

    for (int i = 0; i < COUNT(types); i++)
        if (!strncmp(r->s, types[i].name, strlen(types[i].name))) {
            r->s += strlen(types[i].name);
            return types[i].type;
        }
    assert(!"a type");
    return 0;
}

static Onnx__ValueInfoProto *value_info(Reader *r)
{
    Onnx__ValueInfoProto *v = NEW(r, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT);

    v->name = name(r);
    skip_blanks(r);
    if (!*r->s || strchr("\n;}", *r->s))
        return v;
    v->type = NEW(r, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT);
    Onnx__TypeProto__Tensor *t = v->type->tensor_type =
        NEW(r, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT);
    t->has_elem_type = true;
    t->elem_type = element_type(r);
    if (*r->s != '[')
        return v;
    t->shape = NEW(r, Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT);
    for (r->s++; *r->s != ']'; r->s += *r->s == ',') {
        Onnx__TensorShapeProto__Dimension *d =
            NEW(r, Onnx__TensorShapeProto__Dimension, ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT);
        d->has_dim_value = isdigit((unsigned char)*r->s) || *r->s == '-';
        if (d->has_dim_value)
            d->dim_value = strtoll(r->s, (char **)&r->s, 10);
        else if (*r->s == '?')
            r->s++;
        else
            d->dim_param = name(r);
        ADD(r, t->shape->dim, t->shape->n_dim, d);
    }
    r->s++;
    return v;
}

static int64_t read_dims(Reader *r, Onnx__TensorProto *t)
{
    int64_t count = 1;

    expect(r, "[");
    for (; *r->s != ']'; r->s += *r->s == ',') {
        int64_t d = strtoll(r->s, (char **)&r->s, 10);
        ADD(r, t->dims, t->n_dims, d);
        count *= d > 0 ? d : 1;
    }
    r->s++;
    return count;
}

static void add_number(Reader *r, Onnx__TensorProto *t, double v)
{
    if (t->data_type == 13)
        ADD(r, t->uint64_data, t->n_uint64_data, (uint64_t)(int64_t)v);
    else if (t->data_type == 1)
        ADD(r, t->float_data, t->n_float_data, (float)v);
    else if (t->data_type == 11)
        ADD(r, t->double_data, t->n_double_data, v);
    else if (t->data_type == 7)
        ADD(r, t->int64_data, t->n_int64_data, (int64_t)v);
    else
        ADD(r, t->int32_data, t->n_int32_data, (int32_t)v);
}

static Onnx__StringStringEntryProto *entry(Reader *r, char *key, char *value)
{
    Onnx__StringStringEntryProto *e =
        NEW(r, Onnx__StringStringEntryProto, ONNX__STRING_STRING_ENTRY_PROTO__INIT);

    e->key = key;
    e->value = value;
    return e;
}

static Onnx__TensorProto *tensor(Reader *r, bool is_external)
{
    Onnx__TensorProto *t = NEW(r, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);

    t->name = name(r);
    skip_blanks(r);
    t->has_data_type = true;
    t->data_type = element_type(r);
    int64_t count = read_dims(r, t);
    if (is_external) {
        t->has_data_location = true;
        t->data_location = 1;
        ADD(r, t->external_data, t->n_external_data, entry(r, "location", name(r)));
        ADD(r, t->external_data, t->n_external_data, entry(r, "offset", name(r)));
        return t;
    }
    double v = 0;
    for (int64_t i = 0; i < count; i++) {
        skip_blanks(r);
        if (*r->s && !strchr("\n;}", *r->s))
            v = number(r);
        add_number(r, t, v);
    }
    return t;
}

static Onnx__TensorProto *buffer(Reader *r)
{
    Onnx__TensorProto *t = tensor(r, false);

    ADD(r, t->metadata_props, t->n_metadata_props,
        entry(r, "pkg.torch.export.graph_signature.InputSpec.kind", "BUFFER"));
    return t;
}

static Onnx__GraphProto *graph(Reader *r);

static Onnx__AttributeProto *attribute(Reader *r)
{
    enum { FLOAT = 1, INT = 2, STRING = 3, GRAPH = 5, FLOATS = 6, INTS = 7, STRINGS = 8 };
    Onnx__AttributeProto *a = NEW(r, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);

    a->name = name(r);
    expect(r, "=");
    a->has_type = true;
    if (take(r, "ref:")) {
        a->ref_attr_name = name(r);
        a->type = FLOAT;
    } else if (*r->s == '\'') {
        a->type = STRING;
        a->has_s = true;
        a->s.data = (uint8_t *)name(r);
        a->s.len = strlen((char *)a->s.data);
    } else if (*r->s == '{') {
        a->type = GRAPH;
        a->g = graph(r);
    } else if (take(r, "['")) {
        a->type = STRINGS;
        r->s--;
        ProtobufCBinaryData text = {.data = (uint8_t *)name(r)};
        text.len = strlen((char *)text.data);
        ADD(r, a->strings, a->n_strings, text);
        expect(r, "]");
    } else if (*r->s == '[') {
        a->type = INTS;
        for (r->s++; *r->s != ']'; r->s += *r->s == ',') {
            double v = number(r);
            if (take(r, "f")) {
                a->type = FLOATS;
                ADD(r, a->floats, a->n_floats, (float)v);
            } else {
                ADD(r, a->ints, a->n_ints, (int64_t)v);
            }
        }
        r->s++;
    } else {
        double v = number(r);
        a->type = *r->s == 'f' ? FLOAT : INT;
        r->s += *r->s == 'f';
        a->has_f = a->type == FLOAT;
        a->f = (float)v;
        a->has_i = !a->has_f;
        a->i = (int64_t)v;
    }
    return a;
}

static Onnx__NodeProto *node(Reader *r)
{
    Onnx__NodeProto *n = NEW(r, Onnx__NodeProto, ONNX__NODE_PROTO__INIT);

    do
        ADD(r, n->output, n->n_output, name(r));
    while (take(r, ","));
    expect(r, "=");
    n->op_type = name(r);
    expect(r, "(");
    while (!take(r, ")")) {
        ADD(r, n->input, n->n_input, name(r));
        take(r, ",");
    }
    for (skip_blanks(r); *r->s && !strchr("\n;}", *r->s); skip_blanks(r)) {
        if (take(r, "in "))
            n->domain = name(r);
        else if (take(r, "node="))
            n->name = name(r);
        else if (take(r, "fx="))
            ADD(r, n->metadata_props, n->n_metadata_props,
                entry(
                    r, "pkg.torch.onnx.fx_node",
                    arena_string(r->a, "call_function[target=torch.ops.%s](args = ())", name(r))));
        else
            ADD(r, n->attribute, n->n_attribute, attribute(r));
    }
    return n;
}

static Onnx__OperatorSetIdProto *opset(Reader *r, char *domain, int64_t version)
{
    Onnx__OperatorSetIdProto *o =
        NEW(r, Onnx__OperatorSetIdProto, ONNX__OPERATOR_SET_ID_PROTO__INIT);

    o->domain = domain;
    o->has_version = true;
    o->version = version;
    return o;
}

static void function(Reader *r)
{
    Onnx__FunctionProto *f = NEW(r, Onnx__FunctionProto, ONNX__FUNCTION_PROTO__INIT);

    f->domain = name(r);
    f->name = name(r);
    expect(r, "(");
    while (!take(r, ")")) {
        ADD(r, f->input, f->n_input, name(r));
        take(r, ",");
    }
    expect(r, "->");
    f->output = NULL;
    ADD(r, f->output, f->n_output, name(r));
    skip_blanks(r);
    Onnx__GraphProto *body = graph(r);
    f->node = body->node;
    f->n_node = body->n_node;
    ADD(r, f->opset_import, f->n_opset_import, opset(r, "", 18));
    ADD(r, r->model->functions, r->model->n_functions, f);
}

// Reads statements up to the end of the text or up to the closing brace.
static Onnx__GraphProto *graph(Reader *r)
{
    Onnx__GraphProto *g = NEW(r, Onnx__GraphProto, ONNX__GRAPH_PROTO__INIT);

    take(r, "{");
    for (skip_ends(r); *r->s && *r->s != '}'; skip_ends(r)) {
        if (take(r, "input "))
            ADD(r, g->input, g->n_input, value_info(r));
        else if (take(r, "output "))
            ADD(r, g->output, g->n_output, value_info(r));
        else if (take(r, "info "))
            ADD(r, g->value_info, g->n_value_info, value_info(r));
        else if (take(r, "init "))
            ADD(r, g->initializer, g->n_initializer, tensor(r, false));
        else if (take(r, "buffer "))
            ADD(r, g->initializer, g->n_initializer, buffer(r));
        else if (take(r, "extern "))
            ADD(r, g->initializer, g->n_initializer, tensor(r, true));
        else if (take(r, "function "))
            function(r);
        else if (take(r, "ir "))
            r->model->ir_version = (int64_t)number(r);
        else if (take(r, "producer "))
            r->model->producer_name = name(r);
        else if (take(r, "opset "))
            r->model->opset_import[0]->version = (int64_t)number(r);
        else
            ADD(r, g->node, g->n_node, node(r));
    }
    take(r, "}");
    return g;
}

// Gives the model's bytes, allocated in `a`.
static uint8_t *model_from_text(Arena *a, const char *text, size_t *size)
{
    Reader r = {.a = a, .s = text};

    r.model = NEW(&r, Onnx__ModelProto, ONNX__MODEL_PROTO__INIT);
    r.model->has_ir_version = true;
    r.model->ir_version = 10;
    ADD(&r, r.model->opset_import, r.model->n_opset_import, opset(&r, "", 18));
    r.model->graph = graph(&r);
    assert(!*r.s);
    *size = onnx__model_proto__get_packed_size(r.model);
    uint8_t *bytes = arena_alloc(a, *size + 1, 1);
    onnx__model_proto__pack(r.model, bytes);
    return bytes;
}

#endif
