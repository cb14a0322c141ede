// Builds discrete Fourier transforms. A short one is a node. A longer one is the transform of one
// of its factors, a rotation of each element, and the transform of the other factor (Cooley and
// Tukey 1965). A length with a large prime factor is a convolution with a chirp, by transforms of
// another length (Bluestein 1970).
//
// Complex numbers are pairs, [rows…, n, 2]: the last dim holds the real and the imaginary part. It
// is 1 for real numbers.
#include "frontend/internal.h"
#include "ir/kernel.h"

// One transform along the last dim: y[k] = scale · Σ x[j] e^(sign · 2πi · jk / n) for k < bins.
typedef struct Fourier {
    Graph *g;
    int64_t n, bins;
    int sign;
    bool only_real;  // the imaginary part of y isn't needed
    double scale;
} Fourier;

static ValueId transform(const Fourier *f, ValueId x);

// The cosine or sine of `turns` parts of a circle of n parts. The quarters are exact.
static double wave(int64_t turns, int64_t n, bool is_sine)
{
    static const double tau = 6.283185307179586476925286766559;
    static const double quarters[] = {1, 0, -1, 0};
    int64_t t = turns % n;

    if (4 * t % n == 0)
        return quarters[(4 * t / n + (is_sine ? 3 : 0)) % 4];
    double angle = tau * (double)t / (double)n;
    return is_sine ? sin(angle) : cos(angle);
}

static ValueId constant_of(Graph *g, const Tensor *t)
{
    return graph_constant(g, t->dtype, t->rank, t->dim, tensor_pack(g->arena, t));
}

// wave(i · j, n), where i and j are the indices along two dims, which may be the same one. A table
// that is too large for a constant is made of the indices. Their product is reduced as an integer,
// and the angle is F64, so that long transforms are as exact as short ones.
static ValueId waves(Graph *g, DType t, const Dims *d, const int *axis, int64_t n, bool is_sine)
{
    int64_t count = 1;

    for (int i = 0; i < d->rank; i++)
        count *= d->dim[i];
    if (count * dtype_size(t) <= MAX_CONSTANT) {
        Tensor table = tensor_new(g->arena, t, d->rank, d->dim);
        int64_t last = d->dim[d->rank - 1];
        for (int64_t k = 0; k < count; k++) {
            int64_t index[] = {d->rank > 1 ? k / last : k, k % last};
            table.f[k] = wave(index[axis[0]] * index[axis[1]], n, is_sine);
        }
        return constant_of(g, &table);
    }
    ValueId i = make_iota(g, I64, d->rank, d->dim, axis[0]);
    ValueId j = make_iota(g, I64, d->rank, d->dim, axis[1]);
    ValueId turns = make_mul(g, i, j);
    turns = make_cast(g, make_mod(g, turns, scalar_like(g, turns, (double)n)), F64);
    ValueId angle = make_mul(g, turns, scalar_like(g, turns, 2 * M_PI / (double)n));
    return make_cast(g, is_sine ? make_sin(g, angle) : make_cos(g, angle), t);
}

// ---- pairs ----

// Real (0) or imaginary parts.
static ValueId part(Graph *g, ValueId x, int i)
{
    return slice_axis(g, x, value_of(g, x)->rank - 1, i, 1, 1);
}

// Multiplies complex numbers by c + i·s, which lack dims before the last ones.
static ValueId rotate(const Fourier *f, ValueId x, ValueId c, ValueId s)
{
    Graph *g = f->g;
    int axis = value_of(g, x)->rank - 1;
    bool is_real = value_of(g, x)->dim[axis] == 1;
    ValueId re = part(g, x, 0), im = is_real ? 0 : part(g, x, 1);
    Dims d = dims_of(g, re);

    c = broadcast_to(g, c, d.rank, d.dim);
    s = broadcast_to(g, s, d.rank, d.dim);
    ValueId y[] = {make_mul(g, re, c), make_mul(g, re, s)};
    if (!is_real) {
        y[0] = make_sub(g, y[0], make_mul(g, im, s));
        y[1] = make_add(g, y[1], make_mul(g, im, c));
    }
    return make_concat(g, 2, y, axis);
}

// The waves of a table, with a last dim of 1 for the parts.
static ValueId waves_like(const Fourier *f, ValueId x, const Dims *d, const int *axis, int64_t n,
                          bool is_sine, int sign)
{
    ValueId t = waves(f->g, value_of(f->g, x)->dtype, d, axis, n, is_sine);
    Dims pairs = *d;

    pairs.dim[pairs.rank++] = 1;
    t = reshape_to(f->g, t, &pairs);
    return sign < 0 ? make_neg(f->g, t) : t;
}

