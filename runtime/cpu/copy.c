// Strided copies and fills.
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#include "runtime/cpu/internal.h"
#include "runtime/rt_element.h"

enum { ROWS = 32, COLUMNS = 4096, TILE = 16 };  // block of one task; edge of a transposed tile

// A copy with merged dims; the last two are the rows and columns of the blocks.
typedef struct Plan {
    int rank;
    int64_t dim[RT_MAX_DIMS + 2], x[RT_MAX_DIMS + 2], y[RT_MAX_DIMS + 2];
} Plan;

static void exchange(Plan *p, int i, int j)
{
    int64_t dim = p->dim[i], x = p->x[i], y = p->y[i];

    p->dim[i] = p->dim[j];
    p->x[i] = p->x[j];
    p->y[i] = p->y[j];
    p->dim[j] = dim;
    p->x[j] = x;
    p->y[j] = y;
}

static void put_dim(Plan *p, int64_t dim, int64_t x, int64_t y)
{
    p->dim[p->rank] = dim;
    p->x[p->rank] = x;
    p->y[p->rank++] = y;
}

// Drops dims of size 1, orders the others by y's strides and merges them. The dim along which x is
// contiguous becomes the rows, if it isn't the columns.
static Plan make_plan(const RtCopy *c)
{
    Plan p = {0}, q = {.rank = 2, .dim = {1, 1}};

    for (int i = 0; i < c->rank; i++)
        if (c->dim[i] != 1)
            put_dim(&p, c->dim[i], c->x_stride[i], c->y_stride[i]);
    for (int i = 1; i < p.rank; i++)
        for (int j = i; j > 0 && llabs(p.y[j]) > llabs(p.y[j - 1]); j--)
            exchange(&p, j, j - 1);
    for (int i = 0; i < p.rank; i++) {
        int last = q.rank - 1;
        if (q.x[last] == p.dim[i] * p.x[i] && q.y[last] == p.dim[i] * p.y[i]) {
            q.dim[last] *= p.dim[i];
            q.x[last] = p.x[i];
            q.y[last] = p.y[i];
        } else {
            put_dim(&q, p.dim[i], p.x[i], p.y[i]);
        }
    }
    for (int i = 0; i < q.rank - 2; i++)
        if (q.x[i] == 1 && q.dim[i] > 1)
            exchange(&q, i, q.rank - 2);
    return q;
}

#define BLOCK(T, name)                                                                             \
    static void name(T *y, int64_t y_r, int64_t y_c, const T *x, int64_t x_r, int64_t x_c,         \
                     int64_t rows, int64_t columns)                                                \
    {                                                                                              \
        if (x_c == 1 && y_c == 1) {                                                                \
            for (int64_t r = 0; r < rows; r++)                                                     \
                memcpy(y + r * y_r, x + r * x_r, sizeof(T) * (size_t)columns);                     \
            return;                                                                                \
        }                                                                                          \
        for (int64_t first = 0; first < columns; first += TILE)                                    \
            for (int64_t r = 0; r < rows; r++)                                                     \
                for (int64_t c = first; c < rt_least(columns, first + TILE); c++)                  \
                    y[r * y_r + c * y_c] = x[r * x_r + c * x_c];                                   \
    }
BLOCK(uint8_t, block_1)
BLOCK(uint16_t, block_2)
BLOCK(uint32_t, block_4)
BLOCK(uint64_t, block_8)

static inline void transpose_block_4(uint32_t *to, int64_t to_row, const uint32_t *from,
                                     int64_t from_row)
{
    rt_transpose_block((float *)to, to_row, (const float *)from, from_row);
}

// Elements of 2 bytes are transposed as words of 4.
static inline void transpose_block_2(uint16_t *to, int64_t to_row, const uint16_t *from,
                                     int64_t from_row)
{
    enum { N = RT_TRANSPOSE_BLOCK };
    uint32_t x[N * N] __attribute__((aligned(64))), y[N * N] __attribute__((aligned(64)));

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x[i * N + j] = from[i * from_row + j];
    transpose_block_4(y, N, x, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            to[i * to_row + j] = (uint16_t)y[i * N + j];
}

// Transposes; x is contiguous along the rows. Blocks are transposed in registers and prefetched
// three blocks of columns ahead, since their lines are a stride apart.
#define TRANSPOSE(T, n)                                                                            \
    static void transpose_##n(T *y, int64_t y_r, const T *x, int64_t x_c, int64_t rows,            \
                              int64_t columns)                                                     \
    {                                                                                              \
        int64_t r = 0, c = 0;                                                                      \
                                                                                                   \
        for (; c + RT_TRANSPOSE_BLOCK <= columns; c += RT_TRANSPOSE_BLOCK)                         \
            for (r = 0; r + RT_TRANSPOSE_BLOCK <= rows; r += RT_TRANSPOSE_BLOCK) {                 \
                for (int64_t i = 0;                                                                \
                     i < RT_TRANSPOSE_BLOCK && c + 4 * RT_TRANSPOSE_BLOCK <= columns; i++)         \
                    __builtin_prefetch(x + r + (c + 3 * RT_TRANSPOSE_BLOCK + i) * x_c);            \
                transpose_block_##n(y + r * y_r + c, y_r, x + r + c * x_c, x_c);                   \
            }                                                                                      \
        block_##n(y + r * y_r, y_r, 1, x + r, 1, x_c, rows - r, c);                                \
        block_##n(y + c, y_r, 1, x + c * x_c, 1, x_c, rows, columns - c);                          \
    }
