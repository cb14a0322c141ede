// Random buffers: any, and those that fill a rectangle of time and bytes without a gap.
#ifndef SHARDCC_TESTS_PACKER_RANDOM_H
#define SHARDCC_TESTS_PACKER_RANDOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packer/packer.h"

static inline uint64_t next_random(uint64_t *r)
{
    *r ^= *r << 13;
    *r ^= *r >> 7;
    *r ^= *r << 17;
    return *r * 0x2545f4914f6cdd1d;
}

static inline int64_t below(uint64_t *r, int64_t n)
{
    return (int64_t)((next_random(r) >> 1) % (uint64_t)n);
}

static inline uint64_t seed_random(uint64_t seed) { return seed * 0x9e3779b97f4a7c15 + 1; }

// Fills `b` with n buffers within `times` times, of sizes that are multiples of `unit`.
static inline void random_buffers(LiveBuffer *b, int n, int64_t times, int64_t most, int64_t unit,
                                  uint64_t *r)
{
    for (int i = 0; i < n; i++) {
        int64_t x = below(r, times), y = below(r, times);
        b[i] = (LiveBuffer){x < y ? x : y, (x < y ? y : x) + 1, unit * (1 + below(r, most))};
    }
}

// A buffer and where it lies in the perfect packing.
typedef struct Tile {
    int64_t lower, upper, begin, end;
} Tile;

// Cuts a tile in two, or a large one in five around the one in the middle, which no straight cut
// makes. Returns how many tiles were added after `n`.
static inline int cut_tile(Tile *t, int n, int at, uint64_t *r)
{
    Tile x = t[at];
    int64_t time = x.upper - x.lower, bytes = x.end - x.begin;

    if (below(r, 4) == 0 && time >= 6 && bytes >= 6) {
        int64_t a = x.lower + 1 + below(r, time - 2), b = a + 1 + below(r, x.upper - 1 - a);
        int64_t c = x.begin + 1 + below(r, bytes - 2), d = c + 1 + below(r, x.end - 1 - c);
        t[at] = (Tile){x.lower, b, x.begin, c};
        t[n] = (Tile){b, x.upper, x.begin, d};
        t[n + 1] = (Tile){a, x.upper, d, x.end};
        t[n + 2] = (Tile){x.lower, a, c, x.end};
        t[n + 3] = (Tile){a, b, c, d};
        return 4;
    }
    bool is_by_time = time > 1 && (bytes == 1 || below(r, 2));
    if (!is_by_time && bytes == 1)
        return 0;
    t[n] = x;
    if (is_by_time)
        t[at].upper = t[n].lower = x.lower + 1 + below(r, time - 1);
    else
        t[at].end = t[n].begin = x.begin + 1 + below(r, bytes - 1);
    return 1;
}

// Fills `b` with `most` buffers or up to three less, which fill `times` · `bytes` units. Returns
// how many there are.
static inline int perfect_buffers(LiveBuffer *b, int most, int64_t times, int64_t bytes,
                                  int64_t unit, uint64_t *r)
{
    Tile *t = calloc((size_t)most, sizeof *t);
    int n = 1;

    assert_non_null(t);
    t[0] = (Tile){0, times, 0, bytes};
    while (n + 4 <= most) {
        int at = 0;  // the largest of some tiles
        for (int k = 0; k < 4; k++) {
            int i = (int)below(r, n);
            double area = (double)(t[i].upper - t[i].lower) * (double)(t[i].end - t[i].begin);
            double before = (double)(t[at].upper - t[at].lower) * (double)(t[at].end - t[at].begin);
            at = !k || area > before ? i : at;
        }
        n += cut_tile(t, n, at, r);
    }
    for (int i = n - 1; i >= 0; i--) {
        int k = (int)below(r, i + 1);
        Tile x = t[k];
        t[k] = t[i];
        b[i] = (LiveBuffer){x.lower, x.upper, unit * (x.end - x.begin)};
    }
    free(t);
    return n;
}

// Fails unless the packing is right: every pair of buffers that are live at the same time.
static inline void check_packing(const LiveBuffer *b, int n, const Packing *p)
{
    int64_t end = 0;

    for (int i = 0; i < n; i++) {
        int64_t top = p->offset[i] + b[i].bytes;
        assert_true(p->offset[i] >= 0);
        end = top > end ? top : end;
        for (int j = 0; j < i; j++)
            if (b[i].lower < b[j].upper && b[j].lower < b[i].upper)
                assert_true(top <= p->offset[j] || p->offset[j] + b[j].bytes <= p->offset[i]);
    }
    assert_int_equal(end, p->bytes);
    assert_true(p->bound <= p->bytes);
}

#endif
