// The file NAME.tune: with which of cuBLASLt's algorithms a GPU computes the products of a program,
// as --tune has found out. It is text:
//
//     shardcc tune 1
//     gpu NVIDIA H200, sm_90, 132 multiprocessors
//     cublaslt 130002
//     tf32 no
//     algorithm 3 of f32 1: 768x2304/768+0 768x8192/768+0 = 2304x8192/2304+0 in 33554432
//     end 1
//
// An algorithm is the index, from 0 on, in the list that cuBLASLt's heuristic gives for the
// product, sorted by the time that it expects (cublasLtMatmulAlgoGetHeuristic in cublasLt.h). So no
// bytes of the file get into the library. The list is taken to be the same wherever NVIDIA promises
// the same bits: in the same version of the library, on GPUs of the same architecture and number of
// multiprocessors (https://docs.nvidia.com/cuda/cublas, "Results Reproducibility").
//
// The file is untrusted. This header includes nothing of CUDA.
#ifndef SHARDCC_RT_TUNE_H
#define SHARDCC_RT_TUNE_H

#include "rt_file.h"

enum { RT_TUNE_TEXT = 256 };       // capacity for the name of a GPU or of a product, with a final 0
enum { RT_TUNE_ALGORITHMS = 16 };  // the most that are tried for a product
enum { RT_TUNE_PRODUCTS = 4096 };  // the most that a file may have

typedef struct RtTuned {
    int algorithm;
    char product[RT_TUNE_TEXT];  // its types, sizes and layouts, and the bytes of its workspace
} RtTuned;

// {0} has no products.
typedef struct RtTune {
    char gpu[RT_TUNE_TEXT];
    int library;  // the version of cuBLASLt: 10000 major + 100 minor + patch
    bool has_tf32;
    RtTuned *product;
    int n, capacity;
} RtTune;

// Returns false if memory runs out, or if there are too many.
bool rt_tune_add(RtTune *t, const char *product, int algorithm);
// Returns NULL if it isn't there.
const RtTuned *rt_tune_find(const RtTune *t, const char *product);
void rt_tune_free(RtTune *t);

// Returns the text of the file, which the caller frees, and sets its length; NULL: memory ran out.
char *rt_tune_print(const RtTune *t, size_t *bytes);
// After false nothing has to be freed.
bool rt_tune_parse(RtTune *t, const uint8_t *data, size_t size, RtFileError *e);

// The same for a file. It is written to a temporary file in the same folder, and then renamed.
bool rt_tune_write(const RtTune *t, const char *path, RtFileError *e);
bool rt_tune_read(RtTune *t, const char *path, RtFileError *e);

// Is the file of the same GPU, version and use of TF32? The message says what differs.
bool rt_tune_match(const RtTune *file, const RtTune *machine, RtFileError *e);

#endif
