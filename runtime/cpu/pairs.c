// Panels of pairs of bf16.
#include "runtime/cpu/pairs.h"

#include <string.h>

enum { BLOCK = RT_TRANSPOSE_BLOCK };

// Pair p of row i. The element after an odd k is 0.
static inline uint32_t pair_at(const RtSide *s, int64_t i, int64_t p)
{
    const uint16_t *x = (const uint16_t *)s->at + i * s->step + 2 * p * s->k_step;

    return x[0] | (2 * p + 1 < s->k ? (uint32_t)x[s->k_step] << 16 : 0);
}

// Whole pairs of neighbours: two rows along k are interleaved.
static void interleave(uint32_t *to, int width, const RtSide *s)
{
    for (int64_t p = 0; p < s->k / 2; p++, to += width) {
        const uint16_t *x = (const uint16_t *)s->at + 2 * p * s->k_step, *z = x + s->k_step;

#pragma omp simd
        for (int i = 0; i < width; i++)
            to[i] = x[i] | (uint32_t)z[i] << 16;
    }
}

// Rows that are contiguous along k: blocks of words are transposed. Returns how many pairs it has
// packed.
static int64_t transpose(uint32_t *to, int width, const RtSide *s)
{
    float words[BLOCK * BLOCK] __attribute__((aligned(64)));
    int64_t p = 0;

    for (; 2 * (p + BLOCK) <= s->k; p += BLOCK)
        for (int i = 0; i < width; i += BLOCK) {
            for (int r = 0; r < BLOCK; r++)
                memcpy(words + r * BLOCK, (const uint16_t *)s->at + (i + r) * s->step + 2 * p,
                       sizeof(float) * BLOCK);
            rt_transpose_block((float *)(void *)to + p * width + i, width, words, BLOCK);
        }
    return p;
}

void rt_pack_pairs(uint32_t *to, int width, const RtSide *s)
{
    int64_t pairs = rt_ceil_div(s->k, 2), p = 0;

    if (s->n == width && s->step == 1) {
        interleave(to, width, s);
        p = s->k / 2;
    } else if (s->n == width && s->k_step == 1 && width % BLOCK == 0) {
        p = transpose(to, width, s);
    }
    if (s->n < width)
        memset(to, 0, sizeof *to * (size_t)(pairs * width));
    for (; p < pairs; p++)
        for (int64_t i = 0; i < s->n; i++)
            to[p * width + i] = pair_at(s, i, p);
}

void rt_pack_pair_rows(uint32_t *to, int width, int rows, const RtSide *s, int64_t at)
{
    int64_t k = rt_least(2 * width, s->k - at);
    RtSide part = {(const uint16_t *)s->at + at * s->k_step, s->n, s->step, k, s->k_step};
    bool is_whole = k == 2 * width;

    if (is_whole && s->k_step == 1) {
        for (int64_t i = 0; i < s->n; i++)
            memcpy(to + i * width, (const uint16_t *)part.at + i * s->step,
                   sizeof *to * (size_t)width);
    } else {
        memset(to, 0, sizeof *to * (size_t)(rows * width));
        for (int64_t p = 0; p < rt_ceil_div(k, 2); p++)
            for (int64_t i = 0; i < s->n; i++)
                to[i * width + p] = pair_at(&part, i, p);
    }
    memset(to + s->n * width, 0, sizeof *to * (size_t)((rows - s->n) * width));
}
