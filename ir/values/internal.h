// Types and functions that the files of ir/values/ share.
#ifndef SHARDCC_IR_VALUES_INTERNAL_H
#define SHARDCC_IR_VALUES_INTERNAL_H

#include "ir/values/values.h"

// ---- drawn numbers ----

// Numbers that are drawn have one thing that is special. Edges that show the most come first.
typedef enum Edge {
    EDGE_NONE,
    EDGE_NO_KEY,    // masks hide whole rows by -inf
    EDGE_LOWEST,    // masks hide whole rows by the least number of f32
    EDGE_LOW,       // masks hide whole rows by -1e9
    EDGE_TRUTH,     // masks are 0 and 1 and hide whole rows; labels are ignored
    EDGE_TIES,      // few different numbers, at which functions have kinks
    EDGE_LARGE,     // × 300
    EDGE_SMALL,     // × 1e-6
    EDGE_CONSTANT,  // constant rows
    EDGE_ZERO,      // zeros
    EDGE_SPIKE,     // one element of 1e4
    N_EDGES
} Edge;

extern const char *const edge_names[N_EDGES];  // for messages

// How numbers are drawn for an input, buffer or parameter.
typedef struct Drawn {
    IndexRange range;  // of integers; bound 0: they are 0 or 1
    bool is_mask;      // of floats: added to the operand of a softmax
    bool is_truth;     // of integers: they are 0 or 1
    bool is_label;
    int64_t ignored;  // the label that the loss ignores
} Drawn;

// Remembers by name how numbers are drawn, so that all passes see the same ones.
typedef struct Draws {
    Arena *arena;
    Map known;
    Drawn *of;
    int n, cap;
    bool moves_weights;  // no input holds floats, so the weights get the edges
} Draws;

// Looks at the values that were in no graph before.
void draws_learn(Draws *d, const Graph *g);
bool draws_edge(const Draws *d, Edge e);  // is there a value for which the edge is another one?
Tensor *draw_all(Arena *a, const Draws *d, Edge e, const Graph *g, int micro);

// ---- comparing ----

// A result of a graph: an output, or the value that a step writes over another one.
typedef struct End {
    const char *name;
    int role;  // an OutputRole; N_ROLES: written by the step
    ValueId v;
} End;

enum { N_ROLES = OUTPUT_LOSS_SCALE + 1 };

// A graph after a pass, and its results by edge. Where it has a loss and no gradients yet, `g` has
// the gradients that autodiff makes of it.
typedef struct Side {
    Arena *arena;
    Graph *base, *g, *wide;
    ValueId *map;  // by ValueId of g: the value of `wide`
    End *end;      // of g
    int n_ends;
    Tensor *result[N_EDGES];  // by end, in f64
} Side;

struct ValueCheck {
    int accumulate;
    uint64_t seed;  // if it isn't 0: of the one edge added to ordinary data
    Draws draws;
    Side was;
    bool is_over;  // a graph takes too long to evaluate
};

// Which numbers a feed draws.
typedef struct DrawEdge {
    const Draws *draws;
    Edge edge;
} DrawEdge;

Feed edge_feed(const DrawEdge *e);

int side_accumulate(const ValueCheck *c, const Side *s);  // micro-batches of its step
// The values of the side's graph in f64, by ValueId of `wide`. `s` (may be NULL) shakes them.
Tensor *side_eval(Arena *a, const ValueCheck *c, const Side *s, Edge e, const Shake *shake);

// A difference that rounding doesn't explain.
typedef struct Difference {
    int end;  // of the later side
    int64_t element;
    double was, is;
} Difference;

// Finds the first such difference between the results of two sides.
bool sides_differ(const ValueCheck *c, const Side *was, const Side *now, Edge e, Difference *to);
double tensor_at(const Tensor *t, int64_t i);
// Are two elements equal, or as near as `part` of `scale`? NaN is equal to NaN.
bool is_near(double x, double y, double scale, double part);
double tensor_scale(const Tensor *t);  // its largest finite element

// Compares gradients of `now` with differences of the loss of `was`. Returns the first parameter
// whose gradient is wrong, with both slopes; NULL: there is none.
const char *find_wrong_slope(const ValueCheck *c, const Side *was, const Side *now, Edge e,
                             double slope[2]);

#endif
