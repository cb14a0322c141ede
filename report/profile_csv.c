// Writes a profile as a table of RFC 4180: a row for each statement and each buffer, and one for
// the arena at its peak.
#include <string.h>

#include "report/profile.h"

// The columns before those of the categories. A row leaves out what it doesn't have.
typedef struct CsvRow {
    const char *row;  // statement, buffer, arena
    int64_t number;
    const char *phase, *block, *name, *operators, *category;
    const StatementWork *work;
    int64_t times;
    int64_t bytes;         // of a buffer; in use while a statement runs; of the arena
    const Buffer *buffer;  // gives the first and last item, and the offset
    bool is_at_peak;
    const int64_t *of_kind;  // bytes by category
} CsvRow;

static const char head[] =
    "row,number,phase,block,name,operators,category,runs,flops,read,written,sent,seconds,bytes,"
    "first,last,offset,at_peak";

static void put_text(Text *t, const char *s)
{
    text_printf(t, ",");
    if (!s || !strpbrk(s, ",\"\r\n")) {
        text_printf(t, "%s", s ? s : "");
        return;
    }
    text_printf(t, "\"");
    for (; *s; s++) {
        if (*s == '"')
            text_put(t, s, 1);
        text_put(t, s, 1);
    }
    text_printf(t, "\"");
}

static void put_number(Text *t, double x)
{
    text_printf(t, ",");
    text_number(t, x);
}

static void put_integer(Text *t, bool is_there, int64_t x)
{
    text_printf(t, ",");
    if (is_there)
        text_printf(t, "%" PRId64, x);
}

static void put_work(const Profile *f, const CsvRow *r, Text *t)
{
    if (!r->work) {
        text_printf(t, ",,,,,,");
        return;
    }
    text_printf(t, ",%" PRId64, r->times);
    put_number(t, r->work->flops);
    put_number(t, r->work->read);
    put_number(t, r->work->written);
    put_number(t, r->work->sent);
    if (f->cluster)
        put_number(t, r->work->seconds);
    else
        text_printf(t, ",");
}

static void put_row(const Profile *f, const CsvRow *r, Text *t)
{
    const char *const texts[] = {r->phase, r->block, r->name, r->operators, r->category};
    const Buffer *b = r->buffer;
    bool has_range = b && b->kind != BUFFER_PERSISTENT;

    text_printf(t, "%s,%" PRId64, r->row, r->number);
    for (int i = 0; i < COUNT(texts); i++)
        put_text(t, texts[i]);
    put_work(f, r, t);
    put_integer(t, true, r->bytes);
    put_integer(t, has_range, has_range ? b->first : 0);
    put_integer(t, has_range, has_range ? b->last : 0);
    put_integer(t, b, b ? b->offset : 0);
    put_integer(t, true, r->is_at_peak);
    for (int k = 0; k < N_MEMORY_KINDS; k++)
        put_integer(t, r->of_kind, r->of_kind ? r->of_kind[k] : 0);
    text_printf(t, "\r\n");
}

static void put_statements(const Profile *f, Text *t)
{
    int set = (int)(f->s - f->p->set);

    for (int i = 0; i < f->s->n_items; i++) {
        const Item *it = &f->s->items[i];
        StatementWork w = profile_work(f, i);
        if (f->times[i])
            put_row(f,
                    &(CsvRow){.row = "statement",
                              .number = i,
                              .phase = profile_phase(f, it),
                              .block = profile_block(f, it),
                              .name = profile_item_name(f, it),
                              .operators = profile_operators(f, it),
                              .work = &w,
                              .times = f->times[i],
                              .bytes = f->p->arena_bytes - f->moment[i].bytes[MEMORY_GAPS],
                              .is_at_peak = f->peak.set == set && f->peak.item == i,
                              .of_kind = f->moment[i].bytes},
                    t);
    }
}

static void put_buffers(const Profile *f, Text *t)
{
    for (int i = 1; i < f->p->n_buffers; i++) {
        const Buffer *b = &f->p->buffers[i];
        const char *set = b->set == SET_TRAIN ? "training" : "prediction";
        int64_t of_kind[N_MEMORY_KINDS] = {0};
        if (b->kind != BUFFER_PERSISTENT && b->first < 0)  // its bytes are in another buffer
            continue;
        memory_kinds_add(f->p, &f->kinds, i, b->bytes, of_kind);
        put_row(f,
                &(CsvRow){.row = "buffer",
                          .number = i,
                          .phase = b->kind == BUFFER_PERSISTENT ? "always" : set,
                          .name = profile_buffer_name(f, i),
                          .category = memory_kind_names[f->kinds.of_buffer[i]],
                          .bytes = b->bytes,
                          .buffer = b,
                          .of_kind = b->slots.bytes ? of_kind : NULL,
                          .is_at_peak = buffer_is_live(b, f->peak.set, f->peak.item)},
                t);
    }
}

void profile_csv(const Profile *f, Text *t)
{
    text_printf(t, "%s", head);
    for (int k = 0; k < N_MEMORY_KINDS; k++)
        text_printf(t, ",%s", memory_kind_names[k]);
    text_printf(t, "\r\n");
    put_statements(f, t);
    put_buffers(f, t);
    put_row(f,
            &(CsvRow){.row = "arena",
                      .number = f->peak.item,
                      .phase = f->peak.set == SET_TRAIN ? "training" : "prediction",
                      .name = memory_where(f->arena, &f->p->set[f->peak.set], f->peak.item),
                      .bytes = f->p->arena_bytes,
                      .is_at_peak = 1,
                      .of_kind = f->peak.bytes},
            t);
}
