// Requests for kernels: which function of the runtime computes a node, and its parameters, as data.
//
// OpDef.kernel makes the request. A target says whether its kernels take the operands' types, and
// how much workspace they need. The request's fields are listed in a table, from which it is
// printed and read back.
#ifndef SHARDCC_IR_KERNEL_H
#define SHARDCC_IR_KERNEL_H

#include "ir/ir.h"
#include "runtime/rt_kernels.h"

// The parameters of all kernels.
typedef union KernelParams {
    RtDot dot;
    RtConv conv;
    RtAttention attention;
    RtReduce reduce;
    RtGather gather;
    RtGrid grid;
    RtAlong along;
    RtResample resample;
    RtDft dft;
    RtExchange exchange;
    RtCopy copy;
    RtPad pad;
    RtSums sums;
} KernelParams;

typedef enum ParamType {
    PARAM_INT,     // int
    PARAM_SIZE,    // int64_t
    PARAM_FLAG,    // bool
    PARAM_REAL,    // float, printed with 9 digits
    PARAM_DOUBLE,  // the shortest decimal that reads back as it
    PARAM_TYPE,    // RtType
    PARAM_OP,      // RtReduceOp
    PARAM_MODE,    // RtResampleMode
    PARAM_STRUCT,  // fields of its own
} ParamType;

// A field of a parameters' struct. A list has `capacity` elements; the int at `n_at` of the whole
// struct says how many are used.
typedef struct ParamField {
    const char *name;
    ParamType type;
    size_t at;         // offset in its struct
    int capacity;      // 0: it is no list
    size_t n_at;       // of a list
    bool is_optional;  // it is left out where it is zero; a list always is where it is empty
    const struct ParamTable *of;  // PARAM_STRUCT
} ParamField;

typedef struct ParamTable {
    const ParamField *field;  // in the order of their texts
    int n_fields;
    size_t size;     // of the struct
    bool has_names;  // "{.n = 1, .size = {3}}"; else "{1, {3}}", with every field
} ParamTable;

// A kernel: rt_NAME(rt, parameters, outputs…, inputs…). A prepared one is set up once by
// rt_NAME_init(rt, number, parameters) and is called with the number instead of its parameters.
typedef struct KernelDef {
    const char *name, *type;  // "dot", "RtDot"
    bool is_prepared;
    ParamTable params;  // the fields that this kernel reads
} KernelDef;

const KernelDef *kernel_find(const char *name);  // NULL: there is none

// A parameter that isn't one number: `by` is added to the field at `at` (PARAM_SIZE) once for each
// iteration of the loop, or once for each element before the rank's shard of a factor.
enum { TERM_LAYER = -1, MAX_TERMS = MAX_RANK + 2 };
typedef struct KernelTerm {
    size_t at;
    int factor;  // of the node's rule; or TERM_LAYER
    int64_t by;
} KernelTerm;

enum { MAX_KERNEL_OPERANDS = 14 };

struct Kernel {
    const KernelDef *def;  // NULL: no kernel takes operands of these dims
    KernelParams params;
    KernelTerm term[MAX_TERMS];
    int n_terms;
    // The operands' types, inputs first, then outputs. RT_NONE: an absent input.
    RtType type[MAX_KERNEL_OPERANDS];
    int n_in, n_out;
    int ranks;  // of a collective: those along its axis
    // Bit i: the parameters can't describe operand i at its strides; it needs a copy with strides
    // want[i].
    uint64_t copies;
    int64_t (*want)[MAX_RANK];  // [operand]
    // 1 + an input that the output may overwrite, if nothing reads it again; 0: none.
    int over;
    // Set by the caller if the node is a shard: the size of the whole by factor of the rule, and a
    // mask of the factors that are split. NULL: the node is whole.
    const int64_t *whole;
    uint64_t cut;
};

// The parameters of a resampling from n to `size` elements, but for the tensors' type and dims. A
// mode that there isn't is RT_FILTER_CUBIC + 1.
struct Resampling;
RtResample resampling_params(const struct Resampling *r, int64_t n, int64_t size);

// Sets *k to the request of a node whose operands lie at these strides.
void node_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);

// Sets fields that grow with the iteration to their numbers in iteration 0 of the loop that the
// node is in, of which k is the request in iteration `iter`. Without a loop (iter < 0) they stay,
// as numbers that don't grow.
void kernel_settle(Kernel *k, int iter);

// Are both the same call: kernel, parameters, terms, types?
bool kernel_equal(const Kernel *a, const Kernel *b);

// Prints one field that has terms, whose own number is `x`.
typedef void TermsPrint(void *context, const Kernel *k, size_t at, int64_t x, Text *t);

// Prints a number of type PARAM_SIZE, which is at an offset in the parameters.
typedef void SizePrint(void *context, size_t at, int64_t x, Text *t);

// "{.m = 4, .n = 8}". `terms` prints fields that have terms, `size` other sizes; NULL: as numbers.
void kernel_print(const Kernel *k, TermsPrint *terms, SizePrint *size, void *context, Text *t);
// The same for the parameters of a kernel that has no terms.
void params_print(const KernelDef *def, const void *params, Text *t);

// In the text of a program a request is "dot{.m = 4, .n = 8}", and a field with terms is
// "0+1*layer" or "5+64*shard[2]". Two requests of equal types are equal if their texts are.
void kernel_print_text(const Kernel *k, Text *t);

#endif
