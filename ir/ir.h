// The graph: values and nodes in arrays, named by ids; its text form, its operators, its passes.
//
// A Graph is SSA. Nodes stand in an order in which every input is defined before its use, and are
// executed in that order unless `lower/` finds a better one. Ids are indices into arrays, 0 is
// "none". A pass may renumber everything: ids live no longer than a pass.
#ifndef SHARDCC_IR_H
#define SHARDCC_IR_H

#include "base/base.h"

enum {
    MAX_RANK = 12,  // dims of a value, refined ones included
    MAX_ATTRS = 13,
    MAX_FACTORS = 24,
    MAX_OUTPUTS = 4,
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
const char *dtype_c_type(DType t);   // "int32_t"; "float" for F16 and BF16, "uint8_t" for BOOL
const char *dtype_rt(DType t);       // in runtime/rt.h: "RT_F32"
bool dtype_is_float(DType t);
bool dtype_is_int(DType t);  // signed or unsigned, not BOOL

typedef enum ValueKind {
    VALUE_ACTIVATION,  // made by a node
    VALUE_INPUT,       // read from data, a batch at a time
    VALUE_HYPER,  // a scalar that the trainer sets before each step: lr (default `fill`), step …
    VALUE_PARAMETER,  // learned; loaded from and saved to the weights file
    VALUE_BUFFER,     // not learned, loaded from and saved to the weights file (running statistics,
                      // large tables)
    VALUE_STATE,      // optimizer state; starts as `fill`
    VALUE_CONSTANT,   // `data`, known to the compiler; small
    VALUE_ZERO,       // micro-batch accumulators and the like: set to `fill` before the first use
    N_VALUE_KINDS
} ValueKind;

// Where a value or node stands in a repeated block: iteration `iter` of class `cls` (0: in none),
// at position `pos`. Nodes with equal (cls, pos) are isomorphic; values without a producer
// (parameters, states) carry the block of the iteration that they belong to.
typedef struct Block {
    int32_t cls, iter, pos;
} Block;

// The same iteration of the same class.
static inline bool is_same_block(Block a, Block b) { return a.cls == b.cls && a.iter == b.iter; }

typedef struct Value {
    const char *name;  // any bytes; unique among inputs, parameters, buffers and states
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK];
    ValueKind kind;
    NodeId producer;  // 0 unless kind is VALUE_ACTIVATION
    Block block;      // of values without a producer
    // The shape towards the user (names, files, reports) of an input, parameter, buffer or output
    // whose dims were refined; own_rank < 0: `dim` is it. Row-major bytes are the same.
    int own_rank;
    int64_t own_dim[MAX_RANK];
    const void *data;  // VALUE_CONSTANT: elements in row-major order, in the dtype's own layout
    double fill;       // VALUE_STATE, VALUE_ZERO, VALUE_HYPER: initial value of every element
} Value;

typedef enum Phase { FORWARD, BACKWARD, UPDATE } Phase;

typedef enum AttrType { ATTR_INT, ATTR_FLOAT, ATTR_INTS, ATTR_TEXT } AttrType;

// One attribute; which member counts is the OpDef's to say. Absent ints are the OpDef's default.
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
typedef struct Split Split;
struct Relation;

// Where a node came from, for messages, comments and reports.
typedef struct Source {
    const char *name;   // the ONNX node's name, or its first output's
    const char *scope;  // module path, "" if unknown
} Source;

typedef struct Node {
    const OpDef *op;
    int n_in, n_out;
    ValueId *in;  // n_in; 0 for an optional input that is absent
    ValueId out[MAX_OUTPUTS];
    Attr attr[MAX_ATTRS];  // in the order of op->attrs
    Phase phase;
    Block block;
    const Source *source;  // NULL if the compiler made it
} Node;

// What lives on from one step (parameters, optimizer state, running statistics) or one micro-batch
// (gradient accumulators) to the next: `out` is written over `in`. Every reader of `in` comes
// before the writer of `out`; both have the same shape, dtype and storage.
typedef enum Scope { SCOPE_STEP, SCOPE_MICRO } Scope;
typedef struct Carry {
    ValueId in, out;
    Scope scope;
} Carry;

