// Prints calls of kernels. Parameters that grow with the layer or the shard are printed in place;
// the others are those of a kernel that is prepared once.
#include <string.h>

#include "generator/kernel_call.h"

enum { LABEL_ROOM = 40 };  // columns of a comment

static void add_places(Gen *g, const Item *it, Text *call)
{
    for (int k = 0; k < it->n_out; k++)
        text_printf(call, ", %s", place_text(g, &it->operands[it->n_in + k]));
    for (int k = 0; k < it->n_in; k++)
        text_printf(call, ", %s", it->operands[k].base ? place_text(g, &it->operands[k]) : "NULL");
}

// A field of a request that is printed, for print_terms.
typedef struct TermsPlace {
    Gen *g;
    const Item *it;
} TermsPlace;

// Prints a field that grows with the iteration, or by the place of the rank's shard:
// "layer + 3", "rt->shard[2].offset * 64".
static void print_terms(void *context, const Kernel *k, size_t at, int64_t x, Text *t)
{
    const TermsPlace *p = context;
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

void print_kernel(Gen *g, const Item *it, Text *t, int indent)
{
    const KernelDef *def = it->call.kernel.def;
    Text call = {0}, params = {0};

    if (it->call.slot)
        text_printf(&call, "rt_start(%s, %s, rt_%s, ", rank_text(g, it), slot_text(g, it),
                    def->name);
    else
        text_printf(&call, "rt_%s(%s, ", def->name, rank_text(g, it));
    kernel_print(&it->call.kernel, print_terms, &(TermsPlace){g, it}, &params);
    if (def->is_prepared) {
        char *key =
            arena_string(g->arena, "rt_%s_init(rt, %%, &(%s)%s);", def->name, def->type, params.s);
        int number = map_get(&g->kernels, key);
        if (!number) {
            number = ++g->n_kernels;
            map_set(&g->kernels, key, number);
            const char *percent = strchr(key, '%');
            print_labelled(g->init, 4,
                           arena_string(g->arena, "%.*s%d%s", (int)(percent - key), key, number - 1,
                                        percent + 1),
                           item_label(g, it, LABEL_ROOM));
        }
        text_printf(&call, "%d", number - 1);
    } else {
        text_printf(&call, "&(%s)%s", def->type, params.s);
    }
    text_free(&params);
    add_places(g, it, &call);
    text_printf(&call, ");");
    print_statement(g, it, t, indent, call.s);
    text_free(&call);
}
