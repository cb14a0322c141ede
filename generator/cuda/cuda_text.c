// The text of programs for GPUs, and how they are built.
#include "generator/cuda/build.h"
#include "generator/cuda/group.h"
#include "generator/cuda/runtime_kernels.h"
#include "generator/kernel_call.h"

#define RT_FLAG(flag) flag,
static const char *const flags[] = {
#include "runtime/rt_flags.def"
    NULL};

static const char *const files[] = {"copy",      "cublaslt",     "cuda_device", "dims",    "graphs",
                                    "kernel",    "open_library", "launch",      "library", "matmul",
                                    "near_cpus", "tune",         NULL};

static const char *const collectives[] = {"collectives",      "host_collectives", "nccl",
                                          "nccl_collectives", "progress",         NULL};

static const KernelFile shared_files[] = {{"conv_input_grad", "conv"},
                                          {"conv_weight_grad", "conv"},
                                          {"grid_sample_grid_grad", "grid_sample"},
                                          {"grid_sample_input_grad", "grid_sample"},
                                          {"max_pool", "pool"},
                                          {"max_pool_grad", "pool"},
                                          {"pad", "copy"},
                                          {"sum_pool", "pool"},
                                          {"sum_pool_grad", "pool"},
                                          {0}};

static const char *const probe[] = {
    "probe/cuda/main.c",       "probe/cuda/collective_rates.c", "probe/cuda/gpu_links.c",
    "probe/cuda/plain_nccl.c", "probe/cuda/products.c",         "probe/cuda/rates.c",
    "probe/cuda/time_calls.c", "probe/probe_message.c",         "probe/probe_operands.c",
    "probe/probe_ranks.c",     "probe/probe_times.c",           NULL};
static const char *const probe_files[] = {"attention", "attention_grad", "dot", NULL};

const TargetText cuda_text = {
    .header = "rt_cuda.h",
    .device = "rt_cuda",
    .kernels_head =
        "// The kernels of fused groups, which the C text of the same name launches. A "
        "parameter is\n"
        "// named after the value that lies there: x0, x1 … are inputs, y0, y1 … "
        "results. A thread's\n"
        "// elements of them are a0, a1 … and r0, r1 … The kernels of operators are the "
        "runtime's, for the\n"
        "// types and the columns of attention listed here.\n",
    .make_functions = make_kernels,
    .print_functions = finish_kernels,
    .print_group = print_launch,
    .print_kernel = print_kernel,
    .flags = flags,
    .extension = "g++",
    .library = {.name = "CUDA 13",
                .flag = "-lcudart_static",
                .source = "a toolkit, or ./setup.sh --cuda",
                .file = "cuda/library.c"},
    .folder = "cuda",
    .files = files,
    .collectives = {"rt_cuda_collectives", collectives, "progress"},
    .shared_files = shared_files,
    .check_gpus = gpus_check,
    .build_kernels = build_kernels,
    .probe = {probe, "probe/cuda/kernels.cu", probe_files},
    .image = "RT_KERNELS(\"" IMAGE "\");\n",
    .make = {.variables = "CUDA ?= /usr/local/cuda\n",
             .flags = "-I$(CUDA)/include -DRT_CUDA_FOLDER='\"$(CUDA)\"' ",
             .link_flags = " -L$(CUDA)/lib64 -L$(CUDA)/lib",
             .made = " " IMAGE,
             .print_rule = print_make_rule}};
