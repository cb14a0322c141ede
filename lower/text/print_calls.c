// Prints the calls of a function: "calls stages 5 pools 30", then its parts, then each call.
#include "lower/text/text.h"

static void print_part(const CallPart *p, Text *t)
{
    text_printf(t, "part %d to %d %s", p->begin, p->end - 1, p->is_backward ? "back" : "forth");
    text_printf(t, " stage %d", p->stage);
    if (p->is_loop)
        text_printf(t, p->stage_step > 0 ? " up" : " down");
    text_printf(t, "\n");
}

static void print_call(const Calls *x, const Call *c, Text *t)
{
    const CallPart *p = &x->part[c->part];

    text_printf(t, "call %d", c->part);
    if (p->is_loop)
        text_printf(t, " layer %d", c->iteration);
    if (c->is_last)
        text_printf(t, " last");
    for (int i = 0; i < slots_of_part(p); i++)
        text_printf(t, "%s%" PRId64, i ? " " : " @", c->at[i]);
    text_printf(t, "\n");
}

void print_calls(const Printer *r, const Calls *x)
{
    text_printf(r->t, "calls stages %d pools %d\n", x->n_stages, r->number[x->buffer]);
    for (int i = 0; i < x->n_parts; i++)
        print_part(&x->part[i], r->t);
    for (int i = 0; i < x->n_calls; i++)
        print_call(x, &x->call[i], r->t);
}
