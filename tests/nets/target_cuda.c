// Programs of nets for GPUs, on the tests' GPU, in orders of threads and streams that their seeds
// choose.
#include "tests/cuda/cudart.h"
#include "tests/nets/judge.h"

// Ranks that have a GPU each exchange by NCCL, those that share one through memory of the host.
static void begin(uint64_t seed)
{
    cudart_order((unsigned)(seed % 7), seed % 2);
    cudart_machine(seed % 3 ? 16 : 1, (size_t)1 << 30);
}

const NetsTarget nets_target = {
    .target = &target_cuda,
    .compile = "$NETS_CC -std=c11 -ffp-contract=off -fno-math-errno -fno-trapping-math -Iruntime "
               "-I" RT_CUDA_FOLDER
               " -Drt_gradient=nets_gradient -fPIC -c -o FILE.o FILE.c && " RT_CUDA_FOLDER
               "/bin/nvcc -I. -o FILE.cu.so FILE.cu && "
               "cc -shared -Wl,-z,lazy,--no-as-needed -o FILE.c.so FILE.o FILE.cu.so",
    .begin = begin,
};
