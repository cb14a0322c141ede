// Structs as JSON: a table of fields prints them and reads them back, untrusted.
#ifndef SHARDCC_ANALYZER_RECORD_H
#define SHARDCC_ANALYZER_RECORD_H

#include "analyzer/json.h"

typedef enum FieldKind {
    FIELD_TEXT,     // of printable ASCII
    FIELD_HASH,     // uint64_t, as 16 digits
    FIELD_SECONDS,  // double, of 9 digits
    FIELD_INT,      // int, not negative
    FIELD_BYTES,    // int64_t, not negative, up to 2^53: JSON's numbers are doubles
    FIELD_FLAG,     // bool
    FIELD_TEXTS,    // const char **
    FIELD_LIST,     // of structs
} FieldKind;

typedef struct RecordField {
    const char *name;
    FieldKind kind;
    size_t at, n_at;  // in its struct; the length (int) of a list
    bool is_needed;   // otherwise what is zero is left out
    const struct RecordTable *of;
} RecordField;

typedef struct RecordTable {
    const RecordField *field;
    int n_fields;
    size_t size;  // of the struct
} RecordTable;

enum { MAX_FIELDS = 32, MAX_RECORD_ITEMS = 1 << 22 };  // of a table; of a list, and of a FIELD_INT

// Where an error is.
typedef struct RecordReader {
    Arena *a;
    Diag *d;
    const char *list;  // in item `i` of this list; NULL: in none
    int i;
} RecordReader;

// The members alone, without braces.
void record_print(const RecordTable *k, const void *s, const char *between, Text *t);
// False after an error: every member is a field, or `version` outside of lists, and each field that
// is needed is there.
bool record_read(const RecordReader *r, const RecordTable *k, const cJSON *x, void *to);
// Reports that member `name` is wrong; false.
bool record_wrong(const RecordReader *r, const char *name, const char *fmt, ...) PRINTF(3, 4);

#endif
