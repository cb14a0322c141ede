// What the files of the fold pass share.
#ifndef SHARDCC_IR_FOLD_H
#define SHARDCC_IR_FOLD_H

#include "ir/internal.h"

enum {
    MOST_BYTES = 1 << 20,  // of a constant that is made
    SMALL_COUNT = 64,      // elements of a vector that stays dense: shape arithmetic
    MAX_PREDICATES = 2,
};

// c + Σ a[d] · (index along dim d)
typedef struct Affine {
    double c, a[MAX_RANK];
} Affine;

// A value known by its indices. Without predicates it is `value`; with them it is value.c where all
// predicates are ≥ 0 and `other` elsewhere. A causal mask has the predicate i + c - j.
typedef struct Fact {
    Affine value;
    int n_predicates;
    Affine predicate[MAX_PREDICATES];
    double other;
} Fact;

typedef struct Folder {
    Graph *g;  // the new graph
    Diag *d;
    Arena *scratch;  // of this run of the pass
    struct Known {
        bool is_asked;
        bool is_constant;      // depends on no input, parameter, random number or rank
        const Fact *fact;      // NULL: none
        const Tensor *tensor;  // NULL: not evaluated yet
    } * known;                 // by ValueId of the new graph
    int n_known, cap_known;
    bool *carried;  // by ValueId, the first n_carried: overwritten by a carry
    int n_carried;
    int32_t *table;  // hash table of nodes (positive) and constants (negative)
    int n_table, cap_table;
} Folder;

// ---- fold.c ----
// The value that stands for `v` once everything is known about its node: maybe an older equal one.
// Rules call it for every value that they make.
ValueId fold_value(Folder *f, ValueId v);
// The same, but looks for an equal node or constant only.
ValueId fold_share(Folder *f, ValueId v);

// ---- facts.c ----
const Fact *fact_of(Folder *f, ValueId v);  // NULL: none
bool fact_splat(Folder *f, ValueId v, double *x);
bool is_constant(Folder *f, ValueId v);
// The elements of a constant value; NULL if they are too many.
const Tensor *tensor_value(Folder *f, ValueId v);
bool affine_range(const Affine *x, const Value *v, double *least, double *most);

// ---- fact_fit.c ----
const Fact *fact_fit(Arena *a, const Tensor *t);  // of dense elements

// ---- fact_emit.c ----
// The one form in which a constant `v` stands in the graph: scalar and broadcast, iota, comparison
// of iotas, dense; or `v` itself.
ValueId fold_constant(Folder *f, ValueId v);

// ---- fold_rules.c ----
ValueId fold_identity(Folder *f, const Node *n);  // 0: no rule applies

// ---- fold_view.c: identities of operators that move elements ----
ValueId fold_reshape(Folder *f, const Node *n);
ValueId fold_transpose(Folder *f, const Node *n);
ValueId fold_broadcast(Folder *f, const Node *n);
ValueId fold_slice(Folder *f, const Node *n);
ValueId fold_pad(Folder *f, const Node *n);
ValueId fold_concat(Folder *f, const Node *n);
ValueId fold_gather(Folder *f, const Node *n);

// ---- fold_dot.c: transposes into equations ----
ValueId fold_dot(Folder *f, const Node *n);
ValueId fold_attention(Folder *f, const Node *n);  // its first output; 0: nothing to take in
// transpose(x) as x's own node with another order of dims in its equation; 0: it has none.
ValueId fold_into_equation(Folder *f, const Node *transpose);

#endif
