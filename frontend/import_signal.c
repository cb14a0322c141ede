// Imports operators of signals: Fourier transforms, and constants that are used with them.
#include "frontend/internal.h"
#include "ir/kernel.h"

enum {
    MAX_LENGTH = 1 << 24,  // elements of a transform or a window
    MAX_PIECES = 64,       // of a frame, if frames are joined from pieces
    MAX_ROWS = 4,          // dims of rows of a transform; more become one
};

// ---- transforms ----

// Halves are transformed as F32: a table of sines needs more digits than they have.
static ValueId widen(Graph *g, ValueId x)
{
    return x && value_of(g, x)->dtype != F64 ? make_cast(g, x, F32) : x;
}

static bool read_length(Op *o, int i, const char *what, int64_t *n)
{
    double v;

    if (has(o, i)) {
        if (!arg_number(o, i, what, &v))
            return false;
        *n = v >= 1 && v <= MAX_LENGTH ? (int64_t)v : 0;
    }
    return (*n >= 1 && *n <= MAX_LENGTH) ||
           op_error(o, "%s must be from 1 to %d", what, MAX_LENGTH);
}

static bool is_signal(Op *o, const Value *x)
{
    if (!dtype_is_float(x->dtype))
        return op_error(o, "a signal of floats is expected");
    int64_t last = x->rank ? x->dim[x->rank - 1] : 0;
    return (x->rank >= 2 && (last == 1 || last == 2)) ||
           op_error(o, "the last dim must be 1 (real numbers) or 2 (complex numbers)");
}

static bool read_axis(Op *o, int rank, int64_t *axis)
{
    double v = -2;

    *axis = attr_int(o, "axis", 1);
    if (o->opset >= 20) {
        if (has(o, 2) && !arg_number(o, 2, "axis", &v))
            return false;
        *axis = v >= -MAX_RANK && v <= MAX_RANK ? (int64_t)v : MAX_RANK;
    }
    if (!op_axis(o, axis, rank))
        return false;
    return *axis != rank - 1 || op_error(o, "the last dim can't be transformed");
}

static bool is_possible(Op *o, int64_t n)
{
    return fourier_fits(n) ||
           op_error(o,
                    "a transform of %" PRId64 " elements, more than %d, with a prime factor above "
                    "%d",
                    n, MAX_CHIRP, RT_DFT_MAX);
}

// Moves the axis before the last dim, of real and imaginary parts: [rows…, n, c].
static ValueId to_pairs(Graph *g, ValueId x, int axis, int64_t *back)
{
    int rank = value_of(g, x)->rank, k = 0;
    int64_t perm[MAX_RANK];

    for (int i = 0; i < rank - 1; i++)
        if (i != axis)
            perm[k++] = i;
    perm[k++] = axis;
    perm[k] = rank - 1;
    for (int i = 0; i < rank; i++)
        back[perm[i]] = i;
    return transpose_to(g, x, perm);
}

static void import_dft(Op *o)
{
    Graph *g = o->g;
    Value v = *arg_value(o, 0);
    bool inverse = attr_int(o, "inverse", 0) != 0, onesided = attr_int(o, "onesided", 0) != 0;
    int64_t axis, back[MAX_RANK];

    if (!is_signal(o, &v) || !read_axis(o, v.rank, &axis))
        return;
    if (onesided && v.dim[v.rank - 1] != (inverse ? 2 : 1)) {
        op_error(o, inverse ? "an inverse one-sided transform needs complex numbers"
                            : "a one-sided transform needs real numbers");
        return;
    }
    int64_t n = inverse && onesided ? 2 * (v.dim[axis] - 1) : v.dim[axis];
    if (!read_length(o, 1, "dft_length", &n) || !is_possible(o, n))
        return;
    ValueId x = to_pairs(g, widen(g, arg(o, 0)), (int)axis, back);
    Dims d = dims_of(g, x), rows = {3, {1, d.dim[d.rank - 2], d.dim[d.rank - 1]}};
    bool joins = d.rank - 2 > MAX_ROWS;
    for (int i = 0; i < d.rank - 2; i++)
        rows.dim[0] *= d.dim[i];
    ValueId y = fourier(g, joins ? reshape_to(g, x, &rows) : x, n, inverse, onesided);
    if (joins) {
        d.dim[d.rank - 2] = value_of(g, y)->dim[1];
        d.dim[d.rank - 1] = value_of(g, y)->dim[2];
        y = reshape_to(g, y, &d);
    }
    give(o, 0, make_cast(g, transpose_to(g, y, back), v.dtype));
}

// ---- frames ----

