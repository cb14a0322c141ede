// The header of the text of a GPU's trainer: its description (rt_model.h), the calls of its
// statements (rt_kernels.h), and launches of the kernels of fused groups, which are in NAME.cu.
#ifndef SHARDCC_RT_CUDA_TEXT_H
#define SHARDCC_RT_CUDA_TEXT_H

#include <stddef.h>

#include "rt_half.h"
#include "rt_kernels.h"
#include "rt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

// The tables of runtime/cuda/, which is compiled with each program.
extern const RtDevice rt_cuda;
extern const RtCollectives rt_cuda_collectives;

// Puts a file, the fat binary with the program's kernels, into the program as rt_kernels.
#define RT_KERNELS(file)                                                                           \
    __asm__(".pushsection .rodata, \"a\"\n\t.balign 64\nrt_kernels:\n\t.incbin \"" file            \
            "\"\n\t.popsection\n");                                                                \
    extern const char rt_kernels[]

// Launches a kernel in `blocks` blocks of `threads` threads. Its parameters are a struct that has
// the kernel's name, of `bytes` bytes: addresses and numbers, each a word of 64 bits.
void rt_launch(Rt *rt, const char *kernel, int64_t blocks, int threads, const void *operands,
               size_t bytes);
// The same, with the members of the struct as the last arguments.
#define RT_LAUNCH(rt, kernel, blocks, threads, ...)                                                \
    rt_launch(rt, #kernel, blocks, threads, &(const struct kernel){__VA_ARGS__},                   \
              sizeof(struct kernel))

// The blocks of a kernel each of which has `each` of n units.
#define RT_BLOCKS(n, each) (((n) + (each)-1) / (each))

// Launches the kernel of a group that also sums columns, and a kernel that adds the partial sums of
// its blocks and stores them in y. The group's kernel gets Rt.workspace before its other
// parameters. A block has RT_SUM_THREADS threads.
enum { RT_SUM_THREADS = 256 };
void rt_launch_sums(Rt *rt, const char *kernel, const RtSums *q, float *const *y,
                    const void *operands, size_t bytes);
// The same, with the addresses of the sums as a list in brackets, and the members of the struct
// after it.
#define RT_LAUNCH_SUMS(rt, kernel, outer, rows, width, sums, ...)                                  \
    rt_launch_sums(rt, #kernel, &(RtSums){outer, rows, width, RT_COUNT(RT_LIST sums), 0},          \
                   (float *[]){RT_LIST sums}, &(const struct kernel){__VA_ARGS__},                 \
                   sizeof(struct kernel))
#define RT_COUNT(...) (sizeof((float *[]){__VA_ARGS__}) / sizeof(float *))
#define RT_LIST(...) __VA_ARGS__

#ifdef __cplusplus
}
#endif

#endif
