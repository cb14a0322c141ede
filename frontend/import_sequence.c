// Imports sequences of tensors, which exporters use for splits. They are lists at compile time.
#include "frontend/internal.h"

static void give_sequence(Op *o, int n, const ValueId *v)
{
    o->out[0] = (Symbol){.is_sequence = true, .n = n, .element = v};
}

static bool sequence_of(Op *o, int i)
{
    return o->in[i].is_sequence || op_error(o, "input %d must be a sequence", i);
}

// Reads the sizes of the parts of a dim of size `whole`: a list, or else *size is NULL and all
// parts have `each` elements except the last. False after an error.
static bool split_sizes(Op *o, int64_t whole, int *n, int64_t **size, int64_t *each)
{
    *size = NULL;
    *each = 1;
    if (has(o, 1) && arg_value(o, 1)->rank == 1) {
        int64_t count = value_count(arg_value(o, 1));
        *size = arena_array(o->x->scratch, int64_t, 1 + (count <= MAX_OPERANDS ? count : 0));
        return arg_ints(o, 1, "split", MAX_OPERANDS, n, *size);
    }
    if (has(o, 1) && !arg_ints(o, 1, "split", 1, n, each))
        return false;
    if (*each < 1)
        return op_error(o, "split is %" PRId64 ", expected at least 1", *each);
    if (whole / *each >= MAX_OPERANDS)
        return op_error(o, "splits %" PRId64 " into parts of %" PRId64 ", more than %d", whole,
                        *each, MAX_OPERANDS);
    *n = (int)((whole + *each - 1) / *each);
    return true;
}

// Are there parts of sizes that are computed? Sets their number.
static bool is_ragged(Op *o, int *n)
{
    const Value *size = has(o, 1) ? arg_value(o, 1) : NULL;

    if (!size || size->rank != 1 || size->dim[0] > MAX_OPERANDS || arg_known(o, 1))
        return false;
    *n = (int)size->dim[0];
    return true;
}

static void import_split(Op *o)
{
    const Value *x = arg_value(o, 0);
    int64_t axis = attr_int(o, "axis", 0), each = 1, *size = NULL;
    bool keep_dims = has(o, 1) || attr_int(o, "keepdims", 1);
    int n = 0;

    if (!op_axis(o, &axis, x->rank))
        return;
    bool ragged = is_ragged(o, &n);
    if (!ragged && !split_sizes(o, x->dim[axis], &n, &size, &each))
        return;
    ValueId *part = arena_array(o->x->scratch, ValueId, n + 1);
    budget_allow(o->g->budget, BUDGET_importing, n);
    if (!(ragged ? ragged_split(o, (int)axis, n, part)
                 : op_split(o, (int)axis, n, size, each, part)))
        return;
    for (int i = 0; i < n && !keep_dims; i++)
        part[i] = drop_dim(o->g, part[i], (int)axis);
    give_sequence(o, n, part);
}

static void import_at(Op *o)
{
    double i;

    if (!sequence_of(o, 0) || !arg_number(o, 1, "the position", &i))
        return;
    int n = o->in[0].n;
    if (!(i >= -n && i < n))
        op_error(o, "position %g is out of range for a sequence of %d", i, n);
    else
        give(o, 0, o->in[0].element[(int)i < 0 ? (int)i + n : (int)i]);
}

static void import_construct(Op *o)
{
    ValueId *v = arena_array(o->x->scratch, ValueId, o->n_in + 1);

    for (int i = 0; i < o->n_in; i++)
        v[i] = arg(o, i);
    give_sequence(o, o->n_in, v);
}

static void import_empty(Op *o) { give_sequence(o, 0, NULL); }

static void import_insert(Op *o)
{
    if (!sequence_of(o, 0))
        return;
    int n = o->in[0].n;
    double at = n;
    if (has(o, 2) && !arg_number(o, 2, "the position", &at))
        return;
    at += at < 0 ? n : 0;
    if (!(at >= 0 && at <= n)) {
        op_error(o, "position %g is out of range for a sequence of %d", at, n);
        return;
    }
    ValueId *v = arena_array(o->x->scratch, ValueId, n + 1);
    for (int i = 0; i <= n; i++)
        v[i] = i == (int)at ? arg(o, 1) : o->in[0].element[i > (int)at ? i - 1 : i];
    give_sequence(o, n + 1, v);
}

static void import_length(Op *o)
{
    if (sequence_of(o, 0))
        give(o, 0, graph_scalar(o->g, I64, o->in[0].n));
}

static void import_concat(Op *o)
{
    if (!sequence_of(o, 0))
        return;
    int n = o->in[0].n;
    if (!n) {
        op_error(o, "the sequence is empty");
        return;
    }
    bool is_new = attr_int(o, "new_axis", 0) != 0;
    int64_t axis = attr_int(o, "axis", 0);
    ValueId *v = arena_array(o->x->scratch, ValueId, n);
    if (!op_axis(o, &axis, value_of(o->g, o->in[0].element[0])->rank + is_new))
        return;
    for (int i = 0; i < n; i++)
        v[i] = is_new ? insert_dims(o->g, o->in[0].element[i], 1, &axis) : o->in[0].element[i];
    bool ragged = ragged_is_any(o->x, n, o->in[0].element);
    give(o, 0, ragged ? ragged_concat(o, n, v, (int)axis) : make_concat(o->g, n, v, (int)axis));
}

const OpImporter import_sequence[] = {
    {"ConcatFromSequence", 1, 1, .import = import_concat, .attrs = "axis new_axis", .since = 11},
    {"SequenceAt", 2, 2, .import = import_at, .since = 11, .known = "position"},
    {"SequenceConstruct", 1, MAX_OPERANDS, .import = import_construct, .since = 11},
    {"SequenceEmpty", 0, 0, .import = import_empty, .attrs = "dtype", .since = 11,
     .no_gradient = "none: a constant"},
    {"SequenceInsert", 2, 3, .import = import_insert, .since = 11, .known = "position"},
    {"SequenceLength", 1, 1, .import = import_length, .since = 11, .no_gradient = "none: a count"},
    {"SplitToSequence", 1, 2, .import = import_split, .attrs = "axis keepdims", .since = 11,
     .known = "a scalar split", .refuses = "parts of parts whose sizes are computed"},
    {0},
};
