// Matrix products of batches of f32, f64 or halves: y[batch, m, n] = Σ_k a[batch, m, k] · b[batch,
// k, n].
//
// We don't use oneDNN's matrix product. Version 2.6 has no fast path for strided operands, its
// fallback allocates at every call, and on dense operands it isn't faster.
#include "runtime/cpu/floats.h"
#include "runtime/cpu/gemm.h"

typedef struct Dot {
    RtKernel base;
    RtDot p;
    int64_t batches;
    bool is_transposed;
} Dot;

void rt_dot_init(Rt *rt, int kernel, const RtDot *p)
{
    Dot *d = rt_kernel_new(rt, kernel, sizeof *d);
    RtType y = rt_dot_result(p);

    if (p->type != RT_F32 && p->type != RT_F64 && !rt_is_half(p->type))
        rt_kernel_fail(kernel, "dot", "the type must be f32, f64, bf16 or f16");
    if (y != p->type && !(rt_is_half(p->type) && y == RT_F32))
        rt_kernel_fail(kernel, "dot", "the result must be of the operands' type, or f32 of halves");
    d->p = rt_dot_fold(p, &d->is_transposed);
    d->batches = rt_product(d->p.batch, d->p.n_batch);
}

// Offsets of batch entry `b` in the operands.
typedef struct Start {
    int64_t a, b, y;
} Start;

static Start batch_start(const RtDot *p, int64_t b)
{
    Start s = {0};

    for (int i = p->n_batch - 1; i >= 0; i--) {
        int64_t at = b % p->batch[i];

        b /= p->batch[i];
        s.a += at * p->a_batch[i];
        s.b += at * p->b_batch[i];
        s.y += at * p->y_batch[i];
    }
    return s;
}

static void dot_double(Rt *rt, const Dot *d, double *y, const double *a, const double *b)
{
    const RtDot *p = &d->p;
    int team = rt_team(rt, d->batches * p->m * p->n * (p->k + 1));

#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t row = 0; row < d->batches * p->m; row++) {
        Start s = batch_start(p, row / p->m);
        int64_t i = row % p->m;

        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < p->k; k++)
                sum += a[s.a + i * p->a_m + k * p->a_k] * b[s.b + k * p->b_k + j * p->b_n];
            y[s.y + i * p->y_m + j * p->y_n] = sum;
        }
    }
}

enum { LANES = 32 };

// The sum of the sums of all lanes.
static float total(float s[LANES])
{
    for (int w = LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++)
            s[l] += s[l + w];
    return s[0];
}

// The inner product of two vectors, the first with unit stride, in LANES interleaved sums.
static float inner(const float *a, const float *x, int64_t x_k, int64_t k)
{
    float s[LANES] = {0}, tail = 0;
    int64_t p = 0;

    for (; p + LANES <= k; p += LANES)
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            s[l] = RT_FMA(a[p + l], x[(p + l) * x_k], s[l]);
    for (; p < k; p++)
        tail = RT_FMA(a[p], x[p * x_k], tail);
    return total(s) + tail;
}

enum { STRIP = 512 };  // rows of a matrix-vector product that are summed side by side

// Rows [0, m) of a matrix times a vector, m ≤ STRIP.
static void strip(const RtDot *p, int64_t m, void *result, const void *left, const void *right)
{
    const float *a = left, *b = right;
    float *y = result;

    if (p->a_k == 1) {
        for (int64_t i = 0; i < m; i++)
            y[i * p->y_m] = p->b_k == 1 ? inner(a + i * p->a_m, b, 1, p->k)
                                        : inner(a + i * p->a_m, b, p->b_k, p->k);
        return;
    }
    float s[STRIP] = {0};

    for (int64_t k = 0; k < p->k; k++) {
        const float *column = a + k * p->a_k;
        float x = b[k * p->b_k];

        if (p->a_m == 1)
#pragma omp simd
            for (int64_t i = 0; i < m; i++)
                s[i] = RT_FMA(column[i], x, s[i]);
        else
            for (int64_t i = 0; i < m; i++)
                s[i] = RT_FMA(column[i * p->a_m], x, s[i]);
    }
    for (int64_t i = 0; i < m; i++)
        y[i * p->y_m] = s[i];
}

