// Matrix products of f32 by a unit for bf16: six products of parts for one of f32. Sums are f32.
// Within a part of k the small products are summed before the large ones, so that their sums have
// almost no rounding error. Tiles of blocks whose numbers aren't split are summed by multiply-adds.
// Products of bf16 are one product of the unit, which takes tiny operands as zero.
#include "runtime/cpu/amx.h"

#include "runtime/cpu/amx_block.h"
#include "runtime/cpu/pairs.h"

#if defined __AMX_TILE__ && defined __AMX_BF16__ && defined __linux__

#include <immintrin.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    WIDTH = RT_AMX_WIDTH,
    DEEP = RT_AMX_DEEP,
    REGISTER = RT_AMX_REGISTER,
    PART = RT_AMX_PART,
    BLOCK = RT_AMX_BLOCK,
    BYTES = RT_AMX_BYTES,
    BF16_BYTES = 2,
    REGISTERS = 4 * REGISTER,  // floats of a tile's sums
    PANELS = 8
};

typedef struct Config {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} Config;

static void begin(void)
{
    static const Config c __attribute__((aligned(64))) = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {16, 16, 16, 16, 16, 16, 16, 16},
    };

    _tile_loadconfig(&c);
}

static void end(void) { _tile_release(); }

// The intrinsics need constant register numbers: 0 to 3 for sums, 4 and 5 for rows, 6 and 7 for
// columns.
#define LOAD_ROWS(part)                                                                            \
    do {                                                                                           \
        _tile_loadd(4, a + (part)*PART, 64);                                                       \
        if (is_tall)                                                                               \
            _tile_loadd(5, a + (part)*PART + REGISTER, 64);                                        \
    } while (0)
#define LOAD_COLUMNS(part)                                                                         \
    do {                                                                                           \
        _tile_loadd(6, b + (part)*PART, 64);                                                       \
        if (is_wide)                                                                               \
            _tile_loadd(7, b + (part)*PART + REGISTER, 64);                                        \
    } while (0)
#define MULTIPLY()                                                                                 \
    do {                                                                                           \
        _tile_dpbf16ps(0, 4, 6);                                                                   \
        if (is_wide)                                                                               \
            _tile_dpbf16ps(1, 4, 7);                                                               \
        if (is_tall)                                                                               \
            _tile_dpbf16ps(2, 5, 6);                                                               \
        if (is_tall && is_wide)                                                                    \
            _tile_dpbf16ps(3, 5, 7);                                                               \
    } while (0)

enum { HIGH, MIDDLE, LOW };

// Sums that are stored during the next tile: to = scale c, plus base if there is one, plus the old
// `to` if is_more. c and base have rows of DEEP.
typedef struct PendingSum {
    float *to;  // NULL: nothing is pending
    int64_t step, rows, width;
    const float *c, *base;  // base: may be NULL
    float scale;
    bool is_more;
} PendingSum;

static inline void add_row(const PendingSum *l, float *to, const float *c, const float *base)
{
    float scale = l->scale;

    for (int64_t j = 0; j < l->width; j += WIDTH)
        if (!base && !l->is_more)
#pragma omp simd
            for (int64_t k = j; k < j + WIDTH; k++)
                to[k] = c[k] * scale;
        else if (!base)
#pragma omp simd
            for (int64_t k = j; k < j + WIDTH; k++)
                to[k] = RT_FMA(c[k], scale, to[k]);
        else if (l->is_more)
#pragma omp simd
            for (int64_t k = j; k < j + WIDTH; k++)
                to[k] += RT_FMA(c[k], scale, base[k]);
        else
#pragma omp simd
            for (int64_t k = j; k < j + WIDTH; k++)
                to[k] = RT_FMA(c[k], scale, base[k]);
}

static inline void add_rows(const PendingSum *l, int64_t first, int64_t last)
{
    for (int64_t i = first; l->to && i < last; i++)
        add_row(l, l->to + i * l->step, l->c + i * DEEP, l->base ? l->base + i * DEEP : NULL);
}

