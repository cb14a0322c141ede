// Graph → one rank's program: order, fused groups, storage, arena. No text, no search.
#ifndef SHARDCC_LOWER_H
#define SHARDCC_LOWER_H

#include "base/budget.h"
#include "lower/program.h"

// How far statements that wait for communication may move. Moving them farther takes more memory.
typedef enum OverlapLevel {
    OVERLAP_BEST,       // OVERLAP_PART if it shortens the simulated step enough, else OVERLAP_LOOP
    OVERLAP_PART,       // past the loops that follow, by loop fission
    OVERLAP_LOOP,       // to later iterations of their loop, by software pipelining
    OVERLAP_ITERATION,  // within their iteration
    OVERLAP_NONE,       // nowhere: each collective ends before the next item begins
} OverlapLevel;

// A stage of a training program: the bytes of a slot in each pool, and the seconds of its forward
// and its backward part.
typedef struct StageWork {
    const char *name;
    int64_t bytes[N_POOLS];
    double forward_seconds, backward_seconds;
} StageWork;

// The stages of a training program, which run forward one after the other and then backward from
// the last to the first.
typedef struct ProgramChain {
    int n_stages;
    StageWork *stage;
    int64_t rest;  // bytes of the arena outside the slots
} ProgramChain;

// An execution of a stage's forward part or of its backward part.
typedef struct StageRun {
    int stage;
    bool is_backward, is_last;  // is_last: of the forward part
} StageRun;

// Chooses in which order the stages run. Returns how many runs there are in *run, which it makes in
// `a`; 0: the program is to run as it is.
typedef struct ChainChoice {
    int (*choose)(Arena *a, void *context, const ProgramChain *x, StageRun **run);
    void *context;
    const Cluster *cluster;  // gives seconds
} ChainChoice;

typedef struct LowerOptions {
    const Target *target;
    bool fuse;  // false: every elementwise node is an item of its own
    int accumulate;
    const struct Sharded *sharded[N_SETS];  // split graphs, or NULL where one rank does it all
    // Gives the times by which communication is overlapped with computation. NULL: every collective
    // blocks.
    const Cluster *cluster;
    int64_t memory;      // bytes for the arena: overlap is reduced until it fits; 0: no limit
    bool is_trial;       // the arena need only fit the memory: no smaller one is looked for
    bool packs_briefly;  // the packer does a small part of its work
    OverlapLevel overlap_level;
    const ChainChoice *chain;  // NULL: the training program runs no stage again
    Budget *budget;            // counts the nodes that are lowered; NULL: they aren't counted
} LowerOptions;

// A value of a split graph holds value `of` of the whole graph in the spec `spec`. Where `of` is 0
// it only carries a bucket.
typedef struct ShardedValue {
    ValueId of;
    Spec spec;
} ShardedValue;

// A node of a split graph computes a shard of node `of` of the whole graph, whose rule has factors
// of these sizes. Where `of` is 0 it communicates, or packs or unpacks a bucket.
typedef struct ShardedNode {
    NodeId of;
    int n_factors;
    const int64_t *size;
    // Communication: the bytes that each rank sends, and its predicted time.
    ReshardKind kind;
    int64_t bytes, picoseconds;
    int64_t planned_picoseconds;  // that the search counted, if the node was to join a bucket
    // A bucket's collective: what each joined collective was alone. There `of` is a value.
    const struct ShardedNode *joined;  // NULL in a program that was read from a text
    int n_joined;
} ShardedNode;

// A graph split over a mesh: the one text that every rank runs on its shards. Its dims are chunks,
// the capacity of a rank's buffer. How many elements a rank has, and where they are in the whole,
// depends on the rank.
typedef struct Sharded {
    const Graph *whole;
    const Plan *plan;     // of `whole`
    Graph *g;             // nodes on shards, and the communication between them
    ShardedValue *value;  // by ValueId of g
    int n_values, cap_values;
    ShardedNode *node;  // by NodeId of g
    int n_nodes, cap_nodes;
} Sharded;

// Splits a graph by a plan; both are kept. Instances of a block stay alike. NULL after reporting
// that the plan doesn't fit.
Sharded *partition(Arena *a, const Graph *g, const Plan *p, Diag *d);

// By NodeId of the split graph: does the node only serve to make half copies of parameters in their
// storage specs? A step makes these once. What readers need in addition, such as a gather of the
// copy for a layer, isn't among them.
bool *sharded_half_copies(Arena *a, const Sharded *s);

