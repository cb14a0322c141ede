// Depthwise convolutions of halves with channels last, in all directions. A thread takes a block of
// channels of a sample and goes from row to row of the result. The rows under its windows are
// widened once, into a ring of rows with the window's padding, so that taps need no conditions:
//     result[r] = Σ widened[r · step + tap · dilation] · w[tap]
// The gradient of x is such a sum over dy with the taps in reverse order; if the convolution has a
// stride, zeros are put between dy's elements. The gradient of weights multiplies widened rows of x
// with those of dy.
#include "runtime/cpu/depthwise_halves.h"

#include "runtime/cpu/floats.h"
#include "runtime/cpu/window.h"

// MEMORY: floats of a thread, less than half of a second-level cache. MAX_SUMS: floats of the sums
// of several chunks.
enum {
    LANES = 16,
    MAX_ROWS = 16,
    MAX_TAPS = 64,
    MEMORY = 48 << 10,
    MAX_SUMS = 1 << 18,
    CHUNK_LINES = 8
};

enum { LINE, COLUMN, DIMS };

typedef struct Depthwise {
    RtKernel base;
    RtType type, result_type;
    bool is_back;  // the gradient of x
    int64_t n, c, taps, chunks;
    int64_t block, blocks;  // channels of a block; how many blocks
    int64_t padded;         // channels of all blocks
    // The tensor that is widened and the result; for the gradient of weights, x and y.
    int64_t from[DIMS], to[DIMS];
    int64_t size[DIMS], step[DIMS], low[DIMS], dilation[DIMS];
    int64_t gap[DIMS];    // from one element that is widened to the next one
    int64_t width, rows;  // positions of a widened row; how many rows a window has
} Depthwise;

// A thread's widened rows of one block of channels in one sample.
typedef struct Ring {
    const void *x;  // element 0 of the block
    int64_t channels, held[MAX_ROWS];
    float *row;
} Ring;

// In a thread's memory, a row of y follows the widened rows.
static float *line_at(const Depthwise *d, float *memory)
{
    return memory + d->rows * d->width * d->block;
}

// The most channels for which a thread's memory suffices, in as few blocks of equal size as
// possible; 0: it suffices for none.
static int64_t block_of(const Depthwise *d)
{
    int64_t each = d->rows * d->width + d->to[COLUMN];
    int64_t most = MEMORY / each / LANES * LANES;

    return most ? rt_round_up(rt_ceil_div(d->c, rt_ceil_div(d->c, most)), LANES) : 0;
}

static void describe(Depthwise *d, const RtConv *p, RtConvDirection direction)
{
    RtPool q = rt_pool(p);

    d->c = p->c;
    d->taps = rt_product(p->window.size, p->window.n);
    d->is_back = direction == RT_CONV_INPUT_GRAD;
    d->width = d->rows = 1;
    for (int i = 0; i < DIMS; i++) {
        int64_t span = (q.size[i + 1] - 1) * q.dilation[i + 1];

        d->from[i] = d->is_back ? q.y_dim[i + 1] : q.x_dim[i + 1];
        d->to[i] = d->is_back ? q.x_dim[i + 1] : q.y_dim[i + 1];
        d->size[i] = q.size[i + 1];
        d->dilation[i] = q.dilation[i + 1];
        d->step[i] = d->is_back ? 1 : q.stride[i + 1];
        d->gap[i] = d->is_back ? q.stride[i + 1] : 1;
        d->low[i] = d->is_back ? span - q.low[i + 1] : q.low[i + 1];
    }
    d->rows = (d->size[LINE] - 1) * d->dilation[LINE] / d->gap[LINE] + 1;
    d->width =
        (d->to[COLUMN] - 1) * d->step[COLUMN] + (d->size[COLUMN] - 1) * d->dilation[COLUMN] + 1;
}

