// gather and its adjoint, scatter_add, share this code: the roles of dims, checks and the kernel
// call.
#include <string.h>

#include "ir/operator/operator.h"

GatherDims gather_dims(const Node *n, int table_rank, const int64_t *table, int index_rank,
                       const int64_t *index)
{
    int axis = (int)n->attr[GATHER_AXIS].i, batch = (int)n->attr[GATHER_BATCH].i;
    GatherDims d = {1, 1, table[axis], 1, 1};

    for (int i = 0; i < table_rank; i++) {
        if (i < batch)
            d.batch *= table[i];
        else if (i < axis)
            d.outer *= table[i];
        else if (i > axis)
            d.inner *= table[i];
    }
    for (int i = batch; i < index_rank; i++)
        d.index *= index[i];
    return d;
}

bool infer_index(const Graph *g, const Node *n, int table_rank, Diag *d)
{
    int64_t axis = n->attr[GATHER_AXIS].i, batch = n->attr[GATHER_BATCH].i;
    const Value *x = in(g, n, 0), *index = in(g, n, 1);

    if (index->dtype != I32 && index->dtype != I64)
        return node_error(g, n, d, "the index must be i32 or i64, not %s",
                          dtype_name(index->dtype));
    if (!infer_axis(g, n, "axis", axis, table_rank, d))
        return false;
    if (batch < 0 || batch > axis || batch > index->rank)
        return node_error(g, n, d,
                          "batch is %" PRId64 " with axis %" PRId64 " and an index of rank %d",
                          batch, axis, index->rank);
    for (int i = 0; i < batch; i++)
        if (x->dim[i] != index->dim[i])
            return node_error(g, n, d, "batch dim %d differs: %" PRId64 " and %" PRId64, i,
                              x->dim[i], index->dim[i]);
    return true;
}

void kernel_gather(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                   const Value *table, Kernel *k)
{
    const Value *index = in(g, n, 1);
    GatherDims d = gather_dims(n, table->rank, table->dim, index->rank, index->dim);
    // The factor of the table's rows; scatter_add has it last.
    int rows = table == in(g, n, 0) ? (int)n->attr[GATHER_AXIS].i : in(g, n, 0)->rank;

    RtGather p = {.type = (RtType)table->dtype,
                  .batch = d.batch,
                  .outer = d.outer,
                  .n = d.n,
                  .index = d.index,
                  .inner = d.inner,
                  .whole = d.n};

    kernel_dense(g, n, stride, k);
    if (table != in(g, n, 0))  // scatter_add
        k->workspace = rt_scatter_workspace(&p);
    text_printf(&k->args, "&(RtGather){.type = %s, .index_type = %s, ", dtype_rt(table->dtype),
                dtype_rt(index->dtype));
    text_printf(&k->args, ".batch = %" PRId64 ", .outer = %" PRId64 ", .n = %" PRId64, d.batch,
                d.outer, d.n);
    text_printf(&k->args, ", .index = %" PRId64 ", .inner = %" PRId64, d.index, d.inner);
    if (k->cut >> rows & 1)
        text_printf(&k->args, ", .offset = $o%d, .whole = %" PRId64 "}", rows, k->whole[rows]);
    else
        text_printf(&k->args, ", .whole = %" PRId64 "}", d.n);
}
