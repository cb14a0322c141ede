// A shardcc whose target is cuda. `--emit c` gives the C text, a line of dashes and the kernels.
// The linker puts target_cuda in target_cpu's place.
#include "generator/generator.h"

void __wrap_generate_c(const Program *p, const GenerateOptions *o, Text *t);

void __wrap_generate_c(const Program *p, const GenerateOptions *o, Text *t)
{
    GenerateOptions own = *o;
    Text kernels = {0};

    own.target = &cuda_text;
    generate_texts(p, &own, t, &kernels);
    text_printf(t, "---- kernels\n");
    text_put(t, kernels.s, kernels.n);
    text_free(&kernels);
}
