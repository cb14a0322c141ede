// Made by shardcc. Changes here are lost when it is made again.
//   shardcc mlp.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --target cuda
//      --march x86-64-v3
//   plan: 1 rank, arena 250752 bytes, bound 250752
//
// The kernels of fused groups, which the C text of the same name launches. A parameter is
// named after the value that lies there: x0, x1 … are inputs, y0, y1 … results. A thread's
// elements of them are a0, a1 … and r0, r1 … The kernels of operators are the runtime's, for the
// types and the columns of attention listed here.
#define RT_CUDA_EACH_TYPE(X) X(float, f32) X(int64_t, i64)
#define RT_CUDA_EACH_WIDTH(X)

#include "runtime/cuda/group.cuh"

// 1: add le select; 16 rows of 64; x0 0
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_1_forward(const float *x0, const float *bias, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 256)
        return;
    const int64_t i0 = e / 16;
    const int i = e % 16 * 4;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0 + i0 * 64, i);
    rt_take(a1, bias, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] + a1[j];
        r0[j] = v1 <= 0.0f ? 0.0f : v1;
    }
    rt_give(r0, y0 + i0 * 64, i);
}
RT_ENTRY(module_1_forward);

// 3: add tanh mul sub; 16 rows of 64; x0 2
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_3_backward(const float *x0, const float *bias, float *y0, float *y1)
{
    const int e = (int)rt_thread();

    if (e >= 256)
        return;
    const int64_t i0 = e / 16;
    const int i = e % 16 * 4;
    float a0[4], a1[4], r0[4], r1[4];
    rt_take(a0, x0 + i0 * 64, i);
    rt_take(a1, bias, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = rt_tanhf(a0[j] + a1[j]);
        r1[j] = 1.0f - v1 * v1;
        r0[j] = v1;
    }
    rt_give(r0, y0 + i0 * 64, i);
    rt_give(r1, y1 + i0 * 64, i);
}
RT_ENTRY(module_3_backward);

// 4: add; 16 rows of 10
// a thread has an element
extern "C" __global__ void __launch_bounds__(256)
module_4_forward(const float *x0, const float *bias, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 160)
        return;
    const int64_t i0 = e / 10;
    const int i = e % 10;
    float a0[1], a1[1], r0[1];
    rt_take(a0, x0 + i0 * 10, i);
    rt_take(a1, bias, i);
    r0[0] = a0[0] + a1[0];
    rt_give(r0, y0 + i0 * 10, i);
}
RT_ENTRY(module_4_forward);

// cross_entropy: eq not cast reduce_sum lt le or and select div; 16 elements
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
    if (i < 16) {
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
    r0[0] = (int64_t)rt_mod_int(x0, 17);
    rt_give(r0, y0, i);
}
RT_ENTRY(cross_entropy_mod_forward);

// cross_entropy: sub exp reduce_sum log iota eq select; 16 rows of 10; x0 4, x2 labels
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_log_forward(const float *x0, const float *x1_at, const int64_t *x2_at,
    const uint8_t *x3_at, float *y0, float *y1, float *y2)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 16)
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

// cross_entropy: select neg div mul iota eq add; 16 rows of 10; x4 labels
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward(const uint8_t *x0_at, const float *x1_at, const float *x2_at,
    const float *x3, const int64_t *x4_at, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 16)
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

// grad_norm 4.bias: mul reduce_sum; 10 elements; x0 4
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

// adamw 4.bias: mul sub add sqrt div; 10 elements
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

