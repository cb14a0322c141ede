// Plans as files (docs/plan.md): spec and strategy of each value and node, by name. A repeated
// block has entries for its first iteration only. All texts are printable ASCII: other bytes of
// names are written \xHH.
#ifndef SHARDCC_ANALYZER_PLAN_FILE_H
#define SHARDCC_ANALYZER_PLAN_FILE_H

#include "analyzer/sharding/sharding.h"

typedef struct PlanAxis {
    const char *name;
    int size;
    const char *link;  // the slowest one that the axis crosses; NULL: there is none
} PlanAxis;

typedef struct PlanBlock {
    const char *name;
    int layers;
} PlanBlock;

// The entry of a value or of a node. Its specs are texts of spec_print for a value, and of
// strategy_print for a node.
typedef struct PlanEntry {
    const char *name;    // as in the graph's text; of a node, the name of its first output
    const char *kind;    // of a value, as in the graph's text; of a node, its operator
    const char *type;    // of a value, as its user knows it; of a node, its rule
    const char *phase;   // of nodes only
    const char **reads;  // of nodes only: the inputs, by name
    int n_reads;
    const char *module;  // of nodes only: its module in the source; NULL: made by the compiler
    int block;  // index in the list of blocks, from 1; the entry applies to all layers; 0: none
    const char *spec;    // in force
    const char *solved;  // chosen by the search
    bool pin;            // the user asked for `spec`
    // For values only, by Phase: Plan.compute_spec, where it isn't the storage spec.
    const char *compute_spec[3];
    const char *over;      // of values only: the value that it overwrites for the next step
    const char *gradient;  // of values only: the parameter whose gradient it is
    // For values only, to be shown to people: the specs in which its readers need it, where they
    // differ.
    const char *read;
    const char *next;     // the best alternative if all else stays; NULL: there is none
    double next_seconds;  // how much more the alternative costs
    // Seconds of a step, in all layers: of a node's work, or of resharding a value after it is made
    // and before it is read.
    double seconds;
    // Bytes of a rank's shard of a stored value, in one layer; 0 if it isn't kept.
    int64_t bytes;
} PlanEntry;

typedef struct PlanCollective {
    const char *kind;   // the operator
    const char *value;  // the value that it moves
    const char *axis;   // the axes, joined by '+'
    const char *phase;
    const char *before;  // the node that follows it; NULL: none
    int block;           // it happens in each layer of that block; 0: none
    int bucket;          // collectives with the same number are sent together; 0: alone
    int64_t times;       // how often in a step
    int64_t bytes;       // that each rank hands to it, each time
    double seconds;      // of all times together
} PlanCollective;

typedef struct PlanMemoryPart {
    const char *kind;
    int64_t bytes;
} PlanMemoryPart;

typedef struct PlanPreset {
    const char *name;
    bool fits;
    double seconds;
    double simulated;  // of its program's step; 0: no program was made
    int64_t bytes;
} PlanPreset;

// Layers that keep the same, of the graph before recomputation.
typedef struct PlanKeep {
    const char *cls;     // as class_key names it; "": the nodes outside of classes
    int first, layers;   // the layers [first, first + layers); both 0 outside of classes
    const char **again;  // the kernels that may run again, by name, in the class's first layer
    int n_again;
} PlanKeep;

