// Optimal recomputation of a chain of stages within a memory: the dynamic program of Rotor
// (Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal checkpointing for heterogeneous
// chains", INRIA RR-9302, 2019), with several policies for each stage. Knows nothing of models.
//
// ---- the model ----
//
// Stages 0 to n - 1 run forward in order, then backward. Value i is the input of stage i; stage i
// makes value i + 1, its output. A value's gradient has the bytes of the value; value n, the output
// of the loss, has none. At the start value 0 is live and nothing else, at the end its gradient.
//
// An operation (ChainOp) needs what it reads. While it runs, all that was live before stays live. A
// value is live by itself, or as a part of what its maker saved. An operation that drops a
// checkpoint, or makes a value that is live, belongs to no schedule: so a checkpoint, and what is
// saved, stays until its stage's backward. The paper calls these schedules memory persistent, and
// the dynamic program is optimal among them.
//
// Times are doubles in any unit: sums of whole numbers up to 2^53 are exact, and of others the
// rounding is below what matters.
#ifndef SHARDCC_SOLVER_CHAIN_H
#define SHARDCC_SOLVER_CHAIN_H

#include "base/base.h"

enum { MAX_CHAIN_STAGES = 1024, MAX_STAGE_POLICIES = 256 };

// The values that a stage saves for its backward, as bytes, and its times then.
typedef struct StagePolicy {
    int64_t saved;  // bytes that the backward needs beyond the input; the output is among them
    double forward_time, backward_time;
    int64_t more_scratch;  // bytes that the backward needs in addition to the stage's
                           // backward_scratch
} StagePolicy;

typedef struct ChainStage {
    const char *name;
    int64_t output;            // bytes, of its gradient too
    int64_t forward_scratch;   // bytes
    int64_t backward_scratch;  // bytes; the gradient that it writes is among them
    double forward_time;       // of a forward that saves nothing
    int n_policies;            // at least one
    StagePolicy *policy;
} ChainStage;

// All bytes sum to 2^53 at most (chain_read checks it).
typedef struct ChainProblem {
    int64_t input;  // bytes of value 0
    int n_stages;   // at least one
    ChainStage *stage;
} ChainProblem;

typedef enum ChainOpKind {
    // Reads value i, with output + forward_scratch bytes more. Afterwards the output is live by
    // itself, and value i, which must have been live by itself and no checkpoint, is not.
    CHAIN_FORWARD,
    // The same, but value i stays and is a checkpoint.
    CHAIN_CHECKPOINT,
    // Reads value i, with the policy's saved + forward_scratch bytes more. Afterwards `saved` is
    // live, with the output in it, and value i is a checkpoint.
    CHAIN_SAVE,
    // Reads value i, what stage i saved and, except for the loss, the gradient of value i + 1, with
    // backward_scratch and the policy's more_scratch bytes more. Afterwards the gradient of value i
    // is live. Everything it read is freed, except value i if it is part of what stage i - 1 saved.
    CHAIN_BACKWARD,
    CHAIN_OP_KINDS
} ChainOpKind;

typedef struct ChainOp {
    ChainOpKind kind;
    int stage;   // i
    int policy;  // of CHAIN_SAVE
} ChainOp;

typedef struct ChainSchedule {
    ChainOp *op;
    int n_ops, cap_ops;
    double time;   // these two are what the replay finds
    int64_t peak;  // the most bytes that are live
} ChainSchedule;

// ---- files ----

// Reads a chain's file. Returns false after an error.
bool chain_read(Arena *a, const char *path, ChainProblem *p, Diag *d);
bool chain_parse(Arena *a, const char *text, size_t n, ChainProblem *p, Diag *d);

// Prints the file of a chain, and that of a schedule.
void chain_print_problem(const ChainProblem *p, Text *t);
void chain_print(const ChainProblem *p, const ChainSchedule *s, Text *t);

// ---- schedules ----

// Executes the operations on bytes and times, and sets time and peak. Returns false if an operation
// isn't possible at its position, or not all is done at the end.
bool chain_replay(Arena *a, const ChainProblem *p, ChainSchedule *s);

// Schedules by a rule. Each stage is saved by the policy that takes the least time.
typedef enum ChainRule {
    CHAIN_NONE,  // nothing runs twice
    CHAIN_SQRT,  // of √n segments only the inputs are kept (Chen et al. 2016)
    CHAIN_FULL,  // only the inputs of stages are kept
    CHAIN_RULES
} ChainRule;

void chain_by_rule(Arena *a, const ChainProblem *p, ChainRule rule, ChainSchedule *s);

// ---- optimal schedules ----

typedef struct ChainTable ChainTable;

// Solves the chain for every memory up to `most` bytes. Where few times are possible the table has
// all of them, and schedules are optimal to the byte. Otherwise the memory is cut into equal slots,
// and sizes are rounded up to slots: schedules may then be slightly slower than the optimum, but
// never exceed the memory. `slots` is how many there are at least, unless fewer round nothing or
// the table would take more than 4 GiB; 0 lets the function choose: at least 2000 for chains of up
// to 350 unequal stages. The problem must outlive the table.
ChainTable *chain_solve(Arena *a, const ChainProblem *p, int64_t most, int slots);

// The least memory for which there is a schedule, exactly.
int64_t chain_least(const ChainTable *t);

// The time of a schedule within that memory, infinite below the least memory. chain_schedule finds
// one that takes as long or less.
double chain_time(const ChainTable *t, int64_t memory);
bool chain_schedule(Arena *a, const ChainTable *t, int64_t memory, ChainSchedule *s);

// The slots of the table; 0: it has all times, exactly.
int chain_slots(const ChainTable *t);

#endif
