// Finds the arguments that a function's calls share, and prints arguments.
#include <ctype.h>
#include <string.h>

#include "generator/group/arguments.h"
#include "generator/group/function.h"

// A function has a macro if it has so many calls, and so many arguments that are the same in all.
enum { MIN_CALLS = 4, MIN_SHARED = 3 };

void note_arguments(Gen *g, int function, const Arguments *x)
{
    GroupFunction *f = &g->function[function];

    if (!f->n_calls++) {
        f->shared = arena_array(g->arena, const char *, x->n);
        memcpy(f->shared, x->text, sizeof *x->text * (size_t)x->n);
        f->n_operands = x->n;
    }
    for (int i = 0; i < f->n_operands; i++)
        if (f->shared[i] && strcmp(f->shared[i], x->text[i]))
            f->shared[i] = NULL;
}

static bool has_macro(const GroupFunction *f)
{
    int n = 0;

    for (int i = 0; i < f->n_operands; i++)
        n += f->shared[i] != NULL;
    return f->n_calls >= MIN_CALLS && n >= MIN_SHARED && n < f->n_operands;
}

// "ADAMW_SHARED".
static const char *macro_name(Gen *g, const GroupFunction *f)
{
    char *s = arena_string(g->arena, "%s_SHARED", f->name);

    for (char *c = s; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return identifier_take(&g->identifiers, s);
}

static const char *argument_text(Gen *g, const GroupFunction *f, int i, const char *s)
{
    return arena_string(g->arena, ".%s = %s", f->operand_name[i], s);
}

// "#define ADAMW_SHARED .x1 = AT(ADAMW_SUB), .eps = AT(EPS)".
static void print_macro(Gen *g, const GroupFunction *f)
{
    List l = {.t = g->operands, .column = COLUMNS, .indent = 4, .between = ",", .end = " \\"};

    text_printf(g->operands, "#define %s", f->macro);
    for (int i = 0; i < f->n_operands; i++)
        if (f->shared[i])
            list_add(&l, 0, argument_text(g, f, i, f->shared[i]));
    text_printf(g->operands, "\n");
}

void print_argument_macros(Gen *g)
{
    for (int i = 0; i < g->n_groups; i++) {
        GroupFunction *f = &g->function[i];
        if (!has_macro(f))
            continue;
        f->macro = macro_name(g, f);
        print_macro(g, f);
    }
}

void print_arguments(Gen *g, int function, const Arguments *x, Text *t)
{
    const GroupFunction *f = &g->function[function];
    const char *before = "";

    for (int i = 0; i < x->n; i++) {
        if (f->macro && f->shared[i])
            continue;
        text_printf(t, "%s%s", before, argument_text(g, f, i, x->text[i]));
        before = ", ";
    }
    if (f->macro)
        text_printf(t, "%s%s", before, f->macro);
}
