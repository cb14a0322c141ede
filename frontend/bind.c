// Makes the model's inputs. Every dim becomes a number, by the file, --shape or --bind. Dim 0 is
// the batch, and the graph takes one micro-batch of it.
#include <errno.h>
#include <stdlib.h>

#include "frontend/internal.h"

enum { MAX_DIM = 1 << 30 };

static bool parse_number(const char *s, const char **end, int64_t *v)
{
    char *e;

    errno = 0;
    long long n = strtoll(s, &e, 10);
    *end = e;
    *v = n;
    return e != s && !errno && *s >= '0' && *s <= '9' && n <= MAX_DIM;
}

// Returns the text after "name=" in one of n options, or NULL if none has that name. Sets the
// option's index.
static const char *option_find(const char *const *option, int n, const char *name, int *index)
{
    size_t length = strlen(name);

    for (int i = 0; i < n; i++) {
        const char *equals = strrchr(option[i], '=');
        if (!equals || (size_t)(equals - option[i]) != length || memcmp(option[i], name, length))
            continue;
        *index = i;
        return equals + 1;
    }
    return NULL;
}

typedef struct Binding {
    Import *x;
    Map seen;  // names of inputs
    bool *bind_used, *shape_used;
    Text dims, inputs;  // names that exist, for messages
} Binding;

static bool read_shape(Binding *b, const char *name, Dims *d, bool *given)
{
    const ImportOptions *o = b->x->o;
    int index;
    const char *s = option_find(o->shape, o->n_shape, name, &index), *end;

    *given = s != NULL;
    d->rank = 0;
    while (s) {
        if (d->rank == MAX_RANK || !parse_number(s, &end, &d->dim[d->rank++]) ||
            (*end && *end != ',')) {
            diag_error(b->x->diag, "--shape '%.200s': expected NAME=N,N,…, at most %d numbers",
                       o->shape[index], MAX_RANK);
            return false;
        }
        b->shape_used[index] = true;
        s = *end ? end + 1 : NULL;
    }
    return true;
}

static int64_t fixed_dim(const Binding *b, const char *input, int i, int64_t dim, int64_t shape)
{
    if (shape >= 0 && shape != dim)
        diag_error(b->x->diag,
                   "input '%.200s': dim %d is %" PRId64 " in the model, --shape says %" PRId64,
                   input, i, dim, shape);
    else if (dim < 0 || dim > MAX_DIM)
        diag_error(b->x->diag, "input '%.200s': dim %d is %" PRId64 ", expected 0 to %" PRId64,
                   input, i, dim, (int64_t)MAX_DIM);
    else
        return dim;
    return -1;
}

static void report_unbound(const Binding *b, const char *input, int i, const char *name)
{
    Diag *d = b->x->diag;

    if (*name) {
        diag_error(d, "input '%.200s': dim %d ('%.200s') is not bound", input, i, name);
        diag_note(d, "say --bind %.200s=N or --shape %.200s=N,…", name, input);
    } else {
        diag_error(d, "input '%.200s': dim %d (no name) is not bound", input, i);
        diag_note(d, "say --shape %.200s=N,…", input);
    }
}

// The size of one dim of an input, from the file, --bind or --shape (`shape`, -1: not given).
// Returns -1 after an error.
static int64_t read_dim(Binding *b, const char *input, int i,
                        const Onnx__TensorShapeProto__Dimension *dim, int64_t shape)
{
    const ImportOptions *o = b->x->o;
    const char *name = dim->dim_param ? dim->dim_param : "", *end;
    int64_t v = 0;
    int index = 0;

    if (dim->has_dim_value)
        return fixed_dim(b, input, i, dim->dim_value, shape);
    if (*name)
        text_printf(&b->dims, "%s'%.200s'", b->dims.n ? ", " : "", name);
    const char *s = *name ? option_find(o->bind, o->n_bind, name, &index) : NULL;
    if (!s) {
        if (shape < 0 && o->unbound)
            return o->unbound;
        if (shape < 0)
            report_unbound(b, input, i, name);
        return shape;
    }
    b->bind_used[index] = true;
    if (!parse_number(s, &end, &v) || *end) {
        diag_error(b->x->diag, "--bind '%.200s': expected NAME=N", o->bind[index]);
        return -1;
    }
    if (shape < 0 || shape == v)
        return v;
    diag_error(b->x->diag,
               "input '%.200s': dim %d is %" PRId64 " by --bind, %" PRId64 " by --shape", input, i,
               v, shape);
    return -1;
}

// Reads the input's dims. Returns false after an error.
static bool read_dims(Binding *b, const char *name, const Onnx__TypeProto__Tensor *type, Dims *d)
{
    const Onnx__TensorShapeProto *shape = type->shape;
    Diag *diag = b->x->diag;
    Dims given;
    bool is_given, ok = true;

    if (!read_shape(b, name, &given, &is_given))
        return false;
    if (!shape) {
        if (!is_given)
            diag_error(diag, "input '%.200s' has no shape: say --shape %.200s=N,…", name, name);
        *d = given;
        return is_given;
    }
    if (shape->n_dim > MAX_RANK || (is_given && (int)shape->n_dim != given.rank)) {
        diag_error(diag, "input '%.200s' has %zu dims, expected %d%s", name, shape->n_dim,
                   is_given ? given.rank : MAX_RANK, is_given ? " by --shape" : " at most");
        return false;
    }
    d->rank = (int)shape->n_dim;
    for (int i = 0; i < d->rank; i++) {
        d->dim[i] = read_dim(b, name, i, shape->dim[i], is_given ? given.dim[i] : -1);
        ok &= d->dim[i] >= 0;
    }
    return ok;
}

