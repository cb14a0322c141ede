// Places buffers one by one, each at the lowest offset that is free for its time.
#include "packer/internal.h"

typedef struct Placed {
    const LiveBuffer *buffer;
    int64_t offset;
} Placed;

// The lowest offset where `b` overlaps none of `placed` (sorted by offset) that is live at the same
// time.
static int64_t lowest_free(const LiveBuffer *b, const Placed *placed, int n)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++) {
        const LiveBuffer *o = placed[i].buffer;
        if (o->upper <= b->lower || b->upper <= o->lower)
            continue;
        if (at + b->bytes <= placed[i].offset)
            return at;
        if (placed[i].offset + o->bytes > at)
            at = placed[i].offset + o->bytes;
    }
    return at;
}

int64_t first_fit(const LiveBuffer *b, const int *order, int n, int64_t *offset, Arena *a)
{
    Placed *placed = arena_array(a, Placed, n);
    int64_t end = 0;

    for (int i = 0; i < n; i++) {
        const LiveBuffer *x = &b[order[i]];
        int64_t at = lowest_free(x, placed, i);
        int k = i;
        for (; k && placed[k - 1].offset > at; k--)
            placed[k] = placed[k - 1];
        placed[k] = (Placed){x, at};
        offset[order[i]] = at;
        end = at + x->bytes > end ? at + x->bytes : end;
    }
    arena_drop(a, placed, (size_t)n, sizeof *placed);
    return end;
}
