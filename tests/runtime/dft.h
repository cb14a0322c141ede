// Random Fourier transforms for the tests of its kernels.
#ifndef SHARDCC_TESTS_RUNTIME_DFT_H
#define SHARDCC_TESTS_RUNTIME_DFT_H

#include "tests/runtime/kernels.h"

// Lengths of one factor, of several, and of the smallest and largest ones.
static inline RtDft draw_dft(Random *r, int64_t most)
{
    static const int64_t often[] = {1, 2, 4, 8, 16, 32, 60, 64, 49, 128};
    RtDft p = {.type = draw(r, 3) ? RT_F32 : RT_F64,
               .rows = draw_size(r, 40),
               .n = draw(r, 2) ? often[draw(r, 10)] : 1 + draw(r, most),
               .c = 1 + (int)draw(r, 2),
               .parts = 1 + (int)draw(r, 2),
               .inverse = draw(r, 2)};

    p.have = draw(r, 2) ? p.n : draw_size(r, p.n);
    p.size = draw(r, 3) == 0 ? p.n : draw(r, 2) ? p.n / 2 + 1 : draw_size(r, p.n);
    return p;
}

#endif