bool rt_depthwise_halves_fits(const RtConv *p)
{
    Depthwise d = {0};

    if (!rt_is_half(p->type) || p->groups != p->c || p->groups != p->o || !p->x_last ||
        !p->y_last || p->c < LANES || p->window.n > DIMS ||
        rt_product(p->window.size, p->window.n) > MAX_TAPS)
        return false;
    for (int i = RT_CONV; i <= RT_CONV_INPUT_GRAD; i++) {
        describe(&d, p, (RtConvDirection)i);
        if (rt_product(d.from, DIMS) * rt_product(d.to, DIMS) == 0 || d.rows > MAX_ROWS ||
            !block_of(&d))
            return false;
    }
    return true;
}

// Widens row `i`: its elements between the zeros.
static void widen(const Depthwise *d, const Ring *r, float *to, int64_t i)
{
    int64_t gap = d->gap[COLUMN], low = d->low[COLUMN];
    int64_t first = low < 0 ? rt_ceil_div(-low, gap) : 0;
    int64_t last = rt_least(d->from[COLUMN], rt_ceil_div(rt_most(0, d->width - low), gap));

    if (first < last)
        rt_read_floats(d->type, to + (first * gap + low) * d->block, gap * d->block,
                       rt_at(d->type, r->x, (i * d->from[COLUMN] + first) * d->c), d->c, 1,
                       last - first, r->channels);
}

// The widened row under tap `tap` of the window at row `i` of the result; NULL: padding.
static const float *row_under(const Depthwise *d, Ring *r, int64_t i, int64_t tap)
{
    int64_t at = i * d->step[LINE] + tap * d->dilation[LINE] - d->low[LINE];
    int64_t row = at / d->gap[LINE], slot = row % d->rows;

    if (at < 0 || at % d->gap[LINE] || row >= d->from[LINE])
        return NULL;
    float *to = r->row + slot * d->width * d->block;
    if (r->held[slot] != row)
        widen(d, r, to, row);
    r->held[slot] = row;
    return to;
}

static Ring ring_of(const Depthwise *d, float *memory, const void *x, int64_t sample, int64_t block)
{
    int64_t at = sample * rt_product(d->from, DIMS) * d->c + block * d->block;
    Ring r = {.x = rt_at(d->type, x, at),
              .channels = rt_least(d->block, d->c - block * d->block),
              .row = memory};

    for (int i = 0; i < MAX_ROWS; i++)
        r.held[i] = -1;
    return r;
}

// ---- y, or the gradient of x ----

// Sums of `n` positions, a constant, over all taps. row: by line of the window.
static inline __attribute__((always_inline)) void
add_taps(const Depthwise *d, int n, float *y, const float *const *row, int64_t at, const float *w)
{
    float s[4][LANES] = {{0}};
    int64_t step = d->step[COLUMN] * d->block, dilation = d->dilation[COLUMN] * d->block;

    for (int64_t a = 0; a < d->size[LINE]; a++) {
        const float *x = row[a] + at, *v = w + a * d->size[COLUMN] * d->padded;

        for (int64_t b = 0; row[a] && b < d->size[COLUMN]; b++, x += dilation, v += d->padded)
            for (int j = 0; j < n; j++)
                RT_SIMD for (int l = 0; l < LANES; l++) s[j][l] =
                    RT_FMA(x[j * step + l], v[l], s[j][l]);
    }
    for (int j = 0; j < n; j++)
        RT_SIMD for (int l = 0; l < LANES; l++) y[j * d->block + l] = s[j][l];
}

static void sum_row(const Depthwise *d, float *y, const float *const *row, int64_t channels,
                    const float *w)
{
    int64_t step = d->step[COLUMN] * d->block;

    for (int64_t c = 0; c < channels; c += LANES) {
        for (int64_t j = 0, n; j < d->to[COLUMN]; j += n) {
            n = rt_least(4, d->to[COLUMN] - j);
            if (n == 4)
                add_taps(d, 4, y + j * d->block + c, row, j * step + c, w + c);
            else if (n == 3)
                add_taps(d, 3, y + j * d->block + c, row, j * step + c, w + c);
            else if (n == 2)
                add_taps(d, 2, y + j * d->block + c, row, j * step + c, w + c);
            else
                add_taps(d, 1, y + j * d->block + c, row, j * step + c, w + c);
        }
    }
}

