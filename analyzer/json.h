// JSON text that isn't trusted.
#ifndef SHARDCC_ANALYZER_JSON_H
#define SHARDCC_ANALYZER_JSON_H

#include <cjson/cJSON.h>

#include "base/base.h"

// The whole text, which is `what` ("a plan") and has at most `most` bytes; NULL after an error. The
// caller's, to be given to cJSON_Delete.
cJSON *json_parse(const char *text, size_t n, size_t most, const char *what, Diag *d);

#endif
