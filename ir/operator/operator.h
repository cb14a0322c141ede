// Checks, rules, C expressions and kernel calls that several operators' files share.
#ifndef SHARDCC_IR_OPERATOR_H
#define SHARDCC_IR_OPERATOR_H

#include "ir/internal.h"
#include "ir/kernel.h"

// ---- shape inference ----
bool infer_number(const Graph *g, const Node *n, int i, Diag *d);  // is input i not BOOL?
bool infer_number_like(Graph *g, Node *n, Diag *d);                // infer_like, without BOOL
// Is 0 ≤ axis < rank? `name` is the attribute's, for the message.
bool infer_axis(const Graph *g, const Node *n, const char *name, int64_t axis, int rank, Diag *d);
// Are the entries of an ints attribute ascending and below `limit`?
bool infer_ascending(const Graph *g, const Node *n, int attr, int limit, Diag *d);

// Checks a node that draws random numbers. Its inputs from index `seed` on are seed, step and
// micro; its attributes from index `site` on are site and layer; `micro` is the number of
// micro-batches.
bool infer_draw(const Graph *g, const Node *n, int seed, int site, int64_t micro, Diag *d);

// ---- rules ----
// The letters of factors in a rule's text, in the order of their first use.
#define LETTERS "abcdefghijklmnopqrstuvwx"
enum { RULE_TEXT = 96 };  // bytes for the text of a rule of three operands

void rule_linear(const Graph *g, const Node *n, Rule *r);  // rule_elementwise, linear in all inputs
void rule_source(const Graph *g, const Node *n, Rule *r);  // inputs, if any, are scalars

// ---- C expressions of one element ----
// They are in the form of OpDef.expr. u64 is ordered, divided and converted as if it were i64, here
// and in evaluation.
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

// Is element a before element b in descending order? NaN comes first.
bool element_above(const Tensor *x, int64_t a, int64_t b);

