// Which products of GPUs cuBLASLt can compute, and how it is asked to.
#include "runtime/rt_cuda_matmul.h"

#include "runtime/rt_cuda_workspace.h"
#include "runtime/rt_workspace.h"

// Is batch dim i the outer one and j the inner one of a single batch dim?
static bool are_neighbours(const RtDot *d, int i, int j)
{
    int64_t n = d->batch[j];

    return i != j && d->a_batch[i] == n * d->a_batch[j] && d->b_batch[i] == n * d->b_batch[j] &&
           d->y_batch[i] == n * d->y_batch[j];
}

static bool merge_two(RtDot *d)
{
    for (int i = 0; i < d->n_batch; i++)
        for (int j = 0; j < d->n_batch; j++)
            if (are_neighbours(d, i, j)) {
                d->batch[j] *= d->batch[i];
                rt_dot_drop_batch(d, i);
                return true;
            }
    return false;
}

// Sets the matrix of these strides, if it is column-major. The stride of a dim of size 1 is
// irrelevant.
static bool lay_out(RtCudaMatrix *to, int64_t rows, int64_t columns, int64_t row_stride,
                    int64_t column_stride)
{
    int64_t leading = columns == 1 ? rows : column_stride;

    *to = (RtCudaMatrix){.rows = rows, .columns = columns, .leading = leading};
    return (rows == 1 || row_stride == 1) && leading >= rows;
}

// The same for an operand, whose transpose will do. A row is the transpose of a column, whose
// elements are contiguous more often.
static bool lay_out_operand(RtCudaMatrix *to, int64_t rows, int64_t columns, int64_t row_stride,
                            int64_t column_stride)
{
    if (rows != 1 && lay_out(to, rows, columns, row_stride, column_stride))
        return true;
    if (lay_out(to, columns, rows, column_stride, row_stride)) {
        to->is_transposed = true;
        return true;
    }
    return lay_out(to, rows, columns, row_stride, column_stride);
}

// y = a b, or y' = b' a' if y is row-major.
static bool lay_out_all(RtCudaMatmul *to, const RtDot *d, bool is_swapped)
{
    to->is_swapped = is_swapped;
    return is_swapped ? lay_out(&to->y, d->n, d->m, d->y_n, d->y_m) &&
                            lay_out_operand(&to->a, d->n, d->k, d->b_n, d->b_k) &&
                            lay_out_operand(&to->b, d->k, d->m, d->a_k, d->a_m)
                      : lay_out(&to->y, d->m, d->n, d->y_m, d->y_n) &&
                            lay_out_operand(&to->a, d->m, d->k, d->a_m, d->a_k) &&
                            lay_out_operand(&to->b, d->k, d->n, d->b_k, d->b_n);
}

static void set_batch(RtCudaMatmul *to, const RtDot *d)
{
    to->batches = d->n_batch ? d->batch[0] : 1;
    if (to->batches == 1)
        return;
    to->y.stride = d->y_batch[0];
    to->a.stride = to->is_swapped ? d->b_batch[0] : d->a_batch[0];
    to->b.stride = to->is_swapped ? d->a_batch[0] : d->b_batch[0];
}

static bool is_size(int64_t n) { return n > 0 && n <= INT32_MAX; }

bool rt_cuda_matmul_plan(const RtDot *p, RtCudaMatmul *to)
{
    bool is_transposed;
    RtDot d = rt_dot_fold(p, &is_transposed);

    while (merge_two(&d))
        ;
    if (d.n_batch > 1 || !is_size(d.m) || !is_size(d.n) || !is_size(d.k) ||
        !is_size(rt_product(d.batch, d.n_batch)))
        return false;
    if (!(d.n != 1 && lay_out_all(to, &d, true)) && !lay_out_all(to, &d, false) &&
        !lay_out_all(to, &d, true))
        return false;
    set_batch(to, &d);
    to->is_swapped ^= is_transposed;
    return to->a.stride >= 0 && to->b.stride >= 0 && to->y.stride >= 0;
}

// cuBLASLt splits long sums of few results, and stores the parts' sums here. NVIDIA's guide advises
// 32 MiB for an H100 whatever the product is. That would be most of a small model's arena, so
// results of few bytes get bytes for 8 parts.
int64_t rt_cuda_matmul_bytes(const RtDot *p)
{
    enum { PARTS = 8, MAX_BYTES = 32 << 20 };
    int64_t results = rt_product(p->batch, p->n_batch) * p->m * p->n;
    int64_t bytes = PARTS * results * rt_cuda_sum_bytes(p->type);

    return bytes < MAX_BYTES ? bytes : MAX_BYTES;
}
