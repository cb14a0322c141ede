// The ground of the runtime's host code: messages, memory, time, and a model's tensors: their
// elements, their names, and the shards that ranks have of them. Functions that can fail print why
// on stderr and return false.
#ifndef SHARDCC_RT_CORE_H
#define SHARDCC_RT_CORE_H

#include "runtime/rt_file.h"
#include "runtime/rt_model.h"
#include "runtime/rt_shard_extent.h"

// ---- messages: say.c ----

// "nanogpt: error: …" on stderr, unprintable bytes as \xHH; gives false.
__attribute__((format(printf, 2, 3))) bool rt_error(const RtModel *m, const char *fmt, ...);
// "nanogpt: warning: …"
__attribute__((format(printf, 2, 3))) void rt_warn(const RtModel *m, const char *fmt, ...);
// One indented line that belongs to the error before it.
__attribute__((format(printf, 1, 2))) void rt_note(const char *fmt, ...);
// The entry of `names` that is closest to `word` by edit distance; NULL if none is close.
const char *rt_nearest(const char *word, const char *const *names, int n);

// ---- memory, time, the host, the program's folder: system.c ----

void *rt_alloc(size_t count, size_t size);  // zeroed; ends the program when memory runs out
double rt_seconds(void);                    // seconds since some fixed moment
// A number of the boot of this host's kernel, which its containers share; 0: it isn't known.
uint64_t rt_boot_number(void);
// The number of this process's namespace of that kind, as "pid"; 0: it isn't known.
int64_t rt_namespace(const char *kind);
// Go on with a hash, which begins with 0, of bytes, or of a text. NULL: no text.
uint64_t rt_hash_bytes(uint64_t h, const void *bytes, size_t n);
uint64_t rt_hash(uint64_t h, const char *text);
// The path of a file in the program's own folder: NAME and the ending. Returns false if it isn't
// known, or if it doesn't fit.
bool rt_path_of(const RtModel *m, const char *ending, char *to, size_t capacity);

// ---- threads of the host: parallel.c ----

typedef void (*RtWork)(void *context, int64_t first, int64_t last);
// Does the work of all i in [0, n), a contiguous part of them on each of so many threads.
void rt_parallel(int threads, int64_t n, RtWork work, void *context);
// Memory for a large copy, in huge pages where the system has them. So many threads write to it, so
// that it is backed. Not zeroed; the caller frees it. Returns NULL if memory runs out.
void *rt_alloc_large(int threads, size_t bytes);

// ---- tensors: tensor.c ----

const char *rt_type_name(RtType t);  // as in files: "F32"
bool rt_type_find(const char *name, RtType *t);
bool rt_type_is_float(RtType t);
// Can every element of type `from` be stored as `to`, rounded no worse than f64 to f32?
bool rt_type_converts(RtType from, RtType to);
void rt_convert(RtType to, void *y, RtType from, const void *x, int64_t n);  // x unaligned
void rt_widen(float *y, const void *x, int64_t n);                           // bf16 as f32, exact

double rt_get(RtType t, const void *p);
int64_t rt_get_int(RtType t, const void *p);
void rt_set(RtType t, void *p, double value);
void rt_set_int(RtType t, void *p, int64_t value);

int rt_layers(const RtTensor *t);  // at least 1
int64_t rt_element_bytes(const RtTensor *t);
int64_t rt_whole_count(const RtTensor *t);  // elements of one layer
int64_t rt_whole_bytes(const RtTensor *t);
// The first tensor of that role; NULL if there is none.
const RtTensor *rt_find(const RtTensor *t, int n, RtRole role);
// "input_ids I64[4,16]", truncated to `capacity`.
void rt_tensor_print(const RtTensor *t, char *to, size_t capacity);
// A file name for that tensor: characters that file systems may reject become '_'.
void rt_file_name(const RtTensor *t, char *to, size_t capacity);

// Tensors as files store them: whole, one entry per layer, without data.
typedef struct RtEntries {
    RtStored *item;
    const RtTensor **tensor;  // by entry: the tensor that the entry is a layer of
    int *layer;               // and which
    int n;
    char *names;
} RtEntries;

// All of `t` whose role is in `roles`, a sum of 1 << role. Ends the program when memory runs out.
RtEntries rt_entries(const RtTensor *t, int n, unsigned roles);
void rt_entries_free(RtEntries *e);

// ---- coordinates of ranks: mesh.c ----

int rt_mesh_ranks(const RtMesh *m);
int rt_mesh_stride(const RtMesh *m, int axis);  // in ranks, between neighbours along that axis
int rt_mesh_coordinate(const RtMesh *m, int axis, int rank);

// ---- shards of tensors: tensor_shard.c ----

// Elements and bytes of one layer as it lies in the arena: a rank's chunk of it.
int64_t rt_count(const RtModel *m, const RtTensor *t);
int64_t rt_bytes(const RtModel *m, const RtTensor *t);

int64_t rt_chunk(const RtMesh *m, const RtCut *c);
RtShard rt_shard_of(const RtMesh *m, const RtCut *c, int rank);
// The shards of `rank`, one for each of RtModel.cuts; the caller frees them.
RtShard *rt_shards(const RtModel *m, int rank);
// Ranks may have equal shards of a tensor: sets *n to the number of ranks that have this rank's
// shard, and returns how many of them come before it.
int rt_replica(const RtModel *m, const RtTensor *t, int rank, int *n);
bool rt_is_first(const RtModel *m, const RtTensor *t, int rank);  // none comes before it

typedef struct RtRunsDim {
    int64_t extent, whole, own, at;
} RtRunsDim;

// Iterates over a shard of one layer in contiguous runs: `count` elements, from element `whole` of
// the whole tensor and from element `own` of the rank's chunk. Both rise.
//     for (RtRuns r = rt_runs(m, t, shard); rt_runs_next(&r);)
typedef struct RtRuns {
    int64_t whole, own, count;
    bool is_begun, is_ended;
    int n;
    RtRunsDim dim[RT_MAX_DIMS];  // innermost dim first
} RtRuns;

RtRuns rt_runs(const RtModel *m, const RtTensor *t, const RtShard *shard);
bool rt_runs_next(RtRuns *r);

#endif
