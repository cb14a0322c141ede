// The target of a compilation: a kind of processor, and what programs for it must keep to. Its
// kernels' types, layouts and workspaces, and the limits of its caches, vectors and threads, are
// known here alone.
#ifndef SHARDCC_TARGET_H
#define SHARDCC_TARGET_H

#include "base/lexer.h"
#include "ir/kernel.h"

// The kernels that a target has, by name.
typedef struct TargetKernel {
    const char *name;
    // Does it take operands of these types? `types` says in words which. NULL: all types that the
    // operator has.
    bool (*takes)(const Kernel *k);
    const char *types;
    int64_t (*workspace)(const Kernel *k, int threads);  // bytes; NULL: it needs none
    // The mask of the operands, inputs first, with which it is fastest if dim 1 is innermost.
    uint64_t channels_last;
    // The bytes of which a multiple is best between its operands' rows, where these have halves; 0:
    // it doesn't matter.
    int row_bytes;
} TargetKernel;

// For TargetKernel.takes: are all operands floats of one type, or f32? Masks, seeds and counters of
// attention have types of their own.
bool kernel_takes_floats(const Kernel *k);
bool kernel_takes_products(const Kernel *k);  // or halves, with a result in f32 or theirs
bool kernel_takes_f32(const Kernel *k);
bool kernel_takes_convolutions(const Kernel *k);  // of f32, or of halves as products
bool kernel_takes_no_halves(const Kernel *k);     // all other types, mixed or not
bool kernel_takes_attention(const Kernel *k);

typedef struct Target {
    const char *name;
    // A rank computes with so many threads at most. Workspaces are for all of them, and the results
    // don't depend on their number.
    int threads;
    const TargetKernel *kernel;
    int n_kernels;
    // Fused groups: so many rows keep all threads busy, which groups of few elements don't need.
    // Fewer columns than least_columns don't fill a vector. A value of up to reused_bytes is still
    // in a cache when it is read again.
    int64_t parallel_rows, few_elements, least_columns, reused_bytes;
    bool reads_before_writing;  // a store fetches the old bytes first (write allocate)
    bool has_communicators;     // of several ranks, which take a cluster's exchange_memory
    bool spawns_ranks;          // unless a transport is chosen, its ranks need no launcher
    // The ending of the file next to the C text that holds the kernels' text; NULL: there is none.
    const char *kernels_ending;
    const char *gpus;  // kernels are compiled for these without --gpu; NULL: there is no choice
} Target;

#define TARGET(name, text) extern const Target target_##name;
#include "analyzer/target/targets.def"
#undef TARGET

extern const Target *const target_table[];  // in the order of targets.def, up to NULL
// The target of programs for which none is chosen.
static inline const Target *target_default(void) { return target_table[0]; }

// The target of a cluster's devices, where none is chosen: the first one of GPUs, or the default.
const Target *target_of_devices(bool are_gpus);
const Target *target_find(const char *name);  // NULL: there is none of that name
char *target_names(Arena *a);                 // "cpu, cuda"

// Prints "cpu threads 64", and reads it back: the target `t`, maybe with fewer threads. False after
// reporting an error.
void target_print(const Target *t, Text *to);
bool target_read(Lexer *l, const Target *t, Target *to);

// Does the kernel take operands of these types? Reports an error at n if it doesn't.
bool target_takes(const Target *t, const Graph *g, const Node *n, const Kernel *k, Diag *d);
// Bytes that the kernel needs while it runs.
int64_t target_workspace(const Target *t, const Kernel *k);
// The mask of a node's operands that are best stored with dim 1 innermost.
uint64_t target_channels_last(const Target *t, const Node *n);
// The bytes of which a multiple is best between rows of halves that the node reads or writes; 0: it
// doesn't matter.
int target_row_bytes(const Target *t, const Node *n);

#endif
