// The graph: its values and nodes, its text form, its operators and its passes.
//
// A Graph is in SSA form. Every value is defined before its use, and nodes are executed in the
// order of their ids unless `lower/` finds a better one. Ids are indices into arrays; id 0 is
// "none". A pass may renumber everything, so no id is valid after a pass.
#ifndef SHARDCC_IR_H
#define SHARDCC_IR_H

#include "base/budget.h"

enum {
    MAX_RANK = 12,  // dims of a value, refined ones included
    MAX_ATTRS = 19,
    MAX_FACTORS = 24,
    MAX_OUTPUTS = 4,
    MAX_ACCUMULATE = 1 << 20,  // micro-batches of a step
};

typedef int32_t ValueId, NodeId;

// Supported element types. BOOL is one byte, 0 or 1.
typedef enum DType {
    DT_NONE,
    F32,
    F64,
    F16,
    BF16,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    BOOL,
    N_DTYPES
} DType;

const char *dtype_name(DType t);     // "f32"
DType dtype_find(const char *name);  // DT_NONE if there is none
int dtype_size(DType t);             // bytes of one element
const char *dtype_c_type(DType t);   // "int32_t"; "RtF16", "RtBf16"; "uint8_t" for BOOL
const char *dtype_rt(DType t);       // in runtime/rt_model.h: "RT_F32"
bool dtype_is_float(DType t);
bool dtype_is_half(DType t);  // F16 or BF16
// Does dtype `b` hold every number of dtype `a` exactly?
bool dtype_is_within(DType a, DType b);
bool dtype_is_int(DType t);  // signed or unsigned, not BOOL

typedef enum ValueKind {
    VALUE_ACTIVATION,  // made by a node
    VALUE_INPUT,       // read from data, a batch at a time
    VALUE_HYPER,       // a scalar that the trainer sets before each step: step, lr (default `fill`)
    VALUE_PARAMETER,   // learned; loaded from and saved to the weights file
    VALUE_BUFFER,      // running statistics, large tables: not learned; in the weights file too
    VALUE_STATE,       // optimizer state; starts as `fill`
    VALUE_CONSTANT,    // `data`, known to the compiler; small
    VALUE_ZERO,        // micro-batch accumulators and the like: set to `fill` before the first use
    N_VALUE_KINDS
} ValueKind;

// The label of a value or node in a repeated block: class `cls` (0: in none), iteration `iter`,
// position `pos`. Nodes with equal (cls, pos) are instances of each other. A value without a
// producer (a parameter, a state) has the label of the iteration that it belongs to. Nodes that
// recompute what an iteration has made run `again`: so many times it has been made before.
typedef struct Block {
    int32_t cls, iter, pos, again;
} Block;

// Are both in the same iteration of the same class?
static inline bool is_same_block(Block a, Block b) { return a.cls == b.cls && a.iter == b.iter; }

typedef struct Value {
    const char *name;  // any bytes; unique among inputs, parameters, buffers and states
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK];
    ValueKind kind;
    NodeId producer;  // 0 unless kind is VALUE_ACTIVATION
    Block block;      // set for values without a producer; others have their producer's
    // The shape that the user sees (files, reports) of an input, parameter, buffer or output whose
    // dims were refined. own_rank < 0: it is `dim`. The row-major bytes are the same in both.
    int own_rank;
    int64_t own_dim[MAX_RANK];
    const void *data;  // VALUE_CONSTANT: elements in row-major order, in the dtype's own layout
    double fill;       // VALUE_STATE, VALUE_ZERO, VALUE_HYPER: initial value of every element
    bool is_labels;    // VALUE_INPUT: the loss compares the model's output with it
} Value;

typedef enum Phase { FORWARD, BACKWARD, UPDATE } Phase;

typedef enum AttrType { ATTR_INT, ATTR_FLOAT, ATTR_INTS, ATTR_TEXT } AttrType;

// One attribute. AttrDef.type says which member is set.
typedef struct Attr {
    union {
        int64_t i;         // ATTR_INT; a DType is an int printed by name
        double f;          // ATTR_FLOAT
        const int64_t *v;  // ATTR_INTS: n of them
        const char *s;     // ATTR_TEXT
    };
    int n;
} Attr;

