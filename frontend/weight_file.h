// The values of --weights: files of tensors, the map of --weight-map from the model's names to
// theirs, and what a tensor of the model is made of.
#ifndef SHARDCC_FRONTEND_WEIGHT_FILE_H
#define SHARDCC_FRONTEND_WEIGHT_FILE_H

#include "frontend/internal.h"

// ---- the map (weight_map.c) ----

typedef enum ExprKind {
    EXPR_NAME,       // a tensor of the files
    EXPR_TRANSPOSE,  // a matrix with rows and columns swapped
    EXPR_CONCAT,     // tensors one after the other along dim 0
    EXPR_STACK,      // the same, along a new dim 0
} ExprKind;

typedef struct MapExpr {
    ExprKind kind;
    const char *name;  // of EXPR_NAME; a '*' is the text that the parameter's '*' matched
    bool is_literal;   // it was quoted: a '*' is itself
    bool has_range;    // it says {first..last}, at `at`
    int64_t first, last;
    size_t at, length;
    struct MapExpr *arg;
    int n;
} MapExpr;

// A line of the map: what the parameters of this name (a '*' is any text) are made of.
typedef struct MapLine {
    int line;
    const char *parameter;
    bool is_literal;
    const MapExpr *value;  // NULL: they stay as the model has them
} MapLine;

typedef struct WeightMap {
    MapLine *line;
    int n, cap;
} WeightMap;

// Reads a map. Ranges {0..7} are written out. False after an error, which names the line.
bool weight_map_parse(Arena *a, const char *text, size_t n, WeightMap *to, Diag *d);
void weight_map_print(const WeightMap *m, Text *to);  // as weight_map_parse reads it

enum { MAX_STARS = 16 };  // of a parameter

// Does the name match a line's parameter? Sets what its stars matched: each as little as can be,
// the first ones first.
bool weight_map_match(const MapLine *l, const char *name, const char **star, size_t *length);

// ---- values (weight_file.c, weight_value.c) ----

struct WeightFile {
    const char *path, *map_path;  // NULL: there is no map
    const char *name;             // the last part of `path`, for messages
    RtShards shards;
    WeightMap map;
    Map index;  // name → 1 + index in shards.tensor
};

// Tensors whose elements are contiguous. If they are transposed, their rows form a matrix, which is
// read column by column.
typedef struct WeightPart {
    const RtStored **tensor;
    int n;
    bool is_transposed;
} WeightPart;

// Parts one after the other, as a tensor.
struct WeightValue {
    int rank;
    int64_t dim[MAX_RANK];
    WeightPart *part;
    int n;
};

const RtStored *weight_file_find(const WeightFile *f, const char *name);  // NULL: there is none
// The tensor whose name is most like it; NULL: none is.
const char *weight_file_nearest(Arena *a, const WeightFile *f, const char *name);
const WeightValue *weight_value_of(Arena *a, const RtStored *t);  // of one tensor

// Makes the value that a line of the map gives a parameter, whose stars are as weight_map_match set
// them. NULL after an error. Sets `used` of each tensor in it.
const WeightValue *weight_value_make(Arena *a, const WeightFile *f, const MapLine *l,
                                     const char **star, const size_t *length, bool *used, Diag *d);

// The tensor that the value is, unchanged; NULL: it is made of several, or transposed.
const RtStored *weight_value_plain(const WeightValue *v);
bool weight_value_equal(const WeightValue *a, const WeightValue *b);  // the same bytes, surely
// Can elements of a type of files become elements of another one? Floats are rounded.
bool stored_becomes(const char *from, const char *to);
// The first type of its tensors that isn't `dtype` and can't become it; NULL: all fit.
const char *weight_value_misfit(const WeightValue *v, DType dtype);

// Appends the elements in the type of the weight. The rest of the map is dropped from memory as it
// is written. Counts finite numbers that became infinite. False if a signal ends the program.
bool weight_value_write(const WeightValue *v, DType dtype, RtOut *out, int64_t *infinite, Diag *d);
// The same to memory, for small values.
bool weight_value_copy(const WeightValue *v, DType dtype, uint8_t *to, Diag *d);

// ---- names (weight_names.c) ----

// Which tensor a parameter has: 1 + its index; 0: none. If there are several candidates, `rival` is
// 1 + the index of another tensor, or `other` of another parameter for the same tensor.
typedef struct NamePair {
    int tensor, rival, other;
} NamePair;

// Pairs parameters with tensors: names that are equal first; then names of which one is the end of
// the other, after a '.' or '/'. A tensor goes to the longest such parameter. Parameters that
// aren't `open` get none, and don't count for others.
void weight_names_pair(Arena *a, int n, const char *const *parameter, const bool *open,
                       const RtShards *s, NamePair *to);
// The end of a name after its first '.' or '/'; NULL: there is none.
const char *weight_name_end(const char *name);

// ---- filling (fill.c, fill_report.c, adopt.c) ----

// A tensor that the files may fill: an initializer; or what a file that was exported without its
// parameters has instead, an input or a name that nothing defines.
typedef struct Fill {
    const char *name;
    const Onnx__ValueInfoProto *input;  // NULL: it is none
    Onnx__TensorProto *tensor;          // NULL: there is none (yet)
    DType dtype;                        // DT_NONE: not known yet, nor are the dims
    int rank;
    int64_t dim[MAX_RANK];
    const WeightValue *value;  // NULL: none was found
    const MapLine *line;       // of the map, that names it
    bool lacks_bytes;          // the model's file has none
    const char *weight;        // the parameter or buffer that it became
} Fill;

typedef struct Fills {
    Fill *fill;
    int n, cap;
    Map index;   // tensor, by part_key → 1 + index
    bool *used;  // by tensor of the files
} Fills;

// Lists inputs that may be parameters, and names that nothing defines.
void adopt_list(Import *x, Fills *f);
// Makes initializers of inputs that have a value, and of all inputs after the first such one. False
// after an error: a name has none.
bool adopt_take(Import *x, Fills *f);

// Reports values that don't fit and names that fit twice.
bool fill_check_values(const Import *x, const Fills *f);
bool fill_check_pairs(const Import *x, const Fills *f, const NamePair *pair);
// Names a few of the tensors that nothing takes, below an error; returns false.
bool fill_note_unused(const Import *x, const Fills *f);
// The name of the tensor that a fill without a value may have meant, for messages; NULL: none.
const char *fill_nearest(const Import *x, const Fills *f, const Fill *of);

// ---- tensors that are in the file twice (tie.c) ----

bool tie_scan(Import *x);  // reads --tie; false after an error
// The tensor that --tie makes `t`: itself if it says nothing.
const Onnx__TensorProto *tie_first(const Import *x, const Onnx__TensorProto *t);
void tie_warn(const Import *x);

// ---- values of --weights (fill.c, fill_find.c, fill_report.c) ----

// Finds the values of the model's initializers in the files of --weights, and makes initializers of
// parameters that the model's file lacks. Does nothing without --weights. False after an error.
bool fill_scan(Import *x);
const WeightValue *fill_value(const Import *x, const Onnx__TensorProto *t);  // NULL: it has none
bool fill_lacks_bytes(const Import *x, const Onnx__TensorProto *t);          // has the file none?
// Gives two tensors that are one the same value. False if they have other ones.
bool fill_share(Import *x, const Onnx__TensorProto *a, const Onnx__TensorProto *b);
// Notes which weight of the graph the tensor became.
void fill_note(Import *x, const Onnx__TensorProto *t, const char *weight);
// Reports weights of the graph that have no value, and tensors of the files that nothing took.
bool fill_report(const Import *x);

#endif
