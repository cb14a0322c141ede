// Runs a kernel's function on both targets: the CPU's on memory of the host, the GPU's on the
// double of CUDA's runtime, there in three orders of blocks, threads and streams. The results of
// the three must be the same bits, and those of the CPU's function up to a limit.
#ifndef SHARDCC_TESTS_CUDA_BOTH_H
#define SHARDCC_TESTS_CUDA_BOTH_H

#include "runtime/cuda/cuda.h"
#include "tests/cuda/cudart.h"
#include "tests/runtime/kernels.h"

extern const RtDevice rt_cuda;  // rt_cuda.h declares it, whose macros are the text's

// A tensor's bytes as they are before the call. A result is compared as floats of its type, or bit
// by bit if `limit` is 0; elements of a result that the call doesn't write must stay the same. The
// CPU's function gets halves (the type says so, of inputs too) as f32. A result of halves must be
// one of its numbers, or one that is nearer than `limit` to it, rounded once.
typedef struct Operand {
    const void *data;
    int64_t bytes;
    bool is_result;
    RtType type;
    double limit;
} Operand;

// Calls a kernel with parameters `p` and operands `o`.
typedef void Call(Rt *rt, const void *p, void **o);

// Defines cpu_NAME and gpu_NAME, which call the function NAME of the targets. The arguments may
// name rt, p and o.
#define CALL_BOTH(name, ...)                                                                       \
    extern __typeof__(rt_##name) cuda_##name;                                                      \
    static void cpu_##name(Rt *rt, const void *p, void **o) { rt_##name(rt, __VA_ARGS__); }        \
    static void gpu_##name(Rt *rt, const void *p, void **o) { cuda_##name(rt, __VA_ARGS__); }

// The same for a kernel that is prepared, under number 1, and has two inputs.
#define CALL_BOTH_PREPARED(name)                                                                   \
    extern __typeof__(rt_##name##_init) cuda_##name##_init;                                        \
    extern __typeof__(rt_##name) cuda_##name;                                                      \
    static void cpu_##name(Rt *rt, const void *p, void **o)                                        \
    {                                                                                              \
        rt_##name##_init(rt, 1, p);                                                                \
        rt_##name(rt, 1, o[0], o[1], o[2]);                                                        \
    }                                                                                              \
    static void gpu_##name(Rt *rt, const void *p, void **o)                                        \
    {                                                                                              \
        cuda_##name##_init(rt, 1, p);                                                              \
        cuda_##name(rt, 1, o[0], o[1], o[2]);                                                      \
    }

// Parameters and workspace of each target. Those of CPUs say f32 where those of GPUs say halves.
void check_both(const char *what, Call *cpu, Call *gpu, const void *cpu_p, const void *gpu_p,
                const Operand *o, int n, int64_t cpu_bytes, int64_t gpu_bytes);
#define CHECK_HALVES(name, cpu_p, gpu_p, o, n, cpu_bytes, gpu_bytes)                               \
    check_both(#name, cpu_##name, gpu_##name, cpu_p, gpu_p, o, n, cpu_bytes, gpu_bytes)
#define CHECK_BOTH(name, p, o, n, cpu_bytes, gpu_bytes)                                            \
    CHECK_HALVES(name, p, p, o, n, cpu_bytes, gpu_bytes)

// Runs f(x) in a process of its own, which must end with status 1, and reads what it says.
void read_failure(void (*f)(const void *x), const void *x, char *text, size_t room);
// Checks that what it says has a text in it.
void check_failure(void (*f)(const void *x), const void *x, const char *says);

// The elements of an operand of f32 or halves as f32, aligned like the buffers of an arena. The
// caller frees them.
void *widen(const Operand *o);

// Random elements of a type; floats in [-1, 1), integers near 0, a NaN or infinity now and then if
// `has_odd`. The caller frees them.
void *draw_elements(Random *r, RtType t, int64_t n, bool has_odd);

#endif