// Rows [first, last) of the result, of one block of channels in a sample.
static void sum_rows(const Depthwise *d, float *y, Ring *r, char *result, const float *w,
                     int64_t first, int64_t last)
{
    const float *row[MAX_TAPS];
    int64_t line = d->to[COLUMN] * d->c;

    for (int64_t i = first; i < last; i++) {
        for (int64_t a = 0; a < d->size[LINE]; a++)
            row[a] = row_under(d, r, i, a);
        sum_row(d, y, row, r->channels, w);
        rt_write_floats(d->result_type, rt_to(d->result_type, result, i * line), d->c, 1, y,
                        d->block, d->to[COLUMN], r->channels);
    }
}

// Widens the weights to [tap][channel]. All threads of the parallel region call it.
static void widen_weights(const Depthwise *d, float *to, const void *w)
{
    int64_t first = d->is_back ? d->taps - 1 : 0, next = d->is_back ? -1 : 1;

#pragma omp for schedule(static)
    for (int64_t t = 0; t < d->taps; t++) {
        memset(to + t * d->padded, 0, sizeof *to * (size_t)d->padded);
        rt_read_floats(d->type, to + t * d->padded, 0, rt_at(d->type, w, first + t * next), 0,
                       d->taps, 1, d->c);
    }
}

static void run_sums(Rt *rt, RtKernel *kernel, void *result, const void *x, const void *w)
{
    const Depthwise *d = (const Depthwise *)kernel;
    int64_t positions = rt_product(d->to, DIMS), units = d->n * d->blocks;
    float *wide = (float *)(void *)rt->workspace;

#pragma omp parallel num_threads(rt_team(rt, d->n *positions * d->c * d->taps / 4))
    {
        float memory[MEMORY];
        int64_t parts = rt_least(d->to[LINE], rt_ceil_div(4 * omp_get_num_threads(), units));

        memset(memory, 0, sizeof *memory * (size_t)(d->rows * d->width * d->block));
        widen_weights(d, wide, w);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < units * parts; i++) {
            int64_t unit = i / parts, part = i % parts;
            int64_t sample = unit / d->blocks, block = unit % d->blocks;
            Ring r = ring_of(d, memory, x, sample, block);

            sum_rows(d, line_at(d, memory), &r,
                     rt_to(d->result_type, result, sample * positions * d->c + block * d->block),
                     wide + block * d->block, rt_partition(d->to[LINE], part, parts),
                     rt_partition(d->to[LINE], part + 1, parts));
        }
    }
}

// ---- the gradient of weights ----

// Adds the products of a row of dy with a widened row of x to the sums of a row of the window, for
// `n` taps, a constant.
static inline __attribute__((always_inline)) void
multiply_rows(const Depthwise *d, int n, float *sum, const float *x, const float *dy)
{
    float s[4][LANES];
    int64_t step = d->step[COLUMN] * d->block, dilation = d->dilation[COLUMN] * d->block;

    for (int k = 0; k < n; k++)
        memcpy(s[k], sum + k * d->block, sizeof s[k]);
    for (int64_t j = 0; j < d->to[COLUMN]; j++, x += step, dy += d->block)
        for (int k = 0; k < n; k++)
            RT_SIMD for (int l = 0; l < LANES; l++) s[k][l] =
                RT_FMA(x[k * dilation + l], dy[l], s[k][l]);
    for (int k = 0; k < n; k++)
        memcpy(sum + k * d->block, s[k], sizeof s[k]);
}

static void multiply_row(const Depthwise *d, float *sum, const float *x, const float *dy,
                         int64_t channels)
{
    int64_t dilation = d->dilation[COLUMN] * d->block;

    for (int64_t c = 0; c < channels; c += LANES)
        for (int64_t b = 0, n; b < d->size[COLUMN]; b += n) {
            float *to = sum + b * d->block + c;
            int64_t left = d->size[COLUMN] - b;

            n = left == 4 || left > 5 ? 4 : left == 3 || left == 5 ? 3 : 1;
            if (n == 4)
                multiply_rows(d, 4, to, x + b * dilation + c, dy + c);
            else if (n == 3)
                multiply_rows(d, 3, to, x + b * dilation + c, dy + c);
            else
                multiply_rows(d, 1, to, x + b * dilation + c, dy + c);
        }
}