typedef struct PlanFile {
    const char *model, *cluster;  // base names
    uint64_t model_hash, cluster_hash;
    const char **option;  // the words of the command line that determine the graph
    int n_options;
    int ranks;
    int64_t memory;  // bytes that a rank may use
    int64_t
        exchange_memory;    // bytes of its device that are left for communicators, no part of that
    const char *target;     // that of its programs; NULL: the default one
    const char *precision;  // of products' operands: "bf16", "f16"; NULL: f32
    int threads;            // of a rank at most; 0: as many as the target's kernels can use
    const char *preset;     // the preset that the user asked for; NULL: none
    // The policy in force, and the one of the graph that the entries are of: names of rules, and
    // what runs keep.
    const char *recompute, *recompute_solved;
    PlanKeep *keep, *keep_solved;
    int n_keep, n_keep_solved;
    PlanAxis *axis;
    int n_axes;
    double seconds, compute, communication;  // of a step
    double cheapest;  // seconds of the plan with the least sum, if it isn't this plan
    double bound;     // no plan's sum is less
    // Seconds of the program's simulated step: the whole, the exposed communication, and the
    // communication that computation hides.
    double simulated, exposed, hidden;
    double least;          // no plan's step is priced at less, even if all communication overlaps
    int meshes, excluded;  // all meshes; those that a bound excluded
    int left_out;          // meshes that were too large to search; the bound doesn't cover them
    int64_t bytes;         // of a rank, when most are in use
    const char *fullest;   // the moment when most bytes are in use
    PlanMemoryPart *memory_part;  // what holds `bytes`
    int n_memory_parts;
    PlanPreset *rival;
    int n_rivals;
    PlanBlock *block;
    int n_blocks;
    PlanEntry *value, *node;
    int n_values, n_nodes;
    PlanCollective *collective;
    int n_collectives;
} PlanFile;

// Prints and reads the text. A text that is read is not trusted; false after an error. Numbers have
// 9 digits.
void plan_file_print(const PlanFile *f, Text *t);
bool plan_file_parse(Arena *a, const char *text, size_t n, PlanFile *f, Diag *d);
bool plan_file_open(Arena *a, const char *path, PlanFile *f, Diag *d);

// Fills in what a plan says of its graph: mesh, recomputation, blocks, values and nodes with `spec`
// and `solved` alike, the bytes of values, the seconds of nodes, and the cluster's hash.
void plan_file_make(Arena *a, PlanFile *f, const Graph *g, const Cluster *c, const Plan *p,
                    int accumulate);
// Gives the ids of the entries, in the order of the file. Returns how many there are.
int plan_file_values(Arena *a, const Graph *g, ValueId **value);
int plan_file_nodes(Arena *a, const Graph *g, NodeId **node);
// By ValueId: the value whose entry applies to it.
ValueId *plan_file_entries(Arena *a, const Graph *g);
// phase_names: by Phase. printable_text: writes bytes that aren't printable ASCII as \xHH.
extern const char *const phase_names[];
char *printable_text(Arena *a, const char *s);
uint64_t graph_hash(const Graph *g);  // of its text
// Hash of all that programs of the plan follow from: model, cluster, ranks, mesh, target, threads,
// what runs again, and the specs and strategies in force.
uint64_t plan_file_hash(const PlanFile *f);
uint64_t cluster_hash(const Cluster *c);
const char *recompute_name(RecomputeRule rule);
// Gives N_RECOMPUTE_RULES if there is none of that name.
RecomputeRule recompute_rule(const char *name);

// Sets *keep to the runs of a policy of graph `g`. Returns how many there are.
int plan_keep_make(Arena *a, const Graph *g, const RecomputePolicy *p, PlanKeep **keep);
// "blocks 0 to 1: val_8, val_84": the layers of an entry, and what runs again in them.
char *plan_keep_text(Arena *a, const PlanKeep *keep);
// Do two lists of entries say the same?
bool plan_keeps_equal(Arena *a, const PlanKeep *x, int n, const PlanKeep *y, int m);
// Reads them back. The list isn't trusted: false after reporting that an entry, of the file's list
// of that name, is wrong.
bool plan_keep_read(Arena *a, const PlanKeep *keep, int n, const char *list, const Graph *g,
                    RecomputePolicy *to, Diag *d);

// The values and nodes whose spec or strategy the user asked for.
typedef struct PlanPins {
    ValueId *value;
    NodeId *node;
    int n_values, n_nodes;
} PlanPins;

// Is the file of this model and cluster? `g` is the training graph before recomputation. Returns
// false after an error.
bool plan_file_check(const PlanFile *f, const Graph *g, const Cluster *c, Diag *d);
// Reads the plan in force, for the graph that its entries are of. Entries are pinned where `pin` is
// true, or where spec and solved differ. A plan with pins needn't be consistent. Returns false
// after an error: the file is invalid.
bool plan_file_read(Arena *a, const PlanFile *f, const Graph *g, const Cluster *c, Plan *p,
                    PlanPins *pins, Diag *d);

#endif
