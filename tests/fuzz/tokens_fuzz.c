// Fuzzes files of tokens: any bytes are refused, or all tokens can be read.
#include <stdlib.h>

#include "runtime/rt_tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int sizes[] = {0, 1, 2, 4};
    int64_t sum = 0;

    for (int said = 0; said < 4; said++)
        for (int usual = 1; usual < 4; usual++) {
            RtTokens t;
            RtFileError e;
            if (!rt_tokens_parse(&t, data, size, sizes[said], sizes[usual], &e))
                continue;
            if (t.bytes < 1 || (sizes[said] && t.bytes != sizes[said]))
                abort();
            for (int64_t i = 0; i < t.n * t.bytes; i++)
                sum += t.first[i];
        }
    return sum == -1;
}
