// Imports control flow that is decided at compile time: If with a known condition, and Loop and
// Scan with a known number of trips, which are unrolled. Trips are isomorphic, so the blocks pass
// turns them into loops again.
#include "frontend/internal.h"

static const Onnx__GraphProto *body_of(Op *o, const char *name)
{
    const Onnx__AttributeProto *a = attr_find(o, name);

    if (!a || !a->g)
        op_error(o, "has no subgraph %s", name);
    return a ? a->g : NULL;
}

static void import_if(Op *o)
{
    double condition;

    if (!arg_number(o, 0, "the condition", &condition))
        return;
    const Onnx__GraphProto *body = body_of(o, condition != 0 ? "then_branch" : "else_branch");
    if (!body || !walk_subgraph(o, body, 0, NULL, o->n_out, o->out))
        o->failed = true;
}

// One scan output: its slices, one per trip.
typedef struct Stack {
    int n, cap;
    ValueId *v;
} Stack;

static void push(Op *o, Stack *s, ValueId v)
{
    if (!v)
        o->failed = true;
    ValueId *to = arena_push(o->frame->arena, s->v, s->n, s->cap);
    *to = v;
}

static void give_stack(Op *o, int i, const Stack *s, int64_t axis, bool reverse)
{
    ValueId *v = arena_array(o->frame->arena, ValueId, s->n + 1);

    if (!s->n) {
        if (wants(o, i))
            op_error(o, "the loop has no trips, so the shape of output %d is not known", i);
        return;
    }
    if (!op_axis(o, &axis, value_of(o->g, s->v[0])->rank + 1))
        return;
    for (int k = 0; k < s->n; k++)
        v[k] = insert_dims(o->g, s->v[reverse ? s->n - 1 - k : k], 1, &axis);
    give(o, i, s->n == 1 ? v[0] : make_concat(o->g, s->n, v, (int)axis));
}

static bool add_slices(Op *o, Stack *stack, int n, const Symbol *out)
{
    for (int i = 0; i < n; i++) {
        if (out[i].is_sequence)
            return op_error(o, "a scan output is a sequence");
        push(o, &stack[i], out[i].value);
    }
    return true;
}

// ---- Loop ----

// Inputs: maximal trips (optional), condition (optional), carried values. The body takes the trip's
// number, the condition and the carried values. It gives the condition, the carried values and the
// slices.
static void import_loop(Op *o)
{
    Import *x = o->x;
    const Onnx__GraphProto *body = body_of(o, "body");
    double trips = MAX_TRIPS + 1, condition = 1;
    int n_carried = o->n_in - 2, n_slices = o->n_out - n_carried;

    if (!body || (has(o, 0) && !arg_number(o, 0, "the number of trips", &trips)) ||
        (has(o, 1) && !arg_number(o, 1, "the condition", &condition)))
        return;
    if (n_carried < 0 || n_slices < 0) {
        op_error(o, "%d inputs and %d outputs don't fit its subgraph", o->n_in, o->n_out);
        return;
    }
    Symbol *in = arena_array(o->frame->arena, Symbol, n_carried + 2);
    Symbol *out = arena_array(o->frame->arena, Symbol, o->n_out + 1);
    Stack *stack = arena_array(o->frame->arena, Stack, n_slices + 1);
    memcpy(in + 2, o->in + 2, (size_t)n_carried * sizeof *in);
    for (int t = 0; t < trips && condition != 0; t++) {
        if (t == MAX_TRIPS) {
            op_error(o, "more than %d trips", MAX_TRIPS);
            return;
        }
        in[0].value = graph_scalar(o->g, I64, t);
        in[1].value = graph_scalar(o->g, BOOL, 1);
        if (!walk_subgraph(o, body, n_carried + 2, in, o->n_out + 1, out))
            return;
        const Tensor *known = out[0].value ? known_of(x, out[0].value) : NULL;
        if (!known || !known_is_splat(known)) {
            op_error(o, "its condition is not known when compiling");
            return;
        }
        condition = known_number(known, 0);
        memcpy(in + 2, out + 1, (size_t)n_carried * sizeof *in);
        if (!add_slices(o, stack, n_slices, out + 1 + n_carried))
            return;
    }
    memcpy(o->out, in + 2, (size_t)n_carried * sizeof *in);
    for (int i = 0; i < n_slices; i++)
        give_stack(o, n_carried + i, &stack[i], 0, false);
}

// ---- Scan ----

