// Made by shardcc. Changes here are lost when it is made again.
//   shardcc nanogpt.onnx --loss 'cross_entropy(logits, labels)' --optimizer adamw --precision bf16
//      --target cuda --march x86-64-v3
//   plan: 1 rank, arena 1984192 bytes, bound 1984192
//
// The kernels of fused groups, which the C text of the same name launches. A parameter is
// named after the value that lies there: x0, x1 … are inputs, y0, y1 … results. A thread's
// elements of them are a0, a1 … and r0, r1 … The kernels of operators are the runtime's, for the
// types and the columns of attention listed here.
#define RT_CUDA_EACH_TYPE(X) X(float, f32) X(int64_t, i64)
#define RT_CUDA_EACH_HALF(X) X(RtBf16, bf16)
#define RT_CUDA_EACH_PRODUCT(X) X(RtBf16, bf16)
#define RT_CUDA_EACH_ATTENTION(X)
#define RT_CUDA_EACH_TENSOR(X) X(RtBf16, bf16)
#define RT_CUDA_EACH_WIDTH(X) X(1)

#include "runtime/cuda/group.cuh"

// wte: lt add select; 64 elements; x0 input_ids
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
wte_forward(const int64_t *x0, int64_t *y0)
{
    const int64_t i = 4 * rt_thread();

    if (i >= 64)
        return;
    int64_t a0[4], r0[4];
    rt_take(a0, x0, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = a0[j] < 0 ? (int64_t)rt_add_int(a0[j], 96) : a0[j];
    rt_give(r0, y0, i);
}
RT_ENTRY(wte_forward);

// node_add: add; 4 rows of 768; x0 wte
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
add_forward(const float *x0, const float *weight, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 768)
        return;
    const int64_t i0 = e / 192;
    const int i = e % 192 * 4;
    float a0[4], a1[4], r0[4];
    rt_take(a0, x0 + i0 * 768, i);
    rt_take(a1, weight, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = a0[j] + a1[j];
    rt_give(r0, y0 + i0 * 768, i);
}
RT_ENTRY(add_forward);

// blocks.{}.qkv: reduce_sum mul sub compensate add sqrt div cast; 64 rows of 48; x0 blocks.{}
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
qkv_forward(const float *x0, const float *weight, const float *bias, float *y0, float *y1,
    RtBf16 *y2)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0, s1 = 0, s2 = 0;
    float a0[4];
    if (i < 48) {
        rt_take(a0, x0 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j];
    }
    s0 = rt_warp_sum(s0);
    const float v1 = s0 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++)
            s1 += v1 - a0[j];
    }
    s1 = rt_warp_sum(s1);
    const float v2 = v1 - s1 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v3 = a0[j] - v2;
            s2 += v3 * v3;
        }
    }
    s2 = rt_warp_sum(s2);
    const float v4 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
    if (i < 48) {
        float a1[4], a2[4];
        RtBf16 r2[4];
        rt_take(a1, weight, i);
        rt_take(a2, bias, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            r2[j] = rt_to_bf16((a0[j] - v2) * v4 * a1[j] + a2[j]);
        rt_give(r2, y2 + i0 * 48, i);
    }
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = v2;
        y1[i0] = s2;
    }
}
RT_ENTRY(qkv_forward);

// blocks.{}.qkv, blocks.{}.proj and 3 more: cast
// a thread has 8 neighbours
extern "C" __global__ void __launch_bounds__(256)
cast_forward(const float *weight, RtBf16 *y0, int64_t n0)
{
    const int64_t i = 8 * rt_thread();

    if (i >= n0)
        return;
    float a0[8];
    RtBf16 r0[8];
    rt_take(a0, weight, i);
    RT_UNROLL for (int j = 0; j < 8; j++)
        r0[j] = rt_to_bf16(a0[j]);
    rt_give(r0, y0, i);
}
RT_ENTRY(cast_forward);

// blocks.{}: cast add; 64 rows of 144; x0 qkv
// a thread has 8 neighbours
extern "C" __global__ void __launch_bounds__(256)
blocks_cast_forward(const RtBf16 *x0, const float *bias, RtBf16 *y0)
{
    const int e = (int)rt_thread();

    if (e >= 1152)
        return;
    const int64_t i0 = e / 18;
    const int i = e % 18 * 8;
    float a1[8];
    RtBf16 a0[8], r0[8];
    rt_take(a0, x0 + i0 * 144, i);
    rt_take(a1, bias, i);
    RT_UNROLL for (int j = 0; j < 8; j++)
        r0[j] = rt_to_bf16(rt_from_bf16(a0[j]) + a1[j]);
    rt_give(r0, y0 + i0 * 144, i);
}
RT_ENTRY(blocks_cast_forward);