typedef struct OpDef OpDef;
typedef struct Kernel Kernel;
typedef struct Split Split;
struct Relation;
struct Lexer;

// The part of the user's model that a node was made from, for messages, comments and reports.
typedef struct Source {
    const char *name;   // the ONNX node's, or its first output's; else "cross_entropy", "adamw" …
    const char *scope;  // module path; of an update, the parameter's name; "" if unknown
} Source;

typedef struct Node {
    const OpDef *op;
    int n_in, n_out;
    ValueId *in;  // n_in of them; 0 for an optional input that is absent
    ValueId out[MAX_OUTPUTS];
    Attr attr[MAX_ATTRS];  // in the order of op->attrs
    Phase phase;
    Block block;
    const Source *source;  // NULL if unknown
} Node;

// A carry writes `out` over `in` for the next step (parameters, optimizer state, running
// statistics) or the next micro-batch (gradient accumulators). Every reader of `in` comes before
// the writer of `out`; both have the same shape, dtype and storage.
typedef enum Scope { SCOPE_STEP, SCOPE_MICRO } Scope;
typedef struct Carry {
    ValueId in, out;
    Scope scope;
} Carry;

typedef enum OutputRole {
    OUTPUT_MODEL,       // an output of the model
    OUTPUT_LOSS_SUM,    // f32[]: the sum of this micro-batch's losses
    OUTPUT_LOSS_COUNT,  // f32[]: the number that divides OUTPUT_LOSS_SUM
    OUTPUT_GRADIENT,    // the gradient, before clipping, of the parameter with the output's name
    OUTPUT_GRAD_NORM,   // f32[]: 2-norm of all gradients, before clipping
    OUTPUT_BAD_LABEL,   // i64[]: 0, or 1 + the position of the first label out of range
    // i64[]: 0, or of the index farthest out of range, x: 2 x + 1, or -2 x if it is negative. The
    // name is that of the node, or of all like it, with * for numbers.
    OUTPUT_BAD_INDEX,
    // i64[]: 0, or of the sizes of a split's parts, x: as above. x is the least size if it is
    // negative, or else their sum, which isn't the dim's size.
    OUTPUT_BAD_SIZES,
    // f32[]: the factor of OUTPUT_LOSS_SUM, instead of 1 / OUTPUT_LOSS_COUNT. It is made of the
    // accumulator of that over micro-batches, a VALUE_ZERO; autodiff replaces it by the total.
    OUTPUT_LOSS_FACTOR,
    OUTPUT_LOSS_SCALE,  // f32[]: the factor of the loss while its gradients are made
} OutputRole;

typedef struct Output {
    const char *name;
    ValueId value;
    OutputRole role;
    int64_t ignored;  // of OUTPUT_BAD_LABEL: the label that the loss ignores
    int64_t bound;    // of OUTPUT_BAD_INDEX: indices must be below it; _SIZES: the dim's size
} Output;

static inline bool output_has_bound(OutputRole r)
{
    return r == OUTPUT_BAD_INDEX || r == OUTPUT_BAD_SIZES;
}

// A class of repeated blocks: `length` isomorphic iterations.
typedef struct BlockClass {
    const char *name;  // common scope, for comments: "transformer.h"
    int32_t length;
} BlockClass;

typedef struct Graph {
    Arena *arena;
    const char *name;
    Value *values;  // [0] is unused
    int n_values, cap_values;
    Node *nodes;  // [0] is unused
    int n_nodes, cap_nodes;
    Carry *carries;
    int n_carries, cap_carries;
    Output *outputs;
    int n_outputs, cap_outputs;
    BlockClass *classes;  // [0] is unused
    int n_classes, cap_classes;
    bool training;      // false: the forward-only graph of evaluation and prediction
    const char *after;  // of a text: the pass after which it was printed; NULL: it doesn't say
    int accumulate;     // of a text: the micro-batches of a step; 0: one
    // graph_node gives new nodes this phase, block and source, and reports mistakes to `diag`.
    Diag *diag;
    Phase phase;
    Block block;
    const Source *source;
    Budget *budget;  // counts the work of passes; NULL: it isn't counted
} Graph;

