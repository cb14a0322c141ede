// The value of a tensor of the model: tensors of files, joined, transposed, and rounded to its
// type. It is written piece by piece, and the pages that were read are dropped, so that a value
// never is in memory as a whole.
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontend/weight_file.h"
#include "runtime/rt_element.h"

const char *stored_type(DType t)
{
    static const char *const names[N_DTYPES] = {
        [F32] = "F32", [F64] = "F64", [F16] = "F16",   [BF16] = "BF16", [I8] = "I8",
        [I16] = "I16", [I32] = "I32", [I64] = "I64",   [U8] = "U8",     [U16] = "U16",
        [U32] = "U32", [U64] = "U64", [BOOL] = "BOOL",
    };
    return names[t];
}

// PIECE: bytes that are read or rounded in one piece. GATHERED: bytes of a transposed matrix that
// are gathered in one piece. Each time all of the tensor is read; 16 MiB are 80 rows of GPT-2's
// embedding.
enum { PIECE = 1 << 22, GATHERED = 1 << 24 };

// ---- types ----

static RtType float_type(const char *dtype)
{
    return !strcmp(dtype, "F32")    ? RT_F32
           : !strcmp(dtype, "F64")  ? RT_F64
           : !strcmp(dtype, "F16")  ? RT_F16
           : !strcmp(dtype, "BF16") ? RT_BF16
                                    : RT_NONE;
}

bool stored_becomes(const char *from, const char *to)
{
    return !strcmp(from, to) || (float_type(from) && float_type(to));
}

const char *weight_value_misfit(const WeightValue *v, DType dtype)
{
    for (int i = 0; i < v->n; i++)
        for (int k = 0; k < v->part[i].n; k++)
            if (!stored_becomes(v->part[i].tensor[k]->dtype, stored_type(dtype)))
                return v->part[i].tensor[k]->dtype;
    return NULL;
}

// ---- making ----

const WeightValue *weight_value_of(Arena *a, const RtStored *t)
{
    WeightValue *v = arena_array(a, WeightValue, 1);

    *v = (WeightValue){.rank = t->rank, .part = arena_array(a, WeightPart, 1), .n = 1};
    memcpy(v->dim, t->dim, sizeof t->dim);
    v->part->tensor = arena_array(a, const RtStored *, 1);
    *v->part->tensor = t;
    v->part->n = 1;
    return v;
}

// A line that is being carried out.
typedef struct Maker {
    Arena *a;
    const WeightFile *f;
    const MapLine *line;
    const char **star;
    const size_t *length;
    bool *used;
    Diag *d;
} Maker;

static bool fail(const Maker *m, const char *fmt, ...) PRINTF(2, 3);
static bool fail(const Maker *m, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    const char *what = arena_vstring(m->a, fmt, args);
    va_end(args);
    diag_error(m->d, "line %d: %s", m->line->line, what);
    return false;
}

