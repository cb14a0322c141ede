// Made by shardcc. Changes here are lost when it is made again.
//   shardcc cnn.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --target cuda
//      --march x86-64-v3
//   plan: 1 rank, arena 844160 bytes, bound 844160
//
// The kernels of fused groups, which the C text of the same name launches. A parameter is
// named after the value that lies there: x0, x1 … are inputs, y0, y1 … results. A thread's
// elements of them are a0, a1 … and r0, r1 … The kernels of operators are the runtime's, for the
// types and the columns of attention listed here.
#define RT_CUDA_EACH_TYPE(X) X(float, f32) X(int64_t, i64)
#define RT_CUDA_EACH_WIDTH(X)

#include "runtime/cuda/group.cuh"

// 1: add reduce_sum; 6272 rows of 8, with sums of columns; x0 0
// a block has some columns of a chunk of rows, a thread 4
extern "C" __global__ void __launch_bounds__(256, 2)
module_1_forward(double *partial, const float *x0, const float *bias, float *y0)
{
    __shared__ Shared<double[256 / 2][2]> room;
    const RtColumns<2> at(6272, 8, 4, 98);
    const int i = at.column;
    double c0[4] = {0};
    float a1[4];
    if (i < 8) {
        rt_take(a1, bias, i);
    }

    for (int64_t i0 = at.first; i < 8 && i0 < at.last; i0 += at.LINES) {
        float a0[4], r0[4];
        rt_take(a0, x0 + i0 * 8, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a0[j] + a1[j];
            c0[j] += v1;
            r0[j] = v1;
        }
        rt_give(r0, y0 + i0 * 8, i);
    }
    rt_store_sums(at, c0, partial + (at.part * 1 + 0) * 8, 8, room);
}
RT_ENTRY(module_1_forward);

// 1: mul add; 8 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_1_add_forward(const float *x0, float *next_running_mean, float *y0)
{
    const float *running_mean = next_running_mean;
    const int64_t i = 4 * rt_thread();

    if (i >= 8)
        return;
    float a0[4], a1[4], r0[4], r1[4];
    rt_take(a0, x0, i);
    rt_take(a1, running_mean, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] * 0.000159438772f;
        r1[j] = a1[j] * 0.899999976f + v1 * 0.100000024f;
        r0[j] = v1;
    }
    rt_give(r0, y0, i);
    rt_give(r1, next_running_mean, i);
}
RT_ENTRY(module_1_add_forward);

// 1: sub mul reduce_sum; 6272 rows of 8, with sums of columns; x0 0
// a block has some columns of a chunk of rows, a thread 4
extern "C" __global__ void __launch_bounds__(256, 2)
module_1_reduce_sum_forward(double *partial, const float *x0, const float *x1, float *y0)
{
    __shared__ Shared<double[256 / 2][2]> room;
    const RtColumns<2> at(6272, 8, 4, 98);
    const int i = at.column;
    double c0[4] = {0};
    float a1[4];
    if (i < 8) {
        rt_take(a1, x1, i);
    }

    for (int64_t i0 = at.first; i < 8 && i0 < at.last; i0 += at.LINES) {
        float a0[4], r0[4];
        rt_take(a0, x0 + i0 * 8, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a0[j] - a1[j];
            c0[j] += v1 * v1;
            r0[j] = v1;
        }
        rt_give(r0, y0 + i0 * 8, i);
    }
    rt_store_sums(at, c0, partial + (at.part * 1 + 0) * 8, 8, room);
}
RT_ENTRY(module_1_reduce_sum_forward);

// 1: mul add sqrt div; 8 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_1_div_forward(const float *x0, const float *weight, float *next_running_var, float *y0)
{
    const float *running_var = next_running_var;
    const int64_t i = 4 * rt_thread();

    if (i >= 8)
        return;
    float a0[4], a1[4], a2[4], r0[4], r1[4];
    rt_take(a0, x0, i);
    rt_take(a1, weight, i);
    rt_take(a2, running_var, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] * 0.000159438772f;
        const float v2 = 1.0f / rt_sqrtf(v1 + 9.99999975e-06f) * a1[j];
        r1[j] = a2[j] * 0.899999976f + v1 * 1.0001595f * 0.100000024f;
        r0[j] = v2;
    }
    rt_give(r0, y0, i);
    rt_give(r1, next_running_var, i);
}
RT_ENTRY(module_1_div_forward);

// 2: mul add le select; 6272 rows of 8; x0 1, x1 1
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_2_forward(const float *x0, const float *x1, const float *bias, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 12544)
        return;
    const int64_t i0 = e / 2;
    const int i = e % 2 * 4;
    float a0[4], a1[4], a2[4], r0[4];
    rt_take(a0, x0 + i0 * 8, i);
    rt_take(a1, x1, i);
    rt_take(a2, bias, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] * a1[j] + a2[j];
        r0[j] = v1 <= 0.0f ? 0.0f : v1;
    }
    rt_give(r0, y0 + i0 * 8, i);
}
RT_ENTRY(module_2_forward);

