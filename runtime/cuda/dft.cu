// Discrete Fourier transforms: a block for a row, whose numbers stay in shared memory. Each pass
// transforms by one prime factor of n and sorts (Stockham's algorithm); a thread makes some of its
// numbers.
#include "runtime/cuda/cuda.cuh"
#include "runtime/rt_dft.h"

// RT_DFT_PART: terms of a sum that are added in sequence, so that long sums are as exact as others.
enum { RT_DFT_BLOCK = 128, RT_DFT_PART = 32 };

template <class T> __device__ __forceinline__ void rt_dft_row(const RtDft &p, T *y, const T *x)
{
    __shared__ Shared<T[2 * RT_DFT_MAX]> re, im;
    __shared__ Shared<T[RT_DFT_MAX]> wave_re, wave_im;
    const int n = (int)p.n, first = (int)threadIdx.x;
    int from = 0, to = RT_DFT_MAX;

    x += blockIdx.x * p.have * p.c;
    y += blockIdx.x * p.size * p.parts;
    for (int i = first; i < n; i += RT_DFT_BLOCK) {
        double c, s;
        rt_wave(i, n, &c, &s);
        wave_re[i] = (T)c;
        wave_im[i] = (T)(p.inverse ? s : -s);
        re[i] = i < p.have ? x[i * p.c] : 0;
        im[i] = i < p.have && p.c == 2 ? x[i * p.c + 1] : 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int m = n, step = 1; m > 1;) {
        const int radix = (int)rt_smallest_factor(m);
        m /= radix;
        for (int e = first; e < n; e += RT_DFT_BLOCK) {
            int q = e % step, k = e / step % radix, i = e / step / radix;
            T sum_re = 0, sum_im = 0;
#pragma unroll 1
            for (int begin = 0; begin < radix; begin += RT_DFT_PART) {
                T part_re = 0, part_im = 0;
#pragma unroll 1
                for (int j = begin; j < radix && j < begin + RT_DFT_PART; j++) {
                    int at = from + (i + m * j) * step + q, turn = j * k % radix * (n / radix);
                    T a = re[at], b = im[at], c = wave_re[turn], s = wave_im[turn];
                    part_re += a * c - b * s;
                    part_im += a * s + b * c;
                }
                sum_re += part_re;
                sum_im += part_im;
            }
            T c = wave_re[i * k * step], s = wave_im[i * k * step];
            re[to + e] = sum_re * c - sum_im * s;
            im[to + e] = sum_re * s + sum_im * c;
        }
        __syncthreads();
        step *= radix;
        to = from;
        from = RT_DFT_MAX - from;
    }
    for (int i = first; i < p.size; i += RT_DFT_BLOCK) {
        y[i * p.parts] = re[from + i];
        if (p.parts == 2)
            y[i * p.parts + 1] = im[from + i];
    }
}

#define RT_DFT(T, name)                                                                            \
    extern "C" __global__ void rt_cuda_dft_##name(RtDft p, T *y, const T *x)                       \
    {                                                                                              \
        rt_dft_row(p, y, x);                                                                       \
    }                                                                                              \
    RT_ENTRY(rt_cuda_dft_##name);
RT_DFT(float, f32)
RT_DFT(double, f64)
