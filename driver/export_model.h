// Writes the weights of a checkpoint into a copy of the model.
#ifndef SHARDCC_DRIVER_EXPORT_MODEL_H
#define SHARDCC_DRIVER_EXPORT_MODEL_H

#include "driver/driver.h"

// The model, the sizes of its dims as for the compiler, the checkpoint's weights, and the file to
// write.
typedef struct ExportModel {
    const char *model;
    Strings bind, shape, tie;
    const char *weights, *output;
} ExportModel;

// Writes o->output and, if the model needs it, the file next to it that holds large tensors. Sets
// *has_data then. Returns false after an error.
bool export_model(Arena *a, const ExportModel *o, bool *has_data, Diag *d);

#endif
