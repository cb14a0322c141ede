// Fuzzes the text form of programs: any bytes are refused, or are read, checked and printed without
// a crash. The printed text reads and prints as itself, and what the check lets pass is generated.
#include <stdlib.h>
#include <string.h>

#include "generator/generator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_print(Arena *a, const Program *p, Diag *d)
{
    Text first = {0}, second = {0};

    program_print(p, &first);
    Program *again = program_parse(a, first.s, first.n, &target_cpu, d);
    if (!again)
        abort();
    program_print(again, &second);
    if (strcmp(first.s, second.s))
        abort();
    text_free(&first);
    text_free(&second);
}

static void try_generate(const Program *p)
{
    const GenerateOptions o = {
        .transport = rt_transport_table, .name = "fuzz", .options = "", .plan = ""};
    ProgramTexts t = {{0}, {0}};

    generate_texts(p, &o, &t);
    texts_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    Program *p = program_parse(a, (const char *)data, size, &target_cpu, &d);

    if (p) {
        try_print(a, p, &d);
        if (program_check(p, &d))
            try_generate(p);
    }
    text_free(&messages);
    arena_free(a);
    return 0;
}
