// Random nets: recipes of a few small numbers, and the graphs that they describe. A recipe is
// drawn from a seed, and equal recipes give equal graphs. Number 0 is everywhere the simplest
// choice, and every layer can be left out. A recipe whose program is wrong can therefore be shrunk
// number by number.
#ifndef SHARDCC_TESTS_NETS_NET_H
#define SHARDCC_TESTS_NETS_NET_H

#include "ir/build.h"

enum { MAX_BLOCKS = 6, MAX_LAYERS = 6, N_ARGS = 4 };

// ---- recipes ----

typedef struct Layer {
    int kind;  // KIND_NONE: the layer returns x unchanged
    int arg[N_ARGS];
} Layer;

typedef enum Topology {
    CHAIN,    // x = f(x)
    SKIP,     // x + f(x)
    SCALED,   // x + s f(x), s a parameter of the block
    GATED,    // z x + (1 - z) f(x), z made of x
    DENSE,    // f of all earlier results, concatenated
    ROOT,     // f(x) + the first x
    U_SHAPE,  // the second half of the blocks gets the results of the first half, last first
    STREAMS,  // y += f(x), then x += g(y)
    ALL,      // the sum of all blocks' results
    BESIDE,   // all blocks' results, concatenated
    STEPS,    // f(x + a slice of the data), as time steps
    TWICE,    // f(f(x)) by the same parameters
    N_TOPOLOGIES
} Topology;

// The numbers of inputs and parameters (data.c): of a usual size; inputs × 300; × 1e-6; rows of
// zeros; rows of one number × 300; ties; one element of 1e4.
typedef enum DataKind {
    DATA_USUAL,
    DATA_LARGE,
    DATA_SMALL,
    DATA_ZEROS,
    DATA_LEVEL,
    DATA_TIES,
    DATA_SPIKE,
    N_DATA_KINDS
} DataKind;

typedef struct Recipe {
    uint64_t numbers;  // seed of the data and parameters
    int rank;          // of the values between layers: 2 to 5
    int64_t dim[5];
    int is_last;  // features are the last dim, else dim 1
    int stem, topology, head;
    int n_blocks, n_layers;
    int n_first;  // blocks from this one on have other layers; n_blocks: none
    Layer layer[MAX_BLOCKS][MAX_LAYERS];
    int shared;            // bit per layer: all blocks share the layer's parameters
    int like[MAX_BLOCKS];  // block b uses the parameters of block like[b]
    int loss, optimizer, clip, accumulate;
    int plain;             // --no-fuse
    int again;             // --recompute: 0 none, 1 full, n: the first n - 1 layers of each block
    int no_decay, freeze;  // numbers of globs of parameters; 0: none
    int more;              // outputs that the loss doesn't use
    int tied;              // the head multiplies by the table of tokens
    int data;              // a DataKind: which numbers the inputs and parameters have
    int half;              // --precision: 0 f32, 1 bf16, 2 f16
    int half_sum;          // --reduce, on several ranks: 0 f32, 1 bf16
} Recipe;

Recipe recipe_draw(uint64_t seed);
// Makes one dim, which the recipe's seed chooses, longer than vectors, warps or tiles, and shortens
// the others if there are too many elements to be evaluated quickly.
void recipe_widen(Recipe *r);
// Gives a net options for some of its parameters, outputs that the loss doesn't use, a tied table,
// and a layer of parameters that are summed or of attention whose rows may have no key.
void recipe_vary(Recipe *r);
// Has the products computed in a half type, and perhaps ranks add gradients up in one.
void recipe_halve(Recipe *r);
// Prints "rank=2 dim=4,6 …" and reads it back. False if the text has another form.
void recipe_print(const Recipe *r, Text *t);
bool recipe_parse(const char *s, Recipe *r);

// The texts of --loss and --optimizer, the bound of --clip-norm (0: none), and K.
const char *recipe_loss(const Recipe *r);
const char *recipe_optimizer(const Recipe *r);
double recipe_clip(const Recipe *r);
int recipe_accumulate(const Recipe *r);
// The globs of --no-decay and --freeze; NULL: none.
const char *recipe_no_decay(const Recipe *r);
const char *recipe_freeze(const Recipe *r);
DType recipe_precision(const Recipe *r);
DType recipe_reduce(const Recipe *r);

// ---- nets ----

enum { MAX_TABLES = 64 };

// A graph that is being built.
typedef struct Net {
    const Recipe *r;
    Graph *g;
    bool training;  // batch norms and dropout work as in training, else as in prediction
    int block, layer;
    int n_sources;              // counts the uses of layers; names their sources
    int part;                   // counts the parameters and buffers of a layer
    int axis;                   // the dim of the features
    bool hides;                 // attention has masks that may hide all keys of a row
    ValueId seed, step, micro;  // inputs of random nodes; 0: not added yet
    int n_random;
    // Buffers that the step writes, and their current values.
    ValueId buffer[MAX_TABLES], now[MAX_TABLES];
    int n_buffers;
} Net;

// Builds the graph in f32, with output "y" and the carries of its buffers. NULL if the recipe
// makes no sense.
Graph *net_graph(Arena *a, const Recipe *r, bool training, Diag *d);

typedef enum Kind {
    KIND_NONE,
#define KIND(name) KIND_##name,
#include "tests/nets/kinds.def"
#undef KIND
    N_KINDS
} Kind;

extern const char *const kind_names[N_KINDS];

// Builds a layer on x and returns a value of the same rank. Args may be any numbers ≥ 0.
typedef ValueId LayerFn(Net *n, ValueId x, const int *arg);
#define KIND(name) LayerFn layer_##name;
#include "tests/nets/kinds.def"
#undef KIND

// ---- what layers are made of ----

// A parameter of the current layer. Calls return the same one where layers share parameters and
// the dims are equal. Names end in `what`, which decides the numbers: scale, bias, var, mean or
// other.
ValueId net_parameter(Net *n, const char *what, int rank, const int64_t *dim);
// The current value of a buffer of the current layer.
ValueId net_buffer(Net *n, const char *what, int rank, const int64_t *dim);
void net_carry(Net *n, ValueId buffer, ValueId now);
ValueId net_random(Net *n, ValueId like);
// A constant whose numbers follow from the layer's position and `arg`.
ValueId net_table(Net *n, int rank, const int64_t *dim, int arg);
ValueId net_indices(Net *n, int64_t count, int64_t bound, int arg);
// Multiplies axis `axis` of x by a matrix parameter, which makes the axis `to` wide.
ValueId net_linear(Net *n, ValueId x, int axis, int64_t to, bool has_bias, bool is_transposed);
// Broadcasts a vector along an axis of x to x's shape.
ValueId net_along(Net *n, ValueId vector, ValueId x, int axis);
// Masks scores [n, h, s, t] so that rows may have no key; arg as a layer's. After the softmax,
// net_guard gives 0 to rows that are NaN, if the args give such rows.
ValueId net_hide(Net *n, ValueId s, const int *arg);
ValueId net_guard(Net *n, ValueId weights, const int *arg);
ValueId net_activation(Net *n, ValueId x, int which, int variant);
ValueId net_norm(Net *n, ValueId x, int which, int variant, bool is_affine);
// Elements [from, from + size) of an axis.
ValueId net_part(Net *n, ValueId x, int axis, int64_t from, int64_t size);
static inline int64_t net_size(const Net *n, ValueId x, int axis)
{
    return value_of(n->g, x)->dim[axis];
}
static inline int net_rank(const Net *n, ValueId x) { return value_of(n->g, x)->rank; }

#endif
