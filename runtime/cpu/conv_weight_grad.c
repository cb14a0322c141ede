// The gradient of a convolution with respect to its weights.
#include "runtime/cpu/conv_matrix.h"
#include "runtime/cpu/conv_product.h"
#include "runtime/cpu/conv_widened.h"
#include "runtime/cpu/depthwise.h"
#include "runtime/cpu/depthwise_halves.h"
#include "runtime/cpu/onednn.h"

void rt_conv_weight_grad_init(Rt *rt, int kernel, const RtConv *p)
{
    if (rt_conv_matrix_fits(p, RT_CONV_WEIGHT_GRAD))
        rt_conv_matrix_prepare(rt, kernel, p, RT_CONV_WEIGHT_GRAD);
    else if (rt_depthwise_halves_fits(p))
        rt_depthwise_halves_prepare(rt, kernel, p, RT_CONV_WEIGHT_GRAD);
    else if (rt_is_half(p->type))
        rt_conv_widened_prepare(rt, kernel, p, RT_CONV_WEIGHT_GRAD, rt_conv_weight_grad_init);
    else if (rt_depthwise_fits(p))
        rt_depthwise_prepare(rt, kernel, p);
    else if (rt_conv_product_fits(p))
        rt_conv_product_prepare(rt, kernel, p);
    else
        rt_conv_prepare(rt, kernel, p, RT_CONV_WEIGHT_GRAD);
}

void rt_conv_weight_grad(Rt *rt, int kernel, void *dw, const void *x, const void *dy)
{
    RtKernel *k = rt->kernel[kernel];

    k->run(rt, k, dw, x, dy);
}