// A tile's product, and the work that is interleaved with it in equal parts: the pending sums of
// the tile before are stored, and addresses that are needed soon are prefetched, including the
// tile's own rows of y.
typedef struct Tile {
    int64_t k;
    const uint32_t *a, *b;
    float *c;  // the tile's sums, in rows of DEEP
    PendingSum pending;
    const char *prefetched;
    int64_t prefetch_bytes;
    const float *y;  // rows of y that are written soon, `y_step` apart
    int64_t y_rows, y_step;
} Tile;

// Does iteration `iteration` of the work that accompanies the product.
static inline void interleave(const Tile *t, int64_t iteration, int64_t iterations)
{
    int64_t end = rt_partition(t->prefetch_bytes, iteration + 1, iterations);
    int64_t last_row = rt_partition(t->y_rows, iteration + 1, iterations);

    add_rows(&t->pending, rt_partition(t->pending.rows, iteration, iterations),
             rt_partition(t->pending.rows, iteration + 1, iterations));
    for (int64_t i = rt_partition(t->prefetch_bytes, iteration, iterations); i < end; i += 64)
        __builtin_prefetch(t->prefetched + i, 0, 2);
    for (int64_t i = rt_partition(t->y_rows, iteration, iterations); i < last_row; i++) {
        __builtin_prefetch(t->y + i * t->y_step, 1);
        __builtin_prefetch(t->y + i * t->y_step + WIDTH, 1);
    }
}

static inline void multiply_small(const Tile *t, bool is_tall, bool is_wide)
{
    const uint32_t *a = t->a, *b = t->b;
    int64_t iterations = rt_ceil_div(t->k, DEEP);

    for (int64_t iteration = 0; iteration < iterations; iteration++, a += BLOCK, b += BLOCK) {
        LOAD_ROWS(HIGH);
        LOAD_COLUMNS(LOW);
        MULTIPLY();
        LOAD_COLUMNS(MIDDLE);
        MULTIPLY();
        LOAD_ROWS(MIDDLE);
        MULTIPLY();
        interleave(t, iteration, iterations);
        LOAD_COLUMNS(HIGH);
        MULTIPLY();
        LOAD_ROWS(LOW);
        MULTIPLY();
    }
}

static inline void multiply_large(const Tile *t, bool is_tall, bool is_wide)
{
    const uint32_t *a = t->a, *b = t->b;

    for (int64_t k = t->k; k > 0; k -= DEEP, a += BLOCK, b += BLOCK) {
        LOAD_ROWS(HIGH);
        LOAD_COLUMNS(HIGH);
        MULTIPLY();
    }
}

// Blocks of bf16: rows of pairs, and pairs of rows of DEEP columns.
static inline void multiply_bf16(const Tile *t, bool is_tall, bool is_wide)
{
    const uint32_t *a = t->a, *b = t->b;
    int64_t iterations = rt_ceil_div(t->k, DEEP);

    for (int64_t iteration = 0; iteration < iterations; iteration++, a += PART, b += PART) {
        LOAD_ROWS(HIGH);
        _tile_loadd(6, b, DEEP * sizeof *b);
        if (is_wide)
            _tile_loadd(7, b + WIDTH, DEEP * sizeof *b);
        MULTIPLY();
        interleave(t, iteration, iterations);
    }
}

static inline void multiply_tile(const Tile *t, bool is_tall, bool is_wide, bool is_bf16)
{
    enum { ROW = DEEP * sizeof(float) };
    float *below = t->c + WIDTH * DEEP;

    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (is_bf16) {
        multiply_bf16(t, is_tall, is_wide);
    } else {
        multiply_small(t, is_tall, is_wide);
        multiply_large(t, is_tall, is_wide);
    }
    _tile_stored(0, t->c, ROW);
    if (is_wide)
        _tile_stored(1, t->c + WIDTH, ROW);
    if (is_tall)
        _tile_stored(2, below, ROW);
    if (is_tall && is_wide)
        _tile_stored(3, below + WIDTH, ROW);
}

