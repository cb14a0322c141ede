// Programs of nets for the CPU.
#include "tests/nets/judge.h"

const NetsTarget nets_target = {
    .target = &target_cpu,
    .compile = "$NETS_CC -std=c11 -march=native -ffp-contract=off -fno-math-errno "
               "-fno-trapping-math -fopenmp-simd -Wall -Wextra -Werror -Iruntime "
               "-Drt_gradient=nets_gradient -shared "
               "-fPIC -o FILE.c.so FILE.c",
};
