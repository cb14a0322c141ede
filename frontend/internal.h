// Declarations that the files of frontend/ share. The importer walks the model's nodes in order.
// One short function (an OpImporter) imports each node. It sees the node as an Op: inputs as values
// of the graph, attributes with their defaults, and `give` for the outputs.
#ifndef SHARDCC_FRONTEND_INTERNAL_H
#define SHARDCC_FRONTEND_INTERNAL_H

#include <math.h>
#include <string.h>

#include "frontend/frontend.h"
#include "ir/build.h"
#include "onnx.pb-c.h"

enum {
    MAX_NESTING = 64,        // of messages in the file, and of subgraphs and functions
    MAX_NAME = 1 << 16,      // bytes
    MAX_CONSTANT = 1 << 20,  // bytes of a constant; larger ones become buffers
    MAX_TRIPS = 1 << 14,     // of one Loop, Scan or recurrent layer
    MAX_GRAPH = 1 << 21,     // nodes of the graph
    MAX_WALK = 1 << 20,      // nodes walked; nodes of a body count once per trip
    MAX_UNROLLED = 1 << 18,  // values and nodes that bodies add to the graph
    NODE_BYTES = 16,         // bodies may add one more for each such number of bytes in the file
    MAX_NAMED = 1 << 29,     // bytes of names that bodies look up
    LOOKUP_BYTES = 64,       // bytes that the fixed time of one lookup counts as
    MAX_OPERANDS = 1 << 14,  // inputs (or outputs) of one node
    FIRST_OPSET = 7,
    LAST_OPSET = 28,
    FIRST_IR = 3,
    LAST_IR = 14,
};

// ---- the file (wire.c, model_file.c, model.c) ----

// Checks the wire format and appends the message without large payloads to `reduced`. Returns false
// after an error.
bool wire_reduce(const uint8_t *data, size_t size, Text *reduced, Diag *d);

struct ModelFile {
    const char *path;
    File file;
    const Onnx__ModelProto *model;
};

// Unpacks a model's bytes into `a`. NULL after an error: in their wire format or their versions.
const Onnx__ModelProto *model_unpack(Arena *a, const uint8_t *data, size_t size, Diag *d);

void wire_put_varint(Text *t, uint64_t v);  // appends a number of the wire format

// Imports a model in memory: `size` bytes at `data`, as frontend_import reads them from o->path.
// The bytes must live as long as `a`.
Graph *import_bytes(Arena *a, const uint8_t *data, size_t size, const ImportOptions *o, Weights *w,
                    Diag *d);

// ---- what a name means ----

typedef struct Symbol {
    ValueId value;                         // a tensor; 0: an absent optional input
    bool failed;                           // it could not be made; the error has been reported
    const Onnx__TensorProto *initializer;  // becomes `value` at its first use
    bool is_sequence;
    // The elements of a sequence; or, of a tensor that was joined, its parts along `axis`.
    int n, axis;
    const ValueId *element;
} Symbol;

// The names of a graph, a subgraph or a function call.
typedef struct Frame {
    Arena *arena;               // of its own, because a body has a frame for each trip
    const struct Frame *outer;  // for a subgraph: the frame where other names are looked up
    Map names;                  // → index in `symbols`
    Symbol *symbols;            // [0] is unused
    int n_symbols, cap_symbols;
    size_t n_opset;
    Onnx__OperatorSetIdProto **opset;
    // For a function: its definition, and the call, whose attributes the body may refer to.
    const Onnx__FunctionProto *function;
    const struct Op *call;
    int depth;
} Frame;

// An operator that shardcc lacks, with the nodes that need it.
typedef struct Missing {
    const char *operator;
    int n, cap;
    const char **node;
} Missing;

