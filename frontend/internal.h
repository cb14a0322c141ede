// What the files of frontend/ share. The importer walks the model's nodes in order; each is lowered
// by one short function (a Lowering) that sees the node as an Op: inputs as values of the graph,
// attributes with their defaults, and `give` for the outputs.
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
    MAX_WALK = 1 << 20,      // nodes walked, those of a body once per trip
    MAX_UNROLLED = 1 << 18,  // values and nodes of the graph that bodies make
    NODE_BYTES = 16,         // bytes of the file for which bodies may make one more
    MAX_NAMED = 1 << 29,     // bytes of names that bodies look up
    LOOKUP_BYTES = 64,       // bytes that the fixed time of one lookup counts as
    MAX_OPERANDS = 1 << 14,  // inputs (or outputs) of one node
    FIRST_OPSET = 7,
    LAST_OPSET = 28,
    FIRST_IR = 3,
    LAST_IR = 14,
};

// ---- the file (wire.c, model.c) ----

// Checks the wire format and appends the message without large payloads to `reduced`.
bool wire_reduce(const uint8_t *data, size_t size, Text *reduced, Diag *d);

// A model in memory: `size` bytes at `data`, as frontend_import reads them from o->path. The bytes
// must live as long as `a`.
Graph *import_bytes(Arena *a, const uint8_t *data, size_t size, const ImportOptions *o, Weights *w,
                    Diag *d);

// ---- what a name stands for ----

typedef struct Symbol {
    ValueId value;                         // a tensor; 0: an absent optional input
    bool failed;                           // it could not be made, which has been reported
    const Onnx__TensorProto *initializer;  // becomes `value` at its first use
    bool is_sequence;
    // The elements of a sequence; or of a tensor that was joined, its parts along `axis`.
    int n, axis;
    const ValueId *element;
} Symbol;

// The names of a graph, a subgraph or a call of a function.
typedef struct Frame {
    Arena *arena;               // its own: a body has a frame for each trip
    const struct Frame *outer;  // of a subgraph: where other names are looked up
    Map names;                  // → items
    Symbol *symbols;            // [0] is unused
    int n_symbols, cap_symbols;
    size_t n_opset;
    Onnx__OperatorSetIdProto **opset;
    // Of a function: its definition and the call, whose attributes the body may refer to.
    const Onnx__FunctionProto *function;
    const struct Op *call;
    int depth;
} Frame;

// An operator that we lack, with the nodes that need it.
typedef struct Missing {
    const char *operator;
    int n, cap;
    const char **node;
} Missing;

typedef struct Import {
    Arena *arena;    // the graph's
    Arena *scratch;  // until the import is done
    const ImportOptions *o;
    Diag *diag;
    Graph *g;
    const Onnx__ModelProto *model;
    const uint8_t *data;  // the file
    size_t size;
    Map functions;  // "domain\nname\noverload" → 1 + place in model->functions
    Map marks;      // initializer → Mark
    bool has_marks;
    bool has_fixed_batch;  // of an input, in the file
    Map places;            // where a parameter's bytes are → value
    Map hints;             // value → 1 + place in value_info, then output
    Map taken;             // names of parameters, buffers and inputs
    Weight *weights;
    int n_weights, cap_weights;
    Map origins;  // by node of the file, of bodies too: 1 + place in `origin`
    struct Origin *origin;
    int n_origins, cap_origins;
    Map literals;  // by tensor of the file: the constant that it is
    Map is_file;   // names of the other files that the model keeps tensors in
    const char **file;
    int n_files, cap_files;  // each file stands here once
    const Tensor **known;    // by ValueId, see known.c
    int n_known, cap_known;
    int64_t evaluated;          // elements, while finding out what is known
    int64_t walked;             // nodes
    int bodies;                 // of control flow, that are being walked now
    int64_t unrolled;           // values and nodes of the graph, made in bodies
    int64_t made;               // values and nodes that is_within has counted so far
    int64_t named;              // bytes of names that were looked up
    bool is_too_large;          // that has been reported
    int n_unmarked;             // parameters without a mark where others have one …
    const char *unmarked;       // … the first of them
    bool has_batch_statistics;  // of a batch norm that stays in training mode, see only_predicts
    ValueId seed, step, micro;  // made when the first random node needs them
    int n_random;
    bool *padding_used;  // by place in o->padding: does a table's name match it?
    int8_t *batch_axis;  // by ValueId: 1 + the dim that holds the batch
    int n_batch_axis, cap_batch_axis;
    Missing *missing;
    int n_missing, cap_missing;
} Import;

