// Prints which bytes are in use over a step, and what holds them at the peak.
#include <stdlib.h>
#include <string.h>

#include "report/profile.h"

// ---- over the step ----

// Statements that follow each other in one loop, or outside of loops. A row of the table shows the
// one during which most bytes are in use.
typedef struct Section {
    int first, last, n, fullest;
} Section;

static int64_t used_at(const Profile *f, int item)
{
    return f->p->arena_bytes - f->moment[item].bytes[MEMORY_GAPS];
}

static bool belongs_to(const Profile *f, const Section *x, int item)
{
    enum { MAX_STATEMENTS = 8 };
    const Item *a = &f->s->items[x->last], *b = &f->s->items[item];

    return a->region == b->region && x->n < MAX_STATEMENTS;
}

static int find_sections(const Profile *f, Section *x)
{
    int n = 0;

    for (int i = 0; i < f->s->n_items; i++) {
        if (!f->times[i])
            continue;
        if (!n || !belongs_to(f, &x[n - 1], i))
            x[n++] = (Section){.first = i, .fullest = i};
        x[n - 1].last = i;
        x[n - 1].n++;
        if (used_at(f, i) > used_at(f, x[n - 1].fullest))
            x[n - 1].fullest = i;
    }
    return n;
}

static bool has_peak(const Profile *f, const Section *x)
{
    return &f->p->set[f->peak.set] == f->s && x->first <= f->peak.item && f->peak.item <= x->last;
}

static const char *bar(const Profile *f, int64_t bytes)
{
    enum { COLUMNS = 24 };
    static const char full[] = "########################";
    double part = (double)bytes / (double)f->p->arena_bytes;

    return arena_string(f->arena, "%.*s", (int)(COLUMNS * part + 0.5), full);
}

static void print_sections(const Profile *f)
{
    Arena *a = f->arena;
    Columns c = {.arena = a, .n_columns = 7};
    Section *x = arena_array(a, Section, f->s->n_items + 1);
    int n = find_sections(f, x);

    columns_add_row(&c, (const char *[]){"items", "phase", "block", "in use", "saved", "",
                                         "most while this runs"});
    for (int i = 0; i < n; i++) {
        int at = has_peak(f, &x[i]) ? f->peak.item : x[i].fullest;
        const Item *it = &f->s->items[at];
        columns_add_row(
            &c, (const char *[]){arena_string(a, "%d to %d", x[i].first, x[i].last),
                                 profile_phase(f, it), profile_block(f, it),
                                 bytes_text(a, (double)used_at(f, at)),
                                 bytes_text(a, (double)f->moment[at].bytes[MEMORY_SAVED]),
                                 bar(f, used_at(f, at)),
                                 arena_string(a, "%s%s: %s", has_peak(f, &x[i]) ? "peak: " : "",
                                              profile_item_name(f, it), profile_operators(f, it))});
    }
    columns_print(&c);
}

// The first loop of the backward part or, if it has none, its first item; -1: there is none.
static int backward_begin(const Set *s)
{
    int first = -1;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        if (it->kind == ITEM_LOOP && it->phase == BACKWARD)
            return i;
        first = first < 0 && item_is_backward(s, it) ? i : first;
    }
    return first;
}

static void print_saved(const Profile *f)
{
    int at = backward_begin(f->s);

    if (at < 0)
        return;
    printf("\nsaved         %s for the backward part, at item %d, its first %s\n",
           bytes_text(f->arena, (double)f->moment[at].bytes[MEMORY_SAVED]), at,
           f->s->items[at].kind == ITEM_LOOP ? "loop" : "statement");
}

// ---- at the peak ----

static void print_categories(const Profile *f)
{
    Arena *a = f->arena;
    const Set *s = &f->p->set[f->peak.set];
    const char *where = memory_where(a, s, f->peak.item);
    double all = (double)f->p->arena_bytes;
    Columns c = {.arena = a, .n_columns = 4};

    columns_add_row(&c, (const char *[]){"at the peak", "bytes", "", "of the arena"});
    for (int k = 0; k < N_MEMORY_KINDS; k++)
        if (f->peak.bytes[k])
            columns_add_row(&c,
                            (const char *[]){
                                memory_kind_names[k], arena_string(a, "%" PRId64, f->peak.bytes[k]),
                                bytes_text(a, (double)f->peak.bytes[k]),
                                arena_string(a, "%.1f %%", 100 * (double)f->peak.bytes[k] / all)});
    columns_add_row(&c, (const char *[]){"arena", arena_string(a, "%" PRId64, f->p->arena_bytes),
                                         bytes_text(a, all), "100.0 %"});
    printf("\npeak          item %d, %s\n", f->peak.item, where ? where : "the end");
    columns_print(&c);
}

typedef struct Held {
    int64_t bytes;
    int32_t buffer;
} Held;

static int by_bytes(const void *x, const void *y)
{
    const Held *a = x, *b = y;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return a->buffer - b->buffer;
}

static const char *range_text(const Profile *f, const Buffer *b)
{
    return b->kind == BUFFER_PERSISTENT ? "always"
                                        : arena_string(f->arena, "%d to %d", b->first, b->last);
}

static void print_buffers(const Profile *f)
{
    enum { MAX_BUFFERS = 20 };
    Arena *a = f->arena;
    Columns c = {.arena = a, .n_columns = 4};
    Held *held = arena_array(a, Held, f->p->n_buffers);
    int64_t others = 0;
    int n = 0;

    for (int i = 1; i < f->p->n_buffers; i++)
        if (buffer_is_live(&f->p->buffers[i], f->peak.set, f->peak.item))
            held[n++] = (Held){
                buffer_bytes_at(f->p, &f->p->buffers[i], f->peak.set, f->peak.item, f->peak.edge),
                i};
    qsort(held, (size_t)n, sizeof *held, by_bytes);
    columns_add_row(&c, (const char *[]){"bytes", "category", "items", "held by"});
    for (int i = 0; i < n && i < MAX_BUFFERS; i++)
        columns_add_row(&c, (const char *[]){bytes_text(a, (double)held[i].bytes),
                                             memory_kind_names[f->kinds.of_buffer[held[i].buffer]],
                                             range_text(f, &f->p->buffers[held[i].buffer]),
                                             profile_buffer_name(f, held[i].buffer)});
    for (int i = MAX_BUFFERS; i < n; i++)
        others += held[i].bytes;
    if (n > MAX_BUFFERS)
        columns_add_row(&c, (const char *[]){bytes_text(a, (double)others), "", "",
                                             arena_string(a, "%d others", n - MAX_BUFFERS)});
    printf("\n");
    columns_print(&c);
}

void profile_print_memory(const Profile *f)
{
    print_sections(f);
    print_saved(f);
    print_categories(f);
    print_buffers(f);
}
