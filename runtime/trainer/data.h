// The data that a trainer reads: as samples, in an order, ahead of the step.
#ifndef SHARDCC_RT_DATA_H
#define SHARDCC_RT_DATA_H

#include "runtime/core/core.h"
#include "runtime/device.h"

// ---- samples: data.c, tokens.c, documents.c, data_sum.c ----

// How windows of tokens treat documents, each of which ends with a token of its own.
typedef enum RtDocuments {
    RT_IGNORED,  // nothing
    RT_PACKED,   // a window may have parts of several; the label after an end is ignored
    RT_CUT       // a window lies in one; tokens at its end that don't fill one are left out
} RtDocuments;

// How files of tokens are read.
typedef struct RtTokenOptions {
    int bytes;  // of a token in a file without a header; 0: the usual ones
    RtDocuments documents;
    int64_t document_end;  // the token
} RtTokenOptions;

// A file with rows of an input, or of several.
typedef struct RtDataFile {
    RtMap map;
    char *path;
    const uint8_t *rows;
    int64_t first;  // the sample that its first row is
} RtDataFile;

// The source of an input's rows.
typedef struct RtColumn {
    const RtTensor *input;
    const RtDataFile *file;  // those with its rows, in their order
    int n_files;
    RtType type;           // in the files
    int64_t skip;          // bytes of a file before its first row
    int64_t row_bytes;     // bytes of a sample in a file
    const int64_t *start;  // where each sample begins in its file, in bytes; NULL: row by row
    bool ends;             // labels that follow the token `end` are ignored
    int64_t end;
    int64_t count;  // elements of a sample
    bool is_whole;  // true: the input has no sample axis and is the same in every batch
    int64_t staged_at;
} RtColumn;

typedef struct RtData {
    const RtModel *model;
    const RtShard *shard;  // the part of each batch that this rank reads
    RtColumn *column;
    int n;
    RtDataFile *file;  // all that are read
    int n_files;
    int64_t samples, batch;  // samples in all; samples in a micro-batch
    int64_t staged_bytes;
    int64_t window;  // tokens in a sample; 0: the data aren't files of tokens
    RtDocuments documents;
    int64_t document_end;  // the token
    int64_t *start;        // RT_CUT: see RtColumn
    int64_t start_capacity;
    int64_t n_documents, n_left_out, n_tokens;  // RT_CUT: tokens in no window; all tokens
    uint32_t sum;                               // see rt_data_sum
    char *staging;                              // memory for one batch, for callers without a
                                                // loader
    int64_t *sample;                            // numbers of the samples in that batch
} RtData;

typedef enum RtUse { RT_TRAIN, RT_EVAL, RT_PREDICT } RtUse;  // RT_PREDICT needs no labels

bool rt_data_open(RtData *d, const RtModel *m, const RtShard *shard, RtUse use, const char *path,
                  const RtTokenOptions *tokens);
void rt_data_close(RtData *d);
// The file with that sample of a column, and where in it the sample's elements begin.
const RtDataFile *rt_data_file(const RtColumn *c, int64_t sample);
const uint8_t *rt_data_row(const RtColumn *c, int64_t sample);
// rt_data_stage gathers this rank's shard of d->batch samples in `staging`; rt_data_copy_in copies
// it to the arena.
void rt_data_stage(const RtData *d, const int64_t *sample, char *staging);
void rt_data_copy_in(const RtData *d, const char *staging, Rt *rt);
// Is it a folder with files of tokens?
bool rt_has_tokens(const char *folder);
// Cuts a file of tokens, or all those of a folder, into windows and fills in the columns of `d`,
// whose inputs are already set.
bool rt_tokens_open(RtData *d, const RtModel *m, RtUse use, const char *path, bool is_folder,
                    const RtTokenOptions *o);
// Adds the windows of a file of `n` tokens, of so many bytes each, whose documents are cut. Returns
// false if memory runs out.
bool rt_documents_cut(RtData *d, const uint8_t *tokens, int64_t n, int bytes);
// A checksum of the sizes of the files' rows and of bytes sampled from them, 1 MiB at most. The
// files' names and headers don't count.
uint32_t rt_data_sum(const RtData *d);
// Is `t` the input of tokens, [batch, time]?
bool rt_is_tokens(const RtTensor *t);

// All data that a run reads; opened before anything slow.
typedef struct RtInputs {
    RtData train, eval, predict;
} RtInputs;

// ---- order and reading ahead: shuffle.c, loader.c ----

// A permutation of [0, n): the new index of `i` in that epoch.
int64_t rt_shuffle(int64_t i, int64_t n, int64_t seed, int64_t epoch);

// Stages micro-batches in its own thread, one ahead of the running step.
typedef struct RtLoader RtLoader;
// The loader stages the micro-batches [first, micros); an epoch ends after `per_epoch` samples.
RtLoader *rt_loader_start(const RtData *d, int64_t first, int64_t micros, int64_t per_epoch,
                          bool shuffle, int64_t seed);
// Waits for the next micro-batch and gives its samples, valid until the next call, and its staged
// data, valid until rt_loader_release.
const int64_t *rt_loader_next(RtLoader *l, const char **staging);
void rt_loader_release(RtLoader *l);
void rt_loader_stop(RtLoader *l);

#endif
