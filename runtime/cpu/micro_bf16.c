// The micro-kernel of AVX512-BF16, whose dot product adds two products of bf16 to each of 16 sums.
// It takes tiny operands as zero and flushes tiny sums.
#include "runtime/cpu/micro_bf16.h"

#if defined __AVX512BF16__

#include <immintrin.h>

#include "runtime/cpu/pairs.h"

// A tile's sums fill 24 of 32 registers.
enum { ROWS = 12, LANES = 16, COLUMNS = 2 * LANES, PANELS = 8 };

typedef int Words __attribute__((vector_size(4 * LANES)));
typedef Words WordsAt __attribute__((aligned(4), may_alias));
typedef __m512 SumsAt __attribute__((aligned(4), may_alias));

// c[i c_i + j] = the sums over all pairs of a and b; is_more adds to c.
static inline void multiply_tile(float *c, int64_t c_i, bool is_more, int64_t pairs,
                                 const uint32_t *a, const uint32_t *b, const char *prefetched,
                                 int64_t step)
{
    __m512 s[ROWS][2] = {{{0}}};

    for (int64_t p = 0; p < pairs; p++, a += ROWS, b += COLUMNS) {
        __m512bh left = (__m512bh) * (const WordsAt *)b;
        __m512bh right = (__m512bh) * (const WordsAt *)(b + LANES);

        __builtin_prefetch(prefetched + p * step, 0, 2);
        for (int i = 0; i < ROWS; i++) {
            __m512bh x = (__m512bh)((Words){0} + (int)a[i]);

            s[i][0] = _mm512_dpbf16_ps(s[i][0], x, left);
            s[i][1] = _mm512_dpbf16_ps(s[i][1], x, right);
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 2; j++) {
            SumsAt *to = (SumsAt *)(c + i * c_i + j * LANES);

            if (is_more)
                *to += s[i][j];
            else
                *to = s[i][j];
        }
}

// One part of k.
static void multiply_part(const RtStrip *s, int64_t k, const char *a, const char *b,
                          const char *prefetched, bool is_more)
{
    float c[ROWS * COLUMNS] __attribute__((aligned(64)));
    int64_t pairs = rt_ceil_div(k, 2), step = COLUMNS * (int64_t)sizeof *c / PANELS;
    float *y = s->y;

    for (int64_t left = s->m; left > 0; left -= ROWS, y += ROWS * s->y_m, a += s->a_step) {
        bool is_whole = left >= ROWS && s->n == COLUMNS && s->y_n == 1;

        multiply_tile(is_whole ? y : c, is_whole ? s->y_m : COLUMNS, is_whole && is_more, pairs,
                      (const uint32_t *)(const void *)a, (const uint32_t *)(const void *)b,
                      prefetched, step);
        if (!is_whole)
            rt_store_edge(s, y, rt_least(left, ROWS), c, COLUMNS, is_more);
        prefetched += pairs * step;
    }
}

static void multiply(const RtStrip *s)
{
    const char *a = s->a;

    for (int64_t at = 0; at < s->k; at += s->part, a += s->a_part)
        multiply_part(s, rt_least(s->part, s->k - at), a, s->b + at * COLUMNS * 2,
                      s->prefetched + at * COLUMNS * 2, s->is_more || at > 0);
}

static void pack_rows(void *to, const RtSide *a) { rt_pack_pairs(to, ROWS, a); }
static void pack_columns(void *to, const RtSide *b) { rt_pack_pairs(to, COLUMNS, b); }

const RtMicro *rt_micro_bf16(void)
{
    static const RtMicro micro = {.type = RT_BF16,
                                  .rows = ROWS,
                                  .columns = COLUMNS,
                                  .panels = PANELS,
                                  .bytes = 2,
                                  .k_unit = 2,
                                  .part = 256,
                                  .pack_rows = pack_rows,
                                  .pack_columns = pack_columns,
                                  .multiply = multiply};

    return &micro;
}

#else

const RtMicro *rt_micro_bf16(void) { return NULL; }

#endif
