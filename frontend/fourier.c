// Builds discrete Fourier transforms. A short one is a product with a constant matrix. A longer one
// is a product with the matrix of one of its factors, a rotation of each element, and the transform
// of the other factor (Cooley and Tukey 1965). A length with a large prime factor is a convolution
// with a chirp, by transforms of another length (Bluestein 1970).
//
// Complex numbers come and go as pairs, [rows…, n, 2]: the last dim holds the real and the
// imaginary part. It is 1 for real numbers. One product reads and writes them so. Longer transforms
// compute with planes, [rows…, 2, n], whose rows are what the rotations read.
#include "frontend/internal.h"

// One transform along the last dim: y[k] = scale · Σ x[j] e^(sign · 2πi · jk / n) for k < bins.
typedef struct Fourier {
    Graph *g;
    int64_t n, bins;
    int sign;
    bool only_real;  // the imaginary part of y isn't needed
    double scale;
} Fourier;

static ValueId transform(const Fourier *f, ValueId x);

int64_t fourier_matrix(DType t) { return t == F64 ? 181 : 256; }

static int64_t longest(const Fourier *f, ValueId x)
{
    return fourier_matrix(value_of(f->g, x)->dtype);
}

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

// ---- planes ----

static ValueId plane(Graph *g, ValueId x, int axis, int i)
{
    return slice_axis(g, x, axis, i, 1, 1);
}