typedef struct Import {
    Arena *arena;    // the graph's
    Arena *scratch;  // freed when the import is done
    const ImportOptions *o;
    Diag *diag;
    Graph *g;
    const Onnx__ModelProto *model;
    const uint8_t *data;  // the file
    size_t size;
    Map functions;  // "domain\nname\noverload" → 1 + index in model->functions
    Map marks;      // initializer → Mark
    bool has_marks;
    bool has_fixed_batch;  // an input has a fixed batch in the file
    Map by_bytes;          // key of a parameter's bytes → value
    Map hints;             // value → 1 + index in value_info, then in output
    Map taken;             // names of parameters, buffers and inputs
    Weight *weights;
    int n_weights, cap_weights;
    Map is_stored;  // tensors of the file that are in `stored`, by part_key
    WeightTensor *stored;
    int n_stored, cap_stored;
    Map origins;  // by node of the file, also in bodies: 1 + index in `origin`
    struct Origin *origin;
    int n_origins, cap_origins;
    Map literals;  // by tensor of the file: its constant
    Map is_file;   // names of other files that hold the model's tensors
    const char **file;
    int n_files, cap_files;  // each file once
    const Tensor **known;    // by ValueId, see known.c
    int n_known, cap_known;
    int64_t evaluated;     // elements that known.c has evaluated
    int64_t walked;        // nodes walked
    int bodies;            // depth of control-flow bodies being walked
    int64_t unrolled;      // values and nodes that bodies added to the graph
    int64_t made;          // values and nodes that is_within has counted so far
    int64_t named;         // bytes of names that were looked up
    bool is_too_large;     // this error has been reported
    int n_unmarked;        // parameters without a mark, though others have one
    const char *unmarked;  // the first parameter without a mark
    // A batch norm stays in training mode and uses batch statistics, see has_loss.
    bool has_batch_statistics;
    // Batch norms whose running variance is the biased one; the first of them, and the number of
    // values that its variance is of.
    int n_biased;
    const char *biased;
    int64_t biased_count;
    ValueId seed, step, micro;  // made when the first random node needs them
    int n_random;
    bool *padding_used;  // by index in o->padding: does it match a table's name?
    int8_t *batch_axis;  // by ValueId: 1 + the dim that holds the batch
    int n_batch_axis, cap_batch_axis;
    struct RaggedSplit *splits;  // into parts whose sizes are computed, see ragged.c
    int n_splits, cap_splits;
    struct Ragged *ragged;  // by ValueId
    int n_ragged, cap_ragged;
    Checks checks;  // of their sizes
    Map tied;       // initializer, by part_key → 1 + index in tie_first
    const Onnx__TensorProto **tie_first;
    int n_tied, cap_tied;
    bool *learned;  // by ValueId: does a gradient flow from it to a parameter?
    int n_learned, cap_learned;
    bool *stop_used;          // by index in o->stop: does it match a name?
    bool has_detach;          // a node of the file is a detach()
    const char *lost_detach;  // the first node whose detached operand is none in the file
    Map balances;             // names of the buffers that balance.c has found
    int n_balances;
    const char *balance;  // the first of them
    Missing *missing;
    int n_missing, cap_missing;
    struct Fills *fills;  // NULL: there are no --weights
    bool has_undefined;   // a node reads a name that nothing defines
} Import;

// One ONNX node during its import.
typedef struct Op {
    Import *x;
    Graph *g;
    const Onnx__NodeProto *node;
    Frame *frame;
    int opset;
    int n_in, n_out;
    const Symbol *in;  // n_in
    Symbol *out;       // n_out
    bool failed;       // an error was reported
    bool ends_parts;   // its outputs may be no parts, though inputs are, see ragged.c
} Op;

typedef struct OpImporter {
    const char *type;
    int min_in, max_in;  // inputs
    void (*import)(Op *o);
    // Instead of `import`: the builder of an elementwise operator with one operand, or with two,
    // which are broadcast.
    ValueId (*unary)(Graph *g, ValueId x);
    ValueId (*binary)(Graph *g, ValueId a, ValueId b);
    const char *attrs;  // names of the attributes that it knows; others are refused
    int max_out;        // maximal outputs; 0: one
    uint32_t numbers;   // mask of inputs that are numbers of the operator, and no weights
    // The columns of docs/onnx.md, which tests/frontend/operators_test.c checks.
    int since;                // the first opset that has it, if that is after FIRST_OPSET
    const char *known;        // inputs that must be known when compiling, by their names in ONNX
    const char *refuses;      // forms that are refused, "; " between them
    const char *no_gradient;  // why it gives no gradient; NULL: it gives one
} OpImporter;