// 5: reduce_sum; 1568 rows of 16, with sums of columns; x0 4
// a block has some columns of a chunk of rows, a thread 4
extern "C" __global__ void __launch_bounds__(256, 2)
module_5_forward(double *partial, const float *x0)
{
    __shared__ Shared<double[256 / 4][4]> room;
    const RtColumns<4> at(1568, 16, 4, 24);
    const int i = at.column;
    double c0[4] = {0};

    for (int64_t i0 = at.first; i < 16 && i0 < at.last; i0 += at.LINES) {
        float a0[4];
        rt_take(a0, x0 + i0 * 16, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            c0[j] += a0[j];
    }
    rt_store_sums(at, c0, partial + (at.part * 1 + 0) * 16, 16, room);
}
RT_ENTRY(module_5_forward);

// 5: mul add; 16 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_5_add_forward(const float *x0, float *next_running_mean, float *y0)
{
    const float *running_mean = next_running_mean;
    const int64_t i = 4 * rt_thread();

    if (i >= 16)
        return;
    float a0[4], a1[4], r0[4], r1[4];
    rt_take(a0, x0, i);
    rt_take(a1, running_mean, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] * 0.000637755089f;
        r1[j] = a1[j] * 0.899999976f + v1 * 0.100000024f;
        r0[j] = v1;
    }
    rt_give(r0, y0, i);
    rt_give(r1, next_running_mean, i);
}
RT_ENTRY(module_5_add_forward);

// 5: sub mul reduce_sum; 1568 rows of 16, with sums of columns; x0 4
// a block has some columns of a chunk of rows, a thread 4
extern "C" __global__ void __launch_bounds__(256, 2)
module_5_reduce_sum_forward(double *partial, const float *x0, const float *x1)
{
    __shared__ Shared<double[256 / 4][4]> room;
    const RtColumns<4> at(1568, 16, 4, 24);
    const int i = at.column;
    double c0[4] = {0};
    float a1[4];
    if (i < 16) {
        rt_take(a1, x1, i);
    }

    for (int64_t i0 = at.first; i < 16 && i0 < at.last; i0 += at.LINES) {
        float a0[4];
        rt_take(a0, x0 + i0 * 16, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a0[j] - a1[j];
            c0[j] += v1 * v1;
        }
    }
    rt_store_sums(at, c0, partial + (at.part * 1 + 0) * 16, 16, room);
}
RT_ENTRY(module_5_reduce_sum_forward);

// 5: mul add sqrt div; 16 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_5_div_forward(const float *x0, const float *weight, float *next_running_var, float *y0)
{
    const float *running_var = next_running_var;
    const int64_t i = 4 * rt_thread();

    if (i >= 16)
        return;
    float a0[4], a1[4], a2[4], r0[4], r1[4];
    rt_take(a0, x0, i);
    rt_take(a1, weight, i);
    rt_take(a2, running_var, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] * 0.000637755089f;
        const float v2 = 1.0f / rt_sqrtf(v1 + 9.99999975e-06f) * a1[j];
        r1[j] = a2[j] * 0.899999976f + v1 * 1.00063813f * 0.100000024f;
        r0[j] = v2;
    }
    rt_give(r0, y0, i);
    rt_give(r1, next_running_var, i);
}
RT_ENTRY(module_5_div_forward);

// 6: sub mul add le select; 1568 rows of 16; x0 4, x2 5
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_6_forward(const float *x0, const float *x1, const float *x2, const float *bias, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 6272)
        return;
    const int64_t i0 = e / 4;
    const int i = e % 4 * 4;
    float a0[4], a1[4], a2[4], a3[4], r0[4];
    rt_take(a0, x0 + i0 * 16, i);
    rt_take(a1, x1, i);
    rt_take(a2, x2, i);
    rt_take(a3, bias, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = (a0[j] - a1[j]) * a2[j] + a3[j];
        r0[j] = v1 <= 0.0f ? 0.0f : v1;
    }
    rt_give(r0, y0 + i0 * 16, i);
}
RT_ENTRY(module_6_forward);

// 7: mul; 6272 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_7_forward(const float *x0, float *y0)
{
    const int64_t i = 4 * rt_thread();

    if (i >= 6272)
        return;
    float a0[4], r0[4];
    rt_take(a0, x0, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = a0[j] * 0.25f;
    rt_give(r0, y0, i);
}
RT_ENTRY(module_7_forward);

// 9: add; 8 rows of 10
// a thread has an element
extern "C" __global__ void __launch_bounds__(256)
module_9_forward(const float *x0, const float *bias, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 80)
        return;
    const int64_t i0 = e / 10;
    const int i = e % 10;
    float a0[1], a1[1], r0[1];
    rt_take(a0, x0 + i0 * 10, i);
    rt_take(a1, bias, i);
    r0[0] = a0[0] + a1[0];
    rt_give(r0, y0 + i0 * 10, i);
}
RT_ENTRY(module_9_forward);