typedef enum OutputRole {
    OUTPUT_MODEL,       // an output of the model
    OUTPUT_LOSS_SUM,    // f32[]: this micro-batch's sum of losses …
    OUTPUT_LOSS_COUNT,  // f32[]: … and what to divide by
    OUTPUT_GRADIENT,    // the gradient of the parameter whose name the output has, before clipping
    OUTPUT_GRAD_NORM,   // f32[]: 2-norm of all gradients, before clipping
    OUTPUT_BAD_LABEL,   // i64[]: 0, or 1 + the position of the first label out of range
} OutputRole;

typedef struct Output {
    const char *name;
    ValueId value;
    OutputRole role;
} Output;

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
    bool training;  // false: the forward-only graph of evaluation and prediction
    // What nodes made from now on get, and where mistakes in them are reported: see graph_node.
    Diag *diag;
    Phase phase;
    Block block;
    const Source *source;
} Graph;

// ---- building ----

Graph *graph_new(Arena *a, const char *name);

// The same graph once more, whose labels can be taken away and which can get more values and nodes;
// its lists and texts are those of `g`.
Graph *graph_clone(const Graph *g, Arena *a);

// A new value without producer; dims are copied. own_rank is -1.
ValueId graph_value(Graph *g, ValueKind kind, const char *name, DType t, int rank,
                    const int64_t *dim);

// Appends a node with `n_in` inputs (optional ones at the end may be left out) and attributes
// `attr` (one per op->attrs, NULL: all zero), makes its outputs by the operator's shape inference,
// and returns the first. Phase, block and source are the graph's current ones; lists and texts of
// `attr` are copied. On a mistake in shapes or dtypes: reports it to g->diag and returns 0. If a
// required input is 0, returns 0 without a message: whoever made the 0 has reported it. So a chain
// of builders needs one check, at its end.
ValueId graph_node(Graph *g, const OpDef *op, int n_in, const ValueId *in, const Attr *attr);

// Another output of the node that made `v`.
ValueId graph_output_of(const Graph *g, ValueId v, int i);

void graph_carry(Graph *g, ValueId in, ValueId out, Scope scope);
void graph_output(Graph *g, const char *name, ValueId v, OutputRole role);

static inline Value *value_of(const Graph *g, ValueId v) { return &g->values[v]; }
static inline Value *in(const Graph *g, const Node *n, int i) { return &g->values[n->in[i]]; }
static inline Value *out(const Graph *g, const Node *n) { return &g->values[n->out[0]]; }
// Inputs, then outputs; 0: an input that isn't there.
static inline ValueId nth_operand(const Node *n, int i)
{
    return i < n->n_in ? n->in[i] : n->out[i - n->n_in];
}
static inline Node *producer(const Graph *g, ValueId v) { return &g->nodes[g->values[v].producer]; }

void dense_strides(int rank, const int64_t *dim, int64_t *stride);  // row-major, in elements
int64_t value_count(const Value *v);  // elements; checked when the value was made
int64_t value_bytes(const Value *v);
Block value_block(const Graph *g, ValueId v);  // its producer's, or its own

// The element of a scalar constant, or of a broadcast of one: true and the number. Looks through
// cast, broadcast and reshape.
bool value_splat(const Graph *g, ValueId v, double *x);

// The numbers [least, bound) that the elements of an input may be, because they index parameters,
// buffers or constants as they are; bound 0: any.
typedef struct IndexRange {
    int64_t least, bound;
} IndexRange;

IndexRange input_range(const Graph *g, ValueId input);

// Is v at most 1, or NaN, by the way it is made: something less the largest of its row, or no
// more than 0?
bool value_is_low(const Graph *g, ValueId v);

// A constant scalar of dtype `t`; equal ones are shared only by the fold pass.
ValueId graph_scalar(Graph *g, DType t, double x);

// A constant; `data` is kept, not copied.
ValueId graph_constant(Graph *g, DType t, int rank, const int64_t *dim, const void *data);

// Reports an error at `n`: its name, operator, the text, its inputs with their shapes, its scope.
bool node_error(const Graph *g, const Node *n, Diag *d, const char *fmt, ...) PRINTF(4, 5);

// ---- rewriting ----
// A pass that changes a graph builds a new one from it, in the same arena, and moves it into the
// old one's place: begin; for every old node either rewrite_copy or nodes of its own and
// rewrite_map; end. Values without a producer are copied by begin; outputs and carries are
// translated by end, which also drops every node that no output or carry needs and renumbers.
typedef struct Rewrite {
    Graph *from, *to;
    ValueId *map;  // by old ValueId; 0 for what was not carried over yet
} Rewrite;