// Appends zeros, or cuts the end off, so that there are n numbers.
static ValueId fit(Graph *g, ValueId x, int64_t n)
{
    int axis = value_of(g, x)->rank - 2;
    int64_t none[MAX_RANK] = {0}, high[MAX_RANK] = {0}, size = value_of(g, x)->dim[axis];

    if (size >= n)
        return slice_axis(g, x, axis, 0, n, 1);
    high[axis] = n - size;
    return make_pad(g, x, none, high, none, 0);
}

static ValueId direct(const Fourier *f, ValueId x)
{
    ValueId y = make_dft(f->g, x, f->n, f->bins, f->only_real ? 1 : 2, f->sign > 0);

    return f->scale == 1 ? y : make_mul(f->g, y, scalar_like(f->g, y, f->scale));
}

// ---- long transforms ----

static int64_t largest_prime(int64_t n)
{
    int64_t most = 1;

    for (int64_t p = 2; p * p <= n; p++)
        for (; n % p == 0; n /= p)
            most = p;
    return n > most ? n : most;
}

// The divisor of n, at most RT_DFT_MAX, that is nearest to the root which makes all factors equal.
static int64_t first_factor(int64_t n)
{
    int stages = 1;
    int64_t best = 1;

    for (double reach = RT_DFT_MAX; reach < (double)n; reach *= RT_DFT_MAX)
        stages++;
    double target = pow((double)n, 1.0 / stages);
    for (int64_t a = 2; a <= RT_DFT_MAX; a++)
        if (n % a == 0 && fabs(log((double)a / target)) < fabs(log((double)best / target)))
            best = a;
    return best;
}

static ValueId swap_numbers(Graph *g, ValueId x)
{
    int rank = value_of(g, x)->rank;
    int64_t perm[MAX_RANK];

    for (int i = 0; i < rank; i++)
        perm[i] = i == rank - 3 ? i + 1 : i == rank - 2 ? i - 1 : i;
    return make_transpose(g, x, perm);
}

// With n = a·b, j = i·b + l and k = p + a·q: y[p + a·q] is the transform over l of the rotated
// transforms over i. x is [rows…, a, b, c] then, and y [rows…, q, p, e].
static ValueId by_factors(const Fourier *f, ValueId x)
{
    Graph *g = f->g;
    int64_t a = first_factor(f->n), b = f->n / a;
    Dims d = dims_of(g, x), split = d, table = {2, {b, a}};
    int axis = d.rank - 2;
    Fourier first = {g, a, a, f->sign, false, 1}, second = *f;

    split.rank = d.rank + 1;
    split.dim[axis] = a;
    split.dim[axis + 1] = b;
    split.dim[axis + 2] = d.dim[axis + 1];
    ValueId v = direct(&first, swap_numbers(g, reshape_to(g, x, &split)));  // [rows…, l, p, 2]
    ValueId c = waves_like(f, x, &table, (int[]){0, 1}, f->n, false, 1);
    ValueId s = waves_like(f, x, &table, (int[]){0, 1}, f->n, true, f->sign);
    v = rotate(f, v, c, s);
    second.n = b;
    second.bins = (f->bins + a - 1) / a;
    v = swap_numbers(g, transform(&second, swap_numbers(g, v)));
    d.dim[axis] = second.bins * a;
    d.dim[axis + 1] = f->only_real ? 1 : 2;
    return slice_axis(g, reshape_to(g, v, &d), axis, 0, f->bins, 1);
}

// Transforms complex numbers in place; n is a power of two.
static void transform_numbers(double *re, double *im, int64_t n)
{
    for (int64_t i = 1, j = 0; i < n; i++) {  // j: the bits of i in reverse
        int64_t bit = n / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double a = re[i], b = im[i];
            re[i] = re[j], im[i] = im[j];
            re[j] = a, im[j] = b;
        }
    }
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t k = 0; k < half; k++) {
            double c = wave(k, 2 * half, false), s = -wave(k, 2 * half, true);
            for (int64_t i = k; i < n; i += 2 * half) {
                double a = re[i + half] * c - im[i + half] * s;
                double b = re[i + half] * s + im[i + half] * c;
                re[i + half] = re[i] - a, im[i + half] = im[i] - b;
                re[i] += a, im[i] += b;
            }
        }
}

