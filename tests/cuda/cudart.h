// The double of CUDA's runtime: calls for tests, in addition to CUDA's own.
//
// Device memory is memory of the process that only kernels and copies may touch; a host that
// touches it ends with a message. What CUDA leaves undefined, or what makes a program wait without
// need, ends with a message too: copies that overlap or leave their allocation, asynchronous copies
// of host memory that isn't pinned, the default stream, objects that were destroyed, streams that
// are destroyed before anybody has waited for their work.
#ifndef SHARDCC_TESTS_CUDA_CUDART_H
#define SHARDCC_TESTS_CUDA_CUDART_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// How work is carried out. `order` of a kernel's blocks and threads: 0 rising, 1 falling, others
// shuffled. A lazy device carries work out when it is waited for and no sooner, streams that nobody
// waits for last; else it is carried out immediately.
void cudart_order(unsigned order, bool is_lazy);
// The machine: how many GPUs of how much memory. The default is one of 1 GiB.
void cudart_machine(int devices, size_t memory);
// The newest CUDA that the driver knows: 1000 major + 10 minor. The default is the tests' own.
void cudart_driver(int version);
// How often a kernel was launched; 0 for an unknown one.
long cudart_launches(const char *kernel);
// Counts the kernels whose names begin so and that weren't launched, and prints these names.
int cudart_count_unlaunched(const char *begin);
// How many products cuBLASLt's double has been asked for.
long cudart_matmuls(void);
// Allocations, streams, events, graphs and libraries that haven't been destroyed.
int cudart_objects(void);
// Lets the host touch device memory until it is called with false, for tests alone.
void cudart_open_memory(bool is_open);

#ifdef __cplusplus
}
#endif

#endif