// cross_entropy: eq not cast reduce_sum lt le or and select div; 8 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_forward(const int64_t *x0, const int64_t *x1, const int64_t *x2, const int64_t *x3,
    const int64_t *x4, const int64_t *x5, uint8_t *y0, float *y1, int64_t *y2, float *y3)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 8) {
        int64_t a0[4], a1[4], a2[4], a3[4], a4[4], a5[4], r2[4];
        uint8_t r0[4];
        rt_take(a0, x0, i);
        rt_take(a1, x1, i);
        rt_take(a2, x2, i);
        rt_take(a3, x3, i);
        rt_take(a4, x4, i);
        rt_take(a5, x5, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const uint8_t v1 = a0[j] == a1[j];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            r2[j] = (v2 & ((a0[j] < a2[j]) | (a3[j] <= a0[j]))) ? a4[j] : a5[j];
            r0[j] = v1;
        }
        rt_give(r0, y0, i);
        rt_give(r2, y2, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y3[0] = 1.0f / s0;
        y1[0] = s0;
    }
}
RT_ENTRY(cross_entropy_forward);

// cross_entropy: mod; one number
// a thread has an element
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_mod_forward(const int64_t *x0_at, int64_t *y0)
{
    const int64_t i = rt_thread();

    if (i >= 1)
        return;
    const int64_t x0 = x0_at[0];
    int64_t r0[1];
    r0[0] = (int64_t)rt_mod_int(x0, 9);
    rt_give(r0, y0, i);
}
RT_ENTRY(cross_entropy_mod_forward);

// cross_entropy: sub exp reduce_sum log iota eq select; 8 rows of 10; x0 9, x2 labels
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_log_forward(const float *x0, const float *x1_at, const int64_t *x2_at,
    const uint8_t *x3_at, float *y0, float *y1, float *y2)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 8)
        return;
    const int64_t i = (int)threadIdx.x % RT_WARP;
    const float x1 = x1_at[i0];
    const int64_t x2 = x2_at[i0];
    const uint8_t x3 = x3_at[i0];
    float s0 = 0, s1 = 0;
    if (i < 10) {
        float a0[1], r0[1];
        rt_take(a0, x0 + i0 * 10, i);
        const float v1 = a0[0] - x1;
        const float v2 = rt_exp_lowf(v1);
        s0 += v2;
        s1 += i == x2 ? v1 : 0.0f;
        r0[0] = v2;
        rt_give(r0, y0 + i0 * 10, i);
    }
    s0 = rt_warp_sum(s0);
    s1 = rt_warp_sum(s1);
    if (threadIdx.x % RT_WARP == 0) {
        y2[i0] = x3 ? 0.0f : rt_logf(s0) - s1;
        y1[i0] = s0;
    }
}
RT_ENTRY(cross_entropy_log_forward);

// cross_entropy: select neg div mul iota eq add; 8 rows of 10; x4 labels
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward(const uint8_t *x0_at, const float *x1_at, const float *x2_at,
    const float *x3, const int64_t *x4_at, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 8)
        return;
    const int64_t i = (int)threadIdx.x % RT_WARP;
    const uint8_t x0 = x0_at[i0];
    const float x1 = x1_at[0];
    const float x2 = x2_at[i0];
    const int64_t x4 = x4_at[i0];
    const float v1 = x0 ? 0.0f : x1;
    const float v2 = -v1;
    const float v3 = v1 / x2;
    if (i < 10) {
        float a3[1], r0[1];
        rt_take(a3, x3 + i0 * 10, i);
        r0[0] = v3 * a3[0] + (i == x4 ? v2 : 0.0f);
        rt_give(r0, y0 + i0 * 10, i);
    }
}
RT_ENTRY(cross_entropy_backward);

// grad_norm 9.bias: mul reduce_sum; 10 elements; x0 9
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
grad_norm(const float *x0, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = (int)threadIdx.x % RT_WARP;
    float s0 = 0;
    if (i < 10) {
        float a0[1];
        rt_take(a0, x0, i);
        s0 += a0[0] * a0[0];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[0] = s0;
    }
}
RT_ENTRY(grad_norm);

