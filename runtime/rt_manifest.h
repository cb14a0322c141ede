// The manifest of a checkpoint: the file MANIFEST in its folder, which is written last, when all
// other files are on disk. It is text:
//
//     shardcc checkpoint 1
//     program gpt2
//     step 500
//     step_samples 16
//     data_samples 1000
//     seed 0
//     shuffle yes
//     log 53211
//     data 5f0e12aa
//     best 400 2.25 1000 77ab01c3
//     rollbacks 2 17
//     evaluation done
//     loss 2.51 2.4375 2.25
//     grad_norm 0.75 0.5 0.625
//     precision bf16
//     file model-00001-of-00001.safetensors 497774208 1c9a77f0
//     file optimizer-00001-of-00001.safetensors 995548416 e2d30a5b
//     kept 3
//     end 2 5f11d3a9
//
// A file has its bytes and its CRC-32C, and the last line the number of files and the CRC-32C of
// all lines before. `log` is how much of the log had been written then; `log none`: there was none.
// `data` is a checksum of the data (rt_data_sum); older manifests have no such line. `best` is the
// step of the best evaluation so far and its loss, 17 digits at most, then the samples that it took
// and the checksum of its data; without --keep-best there is no such line. `rollbacks` is how often
// the run had gone back to a checkpoint, and the number of steps whose data it had skipped by that;
// without any there is no such line. `evaluation` says whether this step's evaluation is done or,
// because the run ended before, still due; without an evaluation at this step there is no such
// line. `loss` and `grad_norm` are the numbers of the last steps, the oldest first, of which
// --spike takes the medians, 17 digits at most; without --spike there are no such lines.
// `precision` is what products read; without such a line it is f32. `kept` is the number, in the
// order of names, of a tensor of the weights that has elements that are NaN or infinite, as it had
// when it was loaded: a mask, say. All others are finite.
//
// The file is untrusted.
#ifndef SHARDCC_RT_MANIFEST_H
#define SHARDCC_RT_MANIFEST_H

#include "rt_file.h"

enum { RT_MANIFEST_NAME = 64, RT_MANIFEST_FILES = 99999, RT_MANIFEST_PROGRAM = 256 };

typedef struct RtManifestFile {
    char
        name[RT_MANIFEST_NAME];  // letters, digits, '.', '_', '-'; it begins with a letter or digit
    int64_t bytes;
    uint32_t sum;
} RtManifestFile;

// The evaluation with the least loss so far, if one is known.
typedef struct RtBest {
    bool is_known;
    int64_t step;  // no later than the manifest's
    double loss;
    int64_t samples;
    uint32_t data_sum;
} RtBest;

// The numbers of the last steps, in a ring.
enum { RT_RECENT = 64 };
typedef struct RtRecent {
    double value[RT_RECENT];
    int n, next;
} RtRecent;

// A step's evaluation, as --eval-every asks for it.
typedef enum RtEvaluation { RT_NOT_EVALUATED, RT_EVALUATION_DUE, RT_EVALUATION_DONE } RtEvaluation;

typedef struct RtManifest {
    char program[RT_MANIFEST_PROGRAM];
    int64_t step;          // steps done
    int64_t step_samples;  // samples of a step
    int64_t data_samples;  // of all data
    int64_t seed;
    bool shuffles;
    int64_t log;  // bytes; -1: there was no log
    bool has_sum;
    uint32_t data_sum;  // of the data, if it is known
    RtBest best;
    int64_t rollbacks, skipped;  // both 0, or neither; skipped: steps
    RtEvaluation evaluation;
    RtRecent loss, grad_norm;
    char precision[8];  // empty: f32
    RtManifestFile *file;
    int n, capacity;
    int *kept;  // rising
    int n_kept, kept_capacity;
} RtManifest;

// Messages about a file that isn't as the manifest says; the first has both sizes.
#define RT_WRONG_SIZE "it has %lld bytes, not %lld"
#define RT_WRONG_BYTES "its bytes are others than were written (checksum)"

// Returns false if memory runs out, or if there are too many.
bool rt_manifest_add(RtManifest *m, const char *name, int64_t bytes, uint32_t sum);
// Adds a tensor that isn't finite. Returns false if memory runs out.
bool rt_manifest_keep(RtManifest *m, int tensor);
bool rt_manifest_keeps(const RtManifest *m, int tensor);
void rt_manifest_free(RtManifest *m);

// Returns the text, which the caller frees, and sets its length; NULL: memory ran out.
char *rt_manifest_print(const RtManifest *m, size_t *bytes);
// After false nothing has to be freed.
bool rt_manifest_parse(RtManifest *m, const uint8_t *data, size_t size, RtFileError *e);

// The same for a file. It is written to a temporary file in the same folder, and then renamed.
bool rt_manifest_write(const RtManifest *m, const char *path, RtFileError *e);
bool rt_manifest_read(RtManifest *m, const char *path, RtFileError *e);

#endif