// Tables by theme. Each ends with an empty entry. NULL ends the list of all of them.
typedef struct OpTable {
    const char *theme;
    const OpImporter *importer;
} OpTable;
extern const OpTable import_tables[];
extern const OpImporter import_activation[], import_attention[], import_bits[],
    import_contraction[], import_control[], import_elementwise[], import_indexing[],
    import_linear[], import_loss[], import_norm[], import_pads[], import_part[], import_random[],
    import_reduce[], import_resampling[], import_rnn[], import_roi[], import_sample[],
    import_scatter[], import_sequence[], import_shape[], import_signal[], import_source[],
    import_trigonometry[], import_unpool[], import_window[];

// ---- an Op's inputs and outputs (op.c) ----

bool has(const Op *o, int i);     // is input i present?
ValueId arg(const Op *o, int i);  // input i; 0 if absent
const Value *arg_value(const Op *o, int i);
const char *arg_name(const Op *o, int i);
void give(Op *o, int i, ValueId v);
bool wants(const Op *o, int i);  // is output i used?

// The elements of input i if the compiler knows them, else NULL.
const Tensor *arg_known(const Op *o, int i);
// Reads the integers of input i, a known vector (or scalar), into v. Returns false after an error:
// the input isn't known (messages call it `what`), or has more than `max` elements.
bool arg_ints(Op *o, int i, const char *what, int max, int *n, int64_t *v);
bool arg_number(Op *o, int i, const char *what, double *v);  // a known scalar

// The metadata with this key; NULL: there are none.
const char *metadata_value(size_t n, Onnx__StringStringEntryProto **prop, const char *key);
// The text of the torch.export node from which PyTorch's newer exporter made the node; "" where the
// file doesn't say it: "%max_1 : … = call_function[target=torch.ops.aten.max.dim](args = …".
const char *fx_node_of(const Onnx__NodeProto *node);
// Reports an error at the node: its name, type, the text, inputs with shapes, and scope. Returns
// false.
bool op_error(Op *o, const char *fmt, ...) PRINTF(2, 3);

// Brings an axis of a value of rank `rank` into [0, rank). Returns false after an error.
bool op_axis(Op *o, int64_t *axis, int rank);
// Cuts input 0 along `axis` into `n` parts: of these sizes, or where `size` is NULL of `each`
// elements and what is left. Returns false after an error: the parts must add up to the dim.
bool op_split(Op *o, int axis, int n, const int64_t *size, int64_t each, ValueId *part);
// Does the same as op_axis for `n` axes, and sorts them. Returns false after an error; an axis that
// repeats is one.
bool op_axes(Op *o, int n, int64_t *axes, int rank);

// ---- attributes (attr.c) ----

const Onnx__AttributeProto *attr_find(const Op *o, const char *name);
int64_t attr_int(const Op *o, const char *name, int64_t missing);
double attr_float(const Op *o, const char *name, double missing);
const char *attr_text(const Op *o, const char *name, const char *missing);
// Returns the integers and sets their count; NULL if the attribute is absent.
const int64_t *attr_ints(const Op *o, const char *name, int *n);
// Reads exactly n integers into v; each is `missing` if the attribute is absent. Returns false
// after an error.
bool attr_ints_of(Op *o, const char *name, int n, int64_t missing, int64_t *v);

// ---- names (frame.c) ----

// Opens a frame for a subgraph of a node in `outer` (call: NULL), or for a function body. Returns
// false if frames nest too deep. The caller must use frame_close in both cases.
bool frame_open(Import *x, Frame *f, const Frame *outer, const Onnx__FunctionProto *function,
                const Op *call);
