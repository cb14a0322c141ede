// Places buffers one by one, each at the lowest offset that is free for its time.
#include <string.h>

#include "packer/internal.h"

// A buffer that is placed. Its numbers are stored next to each other, since all of them are read
// for each later buffer.
typedef struct Placed {
    int64_t lower, upper;
    int64_t offset, end;
} Placed;

// The lowest offset where `b` overlaps none of `placed` (sorted by offset) that is live at the same
// time.
static int64_t lowest_free(const LiveBuffer *b, const Placed *placed, int n)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++) {
        const Placed *p = &placed[i];
        if (p->upper <= b->lower || b->upper <= p->lower)
            continue;
        if (at + b->bytes <= p->offset)
            return at;
        at = p->end > at ? p->end : at;
    }
    return at;
}

// How many of `placed` begin at `at` or below.
static int count_below(const Placed *placed, int n, int64_t at)
{
    int low = 0;

    while (low < n) {
        int middle = low + (n - low) / 2;
        if (placed[middle].offset <= at)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

// Adds a buffer to those that are placed.
static void put(Placed *placed, int n, const LiveBuffer *b, int64_t at)
{
    int k = count_below(placed, n, at);

    memmove(placed + k + 1, placed + k, (size_t)(n - k) * sizeof *placed);
    placed[k] = (Placed){b->lower, b->upper, at, at + b->bytes};
}

int64_t first_fit(Arena *a, const LiveBuffer *b, const int *order, int n, int64_t *offset)
{
    Placed *placed = arena_array(a, Placed, n);
    int64_t end = 0;

    for (int turn = 0, k = 0; turn < 2; turn++)  // pinned buffers first
        for (int i = 0; i < n; i++) {
            const LiveBuffer *x = &b[order[i]];
            if (x->is_pinned != !turn)
                continue;
            int64_t at = x->is_pinned ? x->offset : lowest_free(x, placed, k);
            put(placed, k++, x, at);
            offset[order[i]] = at;
            end = at + x->bytes > end ? at + x->bytes : end;
        }
    arena_drop(a, placed, (size_t)n, sizeof *placed);
    return end;
}
