// Between which numbers the elements of values lie.
#ifndef SHARDCC_IR_SPAN_H
#define SHARDCC_IR_SPAN_H

#include "ir/ir.h"

// Every element that isn't NaN is in [least, most].
typedef struct Span {
    double least, most;
} Span;

// By ValueId, in `a`.
const Span *value_spans(Arena *a, const Graph *g);

#endif
