// Reads files of lines of text, each a few words: files of --tune, manifests of checkpoints. They
// are untrusted.
#ifndef SHARDCC_RT_LINES_H
#define SHARDCC_RT_LINES_H

#include "rt_file.h"

enum { RT_LINE = 4352 };  // capacity for a line, with a final 0

typedef struct RtLines {
    const char *at, *end;
    int number;  // of `line`, from 1
    char line[RT_LINE];
    const char *word;  // the next part of `line`
    RtFileError *error;
} RtLines;

RtLines rt_lines(const uint8_t *data, size_t size, RtFileError *e);
// Goes to the next line. Returns false, with an error, if it has no end or is too long.
bool rt_lines_next(RtLines *l);
// Sets an error that names the line; returns false. `who` writes such files.
bool rt_lines_fail(const RtLines *l, const char *who);

// Each moves RtLines.word past what it takes. Returns false if the line goes on differently.
bool rt_take(RtLines *l, const char *text);
bool rt_take_number(RtLines *l, int64_t most, int64_t *to);  // from 0
bool rt_take_rest(RtLines *l, char *to, size_t capacity);    // all that is left, which is something
bool rt_take_end(const RtLines *l);                          // there is nothing left

#endif
