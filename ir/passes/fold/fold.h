// The types and functions that the files of the fold pass share.
#ifndef SHARDCC_IR_FOLD_H
#define SHARDCC_IR_FOLD_H

#include "ir/internal.h"

enum {
    MAX_BYTES = 1 << 20,  // bytes of the largest constant that the pass makes
    SMALL_COUNT = 64,     // elements: a list this short stays dense, as in shape arithmetic
    MAX_PREDICATES = 2,
};

// c + Σ a[d] · (index along dim d)
typedef struct Affine {
    double c, a[MAX_RANK];
} Affine;

// A value known by its indices. Without predicates it is `value`; with predicates it is value.c
// where all of them are ≥ 0 and `other` elsewhere. A causal mask has the predicate i + c - j.
typedef struct Fact {
    Affine value;
    int n_predicates;
    Affine predicate[MAX_PREDICATES];
    double other;
} Fact;

typedef struct Folder {
    Graph *g;  // the new graph
    Diag *d;
    Arena *scratch;    // of this run of the pass
    bool is_simplify;  // of the pass `simplify`
    struct Known {
        bool is_asked;
        bool is_constant;      // depends on no input, parameter, random number or collective
        const Fact *fact;      // NULL: none
        const Tensor *tensor;  // NULL: not evaluated yet
    } * known;                 // by ValueId of the new graph
    int n_known, cap_known;
    const bool *learned;  // by ValueId of the old graph, as graph_learned says
    bool *carried;        // by ValueId, below n_carried: a carry overwrites it
    int n_carried;
    int32_t *table;  // hash table of nodes (positive) and constants (negative)
    int n_table, cap_table;
} Folder;

// ---- fold.c ----
// The simplest known value that equals `v`: itself, an older one, or a new one. Rules call it for
// every value that they make.
ValueId fold_value(Folder *f, ValueId v);
// An older value of an equal node or constant, else `v`.
ValueId fold_share(Folder *f, ValueId v);

bool is_carried(const Folder *f, ValueId v);  // does a carry overwrite v?

// ---- facts.c ----
const Fact *fact_of(Folder *f, ValueId v);  // NULL: none
bool fact_splat(Folder *f, ValueId v, double *x);
bool is_constant(Folder *f, ValueId v);
// The elements of a constant value; NULL if there are too many.
const Tensor *tensor_value(Folder *f, ValueId v);
bool affine_range(const Affine *x, const Value *v, double *least, double *most);

// ---- fact_fit.c ----
const Fact *fact_fit(Arena *a, const Tensor *t);  // recognises dense elements; NULL: no fact fits

// ---- fact_emit.c ----
// A constant `v` in the form that later passes expect: a broadcast scalar, arithmetic of iotas, a
// comparison of iotas, or dense elements. May be `v` itself.
ValueId fold_constant(Folder *f, ValueId v);

// ---- fold_rules.c ----
ValueId fold_identity(Folder *f, const Node *n);  // a simpler equal value; 0: no rule applies

// ---- fold_empty.c ----
// The simplest value that equals `v`, if it has no elements or is made of a value without elements;
// 0: neither, or it is the simplest already.
ValueId fold_empty(Folder *f, ValueId v);

// ---- fold_view.c: identities of operators that move elements ----
ValueId fold_reshape(Folder *f, const Node *n);
ValueId fold_transpose(Folder *f, const Node *n);
ValueId fold_broadcast(Folder *f, const Node *n);
ValueId fold_slice(Folder *f, const Node *n);
ValueId fold_pad(Folder *f, const Node *n);
ValueId fold_concat(Folder *f, const Node *n);
ValueId fold_gather(Folder *f, const Node *n);

// ---- fold_log.c: logarithms and exponentials in forms that keep their digits ----
ValueId fold_log(Folder *f, const Node *n);
ValueId fold_log1p(Folder *f, const Node *n);
ValueId fold_minus_one(Folder *f, const Node *n);  // exp(x) - 1 and 1 - exp(x)

// ---- fold_dot.c: folds transposes into equations ----
ValueId fold_dot(Folder *f, const Node *n);
ValueId fold_attention(Folder *f, const Node *n);  // its first output; 0: there is no transpose
// transpose(x) as the node of x with another order of dims in its equation; 0: it has no equation.
ValueId fold_into_equation(Folder *f, const Node *transpose);

#endif