// ---- building ----

Graph *graph_new(Arena *a, const char *name);

// A copy of `g` in `a`, which any pass can change. Texts and attributes are shared with `g`.
Graph *graph_clone(Arena *a, const Graph *g);

// Appends a value without a producer; dims are copied. Its own_rank is -1.
ValueId graph_value(Graph *g, ValueKind kind, const char *name, DType t, int rank,
                    const int64_t *dim);

// Appends a node with `n_in` inputs (optional ones at the end may be left out) and attributes
// `attr` (one per op->attrs; NULL: all zero). Shape inference makes its outputs; returns the first
// one. Phase, block and source are the graph's current ones. Lists and texts of `attr` are copied.
// Reports a mistake in shapes or dtypes to g->diag and returns 0. Returns 0 without a message if a
// required input is 0, because the builder that returned that 0 has reported it. So a chain of
// builders needs one check, at its end.
ValueId graph_node(Graph *g, const OpDef *op, int n_in, const ValueId *in, const Attr *attr);

// Output `i` of the node that made `v`.
ValueId graph_output_of(const Graph *g, ValueId v, int i);

const Source *graph_source(Graph *g, const char *name, const char *scope);  // NULL counts as ""
void graph_carry(Graph *g, ValueId in, ValueId out, Scope scope);
void graph_output(Graph *g, const char *name, ValueId v, OutputRole role);
ValueId output_of_role(const Graph *g, OutputRole role);          // the first one; 0: there is none
void graph_output_like(Graph *g, const Output *like, ValueId v);  // like one of another graph

// Values to read. value_edit gives one to those who may change the graph.
static inline const Value *value_of(const Graph *g, ValueId v) { return &g->values[v]; }
static inline Value *value_edit(Graph *g, ValueId v) { return &g->values[v]; }
static inline const Value *in(const Graph *g, const Node *n, int i) { return &g->values[n->in[i]]; }
static inline const Value *out(const Graph *g, const Node *n) { return &g->values[n->out[0]]; }
// Operand `i`: inputs come first, then outputs. 0: an absent input.
static inline ValueId nth_operand(const Node *n, int i)
{
    return i < n->n_in ? n->in[i] : n->out[i - n->n_in];
}
static inline const Node *producer(const Graph *g, ValueId v)
{
    return &g->nodes[g->values[v].producer];
}

void dense_strides(int rank, const int64_t *dim, int64_t *stride);  // row-major, in elements
int64_t value_count(const Value *v);  // elements; checked when the value was made
int64_t value_bytes(const Value *v);
Block value_block(const Graph *g, ValueId v);  // its producer's, or its own

// Is `v` one number everywhere: a scalar constant, seen through cast, broadcast and reshape? Then
// *x is the number.
bool value_splat(const Graph *g, ValueId v, double *x);

// The elements of an input must be in [least, bound), because they index a dim. bound 0: they may
// be any number.
typedef struct IndexRange {
    int64_t least, bound;
} IndexRange;

IndexRange input_range(const Graph *g, ValueId input);

// Is every element of `v` at most 1, or NaN? Recognises x - max(x) along dims of x, with the
// maximum perhaps rounded down, and -|x| and -(x · x).
bool value_is_low(const Graph *g, ValueId v);

// Appends a constant scalar of dtype `t`. Only the fold pass merges equal ones.
ValueId graph_scalar(Graph *g, DType t, double x);

// Appends a constant; `data` is kept, not copied.
ValueId graph_constant(Graph *g, DType t, int rank, const int64_t *dim, const void *data);

// Reports an error at `n`: its name, operator, the text, its inputs with their shapes, its scope.
// Returns false.
bool node_error(const Graph *g, const Node *n, Diag *d, const char *fmt, ...) PRINTF(4, 5);

// ---- rewriting ----
// A pass that changes a graph builds a new one from it, in the same arena, and replaces the old one
// by it. It calls rewrite_begin; then, for every old node, either rewrite_copy, or builders and
// rewrite_put; then rewrite_end. rewrite_begin copies values without a producer. rewrite_end
// translates outputs and carries, drops every node that none of them needs, and renumbers.
typedef struct Rewrite {
    Graph *from, *to;
    ValueId *map;  // by old ValueId: the new value; 0: none yet
} Rewrite;

