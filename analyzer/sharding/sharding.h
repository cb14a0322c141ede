// How values are split over many ranks: meshes, specs, the cost of moving a value from one spec to
// another, strategies of nodes, and plans. An analysis never chooses.
#ifndef SHARDCC_SHARDING_H
#define SHARDCC_SHARDING_H

#include "analyzer/machine/machine.h"

// ---- meshes and specs ----

enum { MAX_AXES = 4 };

// The ranks as a grid: rank r has coordinate r / (product of the sizes after axis a) % size[a]
// along axis a. Axes are sorted from slow links to fast ones. A message of n bytes along axis a
// takes alpha[a] + beta[a] · n.
typedef struct Mesh {
    int n_axes;
    int size[MAX_AXES];
    const char *name[MAX_AXES];  // letters, digits and '_'; x0, x1 … unless the user named them
    double alpha[MAX_AXES];      // s
    double beta[MAX_AXES];       // s/byte
    double overhead[MAX_AXES];   // s/byte of a message during which a rank can't compute
    double launch, copy;         // s, s/byte: time of a rank to move bytes in its own memory
} Mesh;

// Values of Spec.at for a mesh axis that doesn't split any dim of the value.
enum { SPEC_REPLICATED = -1, SPEC_SUM = -2, SPEC_MAX = -3, SPEC_MIN = -4 };

// How a value lies on a mesh. at[a] is the refined dim that axis a splits, or SPEC_…: every rank
// along the axis has the whole value, or it has a part, and the value is the sum (max, min) of the
// parts. Where axes share a dim, level 0 is the outermost; the level is 0 in all other cases.
// Chunks nest: c = ceil(n / p), then ceil(c / q). A rank's extent is the rest of the dim from its
// offset on, at most a chunk; it may be 0. Specs are equal if their bytes are. Axes that the mesh
// lacks are SPEC_REPLICATED.
typedef struct Spec {
    int8_t at[MAX_AXES];
    int8_t level[MAX_AXES];
} Spec;

enum { MAX_MESH_RANKS = 1 << 16 };  // most ranks of a mesh

// Lists all meshes of the first `ranks` devices of the cluster, with up to 4 axes (3 above 64
// ranks). An axis begins wherever a slower level of links begins, if there are axes enough. Returns
// the number of meshes, or 0 after an error: the cluster has too few devices.
int mesh_shapes(Arena *a, const Cluster *c, int ranks, const Mesh **mesh, Diag *d);
// Reads a mesh like "2x4" or "dp=2,tp=4". Its axes needn't begin where a level of links does. The
// text is not trusted. Returns false after an error.
bool mesh_parse(Arena *a, const Cluster *c, int ranks, const char *text, Mesh *m, Diag *d);
bool mesh_read(Arena *a, const char *text, Mesh *m, Diag *d);  // sets no links
void mesh_print(const Mesh *m, Text *t);
void mesh_print_axes(const Mesh *m, const int *axis, int n, Text *t);  // "dp+tp"

// The name of the slowest link that an axis crosses.
const char *mesh_link(const Cluster *c, const Mesh *m, int axis);

// Is the axis limited by its link, and not by the rank's own memory? Then computation can go on
// during a collective.
static inline bool axis_is_slow(const Mesh *m, int axis) { return m->beta[axis] > 4 * m->copy; }

int mesh_ranks(const Mesh *m);
int mesh_stride(const Mesh *m, int axis);  // ranks r and r + stride are neighbours along the axis
int mesh_coordinate(const Mesh *m, int axis, int rank);
// Bytes of a device that communicators take: there is one of all ranks, and one for each axis of
// several ranks that isn't all of them. One rank has none.
int64_t mesh_exchange_bytes(const Mesh *m, const ExchangeMemory *e);
// Bytes of `memory` that they leave; at least 1.
int64_t mesh_memory_left(const Mesh *m, const ExchangeMemory *e, int64_t memory);

