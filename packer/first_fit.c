// Packs buffers one by one, each at the lowest offset that is free for its time.
#include <string.h>

#include "packer/internal.h"

// A packed buffer. Its numbers are stored next to each other, since all of them are read for each
// later buffer.
typedef struct Packed {
    int64_t lower, upper;
    int64_t offset, end;
} Packed;

// The lowest offset where `b` overlaps none of `packed` (sorted by offset) that is live at the same
// time.
static int64_t lowest_free(const LiveBuffer *b, const Packed *packed, int n)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++) {
        const Packed *p = &packed[i];
        if (p->upper <= b->lower || b->upper <= p->lower)
            continue;
        if (at + b->bytes <= p->offset)
            return at;
        at = p->end > at ? p->end : at;
    }
    return at;
}

// How many of `packed` begin at `at` or below.
static int count_below(const Packed *packed, int n, int64_t at)
{
    int low = 0;

    while (low < n) {
        int middle = low + (n - low) / 2;
        if (packed[middle].offset <= at)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

// Adds a buffer to the packed ones.
static void put(Packed *packed, int n, const LiveBuffer *b, int64_t at)
{
    int k = count_below(packed, n, at);

    memmove(packed + k + 1, packed + k, (size_t)(n - k) * sizeof *packed);
    packed[k] = (Packed){b->lower, b->upper, at, at + b->bytes};
}

int64_t first_fit(Arena *a, const LiveBuffer *b, const int *order, int n, int64_t *offset)
{
    Packed *packed = arena_array(a, Packed, n);
    int64_t end = 0;

    for (int turn = 0, k = 0; turn < 2; turn++)  // pinned buffers first
        for (int i = 0; i < n; i++) {
            const LiveBuffer *x = &b[order[i]];
            if (x->is_pinned != !turn)
                continue;
            int64_t at = x->is_pinned ? x->offset : lowest_free(x, packed, k);
            put(packed, k++, x, at);
            offset[order[i]] = at;
            end = at + x->bytes > end ? at + x->bytes : end;
        }
    arena_drop(a, packed, (size_t)n, sizeof *packed);
    return end;
}
