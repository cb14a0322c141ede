// Shared by the files of lower/chain/: a training program as a chain of stages, each with a forward
// and a backward part, and how it is made to run some forward parts again.
//
// units.c splits the items of a function into units, and notes which unit makes and reads what.
// cut.c cuts the units into stages. pools.c tells in which pool each buffer of a stage lies.
// calls.c makes the calls of a schedule and assigns their slots.
#ifndef SHARDCC_LOWER_CHAIN_H
#define SHARDCC_LOWER_CHAIN_H

#include "lower/internal.h"

// Items that run in one go: [begin, end) outside of loops over staged classes, or one iteration of
// such a loop.
typedef struct Unit {
    int begin, end;
    int cls, iteration;  // cls 0: no iteration
} Unit;

// The units that use one address: a buffer or, of a class, one instance in it. Those before
// Chain.n_forward are of the forward part. -1: none. For an address that outlives a step, only the
// first forward read and, as first_back, the first write in the backward part are known.
typedef struct Use {
    int first_write, last_write;
    int first_read, last_read;  // before Chain.turn, after the unit that wrote it
    int first_back, last_back;  // reads and writes in the backward part
    bool is_made_back;          // the first write is in the backward part
} Use;

// A class whose iterations are stages: it has one loop forward, and one backward in reverse.
typedef struct StagedClass {
    int forward, backward;              // their ITEM_LOOP; -1: it isn't staged
    int first_forward, first_backward;  // their first units
    int stage, stage_step;              // of iteration 0, and from one to the next
} StagedClass;

struct Chain {
    Program *p;
    Set *s;
    Graph *g;
    Function *f;  // the one whose items are the chain
    Arena *arena;
    Budget *budget;
    Diag *d;
    Unit *unit;
    int n_units, n_forward;
    // The units [n_forward, turn) are the last stage, which has no forward part: all of it runs
    // once. Where the items that they begin and end with are known, they are given; else -1.
    int turn, turn_item, turn_end;
    StagedClass *cls;  // by class
    // By buffer: is its address the same in all calls? Of others: the first of its uses in `use`.
    bool *is_kept;
    int n_buffers;    // that are known
    int *worker;      // by buffer: of a workspace, the first unit that uses it; else -1
    bool *is_joined;  // by item: is there no cut before the unit that begins with it?
    int *first_use;
    Use *use;
    int n_uses;
    // The cuts: stage i has the forward units [cut[i], cut[i + 1]) and the backward units [back[i],
    // back[i - 1]), with back[-1] = n_units.
    int *cut, *back;
    int n_stages;
    int *stage;  // by unit
    Pool *pool;  // by buffer
    ProgramChain *work;
    int64_t kept_bytes;  // of what is kept and used forward
    int32_t buffer;      // of all slots; 0: not made yet
    Calls *calls;
};

// Is the buffer one whose instances lie in the slots of a staged class?
static inline int32_t staged_class_of(const Chain *x, const Buffer *b)
{
    int32_t cls = b->value && b->set == SET_TRAIN ? value_block(x->g, b->value).cls : 0;
    return cls && x->cls[cls].forward >= 0 ? cls : 0;
}

// The instances of a staged class's buffer: from the one before the first to the one after the
// last.
static inline int instances_of(const Chain *x, const Buffer *b)
{
    int32_t cls = staged_class_of(x, b);
    return cls ? x->g->classes[cls].length + 2 : 1;
}

// The instance, from -1, of the operand of an item in a unit; ALL_INSTANCES: more than one.
enum { ALL_INSTANCES = -2 };
int chain_instance(const Chain *x, const Unit *u, const Operand *o);

// ---- units.c ----

void chain_find_classes(Chain *x);  // finds which classes can be staged
void chain_find_units(Chain *x);
// Finds is_kept of buffers that can't be in pools in any case, and the uses of the others.
void chain_find_uses(Chain *x);

// ---- cut.c ----

// Cuts the units into stages; buffers and classes that prevent this are kept. False after reporting
// that there are less than two stages.
bool chain_cut(Chain *x);

// ---- pools.c ----

// Gives each buffer that isn't kept its pool.
void chain_find_pools(Chain *x);
// Gives buffers their offsets in the slots of their pools. Returns the bytes of each stage's slots,
// and seconds.
ProgramChain *chain_fill_slots(Chain *x, const Cluster *c);

// ---- calls.c ----

// Finds the items that change a state of the model, such as running statistics: they run in the
// last execution of their stage alone. False after reporting one that makes something else too.
bool chain_find_once(Chain *x);
// Makes the calls of the runs, whose slots begin at 0. Returns the bytes of all slots.
int64_t chain_set_calls(Chain *x, const StageRun *run, int n_runs, Calls *to);

#endif