enum { FEW = 16, TOGETHER = 4 };  // rows and columns that are added up together

// inner() of halves; and s[i] += Σ a[k · a_k + i] · x[k] for m rows and some columns, one after the
// other. Halves are widened by vectors, between memory and the sum.
#define HALVES(T, name)                                                                            \
    static float inner_##name(const T *a, const float *x, int64_t k)                               \
    {                                                                                              \
        float s[LANES] = {0}, wide[LANES], tail = 0;                                               \
        int64_t p = 0;                                                                             \
                                                                                                   \
        for (; p + LANES <= k; p += LANES) {                                                       \
            for (int l = 0; l < LANES; l += 8)                                                     \
                rt_widen_##name(wide + l, a + p + l);                                              \
            RT_SIMD for (int l = 0; l < LANES; l++) s[l] = RT_FMA(wide[l], x[p + l], s[l]);        \
        }                                                                                          \
        for (; p < k; p++)                                                                         \
            tail = RT_FMA(rt_from_##name(a[p]), x[p], tail);                                       \
        return total(s) + tail;                                                                    \
    }                                                                                              \
                                                                                                   \
    static inline void add_some_##name(float *s, int64_t m, const T *a, int64_t a_k,               \
                                       const float *x, int columns)                                \
    {                                                                                              \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (; i + FEW <= m; i += FEW)                                                             \
            for (int k = 0; k < columns; k++) {                                                    \
                float wide[FEW];                                                                   \
                                                                                                   \
                for (int l = 0; l < FEW; l += 8)                                                   \
                    rt_widen_##name(wide + l, a + k * a_k + i + l);                                \
                RT_SIMD for (int l = 0; l < FEW; l++) s[i + l] = RT_FMA(wide[l], x[k], s[i + l]);  \
            }                                                                                      \
        for (; i < m; i++)                                                                         \
            for (int k = 0; k < columns; k++)                                                      \
                s[i] = RT_FMA(rt_from_##name(a[k * a_k + i]), x[k], s[i]);                         \
    }                                                                                              \
                                                                                                   \
    static void add_columns_##name(float *s, int64_t m, const T *a, int64_t a_k, const float *x,   \
                                   int64_t n)                                                      \
    {                                                                                              \
        int64_t k = 0;                                                                             \
                                                                                                   \
        for (; k + TOGETHER <= n; k += TOGETHER)                                                   \
            add_some_##name(s, m, a + k * a_k, a_k, x + k, TOGETHER);                              \
        for (; k < n; k++)                                                                         \
            add_some_##name(s, m, a + k * a_k, a_k, x + k, 1);                                     \
    }
HALVES(RtBf16, bf16)
HALVES(RtF16, f16)

// The same of halves, some of k at a time.
static void strip_of_halves(const RtDot *p, int64_t m, void *y, const void *a, const void *b)
{
    float s[STRIP] = {0}, x[STRIP], part[STRIP];
    bool is_bf16 = p->type == RT_BF16;

    for (int64_t at = 0; at < p->k; at += STRIP) {
        const void *from = rt_at(p->type, a, at * p->a_k);
        int64_t n = rt_least(STRIP, p->k - at);

        rt_read_floats(p->type, x, 0, rt_at(p->type, b, at * p->b_k), 0, p->b_k, 1, n);
        if (p->a_m == 1 && p->a_k != 1) {
            if (is_bf16)
                add_columns_bf16(s, m, from, p->a_k, x, n);
            else
                add_columns_f16(s, m, from, p->a_k, x, n);
            continue;
        }
        for (int64_t i = 0; i < m; i++) {
            const void *row = rt_at(p->type, from, i * p->a_m);

            if (p->a_k == 1) {
                s[i] += is_bf16 ? inner_bf16(row, x, n) : inner_f16(row, x, n);
                continue;
            }
            rt_read_floats(p->type, part, 0, row, 0, p->a_k, 1, n);
            s[i] += inner(part, x, 1, n);
        }
    }
    rt_write_floats(rt_dot_result(p), y, 0, p->y_m, s, 0, 1, m);
}