// Gives entry i of an ints attribute with n entries, or 0 if the attribute is absent. Returns false
// after an error.
static bool scan_number(Op *o, const char *name, int n, int i, int64_t *v)
{
    int count;
    const int64_t *given = attr_ints(o, name, &count);

    if (count && count != n)
        return op_error(o, "attribute %s has %d numbers, expected %d", name, count, n);
    *v = count ? given[i] : 0;
    return true;
}

typedef struct ScanInput {
    int64_t axis, reverse;
} ScanInput;

static bool read_scan_inputs(Op *o, int n_states, int n, ScanInput *input, int64_t *trips)
{
    *trips = -1;
    for (int i = 0; i < n; i++) {
        const Value *v = arg_value(o, n_states + i);
        if (!scan_number(o, "scan_input_axes", n, i, &input[i].axis) ||
            !scan_number(o, "scan_input_directions", n, i, &input[i].reverse) ||
            !op_axis(o, &input[i].axis, v->rank))
            return false;
        if (*trips >= 0 && v->dim[input[i].axis] != *trips)
            return op_error(o, "its inputs have different lengths: %" PRId64 " and %" PRId64,
                            *trips, v->dim[input[i].axis]);
        *trips = v->dim[input[i].axis];
    }
    return *trips <= MAX_TRIPS || op_error(o, "more than %d trips", MAX_TRIPS);
}

// Takes the slices of trip t from all scanned inputs.
static void scan_slices(Op *o, int n_states, int n, const ScanInput *input, int64_t t,
                        int64_t trips, Symbol *in)
{
    for (int i = 0; i < n; i++) {
        int axis = (int)input[i].axis;
        int64_t at = input[i].reverse ? trips - 1 - t : t;
        ValueId v = slice_axis(o->g, arg(o, n_states + i), axis, at, 1, 1);
        in[n_states + i].value = drop_dim(o->g, v, axis);
    }
}

static void give_stacks(Op *o, int n_states, int n_slices, const Stack *stack)
{
    for (int i = 0; i < n_slices; i++) {
        int64_t axis, reverse;
        if (!scan_number(o, "scan_output_axes", n_slices, i, &axis) ||
            !scan_number(o, "scan_output_directions", n_slices, i, &reverse))
            return;
        give_stack(o, n_states + i, &stack[i], axis, reverse != 0);
    }
}

// Inputs: states, then the values that are scanned slice by slice. (Opset 8 also had a batch and
// lengths.)
static void import_scan(Op *o)
{
    const Onnx__GraphProto *body = body_of(o, "body");
    int64_t n = attr_int(o, "num_scan_inputs", 0), trips;

    if (!body)
        return;
    if (o->opset < 9 || n < 1 || n > o->n_in) {
        op_error(o, o->opset < 9 ? "is not supported before opset 9" : "scans too few inputs");
        return;
    }
    int n_states = o->n_in - (int)n, n_slices = o->n_out - n_states;
    ScanInput *input = arena_array(o->frame->arena, ScanInput, n);
    if (n_slices < 0 || !read_scan_inputs(o, n_states, (int)n, input, &trips))
        return;
    Symbol *in = arena_array(o->frame->arena, Symbol, o->n_in + 1);
    Symbol *out = arena_array(o->frame->arena, Symbol, o->n_out + 1);
    Stack *stack = arena_array(o->frame->arena, Stack, n_slices + 1);
    memcpy(in, o->in, (size_t)n_states * sizeof *in);
    for (int64_t t = 0; t < trips; t++) {
        scan_slices(o, n_states, (int)n, input, t, trips, in);
        if (!walk_subgraph(o, body, o->n_in, in, o->n_out, out))
            return;
        memcpy(in, out, (size_t)n_states * sizeof *in);
        if (!add_slices(o, stack, n_slices, out + n_states))
            return;
    }
    memcpy(o->out, in, (size_t)n_states * sizeof *in);
    give_stacks(o, n_states, n_slices, stack);
}

const OpImporter import_control[] = {
    {"If", 1, 1, .import = import_if, .attrs = "then_branch else_branch", .max_out = MAX_OPERANDS,
     .known = "cond"},
    {"Loop", 0, MAX_OPERANDS, .import = import_loop, .attrs = "body", .max_out = MAX_OPERANDS,
     .known = "M, cond", .refuses = "more than 16384 trips"},
    {"Scan", 1, MAX_OPERANDS, .import = import_scan,
     .attrs = "body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes "
              "scan_output_directions",
     .max_out = MAX_OPERANDS, .since = 9, .refuses = "the form of opset 8; more than 16384 trips"},
    {0},
};
