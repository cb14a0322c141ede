// Prints a function whose parts run in the order of a table, some of them several times.
#include <string.h>

#include "generator/internal.h"

static bool has_once(const Gen *g, const CallPart *p)
{
    for (int i = p->begin; i < p->end; i++)
        if (g->s->items[i].is_once)
            return true;
    return false;
}

// Prints the part as a function, and returns a statement that calls it.
static const char *generate_part(Gen *g, const Function *f, const CallPart *p)
{
    const char *last = has_once(g, p) ? ", run->is_last" : "";
    Text body = {0};

    if (p->is_loop)
        return arena_string(g->arena, "%s(rt, m, run->layer%s);",
                            generate_loop_body(g, p->begin, f->timing, *last), last);
    const char *name =
        arena_string(g->arena, "stage%d_%s", p->stage, p->is_backward ? "backward" : "forward");
    int known = map_get(&g->functions, name);
    map_set(&g->functions, name, known + 1);
    if (known)
        name = arena_string(g->arena, "%s_%d", name, known + 1);
    generate_statements(g, p->begin, p->end, f->timing, &body);
    text_printf(g->bodies, "static void %s(Rt *rt, char *m%s)\n{\n", name,
                *last ? ", bool is_last" : "");
    text_put(g->bodies, body.s ? body.s : "", body.n);
    if (!body.n)
        text_printf(g->bodies, "    (void)rt;\n    (void)m;\n");
    text_printf(g->bodies, "}\n\n");
    text_free(&body);
    return arena_string(g->arena, "%s(rt, m%s);", name, last);
}

static void print_table(const Gen *g, const Function *f, Text *t)
{
    const Calls *x = f->calls;
    List l = {.t = t, .column = COLUMNS, .indent = 4, .between = ",", .end = ""};

    text_printf(t,
                "// The runs of %s: part, stage, layer, whether it is the stage's last run "
                "forward, and where\n// "
                "its slots are: handed, saved and scratch, or gradient and back_scratch.\n"
                "static const RtStageRun %s_runs[] = {",
                f->name, f->name);
    for (int i = 0; i < x->n_calls; i++) {
        const Call *c = &x->call[i];
        char *at = arena_string(g->arena, "%" PRId64 ", %" PRId64, c->at[0], c->at[1]);
        if (slots_of_part(&x->part[c->part]) > 2)
            at = arena_string(g->arena, "%s, %" PRId64, at, c->at[2]);
        list_add(&l, 0,
                 arena_string(g->arena, "{%d, %d, %d, %d, {%s}}", c->part, call_stage(x, c),
                              c->iteration, c->is_last, at));
    }
    text_printf(t, "};\n\n");
}

// Prints the loop over the table.
static void print_runs(const Gen *g, const Function *f, const char **call, Text *t)
{
    const Calls *x = f->calls;

    text_printf(t,
                "static void %s(Rt *rt, char *m)\n{\n    rt_runs_begin(rt);\n"
                "    for (size_t i = 0; i < sizeof %s_runs / sizeof *%s_runs; i++) {\n"
                "        const RtStageRun *run = &%s_runs[i];\n        switch (run->part) {\n",
                f->name, f->name, f->name, f->name);
    for (int i = 0; i < x->n_parts; i++) {
        bool is_backward = x->part[i].is_backward;
        Pool first = is_backward ? POOL_GRADIENT : POOL_HANDED;
        text_printf(t, "        case %d:\n", i);
        for (int k = 0; k < slots_of_part(&x->part[i]); k++)
            text_printf(t, "            %s[run->stage] = run->at[%d];\n", pool_name(first + k), k);
        text_printf(t, "            %s\n            break;\n", call[i]);
    }
    text_printf(t, "        }\n    }\n    rt_runs_end(rt);\n}\n\n");
}

void generate_calls(Gen *g, const Function *f)
{
    const Calls *x = f->calls;
    const char **call = arena_array(g->arena, const char *, x->n_parts);

    text_printf(g->bodies,
                "// Where the slots of each stage lie: what its forward part hands to the next one "
                "and saves for its\n// backward part, the gradient that the backward part hands to "
                "the stage before, and scratch.\n"
                "static int64_t handed[%d], saved[%d], scratch[%d], gradient[%d], "
                "back_scratch[%d];\n\n",
                x->n_stages, x->n_stages, x->n_stages, x->n_stages, x->n_stages);
    for (int i = 0; i < x->n_parts; i++)
        call[i] = generate_part(g, f, &x->part[i]);
    print_table(g, f, g->bodies);
    print_runs(g, f, call, g->bodies);
}
