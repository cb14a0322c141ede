// Sums, maxima and minima over dims of a strided tensor.
//
// Results are computed one by one, or in blocks of neighbours if they are contiguous in x. If there
// are few results, the reduced elements are split into chunks. All splits depend on the shape
// alone, so the tree of additions is the same for any number of threads: floats are summed over at
// most 32 rows or 256 neighbours, and these sums are added in double. Halves are widened some at a
// time, and their sums are f32.
#include "runtime/cpu/floats.h"

enum { RUN = 256, DEPTH = 32, MIN_CHUNK = 1 << 14, JOINED = 256 };

typedef struct Dims {
    int n;
    int64_t dim[RT_MAX_DIMS], x[RT_MAX_DIMS], y[RT_MAX_DIMS];
} Dims;

typedef struct Plan {
    RtReduceOp op;
    RtType type, result;                  // of x and y
    Dims kept, reduced;                   // sorted by falling x strides; adjacent dims are merged
    int64_t width, results;               // contiguous results in a block; all results
    int64_t units, chunks;                // blocks of results; chunks of the reduced elements
    int64_t inner, inner_stride, length;  // the innermost reduced dim; elements per result
} Plan;

// Iterates over all reduced dims except the innermost.
typedef struct Walk {
    const Dims *d;
    int64_t at[RT_MAX_DIMS], offset;
} Walk;

static void walk_to(Walk *w, int64_t i)
{
    w->offset = 0;
    for (int k = w->d->n - 2; k >= 0; k--) {
        w->at[k] = i % w->d->dim[k];
        i /= w->d->dim[k];
        w->offset += w->at[k] * w->d->x[k];
    }
}

static void walk_on(Walk *w)
{
    for (int k = w->d->n - 2; k >= 0; k--) {
        w->offset += w->d->x[k];
        if (++w->at[k] < w->d->dim[k])
            return;
        w->offset -= w->at[k] * w->d->x[k];
        w->at[k] = 0;
    }
}

static void dims_add(Dims *d, int64_t dim, int64_t x, int64_t y)
{
    int i = d->n++;

    for (; i > 0 && llabs(d->x[i - 1]) < llabs(x); i--) {
        d->dim[i] = d->dim[i - 1];
        d->x[i] = d->x[i - 1];
        d->y[i] = d->y[i - 1];
    }
    d->dim[i] = dim;
    d->x[i] = x;
    d->y[i] = y;
}

static void dims_merge(Dims *d)
{
    int n = 0;

    for (int i = 0; i < d->n; i++) {
        if (n && d->x[n - 1] == d->dim[i] * d->x[i] && d->y[n - 1] == d->dim[i] * d->y[i]) {
            d->dim[n - 1] *= d->dim[i];
            d->x[n - 1] = d->x[i];
            d->y[n - 1] = d->y[i];
        } else {
            d->dim[n] = d->dim[i];
            d->x[n] = d->x[i];
            d->y[n++] = d->y[i];
        }
    }
    d->n = n;
}

static Plan make_plan(const RtReduce *p)
{
    Plan q = {.op = p->op, .type = p->type, .width = 1};
    q.result = p->op == RT_SUM && rt_is_half(p->type) ? RT_F32 : p->type;
    int64_t y = 1;

    for (int i = p->rank - 1; i >= 0; i--) {
        if (p->dim[i] != 1)
            dims_add(p->reduced[i] ? &q.reduced : &q.kept, p->dim[i], p->stride[i],
                     p->reduced[i] ? 0 : y);
        y *= p->reduced[i] ? 1 : p->dim[i];
    }
    if (q.reduced.n == 0)
        dims_add(&q.reduced, 1, 0, 0);
    dims_merge(&q.kept);
    dims_merge(&q.reduced);
    q.results = rt_product(q.kept.dim, q.kept.n);
    q.length = rt_product(q.reduced.dim, q.reduced.n);
    q.inner = q.reduced.dim[q.reduced.n - 1];
    q.inner_stride = q.reduced.x[q.reduced.n - 1];
    q.units = q.results;
    int last = q.kept.n - 1;
    if (q.results && last >= 0 && q.kept.x[last] == 1 && q.kept.y[last] == 1) {
        q.width = rt_least(RT_WIDTH, q.kept.dim[last]);
        q.units = q.results / q.kept.dim[last] * rt_ceil_div(q.kept.dim[last], q.width);
    }
    q.chunks = rt_most(
        1, rt_least(rt_ceil_div(RT_CHUNKS, rt_most(1, q.units)), q.length * q.width / MIN_CHUNK));
    return q;
}

