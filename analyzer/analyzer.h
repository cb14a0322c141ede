// Facts about graphs and machines, never choices: what a node's work is, what a cluster can do, and
// how long the one takes on the other.
#ifndef SHARDCC_ANALYZER_H
#define SHARDCC_ANALYZER_H

#include "ir/ir.h"

// ---- work ----

// What one call of a kernel or fused group does.
typedef struct Work {
    double flops;
    // Bytes that memory moves, each operand's once. What is written without having been read is
    // fetched first, and counts as both: a cache holds whole lines.
    double read, written;
    DType type;
    // Where is_product: it amounts to `batch` products of matrices m by k and k by n.
    bool is_product, is_attention;
    double batch, m, n, k;
} Work;

double node_flops(const Graph *g, const Node *n);
// The bytes of operand i (inputs, then outputs) that the node touches: of an indexed table only the
// rows that are taken.
double node_bytes(const Graph *g, const Node *n, int i);
// flops, type and product of the node; read and written are the caller's to add.
Work node_work(const Graph *g, const Node *n);

// ---- clusters ----

// The flop/s of a product of that size.
typedef struct GemmRate {
    DType type;
    double m, n, k, flops;
} GemmRate;

// What joins groups of devices: those of so many devices that stand in a row (of the level below;
// of one device, if there is none). A message of n bytes takes alpha + beta · n.
typedef struct Link {
    const char *name;
    int devices;         // that it joins, all levels below included
    int shared_by;       // so many devices in a row share one link …
    double alpha, beta;  // … on which one message takes that: s, s/byte
    double overhead;     // s/byte that a device is kept from computing meanwhile
} Link;

// A kind of machine, its numbers measured (`shardcc detect`). All devices are alike.
typedef struct Cluster {
    int devices_per_host;
    int threads;            // of a device, with which its rates were measured
    double memory;          // bytes of a device
    double bandwidth;       // bytes/s that its memory moves, read and written together …
    double read_bandwidth;  // … and those read alone
    double launch;          // seconds that a call takes before it does anything
    double vector;          // elementwise flop/s
    double attention;       // flop/s of attention and its gradient together, f32; 0: as of products
    GemmRate *gemm;
    int n_gemm;
    Link *link;  // from the fastest on; each joins a multiple of what the one before does
    int n_links;
} Cluster;

// The text form: JSON, see docs/cluster.md. Untrusted; false after an error.
bool cluster_parse(Arena *a, const char *text, size_t n, Cluster *c, Diag *d);
bool cluster_read(Arena *a, const char *path, Cluster *c, Diag *d);
void cluster_print(const Cluster *c, Text *t);

// What `--cluster` names: "local" (this machine, shared by so many ranks), "a100xN", "h100xN", or
// else a file. False after an error.
bool cluster_open(Arena *a, const char *name, int ranks, Cluster *c, Diag *d);
int cluster_devices(const Cluster *c);

// What the probe of a running job says of messages. Row r of alpha and beta: that from rank r to s
// takes alpha[r · ranks + s] + beta[r · ranks + s] · bytes.
typedef struct Messages {
    int ranks, tries;
    double *alpha, *beta;
    // By try · ranks + stride, where every rank exchanges messages with the one so far away: how
    // many times as long one takes, and the seconds a byte that computation does. 0: unknown.
    double *times, *overhead;
} Messages;

// The levels of links among ranks, more than one. As long as the levels differ by a factor of 2,
// messages may be off by 15 %, and of the tries less than half by any factor. Returns how many.
int links_fit(Arena *a, const Messages *m, Link **link);

// ---- meshes and specs ----

enum { MAX_AXES = 4 };

// The ranks as a grid: rank r has coordinate r / (product of the sizes after axis a) % size[a]
// along axis a. Axes stand from slow links to fast ones. A message of n bytes along axis a takes
// alpha[a] + beta[a] · n.
typedef struct Mesh {
    int n_axes;
    int size[MAX_AXES];
    const char *name[MAX_AXES];  // letters, digits and '_'; x0, x1 … unless the user named them
    double alpha[MAX_AXES];      // s
    double beta[MAX_AXES];       // s/byte
    double overhead[MAX_AXES];   // s/byte that a rank is kept from computing meanwhile
    double launch, copy;         // s, s/byte: what a rank takes to move bytes in its own memory
} Mesh;

