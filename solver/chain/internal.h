// The dynamic program over subchains. A subchain is the stages from one to another; its schedule
// begins with the first one's input and the last one's output gradient live, and ends with the
// gradient of the first one's input. Its memory is that beyond the first one's input.
#ifndef SHARDCC_SOLVER_CHAIN_INTERNAL_H
#define SHARDCC_SOLVER_CHAIN_INTERNAL_H

#include "solver/chain/chain.h"

// A function of the memory that falls in steps: from `memory` bytes on it takes `time`. Both are
// strictly monotonic.
typedef struct StairPoint {
    int64_t memory;
    double time;
} StairPoint;

typedef struct Stair {
    StairPoint *point;
    int n, cap;
} Stair;

// The same function at the ends of slots. time[i] belongs to slot first + i; slots before are too
// small, and those after take as long as the last one.
typedef struct SlotRow {
    int first, n;
    double *time;
} SlotRow;

typedef struct Subchain {
    int first, last;
} Subchain;

// Equal subchains share a row. The rows of a subchain's parts come before its own.
struct ChainTable {
    const ChainProblem *p;
    int64_t most;        // bytes beyond value 0
    int *row;            // by first and last stage
    int n_rows;          // row 0 is of no stage: it takes no memory and no time
    Subchain *subchain;  // by row, the one that is looked at
    Stair *stair;        // by row; its first point is the least memory
    SlotRow *slot_row;   // by row
    int64_t slot;        // bytes; slot i ends at i * slot bytes
    int n_slots;
};

// One beginning of the schedule of a subchain. Its own operations need `need` bytes. Then it holds
// `held` bytes while row `rest` runs, and after that row `before` runs without them.
typedef struct Choice {
    int64_t need, held;
    double time;  // of its own operations
    int rest, before;
    int split;  // the stage whose input becomes a checkpoint; 0: the first stage is saved
    int policy;
} Choice;

static inline int subchain_row(const ChainTable *t, int first, int last)
{
    return t->row[first * t->p->n_stages + last];
}

static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t value_bytes(const ChainProblem *p, int i)
{
    return i ? p->stage[i - 1].output : p->input;
}

static inline int64_t gradient_bytes(const ChainProblem *p, int i)
{
    return i < p->n_stages ? value_bytes(p, i) : 0;
}

// The policy that takes the least time.
int fastest_policy(const ChainStage *s);

// Lists all choices of a subchain. Returns how many; at most n_stages + MAX_STAGE_POLICIES.
int list_choices(const ChainTable *t, int first, int last, Choice *to);

// Gives each set of equal subchains a row.
void fold_subchains(Arena *a, ChainTable *t);

// Fills the stairs. Each has at most `cap` points, the leftmost ones. Returns false if that takes
// too much work. Calls with cap 1 always succeed.
bool fill_stairs(Arena *a, ChainTable *t, int cap);

// Fills the rows of slots.
void fill_slots(Arena *a, ChainTable *t, int slots);
double slot_time(const ChainTable *t, int row, int64_t memory);

// The time of a row within so many bytes.
double row_time(const ChainTable *t, int row, int64_t memory);

#endif
