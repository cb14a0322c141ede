// Prints the functions of one set: those whose items run once, in their order, and those with a
// table of calls.
#include "generator/internal.h"

static void generate_function(Gen *g, const Function *f)
{
    Text t = {0};

    if (f->calls) {
        generate_calls(g, f);
        return;
    }
    generate_statements(g, f->begin, f->end, f->timing, &t);
    text_printf(g->bodies, "static void %s(Rt *rt, char *m)\n{\n", f->name);
    if (!t.n)
        text_printf(g->bodies, "    (void)rt;\n    (void)m;\n");
    text_put(g->bodies, t.s ? t.s : "", t.n);
    text_printf(g->bodies, "}\n\n");
    text_free(&t);
}

void generate_functions(Gen *g)
{
    for (int i = 0; i < g->s->n_functions; i++)
        generate_function(g, &g->s->functions[i]);
}
