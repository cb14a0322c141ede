// A shardcc whose lowering makes a mistake: the first group reads its first operand one element too
// far. It is linked with --wrap=program_check, so that the mistake is made just before the check.
#include "lower/lower.h"

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
    return __real_program_check(p, d);
}