Rewrite rewrite_begin(Graph *g);
NodeId rewrite_copy(Rewrite *r, NodeId n, Diag *d);  // same operator and attributes, mapped inputs
void rewrite_put(Rewrite *r, ValueId old, ValueId v);  // v, just made, is what `old` was
void rewrite_at(Rewrite *r, NodeId n);  // phase, block and source of what is made next: those of n
bool rewrite_end(Rewrite *r, Diag *d);  // false if errors were reported; `from` holds the result

// Drops nodes and constants that no output or carry needs.
void graph_prune(Graph *g);

// Takes the labels of a class away: its iterations are written out one by one.
void graph_write_out(Graph *g, int32_t cls);

// Numbers Block.pos anew, given cls and iter: nodes of an iteration in their order, values without
// a producer in the order of their first use.
void graph_number_blocks(Graph *g);

// By ValueId, how many times it is an input of a node, an output, or what a carry writes.
int *graph_count_uses(const Graph *g, Arena *a);

// ---- checking ----

// Does every invariant hold? Order, ids, shapes as inferred, unique names, carries, block labels
// (iterations isomorphic up to outside values of the same iteration, the neighbour, shared).
bool graph_verify(const Graph *g, Diag *d);

// Are the iterations of class `cls` isomorphic? If not, `why` gets the first difference.
bool block_check(const Graph *g, int32_t cls, Text *why);

// ---- text ----

void graph_print(const Graph *g, Text *t);
// By ValueId the names in that text, each once.
const char **graph_names(const Graph *g, Arena *a);
// NULL after reporting errors with line numbers. The text is not trusted.
Graph *graph_parse(Arena *a, const char *text, size_t n, Diag *d);
void value_print_type(const Value *v, Text *t);  // "f32[4,16]"
extern const char *const value_kind_names[N_VALUE_KINDS];

// ---- operators ----

typedef enum FactorKind {
    FACTOR_PARALLEL,  // splits inputs and outputs alike
    FACTOR_SUM,       // in inputs only: a split leaves outputs to be added
    FACTOR_MAX,       // … to be maximised
    FACTOR_MIN,
    FACTOR_MASKED,   // the indexed dim of a gather: a piece gives zero outside itself, pieces add
    FACTOR_WINDOW,   // convolution's and pooling's spatial dims: need a halo, not split for now
    FACTOR_BLOCKED,  // not split, the operator's file says why
} FactorKind;

// How a node's dims hang together: each dim of each operand is one factor. A mesh axis may split
// any factor that isn't blocked. Operands are the inputs, then the outputs.
typedef struct Rule {
    int n_factors;
    int64_t size[MAX_FACTORS];
    FactorKind kind[MAX_FACTORS];
    int n_in, n_out;
    char letter[MAX_FACTORS];  // of rule_set's text
    int8_t (*dim)[MAX_RANK];   // [operand][dim] → factor
    uint64_t joint;            // inputs in which the operator is linear together (add: both)
    uint64_t single;           // inputs in each of which it is linear, the others held (mul, dot)
} Rule;

// The rule of a node, its arrays in `a`.
void node_rule(const Graph *g, const Node *n, Arena *a, Rule *r);

// Sets a rule from text: operands' factors as letters, "mk,kn->mn"; sizes are taken from the node.
// Letters only in inputs are sums, all others parallel; rule_kind changes that. A '.' before a
// letter changes nothing; an absent input is an empty operand. Where a letter's dims differ
// (windows, blocked ones) its size is the first one's.
void rule_set(const Graph *g, const Node *n, Rule *r, const char *text);
void rule_kind(Rule *r, char letter, FactorKind kind);
void rule_print(const Rule *r, Text *t);  // "mk,kn->mn sum:k linear:0|1"

// A piece of a node's whole: by factor of its rule. NULL stands for the whole.
typedef struct Place {
    int64_t offset[MAX_FACTORS], whole[MAX_FACTORS];
} Place;

// A tensor for `eval`: floats as double (rounded to the dtype after every operator; F64 isn't),
// integers and BOOL as int64. Row-major.
typedef struct Tensor {
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK];
    double *f;   // dtype_is_float
    int64_t *i;  // otherwise
} Tensor;

int64_t tensor_count(const Tensor *t);
Tensor tensor_new(Arena *a, DType t, int rank, const int64_t *dim);
void tensor_round(Tensor *t);                        // every element to its dtype
Tensor tensor_of(Arena *a, const Value *v);          // of a constant
const void *tensor_pack(Arena *a, const Tensor *t);  // elements in the dtype's own layout

