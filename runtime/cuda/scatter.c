// Puts rows into a table by index: sorts the index, then combines each row's segment.
#include "runtime/cuda/cuda.h"

enum { BLOCK = 256, LINES = 8, COLUMNS = 32 };  // the first two as in scatter.cu

void rt_scatter(Rt *rt, const RtGather *p, void *table, const void *rows, const void *index,
                const void *onto)
{
    int32_t *row = (int32_t *)(void *)rt->workspace, *order = row + p->batch * p->index;
    int64_t slices = p->batch * p->outer, all = slices * p->n * p->inner;
    int64_t sorting = p->batch * rt_ceil_div(p->index, BLOCK);
    int columns = 1;
    RtCopy copy = {
        .bytes = rt_type_bytes(p->type), .rank = 1, .dim = {all}, .x_stride = {1}, .y_stride = {1}};

    if (!onto)
        rt_fill(rt, p->type, table, all, 0);
    else if (onto != table)
        rt_copy(rt, &copy, table, onto);
    while (columns < COLUMNS && columns < p->inner)
        columns *= 2;
    int64_t units = slices * p->index * rt_ceil_div(p->inner, columns);
    if (all == 0 || units == 0)
        return;
    rt_cuda_launch(rt, "rt_cuda_scatter_sort", (RtCudaGrid){sorting, 1, 1}, BLOCK,
                   RT_CUDA_ARGS((void *)p, &row, &order, &index));
    rt_cuda_launch_typed(rt, "rt_cuda_scatter", p->type,
                         (RtCudaGrid){rt_ceil_div(units, BLOCK / (LINES * columns)), 1, 1}, BLOCK,
                         RT_CUDA_ARGS((void *)p, &columns, &table, &rows, &row, &order));
}