// What a mesh axis does to a value where it doesn't split one of its dims.
enum { SPEC_REPLICATED = -1, SPEC_SUM = -2, SPEC_MAX = -3, SPEC_MIN = -4 };

// How a value lies on a mesh: for each axis the dim (refined) that it splits, or SPEC_…: every rank
// along it has the whole, or a part, and the value is the sum (max, min) of them. Where axes
// share a dim, level 0 is the outermost; of all others the level is 0. Chunks nest: c = ceil(n /
// p), then ceil(c / q); a rank's extent is what is left of the dim, maybe 0. Specs are equal where
// their bytes are; axes that the mesh lacks are SPEC_REPLICATED.
typedef struct Spec {
    int8_t at[MAX_AXES];
    int8_t level[MAX_AXES];
} Spec;

enum { MAX_MESH_RANKS = 1 << 16 };  // of a mesh

// All meshes of so many ranks, the first devices of the cluster: up to 4 axes, above 64 ranks
// 3. Where groups of devices are joined by slower links, some axis begins. Returns how many; 0
// after an error: there are not so many devices.
int mesh_shapes(Arena *a, const Cluster *c, int ranks, const Mesh **mesh, Diag *d);
// The mesh of that text: "2x4", or "dp=2,tp=4"; it needn't begin an axis anywhere. The text is not
// trusted; false after an error.
bool mesh_parse(Arena *a, const Cluster *c, int ranks, const char *text, Mesh *m, Diag *d);
bool mesh_read(Arena *a, const char *text, Mesh *m, Diag *d);  // the text alone, without links
void mesh_print(const Mesh *m, Text *t);
void mesh_print_axes(const Mesh *m, const int *axis, int n, Text *t);  // "dp+tp"

// The name of the slowest link that an axis crosses.
const char *mesh_link(const Cluster *c, const Mesh *m, int axis);

// Does its link take an exchange's time, and not the rank's own memory? Then something else can go
// on meanwhile.
static inline bool axis_is_slow(const Mesh *m, int axis) { return m->beta[axis] > 4 * m->copy; }

int mesh_ranks(const Mesh *m);
int mesh_stride(const Mesh *m, int axis);  // ranks r and r + stride are neighbours along the axis
int mesh_coordinate(const Mesh *m, int axis, int rank);

Spec spec_replicated(void);  // every rank has the whole
bool spec_equal(const Spec *a, const Spec *b);
// SPEC_SUM, SPEC_MAX or SPEC_MIN if an axis of it is; otherwise SPEC_REPLICATED.
int spec_partial(const Spec *s);
// Can values of that rank lie so? Dims and axes are there, levels are dense, and of SPEC_SUM,
// SPEC_MAX and SPEC_MIN there is but one: a maximum of sums isn't the sum of maxima.
bool spec_is_valid(const Mesh *m, int rank, const Spec *s);
// The axes that split a dim, outermost first; returns how many.
int spec_axes(const Spec *s, int dim, int axis[MAX_AXES]);

// Of a dim of n elements: how many a rank's buffer has room for.
int64_t spec_chunk(const Mesh *m, const Spec *s, int dim, int64_t n);
// … and which of them are a rank's: from offset on (n at most), so many (0: none).
void spec_shard(const Mesh *m, const Spec *s, int dim, int64_t n, int rank, int64_t *offset,
                int64_t *extent);
// The bytes of a rank's buffer: all dims at their chunks.
int64_t spec_bytes(const Mesh *m, const Spec *s, const Value *v);

// "[dp+tp,-] sum:pp": a dim's axes, outermost first, or '-'; then those that leave parts. A value
// that has an own shape has an entry for each own dim; if that was split into several, they stand
// with '.' between them, and axes without '.' split the outermost that isn't 1.
void spec_print(const Mesh *m, const Value *v, const Spec *s, Text *t);
// The text is not trusted; false after an error.
bool spec_parse(const Mesh *m, const Value *v, const char *text, Spec *s, Diag *d);

// ---- from spec to spec ----

typedef enum ReshardKind {
    RESHARD_ALL_GATHER,      // split → whole
    RESHARD_SLICE,           // whole → split: each rank keeps its piece
    RESHARD_ALL_TO_ALL,      // split → split on another dim
    RESHARD_ALL_REDUCE,      // parts → whole
    RESHARD_REDUCE_SCATTER,  // parts → split
    RESHARD_PERMUTE,         // two axes change places
    RESHARD_MASK,            // whole → parts: coordinate 0 keeps it, the others take the identity
    N_RESHARD_KINDS
} ReshardKind;

