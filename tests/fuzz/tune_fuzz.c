// Fuzzes files of --tune: any bytes are refused, or print as they are.
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_tune.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RtTune t;
    RtFileError e;
    size_t bytes;

    if (!rt_tune_parse(&t, data, size, &e))
        return 0;
    for (int i = 0; i < t.n; i++)
        if (t.product[i].algorithm < 0 || t.product[i].algorithm >= RT_TUNE_ALGORITHMS)
            abort();
    char *text = rt_tune_print(&t, &bytes);
    // Numbers may have zeros before them in the file.
    if (bytes > size || (bytes == size && memcmp(text, data, size)))
        abort();
    free(text);
    rt_tune_free(&t);
    return 0;
}
