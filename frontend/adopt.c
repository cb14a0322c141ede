// Files that were exported without their parameters. PyTorch's older exporter makes inputs of them,
// after the model's own; the newer one leaves names that nothing defines, with neither type nor
// shape. With values for them they become initializers, as if they had been exported.
#include <ctype.h>

#include "frontend/weight_file.h"

// ---- names that nothing defines ----

typedef struct Names {
    Map defined, seen;
    const char **used;  // each once, in the order of the nodes
    int n, cap;
    Arena *a;
} Names;

static void add_used(Names *x, const char *name)
{
    if (!name || !*name || map_get(&x->seen, name))
        return;
    map_set(&x->seen, name, 1);
    *arena_push(x->a, x->used, x->n, x->cap) = name;
}

static void add_defined(Names *x, const char *name)
{
    if (name)
        map_set(&x->defined, name, 1);
}

// Subgraphs see the names around them. The wire format is checked, so they nest to a bound.
static void scan_graph(Names *x, const Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_input; i++)
        add_defined(x, g->input[i]->name);
    for (size_t i = 0; i < g->n_initializer; i++)
        add_defined(x, g->initializer[i]->name);
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *node = g->node[i];
        for (size_t k = 0; k < node->n_input; k++)
            add_used(x, node->input[k]);
        for (size_t k = 0; k < node->n_output; k++)
            add_defined(x, node->output[k]);
        for (size_t k = 0; k < node->n_attribute; k++)
            if (node->attribute[k]->g)
                scan_graph(x, node->attribute[k]->g);
    }
    for (size_t i = 0; i < g->n_output; i++)
        add_used(x, g->output[i]->name);
}

static Fill *add(Import *x, Fills *f, const char *name)
{
    Fill *to = arena_push(x->scratch, f->fill, f->n, f->cap);

    *to = (Fill){.name = name, .lacks_bytes = true};
    return to;
}

static bool is_shaped(const Import *x, const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < x->o->n_shape; i++)
        if (!strncmp(x->o->shape[i], name, n) && x->o->shape[i][n] == '=')
            return true;
    return false;
}

// Reads the type of an input that may be a parameter: all of its dims are numbers.
static bool read_input(const Import *x, const Onnx__ValueInfoProto *v, Fill *to)
{
    const Onnx__TypeProto__Tensor *type = v->type ? v->type->tensor_type : NULL;
    const Onnx__TensorShapeProto *shape = type ? type->shape : NULL;

    to->dtype = type ? dtype_of_onnx(type->elem_type) : DT_NONE;
    if (!shape || !to->dtype || shape->n_dim > MAX_RANK || is_shaped(x, v->name))
        return false;
    to->rank = (int)shape->n_dim;
    for (int i = 0; i < to->rank; i++) {
        to->dim[i] = shape->dim[i]->dim_value;
        if (!shape->dim[i]->has_dim_value)
            return false;
    }
    return true;
}

void adopt_list(Import *x, Fills *f)
{
    const Onnx__GraphProto *m = x->model->graph;
    Names names = {.a = x->scratch, .defined.arena = x->scratch, .seen.arena = x->scratch};
    Map initializers = {.arena = x->scratch};

    for (size_t i = 0; i < m->n_initializer; i++)
        if (m->initializer[i]->name)
            map_set(&initializers, m->initializer[i]->name, 1);
    for (size_t i = 0; i < m->n_input; i++) {
        Fill input = {.name = m->input[i]->name, .input = m->input[i]};
        if (input.name && !map_get(&initializers, input.name) &&
            read_input(x, m->input[i], &input)) {
            input.lacks_bytes = true;
            *add(x, f, input.name) = input;
        }
    }
    scan_graph(&names, m);
    for (int i = 0; i < names.n; i++)
        if (!map_get(&names.defined, names.used[i]))
            add(x, f, names.used[i]);
}

// ---- types and marks of names ----

static DType float_of(const Onnx__TypeProto *t)
{
    DType type = t && t->tensor_type ? dtype_of_onnx(t->tensor_type->elem_type) : DT_NONE;

    return dtype_is_float(type) ? type : DT_NONE;
}

static void add_types(Map *to, size_t n, Onnx__ValueInfoProto **v)
{
    for (size_t i = 0; i < n; i++)
        if (v[i]->name && float_of(v[i]->type))
            map_set(to, v[i]->name, (int32_t)float_of(v[i]->type));
}

// The types of floats that the file gives: name → DType.
static Map list_types(Import *x)
{
    const Onnx__GraphProto *m = x->model->graph;
    Map types = {.arena = x->scratch};

    add_types(&types, m->n_value_info, m->value_info);
    add_types(&types, m->n_output, m->output);
    add_types(&types, m->n_input, m->input);
    return types;
}

// The type that a parameter has by the node that reads it, whose other floats are of the same one.
// The bodies of subgraphs aren't looked at.
static DType type_of_reader(const Map *types, const Onnx__NodeProto *node)
{
    int32_t t = 0;

    if (node->op_type && !strncmp(node->op_type, "Cast", 4))
        return DT_NONE;
    for (size_t i = 0; i < node->n_input && !t; i++)
        t = map_get(types, node->input[i]);
    for (size_t i = 0; i < node->n_output && !t; i++)
        t = map_get(types, node->output[i]);
    return (DType)t;
}