Rewrite rewrite_begin(Graph *g);
NodeId rewrite_copy(Rewrite *r, NodeId n, Diag *d);  // same operator and attributes, mapped inputs
// Maps `old` to the new value `v`, which gets the name and own shape of `old` if it has none.
void rewrite_put(Rewrite *r, ValueId old, ValueId v);
void rewrite_at(Rewrite *r, NodeId n);  // gives the nodes made next n's phase, block and source
bool rewrite_end(Rewrite *r, Diag *d);  // `from` holds the result; false if errors were reported

// Drops nodes and constants that no output or carry needs.
void graph_prune(Graph *g);

// The name of a class, or "repeated block 3" if it has none.
const char *class_label(const Graph *g, int32_t cls);
// The label, followed by "#2" and so on if earlier classes have the same one.
const char *class_key(Arena *a, const Graph *g, int32_t cls);
// "h.{}.attn" from "h.1.attn", the path of something in a block.
char *layered_path(Arena *a, const Graph *g, Block b, const char *path);
// Clears the labels of a class, so that its iterations are compiled one by one.
void graph_write_out(Graph *g, int32_t cls);

// Moves the iterations of `cls` from `first` on to a new class, the last one.
void class_split(Graph *g, int32_t cls, int first);
// Clears the labels of classes with less than two iterations and renumbers the others.
void class_compact(Graph *g);
// Splits the classes of `g` where a class of `like` ends, another graph with the same parameters.
// Then a layer's parameters lie at even distances in both graphs.
void classes_align(Graph *g, const Graph *like);

// Sets Block.pos from cls and iter: nodes of an iteration are numbered in their order, values
// without a producer in the order in which these nodes read them first, then the others as they
// were numbered before. Other nodes tell nothing: they differ by iteration.
void graph_number_blocks(Graph *g);

// By ValueId: how many times a node reads it, it is an output, or a carry writes it.
int *graph_count_uses(Arena *a, const Graph *g);

// ---- checking ----

// Does every invariant hold: order, ids, shapes as inferred, unique names, carries, block labels?
// Reports the violations found.
bool graph_verify(const Graph *g, Diag *d);

// Are the iterations of class `cls` isomorphic? If not, `why` gets the first difference.
bool block_check(const Graph *g, int32_t cls, Text *why);

// ---- text ----

// Prints what graph_parse reads: all but the copies that lowering adds.
void graph_print(const Graph *g, Text *t);
// By ValueId: the names that graph_print uses, each once.
const char **graph_names(Arena *a, const Graph *g);
// Returns NULL after reporting errors with line numbers. The text is not trusted.
Graph *graph_parse(Arena *a, const char *text, size_t n, Diag *d);
// The same for a text of one or two graphs. The second one (NULL: none) must be forward only.
Graph *graph_parse_two(Arena *a, const char *text, size_t n, Graph **second, Diag *d);
// Reads the graph that begins at a token of a longer text.
Graph *graph_read(Arena *a, struct Lexer *l);
void value_print_type(const Value *v, Text *t);  // "f32[4,16]"
extern const char *const value_kind_names[N_VALUE_KINDS];

// ---- operators ----

typedef enum FactorKind {
    FACTOR_PARALLEL,  // splits inputs and outputs alike
    FACTOR_SUM,       // in inputs only; outputs of shards are partial: their sum is the result
    FACTOR_MAX,       // in inputs only; the maximum over the shards is the result
    FACTOR_MIN,       // in inputs only; the minimum over the shards is the result
    FACTOR_MASKED,    // gather's indexed dim; a shard gives zero for rows of others, shards add up
    FACTOR_WINDOW,    // a spatial dim of convolution or pooling; needs a halo and is not split
    FACTOR_BLOCKED,   // not split; OpDef.no_split says why
} FactorKind;