TRANSPOSE(uint16_t, 2)
TRANSPOSE(uint32_t, 4)

static void block(int bytes, char *y, int64_t y_r, int64_t y_c, const char *x, int64_t x_r,
                  int64_t x_c, int64_t rows, int64_t columns)
{
    switch (bytes) {
    case 1:
        block_1((uint8_t *)y, y_r, y_c, (const uint8_t *)x, x_r, x_c, rows, columns);
        break;
    case 2:
        if (x_r == 1 && y_c == 1)
            transpose_2((uint16_t *)y, y_r, (const uint16_t *)x, x_c, rows, columns);
        else
            block_2((uint16_t *)y, y_r, y_c, (const uint16_t *)x, x_r, x_c, rows, columns);
        break;
    case 4:
        if (x_r == 1 && y_c == 1)
            transpose_4((uint32_t *)y, y_r, (const uint32_t *)x, x_c, rows, columns);
        else
            block_4((uint32_t *)y, y_r, y_c, (const uint32_t *)x, x_r, x_c, rows, columns);
        break;
    default:
        block_8((uint64_t *)y, y_r, y_c, (const uint64_t *)x, x_r, x_c, rows, columns);
    }
}

void rt_copy(Rt *rt, const RtCopy *c, void *y, const void *x)
{
    Plan p = make_plan(c);
    int outer = p.rank - 2, r = p.rank - 2, k = p.rank - 1;
    int64_t down = rt_ceil_div(p.dim[r], ROWS), across = rt_ceil_div(p.dim[k], COLUMNS);
    int64_t blocks = rt_product(p.dim, outer) * down * across;

#pragma omp parallel for num_threads(rt_team(rt, rt_product(p.dim, p.rank))) schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t column = b % across * COLUMNS, row = b / across % down * ROWS;
        int64_t at_x = row * p.x[r] + column * p.x[k], at_y = row * p.y[r] + column * p.y[k];

        for (int64_t i = outer - 1, left = b / across / down; i >= 0; i--) {
            at_x += left % p.dim[i] * p.x[i];
            at_y += left % p.dim[i] * p.y[i];
            left /= p.dim[i];
        }
        block(c->bytes, (char *)y + at_y * c->bytes, p.y[r], p.y[k],
              (const char *)x + at_x * c->bytes, p.x[r], p.x[k], rt_least(ROWS, p.dim[r] - row),
              rt_least(COLUMNS, p.dim[k] - column));
    }
}

#ifdef __AVX__

// `x` may be NULL: zeros.
static void stream_line(char *y, const char *x)
{
#ifdef __AVX512F__
    _mm512_stream_si512((__m512i *)(void *)y, x ? _mm512_loadu_si512(x) : _mm512_setzero_si512());
#else
    for (int i = 0; i < 64; i += 32) {
        __m256i line = _mm256_setzero_si256();
        if (x)
            line = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        _mm256_stream_si256((__m256i *)(void *)(y + i), line);
    }
#endif
}

// Streams whole lines of 64 bytes; anything else is copied normally.
void rt_stream_store(void *to, const void *from, int64_t bytes)
{
    char *y = to;
    const char *x = from;

    if ((uintptr_t)to % 64 || bytes % 64) {
        rt_store(to, from, bytes, false);
        return;
    }
    for (int64_t i = 0; i < bytes; i += 64)
        stream_line(y + i, x ? x + i : NULL);
}

void rt_stream_fence(void) { _mm_sfence(); }

#else

void rt_stream_store(void *to, const void *from, int64_t bytes)
{
    rt_store(to, from, bytes, false);
}

void rt_stream_fence(void) {}

#endif

void rt_fill(Rt *rt, RtType t, void *y, int64_t count, double value)
{
    uint64_t x = rt_element_bits(t, value);
    uint8_t x1 = (uint8_t)x;
    uint16_t x2 = (uint16_t)x;
    uint32_t x4 = (uint32_t)x;
    int bytes = rt_type_bytes(t);
    RtCopy c = {.bytes = bytes, .rank = 1, .dim = {count}, .x_stride = {0}, .y_stride = {1}};

    rt_copy(rt, &c, y,
            bytes == 1   ? (const void *)&x1
            : bytes == 2 ? (const void *)&x2
            : bytes == 4 ? (const void *)&x4
                         : (const void *)&x);
}
