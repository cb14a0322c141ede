// Plans as files (docs/plan.md): what a plan says of each value and node, by name. Repeated blocks
// stand there once, by their first iteration. All texts are of printable ASCII: bytes that names
// have beside it are written \xHH.
#ifndef SHARDCC_ANALYZER_PLAN_FILE_H
#define SHARDCC_ANALYZER_PLAN_FILE_H

#include "analyzer/analyzer.h"

typedef struct PlanAxis {
    const char *name;
    int size;
    const char *link;  // the slowest that it crosses; NULL: there is none
} PlanAxis;

typedef struct PlanBlock {
    const char *name;
    int layers;
} PlanBlock;

// What is said of a value or of a node. The text of a value's specs is spec_print's, of a node's
// strategies strategy_print's.
typedef struct PlanEntry {
    const char *name;    // as in the graph's text; of a node, its first output's
    const char *kind;    // of a value, as in the graph's text; of a node, its operator
    const char *type;    // of a value as its user knows it; of a node, its rule
    const char *phase;   // of a node
    const char **reads;  // … its inputs, by name
    int n_reads;
    const char *module;  // … whose it is; NULL: the compiler's
    int block;           // by place in the list of blocks, from 1: it stands for all its layers
    const char *spec;    // in force
    const char *solved;  // what the search chose
    bool pin;            // … and was asked for
    const char
        *compute_spec[3];  // of a value, by Phase: its Plan.use, where that isn't as it rests
    const char *over;      // … the value that it is written over, for the next step …
    const char *gradient;  // … the parameter whose gradient it is
    const char *read;      // … for people: as what its readers get it, where that isn't
    const char *next;      // the best alternative, all else held; NULL: there is none
    double next_seconds;   // what that costs more
    // Of a step, in all layers: a node's work, or what brings a value to where it rests and is
    // read.
    double seconds;
    int64_t bytes;  // of a rank's piece of a value at rest, in one layer; 0 where it isn't kept
} PlanEntry;

typedef struct PlanCollective {
    const char *kind;   // the operator
    const char *value;  // what it moves
    const char *axis;   // along which, joined by '+'
    const char *phase;
    const char *before;  // the node that it stands before; NULL: none
    int block;           // in each of its layers
    int bucket;          // sent together with others of that number; 0: alone
    int64_t times;       // in a step
    int64_t bytes;       // that each rank hands to it, each time
    double seconds;      // all times together
} PlanCollective;

typedef struct PlanMemoryPart {
    const char *kind;
    int64_t bytes;
} PlanMemoryPart;

typedef struct PlanPreset {
    const char *name;
    bool fits;
    double seconds;
    double simulated;  // of its program; 0: that wasn't made
    int64_t bytes;
} PlanPreset;

typedef struct PlanFile {
    const char *model, *cluster;  // base names
    uint64_t model_hash, cluster_hash;
    const char **option;  // words of a command line: all that the graph follows from
    int n_options;
    int ranks;
    int64_t memory;      // bytes that a rank has
    const char *preset;  // to which the plan was to keep; NULL: to none
    PlanAxis *axis;
    int n_axes;
    double seconds, compute, communication;  // of a step
    double cheapest;                         // … of the plan of the least sum, if it isn't this
    double bound;                            // no plan takes less
    // Of the program's step: how long it takes, and of its communication what nothing hides, and
    // what goes on beside computation.
    double simulated, exposed, hidden;
    double least;          // no plan's step is priced at less, whatever goes on beside what
    int meshes, excluded;  // that there were; … that hold nothing better by a bound
    int left_out;          // … that were too large to look at, which the bound doesn't cover
    int64_t bytes;         // of a rank, at the fullest moment
    const char *fullest;   // when that is
    PlanMemoryPart *memory_part;  // what holds them
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

// The text, and what it says: untrusted; false after an error. Numbers have 9 digits.
void plan_file_print(const PlanFile *f, Text *t);
bool plan_file_parse(Arena *a, const char *text, size_t n, PlanFile *f, Diag *d);
bool plan_file_open(Arena *a, const char *path, PlanFile *f, Diag *d);

// What a plan says of its graph: mesh, blocks, values and nodes, spec and solved alike; bytes of
// values and seconds of nodes; the hashes.
void plan_file_make(PlanFile *f, const Graph *g, const Cluster *c, const Plan *p, int accumulate,
                    Arena *a);
// The ids of its entries, in their order; returns how many there are.
int plan_file_values(const Graph *g, Arena *a, ValueId **value);
int plan_file_nodes(const Graph *g, Arena *a, NodeId **node);
ValueId *plan_file_entries(const Graph *g, Arena *a);  // by ValueId, the one that stands for it
// The words of a file: by Phase; a text whose other bytes than printable ASCII are \xHH.
extern const char *const phase_names[];
char *printable_text(Arena *a, const char *s);
uint64_t graph_hash(const Graph *g);  // of its text
uint64_t cluster_hash(const Cluster *c);

// What of a plan is asked for: in these, spec and strategy are to stay as they are.
typedef struct PlanPins {
    ValueId *value;
    NodeId *node;
    int n_values, n_nodes;
} PlanPins;

// The plan in force, of the graph on the cluster. Pinned are entries where `pin` is true, or spec
// and solved differ; a plan with such needn't fit together. False after an error: the file is of
// another graph or cluster, or says what can't be.
bool plan_file_read(const PlanFile *f, const Graph *g, const Cluster *c, Plan *p, PlanPins *pins,
                    Arena *a, Diag *d);
// The same of a file that is known to be of these.
bool plan_file_fit(const PlanFile *f, const Graph *g, const Cluster *c, Plan *p, PlanPins *pins,
                   Arena *a, Diag *d);

#endif