static inline double identity(RtReduceOp op)
{
    return op == RT_SUM ? 0 : op == RT_MAX ? -INFINITY : INFINITY;
}

static inline float join(RtReduceOp op, float a, float b)
{
    return op == RT_SUM ? a + b : op == RT_MAX ? rt_maxf(a, b) : rt_minf(a, b);
}

static inline double join_double(RtReduceOp op, double a, double b)
{
    return op == RT_SUM ? a + b : op == RT_MAX ? rt_max(a, b) : rt_min(a, b);
}

// The same loop as in generated code for the sums of rows, so that both round alike.
static inline float sum_run(const float *x, int64_t stride, int64_t n)
{
    float total = 0;

#pragma omp simd reduction(+ : total)
    for (int64_t k = 0; k < n; k++)
        total += x[k * stride];
    return total;
}

// Comparisons skip NaN, but a NaN must be the result, so it is searched for separately.
static inline float best_run(RtReduceOp op, const float *x, int64_t stride, int64_t n)
{
    float best = (float)identity(op);
    int is_odd = 0;
    int64_t i = 0;

    if (op == RT_MAX)
#pragma omp simd reduction(max : best) reduction(| : is_odd)
        for (int64_t k = 0; k < n; k++) {
            best = x[k * stride] > best ? x[k * stride] : best;
            is_odd |= x[k * stride] != x[k * stride];
        }
    else
#pragma omp simd reduction(min : best) reduction(| : is_odd)
        for (int64_t k = 0; k < n; k++) {
            best = x[k * stride] < best ? x[k * stride] : best;
            is_odd |= x[k * stride] != x[k * stride];
        }
    while (is_odd && x[i * stride] == x[i * stride])
        i++;
    return is_odd ? x[i * stride] : best;
}

// Reduces neighbours in x. Callers limit sums to RUN elements, as longer chains have larger
// rounding errors.
static inline float run(RtReduceOp op, const float *x, int64_t stride, int64_t n)
{
    return op == RT_SUM ? sum_run(x, stride, n) : best_run(op, x, stride, n);
}

// The address of an element; is_half is a constant of the caller.
static inline const void *element(bool is_half, const void *x, int64_t i)
{
    return (const char *)x + i * (is_half ? 2 : (int64_t)sizeof(float));
}

// Reduces up to RUN halves.
static inline float run_of_halves(const Plan *q, RtReduceOp op, const void *x, int64_t n)
{
    float part[RUN];

    rt_read_floats(q->type, part, 0, x, 0, q->inner_stride, 1, n);
    return run(op, part, 1, n);
}

// One result, from elements [first, last) of its reduced elements.
static inline double single(const Plan *q, RtReduceOp op, bool is_half, const void *x,
                            int64_t first, int64_t last)
{
    Walk w = {.d = &q->reduced};
    double total = identity(op);
    int64_t i = first % q->inner, most = op == RT_SUM || is_half ? RUN : last - first;

    walk_to(&w, first / q->inner);
    for (int64_t r = first; r < last;) {
        int64_t n = rt_least(rt_least(most, q->inner - i), last - r);
        const void *from = element(is_half, x, w.offset + i * q->inner_stride);

        total = join_double(op, total,
                            (double)(is_half                ? run_of_halves(q, op, from, n)
                                     : q->inner_stride == 1 ? run(op, from, 1, n)
                                                            : run(op, from, q->inner_stride, n)));
        r += n;
        i += n;
        if (i == q->inner) {
            i = 0;
            walk_on(&w);
        }
    }
    return total;
}

