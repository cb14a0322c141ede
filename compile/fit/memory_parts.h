// Facts about a program's arena: which category each buffer is in, and what the arena holds when
// most of it is in use.
#ifndef SHARDCC_MEMORY_PARTS_H
#define SHARDCC_MEMORY_PARTS_H

#include "analyzer/sharding/plan_file.h"
#include "lower/lower.h"

// The categories. Each byte of the arena is in one of them.
typedef enum MemoryKind {
    MEMORY_PARAMETERS,    // with the model's buffers
    MEMORY_HALF_COPIES,   // of parameters, which products read
    MEMORY_OPTIMIZER,     // the optimizer's states
    MEMORY_ACCUMULATORS,  // sums over micro-batches
    MEMORY_GRADIENTS,
    MEMORY_SAVED,        // activations that the forward part makes and the backward part reads;
                         // where stages run again, all their slots
    MEMORY_ACTIVATIONS,  // all other stored values
    MEMORY_COPIES,       // of values, in other specs than their storage specs; communication
    MEMORY_CONSTANTS,    // with the scalars that the trainer sets
    MEMORY_WORKSPACE,
    MEMORY_GAPS,  // holes between buffers
    N_MEMORY_KINDS
} MemoryKind;

extern const char *const memory_kind_names[N_MEMORY_KINDS];

// The categories of a program's buffers. A slot may hold values of several.
typedef struct MemoryKinds {
    MemoryKind *of_buffer;               // the category of the value that it was made for
    int64_t (*of_slot)[N_MEMORY_KINDS];  // by buffer: bytes of a slot, all zero if it has none
    int *n_values;                       // by buffer: how many values a slot holds
} MemoryKinds;

MemoryKinds memory_kinds(Arena *a, const Program *p);

// Adds `bytes` of a buffer that are in use, by their categories.
void memory_kinds_add(const Program *p, const MemoryKinds *k, int32_t buffer, int64_t bytes,
                      int64_t *to);

// A moment of a program: item `item` of a set in one iteration of its loop, and the bytes that the
// arena holds then. The bytes of all categories add up to the arena; gaps are all that is not in
// use.
typedef struct MemoryMoment {
    int set, item;
    LoopEdge edge;  // the iteration in which more bytes are in use
    int64_t bytes[N_MEMORY_KINDS];
} MemoryMoment;

// By item of the set, and one more: the moment after all items.
MemoryMoment *memory_moments(Arena *a, const Program *p, int set, const MemoryKinds *kinds);

// Does an item compute or move something? Begins and ends of loops, and marks, don't.
static inline bool item_is_statement(const Item *it)
{
    return it->kind != ITEM_LOOP && it->kind != ITEM_END && it->kind != ITEM_GRADIENT &&
           it->kind != ITEM_NONE;
}

// The first statement during which most bytes are in use, in the set that needs the most.
MemoryMoment memory_peak(Arena *a, const Program *p, const MemoryKinds *kinds);

// Is the item of the backward part?
bool item_is_backward(const Set *s, const Item *it);

// Where the first node at or after an item is, like "backward of h.31". NULL: there is none.
const char *memory_where(Arena *a, const Set *s, int item);

// For any program: fills in the bytes of its arena, what they hold when most are in use, and when
// that is.
void plan_make_memory(Arena *a, PlanFile *f, const Program *p);

// Prints the moment when most bytes are in use, and what holds them: "backward of h.31: activations
// 38.1 GiB, …".
void print_memory_parts(Arena *a, const PlanFile *f, Text *t);

#endif
