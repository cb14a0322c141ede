// Parses JSON text that isn't trusted.
#include "base/json.h"

#include <string.h>

cJSON *json_parse(const char *text, size_t n, size_t most, const char *what, Diag *d)
{
    const char *end = NULL;

    if (n > most) {
        diag_error(d, "%zu bytes are too many for %s", n, what);
        return NULL;
    }
    cJSON *root = cJSON_ParseWithLengthOpts(text, n, &end, false);
    while (root && end < text + n && memchr(" \t\r\n", *end, 4))
        end++;
    if (root && end == text + n)
        return root;
    diag_error(d, "not JSON: byte %td", end ? end - text : 0);
    cJSON_Delete(root);
    return NULL;
}
