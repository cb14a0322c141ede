// Imports recurrent layers, one time step after the other. One dot projects the inputs of all
// steps. Each step then takes its slice, and the slices' starts are evenly spaced, so the blocks
// pass finds the steps as iterations of a loop. Gates have ONNX's order in the weights: LSTM i o f
// c, GRU z r h.
#include "frontend/internal.h"

typedef ValueId Activation(Graph *g, ValueId x);

// One layer in one direction.
typedef struct Cell {
    Op *o;
    Graph *g;
    int gates;
    bool reverse;
    int64_t steps, batch, hidden;
    ValueId projected;       // [steps, batch, gates · hidden]: W x + bias
    ValueId recurrent;       // R [gates · hidden, hidden]
    ValueId recurrent_bias;  // bias of GRU's last gate, [hidden], if it is added separately; else 0
    ValueId peephole;        // [3 · hidden], i o f; else 0
    Activation *f, *g_act, *h_act;
    bool couples;      // LSTM: the forget gate is 1 - i
    bool reset_after;  // GRU: linear_before_reset
    ValueId runs;      // BOOL [steps, batch]: is the step in the sample's sequence? 0: all are
    ValueId h, c;      // the state, [batch, hidden]
} Cell;

static const struct {
    const char *name;
    Activation *f;
} activations[] = {
    {"Sigmoid", make_sigmoid},
    {"Tanh", make_tanh},
    {"Relu", relu},
};

// The activation at index `i` of the node's list, or the default.
static Activation *activation(Op *o, int i, Activation *missing)
{
    const Onnx__AttributeProto *a = attr_find(o, "activations");

    if (!a || !a->n_strings)
        return missing;
    if ((size_t)i >= a->n_strings) {
        op_error(o, "has only %zu activations", a->n_strings);
        return missing;
    }
    for (int k = 0; k < COUNT(activations); k++)
        if (strlen(activations[k].name) == a->strings[i].len &&
            !memcmp(activations[k].name, a->strings[i].data, a->strings[i].len))
            return activations[k].f;
    op_error(o, "activation '%.*s' is not supported", (int)(a->strings[i].len & 63),
             (const char *)a->strings[i].data);
    return missing;
}

static ValueId gate(const Cell *l, ValueId x, int i)
{
    return slice_axis(l->g, x, value_of(l->g, x)->rank - 1, i * l->hidden, l->hidden, 1);
}

static ValueId like_rows(const Cell *l, ValueId vector, ValueId x)
{
    return vector_at(l->g, vector, x, 1);
}

// x + p ⊙ c for gate i of the peepholes.
static ValueId peep(const Cell *l, ValueId x, int i, ValueId c)
{
    if (!l->peephole)
        return x;
    return make_add(l->g, x, make_mul(l->g, like_rows(l, gate(l, l->peephole, i), c), c));
}

static void step_lstm(Cell *l, ValueId x)
{
    Graph *g = l->g;
    ValueId z = make_add(g, x, make_dot(g, l->h, l->recurrent, "bh,gh->bg"));
    ValueId i = l->f(g, peep(l, gate(l, z, 0), 0, l->c));
    ValueId f = l->couples ? make_sub(g, scalar_like(g, i, 1), i)
                           : l->f(g, peep(l, gate(l, z, 2), 2, l->c));
    ValueId new = l->g_act(g, gate(l, z, 3));
    ValueId added = make_mul(g, i, new);
    l->c = make_add(g, make_mul(g, f, l->c), added);
    ValueId o = l->f(g, peep(l, gate(l, z, 1), 1, l->c));
    l->h = make_mul(g, o, l->h_act(g, l->c));
}

