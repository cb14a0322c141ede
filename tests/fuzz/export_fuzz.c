// Fuzzes copies of ONNX models with other weights: if the bytes are a model, the copy is one with
// the same weights, which have the new values. A small limit for the copy's bytes lets tensors move
// into another file.
#include <stdlib.h>
#include <string.h>

#include "frontend/copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 22 };  // of all weights

// Gives the weights values. Returns false if they are too large for that.
static bool make_values(Arena *a, const Weights *w, Weight *t)
{
    int64_t bytes = 0;

    for (int i = 0; i < w->n; i++) {
        t[i] = (Weight){.name = w->weight[i].name, .bytes = w->weight[i].bytes};
        if (t[i].bytes > MAX_BYTES || (bytes += t[i].bytes) > MAX_BYTES)
            return false;
        uint8_t *value = arena_alloc(a, (size_t)t[i].bytes + 1, 1);
        t[i].data = memset(value, 'A' + i % 26, (size_t)t[i].bytes);
    }
    return true;
}

// Joins the pieces of the model's copy, which are all in memory.
static uint8_t *join(Arena *a, const Pieces *from)
{
    uint8_t *to = arena_alloc(a, (size_t)from->bytes + 1, 1);

    for (int i = 0; i < from->n; i++) {
        const Piece *p = &from->piece[i];
        if (p->from.path || p->to < 0 || p->from.bytes > from->bytes - p->to)
            abort();
        if (p->from.bytes)
            memcpy(to + p->to, p->from.data, (size_t)p->from.bytes);
    }
    return to;
}

// Does the weight of the copy, which is at `data`, have its value?
static bool is_equal(const ModelCopy *c, const uint8_t *data, const Weight *w, const Weight *t)
{
    if (strcmp(w->name, t->name) != 0 || w->bytes != t->bytes)
        return false;
    if (!w->path || !*w->path)
        return !w->bytes ||
               !memcmp(w->path ? data + w->offset : w->data, t->data, (size_t)w->bytes);
    for (int i = 0; i < c->other.n; i++)
        if (c->other.piece[i].to == w->offset && c->other.piece[i].from.data == t->data)
            return true;
    return false;
}

// Is a tensor in the other file that isn't a weight? The importer may have to read it.
static bool needs_other(const ModelCopy *c)
{
    bool needs = false;

    for (int i = 0; i < c->other.n && !needs; i++) {
        const uint8_t *from = c->other.piece[i].from.data;
        needs = !from || (from >= c->data && from < c->data + c->size);
    }
    return needs;
}

static void check_copy(Arena *a, const ModelCopy *c, const ImportOptions *o, Diag *d)
{
    uint8_t *data = join(a, &c->model);
    Weights w;

    if (needs_other(c))
        return;
    if (!import_bytes(a, data, (size_t)c->model.bytes, o, &w, d) || w.n != c->weights->n)
        abort();
    for (int i = 0; i < w.n; i++)
        if (!is_equal(c, data, &w.weight[i], &c->value[i]))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    ImportOptions o = {.accumulate = 1, .training = true, .unbound = 2};
    Weights w;

    Graph *g = import_bytes(a, data, size, &o, &w, &d);
    if (g) {
        Weight *t = arena_array(a, Weight, w.n + 1);
        ModelCopy c = {.arena = a,
                       .data = data,
                       .size = size,
                       .weights = &w,
                       .value = t,
                       .location = "copy.data",
                       .most_bytes = size & 1 ? INT32_MAX : (int64_t)size};
        int errors = d.errors;
        if (make_values(a, &w, t)) {
            if (copy_model(&c, &d))
                check_copy(a, &c, &o, &d);
            else if (d.errors == errors)
                abort();
        }
    }
    text_free(&messages);
    arena_free(a);
    return 0;
}
