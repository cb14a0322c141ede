// Files of buffers: CSV as google/minimalloc has it. The file is untrusted.
#include <string.h>

#include "packer/packer.h"

typedef enum Column { COLUMN_ID, COLUMN_LOWER, COLUMN_UPPER, COLUMN_SIZE, COLUMNS } Column;

static const char *const names[COLUMNS] = {"id", "lower", "upper", "size"};

// Below it, sums of sizes and of two such sums are no problem.
static const int64_t most_bytes = INT64_C(1) << 62;

typedef struct Reader {
    File f;
    size_t at;
    int number;              // of the line
    Column column[COLUMNS];  // the index of each column
    char *cell[COLUMNS];     // of the line, as the columns are named
    Map ids;
    Arena *a;
    Diag *d;
} Reader;

static PRINTF(2, 3) bool fail(const Reader *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    diag_error(r->d, "line %d: %s", r->number, arena_vstring(r->a, fmt, args));
    va_end(args);
    return false;
}

// Takes the next line without its end; NULL at the end of the file.
static char *take_line(Reader *r)
{
    const char *s = (const char *)r->f.data + r->at;
    size_t left = r->f.size - r->at;

    if (!left)
        return NULL;
    const char *end = memchr(s, '\n', left);
    size_t n = end ? (size_t)(end - s) : left;
    r->at += n + (end != NULL);
    r->number++;
    return arena_copy(r->a, s, n && s[n - 1] == '\r' ? n - 1 : n);
}

// Cuts a line at its commas. Returns how many cells it has; those above COLUMNS aren't kept.
static int cut(Reader *r, const char *line, char **cell)
{
    int n = 0;

    for (const char *s = line;; s++) {
        size_t length = strcspn(s, ",");
        if (n < COLUMNS)
            cell[n] = arena_copy(r->a, s, length);
        n++;
        s += length;
        if (!*s)
            return n;
    }
}

static bool read_head(Reader *r, const char *line)
{
    char *cell[COLUMNS];
    bool is_there[COLUMNS] = {false};
    int n = line ? cut(r, line, cell) : 0;

    r->number += !line;
    for (int i = 0; i < n && i < COLUMNS; i++) {
        int k = 0;
        while (k < COLUMNS && strcmp(names[k], cell[i]) != 0)
            k++;
        if (k == COLUMNS)
            return fail(r, "column '%.40s' is none of id, lower, upper, size", cell[i]);
        if (is_there[k])
            return fail(r, "column '%s' is there twice", cell[i]);
        is_there[k] = true;
        r->column[i] = (Column)k;
    }
    for (int k = 0; k < COLUMNS; k++)
        if (!is_there[k])
            return fail(r, "there is no column '%s'", names[k]);
    return n == COLUMNS || fail(r, "there are %d columns, expected id, lower, upper, size", n);
}

static bool read_number(const Reader *r, Column c, int64_t *to)
{
    const char *s = r->cell[c];

    *to = 0;
    for (const char *p = s; *p >= '0' && *p <= '9'; p++)
        if (!mul_size(*to, 10, to) || !add_size(*to, *p - '0', to))
            return fail(r, "%s is %.40s, expected less than 2^63", names[c], s);
    if (!*s || s[strspn(s, "0123456789")])
        return fail(r, "%s is '%.40s', expected a whole number of at least %d", names[c], s,
                    c == COLUMN_SIZE);
    return true;
}

static bool read_id(Reader *r, int n)
{
    const char *id = r->cell[COLUMN_ID];

    if (!*id)
        return fail(r, "the id is empty");
    int32_t before = map_get(&r->ids, id);
    if (before)
        return fail(r, "id '%.40s' is also in line %d", id, before);
    map_set(&r->ids, id, n);
    return true;
}

static bool read_buffer(Reader *r, const char *line, LiveBuffer *to, int64_t *sum)
{
    char *cell[COLUMNS];
    int n = cut(r, line, cell);

    if (n != COLUMNS)
        return fail(r, "there are %d cells, expected %d", n, COLUMNS);
    for (int i = 0; i < COLUMNS; i++)
        r->cell[r->column[i]] = cell[i];
    if (!read_id(r, r->number) || !read_number(r, COLUMN_LOWER, &to->lower) ||
        !read_number(r, COLUMN_UPPER, &to->upper) || !read_number(r, COLUMN_SIZE, &to->bytes))
        return false;
    if (to->upper <= to->lower)
        return fail(r, "upper is %" PRId64 ", expected more than lower, %" PRId64, to->upper,
                    to->lower);
    if (!to->bytes)
        return fail(r, "size is 0, expected at least 1");
    if (!add_size(*sum, to->bytes, sum) || *sum >= most_bytes)
        return fail(r, "the sum of the sizes is 2^62 or more");
    return true;
}

// Counts the lines, so that the arrays needn't grow.
static int count_lines(File f)
{
    size_t n = 1;

    for (size_t i = 0; i < f.size; i++)
        n += f.data[i] == '\n';
    return n < MAX_BUFFERS + 2 ? (int)n : MAX_BUFFERS + 2;
}

bool buffer_table_parse(Arena *a, File f, BufferTable *t, Diag *d)
{
    Reader r = {.f = f, .ids = {.arena = a}, .a = a, .d = d};
    char *line = take_line(&r);
    int64_t sum = 0;
    int n_lines = count_lines(f);

    *t = (BufferTable){.buffer = arena_array(a, LiveBuffer, n_lines),
                       .line = arena_array(a, char *, n_lines)};
    if (memchr(f.data, 0, f.size)) {
        diag_error(d, "it has a byte 0, expected text");
        return false;
    }
    if (!read_head(&r, line))
        return false;
    t->line[0] = line;
    while ((line = take_line(&r))) {
        if (!*line && r.at == f.size)
            break;
        if (t->n == MAX_BUFFERS)
            return fail(&r, "there are more than %d buffers", MAX_BUFFERS);
        if (!read_buffer(&r, line, &t->buffer[t->n], &sum))
            return false;
        t->line[++t->n] = line;
    }
    return true;
}

bool buffer_table_read(Arena *a, const char *path, BufferTable *t, Diag *d)
{
    File f;

    if (!file_map(path, &f, d))
        return false;
    bool ok = buffer_table_parse(a, f, t, d);
    file_unmap(&f);
    return ok;
}

void buffer_table_print(const BufferTable *t, const int64_t *offset, Text *to)
{
    text_printf(to, "%s,offset\n", t->line[0]);
    for (int i = 0; i < t->n; i++)
        text_printf(to, "%s,%" PRId64 "\n", t->line[i + 1], offset[i]);
}
