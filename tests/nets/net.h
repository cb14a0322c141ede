// Random nets: recipes of a few small numbers, and the graphs that they say. A recipe is drawn from
// a seed; equal recipes give equal graphs. Number 0 is the simplest choice everywhere, and every
// layer can be left out, so that a recipe whose program is wrong can be shrunk number by number.
#ifndef SHARDCC_TESTS_NETS_NET_H
#define SHARDCC_TESTS_NETS_NET_H

#include "ir/build.h"

enum { MOST_BLOCKS = 6, MOST_LAYERS = 6, N_ARGS = 4 };

// ---- recipes ----

typedef struct Layer {
    int kind;  // KIND_NONE: x as it is
    int arg[N_ARGS];
} Layer;

typedef enum Topology {
    CHAIN,    // x = f(x)
    SKIP,     // x + f(x)
    SCALED,   // x + s f(x), s a parameter of the block
    GATED,    // z x + (1 - z) f(x), z made of x
    DENSE,    // f of all results before, side by side
    ROOT,     // f(x) + the first x
    U_SHAPE,  // the second half of the blocks gets the results of the first half, last first
    STREAMS,  // y += f(x), then x += g(y)
    ALL,      // the sum of all blocks' results
    BESIDE,   // all blocks' results side by side
    STEPS,    // f(x + a slice of the data), as time steps
    TWICE,    // f(f(x)) by the same parameters
    N_TOPOLOGIES
} Topology;

typedef struct Recipe {
    uint64_t numbers;  // seed of data and parameters
    int rank;          // of the stream of values: 2 to 5
    int64_t dim[5];
    int is_last;  // features are the last dim, else dim 1
    int stem, topology, head;
    int n_blocks, n_layers;
    int n_first;  // blocks from this one on are of the layers of `other`; n_blocks: none
    Layer layer[MOST_BLOCKS][MOST_LAYERS];
    int shared;             // bit by layer: all blocks have its parameters in common
    int like[MOST_BLOCKS];  // block b uses the parameters of block like[b]
    int loss, optimizer, clip, accumulate;
    int plain;  // --no-fuse
} Recipe;

Recipe recipe_draw(uint64_t seed);
// "rank=2 dim=4,6 …", and back. False if it isn't of that form.
void recipe_print(const Recipe *r, Text *t);
bool recipe_parse(const char *s, Recipe *r);

// The texts of --loss and --optimizer, the bound of --clip-norm (0: none), and K.
const char *recipe_loss(const Recipe *r);
const char *recipe_optimizer(const Recipe *r);
double recipe_clip(const Recipe *r);
int recipe_accumulate(const Recipe *r);

// ---- nets ----

enum { MOST_TABLES = 64 };

// A graph in the making.
typedef struct Net {
    const Recipe *r;
    Graph *g;
    bool training;  // batch norms and dropout: as in training, or as in predicting?
    int block, layer;
    int n_sources;              // one for each time that a layer is used
    int part;                   // of a layer's parameters, counted
    int axis;                   // of the features
    ValueId seed, step, micro;  // of random numbers; 0: none yet
    int n_random;
    // Buffers that the step writes, and what they are by now.
    ValueId buffer[MOST_TABLES], now[MOST_TABLES];
    int n_buffers;
} Net;

// The graph in f32, with its output "y" and the carries of its buffers; NULL if the recipe makes no
// sense.
Graph *net_graph(const Recipe *r, bool training, Arena *a, Diag *d);

typedef enum Kind {
    KIND_NONE,
#define KIND(name) KIND_##name,
#include "tests/nets/kinds.def"
#undef KIND
    N_KINDS
} Kind;

extern const char *const kind_names[N_KINDS];

// A layer: of x the next value of the stream, of the same rank. Args may be any numbers ≥ 0.
typedef ValueId LayerFn(Net *n, ValueId x, const int *arg);
#define KIND(name) LayerFn layer_##name;
#include "tests/nets/kinds.def"
#undef KIND

// ---- what layers are made of ----

// A parameter of the present layer; the same one where its parameters are shared and the dims are
// equal. Names end in `what`, by which numbers are drawn: scale, bias, var, mean or other.
ValueId net_parameter(Net *n, const char *what, int rank, const int64_t *dim);
// A buffer of the present layer, and its present value.
ValueId net_buffer(Net *n, const char *what, int rank, const int64_t *dim);
void net_carry(Net *n, ValueId buffer, ValueId now);
ValueId net_random(Net *n, ValueId like);
// A constant of numbers that follow from the layer's place and `arg`.
ValueId net_table(Net *n, int rank, const int64_t *dim, int arg);
ValueId net_indices(Net *n, int64_t count, int64_t bound, int arg);
// x, whose axis `axis` has dim, times a parameter: that axis becomes `to` wide. With a bias?
ValueId net_linear(Net *n, ValueId x, int axis, int64_t to, bool has_bias, bool is_transposed);
// A vector along an axis of x, broadcast to x's shape.
ValueId net_along(Net *n, ValueId vector, ValueId x, int axis);
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
