// Convolution: chooses the implementation and runs it.
#include "runtime/cpu/conv_matrix.h"
#include "runtime/cpu/onednn.h"

void rt_conv_init(Rt *rt, int kernel, const RtConv *p)
{
    if (rt_conv_matrix_fits(p, RT_CONV))
        rt_conv_matrix_prepare(rt, kernel, p, RT_CONV);
    else
        rt_conv_prepare(rt, kernel, p, RT_CONV);
}

void rt_conv(Rt *rt, int kernel, void *y, const void *x, const void *w)
{
    const RtKernel *k = rt->kernel[kernel];

    k->run(rt, kernel, y, x, w);
}
