// Static orders of buffers, with a little chance.
#include <stdlib.h>

#include "packer/internal.h"

typedef struct Key {
    double size;
    int buffer;
} Key;

static int by_size(const void *a, const void *b)
{
    const Key *x = a, *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->buffer - y->buffer;
}

static double near_bytes(const Sections *s, int i)
{
    const WordRange *w = &s->near[i];
    double sum = 0;

    for (int k = w->first; k < w->end; k++)
        for (uint64_t x = w->word[k - w->first]; x; x &= x - 1)
            sum += (double)s->bytes[k * 64 + __builtin_ctzll(x)];
    return sum;
}

static double order_key(const Sections *s, Order order, int i)
{
    double bytes = (double)s->bytes[i], time = (double)s->time[i];
    double sections = s->last[i] - s->first[i] + 1;

    switch (order) {
    case ORDER_BYTES:
        return bytes;
    case ORDER_TIME:
        return time;
    case ORDER_AREA:
        return bytes * time;
    case ORDER_SECTIONS:
        return sections;
    case ORDER_SECTION_AREA:
        return bytes * sections;
    default:
        return near_bytes(s, i);
    }
}

void sections_order(const Sections *s, Order order, double noise, uint64_t seed, int *to)
{
    Arena *own = arena_new();
    Key *key = arena_array(own, Key, s->n);

    for (int i = 0; i < s->n; i++) {
        uint64_t hash = hash_bytes(&i, sizeof i, seed);
        double chance = (double)(hash >> 11) / (double)(UINT64_C(1) << 52) - 1;  // from -1 to 1
        key[i] = (Key){order_key(s, order, i) * (1 + noise * chance), i};
    }
    qsort(key, (size_t)s->n, sizeof *key, by_size);
    for (int i = 0; i < s->n; i++)
        to[i] = key[i].buffer;
    arena_free(own);
}