// One ONNX node being lowered.
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
} Op;

typedef struct OpImporter {
    const char *type;
    int min_in, max_in;  // inputs
    void (*import)(Op *o);
    // Instead of `lower`: an elementwise builder of one operand, or of two, which are broadcast.
    ValueId (*unary)(Graph *g, ValueId x);
    ValueId (*binary)(Graph *g, ValueId a, ValueId b);
    const char *attrs;  // the attributes that it knows; others are refused
    int max_out;        // outputs; 0: one
} OpImporter;

// By theme, ended by an empty entry.
extern const OpImporter import_elementwise[], import_activation[], import_shape[], import_part[],
    import_reduce[], import_norm[], import_contraction[], import_window[], import_indexing[],
    import_rnn[], import_control[], import_sequence[], import_attention[], import_source[];

// ---- an Op's inputs and outputs (op.c) ----

bool has(const Op *o, int i);     // is input i present?
ValueId arg(const Op *o, int i);  // input i; 0 if absent
Value *arg_value(const Op *o, int i);
const char *arg_name(const Op *o, int i);
void give(Op *o, int i, ValueId v);
bool wants(const Op *o, int i);  // is output i used?

// The values of input i where the compiler knows them, else NULL.
const Tensor *arg_known(const Op *o, int i);
// The integers of input i, a known vector (or scalar), into v. False after an error, which says
// that input `what` must be known, or that there are more than `max`.
bool arg_ints(Op *o, int i, const char *what, int max, int *n, int64_t *v);
bool arg_number(Op *o, int i, const char *what, double *v);  // a known scalar

// Reports at the node: its name, type, the text, inputs with shapes, and scope. Returns false.
bool op_error(Op *o, const char *fmt, ...) PRINTF(2, 3);

// Brings an axis of a rank into [0, rank); false after an error.
bool op_axis(Op *o, int64_t *axis, int rank);
// … of `n` axes, sorted ascending, without repeats.
bool op_axes(Op *o, int n, int64_t *axes, int rank);

// ---- attributes (attr.c) ----

const Onnx__AttributeProto *attr_find(const Op *o, const char *name);
int64_t attr_int(const Op *o, const char *name, int64_t missing);
double attr_float(const Op *o, const char *name, double missing);
const char *attr_text(const Op *o, const char *name, const char *missing);
// The count and the integers, NULL if absent.
const int64_t *attr_ints(const Op *o, const char *name, int *n);
// Exactly n integers into v; those absent are `missing`. False after an error.
bool attr_ints_of(Op *o, const char *name, int n, int64_t missing, int64_t *v);

// ---- names (frame.c) ----

// A frame for a subgraph of `outer`'s node (call NULL) or for a function body; false if too deep.
// frame_close frees it either way.
bool frame_open(Import *x, Frame *f, const Frame *outer, const Onnx__FunctionProto *function,
                const Op *call);
void frame_close(Frame *f);
Symbol *frame_define(Import *x, Frame *f, const char *name);      // NULL after an error
Symbol *frame_find(Import *x, const Frame *f, const char *name);  // NULL if there is none
// The key of a part of the file in a Map: its place in memory, as text.
enum { PART_KEY = 24 };
const char *part_key(char *to, const void *part);
bool frame_initializers(Import *x, Frame *f, const Onnx__GraphProto *g);
char **names_of(Arena *a, size_t n, Onnx__ValueInfoProto **v);

// ---- walking (walk.c) ----

bool walk_nodes(Import *x, Frame *f, size_t n, Onnx__NodeProto **node, size_t n_outputs,
                char **outputs);
