// Imports Col2Im, which adds blocks to the image that they were taken from: the adjoint of unfold.
#include "frontend/internal.h"

enum { MAX_SHIFTS = 256 };  // 1000 take half a minute to compile

// The blocks along one dim of the image.
typedef struct Fold {
    int64_t image, block, stride, dilation, low, high;
    int64_t count;  // blocks
} Fold;

// The strides that a block spans: its element at k · dilation = q · stride + r is q of them after
// its first.
static int64_t shifts_of(const Fold *f)
{
    return ((f->block - 1) * f->dilation + f->stride) / f->stride;
}

static bool read_folds(Op *o, int *n, Fold *f)
{
    int64_t image[MAX_RANK], block[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK];
    int64_t pads[2 * MAX_RANK];
    int n_block;

    if (!arg_ints(o, 1, "image_shape", MAX_RANK, n, image) ||
        !arg_ints(o, 2, "block_shape", MAX_RANK, &n_block, block))
        return false;
    if (*n < 1 || 2 + 2 * *n > MAX_RANK || n_block != *n)
        return op_error(o, "image_shape has %d dims and block_shape %d, expected 1 to %d in both",
                        *n, n_block, MAX_RANK / 2 - 1);
    if (!attr_ints_of(o, "strides", *n, 1, stride) ||
        !attr_ints_of(o, "dilations", *n, 1, dilation) || !attr_ints_of(o, "pads", 2 * *n, 0, pads))
        return false;
    for (int i = 0; i < *n; i++) {
        const int64_t most = 1 << 24;
        f[i] = (Fold){image[i], block[i], stride[i], dilation[i], pads[i], pads[*n + i], 0};
        const int64_t *number = &f[i].image;
        for (int k = 0; k < 6; k++)
            if (number[k] < (k < 4) || number[k] > most)
                return op_error(o, "its blocks are out of range: sizes, strides and dilations must "
                                   "be from 1 to 2^24, pads from 0 to 2^24");
        int64_t span = image[i] + pads[i] + pads[*n + i] - (block[i] - 1) * dilation[i] - 1;
        if (span < 0)
            return op_error(o, "a block is larger than dim %d of the padded image", i);
        f[i].count = span / stride[i] + 1;
        if (shifts_of(&f[i]) > MAX_SHIFTS)
            return op_error(o, "a block spans more than %d strides", MAX_SHIFTS);
    }
    return true;
}

// Sets *d to [batch, channels, blocks' dims…, counts…].
static bool read_columns(Op *o, const Value *x, int n, const Fold *f, Dims *d)
{
    int64_t size = 1, count = 1;

    if (x->rank != 3)
        return op_error(o, "a value of rank 3 is expected");
    for (int i = 0; i < n; i++) {
        if (!mul_size(size, f[i].block, &size) || !mul_size(count, f[i].count, &count))
            return op_error(o, "its blocks are too large");
        d->dim[2 + i] = f[i].block;
        d->dim[2 + n + i] = f[i].count;
    }
    if (x->dim[1] % size || x->dim[2] != count)
        return op_error(o,
                        "expected a multiple of %" PRId64 " rows (elements of a block) and %" PRId64
                        " columns (blocks), found %" PRId64 " and %" PRId64,
                        size, count, x->dim[1], x->dim[2]);
    d->rank = 2 + 2 * n;
    d->dim[0] = x->dim[0];
    d->dim[1] = x->dim[1] / size;
    return true;
}

// Replaces dim k of x, the elements of blocks, by the r of their positions. Adds the elements of
// each q as dense rows, which begin q positions later along dim c, that of the blocks.
static ValueId add_shifts(Graph *g, ValueId x, int k, int c, const Fold *f)
{
    int64_t none[MAX_RANK] = {0}, low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, inner[MAX_RANK] = {0};
    int64_t shifts = shifts_of(f);
    ValueId sum = 0;

    budget_allow(g->budget, BUDGET_importing, shifts);
    inner[k] = f->dilation - 1;
    high[k] = shifts * f->stride - (f->block - 1) * f->dilation - 1;
    if (inner[k] || high[k])
        x = make_pad(g, x, none, high, inner, 0);
    high[k] = 0;
    for (int64_t q = 0; q < shifts; q++) {
        int64_t first = q * f->stride, next = (first + f->dilation - 1) / f->dilation * f->dilation;
        if (next >= first + f->stride)  // dilation leaves no element here
            continue;
        low[c] = q;
        high[c] = shifts - 1 - q;
        ValueId part = slice_axis(g, x, k, first, f->stride, 1);
        part = shifts > 1 ? make_pad(g, part, low, high, none, 0) : part;
        sum = sum ? make_add(g, sum, part) : part;
    }
    return sum;
}

// Joins dims k (elements of a block) and c (blocks) of x to one of the image, at the position of c.
static ValueId fold_dim(Graph *g, ValueId x, int k, int c, const Fold *f)
{
    ValueId y = add_shifts(g, x, k, c, f);
    Dims d = dims_of(g, y), joined = {0};
    int64_t perm[MAX_RANK], none[MAX_RANK] = {0}, high[MAX_RANK] = {0};

    if (!y)
        return 0;
    for (int i = 0, n = 0; i < d.rank; i++) {
        if (i != k)
            perm[n++] = i;
        if (i != k)
            joined.dim[joined.rank++] = i == c ? d.dim[c] * d.dim[k] : d.dim[i];
        if (i == c)
            perm[n++] = k;
    }
    y = reshape_to(g, transpose_to(g, y, perm), &joined);
    int64_t *size = &joined.dim[c - 1], start = f->low < *size ? f->low : *size;
    int64_t kept = *size - start < f->image ? *size - start : f->image;
    y = slice_axis(g, y, c - 1, start, kept, 1);
    high[c - 1] = f->image - kept;
    return high[c - 1] ? make_pad(g, y, none, high, none, 0) : y;
}

void import_col2im(Op *o)
{
    Graph *g = o->g;
    Fold f[MAX_RANK];
    Dims d;
    int n;

    if (!read_folds(o, &n, f) || !read_columns(o, arg_value(o, 0), n, f, &d))
        return;
    ValueId x = reshape_to(g, arg(o, 0), &d);
    for (int i = n - 1; i >= 0; i--)
        x = fold_dim(g, x, 2 + i, 3 + 2 * i, &f[i]);
    give(o, 0, x);
}
