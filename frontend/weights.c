// Copies the weights from the model's files into a new safetensors file. It uses only maps and one
// buffer, so the weights are never all in memory.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "frontend/weight_file.h"
#include "runtime/rt_element.h"

// The type of the parameter, in which a weight is written.
static DType written_type(const Weight *w) { return w->wide ? w->wide : w->dtype; }

bool weights_describe(const Weights *w, const Graph *g, RtStored *t, Diag *d)
{
    Arena *a = arena_new();
    Map value = {.arena = a};
    bool ok = true;

    for (ValueId v = 1; v < g->n_values; v++) {
        ValueKind kind = g->values[v].kind;
        if (kind == VALUE_PARAMETER || kind == VALUE_BUFFER)
            map_set(&value, g->values[v].name, v);
    }
    for (int i = 0; i < w->n && ok; i++) {
        const Value *v = value_of(g, map_get(&value, w->weight[i].name));
        bool is_own = v->own_rank >= 0;
        int rank = is_own ? v->own_rank : v->rank;
        ok = rank <= RT_FILE_RANK;
        if (!ok) {
            diag_error(d, "weight '%.200s' has %d dims, the file can hold at most %d",
                       w->weight[i].name, rank, RT_FILE_RANK);
            break;
        }
        t[i] = (RtStored){.name = w->weight[i].name,
                          .dtype = stored_type(written_type(&w->weight[i])),
                          .rank = rank,
                          .bytes = w->weight[i].bytes / dtype_size(w->weight[i].dtype) *
                                   dtype_size(written_type(&w->weight[i]))};
        memcpy(t[i].dim, is_own ? v->own_dim : v->dim, (size_t)rank * sizeof *t[i].dim);
    }
    arena_free(a);
    return ok;
}

void weights_close(Opened *s)
{
    rt_unmap(&s->map);
    *s = (Opened){0};
}

void weights_warn_infinite(const Opened *s, Diag *d)
{
    if (s->infinite)
        diag_warn(d,
                  "%" PRId64 " numbers of %d weights, the first is '%.200s', are too large for the "
                  "weight's type and became infinite",
                  s->infinite, s->n_infinite, s->first_infinite);
}

static bool source_error(const Weights *w, const char *path, const char *what, Diag *d)
{
    diag_error(d, "'%.200s': %s", *path ? path : w->model, what);
    return false;
}

static bool open_source(const Weights *w, const char *path, Opened *s, Diag *d)
{
    RtFileError error;

    if (s->path && !strcmp(s->path, path))
        return true;
    rt_unmap(&s->map);
    s->path = NULL;
    int fd = *path ? open_beneath(w->model, path, d) : open(w->model, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && !*path)
        return source_error(w, path, strerror(errno), d);
    if (fd < 0) {
        if (errno == ENOENT)
            diag_note(d, "--weights takes them from elsewhere; --no-weights needs none, with "
                         "--init they are drawn");
        return false;
    }
    if (!rt_map_open(&s->map, fd, &error))
        return source_error(w, path, error.text, d);
    s->path = path;
    return true;
}

const uint8_t *weights_data(const Weights *w, const Weight *weight, Opened *s, Diag *d)
{
    if (!open_source(w, weight->path, s, d))
        return NULL;
    int64_t size = (int64_t)s->map.size;
    if (weight->offset > size || weight->bytes > size - weight->offset) {
        diag_error(d,
                   "weight '%.200s' needs %" PRId64 " bytes at %" PRId64
                   " of '%.200s', which has only %zu",
                   weight->name, weight->bytes, weight->offset,
                   *weight->path ? weight->path : "the model", s->map.size);
        return NULL;
    }
    return (const uint8_t *)s->map.data + weight->offset;
}

// Writes a weight's elements, halves widened.
static void write_elements(const Weight *w, const uint8_t *data, RtOut *out)
{
    enum { PIECE = 4096 };
    float wide[PIECE];

    if (!dtype_is_half(w->dtype) || written_type(w) == w->dtype) {
        rt_out_write(out, data, (size_t)w->bytes);
        return;
    }
    for (int64_t left = w->bytes / 2, n; left; left -= n, data += 2 * n) {
        n = left < PIECE ? left : PIECE;
        rt_round_floats(RT_F32, wide, (RtType)w->dtype, data, n);
        rt_out_write(out, wide, (size_t)n * sizeof *wide);
    }
}

bool weights_copy(const Weights *w, const Weight *weight, Opened *s, RtOut *out, Diag *d)
{
    RtFileError error;

    if (signal_is_pending()) {
        diag_error(d, "stopped, so nothing was written");
        return false;
    }
    if (weight->value) {
        int64_t infinite = 0;
        bool ok = weight_value_write(weight->value, written_type(weight), out, &infinite, d);
        if (infinite && !s->n_infinite++)
            s->first_infinite = weight->name;
        s->infinite += infinite;
        return ok;
    }
    if (!weight->path) {
        write_elements(weight, weight->data, out);
        return true;
    }
    if (!weight->bytes)
        return true;
    const uint8_t *data = weights_data(w, weight, s, d);
    if (!data)
        return false;
    write_elements(weight, data, out);
    // The pages aren't needed again.
    (void)madvise((void *)s->map.data, s->map.size, MADV_DONTNEED);
    return rt_map_check(&s->map, &error) || source_error(w, weight->path, error.text, d);
}

bool weights_write(const Weights *w, const Graph *g, const char *path, Diag *d)
{
    RtStored *t = calloc((size_t)w->n + 1, sizeof *t);
    Opened source = {0};
    RtFileError error;
    RtOut out;
    int64_t bytes = 0;
    char *header = NULL;
    bool ok = t && weights_describe(w, g, t, d);

    if (ok && !(header = rt_safe_header(t, w->n, &bytes))) {
        diag_error(d, "the weights' names and shapes take %" PRId64 " bytes, a file holds only %d",
                   bytes, RT_MAX_HEADER);
        ok = false;
    }
    if (ok && !rt_out_open(&out, path, &error)) {
        diag_error(d, "'%.200s': %s", path, error.text);
        ok = false;
    } else if (ok) {
        rt_out_write(&out, header, (size_t)bytes);
        for (int i = 0; i < w->n && ok; i++)
            ok = weights_copy(w, &w->weight[i], &source, &out, d);
        ok = ok && (!w->values || weight_file_check(w->values, d));
        if (!ok) {
            rt_out_cancel(&out);
        } else if (!rt_out_commit(&out, &error)) {
            diag_error(d, "'%.200s': %s", path, error.text);
            ok = false;
        }
        if (ok)
            weights_warn_infinite(&source, d);
    }
    weights_close(&source);
    free(header);
    free(t);
    return ok;
}
