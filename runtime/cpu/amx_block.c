// Panels for the matrix unit. Each number of f32 is the sum of three bf16 numbers, high, middle and
// low. Of the nine products of two numbers' parts six are computed; the other three are below the
// rounding error of an f32 product (Henry, Tang and Heinecke, "Leveraging the bfloat16 artificial
// intelligence datatype for higher-precision computations", 2019).
//
// The unit takes tiny operands as zero and flushes tiny results. So numbers are multiplied by 2^24
// when they are split: then each part of each number is 0 or normal, and only products far below
// f32's least number are lost. RT_AMX_UNSCALE turns sums of products back. Infinities, NaN and
// large numbers aren't split: a part of one of them may be 0, or round to an infinity, and scaled
// products may overflow. Packing leaves a block that has such a number as it is.
#include "runtime/cpu/amx_block.h"

enum { WIDTH = RT_AMX_WIDTH, DEEP = RT_AMX_DEEP, PART = RT_AMX_PART, BLOCK = RT_AMX_BLOCK };

bool rt_amx_fits(int64_t m, int64_t n, int64_t k)
{
    double all =
        (double)rt_round_up(m, DEEP) * (double)rt_round_up(n, DEEP) * (double)rt_round_up(k, DEEP);

    return all <= 1.6 * (double)m * (double)n * (double)k;
}

static inline uint32_t bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

// The nearest bf16, ties away from zero, as a float's bits.
static inline uint32_t nearest(float x) { return (bits(x) + 0x8000) & 0xffff0000; }

