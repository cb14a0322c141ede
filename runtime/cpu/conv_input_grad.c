// What convolution's input gets of its result's gradient.
#include "runtime/cpu/onednn.h"

void rt_conv_input_grad_init(Rt *rt, int kernel, const RtConv *p)
{
    rt_conv_prepare(rt, kernel, p, RT_CONV_INPUT_GRAD);
}

void rt_conv_input_grad(Rt *rt, int kernel, void *dx, const void *dy, const void *w)
{
    rt_conv_run(rt, kernel, dx, w, dy);
}