// h' = (1 - z) ⊙ n + z ⊙ h. The reset gate is applied before or after the recurrent product of n.
static void step_gru(Cell *l, ValueId x)
{
    Graph *g = l->g;
    ValueId r_rows = slice_axis(g, l->recurrent, 0, 0, 2 * l->hidden, 1);
    ValueId n_rows = slice_axis(g, l->recurrent, 0, 2 * l->hidden, l->hidden, 1);
    ValueId zr = make_dot(g, l->h, r_rows, "bh,gh->bg");
    zr = make_add(g, slice_axis(g, x, 1, 0, 2 * l->hidden, 1), zr);
    ValueId z = l->f(g, gate(l, zr, 0)), r = l->f(g, gate(l, zr, 1)), n;

    if (l->reset_after) {
        n = make_dot(g, l->h, n_rows, "bh,gh->bg");
        if (l->recurrent_bias)
            n = make_add(g, n, like_rows(l, l->recurrent_bias, n));
        n = make_mul(g, r, n);
    } else {
        n = make_dot(g, make_mul(g, r, l->h), n_rows, "bh,gh->bg");
    }
    n = l->g_act(g, make_add(g, gate(l, x, 2), n));
    ValueId kept = make_sub(g, scalar_like(g, z, 1), z);
    ValueId old = make_mul(g, z, l->h);
    l->h = make_add(g, make_mul(g, kept, n), old);
}

static void step_rnn(Cell *l, ValueId x)
{
    l->h = l->f(l->g, make_add(l->g, x, make_dot(l->g, l->h, l->recurrent, "bh,gh->bg")));
}

// ---- reading the node ----

// Entry `direction` of an input [directions, …].
static ValueId of_direction(Op *o, int i, int direction)
{
    return drop_dim(o->g, slice_axis(o->g, arg(o, i), 0, direction, 1, 1), 0);
}

// W x + bias for all steps. Both biases are added here, except GRU's last recurrent one if the
// reset gate multiplies it.
static void project(Cell *l, ValueId x, int direction)
{
    Op *o = l->o;
    Graph *g = l->g;
    int64_t all = l->gates * l->hidden;
    ValueId w = of_direction(o, 1, direction);

    l->projected = make_dot(g, x, w, "tbi,gi->tbg");
    if (!has(o, 3) || !l->projected)
        return;
    ValueId bias = of_direction(o, 3, direction);
    ValueId wb = slice_axis(g, bias, 0, 0, all, 1), rb = slice_axis(g, bias, 0, all, all, 1);
    if (l->reset_after) {
        l->recurrent_bias = slice_axis(g, rb, 0, 2 * l->hidden, l->hidden, 1);
        ValueId part[] = {slice_axis(g, rb, 0, 0, 2 * l->hidden, 1),
                          scalar_like(g, l->recurrent_bias, 0)};
        rb = make_concat(g, 2, part, 0);
    }
    ValueId sum = make_add(g, wb, rb);
    l->projected = make_add(g, l->projected, vector_at(g, sum, l->projected, 2));
}

// The state before the first step: input i, or zero. With layout 1 the batch comes first.
static ValueId first_state(Cell *l, int i, int direction, bool batch_first)
{
    Op *o = l->o;
    Dims d = {2, {l->batch, l->hidden}};
    static const int64_t swap[] = {1, 0, 2};

    if (!has(o, i))
        return full(l->g, arg_value(o, 0)->dtype, &d, 0);
    if (!batch_first)
        return of_direction(o, i, direction);
    ValueId v = make_transpose(l->g, arg(o, i), swap);
    return drop_dim(l->g, slice_axis(l->g, v, 0, direction, 1, 1), 0);
}

// Do the node's inputs have the shapes that the first three imply?
static bool check_shapes(Op *o, int gates, int64_t hidden, int64_t directions)
{
    const Value *x = arg_value(o, 0), *w = arg_value(o, 1), *r = arg_value(o, 2);

    bool ok = x->rank == 3 && w->rank == 3 && r->rank == 3 && hidden > 0 && hidden < 1 << 30;
    ok = ok && w->dim[0] == directions && w->dim[1] == gates * hidden && w->dim[2] == x->dim[2];
    ok = ok && r->dim[0] == directions && r->dim[1] == gates * hidden && r->dim[2] == hidden;
    if (ok && has(o, 3)) {
        const Value *b = arg_value(o, 3);
        ok = b->rank == 2 && b->dim[0] == directions && b->dim[1] == 2 * gates * hidden;
    }
    for (int i = 5; i <= 6 && ok; i++)
        ok = !has(o, i) || (arg_value(o, i)->rank == 3 && arg_value(o, i)->dim[2] == hidden);
    if (ok && has(o, 7))
        ok = arg_value(o, 7)->rank == 2 && arg_value(o, 7)->dim[1] == 3 * hidden;
    return ok || op_error(o, "its weights don't fit a hidden size of %" PRId64, hidden);
}

