// The tests' matrix unit: Intel's AMX in plain C, for CPUs that have none. Each thread has its own
// registers. It ends the program at whatever the real unit faults at: an invalid configuration, a
// register that isn't configured, operands whose shapes don't fit.
#include "immintrin.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <xmmintrin.h>

enum { TILES = 8, ROWS = 16, WORDS = 16 };

typedef struct Tile {
    int rows, bytes;  // of a row; both 0: not configured
    uint32_t word[ROWS][WORDS];
} Tile;

typedef struct Unit {
    bool is_configured;
    Tile tile[TILES];
} Unit;

static _Thread_local Unit unit;

static void must(bool is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "matrix unit: %s\n", what);
    abort();
}

void _tile_loadconfig(const void *config)
{
    const uint8_t *c = config;

    must(c[0] == 1 && c[1] == 0, "the palette must be 1, and the first row 0");
    unit = (Unit){.is_configured = true};
    for (int i = 0; i < TILES; i++) {
        unit.tile[i].bytes = c[16 + 2 * i] | c[17 + 2 * i] << 8;
        unit.tile[i].rows = c[48 + i];
        must(unit.tile[i].rows <= ROWS && unit.tile[i].bytes <= 4 * WORDS &&
                 !unit.tile[i].rows == !unit.tile[i].bytes,
             "a register has at most 16 rows of 64 bytes");
    }
}

void _tile_release(void)
{
    must(unit.is_configured, "release without a configuration");
    unit = (Unit){.is_configured = false};
}

static Tile *tile_at(int i)
{
    must(i >= 0 && i < TILES && unit.is_configured && unit.tile[i].rows > 0,
         "the register is not configured");
    return &unit.tile[i];
}

void _tile_zero(int tile)
{
    Tile *t = tile_at(tile);

    memset(t->word, 0, sizeof t->word);
}

void _tile_loadd(int tile, const void *base, size_t stride)
{
    Tile *t = tile_at(tile);

    memset(t->word, 0, sizeof t->word);
    for (int i = 0; i < t->rows; i++)
        memcpy(t->word[i], (const char *)base + (size_t)i * stride, (size_t)t->bytes);
}

void _tile_stored(int tile, void *base, size_t stride)
{
    const Tile *t = tile_at(tile);

    for (int i = 0; i < t->rows; i++)
        memcpy((char *)base + (size_t)i * stride, t->word[i], (size_t)t->bytes);
}

static inline float as_float(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

// Adds one row's products. Pairs of bf16 are summed apart, each by fused multiply-adds from zero,
// and then added to the old sum. A function of its own, which the compiler doesn't move over the
// change of the mode.
__attribute__((noinline)) static void add_row(uint32_t *sums, const uint32_t *row,
                                              const Tile *columns, int pairs)
{
    float lower[WORDS] = {0}, upper[WORDS] = {0};

    for (int k = 0; k < pairs; k++) {
        float x = as_float(row[k] << 16), z = as_float(row[k] & 0xffff0000);

        for (int j = 0; j < WORDS; j++) {
            lower[j] = __builtin_fmaf(x, as_float(columns->word[k][j] << 16), lower[j]);
            upper[j] = __builtin_fmaf(z, as_float(columns->word[k][j] & 0xffff0000), upper[j]);
        }
    }
    for (int j = 0; j < WORDS; j++) {
        float sum = as_float(sums[j]) + (lower[j] + upper[j]);

        memcpy(&sums[j], &sum, sizeof sum);
        if (sum != sum)
            sums[j] = 0xffc00000;  // the unit has one NaN of its own
    }
}

// Rounds to the nearest, ties to even. Tiny operands and results are zero.
void _tile_dpbf16ps(int sums, int rows, int columns)
{
    enum { FLUSH_RESULTS = 0x8000, FLUSH_OPERANDS = 0x0040, MASK_ALL = 0x1f80 };
    Tile *c = tile_at(sums);
    const Tile *a = tile_at(rows), *b = tile_at(columns);
    unsigned mode = _mm_getcsr();

    must(sums != rows && sums != columns && rows != columns, "a register is two operands");
    must(c->rows == a->rows && c->bytes == b->bytes && a->bytes == 4 * b->rows,
         "the shapes of the operands don't fit");
    _mm_setcsr(MASK_ALL | FLUSH_RESULTS | FLUSH_OPERANDS);
    for (int i = 0; i < c->rows; i++)
        add_row(c->word[i], a->word[i], b, a->bytes / 4);
    _mm_setcsr(mode);
}

// Replaces syscall in amx.c. Linux permits the unit only to programs that ask for it.
long amx_syscall(long number, ...);

long amx_syscall(long number, ...)
{
    va_list all;

    va_start(all, number);
    must(number == SYS_arch_prctl && va_arg(all, int) == 0x1023 && va_arg(all, int) == 18,
         "an unknown request of the operating system");
    va_end(all);
    return 0;
}
