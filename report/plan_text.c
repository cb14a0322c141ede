// Prints plans for people: numbers, tables, and the most important lines first.
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

// ---- the head ----

// Prints the first input. Its type shows the batch size.
static void print_input(const PlanFile *f)
{
    for (int i = 0; i < f->n_values; i++)
        if (!strcmp(f->value[i].kind, "input")) {
            printf(", %s %s", f->value[i].name, f->value[i].type);
            return;
        }
}

static void print_mesh(const PlanFile *f)
{
    printf("%d ranks as ", f->ranks);
    for (int i = 0; i < f->n_axes; i++) {
        const PlanAxis *x = &f->axis[i];
        printf("%s%s=%d", i ? " x " : "", x->name, x->size);
        if (x->link)
            printf(" (%s)", x->link);
    }
    print_input(f);
    printf("\n");
}

static void print_step(Arena *a, const PlanFile *f)
{
    double cheapest = f->cheapest > 0 ? f->cheapest : f->seconds;
    double gap = cheapest > 0 ? (cheapest - f->bound) / cheapest : 0;

    printf("%-9s %s predicted = compute %s + communication %s", "step", time_text(a, f->seconds),
           time_text(a, f->compute), time_text(a, f->communication));
    printf("     ");
    if (f->cheapest > 0)
        printf("cheapest %s, ", time_text(a, f->cheapest));
    printf("bound %s, gap %.2g %%", time_text(a, f->bound), 100 * gap);
    if (f->meshes > 1)
        printf(", best of %d meshes", f->meshes);
    if (f->excluded)
        printf(" (%d excluded by their bounds)", f->excluded);
    if (f->left_out)
        printf(", %d meshes too large to search", f->left_out);
    printf("\n");
}

static void print_schedule(Arena *a, const PlanFile *f)
{
    if (!f->simulated)
        return;
    printf("%-9s %s = compute %s + exposed communication %s (%s hidden)     bound %s by node "
           "prices\n",
           "simulated", time_text(a, f->simulated), time_text(a, f->simulated - f->exposed),
           time_text(a, f->exposed), time_text(a, f->hidden), time_text(a, f->least));
}

static void print_memory(Arena *a, const PlanFile *f)
{
    Text t = {0};

    print_memory_parts(a, f, &t);
    printf("%-9s %s of %s a rank", "memory", bytes_text(a, (double)f->bytes),
           bytes_text(a, (double)f->memory));
    if (f->exchange_memory)
        printf(", which leaves %s for exchanges", bytes_text(a, (double)f->exchange_memory));
    if (f->target)
        printf(", for the target %s", f->target);
    if (f->threads)
        printf(", for %d thread%s", f->threads, f->threads > 1 ? "s" : "");
    printf("\n");
    printf("%-9s %s\n", "peak", t.s);
    text_free(&t);
}

static void print_recompute(Arena *a, const PlanFile *f)
{
    printf("%-9s %s", "recompute", f->recompute);
    if (strcmp(f->recompute, f->recompute_solved))
        printf(" (edited: all else is of %s)", f->recompute_solved);
    printf("\n");
    for (int i = 0; i < f->n_keep; i++)
        printf("%-9s %s\n", i ? "" : "again", plan_keep_text(a, &f->keep[i]));
    if (!plan_keeps_equal(a, f->keep, f->n_keep, f->keep_solved, f->n_keep_solved))
        printf("%-9s (edited: all else is of other layers or kernels)\n", f->n_keep ? "" : "again");
}

// Sorts presets: first those that fit, by seconds; then the others, by bytes.
static int by_seconds(const void *x, const void *y)
{
    const PlanPreset *a = x, *b = y;
    double one = a->fits ? a->seconds : (double)a->bytes;
    double other = b->fits ? b->seconds : (double)b->bytes;

    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    return one < other ? -1 : one > other;
}

static const char *rival_text(Arena *a, const PlanPreset *x)
{
    if (!x->fits)
        return arena_string(a, "%s does not fit (%s)", x->name, bytes_text(a, (double)x->bytes));
    if (x->simulated > 0)
        return arena_string(a, "%s %s (simulated %s)", x->name, time_text(a, x->seconds),
                            time_text(a, x->simulated));
    return arena_string(a, "%s %s", x->name, time_text(a, x->seconds));
}

static void print_rivals(Arena *a, const PlanFile *f)
{
    enum { MAX_RIVALS_SHOWN = 8, LINE_COLUMNS = 118 };
    PlanPreset *rival = arena_array(a, PlanPreset, f->n_rivals);
    int column = printf(f->n_rivals ? "%-10s" : "", "presets");

    for (int i = 0; i < f->n_rivals; i++)
        rival[i] = f->rival[i];
    if (f->n_rivals)
        qsort(rival, (size_t)f->n_rivals, sizeof *rival, by_seconds);
    for (int i = 0; i < f->n_rivals && i <= MAX_RIVALS_SHOWN; i++) {
        const char *text = i == MAX_RIVALS_SHOWN
                               ? arena_string(a, "%d more", f->n_rivals - MAX_RIVALS_SHOWN)
                               : rival_text(a, &rival[i]);
        bool wraps = column + (int)strlen(text) > LINE_COLUMNS;
        if (i)
            column += printf(wraps ? "," : ", ");
        if (wraps)
            column = printf("\n%10s", "");
        column += printf("%s", text);
    }
    if (f->n_rivals)
        printf("\n");
}

void plan_head(Arena *a, const char *name, const PlanFile *f)
{
    printf("%s   ", name);
    print_mesh(f);
    print_step(a, f);
    print_schedule(a, f);
    print_memory(a, f);
    print_recompute(a, f);
    print_rivals(a, f);
}

const char *block_name(Arena *a, const PlanFile *f, int n)
{
    const char *name = f->block[n - 1].name;

    return *name ? name : arena_string(a, "block %d", n);
}

// ---- tables ----

void columns_add(Columns *c, const char *text)
{
    *arena_push(c->arena, c->text, c->n_texts, c->cap_texts) = text ? text : "";
}

void columns_add_row(Columns *c, const char *const *cell)
{
    for (int i = 0; i < c->n_columns; i++)
        columns_add(c, cell[i]);
}

void columns_print(const Columns *c)
{
    int *width = arena_array(c->arena, int, c->n_columns), pad = 0;

    for (int i = 0; i < c->n_texts; i++) {
        int n = (int)strlen(c->text[i]), column = i % c->n_columns;
        width[column] = n > width[column] ? n : width[column];
    }
    for (int i = 0; i < c->n_texts; i++) {
        int column = i % c->n_columns, n = (int)strlen(c->text[i]);
        if (n)
            printf("%*s%s", pad, "", c->text[i]);
        pad = n ? width[column] - n + 2 : pad + width[column] + 2;
        if (column + 1 == c->n_columns) {
            printf("\n");
            pad = 0;
        }
    }
}
