// Fuzzes logs of trainers: any bytes are refused with one message, or are shown as tables.
#include <stdlib.h>

#include "report/run_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return !freopen("/dev/null", "w", stdout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    RunFile f;

    bool ok = run_file_parse(a, (const char *)data, size, &f, &d);
    if (d.errors != !ok)
        abort();
    if (ok)
        run_print(a, "fuzz", &f, NULL);
    text_free(&messages);
    arena_free(a);
    return 0;
}
