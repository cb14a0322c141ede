// The target of abacuses, which have one kernel: they add.
#include "analyzer/target/target.h"

static bool takes_sums(const Kernel *k)
{
    return k->params.reduce.op == RT_SUM && kernel_takes_f32(k);
}

static const TargetKernel kernels[] = {{"reduce", takes_sums, "f32, and for sums"}};

const Target target_abacus = {
    .name = "abacus",
    .threads = 1,
    .kernel = kernels,
    .n_kernels = COUNT(kernels),
    .parallel_rows = 1,
    .few_elements = 1 << 15,
    .least_columns = 8,
    .reused_bytes = INT64_MAX,
};
