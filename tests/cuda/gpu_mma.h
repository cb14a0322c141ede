// Doubles of the functions of runtime/cuda/mma.cuh, on the CPU. A copy to shared memory that has
// begun writes bits of no number, and what it copies when the thread waits for it: so a race with
// either shows, and a wait that is missing.
#ifndef SHARDCC_TESTS_CUDA_GPU_MMA_H
#define SHARDCC_TESTS_CUDA_GPU_MMA_H

#include <array>
#include <vector>

#include "gpu.h"

// T is RtBf16 or RtF16, which headers of the kernels define later, as rt_value and rt_put.
template <class T> std::array<float, 2> gpu_halves(T, uint32_t word)
{
    return {rt_value(T{(uint16_t)word}), rt_value(T{(uint16_t)(word >> 16)})};
}

template <class T>
void rt_mma(T, float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, GPU_SITE)
{
    std::array<float, 2> mine[6];
    const int row = gpu::now.lane / 4, column = gpu::now.lane % 4 * 2;

    for (int i = 0; i < 6; i++)
        mine[i] = gpu_halves(T(), i < 4 ? a[i] : i == 4 ? b0 : b1);
    const gpu::Gift *all = gpu::gather(0xffffffffu, mine, sizeof mine, {file, line});
    for (int i = 0; i < 4; i++) {
        double total = (double)sum[i];
        for (int k = 0; k < 16; k++) {
            // Lane 4 row + t has the left factor's row, lane 4 column + t the right one's column.
            auto *left = reinterpret_cast<const float *>(&all[4 * row + k % 8 / 2]);
            auto *right = reinterpret_cast<const float *>(&all[4 * (column + i % 2) + k % 8 / 2]);
            total += (double)left[2 * (i / 2 + k / 8 * 2) + k % 2] *
                     (double)right[2 * (4 + k / 8) + k % 2];
        }
        sum[i] = (float)total;
    }
}

template <class T> uint32_t rt_pack(T, float first, float second)
{
    T low, high;

    rt_put(low, first);
    rt_put(high, second);
    return low.bits | (uint32_t)high.bits << 16;
}

template <bool IS_TRANSPOSED, size_t N>
void rt_load_matrices(uint32_t (&to)[4], Shared<uint32_t[N]> &row, int word, GPU_SITE)
{
    uint32_t mine[4];
    const int g = gpu::now.lane / 4, t = gpu::now.lane % 4;

    if (word % 4 || N % 4)
        gpu::fail({file, line}, "misaligned: a row of a matrix in shared memory");
    for (int i = 0; i < 4; i++)
        mine[i] = row[gpu::Index(word + i, file, line)];
    const gpu::Gift *all = gpu::gather(0xffffffffu, mine, sizeof mine, {file, line});
    auto half = [&](int matrix, int r, int c) {
        auto *words = reinterpret_cast<const uint32_t *>(&all[8 * matrix + r]);
        return words[c / 2] >> c % 2 * 16 & 0xffff;
    };
    for (int k = 0; k < 4; k++)
        to[k] = IS_TRANSPOSED ? half(k, 2 * t, g) | half(k, 2 * t + 1, g) << 16
                              : half(k, g, 2 * t) | half(k, g, 2 * t + 1) << 16;
}

namespace gpu
{
struct Copy {
    Slot<uint32_t> *to;
    uint32_t word;
    Site site;
};
// The groups of copies that a thread has begun; the last one isn't closed.
inline std::vector<std::vector<Copy>> &copies_of_thread()
{
    static std::vector<std::vector<Copy>> of[MAX_THREADS];
    static uint32_t epoch[MAX_THREADS];
    auto &mine = of[now.visit.thread];

    if (epoch[now.visit.thread] != now.block_epoch || mine.empty())
        mine.assign(1, {});
    epoch[now.visit.thread] = now.block_epoch;
    return mine;
}
}  // namespace gpu

template <size_t N>
void rt_copy_begin(Shared<uint32_t[N]> &row, int word, const void *from, int bytes, GPU_SITE)
{
    uint32_t words[4] = {};

    if (word % 4 || N % 4 || reinterpret_cast<uintptr_t>(from) % 16 || bytes < 0 || bytes > 16)
        gpu::fail({file, line}, "misaligned: a copy of %d bytes to shared memory", bytes);
    std::memcpy(words, from, (size_t)bytes);
    for (int i = 0; i < 4; i++) {
        gpu::Slot<uint32_t> &to = row.slot_at(gpu::Index(word + i, file, line));
        to.set(0xffffffff, {file, line});
        gpu::copies_of_thread().back().push_back({&to, words[i], {file, line}});
    }
}
inline void rt_copy_group() { gpu::copies_of_thread().emplace_back(); }
template <int N> void rt_copy_wait()
{
    auto &groups = gpu::copies_of_thread();

    while (groups.size() > N + 1) {
        for (const gpu::Copy &c : groups.front())
            c.to->set(c.word, c.site);
        groups.erase(groups.begin());
    }
}

inline float rt_exp2(float x)
{
    float y = std::exp2(x);

    return y < 0x1p-126f ? 0 : y;
}

inline float rt_larger(float a, float b) { return a != a || a > b ? a : b; }

#endif
