// Tensors that are in the file twice. The older exporter of PyTorch writes a tied table for each of
// its uses. --tie makes the copies one parameter again; without it, a warning names parameters of
// equal bytes.
#include "frontend/weight_file.h"

enum {
    MIN_BYTES = 1 << 10,  // smaller parameters are equal by chance, or as they are not drawn
    MAX_PAIRS = 8,        // warnings
    SAMPLES = 16,         // pieces of a parameter that are read to find those that may be equal
    SAMPLE_BYTES = 64,
};

// ---- --tie A=B ----

static const Onnx__TensorProto *find_tensor(const Import *x, const char *name, size_t n)
{
    const Onnx__GraphProto *m = x->model->graph;

    for (size_t i = 0; i < m->n_initializer; i++) {
        const char *s = m->initializer[i]->name;
        if (s && strlen(s) == n && !strncmp(s, name, n))
            return m->initializer[i];
    }
    return NULL;
}

// Where the first name ends in A=B: names may have an equals sign. At the first sign if no one
// separates two tensors.
static const char *tie_middle(const Import *x, const char *text)
{
    for (const char *at = text; (at = strchr(at, '=')); at++)
        if (find_tensor(x, text, (size_t)(at - text)) && find_tensor(x, at + 1, strlen(at + 1)))
            return at;
    return strchr(text, '=');
}

// Returns the bytes of a weight, which stay until `s` opens another file; NULL after an error.
static const uint8_t *bytes_of(const Import *x, const Weight *w, Opened *s, Diag *d)
{
    Weights of = {.model = model_path(x->o->model)};

    if (w->value)
        return weight_value_plain(w->value) ? weight_value_plain(w->value)->data : NULL;
    if (!w->path)
        return w->data;
    if (!*w->path)
        return x->data + w->offset;
    if (!model_path(x->o->model)) {
        diag_error(d, "tensor '%.200s' is in another file", w->name);
        return NULL;
    }
    return weights_data(&of, w, s, d);
}

static bool tie_error(Import *x, const char *text, const char *fmt, ...) PRINTF(3, 4);
static bool tie_error(Import *x, const char *text, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    const char *what = arena_vstring(x->scratch, fmt, args);
    va_end(args);
    diag_error(x->diag, "--tie '%.400s': %s", text, what);
    return false;
}

static const char *type_of(Import *x, const Literal *l)
{
    Value v = {.dtype = l->dtype, .rank = l->rank};
    Text t = {0};

    memcpy(v.dim, l->dim, sizeof v.dim);
    value_print_type(&v, &t);
    const char *s = arena_string(x->scratch, "%s", t.s);
    text_free(&t);
    return s;
}

static bool check_bytes(Import *x, const char *text, const Weight *a, const Weight *b)
{
    Opened of_a = {0}, of_b = {0};
    const uint8_t *p = bytes_of(x, a, &of_a, x->diag), *q = p ? bytes_of(x, b, &of_b, x->diag) : 0;
    int64_t size = dtype_size(a->dtype), i = 0;
    bool ok = p && q;

    if (ok && memcmp(p, q, (size_t)a->bytes)) {
        while (p[i] == q[i])
            i++;
        ok = tie_error(x, text, "their bytes differ from element %" PRId64 " on", i / size);
    }
    weights_close(&of_a);
    weights_close(&of_b);
    return ok;
}

static bool check_pair(Import *x, const char *text, const Onnx__TensorProto *a,
                       const Onnx__TensorProto *b)
{
    Literal l, r;

    if (!literal_read(x, a, a->name, &l) || !literal_read(x, b, b->name, &r))
        return false;
    if (a == b)
        return tie_error(x, text, "it names one tensor twice");
    if (l.dtype != r.dtype || l.rank != r.rank || memcmp(l.dim, r.dim, sizeof l.dim))
        return tie_error(x, text, "'%.200s' is %s and '%.200s' is %s: only equal shapes can be one",
                         a->name, type_of(x, &l), b->name, type_of(x, &r));
    if (l.value || r.value || fill_lacks_bytes(x, a))
        return fill_share(x, a, b);
    Weight v = params_weight(x, a->name, &l), w = params_weight(x, b->name, &r);
    return check_bytes(x, text, &v, &w);
}

bool tie_scan(Import *x)
{
    int errors = x->diag->errors;

    x->tied.arena = x->scratch;
    for (int i = 0; i < x->o->n_tie; i++) {
        const char *text = x->o->tie[i], *middle = tie_middle(x, text);
        const Onnx__TensorProto *a = find_tensor(x, text, (size_t)(middle - text));
        const Onnx__TensorProto *b = find_tensor(x, middle + 1, strlen(middle + 1));
        char key[PART_KEY];
        if (!a || !b)
            tie_error(x, text, "no initializer is named '%.200s'",
                      a ? middle + 1 : arena_copy(x->scratch, text, (size_t)(middle - text)));
        else if (check_pair(x, text, a, b) && tie_first(x, a) != tie_first(x, b)) {
            const Onnx__TensorProto **first =
                arena_push(x->scratch, x->tie_first, x->n_tied, x->cap_tied);
            part_key(key, tie_first(x, b));
            *first = tie_first(x, a);
            map_set(&x->tied, arena_string(x->scratch, "%s", key), x->n_tied);
        }
    }
    return x->diag->errors == errors;
}

