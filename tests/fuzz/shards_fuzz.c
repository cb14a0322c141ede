// Fuzzes indices of shards: any bytes are refused, or name files in their folder.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/rt_file.h"

static char path[64];

static void remove_file(void) { unlink(path); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RtShards s;
    RtFileError e;

    if (!*path) {
        snprintf(path, sizeof path, "/tmp/shards_fuzz.%d.json", (int)getpid());
        atexit(remove_file);
    }
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size)
        abort();
    fclose(f);
    if (!rt_shards_open(&s, path, &e))
        return 0;
    for (int i = 1; i < s.n; i++)
        if (!s.tensor[i].name)
            abort();
    rt_shards_close(&s);
    return 0;
}