// The factors of a node's iteration space (Shardy: factor sharding rule). Each dim of each operand
// is one factor. A mesh axis may split any factor whose kind is not WINDOW or BLOCKED. Operands are
// the inputs, then the outputs.
typedef struct Rule {
    int n_factors;
    int64_t size[MAX_FACTORS];
    FactorKind kind[MAX_FACTORS];
    int n_in, n_out;
    char letter[MAX_FACTORS];  // in rule_set's text
    int8_t (*dim)[MAX_RANK];   // [operand][dim] → factor
    uint64_t joint;            // mask of inputs in which the operator is jointly linear (add: both)
    uint64_t single;           // mask of inputs in each of which alone it is linear (mul, dot)
} Rule;

// Sets *r to the rule of a node; its arrays are in `a`.
void node_rule(Arena *a, const Graph *g, const Node *n, Rule *r);

// Sets a rule from text, one letter per factor: "mk,kn->mn". Sizes are the node's. A letter that is
// only in inputs is a sum, any other one is parallel; rule_kind changes that. A '.' before a letter
// has no meaning. An absent input is an empty operand. If the dims of a letter differ in size
// (windows, blocked ones), the factor has the size of the first.
void rule_set(const Graph *g, const Node *n, Rule *r, const char *text);
void rule_kind(Rule *r, char letter, FactorKind kind);
void rule_print(const Rule *r, Text *t);  // "mk,kn->mn sum:k linear:0|1"

// The shard of a node that one rank evaluates, by factor of the node's rule: the offset of its
// first element and the size of the whole. NULL means the whole node.
typedef struct NodeShard {
    int64_t offset[MAX_FACTORS], whole[MAX_FACTORS];
} NodeShard;

// A row-major tensor for `eval`. Floats are doubles that are rounded to the dtype after every
// operator (F64 needs no rounding); integers and BOOL are int64.
typedef struct Tensor {
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK];
    double *f;   // dtype_is_float
    int64_t *i;  // otherwise
} Tensor;

int64_t tensor_count(const Tensor *t);
Tensor tensor_new(Arena *a, DType t, int rank, const int64_t *dim);
void tensor_round(Tensor *t);                        // rounds every element to the dtype
Tensor tensor_of(Arena *a, const Value *v);          // the elements of a constant
const void *tensor_pack(Arena *a, const Tensor *t);  // elements in the dtype's own layout

typedef struct AttrDef {
    const char *name;
    AttrType type;
    bool is_dtype;   // an int printed as a dtype
    double missing;  // the default of an int or float
    bool is_affine;  // may grow evenly from iteration to iteration of a block, as slice's start
} AttrDef;