Spec spec_replicated(void);  // every rank has the whole
bool spec_equal(const Spec *a, const Spec *b);
// SPEC_SUM, SPEC_MAX or SPEC_MIN if the spec is partial on some axis; otherwise SPEC_REPLICATED.
int spec_partial(const Spec *s);
// Is the spec valid for values of that rank? All dims and axes exist, the levels of a dim have no
// gap, and partial axes are all of one kind: a maximum of sums isn't the sum of maxima.
bool spec_is_valid(const Mesh *m, int rank, const Spec *s);
// Gives the axes that split a dim, outermost first. Returns how many.
int spec_axes(const Spec *s, int dim, int axis[MAX_AXES]);

// The chunk of a dim of n elements: how many of them fit in a rank's buffer.
int64_t spec_chunk(const Mesh *m, const Spec *s, int dim, int64_t n);
// The shard of a rank in a dim of n elements: it begins at `offset` (n at most) and has `extent`
// elements, maybe 0.
void spec_shard(const Mesh *m, const Spec *s, int dim, int64_t n, int rank, int64_t *offset,
                int64_t *extent);
// The bytes of a rank's buffer: every dim has the size of its chunk.
int64_t spec_bytes(const Mesh *m, const Spec *s, const Value *v);

// Prints "[dp+tp,-] sum:pp": per dim its axes, outermost first, or '-'; then the axes over which
// the value is partial. A value with an own shape has one entry per own dim. An own dim that was
// split into several refined dims has one part for each, separated by '.'. Axes without any '.'
// split the outermost refined dim whose size isn't 1.
void spec_print(const Mesh *m, const Value *v, const Spec *s, Text *t);
// The text is not trusted. Returns false after an error.
bool spec_parse(const Mesh *m, const Value *v, const char *text, Spec *s, Diag *d);

// ---- from spec to spec ----

typedef enum ReshardKind {
    RESHARD_ALL_GATHER,      // split → whole
    RESHARD_SLICE,           // whole → split: each rank keeps its shard
    RESHARD_ALL_TO_ALL,      // split → split on another dim
    RESHARD_ALL_REDUCE,      // partial → whole
    RESHARD_REDUCE_SCATTER,  // partial → split
    RESHARD_PERMUTE,         // two axes are swapped
    RESHARD_MASK,  // whole → partial: coordinate 0 keeps it, the others take the identity
    N_RESHARD_KINDS
} ReshardKind;

// May a slice of the value be read in place, without a copy? A value that no node makes is in
// memory all the time anyway. Inputs are an exception: a rank should hold only its shard of them.
static inline bool is_sliced_in_place(const Value *v)
{
    return !v->producer && v->kind != VALUE_INPUT;
}

// A step along one axis; all other axes stay as they are. It takes the innermost axis from a dim,
// or puts an axis onto a dim as the innermost. So the shards that it joins or cuts are exactly the
// nested chunks, whatever the sizes. They begin at multiples of the inner chunk after the start of
// the outer shard, as in spec_shard. With RESHARD_PERMUTE, p ranks along `axis` and q along
// `other`, rank (i, j) gets the shard of rank (k / q, k % q), where k = j · p + i. Either p = q,
// and the two axes exchange their dims; or `axis` is the axis just outside `other` on a dim and
// becomes the one just inside, and both orders cut the dim into the same p · q consecutive shards.
typedef struct ReshardStep {
    ReshardKind kind;
    int axis, other;       // other: of RESHARD_PERMUTE; otherwise -1
    int from_dim, to_dim;  // Spec.at of the axis before and after: a dim, or SPEC_…
    Spec after;
    int64_t picoseconds;
    int64_t bucket_saving;  // picoseconds saved by joining a bucket; `picoseconds` is without them
    // Bytes that each rank hands to the collective; 0 of RESHARD_SLICE and RESHARD_MASK.
    int64_t bytes;
    // Bytes of buffers to pack shards that can't be sent, or received, where they lie.
    int64_t staging;
} ReshardStep;

// Seconds of a collective along `axes` together (bit a: axis a), to which each rank hands `bytes`
// bytes.
double collective_seconds(const Mesh *m, ReshardKind kind, unsigned axes, double bytes);
// Seconds of the same collective during which the rank can't compute.
double collective_overhead(const Mesh *m, ReshardKind kind, unsigned axes, double bytes);