// blocks.{}.fc: cast add reduce_sum mul sub compensate sqrt div; 64 rows of 48
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
fc_forward(const RtBf16 *x0, const float *bias, const float *x2, const float *weight,
    const float *x4, float *y0, float *y1, float *y2, RtBf16 *y3)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0, s1 = 0, s2 = 0;
    float r0[4];
    if (i < 48) {
        float a1[4], a2[4];
        RtBf16 a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        rt_take(a1, bias, i);
        rt_take(a2, x2 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a2[j] + (rt_from_bf16(a0[j]) + a1[j]);
            s0 += v1;
            r0[j] = v1;
        }
        rt_give(r0, y0 + i0 * 48, i);
    }
    s0 = rt_warp_sum(s0);
    const float v2 = s0 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++)
            s1 += v2 - r0[j];
    }
    s1 = rt_warp_sum(s1);
    const float v3 = v2 - s1 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v4 = r0[j] - v3;
            s2 += v4 * v4;
        }
    }
    s2 = rt_warp_sum(s2);
    const float v5 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
    if (i < 48) {
        float a3[4], a4[4];
        RtBf16 r3[4];
        rt_take(a3, weight, i);
        rt_take(a4, x4, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            r3[j] = rt_to_bf16((r0[j] - v3) * v5 * a3[j] + a4[j]);
        rt_give(r3, y3 + i0 * 48, i);
    }
    if (threadIdx.x % RT_WARP == 0) {
        y1[i0] = v3;
        y2[i0] = s2;
    }
}
RT_ENTRY(fc_forward);

// blocks.{}.out: cast add div erf mul; 64 rows of 192; x0 blocks.{}.fc
// a thread has 8 neighbours
extern "C" __global__ void __launch_bounds__(256)
out_forward(const RtBf16 *x0, const float *bias, RtBf16 *y0)
{
    const int e = (int)rt_thread();

    if (e >= 1536)
        return;
    const int64_t i0 = e / 24;
    const int i = e % 24 * 8;
    float a1[8];
    RtBf16 a0[8], r0[8];
    rt_take(a0, x0 + i0 * 192, i);
    rt_take(a1, bias, i);
    RT_UNROLL for (int j = 0; j < 8; j++) {
        const float v1 = rt_from_bf16(a0[j]) + a1[j];
        r0[j] = rt_to_bf16(v1 * (0.5f * (rt_erff(v1 / 1.41421354f) + 1.0f)));
    }
    rt_give(r0, y0 + i0 * 192, i);
}
RT_ENTRY(out_forward);

// blocks.{}: cast add; 64 rows of 48; x0 out
// a thread has 8 neighbours
extern "C" __global__ void __launch_bounds__(256)
blocks_add_forward(const RtBf16 *x0, const float *bias, const float *x2, float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 384)
        return;
    const int64_t i0 = e / 6;
    const int i = e % 6 * 8;
    float a1[8], a2[8], r0[8];
    RtBf16 a0[8];
    rt_take(a0, x0 + i0 * 48, i);
    rt_take(a1, bias, i);
    rt_take(a2, x2 + i0 * 48, i);
    RT_UNROLL for (int j = 0; j < 8; j++)
        r0[j] = a2[j] + (rt_from_bf16(a0[j]) + a1[j]);
    rt_give(r0, y0 + i0 * 48, i);
}
RT_ENTRY(blocks_add_forward);

// head: reduce_sum mul sub compensate add sqrt div cast; 64 rows of 48; x0 blocks.{}
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
head_forward(const float *x0, const float *weight, const float *bias, float *y0, float *y1,
    float *y2, float *y3, RtBf16 *y4)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0, s1 = 0, s2 = 0;
    float a0[4];
    if (i < 48) {
        rt_take(a0, x0 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j];
    }
    s0 = rt_warp_sum(s0);
    const float v1 = s0 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++)
            s1 += v1 - a0[j];
    }
    s1 = rt_warp_sum(s1);
    const float v2 = v1 - s1 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v3 = a0[j] - v2;
            s2 += v3 * v3;
        }
    }
    s2 = rt_warp_sum(s2);
    const float v4 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
    const float v5 = rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
    if (i < 48) {
        float a1[4], a2[4];
        RtBf16 r4[4];
        rt_take(a1, weight, i);
        rt_take(a2, bias, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            r4[j] = rt_to_bf16((a0[j] - v2) * v4 * a1[j] + a2[j]);
        rt_give(r4, y4 + i0 * 48, i);
    }
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = v2;
        y1[i0] = v4;
        y2[i0] = v5;
        y3[i0] = v5 * 2.0f;
    }
}
RT_ENTRY(head_forward);

