// The request for a node's kernel, and helpers of OpDef.kernel: dense strides, and copies of
// operands.
#include <string.h>

#include "ir/operator/contract.h"

void dense_strides(int rank, const int64_t *dim, int64_t *stride)
{
    int64_t step = 1;

    for (int i = rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= dim[i];
    }
}

RtType half_type(DType t) { return dtype_is_half(t) ? (RtType)t : RT_NONE; }

RtType product_result(const Graph *g, const Node *n)
{
    DType t = out(g, n)->dtype;

    return t == in(g, n, 0)->dtype ? RT_NONE : (RtType)t;
}

const char *dtype_rt(DType t)
{
    static const char *const name[N_DTYPES] = {
        "RT_NONE", "RT_F32", "RT_F64", "RT_F16", "RT_BF16", "RT_I8",  "RT_I16",
        "RT_I32",  "RT_I64", "RT_U8",  "RT_U16", "RT_U32",  "RT_U64", "RT_BOOL",
    };
    return name[t];
}

// Is v dense? Dims of size 1 may have any stride, and so may all dims of an empty tensor.
static bool is_dense(const Value *v, const int64_t *stride)
{
    int64_t want[MAX_RANK];

    dense_strides(v->rank, v->dim, want);
    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] > 1 && stride[i] != want[i])
            return value_count(v) == 0;
    return true;
}

void kernel_dense_operand(const Graph *g, const Node *n, int operand,
                          const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    const Value *v = value_of(g, operand < n->n_in ? n->in[operand] : n->out[operand - n->n_in]);

    if (!k->want)
        k->want = arena_alloc(g->arena, (size_t)(n->n_in + n->n_out), sizeof *k->want);
    dense_strides(v->rank, v->dim, k->want[operand]);
    if (!is_dense(v, stride[operand]))
        k->copies |= (uint64_t)1 << operand;
}

void kernel_dense(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    for (int i = 0; i < n->n_in + n->n_out; i++)
        kernel_dense_operand(g, n, i, stride, k);
}

void kernel_add_shard(Kernel *k, size_t at, int factor, int64_t by)
{
    if (k->cut >> factor & 1)
        k->term[k->n_terms++] = (KernelTerm){.at = at, .factor = factor, .by = by};
}

void node_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k)
{
    k->n_in = n->n_in;
    k->n_out = n->n_out;
    for (int i = 0; i < n->n_in + n->n_out; i++)
        k->type[i] = (RtType)value_of(g, nth_operand(n, i))->dtype;
    n->op->kernel(g, n, stride, k);
}

void kernel_settle(Kernel *k, int iter)
{
    int n = 0;

    for (int i = 0; i < k->n_terms; i++) {
        int64_t *field = (int64_t *)((char *)&k->params + k->term[i].at);
        bool is_layer = k->term[i].factor == TERM_LAYER;
        if (is_layer && iter >= 0)
            *field -= iter * k->term[i].by;
        if (!is_layer || iter >= 0)
            k->term[n++] = k->term[i];
    }
    k->n_terms = n;
}
