// The state of the search over one component, which floors.c changes and search.c decides on.
#ifndef SHARDCC_PACKER_SEARCH_H
#define SHARDCC_PACKER_SEARCH_H

#include "packer/internal.h"

typedef struct Change {
    int64_t *at, before;
} Change;

// How buffers and sections are chosen in one run.
typedef struct Style {
    bool weighs_failures;  // prefer sections that have failed often
    bool fits_snugly;      // prefer buffers that fill a gap from wall to wall or end level with one
} Style;

struct PackSearch {
    const Sections *s;
    Arena *a;
    int64_t capacity;
    Style style;
    // By buffer: the lowest offset that it can still have; where the highest one below it ends.
    int64_t *low, *support;
    int64_t *offset;     // by buffer, once packed
    int *order;          // of this run
    int64_t *rank;       // by buffer: its index in the order
    int64_t *urgency;    // by buffer: scratch
    int64_t *floor;      // by section: the lowest `low` of its buffers to pack; NO_FLOOR: none
    int64_t *choices;    // by section: how many buffers may begin on its floor
    int64_t *left;       // by section: the bytes of its buffers to pack
    int64_t *joins;      // by section: buffers to pack that are also in the next section
    bool *is_stale;      // by section: `floor` has to be found again
    int64_t *failures;   // by section
    uint64_t *unpacked;  // buffers to pack
    int *candidate;      // a stack of candidates
    int n_candidates, cap_candidates;
    Change *trail;
    int n_trail, cap_trail;
    int depth, run;
    int64_t nodes, most_nodes;
    PackLimits *limits;
};

#define NO_FLOOR INT64_MAX

// The buffers to pack in word k of a set.
static inline uint64_t to_pack(const PackSearch *x, const WordRange *w, int k)
{
    return w->word[k - w->first] & x->unpacked[k];
}

// May the buffer come next where it is? Something must be there to lie on.
static inline bool can_begin(const PackSearch *x, int i) { return x->low[i] == x->support[i]; }

// Back to how everything was when the trail had `to` changes.
void floors_undo(PackSearch *x, int to);

// Nothing is packed. False if a section can't hold its buffers; so do the next two.
bool floors_start(PackSearch *x);

// Packs buffer i at its lowest offset, on the lowest floor.
bool floors_put(PackSearch *x, int i);

// Nothing begins in the section below `floor` any more.
bool floors_raise(PackSearch *x, int section, int64_t floor);

#endif