void frame_close(Frame *f);
Symbol *frame_define(Import *x, Frame *f, const char *name);      // NULL after an error
Symbol *frame_find(Import *x, const Frame *f, const char *name);  // NULL if there is none
// The same for numbers that are part of an operator: an initializer that nothing else has used yet
// becomes a constant, not a parameter. False if there is no such name.
bool frame_find_numbers(Import *x, const Frame *f, const char *name, Symbol *to);
bool frame_initializers(Import *x, Frame *f, const Onnx__GraphProto *g);
char **names_of(Arena *a, size_t n, Onnx__ValueInfoProto **v);

// ---- walking (walk.c) ----

bool walk_nodes(Import *x, Frame *f, size_t n, Onnx__NodeProto **node, size_t n_outputs,
                char **outputs);
// Imports a subgraph. Its inputs correspond to the symbols `in`; its outputs go to `out`.
bool walk_subgraph(Op *o, const Onnx__GraphProto *body, int n_in, const Symbol *in, int n_out,
                   Symbol *out);
void walk_report(const Import *x);  // reports all operators that shardcc lacks, with their nodes

// ---- the model (import.c) ----

Graph *import_model(Import *x, Weights *w);

// ---- inputs (bind.c) ----
void bind_inputs(Import *x, Frame *f);
void bind_check(Import *x, const char *name, ValueId v);  // compares with the file's value_info

// ---- the batch (batch.c) ----
int batch_axis(Import *x, ValueId v);  // the dim of v that micro-batches split; -1: none

// ---- parts whose sizes are computed (ragged.c) ----
// Splits input 0 along `axis` into n parts of the sizes in input 1, which aren't known. Each part
// keeps all rows. False after an error.
bool ragged_split(Op *o, int axis, int n, ValueId *part);
bool ragged_is_any(const Import *x, int n, const ValueId *v);  // is one of them such a part?
// Joins values, of which one is such a part. Returns 0 after an error: they aren't all parts, in
// their order.
ValueId ragged_concat(Op *o, int n, const ValueId *v, int axis);
// Refuses a node that reads a part and doesn't treat each of its rows alone.
void ragged_check(Op *o);
bool ragged_check_output(Import *x, const char *name, ValueId v);  // false after an error

// ---- gradients (stop.c) ----
// Stops the gradients of the node's outputs if it is a detach() or --stop-gradient names it.
void stop_outputs(Op *o);
void stop_warn(const Import *x);
bool is_learned(Import *x, ValueId v);  // does a gradient flow from it to a parameter?

// ---- parts of the file (part.c) ----

// The key of a part of the file in a Map: its address in memory, as text.
enum { PART_KEY = 24 };
const char *part_key(char *to, const void *part);
DType dtype_of_onnx(int32_t t);  // DT_NONE: not supported
// The type that the graph has for a type of the file: it has f32 for halves.
DType dtype_widened(DType t);
DType dtype_in_graph(int32_t t);  // DT_NONE: not supported
int32_t dtype_to_onnx(DType t);   // not of DT_NONE
enum { EXTERNAL = 1 };            // data_location of a tensor whose bytes are in another file
// Returns the other file that holds the tensor, and adds it to Import.file; NULL if none does.
const char *literal_file(Import *x, const Onnx__TensorProto *t);
// An entry of external_data that is a number, such as "offset"; -1: it is no number.
int64_t literal_entry(const Onnx__TensorProto *t, const char *key, int64_t missing);
int64_t literal_offset(const Onnx__TensorProto *t);  // in that file; -1: it is no number
int64_t literal_bytes(const Onnx__TensorProto *t);   // by its dims; INT64_MAX: they are wrong

// ---- initializers and constants (literal.c, tensor_value.c, params.c, param_add.c) ----

// A tensor of the file: its type, checked dims and, unless they are in another file, its bytes in
// the dtype's layout. They are in the mapped file, perhaps unaligned, or in the arena.
typedef struct Literal {
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK], bytes;
    const void *data;
    const char *location;  // external data: relative path, offset
    int64_t offset;
    const Onnx__TensorProto *origin;
    const WeightValue *value;  // of --weights, instead of all of these; NULL: none
} Literal;

