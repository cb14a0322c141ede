// What convolution's weights get of its result's gradient.
#include "runtime/cpu/onednn.h"

void rt_conv_weight_grad_init(Rt *rt, int kernel, const RtConv *p)
{
    rt_conv_prepare(rt, kernel, p, RT_CONV_WEIGHT_GRAD);
}

void rt_conv_weight_grad(Rt *rt, int kernel, void *dw, const void *x, const void *dy)
{
    rt_conv_run(rt, kernel, x, dw, dy);
}