// Compares each step with the lengths of the sequences, input 4. Returns 0 if all have all steps.
static ValueId read_lengths(Op *o, int64_t steps, int64_t batch)
{
    const Tensor *t = arg_known(o, 4);
    int64_t dim[] = {steps, batch};

    if (!has(o, 4) || (t && known_is_splat(t) && t->i && t->i[0] == steps))
        return 0;
    const Value *lengths = arg_value(o, 4);
    if (lengths->rank != 1 || lengths->dim[0] != batch || !dtype_is_int(lengths->dtype)) {
        op_error(o, "%" PRId64 " sequences need as many lengths, integers", batch);
        return 0;
    }
    ValueId length = make_broadcast(o->g, arg(o, 4), 2, dim, &(int64_t){1});
    return make_lt(o->g, make_iota(o->g, value_of(o->g, length)->dtype, 2, dim, 0), length);
}

// The state after a step: nothing changes where the sequence has ended or, in reverse, not
// yet begun.
static ValueId unless_over(const Cell *l, ValueId runs, ValueId new, ValueId old)
{
    return runs ? make_select(l->g, runs, new, old) : new;
}

static ValueId runs_at(const Cell *l, int64_t t)
{
    Dims d = {2, {l->batch, l->hidden}};

    if (!l->runs)
        return 0;
    ValueId row = drop_dim(l->g, slice_axis(l->g, l->runs, 0, t, 1, 1), 0);
    return make_broadcast(l->g, row, 2, d.dim, &(int64_t){0});
}

// Runs one direction over all steps. Its outputs [batch, hidden] go to y, by time: 0 outside of a
// sequence.
static void run(Cell *l, void (*step)(Cell *, ValueId), ValueId *y)
{
    for (int64_t i = 0; i < l->steps; i++) {
        int64_t t = l->reverse ? l->steps - 1 - i : i;
        ValueId h = l->h, c = l->c, runs = runs_at(l, t);
        step(l, drop_dim(l->g, slice_axis(l->g, l->projected, 0, t, 1, 1), 0));
        y[t] = unless_over(l, runs, l->h, runs ? scalar_like(l->g, l->h, 0) : 0);
        l->h = unless_over(l, runs, l->h, h);
        l->c = c ? unless_over(l, runs, l->c, c) : 0;
    }
}

typedef struct Layer {
    int gates;
    void (*step)(Cell *l, ValueId x);
    Activation *f, *g_act, *h_act;  // defaults
    int n_activations;
} Layer;

// Y [steps, directions, batch, hidden] from the outputs of the steps. Each direction is joined
// separately, because the blocks pass and the gradients expect one reader for a value of all
// iterations.
static ValueId whole_sequence(const Op *o, const Cell *cell, int directions, ValueId *const *y)
{
    static const int64_t front[] = {0, 1};
    Graph *g = o->g;
    int steps = (int)cell->steps;
    ValueId *row = arena_array(o->x->scratch, ValueId, steps), all[2];

    for (int k = 0; k < directions; k++) {
        for (int t = 0; t < steps; t++)
            row[t] = insert_dims(g, y[k][t], 2, front);
        all[k] = steps == 1 ? row[0] : make_concat(g, steps, row, 0);
    }
    return directions == 1 ? all[0] : make_concat(g, 2, all, 1);
}

// Gives Y and the last states. With layout 1 the batch comes first: [batch, steps, directions,
// hidden].
static void give_outputs(Op *o, const Cell *cell, int directions, ValueId *const *y,
                         bool batch_first)
{
    static const int64_t perm[] = {2, 0, 1, 3}, swap[] = {1, 0, 2}, first[] = {0};
    Graph *g = o->g;
    ValueId state[2][2];

    if (wants(o, 0)) {
        ValueId all = whole_sequence(o, cell, directions, y);
        give(o, 0, batch_first ? make_transpose(g, all, perm) : all);
    }
    for (int i = 0; i < 2; i++) {
        if (!wants(o, i + 1))
            continue;
        for (int k = 0; k < directions; k++)
            state[i][k] = insert_dims(g, i ? cell[k].c : cell[k].h, 1, first);
        ValueId last = directions == 1 ? state[i][0] : make_concat(g, 2, state[i], 0);
        give(o, i + 1, batch_first ? make_transpose(g, last, swap) : last);
    }
}