// Adds one row, or four together if there are as many: reading several rows at a time gives more
// memory bandwidth. Returns how many.
static inline int64_t add_rows(RtReduceOp op, float *s, const float *x, int64_t stride,
                               int64_t rows, int64_t width)
{
    if (rows < 4) {
#pragma omp simd
        for (int64_t c = 0; c < width; c++)
            s[c] = join(op, s[c], x[c]);
        return 1;
    }
#pragma omp simd
    for (int64_t c = 0; c < width; c++) {
        float v = join(op, join(op, s[c], x[c]), x[stride + c]);
        s[c] = join(op, join(op, v, x[2 * stride + c]), x[3 * stride + c]);
    }
    return 4;
}

// Adds rows of halves, `rows` at most. Returns how many.
static inline int64_t add_halves(const Plan *q, RtReduceOp op, float *s, const void *x,
                                 int64_t rows, int64_t width)
{
    float part[RT_WIDTH];
    int64_t n = rt_least(rows, RT_WIDTH / width);

    rt_read_floats(q->type, part, width, x, q->inner_stride, 1, n, width);
    for (int64_t i = 0; i < n;)
        i += add_rows(op, s, part + i * width, width, n - i, width);
    return n;
}

// `width` contiguous results, from elements [first, last) of their reduced elements.
static inline void block(const Plan *q, RtReduceOp op, bool is_half, const void *x, int64_t first,
                         int64_t last, int64_t width, double *total)
{
    Walk w = {.d = &q->reduced};
    int64_t i = first % q->inner;
    float s[RT_WIDTH];

    for (int64_t c = 0; c < width; c++)
        total[c] = identity(op);
    walk_to(&w, first / q->inner);
    for (int64_t r = first; r < last; r += DEPTH) {
        for (int64_t c = 0; c < width; c++)
            s[c] = (float)identity(op);
        for (int64_t k = r; k < rt_least(last, r + DEPTH);) {
            const void *from = element(is_half, x, w.offset + i * q->inner_stride);
            int64_t left = rt_least(rt_least(last, r + DEPTH) - k, q->inner - i);
            int64_t n = is_half ? add_halves(q, op, s, from, left, width)
                                : add_rows(op, s, from, q->inner_stride, left, width);

            k += n;
            i += n;
            if (i == q->inner) {
                i = 0;
                walk_on(&w);
            }
        }
        for (int64_t c = 0; c < width; c++)
            total[c] = join_double(op, total[c], (double)s[c]);
    }
}

// Offsets of a unit's results in x and y, and their number.
typedef struct Unit {
    int64_t x, y, width;
} Unit;

static Unit unit_at(const Plan *q, int64_t i)
{
    Unit u = {0, 0, q->width};
    int k = q->kept.n - 1;

    if (q->width > 1) {
        int64_t blocks = rt_ceil_div(q->kept.dim[k], q->width);
        u.x = u.y = i % blocks * q->width;
        u.width = rt_least(q->width, q->kept.dim[k] - u.x);
        i /= blocks;
        k--;
    }
    for (; k >= 0; k--) {
        u.x += i % q->kept.dim[k] * q->kept.x[k];
        u.y += i % q->kept.dim[k] * q->kept.y[k];
        i /= q->kept.dim[k];
    }
    return u;
}

// Separate calls, so that the compiler makes a loop with a constant operation of each.
static inline void reduce_part(const Plan *q, bool is_half, const void *x, int64_t first,
                               int64_t last, int64_t width, double *total)
{
    if (width > 1 && q->op == RT_SUM)
        block(q, RT_SUM, is_half, x, first, last, width, total);
    else if (width > 1)
        block(q, q->op, is_half, x, first, last, width, total);
    else if (q->op == RT_SUM)
        total[0] = single(q, RT_SUM, is_half, x, first, last);
    else if (q->op == RT_MAX)
        total[0] = single(q, RT_MAX, is_half, x, first, last);
    else
        total[0] = single(q, RT_MIN, is_half, x, first, last);
}

// Stores up to RT_WIDTH neighbours.
static void store(const Plan *q, void *y, int64_t at, const double *total, int64_t n)
{
    float result[RT_WIDTH];

    for (int64_t i = 0; i < n; i++)
        result[i] = (float)total[i];
    rt_write_floats(q->result, rt_to(q->result, y, at), 0, 1, result, 0, 1, n);
}