// Are pieces of the value, which each rank has anyway, read where they lie? It is there all the
// time; of inputs a rank had better have its piece alone.
static inline bool is_sliced_in_place(const Value *v)
{
    return !v->producer && v->kind != VALUE_INPUT;
}

// A step along one axis, all other axes staying as they are. It takes the innermost axis from a
// dim, and puts it onto a dim as the innermost: so pieces that are joined or cut are the nested
// chunks, exactly, whatever the sizes. Joined and cut pieces lie at multiples of the inner chunk
// from the outer piece's begin, as spec_shard says.
//   RESHARD_PERMUTE: with p ranks along `axis` and q along `other`, rank (i, j) gets all that rank
// (k / q, k % q) has, where k = j · p + i. Either p = q, and what the two axes do is exchanged; or
// `axis` stands just outside `other` on a dim, then just inside, and both cut it into the same row
// of p · q pieces.
typedef struct ReshardStep {
    ReshardKind kind;
    int axis, other;       // other: of RESHARD_PERMUTE; otherwise -1
    int from_dim, to_dim;  // what Spec.at says of the axis before and after: a dim, or SPEC_…
    Spec after;
    int64_t picoseconds;
    int64_t bucket_saving;  // … less than it takes alone, as others join it
    int64_t bytes;    // that each rank hands to the collective; 0 of RESHARD_SLICE and RESHARD_MASK
    int64_t staging;  // bytes to pack pieces in that can't be sent, or received, where they lie
} ReshardStep;

// Seconds of a collective along `axes` together (bit a: axis a), to which each rank hands so many
// bytes.
double collective_seconds(const Mesh *m, ReshardKind kind, unsigned axes, double bytes);
// … for which computation that goes on meanwhile takes longer.
double collective_overhead(const Mesh *m, ReshardKind kind, unsigned axes, double bytes);

// Picoseconds of a step along `axes` that reads and writes so many bytes of the rank's own memory:
// the links' time and that of moving the bytes.
int64_t reshard_step_picoseconds(const Mesh *m, ReshardKind kind, unsigned axes, double sent,
                                 double read, double written);

// Small steps of some kinds along one axis are joined where they needn't wait for each other. How
// much of a bucket is one to which each rank hands so many bytes? 1: it stays alone.
double bucket_share(const Mesh *m, ReshardKind kind, int axis, int64_t bytes);

// One way from spec to spec.
typedef struct ReshardPath {
    int n_steps;
    int64_t picoseconds;
    // The most bytes at any time beside the way's source and its result: what lies between two
    // steps, and staging.
    int64_t transient;
    int32_t before, last;  // whence it was found: for reshard_path_steps
} ReshardPath;

// The cheapest ways on a mesh, each found once per shape.
typedef struct Resharder Resharder;

Resharder *resharder_new(Arena *a, const Mesh *m);
// The same of values whose small steps join others (values_bucketed).
Resharder *resharder_new_bucketed(Arena *a, const Mesh *m);
// All ways of which no other is faster with as few transient bytes, fastest first: of a value of
// these dims, from one valid spec to another. There is always one; of equal specs it has no steps.
// They live as long as the arena.
int reshard_paths(Resharder *l, const Value *v, Spec from, Spec to,
                  const ReshardPath **reshard_path);
// Writes the steps of one of these, as many as it has.
void reshard_path_steps(Resharder *l, const Value *v, Spec from, Spec to,
                        const ReshardPath *reshard_path, ReshardStep *step);
// The picoseconds of the first of them, found sooner.
int64_t reshard_fastest(Resharder *l, const Value *v, Spec from, Spec to);

// ---- strategies ----

// How a node's work is spread: a Spec over the factors of its rule in place of dims. An axis along
// which every rank does the same is FACTOR_NONE. Where the operator is linear, parts whose sum an
// input is give parts whose sum the output is: LINEAR_JOINT, the inputs of Rule.joint all are such
// parts; LINEAR_SINGLE + i, input i alone is.
typedef Spec Strategy;
enum { FACTOR_NONE = SPEC_REPLICATED, LINEAR_JOINT = SPEC_SUM, LINEAR_SINGLE = MAX_FACTORS };

