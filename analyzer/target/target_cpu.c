// The target of CPUs: the kernels of runtime/cpu/, and text of generator/cpu/ for C compilers with
// OpenMP.
#include "analyzer/target/target.h"
#include "runtime/rt_cpu.h"
#include "runtime/rt_workspace.h"

// ---- workspaces ----

static int64_t dot_bytes(const Kernel *k, int threads)
{
    return rt_dot_workspace(&k->params.dot, threads);
}

static int64_t conv_bytes(const Kernel *k, int threads)
{
    return rt_conv_workspace(&k->params.conv);
}

static int64_t attention_bytes(const Kernel *k, int threads)
{
    return rt_attention_workspace(&k->params.attention, threads);
}

static int64_t attention_grad_bytes(const Kernel *k, int threads)
{
    return rt_attention_grad_workspace(&k->params.attention, threads);
}

static int64_t reduce_bytes(const Kernel *k, int threads)
{
    return rt_reduce_workspace(&k->params.reduce);
}

static int64_t scatter_bytes(const Kernel *k, int threads)
{
    return rt_scatter_workspace(&k->params.gather);
}

static int64_t resample_bytes(const Kernel *k, int threads)
{
    return rt_resample_workspace(&k->params.resample);
}

static int64_t dft_bytes(const Kernel *k, int threads)
{
    return rt_dft_workspace(&k->params.dft, threads);
}

static int64_t exchange_bytes(const Kernel *k, int threads)
{
    return rt_exchange_workspace(&k->params.exchange, k->ranks);
}

static int64_t sums_bytes(const Kernel *k, int threads)
{
    return rt_sums_workspace(&k->params.sums, threads);
}

// ---- the tables ----

enum { FIRST = 1, SECOND = 2, THIRD = 4 };  // operands

#define HALVES "f32, f16 or bf16"
#define NO_HALVES "f32, f64, integers or bool"

static const TargetKernel kernels[] = {
    {"dot", kernel_takes_products, "one type of floats", dot_bytes},
    {"conv", kernel_takes_convolutions, HALVES, conv_bytes, FIRST | THIRD},
    {"conv_input_grad", kernel_takes_convolutions, HALVES, conv_bytes, FIRST | THIRD},
    {"conv_weight_grad", kernel_takes_convolutions, HALVES, conv_bytes, FIRST | SECOND},
    {"max_pool", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND},
    {"max_pool_grad", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND | THIRD},
    {"sum_pool", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND},
    {"sum_pool_grad", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND},
    {"attention", kernel_takes_attention, HALVES, attention_bytes},
    {"attention_grad", kernel_takes_attention, HALVES, attention_grad_bytes},
    {"reduce", .workspace = reduce_bytes},
    {"gather"},
    {"scatter", kernel_takes_no_halves, NO_HALVES, scatter_bytes},
    {"grid_sample", kernel_takes_floats, "one type, f32 or f64"},
    {"grid_sample_input_grad", kernel_takes_floats, "one type, f32 or f64"},
    {"grid_sample_grid_grad", kernel_takes_floats, "one type, f32 or f64"},
    {"arg_max", kernel_takes_no_halves, NO_HALVES},
    {"cumsum", kernel_takes_no_halves, NO_HALVES},
    {"top_k", kernel_takes_no_halves, NO_HALVES},
    {"resample", kernel_takes_floats, "one type, f32 or f64", resample_bytes},
    {"dft", kernel_takes_floats, "one type, f32 or f64", dft_bytes},
    {"all_gather", .workspace = exchange_bytes},
    {"all_reduce", .workspace = exchange_bytes},
    {"all_to_all", .workspace = exchange_bytes},
    {"reduce_scatter", .workspace = exchange_bytes},
    {"shard", .workspace = exchange_bytes},
    {"keep_one", .workspace = exchange_bytes},
    {"permute", .workspace = exchange_bytes},
    {"sums", .workspace = sums_bytes},
};

const Target target_cpu = {
    .name = "cpu",
    .threads = RT_MAX_THREADS,
    .kernel = kernels,
    .n_kernels = COUNT(kernels),
    .parallel_rows = 64,
    .few_elements = 1 << 15,
    .least_columns = 8,
    .reused_bytes = RT_STREAM_BYTES,
    .reads_before_writing = true,
};