static const char *print_dims(Arena *a, const WeightValue *v)
{
    Text t = {0};

    for (int i = 0; i < v->rank; i++)
        text_printf(&t, "%s%" PRId64, i ? "," : "[", v->dim[i]);
    text_printf(&t, v->rank ? "]" : "[]");
    const char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

// Puts what the stars matched into a name.
static const char *fill_stars(const Maker *m, const MapExpr *e)
{
    Text t = {0};
    int k = 0;

    if (e->is_literal)
        return e->name;
    for (const char *s = e->name; *s; s++)
        if (*s == '*') {
            text_put(&t, m->star[k], m->length[k]);
            k++;
        } else {
            text_put(&t, s, 1);
        }
    const char *name = arena_copy(m->a, t.s, t.n);
    text_free(&t);
    return name;
}

static bool make_name(const Maker *m, const MapExpr *e, WeightValue *to)
{
    const char *name = fill_stars(m, e);
    const RtStored *t = weight_file_find(m->f, name);

    if (!t) {
        const char *nearest = weight_file_nearest(m->a, m->f, name);
        return fail(m, "'%.200s' has no tensor '%.200s'%s", m->f->name, name,
                    nearest ? arena_string(m->a, " (did you mean '%.200s'?)", nearest) : "");
    }
    m->used[t - m->f->shards.tensor] = true;
    *to = *weight_value_of(m->a, t);
    return true;
}

// Turns the rows of a matrix into its columns.
static bool transpose(const Maker *m, WeightValue *v)
{
    WeightPart *part = arena_array(m->a, WeightPart, 1);
    int cap = 0;

    if (v->rank != 2)
        return fail(m, "transpose takes a matrix, found %s", print_dims(m->a, v));
    for (int i = 0; i < v->n; i++) {
        if (v->part[i].is_transposed)
            return fail(m, "transpose of what is transposed already");
        for (int k = 0; k < v->part[i].n; k++)
            *arena_push(m->a, part->tensor, part->n, cap) = v->part[i].tensor[k];
    }
    part->is_transposed = true;
    v->part = part;
    v->n = 1;
    int64_t rows = v->dim[0];
    v->dim[0] = v->dim[1];
    v->dim[1] = rows;
    return true;
}

// Appends an operand of concat or stack.
static bool join(const Maker *m, WeightValue *to, int *cap, const WeightValue *x, bool is_first,
                 bool stacks)
{
    bool same = x->rank == to->rank;

    if (is_first) {
        to->rank = x->rank;
        memcpy(to->dim, x->dim, sizeof to->dim);
    }
    for (int i = stacks ? 0 : 1; i < x->rank && !is_first && same; i++)
        same = x->dim[i] == to->dim[i];
    if (!is_first && !same)
        return fail(m, "%s joins %s and %s", stacks ? "stack" : "concat", print_dims(m->a, to),
                    print_dims(m->a, x));
    if (!x->rank && !stacks)
        return fail(m, "concat takes tensors with dims, found one number");
    if (!is_first && !stacks && !add_size(to->dim[0], x->dim[0], &to->dim[0]))
        return fail(m, "concat gives too large a dim");
    for (int i = 0; i < x->n; i++)
        *arena_push(m->a, to->part, to->n, *cap) = x->part[i];
    return true;
}

static bool make(const Maker *m, const MapExpr *e, WeightValue *to)
{
    WeightValue x;
    int cap = 0;

    *to = (WeightValue){0};
    if (e->kind == EXPR_NAME)
        return make_name(m, e, to);
    if (e->kind == EXPR_TRANSPOSE)
        return make(m, e->arg, to) && transpose(m, to);
    for (int i = 0; i < e->n; i++)
        if (!make(m, &e->arg[i], &x) || !join(m, to, &cap, &x, !i, e->kind == EXPR_STACK))
            return false;
    if (e->kind == EXPR_CONCAT)
        return true;
    if (to->rank == MAX_RANK)
        return fail(m, "stack gives more than %d dims", MAX_RANK);
    memmove(to->dim + 1, to->dim, (size_t)to->rank * sizeof *to->dim);
    to->dim[0] = e->n;
    to->rank++;
    return true;
}

const WeightValue *weight_value_make(Arena *a, const WeightFile *f, const MapLine *l,
                                     const char **star, const size_t *length, bool *used, Diag *d)
{
    Maker m = {a, f, l, star, length, used, d};
    WeightValue *v = arena_array(a, WeightValue, 1);

    return make(&m, l->value, v) ? v : NULL;
}

// ---- comparing ----

const RtStored *weight_value_plain(const WeightValue *v)
{
    return v->n == 1 && v->part->n == 1 && !v->part->is_transposed ? v->part->tensor[0] : NULL;
}

bool weight_value_equal(const WeightValue *a, const WeightValue *b)
{
    bool same = a->n == b->n;
    const RtStored *x = weight_value_plain(a), *y = weight_value_plain(b);

    if (x && y)
        return x == y || (!strcmp(x->dtype, y->dtype) && x->bytes == y->bytes &&
                          !memcmp(x->data, y->data, (size_t)x->bytes));
    for (int i = 0; i < a->n && same; i++) {
        const WeightPart *p = &a->part[i], *q = &b->part[i];
        same = p->n == q->n && p->is_transposed == q->is_transposed &&
               !memcmp(p->tensor, q->tensor, (size_t)p->n * sizeof(const RtStored *));
    }
    return same;
}

// ---- writing ----

typedef struct Writer {
    DType dtype;
    RtOut *out;   // or
    uint8_t *to;  // memory
    uint8_t *rounded, *gathered;
    int64_t infinite;
} Writer;

static void put(Writer *w, const void *data, int64_t bytes)
{
    if (w->out) {
        rt_out_write(w->out, data, (size_t)bytes);
    } else {
        memcpy(w->to, data, (size_t)bytes);
        w->to += bytes;
    }
}

// Writes n elements of a type of the file, at most PIECE bytes of them.
static void put_elements(Writer *w, const char *from, const uint8_t *data, int64_t n)
{
    if (!strcmp(from, stored_type(w->dtype))) {
        put(w, data, n * dtype_size(w->dtype));
        return;
    }
    w->infinite +=
        rt_round_floats(float_type(stored_type(w->dtype)), w->rounded, float_type(from), data, n);
    put(w, w->rounded, n * dtype_size(w->dtype));
}

// The pages from `data` on aren't needed again; they are the file's, so they aren't lost.
static void drop_pages(const uint8_t *data, int64_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)data / page * page;

    if (bytes)
        (void)madvise((void *)first, (uintptr_t)data + (uintptr_t)bytes - first, MADV_DONTNEED);
}

