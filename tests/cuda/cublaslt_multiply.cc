// The products of cuBLASLt's double, with plain loops.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/rt_half.h"
#include "tests/cuda/cublaslt_internal.h"

using namespace cublaslt;

namespace
{

enum : int64_t { PART = 256, SHORT_PART = 4 };  // terms of a sum

// A factor as tensor cores see it: with 10 bits of the fraction, rounded to even.
float rounded(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000) != 0x7f800000)
        bits = (bits + 0xfff + (bits >> 13 & 1)) & ~(uint32_t)0x1fff;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double factor(double x, const Product &) { return x; }
double factor(RtF16 x, const Product &) { return (double)rt_from_f16(x); }
double factor(RtBf16 x, const Product &) { return (double)rt_from_bf16(x); }
double factor(float x, const Product &p)
{
    return (double)(p.how.compute == RT_LT_COMPUTE_TF32 ? rounded(x) : x);
}

template <class S> void put(S &to, S sum) { to = sum; }
void put(RtF16 &to, float sum) { to = rt_to_f16(sum); }
void put(RtBf16 &to, float sum) { to = rt_to_bf16(sum); }

// Adds in the order of k, in f64 and in parts, whose sums round off less than one long sum. All
// algorithms but the first one have short parts, whose sums are rounded to S.
template <class S, class T, class Y>
void multiply(const Product &p, int algorithm, const T *a, const T *b, Y *d)
{
    const int64_t length = algorithm ? SHORT_PART : PART;
    Size s = p.size();
    int64_t m = (int64_t)s.m, n = (int64_t)s.n, terms = (int64_t)s.k;
    int64_t a_m = p.how.transposes_a ? p.a.leading : 1, a_k = p.how.transposes_a ? 1 : p.a.leading;
    int64_t b_k = p.how.transposes_b ? p.b.leading : 1, b_n = p.how.transposes_b ? 1 : p.b.leading;
    std::vector<double> sum(s.m), part(s.m);

    for (int64_t j = 0; j < n; j++) {
        sum.assign(s.m, 0);
        for (int64_t from = 0; from < terms; from += length) {
            part.assign(s.m, 0);
            for (int64_t k = from; k < std::min(from + length, terms); k++) {
                double x = factor(b[k * b_k + j * b_n], p);
                for (int64_t i = 0; i < m; i++)
                    part[(size_t)i] += factor(a[i * a_m + k * a_k], p) * x;
            }
            for (size_t i = 0; i < s.m; i++)
                sum[i] += algorithm ? (double)(S)part[i] : part[i];
        }
        for (int64_t i = 0; i < m; i++)
            put(d[i + j * p.d.leading], (S)sum[(size_t)i]);
    }
}

template <class S, class T, class Y>
void multiply_batch(const Product &p, int algorithm, const void *a, const void *b, void *d)
{
    for (int64_t i = 0; i < p.d.batches; i++)
        multiply<S>(p, algorithm, static_cast<const T *>(a) + i * p.a.stride,
                    static_cast<const T *>(b) + i * p.b.stride,
                    static_cast<Y *>(d) + i * p.d.stride);
}

auto *multiply_of(const Product &p)
{
    bool is_bf16 = p.a.type == RT_LT_R_16BF;

    if (width_of(p.a) != 2)
        return p.a.type == RT_LT_R_64F ? multiply_batch<double, double, double>
                                       : multiply_batch<float, float, float>;
    if (width_of(p.d) == 2)
        return is_bf16 ? multiply_batch<float, RtBf16, RtBf16>
                       : multiply_batch<float, RtF16, RtF16>;
    return is_bf16 ? multiply_batch<float, RtBf16, float> : multiply_batch<float, RtF16, float>;
}

}  // namespace

void cublaslt::multiply_all(const Product &p, int algorithm, const void *a, const void *b, void *d)
{
    multiply_of(p)(p, algorithm, a, b, d);
}
