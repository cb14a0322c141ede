// Prints calls of kernels. Parameters that grow with the layer or the shard are printed in place;
// the others are those of a kernel that is prepared once.
#include <string.h>

#include "generator/kernel_call.h"
#include "generator/kernel_sizes.h"

enum { LABEL_ROOM = 40 };  // columns of a comment

static void add_addresses(Gen *g, const Item *it, Text *call)
{
    for (int k = 0; k < it->n_out; k++)
        text_printf(call, ", %s", address_text(g, &it->operands[it->n_in + k]));
    for (int k = 0; k < it->n_in; k++)
        text_printf(call, ", %s",
                    it->operands[k].base ? address_text(g, &it->operands[k]) : "NULL");
}

// The request that is printed.
typedef struct PrintedKernel {
    Gen *g;
    const Item *it;
    const KernelSizes *sizes;
} PrintedKernel;

// Prints a field that grows with the iteration, or by the offset of the rank's shard:
// "layer + 3", "rt->shard[2].offset * 64".
static void print_terms(void *context, const Kernel *k, size_t at, int64_t x, Text *t)
{
    const PrintedKernel *p = context;
    const char *between = "";

    for (int i = 0; i < k->n_terms; i++) {
        const KernelTerm *m = &k->term[i];
        if (m->at != at)
            continue;
        text_printf(t, "%s", between);
        if (m->factor == TERM_LAYER)
            text_printf(t, "layer");
        else
            text_printf(t, "rt->shard[%d].offset", node_shard(p->g, p->it->nodes[0], m->factor));
        if (m->by != 1)
            text_printf(t, " * %" PRId64, m->by);
        between = " + ";
    }
    if (x)
        text_printf(t, " + %" PRId64, x);
}

static void print_size(void *context, size_t at, int64_t x, Text *t)
{
    const PrintedKernel *p = context;

    print_kernel_size(p->sizes, at, x, t);
}

// "{.m = B * T, .n = C}".
static const char *params_text(Gen *g, const Item *it)
{
    PrintedKernel printed = {g, it, find_kernel_sizes(g, it)};
    Text t = {0};

    kernel_print(&it->call.kernel, print_terms, print_size, &printed, &t);
    char *s = arena_copy(g->arena, t.s, t.n);
    text_free(&t);
    return s;
}

// The name of the kernel that an item prepares: "QKV_DOT_KERNEL" makes QKV_DOT. Items of equal
// requests share the first one's.
static const char *kernel_name(Gen *g, const Item *it)
{
    const KernelDef *def = it->call.kernel.def;
    Text request = {0};

    kernel_print_text(&it->call.kernel, &request);
    int number = map_get(&g->kernels, request.s);
    if (!number) {
        const char *result = operand_name(g, &it->operands[it->n_in]);
        const char *name =
            identifier_take(&g->identifiers, arena_string(g->arena, "%s_KERNEL", result));
        *arena_push(g->arena, g->kernel, g->n_kernels, g->cap_kernels) = name;
        map_set(&g->kernels, arena_copy(g->arena, request.s, request.n), number = g->n_kernels);
        print_labelled(g->init, 4,
                       arena_string(g->arena, "rt_%s_init(rt, %s, &(%s)%s);", def->name, name,
                                    def->type, params_text(g, it)),
                       item_label(g, it, LABEL_ROOM));
    }
    text_free(&request);
    return g->kernel[number - 1];
}

void print_kernel(Gen *g, const Item *it, Text *t, int indent)
{
    const KernelDef *def = it->call.kernel.def;
    Text call = {0};

    if (it->call.slot)
        text_printf(&call, "rt_start(%s, %s, rt_%s, ", rank_text(g, it), slot_text(g, it),
                    def->name);
    else
        text_printf(&call, "rt_%s(%s, ", def->name, rank_text(g, it));
    if (def->is_prepared)
        text_printf(&call, "%s", kernel_name(g, it));
    else
        text_printf(&call, "&(%s)%s", def->type, params_text(g, it));
    add_addresses(g, it, &call);
    text_printf(&call, ");");
    print_statement(g, it, t, indent, call.s);
    text_free(&call);
}
