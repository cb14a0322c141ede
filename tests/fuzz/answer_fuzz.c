// Fuzzes answer files: any bytes as an answer of the example, with the checksum corrected so that
// the text after it is reached. The answer is refused with one message, or its bound holds.
#include <stdlib.h>
#include <string.h>

#include "solver/assign/internal.h"
#include "tests/solver/example.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const File file = {(const uint8_t *)example, sizeof example - 1};
    Arena *a = arena_new();
    Text t = {0}, messages = {0}, said = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    Problem p;

    if (!problem_parse(a, file, &p, NULL))
        abort();
    text_put(&t, (const char *)data, size);
    text_printf(&t, "  \"checksum\": \"%016" PRIx64 "\"\n}\n", hash_bytes(data, size, 0));
    bool ok = stored_check((File){(const uint8_t *)t.s, t.n}, &p, &said, &d);
    if (d.errors != !ok || (said.n > 0) != ok)
        abort();
    Stored s;
    if (ok && stored_read(a, (File){(const uint8_t *)t.s, t.n}, &s, NULL) && !s.is_infeasible &&
        (s.cost < EXAMPLE_OPTIMUM || s.certified > EXAMPLE_OPTIMUM))
        abort();
    text_free(&t);
    text_free(&messages);
    text_free(&said);
    arena_free(a);
    return 0;
}
