// What every stage needs and none owns: memory, text, diagnostics, names, files. It includes
// nothing of ours.
#ifndef SHARDCC_BASE_H
#define SHARDCC_BASE_H

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

// ---- arena ----
// Memory of one compilation: taken piece by piece, given back all at once. Running out ends the
// program with a message. All memory is zeroed and aligned to 16 bytes.
typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *a);
void *arena_alloc(Arena *a, size_t count, size_t size);  // exits if count * size overflows
char *arena_string(Arena *a, const char *fmt, ...) PRINTF(2, 3);
char *arena_vstring(Arena *a, const char *fmt, va_list args);
char *arena_copy(Arena *a, const char *s, size_t n);  // n bytes and a 0
#define arena_array(a, T, n) ((T *)arena_alloc(a, (size_t)(n), sizeof(T)))

// Makes room for one more element in an array of `n` with room for `*cap`; returns its place.
void *arena_grow(Arena *a, void *array, int n, int *cap, size_t size);
// Gives the memory of an array that nobody reads any more back early, if it is large.
void arena_drop(Arena *a, void *array, size_t count, size_t size);
#define arena_push(a, array, n, cap)                                                               \
    ((array) = arena_grow(a, array, n, &(cap), sizeof *(array)), &(array)[(n)++])

// ---- text ----
// A growing string on the heap; zero is empty. `s` is always 0-terminated once written to.
typedef struct Text {
    char *s;
    size_t n, cap;
} Text;

void text_put(Text *t, const char *s, size_t n);
void text_printf(Text *t, const char *fmt, ...) PRINTF(2, 3);
void text_free(Text *t);

// Appends `s` between double quotes; `"`, `\` and bytes outside printable ASCII become \" \\ \xHH.
void text_quote(Text *t, const char *s);

// ---- diagnostics ----
// Collects the messages of one compilation. Messages are written to `to` as they come, as
// "file: error: …"; notes are indented below the error they belong to.
typedef struct Diag {
    const char *file;  // the name printed first; base name of the input
    int errors;
    Text *to;  // where messages go; NULL for stderr
} Diag;

enum { MAX_ERRORS = 50 };  // more are counted, not printed

// All take a NULL `d`: nobody listens. Control characters in a message become \xHH.
void diag_error(Diag *d, const char *fmt, ...) PRINTF(2, 3);
void diag_verror(Diag *d, const char *fmt, va_list args);
void diag_note(Diag *d, const char *fmt, ...) PRINTF(2, 3);  // one line below the last error
void diag_warn(Diag *d, const char *fmt, ...) PRINTF(2, 3);

// ---- names ----
// A map from strings to int32; 0 is "none". Strings are not copied. Zero is empty but for `arena`.
typedef struct Map {
    Arena *arena;
    const char **key;
    int32_t *value;
    int n, cap;
} Map;

int32_t map_get(const Map *m, const char *key);
void map_set(Map *m, const char *key, int32_t value);

// The nearest of `names` (n of them) to `word` by edit distance, NULL if none is near.
const char *nearest_name(const char *word, const char *const *names, int n);

// Does `name` match `glob` (`*` any run, `?` any one)?
bool glob_match(const char *glob, const char *name);

// ---- numbers ----
bool mul_size(int64_t a, int64_t b, int64_t *product);  // false on overflow
bool add_size(int64_t a, int64_t b, int64_t *sum);
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);  // FNV-1a, finalised

// ---- files ----
// A read-only file, mapped. Zero is "none".
typedef struct File {
    const uint8_t *data;
    size_t size;
} File;

// False (with an error that names the path) unless `path` is a regular file that can be read.
bool file_map(const char *path, File *f, Diag *d);
void file_unmap(File *f);

// A file that is written beside its place and renamed onto it by out_commit; out_cancel removes it.
typedef struct OutFile {
    char *path, *temp;
    FILE *f;
} OutFile;

bool out_open(OutFile *o, const char *path, Diag *d);
bool out_commit(OutFile *o, Diag *d);  // flushes, checks for write errors, renames
void out_cancel(OutFile *o);
bool out_write(const char *path, const char *s, size_t n, Diag *d);  // a whole file at once

// ---- being asked to end ----
// Ctrl-C and its like wait while something half-made would stay behind.
typedef struct BlockedSignals {
    sigset_t blocked, before;
} BlockedSignals;

void signals_block(BlockedSignals *h);
bool signal_is_pending(void);                   // has one come? Then what takes long gives up
void signals_unblock(const BlockedSignals *h);  // one that came ends the program here

#endif