static inline float as_float(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

// The factor of split numbers: 2^-149, the least number, times it is normal. Numbers of at least
// LARGE aren't split: a sum of RT_AMX_CHAIN products of smaller ones, times SCALE squared, is
// finite.
#define SCALE 0x1p24f
#define LARGE 0x1p36f

// Splits WIDTH pairs of numbers into words of bf16, x in the lower and z in the upper half, for the
// three parts, which are exact. `most`: the bits of the largest magnitudes so far.
static inline void split(uint32_t *to, const float *x, const float *z, uint32_t most[WIDTH])
{
#pragma omp simd
    for (int i = 0; i < WIDTH; i++) {
        uint32_t x_bits = bits(x[i]) & 0x7fffffff, z_bits = bits(z[i]) & 0x7fffffff;
        float x_scaled = x[i] * SCALE, z_scaled = z[i] * SCALE;
        uint32_t x_high = nearest(x_scaled), z_high = nearest(z_scaled);
        float x_residual = x_scaled - as_float(x_high), z_residual = z_scaled - as_float(z_high);
        uint32_t x_middle = nearest(x_residual), z_middle = nearest(z_residual);
        uint32_t x_low = bits(x_residual - as_float(x_middle));
        uint32_t z_low = bits(z_residual - as_float(z_middle));
        uint32_t larger = x_bits > z_bits ? x_bits : z_bits;

        most[i] = larger > most[i] ? larger : most[i];
        to[i] = x_high >> 16 | z_high;
        to[PART + i] = x_middle >> 16 | z_middle;
        to[2 * PART + i] = x_low >> 16 | (z_low & 0xffff0000);
    }
}

// The reverse of split.
static inline void join(float *x, float *z, const uint32_t *from)
{
#pragma omp simd
    for (int i = 0; i < WIDTH; i++) {
        uint32_t high = from[i], middle = from[PART + i], low = from[2 * PART + i];

        x[i] = (as_float(high << 16) + as_float(middle << 16) + as_float(low << 16)) * (1 / SCALE);
        z[i] = (as_float(high & 0xffff0000) + as_float(middle & 0xffff0000) +
                as_float(low & 0xffff0000)) *
               (1 / SCALE);
    }
}

// A matrix of at most DEEP by DEEP. If it is full and has contiguous rows, it is used in place;
// otherwise it is copied to `buffer`, with zeros after its rows and columns.
typedef struct Square {
    const float *at;
    int64_t step;
} Square;

static Square square_of(float buffer[DEEP * DEEP], const float *x, int64_t rows, int64_t row,
                        int64_t columns, int64_t column)
{
    bool is_full = rows == DEEP && columns == DEEP;

    if (is_full && column == 1)
        return (Square){x, row};
    if (is_full && row == 1) {
        for (int64_t i = 0; i < DEEP; i += RT_TRANSPOSE_BLOCK)
            for (int64_t j = 0; j < DEEP; j += RT_TRANSPOSE_BLOCK)
                rt_transpose_block(buffer + i * DEEP + j, DEEP, x + i + j * column, column);
        return (Square){buffer, DEEP};
    }
    memset(buffer, 0, sizeof(float) * DEEP * DEEP);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            buffer[i * DEEP + j] = x[i * row + j * column];
    return (Square){buffer, DEEP};
}

// Prefetches the operand's next block at k. Always inlined: gcc removes a call that it finds to
// have no effect.
__attribute__((always_inline)) static inline void prefetch_block(const RtSide *s, int64_t k)
{
    for (int i = 0; i < DEEP; i++) {
        const float *x =
            (const float *)s->at + (s->k_step == 1 ? i * s->step + k : (k + i) * s->k_step);

        __builtin_prefetch(x);
        __builtin_prefetch(x + WIDTH);
    }
}

// Packs the block again if one of its numbers isn't to be split.
static void keep_large(uint32_t *block, const Square *s, const uint32_t most[WIDTH])
{
    uint32_t largest = 0;

    for (int i = 0; i < WIDTH; i++)
        largest = most[i] > largest ? most[i] : largest;
    if (largest < bits(LARGE))
        return;
    for (int i = 0; i < DEEP; i++)
        memcpy(block + i * DEEP, s->at + i * s->step, sizeof(float) * DEEP);
    block[2 * PART] = RT_AMX_WHOLE;
}

// The order of k within a block is arbitrary, as long as both operands have the same: word i of a
// row has numbers i and WIDTH + i.
void rt_amx_pack_rows(void *panel, const RtSide *a)
{
    float buffer[DEEP * DEEP] __attribute__((aligned(64)));
    uint32_t *to = panel;

    for (int64_t k = 0; k < a->k; k += DEEP, to += BLOCK) {
        uint32_t most[WIDTH] = {0};

        prefetch_block(a, k + DEEP);
        Square s = square_of(buffer, (const float *)a->at + k * a->k_step, a->n, a->step,
                             rt_least(DEEP, a->k - k), a->k_step);
        for (int i = 0; i < DEEP; i++)
            split(to + i * WIDTH, s.at + i * s.step, s.at + i * s.step + WIDTH, most);
        keep_large(to, &s, most);
    }
}

void rt_amx_pack_columns(void *panel, const RtSide *b)
{
    float buffer[DEEP * DEEP] __attribute__((aligned(64)));
    uint32_t *to = panel;

    for (int64_t k = 0; k < b->k; k += DEEP, to += BLOCK) {
        uint32_t most[WIDTH] = {0};

        prefetch_block(b, k + DEEP);
        Square s = square_of(buffer, (const float *)b->at + k * b->k_step, rt_least(DEEP, b->k - k),
                             b->k_step, b->n, b->step);
        for (int i = 0; i < WIDTH; i++)
            for (int j = 0; j < DEEP; j += WIDTH)
                split(to + j * WIDTH + i * WIDTH, s.at + i * s.step + j,
                      s.at + (WIDTH + i) * s.step + j, most);
        keep_large(to, &s, most);
    }
}

const float *rt_amx_unpack_rows(float *buffer, const uint32_t *block)
{
    if (rt_amx_is_whole(block))
        return (const float *)block;
    for (int i = 0; i < DEEP; i++)
        join(buffer + i * DEEP, buffer + i * DEEP + WIDTH, block + i * WIDTH);
    return buffer;
}

const float *rt_amx_unpack_columns(float *buffer, const uint32_t *block)
{
    if (rt_amx_is_whole(block))
        return (const float *)block;
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < DEEP; j += WIDTH)
            join(buffer + i * DEEP + j, buffer + (WIDTH + i) * DEEP + j,
                 block + j * WIDTH + i * WIDTH);
    return buffer;
}
