// Imports operators that pick elements by index. Indices that are known at compile time become
// slices. Others are first brought into [0, n), because ONNX counts negative indices from the end.
#include <stdlib.h>
#include <string.h>

#include "frontend/internal.h"

// Gathers x [N…, n, R…] at `index`, whose dims replace n. If the index is known and grows in equal
// steps along one of its dims, the result is a slice; otherwise returns 0.
static ValueId gather_slice(Op *o, ValueId x, ValueId index, int axis)
{
    Graph *g = o->g;
    const Tensor *t = known_of(o->x, index);
    Dims d = dims_of(g, x), di = dims_of(g, index), narrow = {0}, wide = {0};
    int along;
    int64_t first, step, n = d.dim[axis];

    if (!t || !known_affine(t, &along, &first, &step) || d.rank - 1 + di.rank > MAX_RANK)
        return 0;
    int64_t count = along < 0 ? 1 : t->dim[along], last = first + step * (count - 1);
    if (first < 0 && last < 0) {
        first += n;
        last += n;
    }
    if (first < 0 || first >= n || last < 0 || last >= n || (step == 0 && count > 1))
        return 0;
    ValueId y = slice_axis(g, x, axis, first, count, step ? step : 1);
    bool repeats = false;
    for (int i = 0; i < d.rank - 1 + di.rank; i++) {
        bool is_index = i >= axis && i < axis + di.rank;
        int64_t size = is_index ? di.dim[i - axis] : d.dim[i < axis ? i : i - di.rank + 1];
        narrow.dim[narrow.rank++] = !is_index ? size : i - axis == along ? count : 1;
        wide.dim[wide.rank++] = size;
        repeats |= narrow.dim[i] != wide.dim[i];
    }
    y = reshape_to(g, y, &narrow);
    return repeats ? broadcast_to(g, y, wide.rank, wide.dim) : y;
}

// The padding_idx of an embedding, whose row gets no gradient; -1: none. Only torch.export's node
// in the metadata has it: "…aten.embedding.default](args = (%weight, %input_ids, 1), …".
static int64_t padding_index(const Op *o)
{
    const char *args = strstr(fx_node_of(o->node), "aten.embedding.default](args = (");
    const char *s = args ? strchr(args, ',') : NULL;

    s = s ? strchr(s + 1, ',') : NULL;
    return s && strspn(s, ", 0123456789") > 2 ? strtoll(s + 1, NULL, 10) : -1;
}

// The padding index of a table: from --padding-index, or else from the exporter.
static int64_t padding_of(Op *o, const Value *table)
{
    Import *x = o->x;
    bool is_table = table->kind == VALUE_PARAMETER || table->kind == VALUE_BUFFER;

    for (int i = 0; i < x->o->n_padding && is_table; i++) {
        const char *text = x->o->padding[i], *equals = strrchr(text, '=');
        if (!equals ||
            !glob_match(arena_copy(x->scratch, text, (size_t)(equals - text)), table->name))
            continue;
        int64_t k = strtoll(equals + 1, NULL, 10);
        x->padding_used[i] = true;
        if (k >= 0 && k < table->dim[0])
            return k;
        op_error(o, "--padding-index '%.200s': the table has %" PRId64 " rows", text,
                 table->dim[0]);
    }
    return padding_index(o);
}

static ValueId gather(Op *o, ValueId x, ValueId index, int axis)
{
    Value table = *value_of(o->g, x);
    int64_t n = table.dim[axis], skip = axis == 0 ? padding_of(o, &table) : -1;
    ValueId y = skip < 0 ? gather_slice(o, x, index, axis) : 0;

    index = y ? 0 : index_wrap(o, index, n);
    return index ? make_gather_but(o->g, x, index, axis, 0, skip) : y;
}

static void import_gather(Op *o)
{
    int64_t axis = attr_int(o, "axis", 0);

    if (op_axis(o, &axis, arg_value(o, 0)->rank) && index_is_integer(o, 1))
        give(o, 0, gather(o, arg(o, 0), arg(o, 1), (int)axis));
}

// y[…, i, …] = x[…, index[…, i, …], …]. If the index is shorter than x in another dim, x is cut.
static void import_gather_elements(Op *o)
{
    Graph *g = o->g;
    Dims di = dims_of(g, arg(o, 1));
    int64_t axis = attr_int(o, "axis", 0);
    ValueId x = arg(o, 0);
    ElementIndex e;

    if (!index_elements(o, axis, &e))
        return;
    for (int i = 0; i < di.rank; i++)
        x = i == e.perm[e.axis] ? x : slice_axis(g, x, i, 0, di.dim[i], 1);
    ValueId y = make_gather(g, transpose_to(g, x, e.perm), e.index, e.axis, e.batch);
    give(o, 0, transpose_to(g, y, e.back));
}

// ---- GatherND ----

