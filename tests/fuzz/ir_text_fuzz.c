// Fuzzes the text form of graphs: any bytes are refused, or are read, verified and printed without
// a crash. The printed text reads and prints as itself.
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0}, first = {0}, second = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    Graph *g = graph_parse(a, (const char *)data, size, &d);

    if (g) {
        graph_print(g, &first);
        Graph *again = graph_parse(a, first.s, first.n, &d);
        if (!again)
            abort();
        graph_print(again, &second);
        if (strcmp(first.s, second.s) || graph_verify(g, &d) != graph_verify(again, &d))
            abort();
    }
    text_free(&messages);
    text_free(&first);
    text_free(&second);
    arena_free(a);
    return 0;
}
