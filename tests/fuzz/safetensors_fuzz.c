// Fuzzes safetensors files: any bytes are refused, or the bytes of the tensors can be read.
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RtSafe s, again;
    RtFileError e;
    int64_t bytes, sum = 0;

    if (!rt_safe_parse(&s, data, size, &e))
        return 0;
    for (int i = 0; i < s.n; i++) {
        const RtStored *t = &s.tensor[i];

        if (rt_safe_find(&s, t->name) != t)
            abort();
        for (int64_t k = 0; k < t->bytes; k += 97)
            sum += t->data[k];
    }
    // The header that the writer makes of the tensors can be read back; they lie one after the
    // other.
    char *header = rt_safe_header(s.tensor, s.n, &bytes);
    int64_t total = bytes;
    for (int i = 0; i < s.n; i++)
        total += s.tensor[i].bytes;
    if (total < 1 << 20) {
        uint8_t *file = calloc((size_t)total, 1);
        memcpy(file, header, (size_t)bytes);
        bool ok = rt_safe_parse(&again, file, (size_t)total, &e);
        // Bytes that aren't UTF-8 are written as characters, so that two names may become equal.
        if (ok && again.n != s.n)
            abort();
        rt_safe_close(&again);
        free(file);
    }
    free(header);
    rt_safe_close(&s);
    return sum == -1;
}
