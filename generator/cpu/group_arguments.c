// Finds the arguments that a function's calls share, and prints arguments.
#include <ctype.h>
#include <string.h>

#include "generator/cpu/group_arguments.h"
#include "generator/cpu/group_function.h"

// A function has a macro if it has so many calls, and so many arguments that are the same in all.
enum { LEAST_CALLS = 4, LEAST_SHARED = 3 };

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
    return f->n_calls >= LEAST_CALLS && n >= LEAST_SHARED && n < f->n_arguments;
}

static const char *macro_name(Gen *g, const GroupFunction *f)
{
    char *s = arena_copy(g->arena, f->name, strlen(f->name));

    for (char *c = s; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return identifier_take(&g->identifiers, s);
}

// "#define ADAMW(param, x2, exp_avg) param, m + ADAMW_SUB, x2, exp_avg, …".
static void print_macro(Gen *g, const GroupFunction *f)
{
    Text head = {0}, list = {0}, lines = {0};

    text_printf(&head, "#define %s(", f->macro);
    for (int i = 0; i < f->n_arguments; i++) {
        const char *own = f->argument_name[i];
        text_printf(&list, "%s%s", i ? ", " : "", f->shared[i] ? f->shared[i] : own);
        if (!f->shared[i])
            text_printf(&head, "%s%s", head.s[head.n - 1] == '(' ? "" : ", ", own);
    }
    text_printf(&head, ")");
    print_wrapped(&lines, 4, list.s);
    text_printf(g->macros, "%s", head.s);
    for (char *line = lines.s, *end; (end = strchr(line, '\n')); line = end + 1)
        text_printf(g->macros, " \\\n%.*s", (int)(end - line), line);
    text_printf(g->macros, "\n");
    text_free(&head);
    text_free(&list);
    text_free(&lines);
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