// Cuts x [rows…, n] into frames of `size` elements that begin every `step` elements, [rows…, count,
// size]. The greatest common divisor of both is the size of pieces, of which a frame is a few in
// sequence. If those are many, the frames are gathered.
static ValueId frames(Graph *g, ValueId x, int64_t size, int64_t step, int64_t count)
{
    Dims d = dims_of(g, x);
    int axis = d.rank - 1;
    int64_t piece = size, rest = step % size;
    ValueId part[MAX_PIECES];

    for (int64_t next; rest; rest = next) {
        next = piece % rest;
        piece = rest;
    }
    if (size / piece > MAX_PIECES) {
        Dims at = {2, {count, size}};
        ValueId first = make_iota(g, I64, 2, at.dim, 0);
        first = make_mul(g, first, scalar_like(g, first, (double)step));
        ValueId index = make_add(g, first, make_iota(g, I64, 2, at.dim, 1));
        return make_gather(g, x, index, axis, 0);
    }
    int64_t used = ((count - 1) * step + size) / piece;
    x = slice_axis(g, x, axis, 0, used * piece, 1);
    d.dim[axis] = used;
    d.dim[d.rank++] = piece;
    x = reshape_to(g, x, &d);
    int n = (int)(size / piece);
    for (int i = 0; i < n; i++)
        part[i] = slice_axis(g, x, axis, i, count, step / piece);
    return n == 1 ? part[0] : make_concat(g, n, part, axis + 1);
}

// Reads the lengths of frames and steps. The window says the length if frame_length doesn't.
static bool read_frames(Op *o, const Value *x, int64_t *size, int64_t *step, int64_t *count)
{
    const Value *window = has(o, 2) ? arg_value(o, 2) : NULL;

    *step = 0;
    *size = window && window->rank ? window->dim[0] : x->dim[1];
    if (!read_length(o, 1, "frame_step", step) || !read_length(o, 3, "frame_length", size))
        return false;
    if (window && (window->rank != 1 || window->dim[0] != *size))
        return op_error(o, "the window must have the %" PRId64 " elements of a frame", *size);
    if (*size > x->dim[1])
        return op_error(o, "a frame of %" PRId64 " elements is longer than the signal of %" PRId64,
                        *size, x->dim[1]);
    *count = (x->dim[1] - *size) / *step + 1;
    return true;
}

static void import_stft(Op *o)
{
    static const int64_t planes[] = {0, 2, 1}, pairs[] = {0, 2, 3, 1};
    Graph *g = o->g;
    Value v = *arg_value(o, 0);
    bool onesided = attr_int(o, "onesided", 1) != 0;
    int64_t size, step, count = 0;

    if (v.rank != 3) {
        op_error(o, "a signal of rank 3 is expected");
        return;
    }
    if (!is_signal(o, &v) || !read_frames(o, &v, &size, &step, &count) || !is_possible(o, size))
        return;
    if (onesided && v.dim[2] == 2) {
        op_error(o, "a one-sided transform needs real numbers");
        return;
    }
    ValueId x = make_transpose(g, widen(g, arg(o, 0)), planes);  // [batch, c, length]
    x = frames(g, x, size, step, count);
    if (has(o, 2)) {
        Dims d = dims_of(g, x);
        ValueId window = make_cast(g, arg(o, 2), value_of(g, x)->dtype);
        x = make_mul(g, x, broadcast_to(g, window, d.rank, d.dim));
    }
    x = fourier(g, make_transpose(g, x, pairs), size, false, onesided);
    give(o, 0, make_cast(g, x, v.dtype));
}

// ---- windows ----

static DType output_type(Op *o)
{
    int64_t t = attr_int(o, "output_datatype", 1);
    DType type = t > 0 && t < INT32_MAX ? dtype_in_graph((int32_t)t) : DT_NONE;

    if (!type || type == BOOL)
        op_error(o, "output_datatype %" PRId64 " is not a type of numbers", t);
    return type == BOOL ? DT_NONE : type;
}

// a0 - a1 cos(2πi / n) + a2 cos(4πi / n), in F64.
static void import_window_of(Op *o, double a0, double a1, double a2)
{
    Graph *g = o->g;
    DType t = output_type(o);
    int64_t n = 0;

    if (!t || !read_length(o, 0, "size", &n))
        return;
    bool is_periodic = attr_int(o, "periodic", 1) != 0;
    double turn = 2 * M_PI / (double)(is_periodic || n == 1 ? n : n - 1);
    ValueId i = make_iota(g, F64, 1, &n, 0);
    ValueId c = make_cos(g, make_mul(g, i, scalar_like(g, i, turn)));
    ValueId y = make_add(g, make_mul(g, c, scalar_like(g, c, -a1)), scalar_like(g, c, a0));
    if (a2 != 0) {
        c = make_cos(g, make_mul(g, i, scalar_like(g, i, 2 * turn)));
        y = make_add(g, y, make_mul(g, c, scalar_like(g, c, a2)));
    }
    give(o, 0, make_cast(g, y, t));
}

