// Reads the sample nodes of tests/ir/samples.def, fills their inputs with numbers, and evaluates
// them whole or in shards.
#ifndef SHARDCC_TESTS_IR_SAMPLE_H
#define SHARDCC_TESTS_IR_SAMPLE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/internal.h"

typedef struct SampleText {
    const char *node, *types, *rule;  // rule NULL: a BAD line, whose `types` is the message
} SampleText;

static const SampleText samples[] = {
#define SAMPLE(node, types, rule) {node, types, rule},
#define BAD(node, message) {node, message, NULL},
#include "tests/ir/samples.def"
#undef SAMPLE
#undef BAD
};

enum { SAMPLE_INPUTS = 11 };

// A graph of one node, number 1, and numbers for its inputs. `in` is zero where an input is
// absent.
typedef struct Sample {
    Arena *arena;
    Graph *g;  // NULL: it did not parse, and `message` says why
    const char *message;
    Node node;
    const char *marks[SAMPLE_INPUTS];  // the text after the input's type
    Tensor in[SAMPLE_INPUTS];
} Sample;

static inline bool is_of(const SampleText *t, const OpDef *op)
{
    size_t n = strlen(op->name);

    return strncmp(t->node, op->name, n) == 0 && t->node[n] == '(';
}

// Writes `s`, and writes every f32 as f64 if `wide`.
static inline void put_types(Text *t, const char *s, size_t n, bool wide)
{
    for (size_t i = 0; i < n; i++) {
        if (wide && n - i >= 3 && strncmp(s + i, "f32", 3) == 0) {
            text_put(t, "f64", 3);
            i += 2;
        } else {
            text_put(t, s + i, 1);
        }
    }
}

// Writes a line for each operand to `lines`, and their names to `list`. Returns the text after the
// closing parenthesis.
static inline const char *put_operands(Sample *s, const char *at, bool wide, Text *lines,
                                       Text *list)
{
    for (int i = 0; *at != ')'; i++) {
        assert_true(i < SAMPLE_INPUTS);
        size_t type = strcspn(at, "]_") + 1, mark = strcspn(at + type, ",)");

        if (*at == '_') {
            text_printf(list, "%s_", i ? ", " : "");
        } else {
            text_printf(lines, "  input %%x%d ", i);
            put_types(lines, at, type, wide);
            text_printf(lines, "\n");
            text_printf(list, "%s%%x%d", i ? ", " : "", i);
            s->marks[i] = arena_copy(s->arena, at + type, mark);
        }
        at += type + mark;
        at += strspn(at, ", ");
    }
    return at + 1;
}

// Writes "f32[2], i64[3]" as "%y0 f32[2], %y1 i64[3]".
static inline void put_results(const char *types, bool wide, Text *t)
{
    for (int i = 0; *types; i++) {
        size_t n = strcspn(types, "]") + 1;

        text_printf(t, "%s%%y%d ", i ? ", " : "  ", i);
        put_types(t, types, n, wide);
        types += n;
        types += strspn(types, ", ");
    }
}

static inline const char *graph_text(Sample *s, const SampleText *t, bool wide)
{
    const char *open = strchr(t->node, '(');
    Text text = {0}, list = {0};

    text_printf(&text, "graph \"sample\" {\n");
    const char *attrs = put_operands(s, open + 1, wide, &text, &list);
    if (t->rule)
        put_results(t->types, wide, &text);
    else
        put_results("f32[], f32[], f32[]", false, &text);
    text_printf(&text, " = %.*s(%s)", (int)(open - t->node), t->node, list.n ? list.s : "");
    put_types(&text, attrs, strlen(attrs), wide);
    text_printf(&text, "\n}\n");
    const char *copy = arena_copy(s->arena, text.s, text.n);
    text_free(&text);
    text_free(&list);
    return copy;
}

// Gives distinct numbers in (-2, 2), in an order that depends on `seed`.
static inline double sample_float(int64_t k, int64_t count, int seed)
{
    int64_t step = 7;

    while (count % step == 0)
        step += 2;
    int64_t step_of_range = (k * step + seed) % count;
    return -1.97 + 0.013 * seed + 3.8 * ((double)step_of_range + 0.5) / (double)count;
}

static inline int64_t sample_int(const char *mark, int64_t k, int seed)
{
    int64_t r = (k * 7919 + seed * 104729 + k * k * 31) % 10007;

    if (*mark == '=')
        return atoi(mark + 1);
    if (*mark == '<')
        return r % (atoi(mark + 1) + 2) - 1;
    return r % 11 - 5;
}

static inline Tensor sample_tensor(Arena *a, const Value *v, const char *mark, int seed)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    int64_t count = tensor_count(&t);

    for (int64_t k = 0; k < count; k++) {
        if (t.f)
            t.f[k] = sample_float(k, count, seed) + (*mark == '>' ? 2.2 : 0);
        else
            t.i[k] = v->dtype == BOOL ? (k * 3 + seed) % 5 < 2 : sample_int(mark, k, seed);
    }
    tensor_round(&t);
    return t;
}

static inline Sample sample_read(const SampleText *t, bool wide)
{
    Sample s = {.arena = arena_new()};
    Text messages = {0};
    Diag d = {.file = "sample", .to = &messages};
    const char *text = graph_text(&s, t, wide);

    s.g = graph_parse(s.arena, text, strlen(text), &d);
    if (s.g) {
        s.node = s.g->nodes[1];
        for (int i = 0; i < s.node.n_in; i++)
            if (s.node.in[i])
                s.in[i] = sample_tensor(s.arena, value_of(s.g, s.node.in[i]), s.marks[i], i);
    }
    s.message = messages.n ? arena_copy(s.arena, messages.s, messages.n) : "";
    text_free(&messages);
    return s;
}

static inline void sample_free(Sample *s)
{
    arena_free(s->arena);
    *s = (Sample){0};
}

// Prints why a check does not apply to an operator. The operator's file must give a reason.
static inline void print_reason(const OpDef *op, const char *reason)
{
    if (!reason)
        fail_msg("%s says no reason", op->name);
    print_message("%s: %s\n", op->name, reason);
}

static inline bool is_near(const Tensor *a, const Tensor *b, double tolerance)
{
    if (a->dtype != b->dtype || a->rank != b->rank || tensor_count(a) != tensor_count(b))
        return false;
    for (int64_t k = 0; k < tensor_count(a); k++) {
        if (!a->f && a->i[k] != b->i[k])
            return false;
        if (a->f && a->f[k] != b->f[k] &&
            !(fabs(a->f[k] - b->f[k]) <= tolerance * (1 + fabs(b->f[k]))))
            return false;
    }
    return true;
}

#endif