static void read_cell(Cell *l, const Layer *layer, ValueId x, int k, bool batch_first)
{
    Op *o = l->o;
    int first = k * layer->n_activations;

    l->f = activation(o, first, layer->f);
    l->g_act = layer->g_act ? activation(o, first + 1, layer->g_act) : NULL;
    l->h_act = layer->h_act ? activation(o, first + 2, layer->h_act) : NULL;
    l->couples = attr_int(o, "input_forget", 0) != 0;
    l->reset_after = layer->gates == 3 && attr_int(o, "linear_before_reset", 0) != 0;
    project(l, x, k);
    l->recurrent = of_direction(o, 2, k);
    l->peephole = has(o, 7) ? of_direction(o, 7, k) : 0;
    l->h = first_state(l, 5, k, batch_first);
    l->c = layer->gates == 4 ? first_state(l, 6, k, batch_first) : 0;
}

// May the layer be unrolled over `steps` steps?
static bool check_layer(Op *o, int64_t steps)
{
    if (attr_float(o, "clip", 0) != 0)
        return op_error(o, "attribute clip is not supported");
    if (steps < 1 || steps > MAX_TRIPS)
        return op_error(o, "%" PRId64 " steps, expected 1 to %d", steps, MAX_TRIPS);
    return true;
}

static void import_layer(Op *o, const Layer *layer)
{
    static const int64_t swap[] = {1, 0, 2};
    const char *direction = attr_text(o, "direction", "forward");
    int directions = strcmp(direction, "bidirectional") ? 1 : 2;
    bool batch_first = attr_int(o, "layout", 0) != 0;
    const Value *r = arg_value(o, 2);
    int64_t hidden = attr_int(o, "hidden_size", r->rank ? r->dim[r->rank - 1] : 0);
    Cell cell[2];
    ValueId *y[2];

    if (!check_shapes(o, layer->gates, hidden, directions))
        return;
    ValueId x = batch_first ? make_transpose(o->g, arg(o, 0), swap) : arg(o, 0);
    int64_t steps = value_of(o->g, x)->dim[0], batch = value_of(o->g, x)->dim[1];
    if (!check_layer(o, steps))
        return;
    ValueId runs = read_lengths(o, steps, batch);
    budget_allow(o->g->budget, BUDGET_importing, steps * directions);
    for (int k = 0; k < directions; k++) {
        cell[k] = (Cell){.o = o,
                         .g = o->g,
                         .gates = layer->gates,
                         .steps = steps,
                         .batch = batch,
                         .hidden = hidden,
                         .runs = runs};
        cell[k].reverse = k == 1 || !strcmp(direction, "reverse");
        read_cell(&cell[k], layer, x, k, batch_first);
        y[k] = arena_array(o->x->scratch, ValueId, steps);
        run(&cell[k], layer->step, y[k]);
    }
    if (!o->failed)
        give_outputs(o, cell, directions, y, batch_first);
}

static void import_lstm(Op *o)
{
    import_layer(o, &(Layer){4, step_lstm, make_sigmoid, make_tanh, make_tanh, 3});
}

static void import_gru(Op *o)
{
    import_layer(o, &(Layer){3, step_gru, make_sigmoid, make_tanh, NULL, 2});
}

static void import_plain(Op *o)
{
    import_layer(o, &(Layer){1, step_rnn, make_tanh, NULL, NULL, 1});
}

const OpImporter import_rnn[] = {
    {"GRU", 3, 6, .import = import_gru,
     .attrs = "activations activation_alpha activation_beta clip direction hidden_size layout "
              "linear_before_reset",
     .max_out = 2, .refuses = "clip; activations but Sigmoid, Tanh and Relu"},
    {"LSTM", 3, 8, .import = import_lstm,
     .attrs = "activations activation_alpha activation_beta clip direction hidden_size "
              "input_forget layout",
     .max_out = 3, .refuses = "clip; activations but Sigmoid, Tanh and Relu"},
    {"RNN", 3, 6, .import = import_plain,
     .attrs = "activations activation_alpha activation_beta clip direction hidden_size layout",
     .max_out = 2, .refuses = "clip; activations but Sigmoid, Tanh and Relu"},
    {0},
};
