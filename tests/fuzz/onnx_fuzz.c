// Fuzzes ONNX models: any bytes are refused with a message, or become a graph that verifies.
#include <stdlib.h>
#include <string.h>

#include "frontend/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const bind[] = {"batch=2"};
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    ImportOptions o = {.accumulate = 1 + (size >> 1 & 1),
                       .training = size & 1,
                       .bind = bind,
                       .n_bind = memmem(data, size, "batch", 5) != NULL};
    Weights w;

    Graph *g = import_bytes(a, data, size, &o, &w, &d);
    if (!g && !d.errors)
        abort();
    if (g && !graph_verify(g, &d))
        abort();
    text_free(&messages);
    arena_free(a);
    return 0;
}