static void reduce_unit(const Plan *q, int64_t unit, int64_t chunk, void *y, double *partial,
                        const void *x)
{
    Unit u = unit_at(q, unit);
    int64_t first = rt_partition(q->length, chunk, q->chunks);
    int64_t last = rt_partition(q->length, chunk + 1, q->chunks);
    double total[RT_WIDTH];

    if (rt_is_half(q->type))
        reduce_part(q, true, element(true, x, u.x), first, last, u.width, total);
    else
        reduce_part(q, false, element(false, x, u.x), first, last, u.width, total);
    if (q->chunks == 1)
        store(q, y, u.y, total, u.width);
    else
        memcpy(partial + chunk * q->results + u.y, total, sizeof *total * (size_t)u.width);
}

// Computes results [first, last), at most JOINED, from the results of the chunks.
static void join_chunks(const Plan *q, int64_t first, int64_t last, void *y, const double *partial)
{
    double total[JOINED];

    for (int64_t k = 0; k < q->chunks; k++) {
        const double *x = partial + k * q->results + first;
        for (int64_t i = 0; i < last - first; i++)
            total[i] = k == 0 ? x[i] : join_double(q->op, total[i], x[i]);
    }
    store(q, y, first, total, last - first);
}

// The sums, maxima or minima of f32 and halves.
static void reduce_f32(Rt *rt, const RtReduce *p, void *y, const void *x)
{
    Plan q = make_plan(p);
    double *partial = (double *)rt->workspace;

    if (q.length == 0 || q.results == 0) {
        rt_fill(rt, q.result, y, q.results, identity(q.op));
        return;
    }
#pragma omp parallel num_threads(rt_team(rt, q.results *q.length))
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < q.units * q.chunks; i++)
            reduce_unit(&q, i % q.units, i / q.units, y, partial, x);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < (q.chunks > 1 ? q.results : 0); i += JOINED)
            join_chunks(&q, i, rt_least(q.results, i + JOINED), y, partial);
    }
}

// Other types: one result after the other, summed in S, so that integer sums wrap.
#define REDUCE(T, S, name, least, most)                                                            \
    static void reduce_##name(Rt *rt, const RtReduce *p, T *y, const T *x)                         \
    {                                                                                              \
        Plan q = make_plan(p);                                                                     \
                                                                                                   \
        q.width = 1;                                                                               \
        for (int64_t i = 0; i < q.results; i++) {                                                  \
            Unit u = unit_at(&q, i);                                                               \
            T s = p->op == RT_SUM ? 0 : p->op == RT_MAX ? (T)(least) : (T)(most);                  \
            Walk w = {.d = &q.reduced};                                                            \
                                                                                                   \
            for (int64_t r = 0; r < q.length; r++) {                                               \
                T v = x[u.x + w.offset + r % q.inner * q.inner_stride];                            \
                s = p->op == RT_SUM   ? (T)((S)s + (S)v)                                           \
                    : p->op == RT_MAX ? (v > s || v != v ? v : s)                                  \
                                      : (v < s || v != v ? v : s);                                 \
                if (r % q.inner == q.inner - 1)                                                    \
                    walk_on(&w);                                                                   \
            }                                                                                      \
            y[u.y] = s;                                                                            \
        }                                                                                          \
    }
REDUCE(double, double, f64, -INFINITY, INFINITY)
#define MIN_OF(T) ((T)-1 < 1 ? (T)((uint64_t)1 << (8 * sizeof(T) - 1)) : (T)0)
#define INT_REDUCE(type, T, name) REDUCE(T, uint64_t, name, MIN_OF(T), ~MIN_OF(T))
RT_EACH_INT(INT_REDUCE)

void rt_reduce(Rt *rt, const RtReduce *p, void *y, const void *x)
{
    switch (rt_plain(p->type)) {
#define CASE(type, T, name)                                                                        \
    case type:                                                                                     \
        reduce_##name(rt, p, y, x);                                                                \
        break;
        RT_EACH_NUMBER(CASE)
    case RT_BF16:
    case RT_F16:
        reduce_f32(rt, p, y, x);
        break;
    default:
        abort();
    }
}
