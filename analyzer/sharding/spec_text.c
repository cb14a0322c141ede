// Prints and reads specs: "[dp+tp,-] sum:pp".
#include <ctype.h>
#include <string.h>

#include "analyzer/sharding/sharding.h"

static const struct {
    const char *name;
    int at;
} kinds[] = {{"sum", SPEC_SUM}, {"max", SPEC_MAX}, {"min", SPEC_MIN}};

// ---- entries ----

// Groups the refined dims by own dims: entry e has the dims from first[e] to first[e + 1]. Returns
// false if the dims can't be grouped so.
static bool group_own(const Value *v, int first[MAX_RANK + 1])
{
    int k = 0;

    for (int e = 0; e < v->own_rank; e++) {
        int64_t size = 1, own = v->own_dim[e];
        first[e] = k;
        if (k < v->rank && v->dim[k] == own) {
            k++;
            continue;
        }
        while (k < v->rank && size < own)
            size *= v->dim[k++];
        if (size != own)
            return false;
    }
    for (; v->own_rank && k < v->rank && v->dim[k] == 1; k++)
        ;
    first[v->own_rank] = k;
    return k == v->rank;
}

// Returns how many entries a spec of `v` has, and sets `first` as group_own does.
static int entries_of(const Value *v, int first[MAX_RANK + 1])
{
    if (v->own_rank >= 0 && group_own(v, first))
        return v->own_rank;
    for (int k = 0; k <= v->rank; k++)
        first[k] = k;
    return v->rank;
}

// The dim that an entry without '.' means.
static int outermost(const Value *v, int first, int end)
{
    for (int k = first; k < end; k++)
        if (v->dim[k] != 1)
            return k;
    return first;
}

// ---- printing ----

static void print_dim(const Mesh *m, const Spec *s, int dim, Text *t)
{
    int axis[MAX_AXES], n = spec_axes(s, dim, axis);

    mesh_print_axes(m, axis, n, t);
    if (!n)
        text_put(t, "-", 1);
}

static void print_entry(const Mesh *m, const Value *v, const Spec *s, int first, int end, Text *t)
{
    int lead = outermost(v, first, end);
    bool is_bare = true;

    if (first == end) {
        text_put(t, "-", 1);
        return;
    }
    for (int a = 0; a < m->n_axes; a++)
        is_bare &= s->at[a] < first || s->at[a] >= end || s->at[a] == lead;
    if (is_bare) {
        print_dim(m, s, lead, t);
        return;
    }
    for (int k = first; k < end; k++) {
        text_put(t, ".", k > first);
        print_dim(m, s, k, t);
    }
}

void spec_print(const Mesh *m, const Value *v, const Spec *s, Text *t)
{
    int first[MAX_RANK + 1], n = entries_of(v, first);

    text_put(t, "[", 1);
    for (int e = 0; e < n; e++) {
        text_put(t, ",", e > 0);
        print_entry(m, v, s, first[e], first[e + 1], t);
    }
    text_put(t, "]", 1);
    for (int i = 0; i < COUNT(kinds); i++)
        for (int a = 0, found = 0; a < m->n_axes; a++)
            if (s->at[a] == kinds[i].at)
                found++ ? text_printf(t, "+%s", m->name[a])
                        : text_printf(t, " %s:%s", kinds[i].name, m->name[a]);
}

// ---- parsing ----

typedef struct SpecReader {
    const Mesh *m;
    const Value *v;
    const char *text, *at;
    Spec *s;
    Diag *d;
} SpecReader;

static bool PRINTF(2, 3) wrong(const SpecReader *r, const char *fmt, ...)
{
    char what[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    diag_error(r->d, "spec '%.200s': %s", r->text, what);
    return false;
}

static bool next_is(SpecReader *r, char c)
{
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool expect(SpecReader *r, char c)
{
    return next_is(r, c) || wrong(r, "expected '%c' at byte %td", c, r->at - r->text);
}

// Returns the length of the name that comes next.
static int word(const SpecReader *r)
{
    int n = 0;

    while (n < 100 && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_'))
        n++;
    return n;
}

// Reads axes joined by '+', which split dim `at` or are partial (`at` is SPEC_…).
static bool read_axes(SpecReader *r, int at)
{
    int level = 0;

    do {
        int n = word(r), a = 0;
        while (a < r->m->n_axes && (strncmp(r->m->name[a], r->at, (size_t)n) || r->m->name[a][n]))
            a++;
        if (!n)
            return wrong(r, "expected an axis at byte %td", r->at - r->text);
        if (a == r->m->n_axes)
            return wrong(r, "the mesh has no axis '%.*s'", n, r->at);
        if (r->s->at[a] != SPEC_REPLICATED)
            return wrong(r, "axis '%s' occurs twice", r->m->name[a]);
        r->s->at[a] = (int8_t)at;
        r->s->level[a] = (int8_t)(at >= 0 ? level++ : 0);
        r->at += n;
    } while (next_is(r, '+'));
    return true;
}

static bool read_entry(SpecReader *r, int first, int end)
{
    const char *begin = r->at;
    size_t length = strcspn(begin, ",]");
    bool is_bare = !memchr(begin, '.', length);

    if (next_is(r, '-') && is_bare)
        return true;
    r->at = begin;
    if (first == end)
        return wrong(r, "byte %td: a dim of size 1 can't be split", begin - r->text);
    if (is_bare)
        return read_axes(r, outermost(r->v, first, end));
    for (int k = first; k < end; k++)
        if ((k > first && !expect(r, '.')) || (!next_is(r, '-') && !read_axes(r, k)))
            return false;
    return true;
}

static bool read_entries(SpecReader *r)
{
    int first[MAX_RANK + 1], n = entries_of(r->v, first);

    if (!expect(r, '['))
        return false;
    int found = *r->at != ']';
    for (const char *c = r->at; *c && *c != ']'; c++)
        found += *c == ',';
    if (found != n)
        return wrong(r, "found %d dims, but the value has %d", found, n);
    for (int e = 0; e < n; e++)
        if ((e && !expect(r, ',')) || !read_entry(r, first[e], first[e + 1]))
            return false;
    return expect(r, ']');
}

// Reads sum:…, max:… or min:….
static bool read_partial(SpecReader *r)
{
    int n = word(r);

    for (int i = 0; i < COUNT(kinds); i++)
        if (n == 3 && !strncmp(r->at, kinds[i].name, 3)) {
            if (spec_partial(r->s) != SPEC_REPLICATED)
                return wrong(r, "a value can have one partial kind: sum, max or min");
            r->at += n;
            return expect(r, ':') && read_axes(r, kinds[i].at);
        }
    return wrong(r, "expected sum, max or min at byte %td", r->at - r->text);
}

bool spec_parse(const Mesh *m, const Value *v, const char *text, Spec *s, Diag *d)
{
    SpecReader r = {m, v, text, text, s, d};

    *s = spec_replicated();
    if (!read_entries(&r))
        return false;
    while (*r.at)
        if (!expect(&r, ' ') || !read_partial(&r))
            return false;
    return true;
}
