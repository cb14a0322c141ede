// Types and helpers of the files that overlap communication with computation. They reorder the
// items of a loop's body, or of a function, as tasks.
#ifndef SHARDCC_LOWER_OVERLAP_H
#define SHARDCC_LOWER_OVERLAP_H

#include "lower/internal.h"

enum { MAX_SKEW = RT_MAX_SKEW };

// How a task touches the bytes of an operand. `location` is the first of all values that lie there.
typedef struct Access {
    ValueId location;
    bool reads, writes;
    bool is_per_iteration;  // each iteration of the loop has its own bytes there
    bool is_in_flight;      // a collective touches them that runs on after the task
} Access;

// An item or a whole loop, which keeps together in the order.
typedef struct Task {
    int first, last;  // items
    Access *access;   // sorted by location, each location once
    int n_accesses;
    double seconds;                // of computation
    double comm_seconds;           // of a collective that can overlap with computation; else 0
    double loop_comm_seconds;      // the same of all collectives in a loop
    double consumer_comm_seconds;  // of the collective that sends what this task makes; else 0
    bool is_deferrable;
    bool is_critical;   // a task that can't wait needs it
    bool is_chained;    // a collective that sends what another one received
    bool is_in_flight;  // a collective that another loop waits for, or a loop with one
    int skew;           // iterations that it runs after its own
    int slot;           // of a collective that overlaps with other items: 1 + its number; else 0
    int wait_position;  // index in the order of the first task that must wait for it
    int wait_skew;      // the skew of that task
} Task;

// State of each location. write_end and read_end: when the collectives in flight will have written
// and read it. deferred_…: how many deferred tasks will write it, or touch it.
typedef struct LocationState {
    double write_end, read_end;
    int deferred_writes, deferred_accesses;
    bool is_read_undeferred, is_written_undeferred;  // later, by tasks that can't wait
    bool is_accessed_deferred;                       // later, by deferrable tasks
    bool is_written_in_loop, is_shared;  // written in the loop; not private to each iteration
    double consumer_comm_seconds;        // of the collective that reads it
    double longest_comm_seconds;         // of the longest collective that touches it
    bool is_received;                    // a collective wrote it
} LocationState;

typedef struct Overlap {
    Lowering *l;
    const Item *from;  // the items as they were
    Item *items;       // the items in their new order
    int n_items, cap_items;
    int n_slots;
    LocationState *state;  // by location, of the items that are being ordered
} Overlap;

// The order of the items of a loop's body, or of a function with its loops.
typedef struct Schedule {
    Overlap *o;
    Task *task;
    int n_tasks;
    int *order;  // of the tasks, by rising skew
    int n_order;
    bool is_loop;
    bool has_prefetch;  // some tasks run one iteration before all others, which then have a skew
    int max_skew;
    int end[MAX_SKEW + 2];  // tasks of skew k are order[end[k], end[k + 1])
    int *deferred;          // deferred tasks: those from n_issued on still wait
    int n_deferred, n_issued;
    int *started;  // collectives that have slots
    int n_started;
    LocationState *state;   // by location, until the items have their order
    double now, link_free;  // predicted seconds since the items' begin
    double comm_end;        // when the last collective that is waited for here will have ended
    double idle;            // seconds at the end without work, waiting for comm_end
} Schedule;

// Makes the tasks of the items [begin, end), not yet in an order.
Schedule schedule_new(Overlap *o, int begin, int end, bool is_loop);
void overlap_add(Overlap *o, const Item *it);
// The wait for a collective that uses n_slots slots from `slot` on.
Item make_wait(const Item *exchange, int slot, int n_slots);

// Must the two tasks stay in their order?
bool tasks_conflict(const Task *a, const Task *b);

// Orders the tasks. Deferrable tasks wait until their collectives have ended, producers of
// collectives run early, and collectives start before the work that hides them.
void list_schedule(Schedule *s);

// Finds which tasks can't wait for collectives, and which collectives are needed by them.
void find_critical(Schedule *s);

// Assigns skews in a loop. Collectives that need nothing of their iteration run one iteration
// ahead, if they have too little time in their own. If `waits`, a task that waits for a collective
// runs one iteration later, and one that waits for that task's collective another one later. Gives
// the largest skew; 0: nothing moves.
int assign_skews(Schedule *s, bool waits);

// Moves what waits in the short loops among a function's items [begin, end) into loops of its own
// after them.
void fission_loops(Overlap *o, int begin, int end);

#endif