// The transform of the inverse chirp, e^(-sign · πi · j² / n) for -n < j < n, as a ring of m
// elements. Made here, as what is made of constants in the graph is made again in each step.
static void chirp_filter(const Fourier *f, DType t, int64_t m, ValueId *re, ValueId *im)
{
    int64_t dim[] = {m, 1};
    Tensor filter[] = {tensor_new(f->g->arena, t, 2, dim), tensor_new(f->g->arena, t, 2, dim)};

    for (int64_t j = 0; j < f->n; j++) {
        int64_t at[] = {j, j ? m - j : 0};
        for (int i = 0; i < 2; i++) {
            filter[0].f[at[i]] = wave(j * j, 2 * f->n, false);
            filter[1].f[at[i]] = -f->sign * wave(j * j, 2 * f->n, true);
        }
    }
    transform_numbers(filter[0].f, filter[1].f, m);
    *re = constant_of(f->g, &filter[0]);
    *im = constant_of(f->g, &filter[1]);
}

// jk = (j² + k² - (k - j)²) / 2, so y is x times a chirp, convolved with its inverse, times the
// chirp. The convolution is a product of transforms whose length is a power of two.
static ValueId by_chirp(const Fourier *f, ValueId x)
{
    Graph *g = f->g;
    Dims table = {1, {f->n}};
    int along[] = {0, 0};
    int64_t m = 1;
    ValueId re, im;

    while (m < 2 * f->n - 1)
        m *= 2;
    Fourier there = {g, m, m, -1, false, 1}, back = {g, m, f->bins, 1, false, f->scale / (double)m};
    ValueId c = waves_like(f, x, &table, along, 2 * f->n, false, 1);
    ValueId s = waves_like(f, x, &table, along, 2 * f->n, true, f->sign);
    chirp_filter(f, value_of(g, x)->dtype, m, &re, &im);
    ValueId v = transform(&there, rotate(f, x, c, s));
    v = transform(&back, rotate(f, v, re, im));
    v = rotate(f, v, slice_axis(g, c, 0, 0, f->bins, 1), slice_axis(g, s, 0, 0, f->bins, 1));
    return f->only_real ? part(g, v, 0) : v;
}

static ValueId transform(const Fourier *f, ValueId x)
{
    if (!x)
        return 0;
    if (f->n <= RT_DFT_MAX)
        return direct(f, x);
    x = fit(f->g, x, f->n);
    return largest_prime(f->n) <= RT_DFT_MAX ? by_factors(f, x) : by_chirp(f, x);
}

// Appends the upper half of the spectrum of n real numbers, the lower half's mirror image.
static ValueId whole_spectrum(const Fourier *f, ValueId x)
{
    Graph *g = f->g;
    int axis = value_of(g, x)->rank - 2;
    int64_t more = f->n - value_of(g, x)->dim[axis];
    ValueId upper = slice_axis(g, x, axis, more, more, -1);
    ValueId mirrored[] = {part(g, upper, 0), make_neg(g, part(g, upper, 1))};
    ValueId both[] = {x, make_concat(g, 2, mirrored, axis + 1)};

    return make_concat(g, 2, both, axis);
}

// Real numbers from half a spectrum: a bin that has a mirror image counts for it, too.
static ValueId from_half(const Fourier *f, ValueId x)
{
    Value v = *value_of(f->g, x);
    int64_t dim[] = {v.dim[v.rank - 2], 1};
    Tensor twice = tensor_new(f->g->arena, v.dtype, 2, dim);

    for (int64_t k = 0; k < dim[0]; k++)
        twice.f[k] = k && 2 * k != f->n ? 2 : 1;
    ValueId by = broadcast_to(f->g, constant_of(f->g, &twice), v.rank, v.dim);
    return direct(f, make_mul(f->g, x, by));
}

bool fourier_fits(int64_t n) { return n <= MAX_CHIRP || largest_prime(n) <= RT_DFT_MAX; }

ValueId fourier(Graph *g, ValueId x, int64_t n, bool inverse, bool onesided)
{
    bool is_half = inverse && onesided;
    int64_t given = is_half ? n / 2 + 1 : n;
    Fourier f = {.g = g,
                 .n = n,
                 .bins = onesided && !inverse ? n / 2 + 1 : n,
                 .sign = inverse ? 1 : -1,
                 .only_real = is_half,
                 .scale = inverse ? 1 / (double)n : 1};

    if (x && value_of(g, x)->dim[value_of(g, x)->rank - 2] > given)
        x = fit(g, x, given);
    if (!x || !is_half)
        return transform(&f, x);
    return n <= RT_DFT_MAX ? from_half(&f, x) : transform(&f, whole_spectrum(&f, fit(g, x, given)));
}
