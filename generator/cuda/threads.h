// How the threads of a GPU share a fused group's elements.
#ifndef SHARDCC_GENERATOR_CUDA_THREADS_H
#define SHARDCC_GENERATOR_CUDA_THREADS_H

#include "generator/group/group.h"

typedef enum Share {
    SHARE_ELEMENTS,  // a thread a few elements
    SHARE_WARP,      // a warp a row
    SHARE_BLOCK,     // a block a row
    SHARE_COLUMNS,   // a block a chunk of rows of some columns
} Share;

enum { WARP = 32, BLOCK = 256 };  // threads; BLOCK is that of all but SHARE_BLOCK

// How a thread has its elements: Body.own.
typedef struct Threads {
    Share share;
    int width;      // neighbouring elements of the last dim that a thread has together: 8, 4 or 1
    int64_t count;  // elements of a row
    int threads;    // that share a row
    int turns;      // how often they go over a row
    int columns;    // of a block
    // By operand. A number is the same along a row. A vector's elements are contiguous, and aligned
    // so that one access moves them.
    bool *is_number, *is_vector;
    // By operand: a thread has its elements of the whole row in registers, from the pass on that
    // reads or makes them first.
    bool *is_register;
    bool has_registers;
} Threads;

static inline Threads *threads_of(const Body *b) { return b->own; }

// Chooses all of it.
void share_out(Body *b);

// How the threads of a kernel share its elements, in words. Several kernels are of one form.
const char *form_of(const Threads *x);
// Form number i of all; NULL: there are i.
const char *form_name(int i);

// The stride of operand k along the last dim.
int64_t last_stride(const Body *b, int k);
// Does what is selected make output operand k, instead of reading it back?
bool is_made(const Body *b, int k);

#endif
