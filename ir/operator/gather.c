// gather and its adjoint, scatter, share this code: the roles of dims, checks and the kernel
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

int64_t gather_row(int64_t index, int64_t offset, int64_t n)
{
    return index >= offset && index - offset < n ? index - offset : -1;
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
    // The factor of the table's rows; scatter has it last.
    int rows = table == in(g, n, 0) ? (int)n->attr[GATHER_AXIS].i : in(g, n, 0)->rank;

    kernel_dense(g, n, stride, k);
    k->def = kernel_find(n->op->name);
    k->params.gather = (RtGather){.type = (RtType)table->dtype,
                                  .index_type = (RtType)index->dtype,
                                  .batch = d.batch,
                                  .outer = d.outer,
                                  .n = d.n,
                                  .index = d.index,
                                  .inner = d.inner,
                                  .whole = k->cut >> rows & 1 ? k->whole[rows] : d.n};
    kernel_add_shard(k, offsetof(RtGather, offset), rows, 1);
}