static void matrix_vector(Rt *rt, const Dot *d, void *y, const void *a, const void *b)
{
    const RtDot *p = &d->p;
    void (*f)(const RtDot *, int64_t, void *, const void *, const void *) =
        rt_is_half(p->type) ? strip_of_halves : strip;
    RtType t = p->type;
    int64_t strips = rt_ceil_div(p->m, STRIP);

#pragma omp parallel for num_threads(rt_team(rt, d->batches * p->m * p->k)) schedule(static)
    for (int64_t i = 0; i < d->batches * strips; i++) {
        Start s = batch_start(p, i / strips);
        int64_t row = i % strips * STRIP;

        f(p, rt_least(STRIP, p->m - row), rt_to(rt_dot_result(p), y, s.y + row * p->y_m),
          rt_at(t, a, s.a + row * p->a_m), rt_at(t, b, s.b));
    }
}

// With many products, each thread computes a share of them, with its own pack and sums. With few,
// all threads work on each product.
static void matrices(Rt *rt, const Dot *d, void *y, const void *a, const void *b)
{
    const RtDot *p = &d->p;
    RtType t = p->type, result = rt_dot_result(p);
    int64_t sums = rt_dot_sums(p, d->batches);
    int64_t all = sums * rt_most(1, rt_least(d->batches, rt->threads));
    RtGemm g = {p->m,
                p->n,
                p->k,
                p->a_m,
                p->a_k,
                p->b_k,
                p->b_n,
                p->y_m,
                p->y_n,
                rt_dot_slab(d->batches),
                RT_SLAB_N,
                .type = t,
                .result = result};

#pragma omp parallel num_threads(rt_team(rt, d->batches * p->m * p->n * p->k / 16))
    {
        int rank = omp_get_thread_num(), team = omp_get_num_threads();
        bool is_shared = d->batches < 2 * team;
        char *pack = rt->workspace + all * (int64_t)sizeof(float) +
                     (is_shared ? 0 : rank * rt_gemm_slab(&g));
        int64_t first = is_shared ? 0 : rt_partition(d->batches, rank, team);
        int64_t last = is_shared ? d->batches : rt_partition(d->batches, rank + 1, team);

        RtGemm own = g;

        own.sums = (float *)(void *)rt->workspace + (is_shared ? 0 : rank * sums);
        own.n_sums = is_shared ? all : sums;
        for (int64_t i = first; i < last; i++) {
            Start s = batch_start(p, i);
            rt_gemm(&own, rt_to(result, y, s.y), rt_at(t, a, s.a), rt_at(t, b, s.b), pack,
                    is_shared ? team : 1, is_shared ? rank : 0);
        }
    }
}

void rt_dot(Rt *rt, int kernel, void *y, const void *left, const void *right)
{
    const Dot *d = rt->kernel[kernel];
    const RtDot *p = &d->p;
    const void *a = d->is_transposed ? right : left, *b = d->is_transposed ? left : right;

    if (d->batches == 0 || p->m == 0 || p->n == 0)
        return;
    if (p->type == RT_F64)
        dot_double(rt, d, y, a, b);
    else if (p->n == 1 || p->k == 0)
        for (int64_t j = 0; j < p->n; j++)
            matrix_vector(rt, d, rt_to(rt_dot_result(p), y, j * p->y_n), a, b);
    else
        matrices(rt, d, y, a, b);
}