static bool has_whole(const Tile *t)
{
    bool has = false;

    for (int64_t k = 0, at = 0; k < t->k; k += DEEP, at += BLOCK)
        has |= rt_amx_is_whole(t->a + at) || rt_amx_is_whole(t->b + at);
    return has;
}

// The tile's product by multiply-adds.
static void multiply_whole(const Tile *t)
{
    float a_buffer[DEEP * DEEP] __attribute__((aligned(64)));
    float b_buffer[DEEP * DEEP] __attribute__((aligned(64)));

    interleave(t, 0, 1);
    memset(t->c, 0, sizeof(float) * REGISTERS);
    for (int64_t at = 0; at < rt_ceil_div(t->k, DEEP) * BLOCK; at += BLOCK) {
        const float *a = rt_amx_unpack_rows(a_buffer, t->a + at),
                    *b = rt_amx_unpack_columns(b_buffer, t->b + at);

        for (int i = 0; i < DEEP; i++) {
            float s[DEEP];

            memcpy(s, t->c + i * DEEP, sizeof s);
            for (int k = 0; k < DEEP; k++)
#pragma omp simd
                for (int j = 0; j < DEEP; j++)
                    s[j] = RT_FMA(a[i * DEEP + k], b[k * DEEP + j], s[j]);
            memcpy(t->c + i * DEEP, s, sizeof s);
        }
    }
}

// Returns the factor of the sums.
static inline float multiply_rows(const Tile *t, int64_t rows, int64_t columns, bool is_bf16)
{
    if (!is_bf16 && has_whole(t)) {
        multiply_whole(t);
        return 1;
    }
    if (rows > WIDTH && columns > WIDTH)
        multiply_tile(t, true, true, is_bf16);
    else if (rows > WIDTH)
        multiply_tile(t, true, false, is_bf16);
    else
        multiply_tile(t, false, true, is_bf16);
    return is_bf16 ? 1 : RT_AMX_UNSCALE;
}

// One part of k. The sums of all parts except the last are kept in `sums`, and y is updated once,
// because the rows of y may all map to one set of the cache.
typedef struct Chain {
    int64_t k;
    const char *a, *b, *prefetched;
    float *sums;
    bool is_first, is_last;
} Chain;

// Leaves the sums of the last tile in t->pending.
static inline void multiply_chain(const RtStrip *s, const Chain *x, Tile *t, float c[2][REGISTERS],
                                  bool is_bf16)
{
    bool is_even = s->n % WIDTH == 0 && s->y_n == 1;

    t->k = x->k;
    t->b = (const uint32_t *)x->b;
    t->prefetch_bytes = DEEP * (is_bf16 ? BF16_BYTES : BYTES) * x->k / PANELS;
    for (int64_t i = 0; i * DEEP < s->m; i++) {
        int64_t rows = rt_least(DEEP, s->m - i * DEEP);
        float *y = s->y + i * DEEP * s->y_m, *sums = x->sums + i * REGISTERS;
        bool is_kept = !x->is_last || !is_even || rows < DEEP;

        t->a = (const uint32_t *)(x->a + i * s->a_step);
        t->prefetched = x->prefetched + i * t->prefetch_bytes;
        t->y = y;
        t->y_rows = x->is_last && is_even ? rows : 0;
        t->y_step = s->y_m;
        t->c = c[i % 2];
        float scale = multiply_rows(t, rows, s->n, is_bf16);
        t->pending = (PendingSum){.to = is_kept ? sums : y,
                                  .step = is_kept ? DEEP : s->y_m,
                                  .rows = rows > WIDTH ? DEEP : WIDTH,
                                  .width = rows > WIDTH && s->n <= WIDTH ? WIDTH : DEEP,
                                  .c = t->c,
                                  .base = is_kept || x->is_first ? NULL : sums,
                                  .scale = scale,
                                  .is_more = is_kept ? !x->is_first : s->is_more};
        if (x->is_last && is_kept) {
            add_rows(&t->pending, 0, t->pending.rows);
            rt_store_edge(s, y, rows, sums, DEEP, s->is_more);
            t->pending.to = NULL;
        }
    }
}