// Lowers a subgraph whose inputs stand for `in`; its outputs go to `out`.
bool walk_subgraph(Op *o, const Onnx__GraphProto *body, int n_in, const Symbol *in, int n_out,
                   Symbol *out);
void walk_report(const Import *x);  // all operators that we lack, with their nodes

// ---- the model (import.c) ----

Graph *import_model(Import *x, Weights *w);

// ---- inputs (bind.c) ----
void bind_inputs(Import *x, Frame *f);
void bind_check(Import *x, const char *name, ValueId v);  // against the file's value_info

// ---- the batch (batch.c) ----
int batch_axis(Import *x, ValueId v);  // the dim of v that micro-batches split; -1: none

// ---- initializers and constants (literal.c, params.c) ----

DType dtype_of_onnx(int32_t t);  // DT_NONE: not supported

// A tensor of the file: its type, checked dims and, unless it is elsewhere, its bytes in the
// dtype's own layout (in the mapped file, perhaps unaligned, or in the arena).
typedef struct Literal {
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK], bytes;
    const void *data;
    const char *location;  // external: relative path, offset
    int64_t offset;
    const Onnx__TensorProto *origin;
} Literal;

// Lists the other file that the tensor is in, if it is in one; NULL otherwise.
const char *literal_file(Import *x, const Onnx__TensorProto *t);
bool literal_read(Import *x, const Onnx__TensorProto *t, const char *name, Literal *l);
// A constant, a buffer if it is too large, by name if that is free.
ValueId literal_value(Import *x, const Onnx__TensorProto *t, const char *name);
ValueId constant_ints(Graph *g, int n, const int64_t *v);  // i64[n]

void params_scan(Import *x);  // exporter's marks
ValueId params_value(Import *x, const Onnx__TensorProto *t);
ValueId params_add(Import *x, ValueKind kind, const char *name, const Literal *l);

// ---- what the compiler knows (known.c) ----

// Values computed from constants alone, kept without the dims along which they repeat: such a dim
// of the tensor is 1.
void known_update(Import *x);  // looks at what was appended since the last call
const Tensor *known_of(Import *x, ValueId v);
bool known_is_full(const Import *x);  // so many were computed that no more are
double known_number(const Tensor *t, int64_t i);
bool known_is_splat(const Tensor *t);
// Is it first + i * step along one dim, repeated along all others? axis is -1 for a splat.
bool known_affine(const Tensor *t, int *axis, int64_t *first, int64_t *step);
// The elements that t keeps, as a vector.
ValueId known_vector(Import *x, const Tensor *t);
// v, or the same values in a plainer form: a scalar broadcast, or iota.
ValueId known_canonical(Import *x, ValueId v);

// ---- shapes (shape.c) ----

typedef struct Dims {
    int rank;
    int64_t dim[MAX_RANK];
} Dims;

Dims dims_of(const Graph *g, ValueId v);
bool dims_broadcast(Op *o, Dims *a, const Dims *b);      // a becomes the common shape
void broadcast_pair(Op *o, ValueId *a, ValueId *b);      // both to their common shape
ValueId reshape_to(Graph *g, ValueId x, const Dims *d);  // x itself if it has that shape
ValueId insert_dims(Graph *g, ValueId x, int n, const int64_t *axes);  // 1s at `axes` of the result
ValueId drop_dim(Graph *g, ValueId x, int axis);                       // a dim of 1
ValueId slice_axis(Graph *g, ValueId x, int axis, int64_t start, int64_t size, int64_t stride);
ValueId transpose_to(Graph *g, ValueId x, const int64_t *perm);  // x itself if nothing moves
ValueId full(Graph *g, DType t, const Dims *d, double v);
ValueId vector_at(Graph *g, ValueId v, ValueId like, int axis);  // rank 1 along an axis of `like`

// ---- activations (import_activation.c) ----
ValueId relu(Graph *g, ValueId x);

// ---- files (beneath.c) ----

// Opens `path` beneath the folder of the file `model`: no step outside, no link on the way, a
// regular file with one name. -1 after an error, errno telling which.
int open_beneath(const char *model, const char *path, Diag *d);

#endif
