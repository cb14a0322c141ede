// Generated text and kernels for CPUs: vectors, prefetching, streaming stores, sums in lanes,
// transposed strips, and fused groups over rows in threads.
#ifndef SHARDCC_RT_CPU_H
#define SHARDCC_RT_CPU_H

// Kernels and generated code are written for the widest vectors of the CPU: a tile of a product
// fills 24 of AVX-512's registers. gcc's -march of most such CPUs prefers vectors of half the
// width. clang has no pragma for it.
#if defined __AVX512F__ && !defined __clang__
#pragma GCC target("prefer-vector-width=512")
#endif

#include "rt_kernels.h"
#include "rt_math.h"
#include "rt_transpose.h"

extern const RtDevice rt_cpu;  // of libshardrt_cpu.a

// ---- loops ----
// RT_SIMD is written before a loop with independent iterations, RT_SIMD_SUM before one that adds to
// the named variables.
#ifdef _OPENMP
#define RT_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define RT_SIMD RT_PRAGMA(omp simd)
#define RT_SIMD_SUM(...) RT_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#else
#define RT_SIMD
#define RT_SIMD_SUM(...)
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // loops that clang doesn't vectorize are fine
#endif

// Prefetches `bytes` that a loop reads soon. Hardware prefetchers don't look far enough ahead if
// each element takes much computation.
static inline void rt_prefetch(const void *x, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)i));
}

// In the loops of fused groups: RT_PREFETCH prefetches the line of x that is read RT_AHEAD elements
// after x[i], RT_PREFETCH_ROW a whole row of n elements that far after this row. RT_AHEAD is about
// as far as memory needs to answer.
enum { RT_AHEAD = 1024 };
#define RT_PREFETCH(x, i) rt_prefetch((x) + (i) + RT_AHEAD, RT_LINE * (int64_t)sizeof *(x))
#define RT_PREFETCH_ROW(x, n) rt_prefetch((x) + RT_AHEAD, (n) * (int64_t)sizeof *(x))

// Sums in RT_LINE lanes, a number that is the same on all machines. rt_add_lanes adds a line of x;
// rt_total returns the sum of all lanes.
enum { RT_LINE = 16 };
static inline void rt_add_lanes(double *lane, const float *x)
{
    for (int l = 0; l < RT_LINE; l++)
        lane[l] += (double)x[l];
}
static inline double rt_total(double *lane)
{
    for (int n = RT_LINE / 2; n; n /= 2)
        for (int l = 0; l < n; l++)
            lane[l] += lane[l + n];
    return lane[0];
}

// A fused group over rows [first, last). Its operands, addresses and numbers, are a struct that has
// the function's name, so that equal groups share a function. rt_rows partitions the rows
// statically over the threads. `work`, the operations of one row, decides whether it wakes them.
typedef void RtRows(const void *operands, int64_t first, int64_t last);
void rt_rows(Rt *rt, RtRows *f, const void *operands, int64_t rows, int64_t work);
// The same, with the members of the struct as the last arguments.
#define RT_ROWS(rt, f, rows, work, ...) rt_rows(rt, f, &(const struct f){__VA_ARGS__}, rows, work)

// A fused group that also sums columns: the function adds to the sums in s, and rt_sums stores them
// in y.
typedef void RtSumRows(const void *operands, int64_t first, int64_t last, float *s);
void rt_sums(Rt *rt, RtSumRows *f, const void *operands, const RtSums *q, float *const *y);
// The same, with the addresses of the sums as a list in brackets, and the members of the operands'
// struct after it.
#define RT_SUMS(rt, f, outer, rows, width, work, sums, ...)                                        \
    rt_sums(rt, f, &(const struct f){__VA_ARGS__},                                                 \
            &(RtSums){outer, rows, width, RT_COUNT(RT_LIST sums), work},                           \
            (float *[]){RT_LIST sums})
#define RT_COUNT(...) (sizeof((float *[]){__VA_ARGS__}) / sizeof(float *))
#define RT_LIST(...) __VA_ARGS__

// Long rows are summed in runs: the elements from c to rt_run_end(c, to) are one. Sums in float are
// exact enough over a run, and the runs' sums are added in double.
enum { RT_RUN_ELEMENTS = 256 };
static inline int64_t rt_run_end(int64_t c, int64_t to)
{
    return c + RT_RUN_ELEMENTS < to ? c + RT_RUN_ELEMENTS : to;
}
#define RT_RUNS(c, end, from, to)                                                                  \
    for (int64_t c = from, end = rt_run_end(c, to); c < (to); c = end, end = rt_run_end(c, to))

// Streaming stores. A result larger than RT_STREAM_BYTES has left the caches by the time it is read
// again. A streaming store doesn't read the old bytes from memory first. Writes zeros if `from` is
// NULL. Other threads see the bytes after rt_stream_fence.
enum { RT_STREAM_BYTES = 64 << 20 };
void rt_stream_store(void *to, const void *from, int64_t bytes);
void rt_stream_fence(void);
// Streams `from` to the n elements y[i], y[i + 1] …
#define RT_STREAM(y, i, from, n) rt_stream_store((y) + (i), from, (n) * (int64_t)sizeof *(y))

// ---- threads ----
// For a program of its own to call first: executes the program again with threads that spin only
// briefly while they wait, unless the environment sets how long. libgomp reads this setting before
// main only. By default it spins for milliseconds, which made steps ten times slower on a shared
// machine.
void rt_limit_spinning(char **argv);
// Binds each thread to a CPU of its own, of the CPUs that the process may use, from number `first`
// on. Returns how many threads were bound: fewer than all if there are too few CPUs.
int rt_pin(int threads, int first);

#endif