// cross_entropy: eq not cast reduce_sum lt le or and iota add mul select div; 64 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_forward(const int64_t *x0, uint8_t *y0, float *y1, int64_t *y2, float *y3)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int e = 4 * ((int)threadIdx.x % RT_WARP);
    const int64_t i0 = e / 16;
    const int64_t i = e % 16;
    float s0 = 0;
    if (e < 64) {
        int64_t a0[4], r2[4];
        uint8_t r0[4];
        rt_take(a0, x0 + i0 * 16, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const uint8_t v1 = a0[j] == -100;
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            const int64_t v3 = (int64_t)rt_add_int((int64_t)rt_add_int(i + j, 1),
                (int64_t)rt_mul_int(i0, 16));
            r2[j] = (v2 & ((a0[j] < 0) | (96 <= a0[j]))) ? v3 : 65;
            r0[j] = v1;
        }
        rt_give(r0, y0 + i0 * 16, i);
        rt_give(r2, y2 + i0 * 16, i);
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
    r0[0] = (int64_t)rt_mod_int(x0, 65);
    rt_give(r0, y0, i);
}
RT_ENTRY(cross_entropy_mod_forward);

// cross_entropy: cast sub exp reduce_sum log iota eq select; 64 rows of 96; x0 head, x2 labels
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_log_forward(const RtBf16 *x0, const RtBf16 *x1_at, const int64_t *x2_at,
    const uint8_t *x3_at, float *y0, float *y1)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 64)
        return;
    const int64_t i1 = r % 16;
    const int64_t i0 = r / 16;
    const int64_t i = 4 * ((int)threadIdx.x % RT_WARP);
    const RtBf16 x1 = x1_at[i0 * 16 + i1];
    const int64_t x2 = x2_at[i0 * 16 + i1];
    const uint8_t x3 = x3_at[i0 * 16 + i1];
    float s0 = 0, s1 = 0;
    const float v1 = rt_from_bf16(x1);
    if (i < 96) {
        RtBf16 a0[4];
        rt_take(a0, x0 + i0 * 1536 + i1 * 96, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v2 = rt_from_bf16(a0[j]) - v1;
            s0 += rt_expf(v2);
            s1 += i + j == x2 ? v2 : 0.0f;
        }
    }
    s0 = rt_warp_sum(s0);
    s1 = rt_warp_sum(s1);
    if (threadIdx.x % RT_WARP == 0) {
        y1[i0 * 16 + i1] = x3 ? 0.0f : rt_logf(s0) - s1;
        y0[i0 * 16 + i1] = s0;
    }
}
RT_ENTRY(cross_entropy_log_forward);

// head: select neg div iota eq cast sub exp mul add; 64 rows of 96
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
head_backward(const uint8_t *x0_at, const float *x1_at, const float *x2_at, const int64_t *x3_at,
    const RtBf16 *x4_at, const RtBf16 *x5, RtBf16 *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 64)
        return;
    const int64_t i1 = r % 16;
    const int64_t i0 = r / 16;
    const int64_t i = 4 * ((int)threadIdx.x % RT_WARP);
    const uint8_t x0 = x0_at[i0 * 16 + i1];
    const float x1 = x1_at[0];
    const float x2 = x2_at[i0 * 16 + i1];
    const int64_t x3 = x3_at[i0 * 16 + i1];
    const RtBf16 x4 = x4_at[i0 * 16 + i1];
    const float v1 = x0 ? 0.0f : x1;
    const float v2 = -v1;
    const float v3 = v1 / x2;
    const float v4 = rt_from_bf16(x4);
    if (i < 96) {
        RtBf16 a5[4], r0[4];
        rt_take(a5, x5 + i0 * 1536 + i1 * 96, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            r0[j] = rt_to_bf16((i + j == x3 ? v2 : 0.0f) + v3 * rt_expf(rt_from_bf16(a5[j]) - v4));
        rt_give(r0, y0 + i0 * 1536 + i1 * 96, i);
    }
}
RT_ENTRY(head_backward);

