// Finds the sections of buffers: the times that matter, merged, and bit sets over them.
#include <stdlib.h>

#include "packer/internal.h"

typedef struct TimeEvent {
    int64_t time;
    int buffer;  // its index in `chosen`
    bool is_end;
} TimeEvent;

// By time; at one time buffers end before others begin.
static int by_time(const void *a, const void *b)
{
    const TimeEvent *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->is_end != y->is_end ? y->is_end - x->is_end : x->buffer - y->buffer;
}

static void add_buffer(Sections *s, const LiveBuffer *b, int source)
{
    int i = s->n++;

    s->source[i] = source;
    s->bytes[i] = b->bytes;
    s->is_pinned[i] = b->is_pinned;
    s->pin[i] = b->is_pinned ? b->offset : 0;
    s->time[i] = b->upper - b->lower;
    s->first[i] = s->n_sections;
    s->unit = gcd(gcd(s->unit, b->bytes), s->pin[i]);
}

// A section ends where a buffer ends after another one has begun: only there the set of live
// buffers is larger than both before and after.
static void find_sections(Sections *s, const LiveBuffer *b, const int *chosen,
                          const TimeEvent *event, int n_events, int *number)
{
    bool has_grown = false;

    for (int i = 0; i < n_events; i++) {
        int at = event[i].buffer;
        if (!event[i].is_end) {
            number[at] = s->n;
            add_buffer(s, &b[chosen[at]], chosen[at]);
            has_grown = true;
            continue;
        }
        s->n_sections += has_grown;
        has_grown = false;
        s->last[number[at]] = s->n_sections - 1;
    }
}

static WordRange words_of(int first_bit, int last_bit)
{
    return (WordRange){first_bit / 64, last_bit / 64 + 1, NULL};
}

static void set_bit(WordRange *w, int bit)
{
    w->word[bit / 64 - w->first] |= UINT64_C(1) << bit % 64;
}

// Finds which words each bit set needs. By section, `begin` is the lowest buffer that is live in
// it, `end` the first buffer that begins after it.
static void measure_words(Sections *s, const int *begin, const int *end)
{
    for (int k = 0; k < s->n_sections; k++) {
        s->live[k] = words_of(begin[k], end[k] - 1);
        s->words += s->live[k].end - s->live[k].first;
    }
    for (int i = 0; i < s->n; i++) {
        s->near[i] = words_of(begin[s->first[i]], end[s->last[i]] - 1);
        s->words += s->near[i].end - s->near[i].first;
    }
}

static void fill_words(Arena *a, Sections *s, const int *begin, const int *end)
{
    for (int k = 0; k < s->n_sections; k++)
        s->live[k].word = arena_array(a, uint64_t, s->live[k].end - s->live[k].first);
    for (int i = 0; i < s->n; i++) {
        s->near[i].word = arena_array(a, uint64_t, s->near[i].end - s->near[i].first);
        for (int k = s->first[i]; k <= s->last[i]; k++)
            set_bit(&s->live[k], i);
        for (int j = begin[s->first[i]]; j < end[s->last[i]]; j++)
            if (j != i && s->first[j] <= s->last[i] && s->last[j] >= s->first[i])
                set_bit(&s->near[i], j);
    }
}

// Buffers are sorted by their first sections, so both ends of a section only move on.
static void make_words(Arena *a, Sections *s, int64_t most_words)
{
    int *begin = arena_array(a, int, s->n_sections), *end = arena_array(a, int, s->n_sections);

    for (int k = 0, from = 0, to = 0; k < s->n_sections; k++) {
        while (s->last[from] < k)
            from++;
        while (to < s->n && s->first[to] <= k)
            to++;
        begin[k] = from;
        end[k] = to;
    }
    s->live = arena_array(a, WordRange, s->n_sections);
    s->near = arena_array(a, WordRange, s->n);
    measure_words(s, begin, end);
    if (s->words <= most_words)
        fill_words(a, s, begin, end);
}

Sections sections_new(Arena *a, const LiveBuffer *b, const int *chosen, int n, int64_t most_words)
{
    Sections s = {0};
    TimeEvent *event = arena_array(a, TimeEvent, 2 * n);

    for (int i = 0; i < n; i++) {
        event[2 * i] = (TimeEvent){b[chosen[i]].lower, i, false};
        event[2 * i + 1] = (TimeEvent){b[chosen[i]].upper, i, true};
    }
    qsort(event, (size_t)(2 * n), sizeof *event, by_time);
    s.source = arena_array(a, int, n);
    s.bytes = arena_array(a, int64_t, n);
    s.is_pinned = arena_array(a, bool, n);
    s.pin = arena_array(a, int64_t, n);
    s.time = arena_array(a, int64_t, n);
    s.first = arena_array(a, int, n);
    s.last = arena_array(a, int, n);
    find_sections(&s, b, chosen, event, 2 * n, arena_array(a, int, n));
    make_words(a, &s, most_words);
    return s;
}