// adamw: cast pow sub div sqrt neg mul; one number
// a thread has an element
extern "C" __global__ void __launch_bounds__(256)
adamw_scalars(const float *beta1_at, const float *step_at, const float *lr_at,
    const float *beta2_at, const float *weight_decay_at, float *y0, float *y1, float *y2,
    float *y3, float *y4)
{
    const int64_t i = rt_thread();

    if (i >= 1)
        return;
    const float beta1 = beta1_at[0];
    const float step = step_at[0];
    const float lr = lr_at[0];
    const float beta2 = beta2_at[0];
    const float weight_decay = weight_decay_at[0];
    float r0[1], r1[1], r2[1], r3[1], r4[1];
    r4[0] = 1.0f - lr * weight_decay;
    r0[0] = -(float)((double)lr / (1.0 - rt_pow((double)beta1, (double)step)));
    r1[0] = 1.0f - beta1;
    r2[0] = 1.0f - beta2;
    r3[0] = (float)(1.0 / rt_sqrt(1.0 - rt_pow((double)beta2, (double)step)));
    rt_give(r0, y0, i);
    rt_give(r1, y1, i);
    rt_give(r2, y2, i);
    rt_give(r3, y3, i);
    rt_give(r4, y4, i);
}
RT_ENTRY(adamw_scalars);

// adamw 9.bias: mul sub add sqrt div; 10 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
adamw(float *next_param, const float *x1_at, const float *x2, float *next_exp_avg,
    const float *x4_at, const float *x5_at, float *next_exp_avg_sq, const float *beta2_at,
    const float *x8_at, const float *eps_at, const float *x10_at)
{
    const float *param = next_param;
    const float *exp_avg = next_exp_avg;
    const float *exp_avg_sq = next_exp_avg_sq;
    const int64_t i = 4 * rt_thread();

    const float x1 = x1_at[0];
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    const float beta2 = beta2_at[0];
    const float x8 = x8_at[0];
    const float eps = eps_at[0];
    const float x10 = x10_at[0];
    float a0[4], a2[4], a3[4], a6[4], r0[4], r1[4], r2[4];
    rt_take(a0, param, i, 10);
    rt_take(a2, x2, i, 10);
    rt_take(a3, exp_avg, i, 10);
    rt_take(a6, exp_avg_sq, i, 10);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a3[j] + (a2[j] - a3[j]) * x5;
        const float v2 = a6[j] * beta2 + a2[j] * a2[j] * x4;
        r2[j] = a0[j] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        r0[j] = v1;
        r1[j] = v2;
    }
    rt_give(r0, next_exp_avg, i, 10);
    rt_give(r1, next_exp_avg_sq, i, 10);
    rt_give(r2, next_param, i, 10);
}
RT_ENTRY(adamw);

// grad_norm 9.weight: mul reduce_sum; 160 rows of 49; x0 9
// a warp has a row
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 160)
        return;
    float s0 = 0;
    for (int i = (int)threadIdx.x % RT_WARP; i < 49; i += 32) {
        float a0[1];
        rt_take(a0, x0 + i0 * 49, i);
        s0 += a0[0] * a0[0];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum);

// adamw 9.weight, 4.weight and 1 more: mul sub add sqrt div
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
adamw_div(float *next_param, const float *x1_at, const float *x2, float *next_exp_avg,
    const float *x4_at, const float *x5_at, float *next_exp_avg_sq, const float *beta2_at,
    const float *x8_at, const float *eps_at, const float *x10_at, int64_t n0)
{
    const float *param = next_param;
    const float *exp_avg = next_exp_avg;
    const float *exp_avg_sq = next_exp_avg_sq;
    const int64_t i = 4 * rt_thread();

    if (i >= n0)
        return;
    const float x1 = x1_at[0];
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    const float beta2 = beta2_at[0];
    const float x8 = x8_at[0];
    const float eps = eps_at[0];
    const float x10 = x10_at[0];
    float a0[4], a2[4], a3[4], a6[4], r0[4], r1[4], r2[4];
    rt_take(a0, param, i);
    rt_take(a2, x2, i);
    rt_take(a3, exp_avg, i);
    rt_take(a6, exp_avg_sq, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a3[j] + (a2[j] - a3[j]) * x5;
        const float v2 = a6[j] * beta2 + a2[j] * a2[j] * x4;
        r2[j] = a0[j] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        r0[j] = v1;
        r1[j] = v2;
    }
    rt_give(r0, next_exp_avg, i);
    rt_give(r1, next_exp_avg_sq, i);
    rt_give(r2, next_param, i);
}
RT_ENTRY(adamw_div);

