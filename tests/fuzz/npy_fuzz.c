// Fuzzes npy and npz files: any bytes are refused, or all bytes of the numbers can be read.
#include <stdlib.h>

#include "runtime/rt_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t touch(const RtStored *t)
{
    int64_t sum = 0, bytes = rt_dtype_bytes(t->dtype);

    for (int i = 0; i < t->rank; i++)
        bytes *= t->dim[i];
    if (bytes != t->bytes)
        abort();
    for (int64_t k = 0; k < t->bytes; k++)
        sum += t->data[k];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RtStored t;
    RtFileError e;
    int64_t sum = 0;

    if (rt_npy_parse(&t, data, size, &e)) {
        char header[512];

        sum += touch(&t);
        size_t n = rt_npy_header(header, sizeof header, &t);
        if (n > sizeof header || n % 64 != 0)
            abort();
    }
    if (rt_npz_find(&(RtMap){data, size}, "a", &t, &e))
        sum += touch(&t);
    return sum == -1;
}