// Picoseconds of a step along `axes` that sends `sent` bytes (as of collective_seconds), and reads
// and writes bytes of the rank's own memory: the time of the links and of moving the bytes.
int64_t reshard_step_picoseconds(const Mesh *m, ReshardKind kind, unsigned axes, double sent,
                                 double read, double written);

// Small steps of some kinds along one axis are joined into buckets if they needn't wait for each
// other. Returns the share of a bucket that a step has to which each rank hands `bytes` bytes. 1:
// the step stays alone.
double bucket_share(const Mesh *m, ReshardKind kind, int axis, int64_t bytes);

// One reshard path from spec to spec.
typedef struct ReshardPath {
    int n_steps;
    int64_t picoseconds;
    // The peak of the bytes in use, without the source and the result: values between two steps,
    // and staging.
    int64_t transient;
    // For reshard_path_steps: the last settled label before the end, and the edge after it.
    int32_t before, last;
} ReshardPath;

// Finds the cheapest reshard paths on a mesh. Paths are searched once per shape and source spec.
typedef struct Resharder Resharder;

Resharder *resharder_new(Arena *a, const Mesh *m);
// A resharder for values whose small steps join buckets (values_bucketed).
Resharder *resharder_new_bucketed(Arena *a, const Mesh *m);
void resharder_count(Resharder *l, Budget *b);  // its searches are counted from now on
// Gives all Pareto-optimal reshard paths from one valid spec to another, fastest first: no other
// path is as fast with as few transient bytes. There is at least one; between equal specs it has no
// steps. The paths live as long as the arena.
int reshard_paths(Resharder *l, const Value *v, Spec from, Spec to,
                  const ReshardPath **reshard_path);
// Writes the n_steps steps of one of these paths to `step`.
void reshard_path_steps(Resharder *l, const Value *v, Spec from, Spec to,
                        const ReshardPath *reshard_path, ReshardStep *step);
// The picoseconds of the fastest path. Cheaper than reshard_paths.
int64_t reshard_fastest(Resharder *l, const Value *v, Spec from, Spec to);

// ---- strategies ----

// How a node's work is spread: a Spec whose dims are the factors of the node's rule. FACTOR_NONE:
// every rank along the axis does the same. Linear operators turn partial sums of an input into
// partial sums of the output. LINEAR_JOINT: all inputs of Rule.joint are partial; LINEAR_SINGLE +
// i: input i alone is.
typedef Spec Strategy;
enum { FACTOR_NONE = SPEC_REPLICATED, LINEAR_JOINT = SPEC_SUM, LINEAR_SINGLE = MAX_FACTORS };

// the most strategies of one node
enum { MAX_STRATEGIES = 4096 };

// Lists all strategies of a node, in `a`; the first splits nothing. If there are more than
// MAX_STRATEGIES, the smallest factors aren't split. Returns how many.
int strategies_of(Arena *a, const Rule *r, const Mesh *m, Strategy **to);
bool strategy_is_legal(const Rule *r, const Mesh *m, const Strategy *s);
// The spec that the strategy needs of an input, or gives an output. Operands are counted as in
// Rule.dim.
Spec strategy_spec(const Rule *r, const Strategy *s, int operand);

// Prints "m:dp+tp linear:pp": after the letter of a factor the axes that split it, outermost first;
// after "linear" the axes along which the node is linear, "linear.i" in input i alone. Prints "-"
// if nothing is split.
void strategy_print(const Rule *r, const Mesh *m, const Strategy *s, Text *t);
// The text is not trusted. Returns false after an error.
bool strategy_parse(const Rule *r, const Mesh *m, const char *text, Strategy *s, Diag *d);

// ---- what must be alike ----

// Which storage specs a value may have, from lax to strict.
typedef enum StorageRule {
    STORAGE_ANY,
    STORAGE_SUM,         // partial only as sums
    STORAGE_COMPLETE,    // not partial
    STORAGE_REPLICATED,  // whole on every rank
} StorageRule;

// Values and nodes that every plan treats alike: the iterations of a block, and both ends of a
// carry.
typedef struct TiedValues {
    ValueId *value;  // by ValueId: the first of its tied values
    NodeId *node;    // by NodeId: its node of the first iteration
    // By node of the first iteration: the same node of the second and of the last iteration.
    NodeId *second, *last;
    StorageRule *storage_rule;  // by first tied value: the strictest rule of them all
} TiedValues;

