// A program is checked against the graph that it was made of: every item is run once per iteration
// on a model of the arena, which knows of each byte which element of which value it holds.
//
// The check shares no decision with the passes that make programs. It reads the finished items and
// places, the graph's nodes and labels, and of the operators `view` and `place` alone.
#ifndef SHARDCC_LOWER_CHECK_H
#define SHARDCC_LOWER_CHECK_H

#include "lower/internal.h"

// One element of a value of the graph, each iteration's values told apart.
typedef struct Element {
    enum { ELEMENT_NONE, ELEMENT_POISON, ELEMENT_FILL, ELEMENT_VALUE } kind;
    ValueId value;
    int64_t index;  // row-major
    double fill;    // ELEMENT_FILL: the number that a fill wrote
} Element;

// Where the elements of a box are: strides and places are in bytes from the arena's start.
typedef struct Footprint {
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
    int64_t at;    // of the first element
    int64_t size;  // of an element
} Footprint;

int64_t footprint_count(const Footprint *f);
// The bytes that it touches; false if it has no elements.
bool footprint_range(const Footprint *f, int64_t *low, int64_t *high);
bool footprints_intersect(const Footprint *a, const Footprint *b);  // have they a byte in common?
int64_t footprint_place(const Footprint *f, const int64_t *index);
// The element whose first byte is at `place`; false if none is.
bool footprint_find(const Footprint *f, int64_t place, int64_t *index);

// The first element at or after `place`, in the order of places, or the last one at or before it;
// false if there is none. Exact where dims nest: each stride is at least what the smaller ones
// reach.
bool footprint_after(const Footprint *f, int64_t place, int64_t *index);
bool footprint_before(const Footprint *f, int64_t place, int64_t *index);

// The next of the few elements by which two affine maps of a box are told apart: the first, the
// last, each dim's second and next to last, and some between. `n` counts from 0; false at the end.
bool sample_next(const Footprint *f, int *n, int64_t *index);

typedef struct ShadowMemory ShadowMemory;

ShadowMemory *shadow_new(Arena *a);
// The box holds a value, all of it in order.
void shadow_put(ShadowMemory *m, const Footprint *f, ValueId v);
void shadow_fill(ShadowMemory *m, const Footprint *f, double x);
// The bytes hold nothing that may be read.
void shadow_poison(ShadowMemory *m, int64_t low, int64_t high);
// `to` holds what `from` does now. Both have the same dims.
void shadow_copy(ShadowMemory *m, const Footprint *from, const Footprint *to);
Element shadow_get(const ShadowMemory *m, int64_t place);

// Places of elements; the room is used again.
typedef struct Places {
    Arena *arena;
    int64_t *place;
    int n, cap;
} Places;

// The elements of the box where what the memory holds may change: at the ends of each write into
// its bytes, and the first and last of each stretch between.
void shadow_boundaries(const ShadowMemory *m, const Footprint *f, Places *to);

// Follows an element through views and through nodes that only put others together, back to the
// one whose bits it has.
Element element_origin(const Graph *g, const Sharded *s, int rank, Element e);
bool element_equal(const Element *a, const Element *b);
void element_print(const Graph *g, const Element *e, Text *t);
void value_describe(const Graph *g, ValueId v, Text *t);  // "'x' f32[4]"

// Communication that was started and isn't waited for yet.
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
    Places boundaries;  // of the operand that is looked at
    int *shown;         // by ValueId: how often it was shown as a gradient
    PendingExchange *pending;
    int n_pending, cap_pending;
    // The item that runs now.
    const Item *it;
    int representative;  // the iteration whose nodes stand for all, in its loop
    int iteration;       // the iteration
    bool is_read;        // are its reads checked, or only its writes noted?
    bool is_first;
    int findings;
} Check;

// Reports one finding about the item that runs; `n` may be NULL. Only the first few are printed.
void check_fail(Check *c, const Node *n, const char *fmt, ...) PRINTF(3, 4);

// The node that stands at the present iteration where `n` stands in its own; NULL if there is none.
const Node *check_node(Check *c, NodeId n);
ValueId check_value(Check *c, ValueId v);

// Where an operand lies, as a box of these dims.
Footprint check_place(const Check *c, const Operand *o, int rank, const int64_t *dim);

Footprint check_place_of(const Check *c, const Operand *o);  // of its value's dims

// Is value v in the box, all of it in order? If not, gives what was to be somewhere and what is.
bool check_is_held(Check *c, const Footprint *f, ValueId v, Element *want, Element *has);
// Reports it if it isn't; node `n` reads it.
void check_holds(Check *c, const Node *n, const Footprint *f, ValueId v);

// The elements of value v in the box that are the rank's own; the rest is padding.
Footprint check_unpadded(const Check *c, const Footprint *f, ValueId v);
void check_pad(Check *c, const Footprint *f);  // runs an ITEM_PAD on its operand
// Is what the kernel of node n must not count filled with numbers that don't count?
void check_pads(Check *c, const Node *n, const Footprint *f);

void check_group(Check *c, const Footprint *f);  // `f`: its operands' places
void check_item(Check *c);

#endif
