// A copy of a model's file with other weights, before it is written: a list of pieces, most of them
// of the model's file.
#ifndef SHARDCC_FRONTEND_COPY_H
#define SHARDCC_FRONTEND_COPY_H

#include "frontend/internal.h"

// Bytes, as a Weight says where they are, and where they go in the file that is written.
typedef struct Piece {
    Weight from;
    int64_t to;
} Piece;

typedef struct Pieces {
    Piece *piece;
    int n, cap;
    int64_t bytes;
} Pieces;

typedef struct ModelCopy {
    Arena *arena;
    const uint8_t *data;  // the model's file
    size_t size;
    const Weights *weights;
    const Weight *value;   // the new values, by index in `weights`
    const char *location;  // the name of the file for external data
    int64_t most_bytes;    // of the copy; large tensors go into the other file if it has more
    Pieces model, other;   // the copy, and that file
} ModelCopy;

enum {
    MOVED_BYTES = 1024
};  // least bytes of a tensor that moves into the other file, as of ONNX's

// Finds the pieces. Returns false after an error.
bool copy_model(ModelCopy *c, Diag *d);

#endif
