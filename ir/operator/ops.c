// The table of all operators, from ops.def.
#include "ir/ir.h"

#include <string.h>

const OpDef *const op_table[] = {
#define OP(name) &op_##name,
#include "ir/ops.def"
    NULL,
};

const OpDef *op_find(const char *name)
{
    for (int i = 0; op_table[i]; i++) {
        if (!strcmp(op_table[i]->name, name))
            return op_table[i];
    }
    return NULL;
}
