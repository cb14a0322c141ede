// Cuts documents into windows (--documents cut). A document ends with a token of its own, or with
// its file. Its windows follow each other; each has one token more than the model takes, which is
// the last label, so that the windows of a document share a token. The rest of it is left out.
#include <stdlib.h>

#include "runtime/trainer/data.h"

// Appends where a window begins, in bytes from the file's first token.
static bool add_window(RtData *d, int64_t at)
{
    if (d->samples == d->start_capacity) {
        int64_t more = d->start_capacity ? 2 * d->start_capacity : 1024;
        int64_t *grown = realloc(d->start, (size_t)more * sizeof *grown);
        if (!grown)
            return false;
        d->start = grown;
        d->start_capacity = more;
    }
    d->start[d->samples++] = at;
    return true;
}

static bool add_document(RtData *d, int64_t first, int64_t n, int bytes)
{
    int64_t windows = (n - 1) / d->window, used = windows * d->window + (windows > 0);

    for (int64_t i = 0; i < windows; i++)
        if (!add_window(d, (first + i * d->window) * bytes))
            return false;
    d->n_documents++;
    d->n_left_out += n - used;
    return true;
}

static int64_t token_at(const uint8_t *tokens, int64_t i, int bytes)
{
    const uint8_t *p = tokens + i * bytes;

    return bytes == 1   ? p[0]
           : bytes == 2 ? p[0] | p[1] << 8
                        : p[0] | p[1] << 8 | p[2] << 16 | (int64_t)p[3] << 24;
}

bool rt_documents_cut(RtData *d, const uint8_t *tokens, int64_t n, int bytes)
{
    int64_t first = 0;

    d->n_tokens += n;
    for (int64_t i = 0; i < n; i++)
        if (i == n - 1 || token_at(tokens, i, bytes) == d->document_end) {
            if (!add_document(d, first, i + 1 - first, bytes))
                return false;
            first = i + 1;
        }
    return true;
}