// Exporters write x[i, j] as one index of pairs, for vectors i and j with dims of their own
// ([b,1,1] and [t]). If each part of a known index varies along a dim of its own, gathering along
// one dim of x after the other gives the same.
static bool has_own_dims(const Tensor *const *part, int k, int rank)
{
    for (int d = 0; d < rank; d++) {
        int n = 0;
        for (int i = 0; i < k; i++)
            n += part[i]->dim[d] != 1;
        if (n > 1)
            return false;
    }
    for (int i = 0; i < k; i++) {
        int n = 0;
        for (int d = 0; d < rank; d++)
            n += part[i]->dim[d] != 1;
        if (n > 1)
            return false;
    }
    return true;
}

// Gathers x [n0, …, nk-1, R…] dim by dim, if each part of the index varies along one dim of the
// result. Then moves the gathered dims to the positions of the index's dims.
static ValueId gather_outer(Op *o, const Tensor *const *known, int k, const Dims *index)
{
    Graph *g = o->g;
    ValueId y = arg(o, 0);
    Dims d = dims_of(g, y), wide = *index, gathered = {.rank = index->rank};
    int64_t perm[MAX_RANK];
    int along[MAX_RANK], n = 0;

    for (int i = 0; i < k; i++) {
        along[i] = -1;
        for (int p = 0; p < index->rank; p++)
            along[i] = known[i]->dim[p] != 1 ? p : along[i];
        y = gather(o, y, known_vector(o->x, known[i]), i);
    }
    // Sort the gathered dims by the index's dims; constant parts come first.
    for (int p = -1; p < index->rank; p++)
        for (int i = 0; i < k; i++)
            if (along[i] == p)
                perm[n++] = i;
    for (int i = k; i < d.rank; i++)
        perm[i] = i;
    for (int p = 0; p < index->rank; p++) {
        gathered.dim[p] = 1;
        for (int i = 0; i < k; i++)
            gathered.dim[p] = along[i] == p ? index->dim[p] : gathered.dim[p];
    }
    for (int i = k; i < d.rank; i++) {
        gathered.dim[gathered.rank++] = d.dim[i];
        wide.dim[wide.rank++] = d.dim[i];
    }
    y = reshape_to(g, transpose_to(g, y, perm), &gathered);
    return broadcast_to(g, y, wide.rank, wide.dim);
}

static void import_gather_nd(Op *o)
{
    Graph *g = o->g;
    Dims index = dims_of(g, arg(o, 1));
    int64_t batch = attr_int(o, "batch_dims", 0);
    const Tensor *known[MAX_RANK];
    bool all_known = batch == 0;
    TupleIndex t;

    if (!index_tuples(o, batch, &t))
        return;
    for (int i = 0; i < t.n; i++) {
        known[i] = known_of(o->x, t.part[i]);
        all_known &= known[i] != NULL;
    }
    index.rank--;
    if (all_known && has_own_dims(known, t.n, index.rank))
        give(o, 0, gather_outer(o, known, t.n, &index));
    else
        give(o, 0, make_gather(g, reshape_to(g, arg(o, 0), &t.table), t.index, t.batch, t.batch));
}

// ---- whole sequences, and known choices ----

// y[b, t, …] = x[b, length[b] - 1 - t, …] for t < length[b], and x[b, t, …] for later t.
static void import_reverse_sequence(Op *o)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), lengths = dims_of(g, arg(o, 1));
    int64_t batch = attr_int(o, "batch_axis", 1), time = attr_int(o, "time_axis", 0);
    int64_t perm[MAX_RANK], back[MAX_RANK];
    int n = 2;

    if (!op_axis(o, &batch, d.rank) || !op_axis(o, &time, d.rank) || !index_is_integer(o, 1))
        return;
    if (batch == time || lengths.rank != 1 || lengths.dim[0] != d.dim[batch]) {
        op_error(o, "its axes must differ, and each sequence needs a length");
        return;
    }
    perm[0] = batch;
    perm[1] = time;
    for (int i = 0; i < d.rank; i++)
        if (i != batch && i != time)
            perm[n++] = i;
    for (int i = 0; i < d.rank; i++)
        back[perm[i]] = i;
    int64_t dim[] = {d.dim[batch], d.dim[time]};
    ValueId t = make_iota(g, value_of(g, arg(o, 1))->dtype, 2, dim, 1);
    ValueId length = make_broadcast(g, arg(o, 1), 2, dim, &(int64_t){0});
    ValueId last = make_sub(g, length, scalar_like(g, length, 1));
    ValueId index = make_select(g, make_lt(g, t, length), make_sub(g, last, t), t);
    ValueId y = make_gather(g, transpose_to(g, arg(o, 0), perm), index, 1, 1);
    give(o, 0, transpose_to(g, y, back));
}

// Element `index` of a known value of that rank, whose tensor holds dims along which elements
// repeat as 1.
static double known_at(const Tensor *t, const int64_t *index)
{
    int64_t at = 0;

    for (int i = 0; i < t->rank; i++)
        at = at * t->dim[i] + (t->dim[i] == 1 ? 0 : index[i]);
    return known_number(t, at);
}

