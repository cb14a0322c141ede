// Fuzzes manifests of checkpoints: any bytes are refused, or print as they are.
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RtManifest m;
    RtFileError e;
    size_t bytes;

    if (!rt_manifest_parse(&m, data, size, &e))
        return 0;
    for (int i = 0; i < m.n; i++)
        if (m.file[i].bytes < 0 || !m.file[i].name[0] || strchr(m.file[i].name, '/'))
            abort();
    char *text = rt_manifest_print(&m, &bytes);
    // Numbers may have zeros before them in the file.
    if (bytes > size || (bytes == size && memcmp(text, data, size)))
        abort();
    free(text);
    rt_manifest_free(&m);
    return 0;
}