bool literal_read(Import *x, const Onnx__TensorProto *t, const char *name, Literal *l);
// Makes a constant, or a buffer if the tensor is too large. A buffer gets the name if it is free.
ValueId literal_value(Import *x, const Onnx__TensorProto *t, const char *name);
ValueId constant_ints(Graph *g, int n, const int64_t *v);  // i64[n]

void params_scan(Import *x);  // reads the exporter's marks
void params_mark(Import *x, const char *name, bool is_buffer);
// Did the exporter compute it, or make it up, as far as its name and marks tell?
bool params_is_computed(const Import *x, const char *name);
// Is it a number that will be a constant?
bool params_is_number(const Import *x, const Onnx__TensorProto *t);
bool params_holds_number(const Import *x, const Literal *l, const char *name);
// Isn't it trained: is it marked as a buffer, or frozen? Notes one without a mark in a file with
// marks.
bool params_is_buffer(Import *x, const char *name);
bool params_is_made_up(const char *name);  // is it a name of the exporter's own?
// Will the initializer be trained, as far as is known before the nodes are read?
bool params_is_trained(const Import *x, const Onnx__TensorProto *t);
// The value of an initializer: a parameter, a buffer or a constant.
ValueId params_value(Import *x, const Onnx__TensorProto *t);
void params_note(Import *x, const Onnx__TensorProto *t, ValueId v);  // the file's tensor is v
ValueId params_add(Import *x, ValueKind kind, const char *name, const Literal *l);
Weight params_weight(const Import *x, const char *name, const Literal *l);  // its offset and file

// Reports parameters that the exporter has made one because their values were equal (merged.c);
// false if there are some.
bool merged_check(Import *x);
// Notes a buffer that is added to the scores of a TopK, and warns of it (balance.c).
void balance_note(Import *x, ValueId scores);
void balance_warn(const Import *x);
void folded_warn(const Import *x);  // of batch norms that the exporter has folded (folded.c)

// ---- what the compiler knows (known.c) ----

// Values that follow from constants alone. Their dims along which elements repeat are stored as 1.
void known_update(Import *x);  // evaluates nodes appended since the last call
const Tensor *known_of(Import *x, ValueId v);
bool known_is_full(const Import *x);  // has so much been evaluated that nothing more will be?
double known_number(const Tensor *t, int64_t i);
bool known_is_splat(const Tensor *t);
// Is t first + i * step along one dim, and constant along all others? axis is -1 for a splat.
bool known_affine(const Tensor *t, int *axis, int64_t *first, int64_t *step);
// The stored elements of t, as a vector.
ValueId known_vector(Import *x, const Tensor *t);
// Returns v, or the same values in a simpler form: a broadcast scalar, or an iota.
ValueId known_canonical(Import *x, ValueId v);

// ---- shapes (shape.c) ----

typedef struct Dims {
    int rank;
    int64_t dim[MAX_RANK];
} Dims;

Dims dims_of(const Graph *g, ValueId v);
bool dims_broadcast(Op *o, Dims *a, const Dims *b);      // a becomes the common shape
void broadcast_pair(Op *o, ValueId *a, ValueId *b);      // broadcasts both to their common shape
ValueId reshape_to(Graph *g, ValueId x, const Dims *d);  // x itself if it has that shape
// Dims of 1 at `axes` of the result.
ValueId insert_dims(Graph *g, ValueId x, int n, const int64_t *axes);
ValueId drop_dim(Graph *g, ValueId x, int axis);  // a dim of 1
ValueId slice_axis(Graph *g, ValueId x, int axis, int64_t start, int64_t size, int64_t stride);
ValueId transpose_to(Graph *g, ValueId x, const int64_t *perm);  // x itself if no dim moves
ValueId full(Graph *g, DType t, const Dims *d, double v);
ValueId vector_at(Graph *g, ValueId v, ValueId like, int axis);  // rank 1 along an axis of `like`

