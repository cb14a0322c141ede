// Reads JSON piece by piece, without memory of its own. The text is untrusted: each function
// returns false, or as it says, if the text goes on differently.
#ifndef SHARDCC_RT_JSON_H
#define SHARDCC_RT_JSON_H

#include <stdbool.h>
#include <stdint.h>

typedef struct RtJson {
    const char *at, *end;
} RtJson;

// The next character that isn't white space; 0: there is none.
char rt_json_peek(RtJson *r);
bool rt_json_take(RtJson *r, char what);
// Reads a string to *to, which is large enough for the rest of the text, ends it with 0, and moves
// *to after it.
bool rt_json_text(RtJson *r, char **to);
bool rt_json_word(RtJson *r, char **to);  // the same for a string without NUL
bool rt_json_count(RtJson *r, int64_t *v);
// Reads at most `capacity` counts in brackets; returns how many, or -1 if the text is anything
// else.
int rt_json_counts(RtJson *r, int64_t *v, int capacity);
// Skips any value in which at most `depth` objects and arrays lie in one another.
bool rt_json_skip(RtJson *r, int depth);

#endif
