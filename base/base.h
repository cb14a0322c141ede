// Memory, text, diagnostics, names, numbers, files and signals, for all stages. Includes no other
// header of the project.
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

// ---- lack of memory ----

// Whoever owns the process sets it before it allocates: is called, on any thread, where there is no
// memory, and must not return. NULL: the process aborts.
extern void (*on_lack_of_memory)(void);
_Noreturn void lack_of_memory(void);

// ---- arena ----
// The memory of one compilation: allocated one by one, freed in one call. All memory is zeroed and
// aligned to 16 bytes.
typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *a);
void *arena_alloc(Arena *a, size_t count, size_t size);  // exits if count * size overflows
char *arena_string(Arena *a, const char *fmt, ...) PRINTF(2, 3);
char *arena_vstring(Arena *a, const char *fmt, va_list args);
char *arena_copy(Arena *a, const char *s, size_t n);  // n bytes and a 0
#define arena_array(a, T, n) ((T *)arena_alloc(a, (size_t)(n), sizeof(T)))

// Ensures capacity for one more element of `size` bytes in an array of `n` elements and capacity
// `*cap`. Returns the array, which may have moved.
void *arena_grow(Arena *a, void *array, int n, int *cap, size_t size);
// Frees the memory of an array that nobody reads any more, if it is large enough for its own chunk.
void arena_drop(Arena *a, void *array, size_t count, size_t size);
#define arena_push(a, array, n, cap)                                                               \
    ((array) = arena_grow(a, array, n, &(cap), sizeof *(array)), &(array)[(n)++])

// A list of texts.
typedef struct Strings {
    const char **s;
    int n, cap;
} Strings;

// ---- text ----
// A growing string on the heap; zero is empty. `s` is 0-terminated after the first write.
typedef struct Text {
    char *s;
    size_t n, cap;
} Text;

void text_put(Text *t, const char *s, size_t n);
void text_printf(Text *t, const char *fmt, ...) PRINTF(2, 3);
void text_free(Text *t);

// Appends `s` between double quotes; `"`, `\` and bytes outside printable ASCII become \" \\ \xHH.
void text_quote(Text *t, const char *s);

// Appends %s, or %"s" if the name has other characters than letters, digits, '_' and '.'.
void text_name(Text *t, const char *s);

void text_number(Text *t, double x);  // the shortest decimal that reads back as x

// The greatest common divisor of two numbers of at least 0; the divisor of 0 and x is x.
static inline int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

char *time_text(Arena *a, double seconds);  // "2.31 s", "11.2 ms", "3 us"
char *bytes_text(Arena *a, double bytes);   // "61.2 GiB", "8 MiB"

// ---- diagnostics ----
// Counts and writes the messages of one compilation. Each is written to `to` immediately, as "file:
// error: …"; notes are indented below the error they belong to.
typedef struct Diag {
    const char *file;  // printed first: the input's base name
    int errors;
    Text *to;  // where messages go; NULL for stderr
} Diag;

enum { MAX_ERRORS = 50 };  // more are counted, not printed

// A NULL `d` drops the message. Control characters in a message become \xHH.
void diag_error(Diag *d, const char *fmt, ...) PRINTF(2, 3);
void diag_verror(Diag *d, const char *fmt, va_list args);
void diag_note(Diag *d, const char *fmt, ...) PRINTF(2, 3);  // one line below the last error
void diag_warn(Diag *d, const char *fmt, ...) PRINTF(2, 3);

// ---- names ----
// A map from strings to int32; 0 is "none". Strings are not copied. A map of zeros with its `arena`
// set is empty.
typedef struct Map {
    Arena *arena;
    const char **key;
    int32_t *value;
    int n, cap;
} Map;

int32_t map_get(const Map *m, const char *key);
void map_set(Map *m, const char *key, int32_t value);

// The name among `n` with the smallest edit distance to `word`; NULL if none is similar.
const char *nearest_name(const char *word, const char *const *names, int n);

// Does `name` match `glob`? `*` matches any run of characters, `?` any one.
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

// A file that is written under a temporary name in the folder of `path`. out_commit renames it to
// `path`; out_cancel removes it.
typedef struct OutFile {
    char *path, *temp;
    FILE *f;
} OutFile;

bool out_open(OutFile *o, const char *path, Diag *d);
bool out_commit(OutFile *o, Diag *d);  // flushes, checks for write errors, renames
void out_cancel(OutFile *o);
bool out_write(const char *path, const char *s, size_t n, Diag *d);  // open, write, commit

bool is_same_file(const char *a, const char *b);
// Checks that `file`, which is read, is none of the files to be written. Messages call it `what`.
bool out_spares(const Strings *written, const char *file, const char *what, Diag *d);

// The part of a path after its last slash.
const char *base_name(const char *path);
char *folder_name(Arena *a, const char *path);  // the folder that a path lies in

// ---- signals that end the program ----
// SIGINT, SIGTERM and SIGHUP are blocked while half-made files would be left over.
typedef struct BlockedSignals {
    sigset_t blocked, before;
} BlockedSignals;

void signals_block(BlockedSignals *h);
bool signal_is_pending(void);                   // has one come? Long work then gives up
void signals_unblock(const BlockedSignals *h);  // a pending signal ends the program here

#endif
