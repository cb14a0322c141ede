// ONNX → the forward graph. Untrusted input: every count is bounded, every product checked, no path
// leaves the model's folder.
#ifndef SHARDCC_FRONTEND_H
#define SHARDCC_FRONTEND_H

#include "ir/ir.h"

typedef struct ImportOptions {
    const char *path;         // of the .onnx file
    const char *const *bind;  // "batch=4"
    int n_bind;
    const char *const *shape;  // "input_ids=4,64"
    int n_shape;
    int accumulate;             // the bound batch (dim 0 of the inputs) is split into so many
                                // micro-batches; ≥ 1
    bool training;              // dropout live, batch norm on batch statistics
    bool frozen_batch_norm;     // batch norm on running statistics even so
    bool only_predicts;         // nothing trains the model: batch norms keep their training_mode
    const char *const *freeze;  // globs: parameters that become buffers
    int n_freeze;
    const char *const *padding;  // "GLOB=K": row K of these embedding tables gets no gradient
    int n_padding;
} ImportOptions;

// Where a parameter's or buffer's initial bytes are: in the model's own file or in another.
typedef struct Weight {
    const char *name;  // of the parameter
    DType dtype;
    const char *path;  // file beneath the model's folder, "" the model itself; NULL: `data`
    int64_t offset, bytes;
    const void *data;  // bytes computed or decoded by the importer (typed data fields)
} Weight;

typedef struct Weights {
    Weight *weight;
    int n;
    const char *model;  // path of the .onnx file
    const char **file;  // beneath its folder: all that it keeps tensors in, used or not
    int n_files;
} Weights;

// Reads a model into a canonical forward graph: passes import and fold, batch-dependent shapes
// bound. Inputs, parameters, buffers, outputs (OUTPUT_MODEL) bear the model's names. `w` (may be
// NULL) gets where the weights are, in the order of the graph's parameters and buffers; no weight
// is read. NULL after reporting all that is wrong.
Graph *frontend_import(Arena *a, const ImportOptions *o, Weights *w, Diag *d);

// Copies the weights into a new safetensors file. External data is checked here: beneath the
// model's folder, a regular file with one link, long enough.
bool weights_write(const Weights *w, const Graph *g, const char *path, Diag *d);

#endif
