// Panels for the matrix unit. Each number of f32 is the sum of three bf16 numbers, high, middle and
// low. Of the nine products of two numbers' parts six are computed; the other three are below the
// rounding error of an f32 product (Henry, Tang and Heinecke, "Leveraging the bfloat16 artificial
// intelligence datatype for higher-precision computations", 2019).
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

// Splits WIDTH pairs of numbers into words of bf16, x in the lower and z in the upper half, for the
// three parts. The low part is exact in bf16, unless it is tiny.
static inline void split(uint32_t *to, const float *x, const float *z)
{
#pragma omp simd
    for (int i = 0; i < WIDTH; i++) {
        uint32_t x_high = nearest(x[i]), z_high = nearest(z[i]);
        float x_residual = x[i] - as_float(x_high), z_residual = z[i] - as_float(z_high);
        uint32_t x_middle = nearest(x_residual), z_middle = nearest(z_residual);
        uint32_t x_low = bits(x_residual - as_float(x_middle));
        uint32_t z_low = bits(z_residual - as_float(z_middle));

        to[i] = x_high >> 16 | z_high;
        to[PART + i] = x_middle >> 16 | z_middle;
        to[2 * PART + i] = x_low >> 16 | (z_low & 0xffff0000);
    }
}

// A matrix of at most DEEP by DEEP. If it is full and has contiguous rows, it is used in place;
// otherwise it is copied to `room`, with zeros after its rows and columns.
typedef struct Square {
    const float *at;
    int64_t step;
} Square;

static Square square_of(float room[DEEP * DEEP], const float *x, int64_t rows, int64_t row,
                        int64_t columns, int64_t column)
{
    bool is_whole = rows == DEEP && columns == DEEP;

    if (is_whole && column == 1)
        return (Square){x, row};
    if (is_whole && row == 1) {
        for (int64_t i = 0; i < DEEP; i += RT_TRANSPOSE_BLOCK)
            for (int64_t j = 0; j < DEEP; j += RT_TRANSPOSE_BLOCK)
                rt_transpose_block(room + i * DEEP + j, DEEP, x + i + j * column, column);
        return (Square){room, DEEP};
    }
    memset(room, 0, sizeof(float) * DEEP * DEEP);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            room[i * DEEP + j] = x[i * row + j * column];
    return (Square){room, DEEP};
}

// Prefetches the operand's next block at k. Always inlined: gcc removes a call that it finds to
// have no effect.
__attribute__((always_inline)) static inline void prefetch_block(const RtSide *s, int64_t k)
{
    for (int i = 0; i < DEEP; i++) {
        const float *x = s->at + (s->k_step == 1 ? i * s->step + k : (k + i) * s->k_step);

        __builtin_prefetch(x);
        __builtin_prefetch(x + WIDTH);
    }
}

// The order of k within a block is arbitrary, as long as both operands have the same: word i of a
// row has numbers i and WIDTH + i.
void rt_amx_pack_rows(void *panel, const RtSide *a)
{
    float room[DEEP * DEEP] __attribute__((aligned(64)));
    uint32_t *to = panel;

    for (int64_t k = 0; k < a->k; k += DEEP, to += BLOCK) {
        prefetch_block(a, k + DEEP);
        Square s = square_of(room, a->at + k * a->k_step, a->n, a->step, rt_least(DEEP, a->k - k),
                             a->k_step);
        for (int i = 0; i < DEEP; i++)
            split(to + i * WIDTH, s.at + i * s.step, s.at + i * s.step + WIDTH);
    }
}

void rt_amx_pack_columns(void *panel, const RtSide *b)
{
    float room[DEEP * DEEP] __attribute__((aligned(64)));
    uint32_t *to = panel;

    for (int64_t k = 0; k < b->k; k += DEEP, to += BLOCK) {
        prefetch_block(b, k + DEEP);
        Square s = square_of(room, b->at + k * b->k_step, rt_least(DEEP, b->k - k), b->k_step, b->n,
                             b->step);
        for (int i = 0; i < WIDTH; i++)
            for (int j = 0; j < DEEP; j += WIDTH)
                split(to + j * WIDTH + i * WIDTH, s.at + i * s.step + j,
                      s.at + (WIDTH + i) * s.step + j);
    }
}