// grad_norm 4.weight: mul reduce_sum; 640 elements; x0 4
// a block has a row, 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(96, 5)
grad_norm_reduce_sum(const float *x0, float *y0)
{
    __shared__ Shared<float[RT_WARP]> room_f32;
    float s0 = 0;
    for (int i = 4 * (int)threadIdx.x; i < 640; i += 384) {
        float a0[4];
        rt_take(a0, x0, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_block_sum(s0, room_f32);
    if (threadIdx.x == 0) {
        y0[0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum);

// adamw 4.weight, 2.bias and 3 more: mul sub add sqrt div
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

// 3: mul; 1024 elements; x0 4
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_3_mul_backward(const float *x0, const float *x1, float *y0)
{
    const int64_t i = 4 * rt_thread();

    if (i >= 1024)
        return;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0, i);
    rt_take(a1, x1, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = a0[j] * a1[j];
    rt_give(r0, y0, i);
}
RT_ENTRY(module_3_mul_backward);

// grad_norm 2.bias, 0.bias: mul reduce_sum; 64 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_2(const float *x0, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 64) {
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

// 1: add le select; 16 rows of 64; x0 0, x2 2
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_1_backward(const float *x0, const float *bias, const float *x2, float *y0, float *y1)
{
    const int e = (int)rt_thread();

    if (e >= 256)
        return;
    const int64_t i0 = e / 16;
    const int i = e % 16 * 4;
    float a0[4], a1[4], a2[4], r0[4], r1[4];
    rt_take(a0, x0 + i0 * 64, i);
    rt_take(a1, bias, i);
    rt_take(a2, x2 + i0 * 64, i);
    RT_UNROLL for (int j = 0; j < 4; j++) {
        const float v1 = a0[j] + a1[j];
        const uint8_t v2 = v1 <= 0.0f;
        const float v3 = v2 ? 0.0f : a2[j];
        r1[j] = v2 ? 0.0f : v1;
        r0[j] = v3;
    }
    rt_give(r0, y0 + i0 * 64, i);
    rt_give(r1, y1 + i0 * 64, i);
}
RT_ENTRY(module_1_backward);

// grad_norm 2.weight: mul reduce_sum; 64 rows of 64; x0 2
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_3(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 64) {
        float a0[4];
        rt_take(a0, x0 + i0 * 64, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_3);

// grad_norm 0.weight: mul reduce_sum; 64 rows of 32; x0 0
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_4(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 32) {
        float a0[4];
        rt_take(a0, x0 + i0 * 32, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_4);

// grad_norm: add sqrt; one number
// a thread has an element
extern "C" __global__ void __launch_bounds__(256)
grad_norm_sqrt(const float *x0_at, const float *x1_at, const float *x2_at, const float *x3_at,
    const float *x4_at, const float *x5_at, float *y0)
{
    const int64_t i = rt_thread();

    if (i >= 1)
        return;
    const float x0 = x0_at[0];
    const float x1 = x1_at[0];
    const float x2 = x2_at[0];
    const float x3 = x3_at[0];
    const float x4 = x4_at[0];
    const float x5 = x5_at[0];
    float r0[1];
    r0[0] = rt_sqrtf(0.0f + x0 + x1 + x2 + x3 + x4 + x5);
    rt_give(r0, y0, i);
}
RT_ENTRY(grad_norm_sqrt);

// 3: add tanh; 16 rows of 64; x0 2
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
module_3_predict(const float *x0, const float *bias, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 256)
        return;
    const int64_t i0 = e / 16;
    const int i = e % 16 * 4;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0 + i0 * 64, i);
    rt_take(a1, bias, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = rt_tanhf(a0[j] + a1[j]);
    rt_give(r0, y0 + i0 * 64, i);
}
RT_ENTRY(module_3_predict);

// cross_entropy: eq not cast reduce_sum lt le or and select; 16 elements
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
    if (i < 16) {
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

// cross_entropy: sub exp reduce_sum log iota eq select; 16 rows of 10; x0 4, x2 labels
// a warp has a row, in 1 turn
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_log_predict(const float *x0, const float *x1_at, const int64_t *x2_at,
    const uint8_t *x3_at, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 16)
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
#include "runtime/cuda/dot.cu"
#include "runtime/cuda/reduce.cu"
