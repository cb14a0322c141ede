// Prints which of the runtime's kernels a program needs: their files, and their variants. All
// variants of all kernels take nvcc a minute.
#include "generator/cuda/runtime_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "generator/kernel_files.h"
#include "runtime/rt_cuda_workspace.h"

typedef struct Variants {
    // By RtType: of operands, of products', of attention's without tensor cores and with them.
    bool has_type[RT_BOOL + 1], has_product[RT_BOOL + 1], has_attention[RT_BOOL + 1],
        has_tensor[RT_BOOL + 1];
    bool has_width[3];  // of attention, in tiles
} Variants;

static bool is_named(const Kernel *k, const char *begin)
{
    return strncmp(k->def->name, begin, strlen(begin)) == 0;
}

static void note(Variants *to, const Kernel *k)
{
    const RtAttention *p = &k->params.attention;
    bool is_attention = is_named(k, "attention");

    for (int i = 0; i < k->n_in + k->n_out; i++)
        to->has_type[k->type[i]] = true;
    if (is_attention || is_named(k, "dot") || is_named(k, "conv"))
        to->has_product[k->type[0]] = true;
    if (!is_attention)
        return;
    (rt_cuda_on_tensor_cores(p) ? to->has_tensor : to->has_attention)[k->type[0]] = true;
    to->has_width[rt_cuda_column_tiles(p->e)] = true;
    to->has_width[rt_cuda_column_tiles(p->f)] = true;
}

static Variants variants_of(const Program *p)
{
    Variants to = {0};

    for (int k = 0; k < N_SETS; k++)
        for (int i = 0; i < p->set[k].n_items; i++)
            if (p->set[k].items[i].kind == ITEM_KERNEL)
                note(&to, &p->set[k].items[i].call.kernel);
    to.has_type[RT_I64] |= to.has_type[RT_U64];
    to.has_type[RT_U8] |= to.has_type[RT_BOOL];
    return to;
}

// ---- GPUs ----

// A GPU of the list, which has been checked, that is older than sm_80; NULL: there is none.
static const char *find_old(const char *gpus)
{
    for (const char *p = gpus; *p; p += strcspn(p, ","), p += *p == ',')
        if (atoi(p + strlen("sm_")) < 80)
            return p;
    return NULL;
}

bool gpus_check(const Program *p, const char *gpus, Diag *d)
{
    const char *old = find_old(gpus);

    for (int k = 0; k < N_SETS && old; k++)
        for (int i = 0; i < p->set[k].n_items; i++) {
            const Item *it = &p->set[k].items[i];
            const Kernel *kernel = &it->call.kernel;
            if (it->kind != ITEM_KERNEL || !is_named(kernel, "attention") ||
                !rt_cuda_on_tensor_cores(&kernel->params.attention))
                continue;
            diag_error(
                d,
                "--gpu: attention of %s is for GPUs from sm_80 on, not for %.*s (--precision "
                "f32 is for all)",
                kernel->type[0] == RT_F16 ? "f16" : "bf16", (int)strcspn(old, ","), old);
            return false;
        }
    return true;
}

// ---- texts ----

typedef struct Entry {
    RtType type;
    const char *text;
} Entry;

// Prints the list of those entries whose type is there.
static void print_types(const bool *has_type, const char *name, const Entry *entries, Text *t)
{
    text_printf(t, "#define %s(X)", name);
    for (int i = 0; entries[i].text; i++)
        if (has_type[entries[i].type])
            text_printf(t, " X(%s)", entries[i].text);
    text_printf(t, "\n");
}

void print_variants(const Gen *g, Text *t)
{
    static const Entry types[] = {{RT_F32, "float, f32"},    {RT_F64, "double, f64"},
                                  {RT_I8, "int8_t, i8"},     {RT_I16, "int16_t, i16"},
                                  {RT_I32, "int32_t, i32"},  {RT_I64, "int64_t, i64"},
                                  {RT_U8, "uint8_t, u8"},    {RT_U16, "uint16_t, u16"},
                                  {RT_U32, "uint32_t, u32"}, {0}};
    static const Entry halves[] = {{RT_F16, "RtF16, f16"}, {RT_BF16, "RtBf16, bf16"}, {0}};
    static const Entry products[] = {
        {RT_F32, "float, f32"}, {RT_F16, "RtF16, f16"}, {RT_BF16, "RtBf16, bf16"}, {0}};
    Variants x = variants_of(g->p);

    print_types(x.has_type, "RT_CUDA_EACH_TYPE", types, t);
    if (x.has_type[RT_F16] || x.has_type[RT_BF16]) {
        print_types(x.has_type, "RT_CUDA_EACH_HALF", halves, t);
        print_types(x.has_product, "RT_CUDA_EACH_PRODUCT", products, t);
        print_types(x.has_attention, "RT_CUDA_EACH_ATTENTION", products, t);
        print_types(x.has_tensor, "RT_CUDA_EACH_TENSOR", halves, t);
    }
    text_printf(t, "#define RT_CUDA_EACH_WIDTH(X)");
    for (int i = 0; i < COUNT(x.has_width); i++)
        if (x.has_width[i])
            text_printf(t, " X(%d)", i);
    text_printf(t, "\n\n#include \"runtime/cuda/group.cuh\"\n\n");
}

static bool is_listed(const char *const *list, const char *file)
{
    while (*list && strcmp(*list, file))
        list++;
    return *list;
}

// The files that every program needs are host code, except copies.
void print_includes(const Gen *g, Text *t)
{
    const TargetText *target = g->target;
    Words files = kernel_files(g->arena, target, g->p, false);

    text_printf(t, "// The runtime's kernels.\n#include \"runtime/%s/copy.cu\"\n", target->folder);
    for (int i = 0; i < files.n; i++)
        if (!is_listed(target->files, files.word[i]))
            text_printf(t, "#include \"runtime/%s/%s.cu\"\n", target->folder, files.word[i]);
    if (g->o->transport)
        text_printf(t, "#include \"runtime/%s/%s.cu\"\n", target->folder,
                    target->collectives.kernels);
}