// ln: cast mul reduce_sum neg; 64 rows of 48; x0 head
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
ln_backward(const RtBf16 *x0, const float *weight, const float *x2_at, float *y0, float *y1,
    float *y2, float *y3)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x2 = x2_at[i0];
    float s0 = 0;
    if (i < 48) {
        float a1[4], r0[4], r1[4], r2[4];
        RtBf16 a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        rt_take(a1, weight, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = rt_from_bf16(a0[j]);
            const float v2 = v1 * a1[j];
            s0 += v2;
            r0[j] = v1;
            r1[j] = v2;
            r2[j] = v2 * x2;
        }
        rt_give(r0, y0 + i0 * 48, i);
        rt_give(r1, y1 + i0 * 48, i);
        rt_give(r2, y2 + i0 * 48, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y3[i0] = -(s0 * x2) * 0.020833334f;
    }
}
RT_ENTRY(ln_backward);

// grad_norm ln.bias, ln.weight and 5 more: mul reduce_sum; 48 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm(const float *x0, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 48) {
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

// head: sub mul reduce_sum div neg add cast; 64 rows of 48
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
head_div_backward(const float *x0, const float *x1_at, const float *x2_at, const float *x3,
    const float *x4, const float *x5_at, const float *x6_at, const float *weight,
    const float *bias, float *y0, float *y1, float *y2, RtBf16 *y3)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x1 = x1_at[i0];
    const float x2 = x2_at[i0];
    const float x5 = x5_at[i0];
    const float x6 = x6_at[i0];
    float s0 = 0;
    if (i < 48) {
        float a0[4], a3[4], a4[4], a7[4], a8[4], r0[4], r1[4];
        RtBf16 r3[4];
        rt_take(a0, x0 + i0 * 48, i);
        rt_take(a3, x3 + i0 * 48, i);
        rt_take(a4, x4 + i0 * 48, i);
        rt_take(a7, weight, i);
        rt_take(a8, bias, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a0[j] - x1;
            const float v2 = v1 * x2;
            const float v3 = a3[j] * v2;
            s0 += a4[j] * v1;
            r3[j] = rt_to_bf16(v2 * a7[j] + a8[j]);
            r0[j] = v1;
            r1[j] = v3;
        }
        rt_give(r0, y0 + i0 * 48, i);
        rt_give(r1, y1 + i0 * 48, i);
        rt_give(r3, y3 + i0 * 48, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y2[i0] = -(s0 / x5 * x2) / x6 * 0.020833334f;
    }
}
RT_ENTRY(head_div_backward);

// adamw ln.weight, ln.bias and 6 more: mul sub add sqrt div; 48 elements
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

    if (i >= 48)
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
RT_ENTRY(adamw);

// ln: mul add; 64 rows of 48
// a thread has 4 neighbours
extern "C" __global__ void __launch_bounds__(256)
ln_add_backward(const float *x0_at, const float *x1, const float *x2, const float *x3_at,
    float *y0)
{
    const int e = (int)rt_thread();

    if (e >= 768)
        return;
    const int64_t i0 = e / 12;
    const int i = e % 12 * 4;
    const float x0 = x0_at[i0];
    const float x3 = x3_at[i0];
    float a1[4], a2[4], r0[4];
    rt_take(a1, x1 + i0 * 48, i);
    rt_take(a2, x2 + i0 * 48, i);
    RT_UNROLL for (int j = 0; j < 4; j++)
        r0[j] = a2[j] + x0 * a1[j] + x0 * a1[j] + x3;
    rt_give(r0, y0 + i0 * 48, i);
}
RT_ENTRY(ln_add_backward);

// grad_norm head.weight, wte.weight: mul reduce_sum; 96 rows of 48
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 96)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 48) {
        float a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum);

// adamw head.weight, blocks.{}.out.weight and 7 more: mul sub add sqrt div
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

// blocks.{}.out: cast; 3072 elements; x0 blocks.{}.ln1
// a thread has 8 neighbours
extern "C" __global__ void __launch_bounds__(256)
out_backward(const float *x0, RtBf16 *y0)
{
    const int64_t i = 8 * rt_thread();

    if (i >= 3072)
        return;
    float a0[8];
    RtBf16 r0[8];
    rt_take(a0, x0, i);
    RT_UNROLL for (int j = 0; j < 8; j++)
        r0[j] = rt_to_bf16(a0[j]);
    rt_give(r0, y0, i);
}
RT_ENTRY(out_backward);

