// Checks a program against the graph that it was made of. Every item runs once per iteration on a
// model of the arena, which knows for each byte which element of which value it holds.
//
// The check shares no decision with the passes that make programs. It reads the finished items and
// addresses, the graph's nodes and labels, and only `view` and `subview` of the operators.
#ifndef SHARDCC_LOWER_CHECK_H
#define SHARDCC_LOWER_CHECK_H

#include "lower/internal.h"

// One element of a value of the graph. Each iteration has values of its own.
typedef struct Element {
    enum { ELEMENT_NONE, ELEMENT_POISON, ELEMENT_FILL, ELEMENT_VALUE } kind;
    ValueId value;
    int64_t index;  // row-major
    double fill;    // ELEMENT_FILL: the number that a fill wrote
} Element;

// Where the elements of a box lie. Strides and addresses are in bytes from the arena's start.
typedef struct Footprint {
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
    int64_t at;    // of the first element
    int64_t size;  // of an element
} Footprint;

int64_t footprint_count(const Footprint *f);
// The range of bytes that the box touches; false if it has no elements.
bool footprint_range(const Footprint *f, int64_t *low, int64_t *high);
bool footprints_intersect(const Footprint *a, const Footprint *b);  // do they share a byte?
int64_t footprint_address(const Footprint *f, const int64_t *index);
// The index of the element whose first byte is at `address`; false if there is none.
bool footprint_find(const Footprint *f, int64_t address, int64_t *index);

// The first element at or after `address`, or the last one at or before it; false if there is none.
// Exact where dims nest: each stride is at least the extent of the smaller ones.
bool footprint_after(const Footprint *f, int64_t address, int64_t *index);
bool footprint_before(const Footprint *f, int64_t address, int64_t *index);

// Gives the next of the few elements that suffice to tell two affine maps of a box apart: the
// first, the last, each dim's second and next to last, and some between. `n` counts from 0; false
// at the end.
bool sample_next(const Footprint *f, int *n, int64_t *index);

typedef struct ShadowMemory ShadowMemory;

ShadowMemory *shadow_new(Arena *a);
// The box now holds value v, all of it in order.
void shadow_put(ShadowMemory *m, const Footprint *f, ValueId v);
void shadow_fill(ShadowMemory *m, const Footprint *f, double x);
// The bytes now hold nothing that may be read.
void shadow_poison(ShadowMemory *m, int64_t low, int64_t high);
// `to` now holds what `from` holds. Both have the same dims.
void shadow_copy(ShadowMemory *m, const Footprint *from, const Footprint *to);
Element shadow_get(const ShadowMemory *m, int64_t address);

// Addresses of elements; the memory is reused.
typedef struct Addresses {
    Arena *arena;
    int64_t *address;
    int n, cap;
} Addresses;

// The elements of the box where what the memory holds may change: at the ends of each write into
// its bytes, and the first and last of each run between.
void shadow_boundaries(const ShadowMemory *m, const Footprint *f, Addresses *to);

// Follows an element back through views, and through nodes that only put values together, to the
// element whose bits it has.
Element element_origin(const Graph *g, const Sharded *s, int rank, Element e);
bool element_equal(const Element *a, const Element *b);
void element_print(const Graph *g, const Element *e, Text *t);
void value_describe(const Graph *g, ValueId v, Text *t);  // "'x' f32[4]"

// A collective that was started and isn't waited for yet.
typedef struct PendingExchange {
    int slot;
    const Item *it;
    const Footprint *f;  // of its operands
    const Node *node;
} PendingExchange;

// One run through a set's items.
typedef struct Check {
    const Program *p;
    const Set *s;
    const Graph *g;
    Diag *d;
    Arena *arena;
    int rank;
    ShadowMemory *shadow;
    ClassTable *table;
    Addresses boundaries;  // of the operand being checked
    int *shown;            // by ValueId: how often it was shown as a gradient
    PendingExchange *pending;
    int n_pending, cap_pending;
    // The item that runs now.
    const Item *it;
    int *
        representatives;  // by loop item: the iteration whose nodes represent all of its iterations
    int representative;   // of the item's loop
    bool *is_exchange;    // by loop item: its iterations take or free slots of buffers
    int iteration[MAX_LOOPS];  // those that run, of the loops around the item, the innermost first
    StageSlots slots;          // where the slots of stages are now
    bool is_read;              // true: its reads are checked; false: only its writes are noted
    bool is_first;
    int findings;
} Check;

// Reports one finding about the item that runs; `n` may be NULL. Only the first few are printed.
void check_fail(Check *c, const Node *n, const char *fmt, ...) PRINTF(3, 4);

// The node of the current iteration that corresponds to `n` in its own; NULL if there is none.
const Node *check_node(Check *c, NodeId n);
ValueId check_value(Check *c, ValueId v);

// Where an operand lies, as a box of these dims.
Footprint check_box(const Check *c, const Operand *o, int rank, const int64_t *dim);

Footprint check_operand_box(const Check *c, const Operand *o);  // with its value's dims

// Does the box hold value v, all of it in order? If not, gives an element that was expected and the
// one found.
bool check_is_held(Check *c, const Footprint *f, ValueId v, Element *want, Element *has);
// Reports it if the box doesn't; node `n` reads it.
void check_holds(Check *c, const Node *n, const Footprint *f, ValueId v);

// Reports it if a collective that wasn't waited for writes what the box holds or, with `is_write`,
// reads it.
void check_pending(Check *c, const Node *n, const Footprint *f, bool is_write);

// The elements of value v in the box without padding: the rank's own shard.
Footprint check_unpadded(const Check *c, const Footprint *f, ValueId v);
void check_pad(Check *c, const Footprint *f);  // runs an ITEM_PAD on its operand
// Is the padding that node n's kernel reduces over set to numbers that don't count?
void check_pads(Check *c, const Node *n, const Footprint *f);

// Is what program_finish stored in the set, in the item's operands and in a group what they say?
void check_stored_set(Check *c);
void check_stored_addresses(Check *c);
void check_stored_group(Check *c);

// Are the set's tensors in the tables, each once?
void check_tensors(Check *c);
// Does an entry have the gradient v where the item that runs shows it?
void check_shown_gradient(Check *c, ValueId v);

void check_group(Check *c, const Footprint *f);  // `f`: its operands' addresses
void check_item(Check *c);

#endif