// Is it a buffer of the module? PyTorch's newer exporter writes %b_NAME in the nodes' calls then.
static bool is_buffer(const Onnx__NodeProto *node, const char *name)
{
    const char *call = fx_node_of(node);

    while ((call = strstr(call, "%b_"))) {
        const char *s = call += 3, *n = name;
        while (*n && (*s == *n || (*s == '_' && !isalnum((unsigned char)*n))))
            s++, n++;
        if (!*n && *s != '_' && !isalnum((unsigned char)*s))
            return true;
    }
    return false;
}

typedef struct Readers {
    Map types, first;  // the first node that reads a name: 1 + its index
} Readers;

static Readers list_readers(Import *x)
{
    const Onnx__GraphProto *m = x->model->graph;
    Readers r = {.types = list_types(x), .first.arena = x->scratch};

    for (size_t i = m->n_node; i-- > 0;)
        for (size_t k = 0; k < m->node[i]->n_input; k++)
            map_set(&r.first, m->node[i]->input[k], (int32_t)i + 1);
    return r;
}

static DType stored_dtype(const WeightValue *v)
{
    for (int t = DT_NONE + 1; t < N_DTYPES; t++)
        if (!strcmp(stored_type((DType)t), v->part[0].tensor[0]->dtype))
            return (DType)t;
    return DT_NONE;
}

// Type and dims of a name that has neither in the file. Halves in files are kept for wider
// parameters as a rule.
static void guess_type(const Readers *r, const Onnx__NodeProto *reader, Fill *f)
{
    DType stored = stored_dtype(f->value);
    DType read = reader && dtype_is_float(stored) ? type_of_reader(&r->types, reader) : DT_NONE;

    f->dtype = read ? read : stored == F16 || stored == BF16 ? F32 : stored;
    f->rank = f->value->rank;
    memcpy(f->dim, f->value->dim, sizeof f->dim);
}

// ---- initializers ----

static Onnx__TensorProto *make_tensor(Import *x, const Fill *f)
{
    Onnx__TensorProto *t = arena_array(x->scratch, Onnx__TensorProto, 1);

    *t = (Onnx__TensorProto)ONNX__TENSOR_PROTO__INIT;
    t->name = arena_string(x->scratch, "%s", f->name);
    t->data_type = dtype_to_onnx(f->dtype);
    t->n_dims = (size_t)f->rank;
    t->dims = arena_array(x->scratch, int64_t, f->rank + 1);
    memcpy(t->dims, f->dim, (size_t)f->rank * sizeof *t->dims);
    return t;
}

// Ensures capacity for initializers of all fills.
static void grow_initializers(Import *x, const Fills *f)
{
    Onnx__GraphProto *m = x->model->graph;
    size_t n = m->n_initializer;
    Onnx__TensorProto **grown = arena_array(x->scratch, Onnx__TensorProto *, n + (size_t)f->n + 1);

    if (n)
        memcpy(grown, m->initializer, n * sizeof *grown);
    m->initializer = grown;
}

static void take(Import *x, const Readers *r, Fill *f)
{
    Onnx__GraphProto *m = x->model->graph;
    int32_t i = map_get(&r->first, f->name);
    const Onnx__NodeProto *reader = i ? m->node[i - 1] : NULL;

    if (!f->dtype)
        guess_type(r, reader, f);
    f->tensor = make_tensor(x, f);
    m->initializer[m->n_initializer++] = f->tensor;
    params_mark(x, f->tensor->name, reader && is_buffer(reader, f->name));
}

// Reports names without a value.
static void report_undefined(const Import *x, const Fills *f)
{
    enum { MAX_SHOWN = 12 };
    int n = 0, made_up = 0;

    for (int i = 0; i < f->n; i++) {
        const Fill *t = &f->fill[i];
        if (t->tensor || t->input || t->value)
            continue;
        if (!n++)
            diag_error(x->diag, "the model's file lacks tensors that '%.200s' doesn't have either",
                       x->o->values->name);
        made_up += params_is_made_up(t->name);
        const char *nearest = n <= MAX_SHOWN ? fill_nearest(x, f, t) : NULL;
        if (n <= MAX_SHOWN)
            diag_note(x->diag, "missing     %.200s%s", t->name,
                      nearest ? arena_string(x->scratch, "; '%.200s' is the nearest", nearest)
                              : "");
    }
    if (n > MAX_SHOWN)
        diag_note(x->diag, "and %d more", n - MAX_SHOWN);
    if (n)
        (void)fill_note_unused(x, f);
    if (made_up)
        diag_note(x->diag,
                  "%d of them are constants of the exporter: torch.onnx.export with optimize=False "
                  "keeps constants in the file when it leaves parameters out",
                  made_up);
}

bool adopt_take(Import *x, Fills *f)
{
    Readers r = list_readers(x);
    bool has_inputs = false;
    int errors = x->diag->errors;

    report_undefined(x, f);
    if (x->diag->errors != errors)
        return false;
    grow_initializers(x, f);
    for (int i = 0; i < f->n; i++) {
        Fill *t = &f->fill[i];
        has_inputs |= t->input && t->value;
        if (!t->tensor && (t->value || (t->input && has_inputs)))
            take(x, &r, t);
    }
    return true;
}