// 5: sub mul add le select reduce_sum; 1568 rows of 16, with sums of columns; x0 4, x4 7
// a block has some columns of a chunk of rows, a thread 4
extern "C" __global__ void __launch_bounds__(256, 2)
module_5_backward(double *partial, const float *x0, const float *x1, const float *x2,
    const float *bias, const float *x4, float *y1)
{
    __shared__ Shared<double[256 / 4][4]> room;
    const RtColumns<4> at(1568, 16, 4, 24);
    const int i = at.column;
    double c0[4] = {0}, c1[4] = {0};
    float a1[4], a2[4], a3[4];
    if (i < 16) {
        rt_take(a1, x1, i);
        rt_take(a2, x2, i);
        rt_take(a3, bias, i);
    }

    for (int64_t i0 = at.first; i < 16 && i0 < at.last; i0 += at.LINES) {
        float a0[4], a4[4], r1[4];
        rt_take(a0, x0 + i0 * 16, i);
        rt_take(a4, x4 + i0 * 16, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a0[j] - a1[j];
            const float v2 = v1 * a2[j] + a3[j] <= 0.0f ? 0.0f : a4[j];
            c0[j] += v2;
            const float v3 = v2 * a2[j];
            c1[j] += v2 * v1;
            r1[j] = v3;
        }
        rt_give(r1, y1 + i0 * 16, i);
    }
    rt_store_sums(at, c0, partial + (at.part * 2 + 0) * 16, 16, room);
    rt_store_sums(at, c1, partial + (at.part * 2 + 1) * 16, 16, room);
}
RT_ENTRY(module_5_backward);

// grad_norm 5.bias: mul reduce_sum; 16 elements; x0 5
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_2(const float *x0, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 16) {
        float a0[4];
        rt_take(a0, x0, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_2);

// adamw 5.bias: mul sub add sqrt div; 16 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
adamw_div_2(float *next_param, const float *x1_at, const float *x2, float *next_exp_avg,
    const float *x4_at, const float *x5_at, float *next_exp_avg_sq, const float *beta2_at,
    const float *x8_at, const float *eps_at, const float *x10_at)
{
    const float *param = next_param;
    const float *exp_avg = next_exp_avg;
    const float *exp_avg_sq = next_exp_avg_sq;
    const int64_t i = 4 * rt_thread();

    if (i >= 16)
        return;
    const float x1 = x1_at[0];
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    const float beta2 = beta2_at[0];
    const float x8 = x8_at[0];
    const float eps = eps_at[0];
    const float x10 = x10_at[0];
    float a0[4], a2[4], a3[4], a6[4], r0[4], r1[4], r2[4];
    rt_take(a0, param, i);
    rt_take(a2, x2, i);
    rt_take(a3, exp_avg, i);
    rt_take(a6, exp_avg_sq, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a3[j] + (a2[j] - a3[j]) * x5;
        const float v2 = a6[j] * beta2 + a2[j] * a2[j] * x4;
        r2[j] = a0[j] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        r0[j] = v1;
        r1[j] = v2;
    }
    rt_give(r0, next_exp_avg, i);
    rt_give(r1, next_exp_avg_sq, i);
    rt_give(r2, next_param, i);
}
RT_ENTRY(adamw_div_2);

// adamw 5.weight: mul add sqrt div reduce_sum sub neg; 16 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
adamw_div_3(const float *x0, float *next_param, const float *x2, float *next_exp_avg,
    const float *x4_at, const float *x5_at, const float *x6_at, float *next_exp_avg_sq,
    const float *beta2_at, const float *x9_at, const float *eps_at, const float *x11_at, float *y0,
    float *y1, float *y3)
{
    const float *param = next_param;
    const float *exp_avg = next_exp_avg;
    const float *exp_avg_sq = next_exp_avg_sq;
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    const float x6 = x6_at[0];
    const float beta2 = beta2_at[0];
    const float x9 = x9_at[0];
    const float eps = eps_at[0];
    const float x11 = x11_at[0];
    float s0 = 0;
    if (i < 16) {
        float a0[4], a1[4], a2[4], a3[4], a7[4], r0[4], r2[4], r3[4], r4[4], r5[4];
        rt_take(a0, x0, i);
        rt_take(a1, param, i);
        rt_take(a2, x2, i);
        rt_take(a3, exp_avg, i);
        rt_take(a7, exp_avg_sq, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = rt_sqrtf(a2[j] * 0.000637755089f + 9.99999975e-06f);
            const float v2 = 1.0f / v1;
            const float v3 = a0[j] * v2;
            s0 += v3 * v3;
            const float v4 = a3[j] + (v3 - a3[j]) * x5;
            const float v5 = -(a0[j] * a1[j] / v1 * v2) / (v1 * 2.0f) * 0.000637755089f;
            const float v6 = a7[j] * beta2 + v3 * v3 * x4;
            r5[j] = a1[j] * x6 + v4 / (rt_sqrtf(v6) * x9 + eps) * x11;
            r0[j] = v3;
            r2[j] = v4;
            r3[j] = v5;
            r4[j] = v6;
        }
        rt_give(r0, y0, i);
        rt_give(r2, next_exp_avg, i);
        rt_give(r3, y3, i);
        rt_give(r4, next_exp_avg_sq, i);
        rt_give(r5, next_param, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y1[0] = s0;
    }
}
RT_ENTRY(adamw_div_3);

// 5: mul neg; 16 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_5_mul_backward(const float *x0, const float *x1, float *y0)
{
    const int64_t i = 4 * rt_thread();

    if (i >= 16)
        return;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0, i);
    rt_take(a1, x1, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = -(a0[j] * a1[j]) * 0.000637755089f;
    rt_give(r0, y0, i);
}
RT_ENTRY(module_5_mul_backward);

// 5: sub mul add; 1568 rows of 16; x0 4
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_5_add_backward(const float *x0, const float *x1, const float *x2, const float *x3,
    const float *x4, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 6272)
        return;
    const int64_t i0 = e / 4;
    const int i = e % 4 * 4;
    float a0[4], a1[4], a2[4], a3[4], a4[4], r0[4];
    rt_take(a0, x0 + i0 * 16, i);
    rt_take(a1, x1, i);
    rt_take(a2, x2, i);
    rt_take(a3, x3 + i0 * 16, i);
    rt_take(a4, x4, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] - a1[j];
        r0[j] = a3[j] + a2[j] * v1 + a2[j] * v1 + a4[j];
    }
    rt_give(r0, y0 + i0 * 16, i);
}
RT_ENTRY(module_5_add_backward);

