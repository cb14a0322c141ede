// Fuzzes files of buffers: any bytes are refused with one message, or give buffers that can be
// packed, and print as a file that has one column more.
#include <stdlib.h>

#include "packer/packer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void look(Arena *a, const BufferTable *t)
{
    Packing x = pack(a, t->buffer, t->n, &(PackOptions){.effort = 1 << 16});
    Text text = {0};

    for (int i = 0; i < t->n; i++) {
        const LiveBuffer *b = &t->buffer[i];
        promise(b->lower >= 0 && b->lower < b->upper && b->bytes > 0);
        promise(x.offset[i] >= 0 && x.offset[i] <= x.bytes - b->bytes);
        for (int j = 0; j < i; j++) {
            const LiveBuffer *c = &t->buffer[j];
            promise(b->upper <= c->lower || c->upper <= b->lower ||
                    x.offset[i] + b->bytes <= x.offset[j] || x.offset[j] + c->bytes <= x.offset[i]);
        }
    }
    promise(pack_bound(t->buffer, t->n) <= x.bound && x.bound <= x.bytes);
    buffer_table_print(t, x.offset, &text);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    BufferTable t;

    bool ok = buffer_table_parse(a, (File){data, size}, &t, &d);
    promise(d.errors == !ok);
    if (ok)
        look(a, &t);
    text_free(&messages);
    arena_free(a);
    return 0;
}
