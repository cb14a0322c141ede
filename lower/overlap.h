// What the files share that place communication beside computation: the items of a loop's body, or
// of a part, as units that change places.
#ifndef SHARDCC_LOWER_OVERLAP_H
#define SHARDCC_LOWER_OVERLAP_H

#include "lower/internal.h"

enum { MAX_SKEW = RT_MAX_SKEW };

// The bytes of an operand: the first of all values that lie there.
typedef struct Access {
    ValueId location;
    bool reads, writes;
    bool is_per_iteration;  // each iteration of the loop has bytes of its own there
    bool is_in_flight;      // an exchange touches them that goes on behind the unit
} Access;

// What keeps together: an item, or a loop.
typedef struct Task {
    int first, last;  // items
    Access *access;   // places rising, each once
    int n_accesses;
    double seconds;                // of computation …
    double comm_seconds;           // … or of an exchange that can go on beside it; else 0
    double loop_comm_seconds;      // … of those of a loop
    double consumer_comm_seconds;  // … of such an exchange of what it makes; else 0
    bool is_deferrable;
    bool is_critical;   // by what can't wait
    bool is_chained;    // an exchange of what another one brings
    bool is_in_flight;  // an exchange that another loop waits for; a loop with such
    int skew;           // turns of the loop after its iteration's
    int slot;           // of an exchange that does go on; 1 + its number
    int wait_position;  // … the place in the order of what has to wait for it …
    int wait_skew;      // … which is so late
} Task;

// Of each place: when what is under way will have written it, or read it; how many of those that
// are held back will write it, or touch it.
typedef struct LocationState {
    double write_end, read_end;
    int deferred_writes, deferred_accesses;
    bool is_read_undeferred, is_written_undeferred;  // later, by what can't wait
    bool is_accessed_deferred;                       // … touched by what can
    bool is_written_in_loop, is_shared;  // written in the loop; by another iteration too, or read
    double consumer_comm_seconds;        // seconds of the exchange that reads it
    double longest_comm_seconds;         // … of the longest that touches it
    bool is_received;                    // an exchange wrote it
} LocationState;

typedef struct Overlap {
    Lowering *l;
    const Item *from;  // the items as they were
    Item *items;       // … as they will be
    int n_items, cap_items;
    int n_slots;
    LocationState *state;  // by place, of the stretch that is being put in order
} Overlap;

// The items of a loop's body, or of a part with its loops.
typedef struct Schedule {
    Overlap *o;
    Task *task;
    int n_tasks;
    int *order;  // of the units, the later in turns the later
    int n_order;
    bool is_loop;
    bool has_prefetch;  // some run a turn before all others, which are late then
    int max_skew;
    int end[MAX_SKEW + 2];  // of what is so late, in the order; [0]: that begins
    int *deferred;          // those that are held back, from the first …
    int n_deferred, n_issued;
    int *started;  // exchanges that have slots
    int n_started;
    LocationState *state;   // by place, until the stretch has its order
    double now, link_free;  // as foreseen, from the begin of the stretch
    double comm_end;        // … when what has to be waited for in it will have ended
    double idle;            // … of that, at its end, with nothing to do
} Schedule;

// The items [begin, end).
Schedule schedule_new(Overlap *o, int begin, int end, bool is_loop);
void overlap_add(Overlap *o, const Item *it);
// The wait for an exchange of that slot, which it takes in so many.
Item make_wait(const Item *exchange, int slot, int n_slots);

// Must the two stay in their order?
bool tasks_conflict(const Task *a, const Task *b);

// Finds an order of the units: what can wait for an exchange comes when that will have ended, what
// is to be exchanged is made early, and exchanges go before the work that they hide behind.
void list_schedule(Schedule *s);

// Finds what can't wait for exchanges, and which exchanges that is so of.
void find_critical(Schedule *s);

// Has exchanges in a loop that need nothing of their iteration go a turn ahead of it, if they have
// not time enough in it. And, if it `waits`, what waits for exchanges run a turn later, and what
// waits for exchanges of that another turn. Gives how late the last of it is; 0: nothing is.
int assign_skews(Schedule *s, bool waits);

// Has what waits in the short loops of a part's items [begin, end) run in loops of its own, behind
// them.
void fission_loops(Overlap *o, int begin, int end);

#endif
