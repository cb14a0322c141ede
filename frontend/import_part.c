// Imports operators that join, split and cut.
#include "frontend/internal.h"

// ---- joining and splitting ----

static void import_concat(Op *o)
{
    ValueId *x = arena_array(o->x->scratch, ValueId, o->n_in + 1);
    int64_t axis = attr_int(o, "axis", 0);
    int n = 0;

    for (int i = 0; i < o->n_in; i++)
        if (arg(o, i))
            x[n++] = arg(o, i);
    if (!n) {
        op_error(o, "has no inputs");
        return;
    }
    if (!op_axis(o, &axis, value_of(o->g, x[0])->rank))
        return;
    if (ragged_is_any(o->x, n, x)) {
        give(o, 0, ragged_concat(o, n, x, (int)axis));
        return;
    }
    give(o, 0, n == 1 ? x[0] : make_concat(o->g, n, x, (int)axis));
    o->out[0].n = n;
    o->out[0].axis = (int)axis;
    o->out[0].element = x;
}

static void import_split(Op *o)
{
    const Value *x = arg_value(o, 0);
    int64_t axis = attr_int(o, "axis", 0);
    int64_t *size = arena_array(o->x->scratch, int64_t, o->n_out + 1);
    ValueId *part = arena_array(o->x->scratch, ValueId, o->n_out + 1);
    int n = 0, parts = (int)attr_int(o, "num_outputs", o->n_out);

    if (!op_axis(o, &axis, x->rank))
        return;
    const int64_t *v = attr_ints(o, "split", &n);
    bool is_ragged = has(o, 1) && !arg_known(o, 1);
    if (has(o, 1) && !is_ragged) {
        if (!arg_ints(o, 1, "split", o->n_out, &n, size))
            return;
        v = size;
    }
    if ((n && n != o->n_out) || parts != o->n_out) {
        op_error(o, "splits into %d, but has %d outputs", n ? n : parts, o->n_out);
        return;
    }
    int64_t each = (x->dim[axis] + parts - 1) / (parts ? parts : 1);
    if (!o->n_out || !(is_ragged ? ragged_split(o, (int)axis, o->n_out, part)
                                 : op_split(o, (int)axis, o->n_out, n ? v : NULL, each, part)))
        return;
    for (int i = 0; i < o->n_out; i++)
        give(o, i, part[i]);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

// starts, ends, axes, steps: attributes up to opset 9 (without steps), inputs since.
static bool read_slice(Op *o, int *n, int64_t *start, int64_t *end, int64_t *axes, int64_t *step)
{
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    int64_t *part[] = {start, end, axes, step};
    int count[4] = {0};

    for (int k = 0; k < 4; k++) {
        if (has(o, k + 1)) {
            if (!arg_ints(o, k + 1, names[k], MAX_RANK, &count[k], part[k]))
                return false;
            continue;
        }
        const int64_t *v = attr_ints(o, names[k], &count[k]);
        if (count[k] > MAX_RANK)
            return op_error(o, "more than %d %s", MAX_RANK, names[k]);
        if (count[k])
            memcpy(part[k], v, (size_t)count[k] * sizeof *v);
    }
    *n = count[0];
    for (int i = 0; i < *n; i++) {
        axes[i] = count[2] ? axes[i] : i;
        step[i] = count[3] ? step[i] : 1;
    }
    if (count[1] != *n || (count[2] && count[2] != *n) || (count[3] && count[3] != *n))
        return op_error(o, "has %d starts, %d ends, %d axes and %d steps", count[0], count[1],
                        count[2], count[3]);
    return true;
}

typedef struct Part {
    int64_t first, stride, size;
} Part;

// The part that a slice takes of a dim of size n. Starts and ends are clamped as in Python.
static Part part_of(int64_t n, int64_t start, int64_t end, int64_t step)
{
    int64_t step_limit = step > 0 ? n + 1 : -n - 1;  // a longer step takes no more elements
    bool is_up = step > 0;

    step = (is_up ? step > step_limit : step < step_limit) ? step_limit : step;
    int64_t low = is_up ? 0 : -1, high = is_up ? n : n - 1;
    start = start < -n ? low : clamp(start < 0 ? start + n : start, low, high);
    end = end < -n ? low : clamp(end < 0 ? end + n : end, low, high);
    int64_t span = is_up ? end - start : start - end, each = is_up ? step : -step;
    return span > 0 ? (Part){start, step, (span + each - 1) / each} : (Part){0, 1, 0};
}

static void import_slice(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), y = x;
    int64_t start[MAX_RANK], end[MAX_RANK], axes[MAX_RANK], step[MAX_RANK];
    int64_t first[MAX_RANK] = {0}, stride[MAX_RANK];
    int n = 0;
    bool changes = false;

    if (!read_slice(o, &n, start, end, axes, step))
        return;
    for (int i = 0; i < x.rank; i++)
        stride[i] = 1;
    for (int i = 0; i < n; i++) {
        if (!op_axis(o, &axes[i], x.rank))
            return;
        if (!step[i]) {
            op_error(o, "a step is 0");
            return;
        }
        int64_t a = axes[i];
        Part p = part_of(x.dim[a], start[i], end[i], step[i]);
        first[a] = p.first;
        stride[a] = p.stride;
        y.dim[a] = p.size;
        changes |= p.first != 0 || p.stride != 1 || p.size != x.dim[a];
    }
    give(o, 0, changes ? make_slice(o->g, arg(o, 0), first, y.dim, stride) : arg(o, 0));
}

const OpImporter import_part[] = {
    {"Concat", 1, MAX_OPERANDS, .import = import_concat, .attrs = "axis"},
    {"Slice", 1, 5, .import = import_slice, .attrs = "starts ends axes",
     .known = "starts, ends, axes, steps"},
    {"Split", 1, 2, .import = import_split, .attrs = "axis split num_outputs",
     .max_out = MAX_OPERANDS, .refuses = "parts of parts whose sizes are computed"},
    {0},
};
