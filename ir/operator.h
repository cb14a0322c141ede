// What the operators' files share beyond internal.h: checks, rules, C expressions and kernel calls
// that several operators have in common.
#ifndef SHARDCC_IR_OPERATOR_H
#define SHARDCC_IR_OPERATOR_H

#include "ir/internal.h"
#include "runtime/rt.h"

// ---- shape inference ----
bool infer_number(const Graph *g, const Node *n, int i, Diag *d);  // is input i of floats or ints?
bool infer_number_like(Graph *g, Node *n, Diag *d);                // infer_like of floats or ints
// Is `axis` (attribute `name`) a dim of rank `rank`?
bool infer_axis(const Graph *g, const Node *n, const char *name, int64_t axis, int rank, Diag *d);
// Are the entries of an ints attribute ascending and below `limit`?
bool infer_ascending(const Graph *g, const Node *n, int attr, int limit, Diag *d);

// Of a node that draws random numbers: its inputs from `seed` on are seed, step and micro, its
// attribute `site` is site, the next one layer; `micro` is the number of micro-batches.
bool infer_draw(const Graph *g, const Node *n, int seed, int site, int64_t micro, Diag *d);

// ---- rules ----
// Factors of a rule's text are named by these, in the order in which they are first seen.
#define LETTERS "abcdefghijklmnopqrstuvwx"
enum { RULE_TEXT = 96 };  // room for the text of a rule of three operands

void rule_linear(const Graph *g, const Node *n, Rule *r);  // rule_elementwise, linear in all inputs
void rule_source(const Graph *g, const Node *n, Rule *r);  // of an output that no input is like

// ---- C expressions of one element ----
// Operands are to be parenthesised where they aren't names; the expression itself isn't. u64 is
// ordered, divided and converted as if it were i64, here and in evaluation.
const char *expr_call(const Graph *g, const Node *n, const char *name);  // rt_NAMEf($0, $1)
const char *expr_number(const Graph *g, const Node *n, const char *name, const char *floats);
const char *expr_order(const Graph *g, const Node *n, const char *sign);  // a comparison

// ---- evaluation ----
static inline void element_copy(Tensor *y, int64_t k, const Tensor *x, int64_t j)
{
    if (y->f)
        y->f[k] = x->f[j];
    else
        y->i[k] = x->i[j];
}

// Does element a stand before element b in descending order? NaN is above all.
bool element_above(const Tensor *x, int64_t a, int64_t b);