// blocks.{}.fc: cast add div erf mul neg exp; 64 rows of 192; x0 blocks.{}.out
// a thread has 8 neighbours
extern "C" __global__ void __launch_bounds__(256)
fc_backward(const RtBf16 *x0, const RtBf16 *x1, const float *bias, RtBf16 *y0, RtBf16 *y1)
{
    const int e = (int)rt_thread();

    if (e >= 1536)
        return;
    const int64_t i0 = e / 24;
    const int i = e % 24 * 8;
    float a2[8];
    RtBf16 a0[8], a1[8], r0[8], r1[8];
    rt_take(a0, x0 + i0 * 192, i);
    rt_take(a1, x1 + i0 * 192, i);
    rt_take(a2, bias, i);
    RT_UNROLL for (int j = 0; j < 8; j++) {
        const float v1 = rt_from_bf16(a0[j]);
        const float v2 = rt_from_bf16(a1[j]) + a2[j];
        const float v3 = v2 / 1.41421354f;
        const float v4 = 0.5f * (rt_erff(v3) + 1.0f);
        const float v5 = v1 * v4 + v1 * v2 * 0.5f * (rt_exp_lowf(-(v3 * v3)) * 1.12837923f) /
            1.41421354f;
        r1[j] = rt_to_bf16(v5);
        r0[j] = rt_to_bf16(v2 * v4);
    }
    rt_give(r0, y0 + i0 * 192, i);
    rt_give(r1, y1 + i0 * 192, i);
}
RT_ENTRY(fc_backward);

