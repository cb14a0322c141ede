// Files of tensors: safetensors, npy and npz. They are read from maps and written to a temporary
// file in the folder of their path. The trainers and the compiler share this; it includes nothing
// of ours. Element types have safetensors' names ("F32", "I64", "BOOL" …). Files are untrusted: a
// function with an RtFileError returns false, with a message that lacks the path, if a file is
// malformed.
#ifndef SHARDCC_RT_FILE_H
#define SHARDCC_RT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RtFileError {
    char text[320];
} RtFileError;

// Formats the message, with unprintable bytes escaped; returns false.
__attribute__((format(printf, 2, 3))) bool rt_file_fail(RtFileError *e, const char *fmt, ...);

// ---- text ----

// Copies `s` with bytes that aren't UTF-8 or could disturb a terminal as \xHH; truncates with
// "...".
void rt_printable(char *to, size_t capacity, const char *s);

// Writes `s` as a JSON string with quotes and a final 0, if `capacity` suffices. Always returns the
// length it needs without the 0. Bytes that aren't UTF-8 become the characters of the same number.
size_t rt_json_string(char *to, size_t capacity, const char *s);

// ---- files ----

typedef struct RtGuard RtGuard;

typedef struct RtMap {
    const uint8_t *data;
    size_t size;
    RtGuard *guard;
} RtMap;

// Maps a regular file for reading.
bool rt_map(RtMap *m, const char *path, RtFileError *e);
bool rt_map_open(RtMap *m, int fd, RtFileError *e);  // closes fd with the map
// Did the file keep its size while it was read? If it was truncated, reads of the missing part gave
// zeros, because SIGBUS is caught.
bool rt_map_check(const RtMap *m, RtFileError *e);
void rt_unmap(RtMap *m);

// Writes zeros to memory that processes share. Returns false if the disk has no space for it, which
// would raise SIGBUS; private memory replaces it then.
bool rt_clear_shared(void *p, size_t n);

// At a program's start: opens standard streams that are closed, on /dev/null. Otherwise the next
// opened file would get a standard stream's number and receive its messages. They are opened in the
// wrong mode, so that using them still fails.
void rt_open_streams(void);

// The units of rt_out_gather, in bytes.
enum { RT_OUT_BLOCK = 4096, RT_OUT_LONG = 1 << 18, RT_OUT_GATHERED = 1 << 20 };

// A file that is written to a temporary name in the folder of its path; rt_out_commit renames it
// when it is complete. Only rt_out_try allocates memory.
typedef struct RtOut {
    int fd;
    bool is_made;  // this process made the file and holds its lock
    int64_t at;    // the next offset of rt_out_write
    int error;     // errno of the first failure
    char path[4096], temp[4128];
    char *gathered;       // see rt_out_gather
    int64_t gathered_at;  // where in the file it belongs
    size_t n_gathered;    // bytes
    bool needs_cache;     // the file can't be written around the page cache
} RtOut;

// Can a file be written at `path`? Removes temporary files of killed processes.
bool rt_out_try(const char *path, RtFileError *e);
bool rt_out_open(RtOut *o, const char *path, RtFileError *e);
void rt_out_write(RtOut *o, const void *data, size_t n);  // reports a failure at rt_out_commit
void rt_out_write_at(RtOut *o, int64_t at, const void *data, size_t n);
// Gathers in `buffer`, aligned to RT_OUT_BLOCK, up to RT_OUT_GATHERED of the following bytes, as
// far as each write begins where the one before ended. Whole blocks of them are then written around
// the page cache (O_DIRECT), if the file system can: nothing else is pushed out of it, and no time
// goes into copies. Writes of RT_OUT_LONG bytes or more aren't gathered if their memory lies in
// blocks as in the file. The buffer is used until the file is finished or cancelled.
void rt_out_gather(RtOut *o, char *buffer);
bool rt_out_commit(RtOut *o, RtFileError *e);  // removes the temporary file on failure
void rt_out_cancel(RtOut *o);
// All of it for n bytes. `data` NULL: the memory for it ran out.
bool rt_out_whole(const char *path, const void *data, size_t n, RtFileError *e);

// Makes what has been made, renamed and removed in a folder durable. True also where the file
// system can't do that.
bool rt_sync_folder(const char *path);

