// The text of programs for GPUs, and how they are built.
#include "generator/cuda/group.h"
#include "generator/kernel_call.h"
#include "generator/target_text.h"

#define RT_FLAG(flag) flag,
static const char *const flags[] = {
#include "runtime/rt_flags.def"
    NULL};

static const char *const files[] = {NULL};

const TargetText cuda_text = {
    .header = "rt_cuda.h",
    .device = "rt_cuda",
    .kernels_head = "// The kernels of fused groups, which the C text of the same name launches. A "
                    "parameter is\n"
                    "// named after the value that lies there: x0, x1 … are inputs, y0, y1 … "
                    "results. A thread's\n"
                    "// elements of them are a0, a1 … and r0, r1 …\n"
                    "#include \"runtime/cuda/group.cuh\"\n\n",
    .make_functions = make_kernels,
    .print_functions = finish_kernels,
    .print_group = print_launch,
    .print_kernel = print_kernel,
    .flags = flags,
    .extension = "C11",
    .library = {.name = "CUDA", .flag = "-lcudart_static", .package = "nvidia-cuda-toolkit"},
    .folder = "cuda",
    .files = files,
    .collectives = files};