// Multiplies complex numbers by c + i·s. `axis` is the dim of the planes in x; c and s lack it and
// may lack dims before it.
static ValueId rotate(const Fourier *f, ValueId x, int axis, ValueId c, ValueId s)
{
    Graph *g = f->g;
    bool is_real = value_of(g, x)->dim[axis] == 1;
    ValueId re = plane(g, x, axis, 0), im = is_real ? 0 : plane(g, x, axis, 1);
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

static ValueId waves_like(const Fourier *f, ValueId x, const Dims *d, const int *axis, int64_t n,
                          bool is_sine, int sign)
{
    ValueId t = waves(f->g, value_of(f->g, x)->dtype, d, axis, n, is_sine);

    return sign < 0 ? make_neg(f->g, t) : t;
}

// Appends zeros, or cuts the end off, so that a dim has n elements.
static ValueId fit(Graph *g, ValueId x, int axis, int64_t n)
{
    int64_t none[MAX_RANK] = {0}, high[MAX_RANK] = {0}, size = value_of(g, x)->dim[axis];

    if (size >= n)
        return slice_axis(g, x, axis, 0, n, 1);
    high[axis] = n - size;
    return make_pad(g, x, none, high, none, 0);
}

// Pairs to planes, or planes to pairs.
static ValueId exchange_parts(Graph *g, ValueId x)
{
    int rank = value_of(g, x)->rank;
    int64_t perm[MAX_RANK];

    for (int i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return make_transpose(g, x, perm);
}

// ---- short transforms ----

// Multiplies x [rows…, r, s] by a matrix [r, s, t, u].
static ValueId product(Graph *g, ValueId x, ValueId matrix)
{
    static const char rows[] = "ABCDEFGHIJKL";
    int rank = value_of(g, x)->rank - 2;
    char eq[64];

    snprintf(eq, sizeof eq, "%.*srs,rstu->%.*stu", rank, rows, rank, rows);
    return make_dot(g, x, matrix, eq);
}

// The element of the matrix that bin k has of number j, for parts c of the number and e of the bin.
// A bin of half a spectrum counts for its mirror image too, if is_half.
static double weight(const Fourier *f, int64_t j, int64_t c, int64_t k, int64_t e, bool is_half)
{
    double w = wave(j * k, f->n, c != e) * (c == e ? 1 : f->sign * (e ? 1 : -1));

    return f->scale * w * (is_half && j && 2 * j != f->n ? 2 : 1);
}

// x and the result are pairs, or planes. The matrix has their order of dims, so that rows of all
// three are contiguous.
static ValueId direct(const Fourier *f, ValueId x, bool is_pairs, bool is_half)
{
    const Value *v = value_of(f->g, x);
    int64_t parts = f->only_real ? 1 : 2, r = v->dim[v->rank - 2], s = v->dim[v->rank - 1];
    int64_t dim[] = {r, s, is_pairs ? f->bins : parts, is_pairs ? parts : f->bins};
    Tensor m = tensor_new(f->g->arena, v->dtype, 4, dim);

    for (int64_t i = 0; i < tensor_count(&m); i++) {
        int64_t to = i % (dim[2] * dim[3]), from = i / (dim[2] * dim[3]);
        m.f[i] = is_pairs ? weight(f, from / s, from % s, to / parts, to % parts, is_half)
                          : weight(f, from % s, from / s, to % f->bins, to / f->bins, is_half);
    }
    return product(f->g, x, constant_of(f->g, &m));
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

// The divisor of n up to `most` that is nearest to the root which makes all factors equal.
static int64_t first_factor(int64_t n, int64_t most)
{
    int stages = 1;
    int64_t best = 1;

    for (double reach = (double)most; reach < (double)n; reach *= (double)most)
        stages++;
    double target = pow((double)n, 1.0 / stages);
    for (int64_t a = 2; a <= most; a++)
        if (n % a == 0 && fabs(log((double)a / target)) < fabs(log((double)best / target)))
            best = a;
    return best;
}

// With n = a·b, j = i·b + l and k = p + a·q: y[p + a·q] is the transform over l of the rotated
// transforms over i. x is [rows…, c, a, b] then, and y [rows…, e, q, p].
static ValueId by_factors(const Fourier *f, ValueId x)
{
    Graph *g = f->g;
    int64_t a = first_factor(f->n, longest(f, x)), b = f->n / a, perm[MAX_RANK];
    Dims d = dims_of(g, x), parts = d, table = {2, {a, b}};
    int planes = d.rank - 2, rank = d.rank + 1;
    Fourier first = {g, a, a, f->sign, false, 1}, second = *f;

    parts.rank = rank;
    parts.dim[planes + 1] = a;
    parts.dim[planes + 2] = b;
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    perm[planes] = planes + 2;  // [rows…, b, c, a]
    perm[planes + 1] = planes;
    perm[planes + 2] = planes + 1;
    ValueId v = direct(&first, make_transpose(g, reshape_to(g, x, &parts), perm), false, false);
    perm[planes] = planes + 1;  // [rows…, e, a, b]
    perm[planes + 1] = planes + 2;
    perm[planes + 2] = planes;
    v = make_transpose(g, v, perm);
    ValueId c = waves_like(f, x, &table, (int[]){0, 1}, f->n, false, 1);
    ValueId s = waves_like(f, x, &table, (int[]){0, 1}, f->n, true, f->sign);
    v = rotate(f, v, planes, c, s);
    perm[planes] = planes + 1;  // [rows…, a, e, b]
    perm[planes + 1] = planes;
    perm[planes + 2] = planes + 2;
    second.n = b;
    second.bins = (f->bins + a - 1) / a;
    v = transform(&second, make_transpose(g, v, perm));
    perm[planes + 1] = planes + 2;  // [rows…, e, q, a]
    perm[planes] = planes + 1;
    perm[planes + 2] = planes;
    v = make_transpose(g, v, perm);
    d.dim[planes] = f->only_real ? 1 : 2;
    d.dim[planes + 1] = second.bins * a;
    return slice_axis(g, reshape_to(g, v, &d), planes + 1, 0, f->bins, 1);
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
    Tensor part[] = {tensor_new(f->g->arena, t, 1, &m), tensor_new(f->g->arena, t, 1, &m)};

    for (int64_t j = 0; j < f->n; j++) {
        int64_t at[] = {j, j ? m - j : 0};
        for (int i = 0; i < 2; i++) {
            part[0].f[at[i]] = wave(j * j, 2 * f->n, false);
            part[1].f[at[i]] = -f->sign * wave(j * j, 2 * f->n, true);
        }
    }
    transform_numbers(part[0].f, part[1].f, m);
    *re = constant_of(f->g, &part[0]);
    *im = constant_of(f->g, &part[1]);
}

// jk = (j² + k² - (k - j)²) / 2, so y is x times a chirp, convolved with its inverse, times the
// chirp. The convolution is a product of transforms whose length is a power of two.
static ValueId by_chirp(const Fourier *f, ValueId x)
{
    Graph *g = f->g;
    Dims table = {1, {f->n}};
    int planes = value_of(g, x)->rank - 2, along[] = {0, 0};
    int64_t m = 1;
    ValueId re, im;

    while (m < 2 * f->n - 1)
        m *= 2;
    Fourier there = {g, m, m, -1, false, 1}, back = {g, m, f->bins, 1, false, f->scale / (double)m};
    ValueId c = waves_like(f, x, &table, along, 2 * f->n, false, 1);
    ValueId s = waves_like(f, x, &table, along, 2 * f->n, true, f->sign);
    chirp_filter(f, value_of(g, x)->dtype, m, &re, &im);
    ValueId v = fit(g, rotate(f, x, planes, c, s), planes + 1, m);
    v = transform(&back, rotate(f, transform(&there, v), planes, re, im));
    v = rotate(f, v, planes, slice_axis(g, c, 0, 0, f->bins, 1),
               slice_axis(g, s, 0, 0, f->bins, 1));
    return f->only_real ? plane(g, v, planes, 0) : v;
}

static ValueId transform(const Fourier *f, ValueId x)
{
    if (!x)
        return 0;
    if (f->n <= longest(f, x))
        return direct(f, x, false, false);
    return largest_prime(f->n) <= longest(f, x) ? by_factors(f, x) : by_chirp(f, x);
}

// Appends the upper half of the spectrum of n real numbers, the lower half's mirror image.
static ValueId whole_spectrum(const Fourier *f, ValueId x)
{
    Graph *g = f->g;
    int axis = value_of(g, x)->rank - 1;
    int64_t more = f->n - value_of(g, x)->dim[axis];
    ValueId upper = slice_axis(g, x, axis, more, more, -1);
    ValueId part[] = {plane(g, upper, axis - 1, 0), make_neg(g, plane(g, upper, axis - 1, 1))};
    ValueId both[] = {x, make_concat(g, 2, part, axis - 1)};

    return make_concat(g, 2, both, axis);
}

bool fourier_fits(DType t, int64_t n)
{
    return n <= MOST_CHIRP || largest_prime(n) <= fourier_matrix(t);
}

ValueId fourier(Graph *g, ValueId x, int64_t n, bool inverse, bool onesided)
{
    bool is_half = inverse && onesided;
    Fourier f = {.g = g,
                 .n = n,
                 .bins = onesided && !inverse ? n / 2 + 1 : n,
                 .sign = inverse ? 1 : -1,
                 .only_real = is_half,
                 .scale = inverse ? 1 / (double)n : 1};

    if (!x)
        return 0;
    x = fit(g, x, value_of(g, x)->rank - 2, is_half ? n / 2 + 1 : n);
    if (n <= longest(&f, x))
        return direct(&f, x, true, is_half);
    x = exchange_parts(g, x);
    return exchange_parts(g, transform(&f, is_half ? whole_spectrum(&f, x) : x));
}