// The same graph with small collectives joined into buckets.
Sharded *bucket(Arena *a, const Sharded *s);

// The dims of a rank's shard of a value without padding, and the offsets of its shard of a node.
void sharded_dims(const Sharded *s, ValueId v, int rank, int64_t *dim);
void sharded_node(const Sharded *s, NodeId n, int rank, NodeShard *p);

// How many ranks have no share of any product, if others have one; else 0.
int sharded_idle(const Sharded *s);

// Lowers the two graphs (`train` may be NULL). NULL after reporting errors.
Program *lower(Arena *a, Graph *train, Graph *predict, const LowerOptions *o, Diag *d);

// The value that a buffer was made for. A workspace has none.
static inline const Value *buffer_value(const Program *p, const Buffer *b)
{
    return value_of(p->set[b->set].g, b->value);
}

// When a value of a graph lies in memory, in the program of one rank.
typedef struct LiveRange {
    ValueId value;
    int64_t n_instances;  // how many of its size lie there
    int first, last;      // the items [first, last)
} LiveRange;

typedef struct LiveRanges {
    LiveRange *range;
    int n, n_items;
    int *item;  // by NodeId: the item that does its work; -1: none does
} LiveRanges;

// Finds the values that the training program of the graph keeps in memory on one rank, before a
// plan splits it. False after reporting errors.
bool live_ranges_find(Arena *a, const Graph *g, const Target *t, int accumulate, LiveRanges *to,
                      Diag *d);

// Does a buffer hold something while the item of a set runs?
static inline bool buffer_is_live(const Buffer *b, int set, int item)
{
    return b->kind == BUFFER_PERSISTENT ||
           (b->set == set && b->first >= 0 && b->first <= item && item <= b->last);
}

// Bytes in use are linear in the iteration of a loop, so its first and its last iteration bound
// them.
typedef enum LoopEdge { FIRST_ITERATION, LAST_ITERATION, N_LOOP_EDGES } LoopEdge;

// The bytes [low, high) of a buffer, from its start, that are in use.
typedef struct Extent {
    int64_t low, high;
} Extent;

// How many slots a buffer has; 0: it is in use as a whole.
int buffer_slots(const Set *s, const Buffer *b);

// The part of a live buffer of `s` that is in use while an item runs, in that iteration of the loop
// around the item. Its last REDZONE bytes are written by nobody.
Extent buffer_extent(const Set *s, const Buffer *b, int item, LoopEdge edge);

// The bytes of a buffer that are in use then: 0 if it isn't live.
int64_t buffer_bytes_at(const Program *p, const Buffer *b, int set, int item, LoopEdge edge);

// The workspace in bytes of the kernel of a node's shard, if its operands lie densely.
int64_t shard_workspace(const Target *t, const Graph *g, const Node *n, const Rule *r,
                        const Mesh *m, const Strategy *s);

// The peak of the bytes that live buffers of a set take, except persistent ones.
int64_t program_peak_bytes(const Program *p, int set);

// Seconds of a step, counting all micro-batches: the whole step, the ranks' computation, and the
// messages. `seconds` is less than the sum of the others where the program overlaps them.
typedef struct Simulated {
    double seconds, compute, communication;
} Simulated;

Simulated program_simulate(const Program *p, int set, const Cluster *c);

// The item's collective; NULL: it is none.
const ShardedNode *item_exchange(const Set *s, const Item *it);
// Seconds of one run of an item: of a collective from its start to its end, of other items on the
// rank's processor.
double item_seconds(const Set *s, const Item *it, const Cluster *c);

void program_print(const Program *p, Text *t);

// Reads a program back, finished. The text is not trusted: NULL after reporting errors with line
// numbers. It may still not compute what its graphs say, which program_check finds out. The target
// is like `t`, as the text says.
Program *program_parse(Arena *a, const char *text, size_t n, const Target *t, Diag *d);

// Checks a finished program against its graphs. Every item must read what the graph says, whole, in
// its order of dims, written before and not yet overwritten. Every number in the text must be the
// node's own, and every carried value must be at its address at the end. Only the ranks in the
// corners of the mesh are checked. False after reporting the first findings, which are faults of
// shardcc.
bool program_check(const Program *p, Diag *d);

// The same for one set on one rank.
bool set_check(const Program *p, int set, int rank, Diag *d);

#endif
