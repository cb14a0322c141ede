// Imports an ONNX model as the forward graph. The file is not trusted: every count is bounded,
// every product is checked, and no path leaves the model's folder.
#ifndef SHARDCC_FRONTEND_H
#define SHARDCC_FRONTEND_H

#include "ir/ir.h"
#include "runtime/rt_file.h"

// Files of tensors that fill or replace the initializers of a model, and a map of their names.
typedef struct WeightFile WeightFile;

// Opens a file of safetensors, an index of several or a folder, as --load of trainers does, and the
// map (NULL: there is none). Both are untrusted. NULL after an error.
WeightFile *weight_file_open(Arena *a, const char *path, const char *map, Diag *d);
const char *const *weight_file_paths(const WeightFile *f, int *n);  // of the files of tensors
bool weight_file_check(const WeightFile *f, Diag *d);  // have the files kept their sizes?
void weight_file_close(WeightFile *f);

// A model's file, .onnx: read once, imported as often as graphs of it are made.
typedef struct ModelFile ModelFile;

// Maps, checks and unpacks the file. It stays mapped until model_close, as weights are copied from
// it at the end. NULL after an error.
ModelFile *model_open(Arena *a, const char *path, Diag *d);
const char *model_path(const ModelFile *f);  // NULL for a model in memory, whose `f` is NULL
void model_close(ModelFile *f);              // f may be NULL

typedef struct ImportOptions {
    DType *half;  // gets the type of parameters that the file has in halves; NULL: nobody asks
    const ModelFile *model;
    const char *const *bind;  // "batch=4"
    int n_bind;
    const char *const *shape;  // "input_ids=4,64"
    int n_shape;
    int64_t unbound;  // the size of dims that nothing binds; 0: that is an error
    // The bound batch (dim 0 of the inputs) is split into this many micro-batches; ≥ 1.
    int accumulate;
    bool training;           // dropout is active, batch norm uses batch statistics
    bool frozen_batch_norm;  // batch norm uses running statistics even in training
    // --loss is given: parameters that the exporter has made one are refused. Without it, batch
    // norms keep their training_mode.
    bool has_loss;
    const char *const *freeze;  // globs: parameters that become buffers
    int n_freeze;
    const char *const *padding;  // "GLOB=K": row K of these embedding tables gets no gradient
    int n_padding;
    const char *const *tie;  // "A=B": the initializer B is the parameter A
    int n_tie;
    bool only_weights;  // nothing is trained, the locations of the weights are wanted: no warnings
    const char *const *stop;  // globs: values and modules through which no gradient flows
    int n_stop;
    // Where the values of initializers are; NULL: in the model alone. With only_weights they only
    // tell which parameters a file lacks that was exported without them.
    const WeightFile *values;
    Budget *budget;  // counts the work; NULL: it isn't counted
} ImportOptions;

typedef struct WeightValue WeightValue;

// The location of a parameter's or buffer's initial bytes: in the model's own file or in another.
typedef struct Weight {
    const char *name;  // of the parameter
    DType dtype;       // of the bytes
    DType wide;        // of the parameter: F32 for halves; DT_NONE: as `dtype`
    const char *path;  // file beneath the model's folder; "": the model itself; NULL: use `data`
    int64_t offset, bytes;
    const void *data;          // bytes computed or decoded by the importer (typed data fields)
    const WeightValue *value;  // of a WeightFile, instead of these; NULL: none
} Weight;

// A tensor that the model's file lacks, as it was exported without its parameters.
typedef struct AddedTensor {
    const char *name;
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK];
} AddedTensor;

// A tensor of the model's file that holds a parameter or buffer. Tied tensors hold the same one.
typedef struct WeightTensor {
    int64_t offset;            // of its message in the file
    const char *name;          // of the parameter
    const AddedTensor *added;  // NULL: it is in the file
} WeightTensor;

typedef struct Weights {
    Weight *weight;
    int n;
    const WeightTensor *tensor;  // also of weights that the graph doesn't use
    int n_tensors;
    const char *model;  // path of the .onnx file
    const char **file;  // other files beneath its folder that hold tensors, used or not
    int n_files;
    const WeightFile *values;  // where weights have values of; NULL: none do
} Weights;

// Makes a canonical forward graph of a model: it runs the passes import and fold, and binds shapes
// that depend on the batch. Inputs, parameters, buffers and outputs (OUTPUT_MODEL) have the model's
// names. `w` (may be NULL) gets the locations of the weights, in the order of the graph's
// parameters and buffers; no weight is read. Returns NULL after reporting all errors.
Graph *frontend_import(Arena *a, const ImportOptions *o, Weights *w, Diag *d);

// Copies the weights into a new safetensors file. This checks external data: each file must lie
// beneath the model's folder, be a regular file with one link, and be long enough.
bool weights_write(const Weights *w, const Graph *g, const char *path, Diag *d);

// Writes a copy of the model that has the values of a file instead of its weights; all else stays
// as it is. Tensors in the model's external files go into one file, PATH.data, and so do large ones
// if the copy would have more bytes than a protobuf message may have. Sets *has_data if there is
// one. The values must have exactly the names and shapes of the weights: all differences are
// listed. Floats are rounded to the weight's type. Nothing is left after an error.
bool weights_export(const Weights *w, const Graph *g, const WeightFile *values, const char *path,
                    bool *has_data, Diag *d);

#endif
