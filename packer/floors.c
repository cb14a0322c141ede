// Floors of sections: what placing a buffer and wasting bytes do to them, and how it is undone.
#include <string.h>

#include "packer/search.h"

static void set(PackSearch *x, int64_t *at, int64_t value)
{
    *arena_push(x->a, x->trail, x->n_trail, x->cap_trail) = (Change){at, *at};
    *at = value;
}

void floors_undo(PackSearch *x, int to)
{
    while (x->n_trail > to) {
        x->n_trail--;
        *x->trail[x->n_trail].at = x->trail[x->n_trail].before;
    }
}

// Finds the floor of a section, and how many of its buffers may begin there.
static void find_floor(PackSearch *x, int section)
{
    const WordRange *live = &x->s->live[section];
    int64_t floor = NO_FLOOR, n = 0;

    x->limits->work -= live->end - live->first;
    for (int k = live->first; k < live->end; k++)
        for (uint64_t bits = to_pack(x, live, k); bits; bits &= bits - 1) {
            int i = k * 64 + __builtin_ctzll(bits);
            if (x->low[i] < floor) {
                floor = x->low[i];
                n = 0;
            }
            n += x->low[i] == floor && can_begin(x, i);
            x->limits->work--;
        }
    if (floor != x->floor[section])
        set(x, &x->floor[section], floor);
    if (n != x->choices[section])
        set(x, &x->choices[section], n);
}

// Finds the stale floors among these sections. False if one of them can't hold its buffers.
static bool find_floors(PackSearch *x, int first, int last)
{
    bool fits = true;

    for (int k = first; k <= last; k++) {
        if (!x->is_stale[k])
            continue;
        x->is_stale[k] = false;
        if (!fits)
            continue;
        find_floor(x, k);
        fits = x->floor[k] == NO_FLOOR || x->left[k] <= x->capacity - x->floor[k];
        x->failures[k] += !fits;
    }
    return fits;
}

// The sections between which some are stale. All of [begin, end] are on the floor `level`, and
// marked.
typedef struct StaleRange {
    int first, last;
    int64_t level;
    int begin, end;
} StaleRange;

static void mark(PackSearch *x, int first, int last)
{
    if (first > last)
        return;
    memset(x->is_stale + first, true, (size_t)(last - first + 1));
    x->limits->work -= (last - first) / 16;
}

// Marks the sections stale whose floor buffer i is on, and where it moves or gets something to lie
// on. On the lowest floor these are all its sections, most of them marked already.
static void touch(PackSearch *x, int i, StaleRange *r)
{
    int first = x->s->first[i], last = x->s->last[i];

    r->first = first < r->first ? first : r->first;
    r->last = last > r->last ? last : r->last;
    if (x->low[i] == r->level) {
        mark(x, first, r->begin - 1);
        mark(x, r->end + 1, last);
        r->begin = first < r->begin ? first : r->begin;
        r->end = last > r->end ? last : r->end;
        return;
    }
    for (int k = first; k <= last; k++)
        if (x->floor[k] == x->low[i])
            x->is_stale[k] = true;
    x->limits->work -= (last - first) / 4;
}

bool floors_start(PackSearch *x)
{
    const Sections *s = x->s;

    x->n_trail = 0;
    memset(x->left, 0, (size_t)s->n_sections * sizeof *x->left);
    memset(x->joins, 0, (size_t)s->n_sections * sizeof *x->joins);
    memcpy(x->low, s->pin, (size_t)s->n * sizeof *x->low);
    memcpy(x->support, s->pin, (size_t)s->n * sizeof *x->support);
    for (int i = 0; i < s->n; i++) {
        x->unpacked[i / 64] |= UINT64_C(1) << i % 64;
        for (int k = s->first[i]; k <= s->last[i]; k++) {
            x->left[k] += s->bytes[i];
            x->joins[k] += k < s->last[i];
        }
    }
    memset(x->is_stale, true, (size_t)s->n_sections);
    return find_floors(x, 0, s->n_sections - 1);
}

// Raises the lowest offset of a buffer that is to be packed. False if it is pinned below.
static bool raise_buffer(PackSearch *x, int i, int64_t low)
{
    set(x, &x->low[i], low);
    return !x->s->is_pinned[i];
}

bool floors_put(PackSearch *x, int i)
{
    const Sections *s = x->s;
    const WordRange *near = &s->near[i];
    int first = s->first[i], last = s->last[i];
    int64_t end = x->low[i] + s->bytes[i];
    StaleRange r = {first, last, x->low[i], first, last};
    bool fits = true;

    mark(x, first, last);
    x->offset[i] = x->low[i];
    set(x, (int64_t *)&x->unpacked[i / 64],
        (int64_t)(x->unpacked[i / 64] & ~(UINT64_C(1) << i % 64)));
    for (int k = first; k <= last; k++) {
        set(x, &x->left[k], x->left[k] - s->bytes[i]);
        if (k < last)
            set(x, &x->joins[k], x->joins[k] - 1);
    }
    x->limits->work -= near->end - near->first + 2 * (last - first + 1);
    for (int k = near->first; k < near->end; k++)
        for (uint64_t bits = to_pack(x, near, k); bits; bits &= bits - 1) {
            int j = k * 64 + __builtin_ctzll(bits);
            if (x->support[j] < end)
                set(x, &x->support[j], end);
            x->limits->work--;
            if (x->low[j] <= end)
                touch(x, j, &r);
            if (x->low[j] < end)
                fits &= raise_buffer(x, j, end);
        }
    return find_floors(x, r.first, r.last) && fits;
}

bool floors_raise(PackSearch *x, int section, int64_t floor)
{
    const WordRange *live = &x->s->live[section];
    StaleRange r = {section, section, x->floor[section], section, section};
    bool fits = true;

    mark(x, section, section);
    for (int k = live->first; k < live->end; k++)
        for (uint64_t bits = to_pack(x, live, k); bits; bits &= bits - 1) {
            int i = k * 64 + __builtin_ctzll(bits);
            if (x->low[i] >= floor)
                continue;
            touch(x, i, &r);
            fits &= raise_buffer(x, i, floor);
        }
    return find_floors(x, r.first, r.last) && fits;
}
