// Discrete Fourier transforms, some side by side: number j of all is a vector of real and one of
// imaginary parts. Each pass transforms by one factor of n and sorts (Stockham's algorithm: Cochran
// et al., "What is the fast Fourier transform?", 1967). Two transforms of real numbers are one of
// complex numbers, whose bins are taken apart by their symmetry.
#include <math.h>
#include <string.h>

#include "runtime/cpu/internal.h"
#include "runtime/rt_dft.h"
#include "runtime/rt_transpose.h"

// PART: terms of a sum that are added in sequence.
enum { LANES = RT_DFT_LANES, NUMBER = 2 * LANES, PART = 32 };

// Rows that are transformed side by side.
static int lanes_of(const RtDft *p) { return p->c == 1 ? NUMBER : LANES; }

static int64_t factor_of(int64_t n) { return n % 4 == 0 ? 4 : rt_smallest_factor(n); }

static void transpose_f32(float *to, int64_t to_row, const float *from, int64_t from_row,
                          int64_t rows, int64_t columns)
{
    rt_transpose(to, to_row, from, from_row, rows, columns);
}

static void transpose_f64(double *to, int64_t to_row, const double *from, int64_t from_row,
                          int64_t rows, int64_t columns)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            to[c * to_row + r] = from[r * from_row + c];
}

