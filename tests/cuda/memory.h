// Device and pinned memory of the double of CUDA's runtime: every allocation has pages of its own,
// between pages that nobody may touch. Those of the device are open only while an Open exists.
#ifndef SHARDCC_TESTS_CUDA_MEMORY_H
#define SHARDCC_TESTS_CUDA_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace cudart
{

enum Kind { PAGEABLE, PINNED, DEVICE };

// While one exists, device memory can be touched. At its end it looks for bytes that were written
// after allocations.
struct Open {
    Open();
    ~Open();
};

void *allocate(size_t bytes, bool is_device);  // NULL: no memory
bool give_back(void *p, bool is_device);       // false: it is no such allocation
size_t device_bytes();
int allocations();

// Who wrote and read a byte of device memory: the thread in its block, and the epoch (gpu.h). Two
// readers are kept, so that one of them is another thread than the next writer.
struct Access {
    uint32_t epoch;
    int32_t thread;
};
struct Byte {
    Access written, read[2];
};
// The watched bytes of device memory from `p` on; NULL: it is other memory. Ends with a message if
// they aren't all of one allocation.
Byte *watched(const void *p, size_t n, bool writes);

Kind kind_of(const void *p);
// End with a message if the bytes aren't those of one allocation that is in use.
void check_range(const char *what, const void *p, size_t bytes);
void check_copy(const void *to, const void *from, size_t bytes);

}  // namespace cudart

#endif