static inline void multiply(const RtStrip *s, bool is_bf16)
{
    int64_t row = DEEP * (is_bf16 ? BF16_BYTES : BYTES);
    float sums[PANELS * REGISTERS] __attribute__((aligned(64)));
    float c[2][REGISTERS] __attribute__((aligned(64)));
    Tile t = {0};

    for (int64_t at = 0, q = 0; at < s->k; at += s->part, q++) {
        Chain x = {.k = rt_least(s->part, s->k - at),
                   .a = s->a + q * s->a_part,
                   .b = s->b + at * row,
                   .prefetched = s->prefetched + at * row,
                   .sums = sums,
                   .is_first = at == 0,
                   .is_last = at + s->part >= s->k};
        multiply_chain(s, &x, &t, c, is_bf16);
    }
    add_rows(&t.pending, 0, t.pending.rows);
}

static void multiply_f32(const RtStrip *s) { multiply(s, false); }
static void multiply_pairs(const RtStrip *s) { multiply(s, true); }

static void pack_rows(void *panel, const RtSide *a)
{
    uint32_t *to = panel;

    for (int64_t k = 0; k < a->k; k += DEEP, to += PART)
        rt_pack_pair_rows(to, WIDTH, DEEP, a, k);
}

// Zeros follow k, up to a whole block.
static void pack_columns(void *panel, const RtSide *b)
{
    int64_t pairs = rt_ceil_div(b->k, 2), all = rt_round_up(b->k, DEEP) / 2;

    rt_pack_pairs(panel, DEEP, b);
    memset((uint32_t *)panel + pairs * DEEP, 0, sizeof(uint32_t) * (size_t)((all - pairs) * DEEP));
}

// Linux permits AMX only to processes that ask for it.
static bool request_amx(void)
{
    enum { REQUEST = 0x1023, TILES = 18 };  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA

    return syscall(SYS_arch_prctl, REQUEST, TILES) == 0;
}

static bool has_amx(void)
{
    static _Atomic int state;  // 0: not asked yet, 1: no, 2: yes

    if (!state)
        state = request_amx() ? 2 : 1;
    return state == 2;
}

const RtMicro *rt_micro_amx(void)
{
    static const RtMicro amx = {.type = RT_F32,
                                .rows = DEEP,
                                .columns = DEEP,
                                .panels = PANELS,
                                .bytes = BYTES,
                                .k_unit = DEEP,
                                .part = RT_AMX_CHAIN,
                                .begin = begin,
                                .end = end,
                                .pack_rows = rt_amx_pack_rows,
                                .pack_columns = rt_amx_pack_columns,
                                .multiply = multiply_f32};

    return has_amx() ? &amx : NULL;
}

const RtMicro *rt_micro_amx_bf16(void)
{
    static const RtMicro amx = {.type = RT_BF16,
                                .rows = DEEP,
                                .columns = DEEP,
                                .panels = PANELS,
                                .bytes = BF16_BYTES,
                                .k_unit = DEEP,
                                .part = 256,
                                .begin = begin,
                                .end = end,
                                .pack_rows = pack_rows,
                                .pack_columns = pack_columns,
                                .multiply = multiply_pairs};

    return has_amx() ? &amx : NULL;
}

#else

const RtMicro *rt_micro_amx(void) { return NULL; }
const RtMicro *rt_micro_amx_bf16(void) { return NULL; }

#endif
