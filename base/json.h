// JSON text that isn't trusted.
#ifndef SHARDCC_BASE_JSON_H
#define SHARDCC_BASE_JSON_H

#include <cjson/cJSON.h>

#include "base/base.h"

// Parses a text of at most `most` bytes. Messages call it `what` ("a plan"). Returns NULL after an
// error. The caller owns the result and frees it with cJSON_Delete.
cJSON *json_parse(const char *text, size_t n, size_t most, const char *what, Diag *d);

#endif