// grad_norm 4.weight: mul reduce_sum; 128 rows of 9; x0 4
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_3(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 128)
        return;
    const int i = (int)threadIdx.x % RT_WARP;
    float s0 = 0;
    if (i < 9) {
        float a0[1];
        rt_take(a0, x0 + i0 * 9, i);
        s0 += a0[0] * a0[0];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_3);

// 2: add sub mul le select; 6272 rows of 8; x0 0, x2 1, x3 1, x4 1.bias
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_2_backward(const float *x0, const float *bias, const float *x2, const float *x3,
    const float *x4, float *y0, uint8_t *y1, float *y2)
{
    const int e = (int)rt_thread();

    if (e >= 12544)
        return;
    const int64_t i0 = e / 2;
    const int i = e % 2 * 4;
    float a0[4], a1[4], a2[4], a3[4], a4[4], r0[4], r2[4];
    uint8_t r1[4];
    rt_take(a0, x0 + i0 * 8, i);
    rt_take(a1, bias, i);
    rt_take(a2, x2, i);
    rt_take(a3, x3, i);
    rt_take(a4, x4, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] + a1[j] - a2[j];
        const float v2 = v1 * a3[j] + a4[j];
        const uint8_t v3 = v2 <= 0.0f;
        r2[j] = v3 ? 0.0f : v2;
        r0[j] = v1;
        r1[j] = v3;
    }
    rt_give(r0, y0 + i0 * 8, i);
    rt_give(r1, y1 + i0 * 8, i);
    rt_give(r2, y2 + i0 * 8, i);
}
RT_ENTRY(module_2_backward);

// 1: select reduce_sum mul; 6272 rows of 8, with sums of columns; x0 2, x1 3
// a block has some columns of a chunk of rows, a thread 4
extern "C" __global__ void __launch_bounds__(256, 2)
module_1_backward(double *partial, const uint8_t *x0, const float *x1, const float *x2,
    const float *x3, float *y1)
{
    __shared__ Shared<double[256 / 2][2]> room;
    const RtColumns<2> at(6272, 8, 4, 98);
    const int i = at.column;
    double c0[4] = {0}, c1[4] = {0};
    float a2[4];
    if (i < 8) {
        rt_take(a2, x2, i);
    }

    for (int64_t i0 = at.first; i < 8 && i0 < at.last; i0 += at.LINES) {
        float a1[4], a3[4], r1[4];
        uint8_t a0[4];
        rt_take(a0, x0 + i0 * 8, i);
        rt_take(a1, x1 + i0 * 8, i);
        rt_take(a3, x3 + i0 * 8, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a0[j] ? 0.0f : a1[j];
            c0[j] += v1;
            const float v2 = v1 * a2[j];
            c1[j] += v1 * a3[j];
            r1[j] = v2;
        }
        rt_give(r1, y1 + i0 * 8, i);
    }
    rt_store_sums(at, c0, partial + (at.part * 2 + 0) * 8, 8, room);
    rt_store_sums(at, c1, partial + (at.part * 2 + 1) * 8, 8, room);
}
RT_ENTRY(module_1_backward);

// grad_norm 1.bias, 0.bias: mul reduce_sum; 8 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_4(const float *x0, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 8) {
        float a0[4];
        rt_take(a0, x0, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_4);

