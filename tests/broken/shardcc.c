// Breaks lowering on purpose: the first group reads its first operand one element too far. The
// linker option --wrap=program_check makes the mistake happen just before the check; what the
// program stores follows from it, as from a mistake of lowering's own.
//
// Breaks the pass `patterns` too: it turns the first max into a min.
#include "lower/internal.h"

bool __wrap_program_check(Program *p, Diag *d);
bool __real_program_check(const Program *p, Diag *d);

bool __wrap_program_check(Program *p, Diag *d)
{
    Set *s = &p->set[p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT];

    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_GROUP && s->items[i].n_in) {
            s->items[i].operands[0].offset++;
            break;
        }
    program_finish(p);
    return __real_program_check(p, d);
}

bool __wrap_patterns(Graph *g, Diag *d);
bool __real_patterns(Graph *g, Diag *d);

bool __wrap_patterns(Graph *g, Diag *d)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (g->nodes[i].op == &op_max) {
            g->nodes[i].op = &op_min;
            break;
        }
    return __real_patterns(g, d);
}