static bool split_batch(Import *x, const char *name, Dims *d)
{
    int k = x->o->accumulate > 1 ? x->o->accumulate : 1;

    if (!d->rank)
        return true;
    if (d->dim[0] % k) {
        diag_error(x->diag,
                   "input '%.200s': batch of %" PRId64 " can't be split into %d micro-batches",
                   name, d->dim[0], k);
        return false;
    }
    d->dim[0] /= k;
    return true;
}

static void bind_input(Binding *b, Frame *f, const Onnx__ValueInfoProto *v)
{
    Import *x = b->x;
    const char *name = v->name ? v->name : "";
    const Onnx__TypeProto__Tensor *type = v->type ? v->type->tensor_type : NULL;
    DType t = type ? dtype_of_onnx(type->elem_type) : DT_NONE;
    Dims d = {0};
    int64_t count = 1;

    text_printf(&b->inputs, "%s'%.200s'", b->inputs.n ? ", " : "", name);
    if (!t) {
        diag_error(x->diag, "input '%.200s' is not a tensor of numbers", name);
        return;
    }
    if (!read_dims(b, name, type, &d) || !split_batch(x, name, &d))
        return;
    x->has_fixed_batch |= d.rank && type->shape && type->shape->dim[0]->has_dim_value;
    for (int i = 0; i < d.rank; i++)
        if (!mul_size(count, d.dim[i], &count) || count > (int64_t)1 << 40) {
            diag_error(x->diag, "input '%.200s' is too large", name);
            return;
        }
    Symbol *symbol = frame_define(x, f, name);
    if (symbol) {
        ValueId input =
            graph_value(x->g, VALUE_INPUT, arena_string(x->arena, "%s", name), t, d.rank, d.dim);
        symbol->value = dtype_is_half(t) ? make_cast(x->g, input, F32) : input;
    }
    map_set(&x->taken, arena_string(x->scratch, "%s", name), 1);
}

static void check_unused(Binding *b)
{
    const ImportOptions *o = b->x->o;

    for (int i = 0; i < o->n_bind; i++)
        if (!b->bind_used[i])
            diag_error(b->x->diag, "--bind '%.200s': the model has no dim of that name, only %s",
                       o->bind[i], b->dims.n ? b->dims.s : "numbers");
    for (int i = 0; i < o->n_shape; i++)
        if (!b->shape_used[i])
            diag_error(b->x->diag, "--shape '%.200s': the model has no input of that name, only %s",
                       o->shape[i], b->inputs.n ? b->inputs.s : "initializers");
}

void bind_inputs(Import *x, Frame *f)
{
    const Onnx__GraphProto *m = x->model->graph;
    int errors = x->diag->errors;
    Binding b = {.x = x};

    b.bind_used = arena_array(x->scratch, bool, x->o->n_bind + 1);
    b.shape_used = arena_array(x->scratch, bool, x->o->n_shape + 1);
    x->hints.arena = x->scratch;
    b.seen.arena = x->scratch;
    for (size_t i = 0; i < m->n_input; i++) {
        const char *name = m->input[i]->name ? m->input[i]->name : "";
        if (map_get(&b.seen, name))
            diag_error(x->diag, "two inputs are named '%.200s'", name);
        // Up to IR version 3, initializers are listed among the inputs.
        else if (!map_get(&f->names, name))
            bind_input(&b, f, m->input[i]);
        map_set(&b.seen, name, 1);
    }
    if (x->diag->errors == errors)
        check_unused(&b);
    for (size_t i = 0; i < m->n_value_info; i++)
        if (m->value_info[i]->name)
            map_set(&x->hints, m->value_info[i]->name, (int32_t)i + 1);
    for (size_t i = 0; i < m->n_output; i++)
        if (m->output[i]->name)
            map_set(&x->hints, m->output[i]->name, (int32_t)(m->n_value_info + i) + 1);
    text_free(&b.dims);
    text_free(&b.inputs);
}

// The type that the file's value_info or outputs give for a value; NULL if there is none.
static const Onnx__TypeProto__Tensor *hint_of(const Import *x, const char *name)
{
    const Onnx__GraphProto *m = x->model->graph;
    size_t i = (size_t)map_get(&x->hints, name);

    if (!i)
        return NULL;
    const Onnx__ValueInfoProto *v =
        i <= m->n_value_info ? m->value_info[i - 1] : m->output[i - 1 - m->n_value_info];
    return v->type ? v->type->tensor_type : NULL;
}

void bind_check(Import *x, const char *name, ValueId v)
{
    const Onnx__TypeProto__Tensor *hint = hint_of(x, name);
    const Onnx__TensorShapeProto *shape = hint ? hint->shape : NULL;
    const Value *value = value_of(x->g, v);

    // A micro-batch is smaller than the file says, so its sizes can't be compared.
    if (!shape || x->o->accumulate > 1)
        return;
    DType t = dtype_in_graph(hint->elem_type);
    bool same = (int)shape->n_dim == value->rank && (!t || t == value->dtype);
    for (int d = 0; d < value->rank && same; d++)
        same = !shape->dim[d]->has_dim_value || shape->dim[d]->dim_value == value->dim[d];
    if (same)
        return;
    Text text = {0};
    value_print_type(value, &text);
    text_printf(&text, ", the file says %s[", t ? dtype_name(t) : "");
    for (size_t d = 0; d < shape->n_dim; d++) {
        text_printf(&text, "%s", d ? "," : "");
        if (shape->dim[d]->has_dim_value)
            text_printf(&text, "%" PRId64, shape->dim[d]->dim_value);
        else
            text_printf(&text, "?");
    }
    diag_warn(x->diag, "'%.200s' is %s]", name, text.s);
    text_free(&text);
}
