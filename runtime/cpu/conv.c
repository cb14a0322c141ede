// Convolution.
#include "runtime/cpu/onednn.h"

void rt_conv_init(Rt *rt, int kernel, const RtConv *p) { rt_conv_prepare(rt, kernel, p, RT_CONV); }

void rt_conv(Rt *rt, int kernel, void *y, const void *x, const void *w)
{
    rt_conv_run(rt, kernel, x, w, y);
}