TiedValues tied_find(Arena *a, const Graph *g);
bool storage_allows(StorageRule storage_rule, const Spec *s);

// The value that an input reads in the first, second and last iteration of its node's block.
typedef struct InputSources {
    ValueId first, second, last;
} InputSources;

InputSources tied_input_sources(const Graph *g, const TiedValues *k, NodeId n, int i);
// True outside of blocks, and where all iterations read the same value.
static inline bool sources_are_equal(InputSources f)
{
    return f.first == f.second && f.second == f.last;
}
// The value whose storage spec input i has when it is read. It is the input itself, except where
// only one iteration reads from outside of the block. Then it is the value that the other
// iterations read, so that all iterations stay alike.
ValueId tied_input_value(const Graph *g, const TiedValues *k, NodeId n, int i);

// By 3 · first tied value + phase: how many inputs of nodes read the value's compute spec. Tied
// nodes count once.
int *tied_readers(Arena *a, const Graph *g, const TiedValues *k);

// By ValueId: may small reshard steps of the value join buckets? True if no reader is in the phase
// that makes the value, as of gradients, or if no node makes it. The same for all tied values.
bool *values_bucketed(Arena *a, const Graph *g, const TiedValues *k);

// ---- plans ----

// Which values the backward part makes again instead of keeping them, where no run says otherwise.
typedef enum RecomputeRule {
    RECOMPUTE_NONE,     // nothing
    RECOMPUTE_MIN_CUT,  // elementwise work, so that the fewest bytes are kept
    N_RECOMPUTE_RULES
} RecomputeRule;

// Layers of a class under one policy, and their kernels that run again. Ids are of the training
// graph before recomputation.
typedef struct KeepRun {
    int32_t cls;          // 0: the nodes outside of classes
    int first, n_layers;  // the iterations [first, first + n_layers); 0 of class 0
    const NodeId *again;  // the kernels that may run again, in iteration 0; ascending
    int n_again;
} KeepRun;

// A recomputation policy. Runs are sorted by class and first layer, and share no layer.
typedef struct RecomputePolicy {
    RecomputeRule rule;
    const KeepRun *run;
    int n_runs;
} RecomputePolicy;

bool recompute_policy_equal(const RecomputePolicy *a, const RecomputePolicy *b);
// Why the node of the graph before recomputation can't run again; NULL if it can.
const char *rerun_problem(const Graph *g, NodeId n);

// A spec for each value and a strategy for each node, by ids of one graph. An input of a node is
// converted from its storage spec to the compute spec of the phase, and from there to the spec that
// the strategy needs. An output is converted from the spec that the strategy gives to the storage
// spec.
typedef struct Plan {
    Mesh mesh;
    Spec *storage_spec;  // by ValueId
    Strategy *strategy;  // by NodeId
    Spec *compute_spec;  // by 3 · ValueId + phase; NULL: all equal to the storage specs
    // How that graph was made of the model's training graph.
    RecomputePolicy recompute;
} Plan;

// Can the plan be carried out? Specs and strategies are legal. Constants and hyper-parameters are
// replicated. Partial sums are results of nodes or zeros, and no outputs. Tied values and nodes are
// alike.
bool plan_check(const Graph *g, const Plan *p, Diag *d);

// ---- the work of a shard ----

// By NodeId: how often a step of so many micro-batches runs the node, or as many predictions. A
// step runs updates once, and so it does what makes half copies of parameters.
int64_t *node_times(Arena *a, const Graph *g, int accumulate);

// Which values go through memory, as far as one can tell before fusion. Views don't, nor do values
// that are made and read within the same rows of elementwise nodes and sums.
typedef struct Traffic {
    bool *is_stored;  // by ValueId
    ValueId *base;    // by ValueId: the value whose bytes it has: itself, unless it is a view
} Traffic;

Traffic traffic_find(Arena *a, const Graph *g);

// The work of a node on the largest shard under a strategy. `whole` is its node_work. A view has
// none.
Work shard_work(const Graph *g, const Node *n, const Work *whole, const Traffic *t, const Rule *r,
                const Mesh *m, const Strategy *s);

#endif