typedef struct AttrDef {
    const char *name;
    AttrType type;
    bool is_dtype;   // an int printed as a dtype
    double missing;  // what an absent int or float stands for
    bool is_affine;  // ints that may grow evenly from iteration to iteration of a block (slice's
                     // start)
} AttrDef;

// A call of runtime/rt.h on operands (inputs, then outputs) at given strides: rt_NAME(rt, ARGS,
// outputs…, inputs…). A prepared kernel has rt_NAME_init(rt, number, &(TYPE)ARGS) too and is called
// with the number instead.
typedef struct Kernel {
    const char *name;  // NULL: no kernel takes operands of these types and dims
    const char *type;  // of the parameters of a prepared kernel, "RtDot"; NULL if not prepared
    // "{.m = 4, .n = 8}" if prepared; "&(RtGather){…}" or "RT_F32, 4, 8", with $a2 as in `expr`, if
    // not; then $o3 is where the rank's piece of factor 3 begins.
    Text args;
    int64_t workspace;  // bytes
    bool is_sketch;     // given: the args aren't wanted, as only the workspace is asked for
    // Operands that it can't take as they are: bit i, and the strides that it needs of a copy.
    uint64_t copies;
    int64_t (*want)[MAX_RANK];  // [operand]
    int over;  // an input that the output may be written over, where it is not read again; 0: none
    // Given: of a piece of a node, the whole's size by factor of its rule, and which factors are
    // cut (bit by factor); NULL: the node is whole.
    const int64_t *whole;
    uint64_t cut;
} Kernel;

