// The inputs of a node, and errors at it.
#include "frontend/internal.h"

bool op_error(Op *o, const char *fmt, ...)
{
    Text t = {0};
    Diag *d = o->x->diag;
    char message[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    diag_error(d, "node '%.200s' (%.100s): %s", o->g->source->name, o->node->op_type, message);
    for (int i = 0; i < o->n_in && i < 8; i++) {
        if (!arg(o, i))
            continue;
        t.n = 0;
        value_print_type(arg_value(o, i), &t);
        diag_note(d, "in %d  %.200s %s", i, arg_name(o, i), t.s);
    }
    if (*o->g->source->scope)
        diag_note(d, "from  %.200s", o->g->source->scope);
    text_free(&t);
    o->failed = true;
    return false;
}

ValueId arg(const Op *o, int i) { return i < o->n_in ? o->in[i].value : 0; }

const Value *arg_value(const Op *o, int i) { return value_of(o->g, arg(o, i)); }

const char *arg_name(const Op *o, int i)
{
    return i < (int)o->node->n_input ? o->node->input[i] : "";
}