// adamw 1.bias, 0.bias: mul sub add sqrt div; 8 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
adamw_div_4(float *next_param, const float *x1_at, const float *x2, float *next_exp_avg,
    const float *x4_at, const float *x5_at, float *next_exp_avg_sq, const float *beta2_at,
    const float *x8_at, const float *eps_at, const float *x10_at)
{
    const float *param = next_param;
    const float *exp_avg = next_exp_avg;
    const float *exp_avg_sq = next_exp_avg_sq;
    const int64_t i = 4 * rt_thread();

    if (i >= 8)
        return;
    const float x1 = x1_at[0];
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    const float beta2 = beta2_at[0];
    const float x8 = x8_at[0];
    const float eps = eps_at[0];
    const float x10 = x10_at[0];
    float a0[4], a2[4], a3[4], a6[4], r0[4], r1[4], r2[4];
    rt_take(a0, param, i);
    rt_take(a2, x2, i);
    rt_take(a3, exp_avg, i);
    rt_take(a6, exp_avg_sq, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a3[j] + (a2[j] - a3[j]) * x5;
        const float v2 = a6[j] * beta2 + a2[j] * a2[j] * x4;
        r2[j] = a0[j] * x1 + v1 / (rt_sqrtf(v2) * x8 + eps) * x10;
        r0[j] = v1;
        r1[j] = v2;
    }
    rt_give(r0, next_exp_avg, i);
    rt_give(r1, next_exp_avg_sq, i);
    rt_give(r2, next_param, i);
}
RT_ENTRY(adamw_div_4);

// adamw 1.weight: mul add sqrt div reduce_sum sub neg; 8 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
adamw_div_5(const float *x0, float *next_param, const float *x2, float *next_exp_avg,
    const float *x4_at, const float *x5_at, const float *x6_at, float *next_exp_avg_sq,
    const float *beta2_at, const float *x9_at, const float *eps_at, const float *x11_at, float *y0,
    float *y1, float *y3)
{
    const float *param = next_param;
    const float *exp_avg = next_exp_avg;
    const float *exp_avg_sq = next_exp_avg_sq;
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    const float x6 = x6_at[0];
    const float beta2 = beta2_at[0];
    const float x9 = x9_at[0];
    const float eps = eps_at[0];
    const float x11 = x11_at[0];
    float s0 = 0;
    if (i < 8) {
        float a0[4], a1[4], a2[4], a3[4], a7[4], r0[4], r2[4], r3[4], r4[4], r5[4];
        rt_take(a0, x0, i);
        rt_take(a1, param, i);
        rt_take(a2, x2, i);
        rt_take(a3, exp_avg, i);
        rt_take(a7, exp_avg_sq, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = rt_sqrtf(a2[j] * 0.000159438772f + 9.99999975e-06f);
            const float v2 = 1.0f / v1;
            const float v3 = a0[j] * v2;
            s0 += v3 * v3;
            const float v4 = a3[j] + (v3 - a3[j]) * x5;
            const float v5 = -(a0[j] * a1[j] / v1 * v2) / (v1 * 2.0f) * 0.000159438772f;
            const float v6 = a7[j] * beta2 + v3 * v3 * x4;
            r5[j] = a1[j] * x6 + v4 / (rt_sqrtf(v6) * x9 + eps) * x11;
            r0[j] = v3;
            r2[j] = v4;
            r3[j] = v5;
            r4[j] = v6;
        }
        rt_give(r0, y0, i);
        rt_give(r2, next_exp_avg, i);
        rt_give(r3, y3, i);
        rt_give(r4, next_exp_avg_sq, i);
        rt_give(r5, next_param, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y1[0] = s0;
    }
}
RT_ENTRY(adamw_div_5);

// 1: mul neg; 8 elements
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_1_mul_backward(const float *x0, const float *x1, float *y0)
{
    const int64_t i = 4 * rt_thread();

    if (i >= 8)
        return;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0, i);
    rt_take(a1, x1, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = -(a0[j] * a1[j]) * 0.000159438772f;
    rt_give(r0, y0, i);
}
RT_ENTRY(module_1_mul_backward);

// 0: mul add reduce_sum; 6272 rows of 8, with sums of columns; x0 1, x1 1, x2 1, x3 1
// a block has some columns of a chunk of rows, a thread 4
extern "C" __global__ void __launch_bounds__(256, 2)
module_0_backward(double *partial, const float *x0, const float *x1, const float *x2,
    const float *x3, float *y0)
{
    __shared__ Shared<double[256 / 2][2]> room;
    const RtColumns<2> at(6272, 8, 4, 98);
    const int i = at.column;
    double c0[4] = {0};
    float a0[4], a3[4];
    if (i < 8) {
        rt_take(a0, x0, i);
        rt_take(a3, x3, i);
    }

    for (int64_t i0 = at.first; i < 8 && i0 < at.last; i0 += at.LINES) {
        float a1[4], a2[4], r0[4];
        rt_take(a1, x1 + i0 * 8, i);
        rt_take(a2, x2 + i0 * 8, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a2[j] + a0[j] * a1[j] + a0[j] * a1[j] + a3[j];
            c0[j] += v1;
            r0[j] = v1;
        }
        rt_give(r0, y0 + i0 * 8, i);
    }
    rt_store_sums(at, c0, partial + (at.part * 1 + 0) * 8, 8, room);
}
RT_ENTRY(module_0_backward);

// grad_norm 0.weight: mul reduce_sum add sqrt; 72 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_sqrt(const float *x0, const float *x1_at, const float *x2_at, const float *x3_at,
    const float *x4_at, const float *x5_at, const float *x6_at, const float *x7_at,
    const float *x8_at, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x1 = x1_at[0];
    const float x2 = x2_at[0];
    const float x3 = x3_at[0];
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    const float x6 = x6_at[0];
    const float x7 = x7_at[0];
    const float x8 = x8_at[0];
    float s0 = 0;
    if (i < 72) {
        float a0[4];
        rt_take(a0, x0, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[0] = rt_sqrtf(0.0f + s0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8);
    }
}
RT_ENTRY(grad_norm_sqrt);

// 1: add sqrt div mul; 8 elements; x0 running_var
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_1_predict(const float *x0, const float *weight, float *y0)
{
    const int64_t i = 4 * rt_thread();

    if (i >= 8)
        return;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0, i);
    rt_take(a1, weight, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = 1.0f / rt_sqrtf(a0[j] + 9.99999975e-06f) * a1[j];
    rt_give(r0, y0, i);
}
RT_ENTRY(module_1_predict);

// 2: add sub mul le select; 6272 rows of 8; x0 0, x2 1.running_mean, x3 1, x4 1.bias
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_2_predict(const float *x0, const float *bias, const float *x2, const float *x3,
    const float *x4, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 12544)
        return;
    const int64_t i0 = e / 2;
    const int i = e % 2 * 4;
    float a0[4], a1[4], a2[4], a3[4], a4[4], r0[4];
    rt_take(a0, x0 + i0 * 8, i);
    rt_take(a1, bias, i);
    rt_take(a2, x2, i);
    rt_take(a3, x3, i);
    rt_take(a4, x4, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = (a0[j] + a1[j] - a2[j]) * a3[j] + a4[j];
        r0[j] = v1 <= 0.0f ? 0.0f : v1;
    }
    rt_give(r0, y0 + i0 * 8, i);
}
RT_ENTRY(module_2_predict);