// All that shardcc knows about an operator. One const OpDef per file of ir/ops/; ops.def lists
// them.
struct OpDef {
    const char *name;
    int n_in;         // inputs; MIN_INPUTS(k) for k and more
    int n_optional;   // of n_in, so many may be absent (0) …
    int optional_at;  // … from this one on; 0: the last ones
    int n_out;        // 0 means 1
    AttrDef attrs[MAX_ATTRS];
    // Sets dtype and dims of all outputs, or reports what is wrong.
    bool (*infer)(Graph *g, Node *n, Diag *d);
    void (*rule)(const Graph *g, const Node *n, Rule *r);
    // Given the gradients dy of the outputs (0: none), sets the gradients dx of the inputs (0:
    // none), appending nodes. `want[i]`: is dx[i] needed? NULL: not differentiable.
    void (*grad)(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx);
    // Reference evaluation: plain scalar loops. `out` is allocated with the piece's dims.
    void (*eval)(const Graph *g, const Node *n, const Place *p, const Tensor *in, Tensor *out);
    // Elementwise: the C expression of one element; $0 $1 $2 are the operands, in C types of the
    // inputs' dtypes; $i0, $i1 … the element's index along the output's dims (iota, random), $n0,
    // $n1 … their sizes, both in the whole where the node is a piece; $a2: attribute 2, an int that
    // may grow with the iteration. Operands are to be parenthesised unless they are names; the
    // expression isn't. Functions it calls are in runtime/rt_math.h. NULL: a kernel does it.
    const char *(*expr)(const Graph *g, const Node *n);
    bool is_sum;          // sums over dims (attribute 0); a group's rows can end in it
    bool is_elementwise;  // all operands have one shape; `scalar` is its eval
    double (*scalar)(const Node *n, const double *x);        // floats and comparisons of them
    int64_t (*scalar_int)(const Node *n, const int64_t *x);  // integers and booleans
    bool is_product;    // its flops are those of matrix products: dot, convolution, attention
    bool is_attention;  // … with more between them, so that they have a rate of their own
    double flops;       // per element of the rule's volume; 0 for what only moves bytes
    double (*work)(const Graph *g, const Node *n);  // flops of the node where that volume isn't it
    // The output as a view of the input's bytes: given the input's strides (elements), sets the
    // output's and the place of its first element; false if it takes a copy. NULL: never a view.
    bool (*view)(const Graph *g, const Node *n, const int64_t *in_stride, int64_t *out_stride,
                 int64_t *offset);
    // An operator that only lays its inputs into its output: where input i lies, given the output's
    // strides. `fill`: what the rest of the output holds; NULL if the inputs cover it.
    void (*place)(const Graph *g, const Node *n, int i, const int64_t *out_stride,
                  int64_t *in_stride, int64_t *offset);
    double (*fill)(const Node *n);
    // Which of its attributes is `site`, before `layer`: they tell a node that draws random numbers
    // from all others. 0: this node draws none.
    int (*site)(const Node *n);
    // For refine. `relate`: which parts of dims are one, where the rule blocks or says too little.
    // Where it is NULL, dims of parallel and reduced factors may be split, others not.
    void (*relate)(const Graph *g, const Node *n, struct Relation *r);
    // Builds the node over split dims and returns its first output; 0: it can't be. NULL: the same
    // attributes serve (elementwise operators), or its dims are never split.
    ValueId (*split)(Graph *g, const Node *n, const Split *s);
    // Sets the attributes that are sizes, or follow from them, to those of a piece, whose sizes by
    // factor of `r` are `size`; lists in `a`. NULL: it has none.
    void (*localise)(const Node *n, const Rule *r, const int64_t *size, Arena *a, Attr *attr);
    // Communication: evaluates the node for all ranks along its mesh axes at once, which `eval`
    // can't. `in` and `out` are by rank, row-major over the axes (attribute 0); `out` is allocated
    // with each rank's own dims.
    void (*exchange)(const Node *n, int ranks, const Tensor *in, Tensor *out);
    // How its kernel is called; NULL where `expr` or `view` serves. See Kernel.
    void (*kernel)(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
    uint64_t
        channels_last;  // operands (inputs, then outputs) that it is fastest on with dim 1 last
    bool is_flat;       // its gradient is zero wherever it has one: nothing flows back through it
    uint64_t no_grad_in, no_grad_out;  // float inputs and outputs that have none; no_grad says why
    const char *no_grad;  // why it has no gradient where one could be expected; listed by the tests
    const char *no_split;  // why factors are blocked; listed by the tests
};

#define MIN_INPUTS(k) (-(k))

#define OP(name) extern const OpDef op_##name;
#include "ir/ops.def"
#undef OP

static inline int node_site(const Node *n) { return n->op->site ? n->op->site(n) : 0; }

const OpDef *op_find(const char *name);  // NULL if there is none
extern const OpDef *const op_table[];    // all, in the order of ops.def; NULL ends it

// Evaluates one node on whole inputs. in and out as OpDef.eval; out is allocated in `a`.
void node_eval(const Graph *g, const Node *n, Arena *a, const Tensor *in, Tensor *out);

// … one node on the piece at `p`; `out` is allocated with the piece's dims.
void node_eval_shard(const Graph *g, const Node *n, const Place *p, const Tensor *in, Tensor *out);

// Evaluates the graph: `values` (by ValueId) holds a tensor for every value without a producer
// (constants are filled in); afterwards for every value.
void graph_eval(const Graph *g, Arena *a, Tensor *values);

// ---- passes, in this order ----

bool fold(Graph *g, Diag *d);      // constants, equal constants, no-ops, dead nodes
bool patterns(Graph *g, Diag *d);  // attention, norms, rotary: recognised and put in one form
bool refine(Graph *g, Diag *d);    // dims into atoms; reshapes that only split or merge are gone
bool blocks(Graph *g, Diag *d);    // labels repeated blocks

// The loss: adds OUTPUT_LOSS_SUM and OUTPUT_LOSS_COUNT (and OUTPUT_BAD_LABEL). `text` is as the
// user wrote it: "cross_entropy(logits, labels)".
bool loss_add(Graph *g, const char *text, Diag *d);
// Is the text alone right, whatever the model is: known name, options, values?
bool loss_check(const char *text, Diag *d);
bool optimizer_check(const char *text, Diag *d);

// Gradients of OUTPUT_LOSS_SUM / OUTPUT_LOSS_COUNT (summed over `accumulate` micro-batches) with
// respect to every parameter, as OUTPUT_GRADIENT.
bool autodiff(Graph *g, int accumulate, Diag *d);

typedef struct OptimizerOptions {
    const char *text;             // "adamw(lr=3e-4, weight_decay=0.1)"
    double clip_norm;             // 0: no clipping
    const char *const *no_decay;  // globs of parameters without weight decay
    int n_no_decay;
} OptimizerOptions;

bool clip_add(Graph *g, const OptimizerOptions *o, Diag *d);       // OUTPUT_GRAD_NORM
bool optimizer_add(Graph *g, const OptimizerOptions *o, Diag *d);  // update nodes and carries
// Of a product plus a scatter_add, the rows are added onto the product: a tied table's gradient is
// not added up of two tables. What is split afterwards loses a way to be split.
bool scatter_onto(Graph *g, Diag *d);

#endif