// Sets the names of the file that another process writes at `path`, without opening it.
bool rt_out_name(RtOut *o, const char *path, int64_t process, RtFileError *e);
// Several processes write one file. One opens it, the others join it by its process id. All finish;
// then the first one puts it in place.
bool rt_out_join(RtOut *o, const char *path, int64_t process, RtFileError *e);
bool rt_out_finish(RtOut *o, RtFileError *e);  // waits until the written bytes are on disk
bool rt_out_rename(RtOut *o, RtFileError *e);

// ---- tensors ----

enum { RT_FILE_RANK = 8 };

typedef struct RtStored {
    const char *name;
    const char *dtype;  // one of rt_dtype_find's constants; compare with strcmp
    int rank;
    int64_t dim[RT_FILE_RANK];
    const uint8_t *data;  // unaligned
    int64_t bytes;
} RtStored;

// The constant that equals `name`; NULL if there is no such type.
const char *rt_dtype_find(const char *name);
// Bytes of one element; 0 if there is no such type.
int rt_dtype_bytes(const char *dtype);
int rt_stored_by_name(const void *a, const void *b);  // compares two RtStored, for qsort
// "F32[3,4]"
void rt_stored_print(char *to, size_t capacity, const RtStored *t);

// ---- npy ----

// Reads the header of an npy file in memory; `t` points into `data`.
bool rt_npy_parse(RtStored *t, const uint8_t *data, size_t size, RtFileError *e);

// Writes the npy header for type and dims of `t`. Its length, which is returned, is a multiple of
// 64. `capacity` ≥ 512.
size_t rt_npy_header(char *to, size_t capacity, const RtStored *t);

// ---- safetensors ----

// Tensors sorted by name.
typedef struct RtSafe {
    RtMap file;
    RtStored *tensor;
    int n;
    char *names;
} RtSafe;

bool rt_safe_open(RtSafe *s, const char *path, RtFileError *e);
bool rt_safe_parse(RtSafe *s, const uint8_t *data, size_t size, RtFileError *e);
const RtStored *rt_safe_find(const RtSafe *s, const char *name);
void rt_safe_close(RtSafe *s);

// The tensors of several files, sorted by name: a file, a folder that has model.safetensors, or
// shards. These are the files in the folder of NAME.index.json that it names, each of them by its
// name alone (https://huggingface.co/docs/safetensors/metadata_parsing, "weight_map").
typedef struct RtShards {
    RtSafe *file;
    char **path;  // of the files
    int n_files;
    RtStored *tensor;
    int n;
} RtShards;

// The path of the file or the index that `path`, a file or a folder, means. Returns false if the
// folder has none.
bool rt_shards_find(const char *path, char *to, size_t capacity, RtFileError *e);
bool rt_shards_open(RtShards *s, const char *path, RtFileError *e);
const RtStored *rt_shards_tensor(const RtShards *s, const char *name);
bool rt_shards_check(const RtShards *s, RtFileError *e);  // rt_map_check of all files
void rt_shards_close(RtShards *s);

// Bytes of the longest header that is read or written: the limit of the Rust library safetensors.
enum { RT_MAX_HEADER = 100000000 };

// Makes the start of a file that holds the tensors `t` (name, dtype, dims) without gaps; the caller
// frees it. `bytes` is set to its length with the 8 bytes before the JSON. Returns NULL if it
// exceeds RT_MAX_HEADER or memory runs out; `bytes` is set even then.
char *rt_safe_header(const RtStored *t, int n, int64_t *bytes);

// ---- npz: a zip of uncompressed npy files ----

// A tensor that is written in parts, interleaved with other tensors.
typedef struct RtNpzEntry {
    RtStored t;  // name without ".npy"; dims are known at the start
    int64_t at;  // offset of its local header
    int64_t header, written;
    uint32_t crc;
} RtNpzEntry;

// Lays out `n` entries (t.name, dtype, rank, dim filled in by the caller).
bool rt_npz_begin(RtOut *o, RtNpzEntry *entry, int n, const char *path, RtFileError *e);
void rt_npz_write(RtOut *o, RtNpzEntry *entry, const void *data, size_t bytes);
bool rt_npz_end(RtOut *o, RtNpzEntry *entry, int n, RtFileError *e);

// Finds `name` ("name.npy" in the zip), verifies its checksum and reads its header; `t` points into
// the map.
bool rt_npz_find(const RtMap *m, const char *name, RtStored *t, RtFileError *e);

#endif
