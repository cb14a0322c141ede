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
        f->n_arguments = x->n;
    }
    for (int i = 0; i < f->n_arguments; i++)
        if (f->shared[i] && strcmp(f->shared[i], x->text[i]))
            f->shared[i] = NULL;
}

static bool has_macro(const GroupFunction *f)
{
    int n = 0;

    for (int i = 0; i < f->n_arguments; i++)
        n += f->shared[i] != NULL;
    return f->n_calls >= MIN_CALLS && n >= MIN_SHARED && n < f->n_arguments;
}

static const char *macro_name(Gen *g, const GroupFunction *f)
{
    char *s = arena_copy(g->arena, f->name, strlen(f->name));

    for (char *c = s; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return identifier_take(&g->identifiers, s);
}

// "#define ADAMW(param, x2, exp_avg)".
static const char *macro_head(Gen *g, const GroupFunction *f, const char *name)
{
    const char *s = arena_string(g->arena, "#define %s(", name), *before = "";

    for (int i = 0; i < f->n_arguments; i++)
        if (!f->shared[i]) {
            s = arena_string(g->arena, "%s%s%s", s, before, f->argument_name[i]);
            before = ", ";
        }
    return arena_string(g->arena, "%s)", s);
}

// "#define ADAMW(param, x2, exp_avg) param, m + ADAMW_SUB, x2, exp_avg, …".
static void print_macro(Gen *g, const GroupFunction *f, const char *head)
{
    List l = {.t = g->macros, .column = COLUMNS, .indent = 4, .between = ",", .end = " \\"};

    text_printf(g->macros, "%s", head);
    for (int i = 0; i < f->n_arguments; i++)
        list_add(&l, 0, f->shared[i] ? f->shared[i] : f->argument_name[i]);
    text_printf(g->macros, "\n");
}

void print_argument_macros(Gen *g)
{
    for (int i = 0; i < g->n_groups; i++) {
        GroupFunction *f = &g->function[i];
        if (!has_macro(f))
            continue;
        const char *name = macro_name(g, f), *head = macro_head(g, f, name);
        if (strlen(head) + strlen(" \\") > COLUMNS)
            continue;
        f->macro = name;
        print_macro(g, f, head);
    }
}

void print_arguments(Gen *g, int function, const Arguments *x, Text *t)
{
    const GroupFunction *f = &g->function[function];
    const char *before = "";

    if (f->macro)
        text_printf(t, "%s(", f->macro);
    for (int i = 0; i < x->n; i++) {
        if (f->macro && f->shared[i])
            continue;
        text_printf(t, "%s%s", before, x->text[i]);
        before = ", ";
    }
    if (f->macro)
        text_printf(t, ")");
}