// ---- views and kernels ----
// Adds the offset of the rank's shard of a factor, times `by`, to the field at `at`, if ranks have
// shards of it.
void kernel_add_shard(Kernel *k, size_t at, int factor, int64_t by);
// Asks for dense copies (Kernel.copies) of the operands that aren't dense.
void kernel_dense(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
// Asks for a dense copy of one operand, if it isn't dense.
void kernel_dense_operand(const Graph *g, const Node *n, int operand,
                          const int64_t (*stride)[MAX_RANK], Kernel *k);
// Are the bytes of `v` (n, c, spatial…) dense in the order (n, spatial…, c)?
bool is_channels_last(const Value *v, const int64_t *stride);
// Asks for a copy of an input in that order.
void kernel_want_channels_last(const Graph *g, const Node *n, int input, Kernel *k);

// ---- reductions ----
enum { REDUCE_AXES, REDUCE_FIRST };  // indices of attributes

// A reduction of two elements to one; `first` is its neutral element.
typedef struct Fold {
    double first;
    double (*join)(double a, double b);
    int64_t first_int;
    int64_t (*join_int)(int64_t a, int64_t b);
} Fold;

bool infer_reduce(Graph *g, Node *n, Diag *d);
void rule_reduce(const Graph *g, const Node *n, Rule *r, FactorKind kind);
void eval_reduce(const Node *n, const Fold *fold, const Tensor *x, Tensor *y);
// The row-major index of each element of x along some axes, at least one.
ValueId positions_along(Graph *g, ValueId x, int n_axes, const int64_t *axes);
// Σ dy along the axes: the gradient of the input of a broadcast along them.
ValueId gradient_sum(Graph *g, ValueId dy, int n_axes, const int64_t *axes);

// ---- low.c ----
// Is `v` x - max(x) along dims of x, with the maximum perhaps rounded down or bounded?
bool value_is_shifted(const Graph *g, ValueId v);

// ---- norm.c ----
// Is v a sum of squares or of powers of |x|, perhaps scaled, or a product of such sums, so that its
// root is a norm, a standard deviation, or a product of norms?
bool value_is_norm_power(const Graph *g, ValueId v);
// Sets dx of reduce_max or reduce_min. Equal extremes share dy evenly, or the first one has it.
void grad_extremum(Graph *g, const Node *n, ValueId dy, ValueId *dx);
void kernel_reduce(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k,
                   RtReduceOp op);
// The least and the largest number of an integer dtype or BOOL. U64 has the numbers of I64, because
// it is ordered as I64.
int64_t dtype_least(DType t);
int64_t dtype_most(DType t);

// A tensor as [outer, n, inner], where n is one dim.
typedef struct Along {
    int64_t outer, n, inner;
} Along;

Along along(int rank, const int64_t *dim, int axis);
// Sets the kernel's parameters, an RtAlong, except those of one operator alone.
void kernel_along(const Graph *g, const Node *n, int axis, const int64_t (*stride)[MAX_RANK],
                  Kernel *k);
// "ab->ab" with the axis blocked, for operators along one dim that keep the rank.
void rule_along(const Graph *g, const Node *n, Rule *r, int axis);

// ---- indexing: gather and scatter ----
// Indices of attributes.
enum { GATHER_AXIS, GATHER_BATCH, SCATTER_N, SCATTER_REDUCTION, GATHER_SKIP = SCATTER_N };
enum { SCATTER_ONTO = 2 };  // index of input onto

// The table is [batch, outer, n, inner], the index [batch, index], the rows are
// [batch, outer, index, inner].
typedef struct GatherDims {
    int64_t batch, outer, n, index, inner;
} GatherDims;

GatherDims gather_dims(const Node *n, int table_rank, const int64_t *table, int index_rank,
                       const int64_t *index);
// The row of a shard of n rows from `offset` on that has this index; -1 if another shard has it.
int64_t gather_row(int64_t index, int64_t offset, int64_t n);
// indexed.c: the rows of the table of a gather or scatter.
int64_t index_bound(const Graph *g, const Node *n);
// Is v = select(x < 0, x + n, x), which counts negative numbers from the end? Then *x is x.
bool index_counts_from_end(const Graph *g, ValueId v, int64_t n, ValueId *x);
bool infer_index(const Graph *g, const Node *n, int table_rank, Diag *d);
// Sets dx of a scatter that doesn't add.
void grad_scatter(Graph *g, const Node *n, ValueId dy, const bool *want, ValueId *dx);
void kernel_gather(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                   const Value *table, Kernel *k);

// ---- shards: for OpDef.localise, whose `size` is by factor ----
// For a node whose attribute 0 is the dims of the output.
void localise_shape(Arena *a, const Node *n, const Rule *r, const int64_t *size, Attr *attr);
// Sets an attribute that lists the dims of an operand to the dims of the shard.
void localise_dims(Arena *a, const Rule *r, int operand, const int64_t *size, Attr *attr);

// ---- collectives: between the ranks along some mesh axes, each with its shard ----
// Every collective has these attributes first: the axes, and the number of ranks along each.
#define EXCHANGE_ATTRS                                                                             \
    {"axes", ATTR_INTS}, { "ranks", ATTR_INTS }
enum { EXCHANGE_AXES, EXCHANGE_RANKS, EXCHANGE_OWN };
#define EXCHANGE_NO_SPLIT "it joins shards of a graph that is split already"
#define EXCHANGE_NO_GRAD "gradients are made before a graph is split"

bool infer_exchange(const Graph *g, const Node *n, Diag *d);
// Is attribute `attr` a dim of the input?
bool infer_exchange_dim(const Graph *g, const Node *n, int attr, Diag *d);
// Attribute `attr` names a dim. Are the largest shards of `size` elements as long as the input's
// dim?
bool infer_exchange_size(const Graph *g, const Node *n, int attr, int64_t size, Diag *d);
void rule_exchange(const Graph *g, const Node *n, Rule *r);
int64_t exchange_shard(const Node *n, int64_t size);  // elements of the largest shard of `size`
// Is attribute `attr` a reduction: "sum", "max" or "min"?
bool infer_reduction(const Graph *g, const Node *n, int attr, Diag *d);
Fold exchange_fold(const Node *n, int attr, DType t);
RtExchange exchange_flat(const Value *v);  // all elements as one dim
// Bytes may be in channels-last order (is_last). It is used if the output's strides have it.
bool exchange_is_last(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK]);
// The position of a dim in the order of the bytes; 0 is the outermost.
int exchange_position(const Value *v, int dim, bool is_last);
// The product of the dims at positions [first, last).
int64_t exchange_count(const Value *v, int first, int last, bool is_last);
// The value as [outer, whole, inner], where `whole` is the dim.
RtExchange exchange_around(const Value *v, int dim, bool is_last);
// Sets *k to the call of the operator's kernel with `p`, whose type and axes it fills in. `axes`:
// how many mesh axes the kernel takes; *k stays empty for a node with another number. `op`: index
// of the attribute that names the reduction; 0: none.
void kernel_exchange(const Graph *g, const Node *n, int axes, RtExchange p, int op,
                     const int64_t (*stride)[MAX_RANK], Kernel *k);
// The index in dim `dim` at which the shard of rank `rank` begins, given the shards of all ranks.
int64_t exchange_offset(const Tensor *shard, int rank, int dim);
// For all i below `size`: y[y_at + i] = x[x_at + i], or fold(y[y_at + i], x[x_at + i]) if `fold`
// isn't NULL.
void tensor_box(const Tensor *x, const int64_t *x_at, Tensor *y, const int64_t *y_at,
                const int64_t *size, const Fold *fold);

#endif
