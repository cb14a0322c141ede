// Reads lines of tests/generator/kernels.def into nodes of a graph. Sizes and numbers are drawn,
// and some operands are views of inputs.
#ifndef SHARDCC_TESTS_GENERATOR_CASE_H
#define SHARDCC_TESTS_GENERATOR_CASE_H

#include <ctype.h>

#include "ir/build.h"
#include "runtime/rt_half.h"
#include "tests/runtime/kernels.h"

typedef enum Bound { BOUND_EXACT, BOUND_ULPS, BOUND_SUM, BOUND_WEIGHTS } Bound;

typedef struct Line {
    Bound bound;
    int ulps;
    const char *types, *node;
} Line;

static const Line lines[] = {
#define EXACT(types, node) {BOUND_EXACT, 0, types, node},
#define ULPS(n, types, node) {BOUND_ULPS, n, types, node},
#define SUM(types, node) {BOUND_SUM, 0, types, node},
#define WEIGHTS(types, node) {BOUND_WEIGHTS, 0, types, node},
#include "tests/generator/kernels.def"
#undef EXACT
#undef ULPS
#undef SUM
#undef WEIGHTS
};

// How the sizes of a node are drawn: one size is 0, is 1 or is large, or all are odd, or all are
// middling. Node `number` of a line takes the kinds in order, and within a kind the letters in
// order.
enum { ZERO, ONE, ODD, LARGE, MIDDLING, N_KINDS };
// About the product of all sizes, and the largest of them, which keep eval quick, and less where
// programs are slow.
enum { VOLUME = 1 << 16, LARGEST = 5000, SMALL_VOLUME = 1 << 13, SMALL_LARGEST = 1100 };
enum { MAX_GRAPH_VALUES = 24 };

// A mark after a type says which numbers the operand holds: '*', '~', '>', '<' or '=', see
// kernels.def. '?' is '~' with bits that are drawn.
typedef struct Mark {
    char kind;
    int64_t number;
} Mark;

typedef struct Input {
    ValueId v;
    Mark mark;
} Input;

// A graph that collects the nodes of many cases.
typedef struct Cases {
    Arena *arena;
    Graph *g;
    Random r;
    Input *inputs;
    int n_inputs, cap_inputs;
    int64_t volume;
    bool draws_bits;  // where operands hold all bits in turn, they hold bits that are drawn
} Cases;

// One node that is being read.
typedef struct Case {
    Cases *all;
    const char *at;  // the text that is read next
    DType type;      // of `#`
    int64_t size[128];
    ValueId made[MAX_GRAPH_VALUES];  // operands and results, in their order
    int n_made;
} Case;

// ---- sizes ----

static inline int find_letters(const char *node, char *letters)
{
    bool seen[128] = {false}, quoted = false;
    int n = 0;

    for (const char *s = node; *s; s++) {
        quoted ^= *s == '"';
        if (!quoted && isupper(*s) && !seen[(int)*s])
            letters[n++] = *s;
        seen[(int)*s] = true;
    }
    return n;
}

static inline int64_t draw_middling(Random *r, int n, int64_t volume)
{
    int64_t root = n ? (int64_t)pow((double)volume, 1.0 / n) : 0;

    return root / 2 + draw(r, root + 1);
}

static inline void draw_sizes(Case *c, const char *node, int number)
{
    Random *r = &c->all->r;
    char letters[128];
    int n = find_letters(node, letters), kind = number % N_KINDS;
    int64_t others = 1, *chosen = n ? &c->size[(int)letters[number / N_KINDS % n]] : c->size;

    for (int i = 0; i < n; i++) {
        int64_t *size = &c->size[(int)letters[i]];
        *size = kind == MIDDLING ? draw_middling(r, n, c->all->volume)
                : kind == ODD    ? 1 + 2 * draw(r, n < 4 ? 9 : 4)
                                 : 1 + draw(r, kind == LARGE ? 3 : 6);
        others *= size == chosen ? 1 : *size;
    }
    if (kind == ZERO || kind == ONE)
        *chosen = kind == ONE;
    if (kind == LARGE) {
        int64_t volume = c->all->volume, largest = volume < VOLUME ? SMALL_LARGEST : LARGEST;
        *chosen = (volume / others < largest ? volume / others : largest) - draw(r, 50);
    }
}

// Reads a sum of products of numbers and letters, without brackets.
static inline int64_t read_number(Case *c)
{
    int64_t sum = 0, product = 1;

    for (;; c->at++) {
        bool minus = *c->at == '-';
        int64_t x = isupper(c->at[minus]) ? c->size[(int)c->at[minus]] : 0;
        c->at += minus;
        if (isupper(*c->at))
            c->at++;
        else
            x = strtoll(c->at, (char **)&c->at, 10);
        product *= minus ? -x : x;
        if (*c->at == '*')
            continue;
        sum += product;
        product = 1;
        if (*c->at != '+')
            return sum;
    }
}

