// What the files share that place communication beside computation: the items of a loop's body, or
// of a part, as units that change places.
#ifndef SHARDCC_LOWER_OVERLAP_H
#define SHARDCC_LOWER_OVERLAP_H

#include "lower/internal.h"

// The bytes of an operand: the first of all values that lie there.
typedef struct Touch {
    ValueId place;
    bool writes;
} Touch;

// What keeps together: an item, or a loop.
typedef struct Unit {
    int first, last;  // items
    Touch *touch;     // places rising, each once
    int n_touches;
    double seconds;  // of computation …
    double link;     // … or of an exchange that can go on beside it; else 0
    double feeds;    // … of such an exchange of what it makes; else 0
    bool can_wait;
    int slot;  // of an exchange that does go on; 1 + its number
    int need;  // … the place in the order of what has to wait for it
} Unit;

// Of each place: when what is under way will have written it, or read it; how many of those that
// are held back will write it, or touch it.
typedef struct State {
    double written, read;
    int writers, holders;
    bool is_read, is_written;  // later, by what can't wait
    double feeds;              // seconds of the exchange that reads it
} State;

typedef struct Overlap {
    Lowering *l;
    const Item *from;  // the items as they were
    Item *items;       // … as they will be
    int n_items, cap_items;
    int n_slots;
} Overlap;

// The items of a loop's body, or of a part with its loops.
typedef struct Stretch {
    Overlap *o;
    Unit *unit;
    int n_units;
    int *order;  // of the units
    int n_order;
    int *held;  // those that are held back, from the first …
    int n_held, n_released;
    int *started;  // exchanges that have slots
    int n_started;
    State *state;           // by place
    double now, link_free;  // as foreseen, from the begin of the stretch
} Stretch;

// Must the two stay in their order?
bool units_conflict(const Unit *a, const Unit *b);

// Finds an order of the units: what can wait for an exchange comes when that will have ended, what
// is to be exchanged is made early, and exchanges go before the work that they hide behind.
void hold_order(Stretch *s);

#endif