#define DFT(T, name)                                                                               \
    /* A pass: from x to y, `step` numbers of each of m · radix positions. waves: cosines and     \
       sines of all parts of a circle. */                                                          \
    typedef struct Pass_##name {                                                                   \
        int64_t n, m, radix, step;                                                                 \
        const T *waves;                                                                            \
        T sign;                                                                                    \
    } Pass_##name;                                                                                 \
                                                                                                   \
    /* y = (re + i im) · (c + i s), for the numbers of one position. */                           \
    static inline void turn_##name(T *y, const T *re, const T *im, T c, T s)                       \
    {                                                                                              \
        RT_SIMD                                                                                    \
        for (int l = 0; l < LANES; l++) {                                                          \
            y[l] = re[l] * c - im[l] * s;                                                          \
            y[LANES + l] = re[l] * s + im[l] * c;                                                  \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void pass_of_4_##name(const Pass_##name *p, T *y, const T *x)                           \
    {                                                                                              \
        int64_t far = p->step * p->m * NUMBER, near = p->step * NUMBER;                            \
                                                                                                   \
        for (int64_t i = 0; i < p->m; i++) {                                                       \
            const T *w1 = p->waves + 2 * i * p->step, *w2 = p->waves + 4 * i * p->step;            \
            const T *w3 = p->waves + 6 * i * p->step;                                              \
            for (int64_t q = 0; q < p->step; q++) {                                                \
                const T *a = x + (i * p->step + q) * NUMBER, *b = a + far;                         \
                T *to = y + (4 * i * p->step + q) * NUMBER;                                        \
                T re[3][LANES], im[3][LANES];                                                      \
                RT_SIMD                                                                            \
                for (int l = 0; l < LANES; l++) {                                                  \
                    int h = LANES + l;                                                             \
                    T sum_re = a[l] + a[2 * far + l], sum_im = a[h] + a[2 * far + h];              \
                    T left_re = a[l] - a[2 * far + l], left_im = a[h] - a[2 * far + h];            \
                    T more_re = b[l] + b[2 * far + l], more_im = b[h] + b[2 * far + h];            \
                    T turn_re = -p->sign * (b[h] - b[2 * far + h]);                                \
                    T turn_im = p->sign * (b[l] - b[2 * far + l]);                                 \
                    to[l] = sum_re + more_re;                                                      \
                    to[h] = sum_im + more_im;                                                      \
                    re[0][l] = left_re + turn_re;                                                  \
                    im[0][l] = left_im + turn_im;                                                  \
                    re[1][l] = sum_re - more_re;                                                   \
                    im[1][l] = sum_im - more_im;                                                   \
                    re[2][l] = left_re - turn_re;                                                  \
                    im[2][l] = left_im - turn_im;                                                  \
                }                                                                                  \
                turn_##name(to + near, re[0], im[0], w1[0], w1[1]);                                \
                turn_##name(to + 2 * near, re[1], im[1], w2[0], w2[1]);                            \
                turn_##name(to + 3 * near, re[2], im[2], w3[0], w3[1]);                            \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void pass_of_2_##name(const Pass_##name *p, T *y, const T *x)                           \
    {                                                                                              \
        int64_t far = p->step * p->m * NUMBER;                                                     \
                                                                                                   \
        for (int64_t i = 0; i < p->m; i++) {                                                       \
            const T *w = p->waves + 2 * i * p->step;                                               \
            for (int64_t q = 0; q < p->step; q++) {                                                \
                const T *a = x + (i * p->step + q) * NUMBER;                                       \
                T *to = y + (2 * i * p->step + q) * NUMBER;                                        \
                T rest[NUMBER];                                                                    \
                RT_SIMD                                                                            \
                for (int l = 0; l < NUMBER; l++) {                                                 \
                    to[l] = a[l] + a[far + l];                                                     \
                    rest[l] = a[l] - a[far + l];                                                   \
                }                                                                                  \
                turn_##name(to + p->step * NUMBER, rest, rest + LANES, w[0], w[1]);                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Sums are added up in parts, so that long ones are as exact as short ones. */                \
    static void pass_##name(const Pass_##name *p, T *y, const T *x)                                \
    {                                                                                              \
        for (int64_t e = 0; e < p->m * p->step * p->radix; e++) {                                  \
            int64_t q = e % p->step, k = e / p->step % p->radix, i = e / p->step / p->radix;       \
            const T *w = p->waves + 2 * (i * k * p->step);                                         \
            T re[LANES] = {0}, im[LANES] = {0};                                                    \
            for (int64_t first = 0; first < p->radix; first += PART) {                             \
                T a_re[LANES] = {0}, a_im[LANES] = {0};                                            \
                for (int64_t j = first; j < rt_least(first + PART, p->radix); j++) {               \
                    const T *a = x + ((i + p->m * j) * p->step + q) * NUMBER;                      \
                    const T *v = p->waves + 2 * (j * k % p->radix * (p->n / p->radix));            \
                    RT_SIMD                                                                        \
                    for (int l = 0; l < LANES; l++) {                                              \
                        a_re[l] += a[l] * v[0] - a[LANES + l] * v[1];                              \
                        a_im[l] += a[l] * v[1] + a[LANES + l] * v[0];                              \
                    }                                                                              \
                }                                                                                  \
                RT_SIMD                                                                            \
                for (int l = 0; l < LANES; l++) {                                                  \
                    re[l] += a_re[l];                                                              \
                    im[l] += a_im[l];                                                              \
                }                                                                                  \
            }                                                                                      \
            turn_##name(y + e * NUMBER, re, im, w[0], w[1]);                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Transforms the numbers at `x`; `other` has as much buffer. Returns the one with the result. \
     */                                                                                            \
    static T *passes_##name(const RtDft *p, const T *waves, T *x, T *other)                        \
    {                                                                                              \
        Pass_##name a = {                                                                          \
            .n = p->n, .m = p->n, .step = 1, .waves = waves, .sign = p->inverse ? 1 : -1};         \
                                                                                                   \
        for (; a.m > 1; a.step *= a.radix) {                                                       \
            a.radix = factor_of(a.m);                                                              \
            a.m /= a.radix;                                                                        \
            if (a.radix == 4)                                                                      \
                pass_of_4_##name(&a, other, x);                                                    \
            else if (a.radix == 2)                                                                 \
                pass_of_2_##name(&a, other, x);                                                    \
            else                                                                                   \
                pass_##name(&a, other, x);                                                         \
            T *next = other;                                                                       \
            other = x;                                                                             \
            x = next;                                                                              \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    /* Bins [k, k + count) of pairs of transforms of real numbers: to [count, parts, 2 LANES]. */  \
    static void part_##name(const RtDft *p, T *to, const T *z, int64_t k, int64_t count)           \
    {                                                                                              \
        for (int64_t i = k; i < k + count; i++, to += p->parts * NUMBER) {                         \
            const T *a = z + i * NUMBER, *b = i ? z + (p->n - i) * NUMBER : z;                     \
            RT_SIMD                                                                                \
            for (int l = 0; l < NUMBER; l++)                                                       \
                to[l] = (T)0.5 * (a[l] + b[l]);                                                    \
            if (p->parts == 2)                                                                     \
                RT_SIMD                                                                            \
            for (int l = 0; l < LANES; l++) {                                                      \
                to[NUMBER + l] = (T)0.5 * (a[LANES + l] - b[LANES + l]);                           \
                to[NUMBER + LANES + l] = (T)0.5 * (b[l] - a[l]);                                   \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* `count` rows: up to LANES of them, or twice as many of real numbers. */                     \
    static void rows_##name(const RtDft *p, T *y, const T *x, int64_t count, const T *waves,       \
                            T *buffer)                                                             \
    {                                                                                              \
        int lanes = lanes_of(p);                                                                   \
        int64_t given = p->have * p->c, made = p->size * p->parts, bins = NUMBER / p->parts;       \
        T part[NUMBER * NUMBER];                                                                   \
                                                                                                   \
        if (count < lanes)                                                                         \
            memset(buffer, 0, sizeof(T) * (size_t)(given * lanes));                                \
        transpose_##name(buffer, lanes, x, given, count, given);                                   \
        memset(buffer + p->have * NUMBER, 0, sizeof(T) * (size_t)((p->n - p->have) * NUMBER));     \
        T *z = passes_##name(p, waves, buffer, buffer + p->n * NUMBER);                            \
        if (p->c == 2)                                                                             \
            transpose_##name(y, made, z, NUMBER / p->parts, made, count);                          \
        for (int64_t k = 0; k < p->size && p->c == 1; k += bins) {                                 \
            int64_t some = rt_least(bins, p->size - k);                                            \
            part_##name(p, part, z, k, some);                                                      \
            transpose_##name(y + k * p->parts, made, part, NUMBER, some * p->parts, count);        \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void waves_##name(const RtDft *p, T *to)                                                \
    {                                                                                              \
        for (int64_t k = 0; k < p->n; k++) {                                                       \
            double c, s;                                                                           \
            rt_wave(k, p->n, &c, &s);                                                              \
            to[2 * k] = (T)c;                                                                      \
            to[2 * k + 1] = (T)(p->inverse ? s : -s);                                              \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Block b of rows; `buffer`: the table, and the buffers of all threads. */                    \
    static void block_##name(const RtDft *p, int64_t b, int thread, T *y, const T *x,              \
                             void *buffer)                                                         \
    {                                                                                              \
        int64_t lanes = lanes_of(p), row = b * lanes;                                              \
        T *waves = buffer, *buffers = waves + 2 * p->n + thread * 2 * p->n * NUMBER;               \
                                                                                                   \
        rows_##name(p, y + row * p->size * p->parts, x + row * p->have * p->c,                     \
                    rt_least(lanes, p->rows - row), waves, buffers);                               \
    }

DFT(float, f32)
DFT(double, f64)

void rt_dft(Rt *rt, const RtDft *p, void *y, const void *x)
{
    bool is_f32 = p->type == RT_F32;

    if (is_f32)
        waves_f32(p, (float *)(void *)rt->workspace);
    else
        waves_f64(p, (double *)(void *)rt->workspace);
#pragma omp parallel for num_threads(rt_team(rt, 8 * p->rows * p->n)) schedule(static)
    for (int64_t b = 0; b < rt_ceil_div(p->rows, lanes_of(p)); b++)
        if (is_f32)
            block_f32(p, b, omp_get_thread_num(), y, x, rt->workspace);
        else
            block_f64(p, b, omp_get_thread_num(), y, x, rt->workspace);
}