// All that shardcc knows about an operator. Each file of ir/ops/ defines one; ops.def lists them.
struct OpDef {
    const char *name;
    int n_in;         // inputs; MIN_INPUTS(k) for k and more
    int n_optional;   // how many of the n_in inputs may be absent (0)
    int optional_at;  // the first input that may be absent; 0: the last n_optional may
    int n_out;        // 0 means 1
    AttrDef attrs[MAX_ATTRS];
    // Sets dtype and dims of all outputs. Reports mistakes and returns false.
    bool (*infer)(Graph *g, Node *n, Diag *d);
    void (*rule)(const Graph *g, const Node *n, Rule *r);
    // Appends nodes that make the gradients dx of the inputs (0: none) from the gradients dy of the
    // outputs (0: none). `want[i]`: is dx[i] needed? NULL: not differentiable.
    void (*grad)(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx);
    // Reference evaluation: plain scalar loops. `out` is allocated with the shard's dims.
    void (*eval)(const Graph *g, const Node *n, const NodeShard *p, const Tensor *in, Tensor *out);
    // Elementwise: the C expression of one element. $0 $1 $2 are the inputs, in the C types of
    // their dtypes. $i0 is the element's index along dim 0 of the output (iota, random), $n0 the
    // dim's size; if the node is a shard, both count in the whole. $a2 is attribute 2, an int that
    // may grow with the iteration. The caller parenthesises operands that aren't names, and the
    // expression. Functions that it calls are in runtime/rt_math.h. NULL: there is a kernel.
    const char *(*expr)(const Graph *g, const Node *n);
    bool is_sum;          // sums over dims (attribute 0); can end the rows of a fused group
    bool is_elementwise;  // all operands have one shape; `scalar` and `scalar_int` evaluate it
    bool is_comparison;
    bool is_choice;  // each element of the first output is one of the input's
    double (*scalar)(const Node *n, const double *x);        // floats and comparisons of them
    int64_t (*scalar_int)(const Node *n, const int64_t *x);  // integers and booleans
    uint64_t narrow_in;  // mask of inputs that may be halves where the others and sums are f32
    bool is_product;     // its flops are those of matrix products: dot, convolution, attention
    bool is_attention, is_attention_grad;  // products around a softmax, with rates of their own
    double flops;  // per element of the iteration space; 0 if it only moves bytes
    double (*work)(const Graph *g, const Node *n);  // flops of the node, where `flops` can't say it
    // Makes the output a view of the input's bytes: sets the output's strides from the input's, and
    // the offset of its first element (all in elements). False: it needs a copy; NULL: always.
    bool (*view)(const Graph *g, const Node *n, const int64_t *in_stride, int64_t *out_stride,
                 int64_t *offset);
    // For an operator that only copies inputs into its output: sets strides and offset of the
    // subview that input i fills. `fill`: all other elements; NULL: inputs cover the output.
    void (*subview)(const Graph *g, const Node *n, int i, const int64_t *out_stride,
                    int64_t *in_stride, int64_t *offset);
    double (*fill)(const Node *n);
    // The index of attribute `site`, which `layer` follows. Together they make the random numbers
    // of nodes differ. 0: this node draws none.
    int (*site)(const Node *n);
    // For refine: says which parts of dims are the same where the rule can't. NULL: only dims of
    // parallel and reduced factors may be split.
    void (*relate)(const Graph *g, const Node *n, struct Relation *r);
    // For refine: builds the node over split dims and returns its first output; 0: impossible.
    // NULL: the attributes stay the same (elementwise operators), or its dims are never split.
    ValueId (*split)(Graph *g, const Node *n, const Split *s);
    // Sets the attributes that depend on sizes to the shard's; `size` has the shard's sizes by
    // factor of `r`; lists are in `a`. NULL: no attribute depends on sizes.
    void (*localise)(Arena *a, const Node *n, const Rule *r, const int64_t *size, Attr *attr);
    // Collectives: evaluates the node for all ranks along its mesh axes in one call. `in` and `out`
    // are by rank, row-major over the axes (attribute 0); `out` has each rank's own dims.
    void (*exchange)(const Node *n, int ranks, const Tensor *in, Tensor *out);
    // Sets *k to the request for its kernel, see node_kernel. NULL: `expr` or `view` serves.
    void (*kernel)(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
    // Does element `e` of input i get no gradient, though the outputs depend on it? NULL: never.
    bool (*holds)(const Graph *g, const Node *n, int i, int64_t e);
    bool is_flat;                      // its gradient is zero wherever it exists, as that of sign
    uint64_t no_grad_in, no_grad_out;  // masks of float inputs and outputs without a gradient
    const char *no_grad;               // why they have no gradient; the tests list it
    const char *no_split;              // why factors are blocked; the tests print it
};

#define MIN_INPUTS(k) (-(k))

#define OP(name) extern const OpDef op_##name;
#include "ir/ops.def"

static inline int node_site(const Node *n) { return n->op->site ? n->op->site(n) : 0; }

const OpDef *op_find(const char *name);  // NULL if there is none
extern const OpDef *const op_table[];    // all, in the order of ops.def; NULL ends it

// Evaluates one node on whole inputs; `in` and `out` are as in OpDef.eval. Allocates `out` in `a`.
void node_eval(Arena *a, const Graph *g, const Node *n, const Tensor *in, Tensor *out);

// Evaluates the shard of one node at `p`; the caller allocates `out` with the shard's dims.
void node_eval_shard(const Graph *g, const Node *n, const NodeShard *p, const Tensor *in,
                     Tensor *out);

// Evaluates the graph. The caller sets `values` (by ValueId) of all values without a producer,
// except constants; graph_eval sets all others.
void graph_eval(Arena *a, const Graph *g, Tensor *values);

#include "ir/passes.h"

#endif