// ---- views and kernels ----
// Marks the operands (inputs, then outputs) that aren't dense as to be copied.
void kernel_dense(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
// … only one of them.
void kernel_dense_operand(const Graph *g, const Node *n, int operand,
                          const int64_t (*stride)[MAX_RANK], Kernel *k);
// Do the strides say (n, spatial…, c), densely? `v`: of two dims at least. Marks an input as to be
// copied so.
bool is_channels_last(const Value *v, const int64_t *stride);
void kernel_want_channels_last(const Graph *g, const Node *n, int input, Kernel *k);

// ---- reductions ----
enum { REDUCE_AXES };  // their attribute

typedef struct Fold {  // how two elements become one, and what an empty sum is
    double first;
    double (*join)(double a, double b);
    int64_t first_int;
    int64_t (*join_int)(int64_t a, int64_t b);
} Fold;

bool infer_reduce(Graph *g, Node *n, Diag *d);
void rule_reduce(const Graph *g, const Node *n, Rule *r, FactorKind kind);
void eval_reduce(const Node *n, const Fold *fold, const Tensor *x, Tensor *y);
// Σ dy, what a broadcast's input gets of the gradient of its copies.
ValueId gradient_sum(Graph *g, ValueId dy, int n_axes, const int64_t *axes);
// dx of the largest or smallest: equal ones share dy evenly.
void grad_extremum(Graph *g, const Node *n, ValueId dy, ValueId *dx);
void kernel_reduce(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k,
                   const char *op);
// The smallest and largest number of an integer dtype or BOOL; of U64 those of I64, as it is
// ordered.
int64_t dtype_least(DType t);
int64_t dtype_most(DType t);

// A tensor seen as [outer, n, inner] around one dim.
typedef struct Along {
    int64_t outer, n, inner;
} Along;

Along along(int rank, const int64_t *dim, int axis);
// Arguments "RT_F32, outer, n, inner".
void kernel_along(const Graph *g, const Node *n, int axis, const int64_t (*stride)[MAX_RANK],
                  Kernel *k);
// "ab->ab", with the axis blocked; for operators along one dim that keep the rank.
void rule_along(const Graph *g, const Node *n, Rule *r, int axis);

// ---- indexing: gather and scatter_add ----
enum { GATHER_AXIS, GATHER_BATCH, SCATTER_N, GATHER_SKIP = SCATTER_N };  // their attributes

// A table [batch, outer, n, inner], an index [batch, index], rows [batch, outer, index, inner].
typedef struct GatherDims {
    int64_t batch, outer, n, index, inner;
} GatherDims;

GatherDims gather_dims(const Node *n, int table_rank, const int64_t *table, int index_rank,
                       const int64_t *index);
bool infer_index(const Graph *g, const Node *n, int table_rank, Diag *d);
void kernel_gather(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                   const Value *table, Kernel *k);

// ---- pieces ----
// Attribute 0 is the dims of the output; `size` is that of each factor (see OpDef.localise).
void localise_shape(const Node *n, const Rule *r, const int64_t *size, Arena *a, Attr *attr);
// An attribute that lists the dims of an operand (inputs, then outputs).
void localise_dims(const Rule *r, int operand, const int64_t *size, Arena *a, Attr *attr);

// ---- communication: between the ranks along some mesh axes, each with its piece ----
// Attributes of all: the axes and how many ranks stand along each; the operator's own follow.
#define EXCHANGE_ATTRS                                                                             \
    {"axes", ATTR_INTS}, { "ranks", ATTR_INTS }
enum { EXCHANGE_AXES, EXCHANGE_RANKS, EXCHANGE_OWN };
#define EXCHANGE_NO_SPLIT "it joins pieces of a graph that is split already"
#define EXCHANGE_NO_GRAD "gradients are made before a graph is split"

bool infer_exchange(const Graph *g, const Node *n, Diag *d);
// … whose attribute `attr` is a dim of the input.
bool infer_exchange_dim(const Graph *g, const Node *n, int attr, Diag *d);
// Is `size`, of the dim that attribute `attr` names, what pieces like the input's make up?
bool infer_exchange_size(const Graph *g, const Node *n, int attr, int64_t size, Diag *d);
void rule_exchange(const Graph *g, const Node *n, Rule *r);
int64_t exchange_shard(const Node *n, int64_t size);  // the largest of so many elements' pieces
// The reduction that attribute `attr` names: sum, max or min.
bool infer_reduction(const Graph *g, const Node *n, int attr, Diag *d);
Fold exchange_fold(const Node *n, int attr, DType t);
RtExchange exchange_flat(const Value *v);  // all elements in a row
// Bytes may lie with channels last. What is made decides; the place of a dim among the others, from
// slow to fast; elements of the dims in places [first, last); [outer, whole, inner] around a dim.
bool exchange_is_last(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK]);
int exchange_place(const Value *v, int dim, bool is_last);
int64_t exchange_count(const Value *v, int first, int last, bool is_last);
RtExchange exchange_around(const Value *v, int dim, bool is_last);
// Calls rt_NAME, NAME being the operator's, along so many axes, with `p`, which it completes. `op`:
// the attribute that names the reduction; 0: there is none.
void kernel_exchange(const Graph *g, const Node *n, int axes, RtExchange p, int op,
                     const int64_t (*stride)[MAX_RANK], Kernel *k);
// Where rank `rank`'s piece begins among those of all, in dim `dim`.
int64_t exchange_offset(const Tensor *piece, int rank, int dim);
// y[y_at + i] = x[x_at + i], or what `fold` makes of both, for all i below `size`.
void tensor_box(const Tensor *x, const int64_t *x_at, Tensor *y, const int64_t *y_at,
                const int64_t *size, const Fold *fold);

#endif