static void import_hann(Op *o) { import_window_of(o, 0.5, 0.5, 0); }

static void import_hamming(Op *o) { import_window_of(o, 25.0 / 46, 21.0 / 46, 0); }

static void import_blackman(Op *o) { import_window_of(o, 0.42, 0.5, 0.08); }

// ---- mel scale ----

typedef struct Mel {
    double bands, length, rate, low, high;
} Mel;

static bool read_mel(Op *o, Mel *m)
{
    if (!arg_number(o, 0, "num_mel_bins", &m->bands) ||
        !arg_number(o, 1, "dft_length", &m->length) || !arg_number(o, 2, "sample_rate", &m->rate) ||
        !arg_number(o, 3, "lower_edge_hertz", &m->low) ||
        !arg_number(o, 4, "upper_edge_hertz", &m->high))
        return false;
    if (!(m->bands >= 1 && m->bands <= MAX_LENGTH && m->length >= 1 && m->length <= MAX_LENGTH))
        return op_error(o, "num_mel_bins and dft_length must be from 1 to %d", MAX_LENGTH);
    double bytes = m->bands * (floor(m->length / 2) + 1) * sizeof(double);
    if (bytes > MAX_CONSTANT)
        return op_error(o, "its matrix would be larger than %d elements",
                        MAX_CONSTANT / (int)sizeof(double));
    return (m->rate > 0 && m->low >= 0 && m->high >= m->low && m->high <= m->rate / 2) ||
           op_error(o, "expected 0 <= lower_edge_hertz <= upper_edge_hertz <= sample_rate / 2");
}

// The bin of a spectrum where the edge of a band lies.
static int64_t mel_edge(const Mel *m, int64_t i)
{
    double low = 2595 * log1p(m->low / 700) / M_LN10, high = 2595 * log1p(m->high / 700) / M_LN10;
    double mel = low + (double)i * ((high - low) / (m->bands + 2));
    double hertz = 700 * expm1(mel / 2595 * M_LN10);

    return (int64_t)floor((m->length + 1) * hertz / m->rate);
}

// Each band is a triangle over the bins of a spectrum between the centres of its neighbours.
static void import_mel(Op *o)
{
    Graph *g = o->g;
    DType t = output_type(o);
    Mel m;

    if (!t || !read_mel(o, &m))
        return;
    int64_t bands = (int64_t)m.bands, bins = (int64_t)m.length / 2 + 1;
    Tensor y = tensor_new(g->arena, F64, 2, (int64_t[]){bins, bands});
    for (int64_t i = 0; i < bands; i++) {
        int64_t left = mel_edge(&m, i), centre = mel_edge(&m, i + 1), right = mel_edge(&m, i + 2);
        for (int64_t k = left; k <= right && k < bins; k++) {
            bool is_left = k <= centre && left < centre;
            double up = (double)(k - left) / (double)(centre - left);
            double down = (double)(right - k) / (double)(right - centre);
            y.f[k * bands + i] = is_left && k < centre ? up : k == centre ? 1 : down;
        }
    }
    give(o, 0, make_cast(g, graph_constant(g, F64, 2, y.dim, tensor_pack(g->arena, &y)), t));
}

const OpImporter import_signal[] = {
    {"BlackmanWindow", 1, 1, .import = import_blackman, .attrs = "output_datatype periodic",
     .since = 17, .known = "size", .no_gradient = "none: a constant"},
    {"DFT", 1, 3, .import = import_dft, .attrs = "axis inverse onesided", .since = 17,
     .known = "dft_length, axis",
     .refuses = "more than 16777216 elements along the axis; more than 65536 with a prime factor "
                "above 1024"},
    {"HammingWindow", 1, 1, .import = import_hamming, .attrs = "output_datatype periodic",
     .since = 17, .known = "size", .no_gradient = "none: a constant"},
    {"HannWindow", 1, 1, .import = import_hann, .attrs = "output_datatype periodic", .since = 17,
     .known = "size", .no_gradient = "none: a constant"},
    {"MelWeightMatrix", 5, 5, .import = import_mel, .attrs = "output_datatype", .since = 17,
     .known = "num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz",
     .refuses = "more than 131072 elements", .no_gradient = "none: a constant"},
    {"STFT", 2, 4, .import = import_stft, .attrs = "onesided", .since = 17,
     .known = "frame_step, frame_length",
     .refuses = "frames of more than 65536 with a prime factor above 1024"},
    {0},
};
