// Structs as JSON. A table of fields prints them and reads them back; a text that is read is not
// trusted.
#ifndef SHARDCC_BASE_RECORD_H
#define SHARDCC_BASE_RECORD_H

#include "base/json.h"

typedef enum FieldKind {
    FIELD_TEXT,     // of printable ASCII
    FIELD_HASH,     // uint64_t, as 16 digits
    FIELD_SECONDS,  // double, printed with 9 digits
    FIELD_TIME,     // double, not negative, in any unit; printed so that it reads back as it is
    FIELD_INT,      // int, not negative
    FIELD_BYTES,    // int64_t, not negative, up to 2^53: JSON's numbers are doubles
    FIELD_FLAG,     // bool
    FIELD_TEXTS,    // const char **
    FIELD_LIST,     // of structs
} FieldKind;

typedef struct RecordField {
    const char *name;
    FieldKind kind;
    size_t at, n_at;  // offsets in its struct: of the field; of the length (int) of a list
    bool is_needed;   // otherwise it is left out where it is zero
    const struct RecordTable *of;
} RecordField;

typedef struct RecordTable {
    const RecordField *field;
    int n_fields;
    size_t size;       // of the struct
    bool has_version;  // a member `version` is left to the caller
} RecordTable;

// For tables: the fields of struct T that are named as they are, and lists.
#define TABLE(T, fields) fields, COUNT(fields), sizeof(T)
#define NEEDED(T, kind, name) #name, FIELD_##kind, offsetof(T, name), 0, true, NULL
#define MAYBE(T, kind, name) #name, FIELD_##kind, offsetof(T, name), 0, false, NULL
#define LIST(T, kind, n, at) FIELD_##kind, offsetof(T, at), offsetof(T, n)

// The most fields of a table. The most items of a list, and the most of a FIELD_INT.
enum { MAX_FIELDS = 40, MAX_RECORD_ITEMS = 1 << 22 };

// Where the reader is, for messages.
typedef struct RecordReader {
    Arena *a;
    Diag *d;
    const char *list;  // the reader is in item `i` of this list; NULL: in none
    int i;
    const struct RecordReader *outer;  // where the list is; NULL: at the top level
} RecordReader;

// Prints the members alone, without braces.
void record_print(const RecordTable *k, const void *s, const char *between, Text *t);
// Returns false after an error. Every member must be a field, and every field that is needed must
// be there, each at most once.
bool record_read(const RecordReader *r, const RecordTable *k, const cJSON *x, void *to);
// Reports that member `name` is wrong. Returns false.
bool record_wrong(const RecordReader *r, const char *name, const char *fmt, ...) PRINTF(3, 4);

#endif