// Adds rows [first, last) of y, counted over all samples, for one block of channels. sum: [tap][
// block].
static void multiply_chunk(const Depthwise *d, float *memory, float *sum, const void *x,
                           const void *dy, int64_t block, int64_t first, int64_t last)
{
    float *wide = line_at(d, memory);
    int64_t line = d->to[COLUMN] * d->c;
    Ring r = {0};

    memset(sum, 0, sizeof *sum * (size_t)(d->taps * d->block));
    for (int64_t i = first; i < last; i++) {
        int64_t at = i % d->to[LINE];

        if (i == first || at == 0)
            r = ring_of(d, memory, x, i / d->to[LINE], block);
        rt_read_floats(d->type, wide, d->block, rt_at(d->type, dy, i * line + block * d->block),
                       d->c, 1, d->to[COLUMN], r.channels);
        for (int64_t a = 0; a < d->size[LINE]; a++) {
            const float *row = row_under(d, &r, at, a);

            if (row)
                multiply_row(d, sum + a * d->size[COLUMN] * d->block, row, wide, r.channels);
        }
    }
}

// Adds the chunks' sums, [chunk][block][tap][channel of the block], in their order.
static void add_chunks(const Depthwise *d, void *dw, const float *part)
{
    int64_t lines = d->block / LANES;

#pragma omp for schedule(static)
    for (int64_t i = 0; i < d->blocks * d->taps * lines; i++) {
        int64_t tap = i / lines % d->taps;
        int64_t c = i / lines / d->taps * d->block + i % lines * LANES;
        double total[LANES] = {0};
        float rounded[LANES];

        for (int64_t k = 0; k < d->chunks; k++)
            RT_SIMD for (int l = 0; l < LANES; l++) total[l] +=
                (double)part[k * d->padded * d->taps + i * LANES + l];
        for (int l = 0; l < LANES; l++)
            rounded[l] = (float)total[l];
        if (c < d->c)
            rt_write_floats(d->result_type, rt_to(d->result_type, dw, c * d->taps + tap), 0,
                            d->taps, rounded, 0, 1, rt_least(LANES, d->c - c));
    }
}

// Chunks depend on the shape alone.
static void run_weights(Rt *rt, RtKernel *kernel, void *dw, const void *x, const void *dy)
{
    const Depthwise *d = (const Depthwise *)kernel;
    int64_t rows = d->n * d->to[LINE];
    float *part = (float *)(void *)rt->workspace;

#pragma omp parallel num_threads(rt_team(rt, rows * d->to[COLUMN] * d->c * d->taps / 4))
    {
        float memory[MEMORY];

        memset(memory, 0, sizeof *memory * (size_t)(d->rows * d->width * d->block));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < d->blocks * d->chunks; i++) {
            int64_t chunk = i / d->blocks;

            multiply_chunk(d, memory, part + i * d->taps * d->block, x, dy, i % d->blocks,
                           rt_partition(rows, chunk, d->chunks),
                           rt_partition(rows, chunk + 1, d->chunks));
        }
        add_chunks(d, dw, part);
    }
}

// The chunks' sums fit the part of rt_conv_workspace for the weights, or its 1 MiB.
void rt_depthwise_halves_prepare(Rt *rt, int kernel, const RtConv *p, RtConvDirection direction)
{
    Depthwise *d = rt_kernel_new(rt, kernel, sizeof *d);

    describe(d, p, direction);
    d->base.run = direction == RT_CONV_WEIGHT_GRAD ? run_weights : run_sums;
    d->type = p->type;
    d->result_type = p->result == RT_NONE ? p->type : p->result;
    d->n = p->n;
    d->block = block_of(d);
    d->blocks = rt_ceil_div(d->c, d->block);
    d->padded = d->block * d->blocks;
    d->chunks = rt_least(p->n * d->to[LINE] / CHUNK_LINES, MAX_SUMS / (d->padded * d->taps));
    d->chunks = rt_most(1, rt_least(d->chunks, rt_ceil_div(RT_CHUNKS, d->blocks)));
}