// grad_norm blocks.{}.out.weight: mul reduce_sum; 9216 elements; x0 blocks.{}.out
// a block has a row, 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(1024, 1)
grad_norm_reduce_sum_2(const float *x0, float *y0)
{
    __shared__ Shared<float[RT_WARP]> room_f32;
    float s0 = 0;
    for (int i = 4 * (int)threadIdx.x; i < 9216; i += 4096) {
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
RT_ENTRY(grad_norm_reduce_sum_2);

// grad_norm blocks.{}.fc.bias: mul reduce_sum; 192 elements; x0 blocks.{}.fc
// a warp has a row, 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_3(const float *x0, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    float s0 = 0;
    for (int i = 4 * ((int)threadIdx.x % RT_WARP); i < 192; i += 128) {
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
RT_ENTRY(grad_norm_reduce_sum_3);

// blocks.{}.ln2: cast mul reduce_sum; 64 rows of 48; x0 blocks.{}.fc
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
ln2_backward(const RtBf16 *x0, const float *weight, float *y0, float *y1, float *y2)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 48) {
        float a1[4], r0[4], r1[4];
        RtBf16 a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        rt_take(a1, weight, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = rt_from_bf16(a0[j]);
            const float v2 = v1 * a1[j];
            s0 += v2;
            r0[j] = v1;
            r1[j] = v2;
        }
        rt_give(r0, y0 + i0 * 48, i);
        rt_give(r1, y1 + i0 * 48, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y2[i0] = s0;
    }
}
RT_ENTRY(ln2_backward);

// blocks.{}.ln1: mul add sqrt div neg cast sub reduce_sum; 64 rows of 48
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
ln1_backward(const float *x0_at, const float *x1_at, const RtBf16 *x2, const float *bias,
    const float *x4, const float *x5_at, const float *x6, const float *x7, const float *weight,
    const float *x9, const float *x10_at, float *y0, float *y1, float *y2, float *y3, float *y4,
    RtBf16 *y5, float *y6)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x0 = x0_at[i0];
    const float x1 = x1_at[i0];
    const float x5 = x5_at[i0];
    const float x10 = x10_at[i0];
    float s0 = 0;
    const float v1 = rt_sqrtf(x0 * 0.020833334f + 9.99999975e-06f);
    const float v2 = 1.0f / v1;
    const float v3 = v1 * 2.0f;
    if (i < 48) {
        float a3[4], a4[4], a6[4], a7[4], a8[4], a9[4], r1[4], r2[4], r3[4], r6[4];
        RtBf16 a2[4], r5[4];
        rt_take(a2, x2 + i0 * 48, i);
        rt_take(a3, bias, i);
        rt_take(a4, x4 + i0 * 48, i);
        rt_take(a6, x6 + i0 * 48, i);
        rt_take(a7, x7 + i0 * 48, i);
        rt_take(a8, weight, i);
        rt_take(a9, x9, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v4 = a4[j] + (rt_from_bf16(a2[j]) + a3[j]) - x5;
            const float v5 = v4 * v2;
            const float v6 = a6[j] * v5;
            const float v7 = a7[j] * v2;
            s0 += a7[j] * v4;
            const RtBf16 v8 = rt_to_bf16(v5 * a8[j] + a9[j]);
            r6[j] = a4[j] - x10;
            r1[j] = v4;
            r2[j] = v6;
            r3[j] = v7;
            r5[j] = v8;
        }
        rt_give(r1, y1 + i0 * 48, i);
        rt_give(r2, y2 + i0 * 48, i);
        rt_give(r3, y3 + i0 * 48, i);
        rt_give(r5, y5 + i0 * 48, i);
        rt_give(r6, y6 + i0 * 48, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = -(x1 * v2) * 0.020833334f;
        y4[i0] = -(s0 / v1 * v2) / v3 * 0.020833334f;
    }
}
RT_ENTRY(ln1_backward);

// blocks.{}.proj: mul add cast; 64 rows of 48
// a thread has 8 neighbours
extern "C" __global__ void __launch_bounds__(256)
proj_backward(const float *x0_at, const float *x1, const float *x2, const float *x3,
    const float *x4_at, float *y0, RtBf16 *y1)
{
    const int e = (int)rt_thread();

    if (e >= 384)
        return;
    const int64_t i0 = e / 6;
    const int i = e % 6 * 8;
    const float x0 = x0_at[i0];
    const float x4 = x4_at[i0];
    float a1[8], a2[8], a3[8], r0[8];
    RtBf16 r1[8];
    rt_take(a1, x1 + i0 * 48, i);
    rt_take(a2, x2 + i0 * 48, i);
    rt_take(a3, x3 + i0 * 48, i);
    RT_UNROLL for (int j = 0; j < 8; j++) {
        const float v1 = a3[j] + (a2[j] + x0 * a1[j] + x0 * a1[j]) + x4;
        r1[j] = rt_to_bf16(v1);
        r0[j] = v1;
    }
    rt_give(r0, y0 + i0 * 48, i);
    rt_give(r1, y1 + i0 * 48, i);
}
RT_ENTRY(proj_backward);

// grad_norm blocks.{}.fc.weight: mul reduce_sum; 192 rows of 48; x0 blocks.{}.fc
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_4(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 192)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 48) {
        float a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_4);

// grad_norm blocks.{}.proj.weight: mul reduce_sum; 192 rows of 12; x0 blocks.{}.proj
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_5(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 192)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 12) {
        float a0[4];
        rt_take(a0, x0 + i0 * 12, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_5);

// grad_norm blocks.{}.qkv.bias: mul reduce_sum; 144 elements; x0 blocks.{}.qkv
// a warp has a row, 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_6(const float *x0, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    float s0 = 0;
    for (int i = 4 * ((int)threadIdx.x % RT_WARP); i < 144; i += 128) {
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
RT_ENTRY(grad_norm_reduce_sum_6);

// blocks.{}.ln1: cast mul reduce_sum; 64 rows of 48; x0 blocks.{}.qkv
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
ln1_reduce_sum_backward(const RtBf16 *x0, const float *weight, const float *x2, float *y0,
    float *y1, float *y2, float *y3)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0, s1 = 0;
    if (i < 48) {
        float a1[4], a2[4], r0[4], r1[4];
        RtBf16 a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        rt_take(a1, weight, i);
        rt_take(a2, x2 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = rt_from_bf16(a0[j]);
            const float v2 = v1 * a1[j];
            s0 += v2 * a2[j];
            s1 += v2;
            r0[j] = v1;
            r1[j] = v2;
        }
        rt_give(r0, y0 + i0 * 48, i);
        rt_give(r1, y1 + i0 * 48, i);
    }
    s0 = rt_warp_sum(s0);
    s1 = rt_warp_sum(s1);
    if (threadIdx.x % RT_WARP == 0) {
        y2[i0] = s0;
        y3[i0] = s1;
    }
}
RT_ENTRY(ln1_reduce_sum_backward);

// blocks.{}.ln1: mul add sqrt div neg cast; 64 rows of 48; x4 blocks.{}.qkv, x8 blocks.{}.ln2
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
ln1_div_backward(const float *x0_at, const float *x1_at, const float *x2_at, const float *x3,
    const float *x4, const float *x5, const float *weight, const float *bias, const float *x8,
    float *y0, RtBf16 *y1, float *y2)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x0 = x0_at[i0];
    const float x1 = x1_at[i0];
    const float x2 = x2_at[i0];
    const float v1 = rt_sqrtf(x0 * 0.020833334f + 9.99999975e-06f);
    const float v2 = 1.0f / v1;
    const float v3 = -(x1 / v1 * v2) / (v1 * 2.0f) * 0.020833334f;
    const float v4 = -(x2 * v2) * 0.020833334f;
    if (i < 48) {
        float a3[4], a4[4], a5[4], a6[4], a7[4], a8[4], r0[4], r2[4];
        RtBf16 r1[4];
        rt_take(a3, x3 + i0 * 48, i);
        rt_take(a4, x4 + i0 * 48, i);
        rt_take(a5, x5 + i0 * 48, i);
        rt_take(a6, weight, i);
        rt_take(a7, bias, i);
        rt_take(a8, x8 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v5 = a3[j] * v2;
            const float v6 = a4[j] * v5;
            const RtBf16 v7 = rt_to_bf16(v5 * a6[j] + a7[j]);
            r2[j] = a8[j] + (a5[j] * v2 + v3 * a3[j] + v3 * a3[j]) + v4;
            r0[j] = v6;
            r1[j] = v7;
        }
        rt_give(r0, y0 + i0 * 48, i);
        rt_give(r1, y1 + i0 * 48, i);
        rt_give(r2, y2 + i0 * 48, i);
    }
}
RT_ENTRY(ln1_div_backward);

