// Random resamplings for the tests of its kernels.
#ifndef SHARDCC_TESTS_RUNTIME_RESAMPLE_H
#define SHARDCC_TESTS_RUNTIME_RESAMPLE_H

#include "runtime/rt_resample.h"
#include "tests/runtime/kernels.h"

// A coordinate_transformation_mode of ONNX, or any other line: coordinates that fall, that are far
// outside, or all equal.
static inline void draw_coordinates(Random *r, RtResample *p)
{
    double n = (double)p->n, size = (double)(p->size ? p->size : 1);

    p->mul = n;
    p->div = size;
    switch (draw(r, 6)) {
    case 0:
        p->shift = 0.5;
        p->offset = -0.5;
        break;
    case 1:
        p->mul = n - 1;
        p->div = size > 1 ? size - 1 : 1;
        break;
    case 2:
        p->mul = -(n - 1) * (1 + (double)draw(r, 3) / 2);
        p->offset = n - 1 + (double)draw(r, 5) / 4;
        break;
    case 3:
        p->mul = draw(r, 3) ? 3 * n : 0;
        p->offset = ((double)draw(r, 9) - 4) * n / 2;
        break;
    case 4:
        p->div = draw(r, 2) ? -size : size;
        p->shift = -(double)draw(r, 4);
        break;
    default:
        break;
    }
}

// Dims are at most `most`, or twice as long where the others are short.
static inline RtResample draw_resample(Random *r, int64_t most)
{
    bool is_line = draw(r, 2);
    RtResample p = {.type = draw(r, 3) ? RT_F32 : RT_F64,
                    .outer = draw_size(r, is_line ? most : 4),
                    .n = 1 + draw_size(r, draw(r, 4) ? most : 8 * most),
                    .size = draw_size(r, draw(r, 4) ? 2 * most : 8 * most),
                    .inner = is_line ? 1 : draw_size(r, most),
                    .mode = (RtResampleMode)draw(r, RT_FILTER_CUBIC + 1),
                    .cubic = draw(r, 2) ? -0.75 : -0.5,
                    .stretch = 1,
                    .transposed = draw(r, 2)};

    draw_coordinates(r, &p);
    if (p.mode >= RT_FILTER_LINEAR) {
        p.exclude = draw(r, 3) == 0;
        if (draw(r, 3) == 0)
            p.stretch = 1 + (double)draw(r, draw(r, 3) ? 16 : 400) / 4;
    }
    return p;
}

#endif