static bool next_index(int64_t *index, const Dims *d)
{
    for (int i = d->rank - 1; i >= 0; i--) {
        if (++index[i] < d->dim[i])
            return true;
        index[i] = 0;
    }
    return false;
}

// The indices of the elements of input i that aren't 0, *n times rank numbers. NULL after an error:
// it must be known.
static int64_t *list_nonzero(Op *o, int i, const char *what, int64_t *n)
{
    const Tensor *t = arg_known(o, i);
    Dims d = dims_of(o->g, arg(o, i));
    int64_t count = value_count(arg_value(o, i)), index[MAX_RANK] = {0}, *list;
    double unused;

    *n = 0;
    if (!t) {
        arg_number(o, i, what, &unused);
        return NULL;
    }
    if (count > MAX_CONSTANT / 8 / (d.rank + 1)) {
        op_error(o, "%s has %" PRId64 " elements, too many to be listed", what, count);
        return NULL;
    }
    list = arena_array(o->x->arena, int64_t, count * d.rank + 1);
    for (bool more = count > 0; more; more = next_index(index, &d))
        if (known_at(t, index) != 0)
            memcpy(list + d.rank * (*n)++, index, (size_t)d.rank * sizeof *index);
    return list;
}

static void import_non_zero(Op *o)
{
    static const int64_t swap[] = {1, 0};
    int rank = arg_value(o, 0)->rank;
    int64_t n, *list = list_nonzero(o, 0, "the input", &n);

    if (list)
        give(o, 0,
             make_transpose(o->g, graph_constant(o->g, I64, 2, (int64_t[]){n, rank}, list), swap));
}

// Takes the slices for which a known condition is true.
static void import_compress(Op *o)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), flat = {1, {value_count(arg_value(o, 0))}};
    bool is_flat = !attr_find(o, "axis");
    int64_t axis = is_flat ? 0 : attr_int(o, "axis", 0), n;

    if (!op_axis(o, &axis, is_flat ? 1 : d.rank))
        return;
    const Value *condition = arg_value(o, 1);
    int64_t size = (is_flat ? &flat : &d)->dim[axis];
    if (condition->rank != 1 || condition->dtype != BOOL || condition->dim[0] > size) {
        op_error(o, "its condition must be a vector of at most %" PRId64 " truth values", size);
        return;
    }
    int64_t *list = list_nonzero(o, 1, "the condition", &n);
    if (!list)
        return;
    ValueId index = known_canonical(o->x, constant_ints(g, (int)n, list));
    ValueId x = is_flat ? reshape_to(g, arg(o, 0), &flat) : arg(o, 0);
    give(o, 0, gather(o, x, index, (int)axis));
}

// ---- one-hot ----

static void import_one_hot(Op *o)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), y = {.rank = d.rank + 1};
    int64_t axis = attr_int(o, "axis", -1), dims[MAX_RANK];
    double depth;

    if (!arg_number(o, 1, "the depth", &depth) || !op_axis(o, &axis, d.rank + 1))
        return;
    if (y.rank > MAX_RANK || !(depth >= 1 && depth < 1 << 30)) {
        op_error(o, "depth is %g, expected 1 to 2^30, and a result of at most %d dims", depth,
                 MAX_RANK);
        return;
    }
    for (int i = 0, k = 0; i < y.rank; i++) {
        if (i != axis)
            dims[k] = i;
        y.dim[i] = i == axis ? (int64_t)depth : d.dim[k++];
    }
    ValueId index = make_cast(g, arg(o, 0), I64);
    index = make_broadcast(g, index_from_end(o, index, (int64_t)depth), y.rank, y.dim, dims);
    ValueId hit = make_eq(g, index, make_iota(g, I64, y.rank, y.dim, (int)axis));
    ValueId value[2];
    for (int i = 0; i < 2; i++) {
        ValueId v = slice_axis(g, arg(o, 2), 0, i, 1, 1);
        value[i] = broadcast_to(g, reshape_to(g, v, &(Dims){0}), y.rank, y.dim);
    }
    give(o, 0, make_select(g, hit, value[1], value[0]));
}

const OpImporter import_indexing[] = {
    {"Compress", 2, 2, .import = import_compress, .attrs = "axis", .since = 9,
     .known = "condition"},
    {"Gather", 2, 2, .import = import_gather, .attrs = "axis"},
    {"GatherElements", 2, 2, .import = import_gather_elements, .attrs = "axis", .since = 11},
    {"GatherND", 2, 2, .import = import_gather_nd, .attrs = "batch_dims", .since = 11},
    {"NonZero", 1, 1, .import = import_non_zero, .since = 9, .known = "X",
     .no_gradient = "none: indices"},
    {"OneHot", 3, 3, .import = import_one_hot, .attrs = "axis", .since = 9, .known = "depth"},
    {"ReverseSequence", 2, 2, .import = import_reverse_sequence, .attrs = "batch_axis time_axis",
     .since = 10},
    {0},
};