// At most so many strategies are tried of one node.
enum { MAX_STRATEGIES = 4096 };

// All strategies of a node, in `a`, the one that splits nothing first. Where there would be too
// many, the smallest factors are left whole.
int strategies_of(const Rule *r, const Mesh *m, Arena *a, Strategy **to);
bool strategy_is_legal(const Rule *r, const Mesh *m, const Strategy *s);
// What the strategy needs of an input, or makes of an output: operands are counted as in Rule.dim.
Spec strategy_spec(const Rule *r, const Strategy *s, int operand);

// "m:dp+tp linear:pp": by letter of the rule, the axes that split a factor, outermost first; those
// along which the node is linear, of input i alone as "linear.i"; "-" where nothing is split.
void strategy_print(const Rule *r, const Mesh *m, const Strategy *s, Text *t);
// The text is not trusted; false after an error.
bool strategy_parse(const Rule *r, const Mesh *m, const char *text, Strategy *s, Diag *d);

// ---- what must be alike ----

// What a value may be where it rests, ever stricter.
typedef enum StorageRule {
    STORAGE_ANY,
    STORAGE_SUM,         // no parts but of a sum
    STORAGE_COMPLETE,    // no parts
    STORAGE_REPLICATED,  // every rank has it
} StorageRule;

// What lies or is done alike in every plan: iterations of a block, both ends of a carried pair.
typedef struct TiedValues {
    ValueId *value;  // by ValueId: the first of those like it
    NodeId *node;    // by NodeId: the one of the first iteration
    // By node of the first iteration: those of the second and of the last.
    NodeId *second, *last;
    StorageRule *storage_rule;  // by first value: the strictest of all like it
} TiedValues;

TiedValues tied_find(const Graph *g, Arena *a);
bool storage_allows(StorageRule storage_rule, const Spec *s);

// Where an input comes from in the first, second and last iteration of its node's block.
typedef struct InputSources {
    ValueId first, second, last;
} InputSources;

InputSources tied_input_sources(const Graph *g, const TiedValues *k, NodeId n, int i);
// Outside of blocks, and where all iterations read the same.
static inline bool sources_are_equal(InputSources f)
{
    return f.first == f.second && f.second == f.last;
}
// The value like whose rest input i lies when it is read: itself, but where only one iteration
// reads from outside of the block, what the other ones read, so that iterations stay alike.
ValueId tied_input_value(const Graph *g, const TiedValues *k, NodeId n, int i);

// By ValueId: do its small steps find others to join? Those of values that are read in a later
// phase than they are made in, as gradients are, or that no node makes. TiedValues of all that are
// alike.
bool *values_bucketed(const Graph *g, const TiedValues *k, Arena *a);

// ---- plans ----

// Where everything of a graph is: by id, ids of that graph. A node's inputs are converted from
// where they are at rest, by way of the spec in which its phase uses them, to what its strategy
// needs, its outputs from what it makes to where they rest.
typedef struct Plan {
    Mesh mesh;
    Spec *spec;          // by ValueId: at rest
    Strategy *strategy;  // by NodeId
    Spec *compute_spec;  // by 3 · ValueId + phase; NULL: all as they rest
} Plan;

// Can the plan be carried out? Specs and strategies are legal; constants and hyper-parameters are
// whole; parts of sums are nodes' results and zeros only, and no outputs; what must be alike is.
bool plan_check(const Graph *g, const Plan *p, Diag *d);

// ---- what a piece takes ----

// What goes through memory, as far as can be told before anything is fused: not what is made and
// used within the same rows of elementwise work and sums, and not views.
typedef struct Traffic {
    bool *is_stored;  // by ValueId
    ValueId *base;    // by ValueId: what it is a view of, or itself
} Traffic;

Traffic traffic_find(const Graph *g, Arena *a);

// What a node does on a rank's largest piece under a strategy, `whole` being its node_work. Zero of
// a view.
Work shard_work(const Graph *g, const Node *n, const Work *whole, const Traffic *t, const Rule *r,
                const Mesh *m, const Strategy *s);

// ---- cost ----

// max(flops / flop rate, read / reading, (read + written) / bandwidth) + launch. The rate of a
// product is that of the nearest size that was measured.
double work_seconds(const Cluster *c, const Work *w);
// … of a shard_work: what writes nothing to memory is part of a call that does.
double shard_seconds(const Cluster *c, const Work *w);

#endif