// grad_norm blocks.{}.ln1.bias: mul reduce_sum add; 48 elements
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_add(const float *x0, const float *x1_at, float *y0)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    const float x1 = x1_at[0];
    float s0 = 0;
    if (i < 48) {
        float a0[4];
        rt_take(a0, x0, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[0] = s0 + x1;
    }
}
RT_ENTRY(grad_norm_add);

// grad_norm blocks.{}.qkv.weight: mul reduce_sum; 144 rows of 48; x0 blocks.{}.qkv
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
grad_norm_reduce_sum_7(const float *x0, float *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 144)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0;
    if (i < 48) {
        float a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j] * a0[j];
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y0[i0] = s0;
    }
}
RT_ENTRY(grad_norm_reduce_sum_7);

// grad_norm blocks.{}.out.bias: add; one number
// a thread has an element
extern "C" __global__ void __launch_bounds__(256)
grad_norm_add_2(const float *x0_at, const float *x1_at, const float *x2_at, const float *x3_at,
    const float *x4_at, const float *x5_at, const float *x6_at, const float *x7_at,
    const float *x8_at, const float *x9_at, const float *x10_at, float *y0)
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
    const float x6 = x6_at[0];
    const float x7 = x7_at[0];
    const float x8 = x8_at[0];
    const float x9 = x9_at[0];
    const float x10 = x10_at[0];
    float r0[1];
    r0[0] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10;
    rt_give(r0, y0, i);
}
RT_ENTRY(grad_norm_add_2);

// grad_norm wpe.weight: mul reduce_sum; 768 elements; x0 node_add
// a block has a row, 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(96, 5)
grad_norm_reduce_sum_8(const float *x0, float *y0)
{
    __shared__ Shared<float[RT_WARP]> room_f32;
    float s0 = 0;
    for (int i = 4 * (int)threadIdx.x; i < 768; i += 384) {
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
RT_ENTRY(grad_norm_reduce_sum_8);

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

// blocks.{}.qkv, head: reduce_sum mul sub compensate add sqrt div cast; 64 rows of 48; x0 blocks.{}
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
div_predict(const float *x0, const float *weight, const float *bias, RtBf16 *y0)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0, s1 = 0, s2 = 0;
    float a0[4];
    if (i < 48) {
        rt_take(a0, x0 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            s0 += a0[j];
    }
    s0 = rt_warp_sum(s0);
    const float v1 = s0 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++)
            s1 += v1 - a0[j];
    }
    s1 = rt_warp_sum(s1);
    const float v2 = v1 - s1 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v3 = a0[j] - v2;
            s2 += v3 * v3;
        }
    }
    s2 = rt_warp_sum(s2);
    const float v4 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
    if (i < 48) {
        float a1[4], a2[4];
        RtBf16 r0[4];
        rt_take(a1, weight, i);
        rt_take(a2, bias, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            r0[j] = rt_to_bf16((a0[j] - v2) * v4 * a1[j] + a2[j]);
        rt_give(r0, y0 + i0 * 48, i);
    }
}
RT_ENTRY(div_predict);

