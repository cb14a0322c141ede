// The gradient of a convolution with respect to its input.
#include "runtime/cpu/conv_matrix.h"
#include "runtime/cpu/conv_widened.h"
#include "runtime/cpu/depthwise_halves.h"
#include "runtime/cpu/onednn.h"

void rt_conv_input_grad_init(Rt *rt, int kernel, const RtConv *p)
{
    if (rt_conv_matrix_fits(p, RT_CONV_INPUT_GRAD))
        rt_conv_matrix_prepare(rt, kernel, p, RT_CONV_INPUT_GRAD);
    else if (rt_depthwise_halves_fits(p))
        rt_depthwise_halves_prepare(rt, kernel, p, RT_CONV_INPUT_GRAD);
    else if (rt_is_half(p->type))
        rt_conv_widened_prepare(rt, kernel, p, RT_CONV_INPUT_GRAD, rt_conv_input_grad_init);
    else
        rt_conv_prepare(rt, kernel, p, RT_CONV_INPUT_GRAD);
}

void rt_conv_input_grad(Rt *rt, int kernel, void *dx, const void *dy, const void *w)
{
    RtKernel *k = rt->kernel[kernel];

    k->run(rt, k, dx, dy, w);
}
