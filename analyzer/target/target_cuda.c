// The target of GPUs: the kernels of runtime/cuda/, and text of generator/cuda/ for nvcc.
#include "analyzer/target/target.h"
#include "runtime/rt_cuda_workspace.h"

static int64_t dot_bytes(const Kernel *k, int threads)
{
    return rt_cuda_dot_workspace(&k->params.dot);
}

static int64_t conv_bytes(const Kernel *k, int threads)
{
    return rt_cuda_conv_workspace(&k->params.conv);
}

static int64_t attention_bytes(const Kernel *k, int threads)
{
    return rt_cuda_attention_workspace(&k->params.attention);
}

static int64_t reduce_bytes(const Kernel *k, int threads)
{
    return rt_cuda_reduce_workspace(&k->params.reduce);
}

static int64_t scatter_bytes(const Kernel *k, int threads)
{
    return rt_cuda_scatter_workspace(&k->params.gather);
}

static int64_t resample_bytes(const Kernel *k, int threads)
{
    return rt_cuda_resample_workspace(&k->params.resample);
}

static int64_t sums_bytes(const Kernel *k, int threads)
{
    return rt_cuda_sums_workspace(&k->params.sums);
}

// Exchanges between GPUs move pieces as they lie, or packed.
static int64_t exchange_bytes(const Kernel *k, int threads)
{
    return rt_cuda_exchange_workspace(&k->params.exchange, k->ranks);
}

// NCCL has no integers of 16 bits.
static bool takes_reduced(const Kernel *k)
{
    return k->params.exchange.type != RT_I16 && k->params.exchange.type != RT_U16;
}

enum { FIRST = 1, SECOND = 2, THIRD = 4 };  // operands
enum { ROW_BYTES = 16 };                    // that cuBLASLt loads at a time

#define HALVES "f32, f16 or bf16"
#define NO_HALVES "f32, f64, integers or bool"

static const char reduced_types[] = "floats, bool, and integers of 8, 32 and 64 bits";

static const TargetKernel kernels[] = {
    {"dot", kernel_takes_products, "one type of floats", dot_bytes, .row_bytes = ROW_BYTES},
    {"conv", kernel_takes_convolutions, HALVES, conv_bytes, FIRST | THIRD},
    {"conv_input_grad", kernel_takes_convolutions, HALVES, conv_bytes, FIRST | THIRD},
    {"conv_weight_grad", kernel_takes_convolutions, HALVES, conv_bytes, FIRST | SECOND},
    {"max_pool", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND},
    {"max_pool_grad", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND | THIRD},
    {"sum_pool", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND},
    {"sum_pool_grad", kernel_takes_f32, "f32", .channels_last = FIRST | SECOND},
    {"attention", kernel_takes_attention, HALVES, attention_bytes},
    {"attention_grad", kernel_takes_attention, HALVES, attention_bytes},
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
    {"dft", kernel_takes_floats, "one type, f32 or f64"},
    {"sums", .workspace = sums_bytes},
    {"all_gather", .workspace = exchange_bytes},
    {"all_reduce", takes_reduced, reduced_types},
    {"all_to_all", .workspace = exchange_bytes},
    {"reduce_scatter", takes_reduced, reduced_types, exchange_bytes},
    {"shard"},
    {"keep_one"},
    {"permute"},
};

const Target target_cuda = {
    .name = "cuda",
    .threads = 1,
    .kernel = kernels,
    .n_kernels = COUNT(kernels),
    .parallel_rows = 64,
    .few_elements = 1 << 15,
    .least_columns = 8,
    .reused_bytes = 32 << 20,
    .has_communicators = true,
    .spawns_ranks = true,
    .kernels_ending = "cu",
    .gpus = "sm_80,sm_90",
};