// blocks.{}.fc: cast add reduce_sum mul sub compensate sqrt div; 64 rows of 48
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
fc_predict(const RtBf16 *x0, const float *bias, const float *x2, const float *weight,
    const float *x4, float *y0, RtBf16 *y1)
{
    const int64_t i0 = rt_thread() / RT_WARP;

    if (i0 >= 64)
        return;
    const int i = 4 * ((int)threadIdx.x % RT_WARP);
    float s0 = 0, s1 = 0, s2 = 0;
    float r0[4];
    if (i < 48) {
        float a1[4], a2[4];
        RtBf16 a0[4];
        rt_take(a0, x0 + i0 * 48, i);
        rt_take(a1, bias, i);
        rt_take(a2, x2 + i0 * 48, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v1 = a2[j] + (rt_from_bf16(a0[j]) + a1[j]);
            s0 += v1;
            r0[j] = v1;
        }
        rt_give(r0, y0 + i0 * 48, i);
    }
    s0 = rt_warp_sum(s0);
    const float v2 = s0 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++)
            s1 += v2 - r0[j];
    }
    s1 = rt_warp_sum(s1);
    const float v3 = v2 - s1 * 0.020833334f;
    if (i < 48) {
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v4 = r0[j] - v3;
            s2 += v4 * v4;
        }
    }
    s2 = rt_warp_sum(s2);
    const float v5 = 1.0f / rt_sqrtf(s2 * 0.020833334f + 9.99999975e-06f);
    if (i < 48) {
        float a3[4], a4[4];
        RtBf16 r1[4];
        rt_take(a3, weight, i);
        rt_take(a4, x4, i);
        RT_UNROLL for (int j = 0; j < 4; j++)
            r1[j] = rt_to_bf16((r0[j] - v3) * v5 * a3[j] + a4[j]);
        rt_give(r1, y1 + i0 * 48, i);
    }
}
RT_ENTRY(fc_predict);

// cross_entropy: eq not cast reduce_sum lt le or and iota add mul select; 64 elements; x0 labels
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_predict(const int64_t *x0, uint8_t *y0, float *y1, int64_t *y2)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 1)
        return;
    const int e = 4 * ((int)threadIdx.x % RT_WARP);
    const int64_t i0 = e / 16;
    const int64_t i = e % 16;
    float s0 = 0;
    if (e < 64) {
        int64_t a0[4], r2[4];
        uint8_t r0[4];
        rt_take(a0, x0 + i0 * 16, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const uint8_t v1 = a0[j] == -100;
            const uint8_t v2 = !v1;
            s0 += (float)v2;
            const int64_t v3 = (int64_t)rt_add_int((int64_t)rt_add_int(i + j, 1),
                (int64_t)rt_mul_int(i0, 16));
            r2[j] = (v2 & ((a0[j] < 0) | (96 <= a0[j]))) ? v3 : 65;
            r0[j] = v1;
        }
        rt_give(r0, y0 + i0 * 16, i);
        rt_give(r2, y2 + i0 * 16, i);
    }
    s0 = rt_warp_sum(s0);
    if (threadIdx.x % RT_WARP == 0) {
        y1[0] = s0;
    }
}
RT_ENTRY(cross_entropy_predict);

// cross_entropy: cast sub exp reduce_sum log iota eq select; 64 rows of 96; x0 head, x2 labels
// a warp has a row, in 1 turn of 4 neighbours a thread
extern "C" __global__ void __launch_bounds__(256)
cross_entropy_log_predict(const RtBf16 *x0, const RtBf16 *x1_at, const int64_t *x2_at,
    const uint8_t *x3_at, float *y0, float *y1)
{
    const int64_t r = rt_thread() / RT_WARP;

    if (r >= 64)
        return;
    const int64_t i1 = r % 16;
    const int64_t i0 = r / 16;
    const int64_t i = 4 * ((int)threadIdx.x % RT_WARP);
    const RtBf16 x1 = x1_at[i0 * 16 + i1];
    const int64_t x2 = x2_at[i0 * 16 + i1];
    const uint8_t x3 = x3_at[i0 * 16 + i1];
    float s0 = 0, s1 = 0;
    const float v1 = rt_from_bf16(x1);
    if (i < 96) {
        float r0[4];
        RtBf16 a0[4];
        rt_take(a0, x0 + i0 * 1536 + i1 * 96, i);
        RT_UNROLL for (int j = 0; j < 4; j++) {
            const float v2 = rt_from_bf16(a0[j]);
            const float v3 = v2 - v1;
            s0 += rt_expf(v3);
            s1 += i + j == x2 ? v3 : 0.0f;
            r0[j] = v2;
        }
        rt_give(r0, y0 + i0 * 1536 + i1 * 96, i);
    }
    s0 = rt_warp_sum(s0);
    s1 = rt_warp_sum(s1);
    if (threadIdx.x % RT_WARP == 0) {
        y1[i0 * 16 + i1] = x3 ? 0.0f : rt_logf(s0) - s1;
    }
}
RT_ENTRY(cross_entropy_log_predict);

// The runtime's kernels.
#include "runtime/cuda/copy.cu"
#include "runtime/cuda/gather.cu"
#include "runtime/cuda/dot.cu"
#include "runtime/cuda/attention.cu"
#include "runtime/cuda/reduce.cu"
#include "runtime/cuda/attention_grad.cu"
#include "runtime/cuda/scatter.cu"