// ---- copies that are not tied ----

static uint64_t hash_samples(const Weight *w, const uint8_t *data)
{
    uint64_t h = hash_bytes(&w->bytes, sizeof w->bytes, w->dtype);

    for (int64_t i = 0; i < SAMPLES; i++)
        h = hash_bytes(data + (w->bytes - SAMPLE_BYTES) * i / (SAMPLES - 1), SAMPLE_BYTES, h);
    return h;
}

static bool is_constant(const Weight *w, const uint8_t *data)
{
    size_t size = (size_t)dtype_size(w->dtype);

    return !memcmp(data, data + size, (size_t)w->bytes - size);
}

static void warn_pair(const Import *x, const Value *a, const Value *b)
{
    bool same = a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);

    if (same)
        diag_warn(x->diag,
                  "'%.200s' and '%.200s' have equal bytes, and each is trained on its own: if the "
                  "file has one tensor twice, --tie '%.200s=%.200s' makes it one",
                  a->name, b->name, a->name, b->name);
    else
        diag_warn(x->diag,
                  "'%.200s' and '%.200s' have equal bytes and other shapes, and each is trained on "
                  "its own: if the exporter made one of the other, torch.onnx.export with "
                  "optimize=False doesn't",
                  a->name, b->name);
}

typedef struct Candidate {
    const Weight *weight;
    const Value *value;
    int next;  // 1 + index of another one with the same samples; 0: none
} Candidate;

// Compares weight w with those before it that have the same samples. Returns an equal one; NULL if
// there is none, or if its bytes can't be read.
static const Candidate *find_equal(const Import *x, const Weight *w, const uint8_t *data,
                                   const Candidate *list, int at)
{
    Diag d = {.to = &(Text){0}};
    const Candidate *found = NULL;
    Opened other = {0};

    for (; at && !found; at = list[at - 1].next) {
        const Weight *v = list[at - 1].weight;
        const uint8_t *before = bytes_of(x, v, &other, &d);
        if (before && v->bytes == w->bytes && v->dtype == w->dtype &&
            !memcmp(before, data, (size_t)w->bytes))
            found = &list[at - 1];
    }
    weights_close(&other);
    text_free(d.to);
    return found;
}

// A weight that a tensor of the files fills has that tensor's bytes, before they are rounded.
static Weight stored_weight(const Weight *w)
{
    const RtStored *t = w->value ? weight_value_plain(w->value) : NULL;
    Weight to = *w;

    if (t)
        to.bytes = t->bytes;
    if (t && rt_dtype_bytes(t->dtype) < dtype_size(w->dtype))
        to.dtype = rt_dtype_bytes(t->dtype) == 2 ? F16 : F32;  // of this size
    return to;
}

// Warns of parameters of equal bytes, unless they are one number, as biases and scales are. Files
// that can't be read are left out: some commands need none.
void tie_warn(const Import *x)
{
    Map seen = {.arena = x->scratch}, parameters = {.arena = x->scratch};
    Candidate *list = arena_array(x->scratch, Candidate, x->n_weights + 1);
    Weight *weights = arena_array(x->scratch, Weight, x->n_weights + 1);
    Text said = {0};
    Diag quiet = {.to = &said};
    Opened source = {0};
    int n = 0, pairs = 0;

    for (ValueId v = 1; v < x->g->n_values; v++)
        if (value_of(x->g, v)->kind == VALUE_PARAMETER)
            map_set(&parameters, value_of(x->g, v)->name, v);
    for (int i = 0; i < x->n_weights; i++) {
        Weight *w = &weights[i];
        *w = stored_weight(&x->weights[i]);
        const Value *v = value_of(x->g, map_get(&parameters, w->name));
        bool is_candidate = map_get(&parameters, w->name) && w->bytes >= MIN_BYTES;
        const uint8_t *data = is_candidate ? bytes_of(x, w, &source, &quiet) : NULL;
        if (!data || is_constant(w, data))
            continue;
        const char *key = arena_string(x->scratch, "%" PRIx64, hash_samples(w, data));
        const Candidate *same = find_equal(x, w, data, list, map_get(&seen, key));
        if (same && pairs++ < MAX_PAIRS)
            warn_pair(x, same->value, v);
        list[n] = (Candidate){w, v, map_get(&seen, key)};
        map_set(&seen, key, ++n);
    }
    if (pairs > MAX_PAIRS)
        diag_warn(x->diag, "%d more parameters have bytes equal to those of another one",
                  pairs - MAX_PAIRS);
    weights_close(&source);
    text_free(&said);
}
