// Parses JSON text that isn't trusted.
#include "base/json.h"

#include <string.h>

// Reports where the text stops being JSON, with the rest of the word or line there.
static void report(const char *text, size_t n, const char *end, Diag *d)
{
    enum { MAX_BYTES_SHOWN = 20 };
    size_t at = end ? (size_t)(end - text) : 0, shown = 0;

    while (shown < MAX_BYTES_SHOWN && at + shown < n && !strchr(" \t\r\n", text[at + shown]))
        shown++;
    if (shown)
        diag_error(d, "not JSON: byte %zu: found '%.*s'", at, (int)shown, text + at);
    else
        diag_error(d, "not JSON: byte %zu", at);
}

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
    report(text, n, end, d);
    cJSON_Delete(root);
    return NULL;
}