// 5: add sqrt div mul; 16 elements; x0 running_var
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_5_predict(const float *x0, const float *weight, float *y0)
{
    const int64_t i = 4 * rt_thread();

    if (i >= 16)
        return;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0, i);
    rt_take(a1, weight, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = 1.0f / rt_sqrtf(a0[j] + 9.99999975e-06f) * a1[j];
    rt_give(r0, y0, i);
}
RT_ENTRY(module_5_predict);

// cross_entropy: eq not cast reduce_sum lt le or and select; 8 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_predict(const int64_t *x0, const int64_t *x1, const int64_t *x2, const int64_t *x3,
    const int64_t *x4, const int64_t *x5, uint8_t *y0, float *y1, int64_t *y2)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 8) {
        int64_t a0[4], a1[4], a2[4], a3[4], a4[4], a5[4], r2[4];
        uint8_t r0[4];
        rt_take(a0, x0, i);
        rt_take(a1, x1, i);
        rt_take(a2, x2, i);
        rt_take(a3, x3, i);
        rt_take(a4, x4, i);
        rt_take(a5, x5, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const uint8_t v1 = a0[j] == a1[j];
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            r2[j] = (v2 & ((a0[j] < a2[j]) | (a3[j] <= a0[j]))) ? a4[j] : a5[j];
            r0[j] = v1;
        }
        rt_give(r0, y0, i);
        rt_give(r2, y2, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y1[0] = s0;
    }
}
RT_ENTRY(cross_entropy_predict);

// cross_entropy: sub exp reduce_sum log iota eq select; 8 rows of 10; x0 9, x2 labels
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_log_predict(const float *x0, const float *x1_at, const int64_t *x2_at,
    const uint8_t *x3_at, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 8)
        return;
    const int64_t i = (int)threadIdx.x % RT_WARP;
    const float x1 = x1_at[i0];
    const int64_t x2 = x2_at[i0];
    const uint8_t x3 = x3_at[i0];
    float s0 = 0, s1 = 0;
    if (i < 10) {
        float a0[1];
        rt_take(a0, x0 + i0 * 10, i);
        const float v1 = a0[0] - x1;
        s0 += rt_exp_lowf(v1);
        s1 += i == x2 ? v1 : 0.0f;
    }
    s0 = rt_warp_sum(s0);
    s1 = rt_warp_sum(s1);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = x3 ? 0.0f : rt_logf(s0) - s1;
    }
}
RT_ENTRY(cross_entropy_log_predict);

// The runtime's kernels.
#include "runtime/cuda/copy.cu"
#include "runtime/cuda/conv.cu"
#include "runtime/cuda/sums.cu"
#include "runtime/cuda/pool.cu"
#include "runtime/cuda/dot.cu"
#include "runtime/cuda/reduce.cu"
