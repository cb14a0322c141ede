// The parts of the packer: sections, orders, first fit and the search.
#ifndef SHARDCC_PACKER_INTERNAL_H
#define SHARDCC_PACKER_INTERNAL_H

#include "packer/packer.h"

// ---- sections.c: the buffers of one component, over sections instead of times ----

// A set of buffers: a bit each, in the words [first, end) of a longer bit set.
typedef struct WordRange {
    int first, end;
    uint64_t *word;  // [end - first]
} WordRange;

// A section is a largest set of buffers that are all live at some time. Two buffers are live at the
// same time if and only if they share a section. Sections are sorted by time. Buffers are numbered
// by their first section, so that the buffers of a section lie in few words.
typedef struct Sections {
    int n, n_sections;
    int *source;        // by buffer: its index in the caller's array
    int64_t *bytes;     // by buffer
    bool *is_pinned;    // by buffer
    int64_t *pin;       // by buffer: the offset of a pinned one
    int64_t *time;      // by buffer: upper - lower
    int *first, *last;  // by buffer: its sections, both included
    WordRange *live;    // by section: its buffers
    WordRange *near;    // by buffer: the others that share a section with it
    int64_t unit;       // a common divisor of all bytes and pinned offsets
    int64_t words;      // of all bit sets
} Sections;

// The sections of the n buffers of `b` that `chosen` lists. `b` must be one component: no time
// between the first and the last is without a live buffer. Fills no bit sets if they would have
// more than `most_words` words.
Sections sections_new(Arena *a, const LiveBuffer *b, const int *chosen, int n, int64_t most_words);

// ---- orders.c: in which order buffers are packed ----

typedef enum Order {
    ORDER_BYTES,
    ORDER_TIME,
    ORDER_AREA,      // bytes · time
    ORDER_SECTIONS,  // how many sections it is in
    ORDER_SECTION_AREA,
    ORDER_NEAR,  // the bytes of all buffers that share a section with it
    ORDERS,
} Order;

// Lists the buffers in the order, the largest first and equal ones as they are numbered. Each key
// is changed by a random factor of at most 1 ± noise.
void sections_order(const Sections *s, Order order, double noise, uint64_t seed, int *to);

// ---- first_fit.c ----

// Packs pinned buffers, then the others in the order given, each at the lowest offset that is free
// for its time. Returns where the last one ends.
int64_t first_fit(Arena *a, const LiveBuffer *b, const int *order, int n, int64_t *offset);

// ---- search.c: branch and bound ----

typedef enum PackOutcome { PACK_NONE, PACK_FOUND, PACK_STOPPED } PackOutcome;

typedef struct PackLimits {
    int64_t work;     // how much may still be done
    double deadline;  // of pack_clock; 0: none
} PackLimits;

// A search over one component. It remembers where it has failed.
typedef struct PackSearch PackSearch;

PackSearch *pack_search_new(Arena *a, const Sections *s);

// Looks for a packing within `capacity` bytes. PACK_NONE: there is none. Takes the work that it
// does from limits->work. Called again, it goes on with other orders.
PackOutcome pack_search(PackSearch *x, int64_t capacity, PackLimits *limits);

// The offset of buffer i of the sections, after PACK_FOUND.
int64_t pack_search_offset(const PackSearch *x, int i);

// ---- pack.c ----

double pack_clock(void);  // seconds since some moment

#endif