// Reads a list like "[A,2*B]".
static inline int read_numbers(Case *c, int64_t *v)
{
    int n = 0;

    for (c->at++; *c->at != ']'; c->at += *c->at == ',')
        v[n++] = read_number(c);
    c->at++;
    return n;
}

static inline const char *read_word(Case *c)
{
    size_t n = strspn(c->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    const char *word = arena_copy(c->all->arena, c->at, n);

    c->at += n;
    return word;
}

static inline DType read_type(Case *c)
{
    if (*c->at != '#')
        return dtype_find(read_word(c));
    c->at++;
    return c->type;
}

// ---- operands ----

static inline Mark read_mark(Case *c)
{
    Mark m = {0};

    if (*c->at && strchr("*~<>=", *c->at)) {
        m.kind = *c->at++;
        m.number = m.kind == '*' ? 0 : read_number(c);
        m.kind = m.kind == '~' && c->all->draws_bits ? '?' : m.kind;
    }
    return m;
}

static inline ValueId add_input(Cases *a, DType t, int rank, const int64_t *dim, Mark m)
{
    const char *name = arena_string(a->arena, "x%d", a->n_inputs);
    ValueId v = graph_value(a->g, VALUE_INPUT, name, t, rank, dim);

    *arena_push(a->arena, a->inputs, a->n_inputs, a->cap_inputs) = (Input){v, m};
    return v;
}

static inline ValueId add_transposed(Case *c, DType t, int rank, const int64_t *dim, Mark m)
{
    int64_t from[MAX_RANK], perm[MAX_RANK] = {0};

    for (int i = 0; i < rank; i++) {
        int j = (int)draw(&c->all->r, i + 1);
        perm[i] = perm[j];
        perm[j] = i;
    }
    for (int i = 0; i < rank; i++)
        from[perm[i]] = dim[i];
    return make_transpose(c->all->g, add_input(c->all, t, rank, from, m), perm);
}

static inline ValueId add_sliced(Case *c, DType t, int rank, const int64_t *dim, Mark m)
{
    int64_t from[MAX_RANK], start[MAX_RANK], stride[MAX_RANK];

    for (int i = 0; i < rank; i++) {
        Random *r = &c->all->r;
        int64_t span = 0, step = draw(r, 3) ? 1 : 2;
        if (dim[i])
            span = (dim[i] - 1) * step;
        stride[i] = draw(r, 4) ? step : -step;
        int64_t low = draw(r, 3);
        start[i] = low + (stride[i] < 0 ? span : 0);
        from[i] = low + span + 2 + draw(r, 2);
    }
    return make_slice(c->all->g, add_input(c->all, t, rank, from, m), start, dim, stride);
}

static inline ValueId add_repeated(Case *c, DType t, int rank, const int64_t *dim, Mark m)
{
    int64_t from[MAX_RANK], dims[MAX_RANK];
    int n = 0, without = (int)draw(&c->all->r, rank);

    for (int i = 0; i < rank; i++)
        if (i != without) {
            dims[n] = i;
            from[n++] = dim[i];
        }
    return make_broadcast(c->all->g, add_input(c->all, t, n, from, m), rank, dim, dims);
}

static inline ValueId read_operand(Case *c)
{
    int64_t dim[MAX_RANK];

    if (*c->at == '_') {
        c->at++;
        return 0;
    }
    if (*c->at == '$')
        return c->made[strtol(c->at + 1, (char **)&c->at, 10)];
    DType t = read_type(c);
    int rank = read_numbers(c, dim);
    Mark m = read_mark(c);
    switch (rank ? draw(&c->all->r, 6) : 0) {
    case 1:
        return add_transposed(c, t, rank, dim, m);
    case 2:
        return add_sliced(c, t, rank, dim, m);
    case 3:
        return add_repeated(c, t, rank, dim, m);
    default:
        return add_input(c->all, t, rank, dim, m);
    }
}

// ---- nodes ----

static inline void read_attr(Case *c, const OpDef *op, Attr *attr)
{
    const char *name = read_word(c);
    int i = 0;

    while (op->attrs[i].name && strcmp(op->attrs[i].name, name))
        i++;
    if (i == MAX_ATTRS || !op->attrs[i].name)
        fail_msg("%s has no attribute %s", op->name, name);
    c->at++;
    if (op->attrs[i].type == ATTR_INTS) {
        int64_t *v = arena_array(c->all->arena, int64_t, MAX_RANK);
        attr[i].n = read_numbers(c, v);
        attr[i].v = v;
    } else if (op->attrs[i].type == ATTR_TEXT) {
        size_t n = strcspn(++c->at, "\"");
        attr[i].s = arena_copy(c->all->arena, c->at, n);
        c->at += n + 1;
    } else if (op->attrs[i].type == ATTR_FLOAT) {
        // A sum that begins with a letter is of sizes; anything else is a decimal number.
        bool has_sizes = isupper(c->at[*c->at == '-']);
        attr[i].f = has_sizes ? (double)read_number(c) : strtod(c->at, (char **)&c->at);
    } else {
        attr[i].i = op->attrs[i].is_dtype ? (int64_t)read_type(c) : read_number(c);
    }
}

static inline const Node *read_node(Case *c)
{
    const OpDef *op = op_find(read_word(c));
    Attr attr[MAX_ATTRS] = {0};
    ValueId in_[MAX_GRAPH_VALUES];
    int n = 0;

    assert_non_null(op);
    for (c->at++; *c->at != ')'; c->at += strspn(c->at, ", "))
        c->made[c->n_made++] = in_[n++] = read_operand(c);
    for (int i = 0; i < MAX_ATTRS && op->attrs[i].name; i++) {
        attr[i].i = op->attrs[i].type == ATTR_INT ? (int64_t)op->attrs[i].missing : 0;
        if (op->attrs[i].type == ATTR_FLOAT)
            attr[i].f = op->attrs[i].missing;
    }
    for (c->at += 1; *c->at == ' ';) {
        c->at++;
        read_attr(c, op, attr);
    }
    ValueId v = graph_node(c->all->g, op, n, in_, attr);
    if (!v)
        return NULL;
    const Node *node = producer(c->all->g, v);
    for (int i = 0; i < node->n_out; i++)
        c->made[c->n_made++] = node->out[i];
    return node;
}

// Reads node `number` of a line and the nodes before its `;`; NULL after an error.
static inline const Node *read_line(Cases *all, const Line *l, int number)
{
    Case c = {.all = all, .at = l->node};
    const char *types[16];
    int n_types = 0;

    for (const char *s = l->types; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        types[n_types++] = arena_copy(all->arena, s, n);
        s += n;
    }
    c.type = dtype_find(types[draw(&all->r, n_types)]);
    draw_sizes(&c, l->node, number);
    for (;; c.at += 2) {
        const Node *n = read_node(&c);
        if (!n || !*c.at)
            return n;
    }
}

// The operator that a line tests: the last one on it.
static inline const OpDef *line_op(Arena *a, const Line *l)
{
    const char *last = strrchr(l->node, ';');
    const char *name = last ? last + 2 : l->node;

    return op_find(arena_copy(a, name, strcspn(name, "(")));
}

// ---- numbers ----

// Draws any float: special, tiny and huge ones too.
static inline double draw_any(Random *r)
{
    static const double special[] = {0, -0.0, 1, -1, 0.5, INFINITY, -INFINITY, NAN, 1e-40, 3e38};

    if (draw(r, 4) == 0)
        return special[draw(r, COUNT(special))];
    return ldexp((double)draw_float(r), (int)draw(r, 60) - 30);
}

// Number i of all bits of a float: those of halves come in another order, those of f32 spread out.
static inline uint32_t bits_in_turn(int64_t i) { return (uint32_t)i * 2654435761U; }

// A float of bits u. The low bits, `low` of them, are next to a tie or to none; i says where.
static inline double number_of_bits(DType t, uint32_t u, int64_t i, int64_t low)
{
    uint32_t half = 1U << low >> 1;
    const uint32_t ends[] = {0, 1, half - 1, half, half + 1, 2 * half - 1};
    float x;

    if (t == BF16)
        return (double)rt_from_bf16((RtBf16){(uint16_t)u});
    if (t == F16)
        return (double)rt_from_f16((RtF16){(uint16_t)u});
    if (low)
        u = u >> low << low | ends[i % COUNT(ends)];
    memcpy(&x, &u, sizeof x);
    return (double)x;
}

static inline double draw_number(Random *r, DType t, int64_t i, Mark m)
{
    if (m.kind == '~' || m.kind == '?') {
        uint32_t u = m.kind == '~' ? bits_in_turn(i) : (uint32_t)draw(r, INT64_C(1) << 32);
        return number_of_bits(t, u, i, m.number);
    }
    if (m.kind == '*')
        return draw_any(r);
    return m.kind == '>' ? 0.1 + 2 * (1 + (double)draw_float(r)) : 2 * (double)draw_float(r);
}

static inline int64_t draw_int(Random *r, DType t, Mark m)
{
    if (t == BOOL)
        return draw(r, 3) != 0;
    if (m.kind == '=')
        return m.number;
    if (m.kind == '<')
        return draw(r, m.number + 2) - 1;
    if (m.kind == '*')
        return (int64_t)((uint64_t)draw(r, INT32_MAX) << 33 ^ (uint64_t)draw(r, INT32_MAX) << 10 ^
                         (uint64_t)draw(r, 1 << 10));
    return draw(r, 11) - 5;
}

static inline Tensor draw_tensor(Arena *a, Random *r, const Value *v, Mark m)
{
    Tensor x = tensor_new(a, v->dtype, v->rank, v->dim);

    for (int64_t i = 0; i < tensor_count(&x); i++) {
        if (x.f)
            x.f[i] = draw_number(r, v->dtype, i, m);
        else
            x.i[i] = draw_int(r, v->dtype, m);
    }
    tensor_round(&x);
    return x;
}

#endif
