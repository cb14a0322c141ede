// What the files share that place communication beside computation: the items of a loop's body, or
// of a part, as units that change places.
#ifndef SHARDCC_LOWER_OVERLAP_H
#define SHARDCC_LOWER_OVERLAP_H

#include "lower/internal.h"

enum { MOST_LATE = RT_MOST_LATE };

// The bytes of an operand: the first of all values that lie there.
typedef struct Touch {
    ValueId place;
    bool reads, writes;
    bool is_own;   // each iteration of the loop has bytes of its own there
    bool is_sent;  // an exchange touches them that goes on behind the unit
} Touch;

// What keeps together: an item, or a loop.
typedef struct Unit {
    int first, last;  // items
    Touch *touch;     // places rising, each once
    int n_touches;
    double seconds;  // of computation …
    double link;     // … or of an exchange that can go on beside it; else 0
    double sends;    // … of those of a loop
    double feeds;    // … of such an exchange of what it makes; else 0
    bool can_wait;
    bool is_awaited;  // by what can't wait
    bool is_fed;      // an exchange of what another one brings
    bool is_sent;     // an exchange that another loop waits for; a loop with such
    int late;         // turns of the loop after its iteration's
    int slot;         // of an exchange that does go on; 1 + its number
    int need;         // … the place in the order of what has to wait for it …
    int until;        // … which is so late
} Unit;

// Of each place: when what is under way will have written it, or read it; how many of those that
// are held back will write it, or touch it.
typedef struct State {
    double written, read;
    int writers, holders;
    bool is_read, is_written;  // later, by what can't wait
    bool is_wanted;            // … touched by what can
    bool is_made, is_shared;   // written in the loop; by another iteration too, or read
    double feeds;              // seconds of the exchange that reads it
    double longest;            // … of the longest that touches it
    bool is_fetched;           // an exchange wrote it
} State;

typedef struct Overlap {
    Lowering *l;
    const Item *from;  // the items as they were
    Item *items;       // … as they will be
    int n_items, cap_items;
    int n_slots;
    State *state;  // by place, of the stretch that is being put in order
} Overlap;

// The items of a loop's body, or of a part with its loops.
typedef struct Stretch {
    Overlap *o;
    Unit *unit;
    int n_units;
    int *order;  // of the units, the later in turns the later
    int n_order;
    bool is_loop;
    bool has_early;  // some run a turn before all others, which are late then
    int most_late;
    int end[MOST_LATE + 2];  // of what is so late, in the order; [0]: that begins
    int *held;               // those that are held back, from the first …
    int n_held, n_released;
    int *started;  // exchanges that have slots
    int n_started;
    State *state;           // by place, until the stretch has its order
    double now, link_free;  // as foreseen, from the begin of the stretch
    double due;             // … when what has to be waited for in it will have ended
    double idle;            // … of that, at its end, with nothing to do
} Stretch;

// The items [begin, end).
Stretch stretch_new(Overlap *o, int begin, int end, bool is_loop);
void overlap_add(Overlap *o, const Item *it);
// The wait for an exchange of that slot, which it takes in so many.
Item wait_for(const Item *exchange, int slot, int n_slots);

// Must the two stay in their order?
bool units_conflict(const Unit *a, const Unit *b);

// Finds an order of the units: what can wait for an exchange comes when that will have ended, what
// is to be exchanged is made early, and exchanges go before the work that they hide behind.
void hold_order(Stretch *s);

// Finds what can't wait for exchanges, and which exchanges that is so of.
void find_urgent(Stretch *s);

// Has exchanges in a loop that need nothing of their iteration go a turn ahead of it, if they have
// not time enough in it. And, if it `waits`, what waits for exchanges run a turn later, and what
// waits for exchanges of that another turn. Gives how late the last of it is; 0: nothing is.
int find_late(Stretch *s, bool waits);

// Has what waits in the short loops of a part's items [begin, end) run in loops of its own, behind
// them.
void cut_loops(Overlap *o, int begin, int end);

#endif