static void write_whole(Writer *w, const RtStored *t)
{
    int64_t size = rt_dtype_bytes(t->dtype), n = t->bytes / size, most = PIECE / 8;

    for (int64_t at = 0; at < n; at += most) {
        int64_t k = n - at < most ? n - at : most;
        put_elements(w, t->dtype, t->data + at * size, k);
        drop_pages(t->data + at * size, k * size);
    }
}

// Gathers columns `first` to `last` of a tensor whose rows are rows `row` and on of the matrix.
static void gather_columns(Writer *w, const RtStored *t, int64_t rows, int64_t row, int64_t first,
                           int64_t last)
{
    int64_t to = dtype_size(w->dtype), size = rt_dtype_bytes(t->dtype), n = last - first;
    int64_t columns = t->dim[1], dropped = 0;
    RtType type = float_type(stored_type(w->dtype)), from = float_type(t->dtype);
    bool rounds = strcmp(t->dtype, stored_type(w->dtype)) != 0;

    for (int64_t r = 0; r < t->dim[0]; r++) {
        int64_t at = (r * columns + first) * size;
        const uint8_t *x = t->data + at;
        if (rounds) {
            w->infinite += rt_round_floats(type, w->rounded, from, x, n);
            x = w->rounded;
        }
        for (int64_t c = 0; c < n; c++)
            memcpy(w->gathered + (c * rows + row + r) * to, x + c * to, (size_t)to);
        if (at - dropped >= PIECE) {
            drop_pages(t->data + dropped, at - dropped);
            dropped = at;
        }
    }
    drop_pages(t->data + dropped, t->bytes - dropped);
}

// Writes a matrix, whose rows are those of several tensors, column by column.
static bool write_transposed(Writer *w, const WeightPart *p, Diag *d)
{
    int64_t rows = 0, columns = p->tensor[0]->dim[1];

    for (int i = 0; i < p->n; i++)
        rows += p->tensor[i]->dim[0];
    int64_t bytes = rows * dtype_size(w->dtype), most = bytes ? GATHERED / bytes : 1;
    most = most < 1 ? 1 : most > PIECE / 8 ? PIECE / 8 : most;
    w->gathered = malloc((size_t)(most * bytes) + 1);
    if (!w->gathered) {
        diag_error(d, "out of memory");
        return false;
    }
    for (int64_t c = 0; c < columns; c += most) {
        int64_t last = columns - c < most ? columns : c + most, row = 0;
        for (int i = 0; i < p->n; row += p->tensor[i++]->dim[0])
            gather_columns(w, p->tensor[i], rows, row, c, last);
        put(w, w->gathered, (last - c) * bytes);
    }
    free(w->gathered);
    return true;
}

static bool write_value(Writer *w, const WeightValue *v, bool may_stop, Diag *d)
{
    bool ok = true;

    w->rounded = malloc(PIECE);
    if (!w->rounded)
        diag_error(d, "out of memory");
    for (int i = 0; i < v->n && ok && w->rounded; i++) {
        const WeightPart *p = &v->part[i];
        if (may_stop && signal_is_pending()) {
            diag_error(d, "stopped, so nothing was written");
            ok = false;
        } else if (p->is_transposed) {
            ok = write_transposed(w, p, d);
        } else {
            for (int k = 0; k < p->n; k++)
                write_whole(w, p->tensor[k]);
        }
    }
    ok = ok && w->rounded;
    free(w->rounded);
    return ok;
}

bool weight_value_write(const WeightValue *v, DType dtype, RtOut *out, int64_t *infinite, Diag *d)
{
    Writer w = {.dtype = dtype, .out = out};
    bool ok = write_value(&w, v, true, d);

    *infinite += w.infinite;
    return ok;
}

bool weight_value_copy(const WeightValue *v, DType dtype, uint8_t *to, Diag *d)
{
    Writer w = {.dtype = dtype, .to = to};

    return write_value(&w, v, false, d);
}
