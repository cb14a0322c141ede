// Files of tensors: safetensors, npy and npz, read from maps and written beside their place. Shared
// by the trainers and the compiler; includes nothing of ours. Element types are safetensors' names
// ("F32", "I64", "BOOL" …). Files are untrusted: each function that takes an RtFileError gives
// false and a message without the path when the file isn't what it should be.
#ifndef SHARDCC_RT_FILE_H
#define SHARDCC_RT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RtFileError {
    char text[320];
} RtFileError;

// Fills in the message, printable whatever its parts are; gives false.
__attribute__((format(printf, 2, 3))) bool rt_file_fail(RtFileError *e, const char *fmt, ...);

// ---- text ----

// Copies `s` with everything that could upset a terminal as \xHH; cut to fit, with "..." at the
// end.
void rt_printable(char *to, size_t room, const char *s);

// Writes `s` as a JSON string with its quotes, and a 0, where `room` suffices; the length that it
// needs without the 0 in any case. Bytes that aren't UTF-8 become the characters of their numbers.
size_t rt_json_string(char *to, size_t room, const char *s);

// ---- files ----

typedef struct RtGuard RtGuard;

typedef struct RtMap {
    const uint8_t *data;
    size_t size;
    RtGuard *guard;
} RtMap;

// Maps a regular file for reading.
bool rt_map(RtMap *m, const char *path, RtFileError *e);
bool rt_map_open(RtMap *m, int fd, RtFileError *e);  // the open file, which is closed with the map
// Is what was read since then what the file had? Not if it has been cut short meanwhile: then zeros
// were read, and SIGBUS did no harm.
bool rt_map_check(const RtMap *m, RtFileError *e);
void rt_unmap(RtMap *m);

// Writes zeros to memory that processes share: false where there is no room for it, which would
// raise SIGBUS. Other memory stands in its place then.
bool rt_clear_shared(void *p, size_t n);

// At a program's start: opens the standard streams that are closed, on /dev/null. The next file to
// be opened would take a closed one's place, and messages would go into that file. They are opened
// the wrong way round, so that their use still fails.
void rt_open_streams(void);

// A file written beside its place; rt_out_commit puts it there whole. Allocates nothing, except in
// rt_out_try.
typedef struct RtOut {
    int fd;
    bool is_made;  // by this process, which holds its lock
    int64_t at;  // where rt_out_write goes on
    int error;   // errno of the first failure
    char path[4096], temp[4128];
} RtOut;

// Can a file be written there? Removes what processes left beside it that were killed.
bool rt_out_try(const char *path, RtFileError *e);
bool rt_out_open(RtOut *o, const char *path, RtFileError *e);
void rt_out_write(RtOut *o, const void *data, size_t n);  // a failure is kept for rt_out_commit
void rt_out_write_at(RtOut *o, int64_t at, const void *data, size_t n);
bool rt_out_commit(RtOut *o, RtFileError *e);  // removes the file on failure
void rt_out_cancel(RtOut *o);

// Sets the names of the file that another process writes beside `path`, without opening it.
bool rt_out_name(RtOut *o, const char *path, int64_t process, RtFileError *e);
// Several processes write one file: one opens it, the others join it by its process id, all finish
// and then the first puts it in place.
bool rt_out_join(RtOut *o, const char *path, int64_t process, RtFileError *e);
bool rt_out_finish(RtOut *o, RtFileError *e);  // what was written is on disk
bool rt_out_place(RtOut *o, RtFileError *e);

// ---- tensors ----

enum { RT_FILE_RANK = 8 };

typedef struct RtStored {
    const char *name;
    const char *dtype;  // a constant: compare with strcmp
    int rank;
    int64_t dim[RT_FILE_RANK];
    const uint8_t *data;  // not aligned
    int64_t bytes;
} RtStored;

// The constant that equals `name`; NULL: no such type.
const char *rt_dtype_find(const char *name);
// Bytes of one element; 0: no such type.
int rt_dtype_bytes(const char *dtype);
// "F32[3,4]"
void rt_stored_print(char *to, size_t room, const RtStored *t);

// ---- npy ----

// Reads the header of an npy file in memory; `t` points into `data`.
bool rt_npy_parse(RtStored *t, const uint8_t *data, size_t size, RtFileError *e);

// The header for type and dims of `t`, a multiple of 64 bytes; its length. `room` ≥ 512.
size_t rt_npy_header(char *to, size_t room, const RtStored *t);

// ---- safetensors ----

// Tensors by rising name.
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

// The header's longest length, to be read and to be written: that of the Rust library safetensors.
enum { RT_MOST_HEADER = 100000000 };

// The start of a file that holds `t` (name, dtype, dims) one after the other, without gaps; freed
// by the caller. NULL if names make it longer than RT_MOST_HEADER, or when memory runs out; the
// length that it needs, with the 8 bytes before it, in any case.
char *rt_safe_header(const RtStored *t, int n, int64_t *bytes);

// ---- npz: npy files in a zip, stored ----

// A tensor whose bytes come piece by piece, while others' do.
typedef struct RtNpzEntry {
    RtStored t;  // name without ".npy"; dims known from the start
    int64_t at;  // of its local header
    int64_t header, written;
    uint32_t crc;
} RtNpzEntry;

// Lays out `n` entries (t.name, dtype, rank, dim filled in by the caller).
bool rt_npz_begin(RtOut *o, RtNpzEntry *entry, int n, const char *path, RtFileError *e);
void rt_npz_write(RtOut *o, RtNpzEntry *entry, const void *data, size_t bytes);
bool rt_npz_end(RtOut *o, RtNpzEntry *entry, int n, RtFileError *e);

// Finds `name` ("name.npy" in the zip) and reads its header; `t` points into the map. Its checksum
// is verified.
bool rt_npz_find(const RtMap *m, const char *name, RtStored *t, RtFileError *e);

#endif