// ---- Fourier transforms (fourier.c) ----
enum { MAX_CHIRP = 1 << 16 };  // elements of a transform with a prime factor above RT_DFT_MAX
bool fourier_fits(int64_t n);
// The transform of length n along the last but one dim of x [rows…, n', c], whose last dim holds
// real (and imaginary) parts: [rows…, k, e]. x is cut or filled with zeros. Inverse ones are
// divided by n. `onesided` gives the first n / 2 + 1 bins of real numbers; with `inverse` it makes
// the n real numbers (e is 1) of such bins. t is F32 or F64, and fourier_fits(n).
ValueId fourier(Graph *g, ValueId x, int64_t n, bool inverse, bool onesided);

void import_col2im(Op *o);  // import_fold.c

// ---- indices (index.c) ----

bool index_is_integer(Op *o, int i);  // is input i of type i32 or i64? Reports it if not
// Counts negative indices from the end, as ONNX does.
ValueId index_from_end(Op *o, ValueId index, int64_t n);
// The same. Returns 0 after an error: a known index is outside [-n, n).
ValueId index_wrap(Op *o, ValueId index, int64_t n);

// Input 1 as an index for each element of input 0 along an axis. Transposed by `perm`, input 0 is
// [B…, N…, n, R…]: `index` is [B…, i] with `batch` batch dims, and no element of it depends on N
// and R. `axis` is the position of n, `back` the inverse of `perm`.
typedef struct ElementIndex {
    ValueId index;
    int batch, axis;
    int64_t perm[MAX_RANK], back[MAX_RANK];
} ElementIndex;

bool index_elements(Op *o, int64_t axis, ElementIndex *e);  // false after an error

// Input 1 as tuples of n indices into input 0, after `batch` batch dims of both. Reshaped to
// `table` input 0 is [B…, rows, R…], and `index` is [B…, I…]. Dims that the tuples count through
// become batch dims, too.
typedef struct TupleIndex {
    ValueId part[MAX_RANK];  // the tuples' numbers as the file has them
    int n, batch;
    ValueId index;
    Dims table;
} TupleIndex;

bool index_tuples(Op *o, int64_t batch, TupleIndex *t);  // false after an error
// Part i of the k numbers of a tuple. If the index was joined from parts, the part is at hand. It
// may be known even if the whole index is too large to be known.
ValueId index_part(Op *o, int i, int64_t k);

// ---- activations (import_activation.c) ----
ValueId relu(Graph *g, ValueId x);

// ---- products (import_einsum.c) ----
void import_einsum(Op *o);

// ---- windows (import_window.c) ----
// Reads the window of a pooling node over input 0. more[i]: how much of the padding at the end of
// spatial dim i is ceil_mode's. Returns false after an error.
bool read_pool(Op *o, Window *w, int64_t *more);
// The indices of the maxima that pooling input 0 gave as y, i64 (import_unpool.c).
ValueId max_pool_indices(Op *o, const Window *w, ValueId y);

// ---- weights (weights.c) ----

// The file that weights are being copied from: the model, or another file beneath its folder. Zero
// is none.
typedef struct Opened {
    const char *path;
    RtMap map;
    // Finite numbers that became infinite as they were rounded to the type of their weight: how
    // many, of how many weights, and the first of these.
    int64_t infinite;
    int n_infinite;
    const char *first_infinite;
} Opened;

void weights_close(Opened *s);
void weights_warn_infinite(const Opened *s, Diag *d);
const char *stored_type(DType t);  // "F32"
// Describes the weights as the user knows them: with their own shapes, in the order of `w`, without
// data. `t` has capacity w->n.
bool weights_describe(const Weights *w, const Graph *g, RtStored *t, Diag *d);
// Returns the bytes of a weight that is in a file. They stay until `s` opens another file. NULL
// after an error.
const uint8_t *weights_data(const Weights *w, const Weight *weight, Opened *s, Diag *d);
// Appends the bytes of a weight to a file. `s` keeps open what they are in.
bool weights_copy(const Weights *w, const Weight *weight, Opened *s, RtOut *out, Diag *d);

// ---- files (beneath.c) ----

// Opens `path` beneath the folder of the file `model`. No step may lead outside, none may be a
// link, and the file must be regular with a single name. Returns -1 after an error, and sets errno.
int open_beneath(const char *model, const char *path, Diag *d);

#endif
