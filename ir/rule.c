// Factor rules: reads them from text and prints them as text.
#include "ir/internal.h"

#include <assert.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

static int factor_of(Rule *r, char letter, int64_t size)
{
    for (int i = 0; i < r->n_factors; i++) {
        if (r->letter[i] == letter)
            return i;
    }
    assert(r->n_factors < MAX_FACTORS);
    r->letter[r->n_factors] = letter;
    r->size[r->n_factors] = size;
    r->kind[r->n_factors] = FACTOR_SUM;  // until the letter is seen in an output
    return r->n_factors++;
}

void rule_set(const Graph *g, const Node *n, Rule *r, const char *text)
{
    int at = 0, dim = 0;

    r->n_factors = 0;
    for (const char *s = text; *s; s++) {
        if (*s == '.')
            continue;
        if (*s == ',' || *s == '-') {
            // A source has no inputs: its text begins with the arrow.
            bool is_first = s == text && !n->n_in;
            assert(is_first || dim == value_of(g, nth_operand(n, at))->rank);
            at += !is_first;
            dim = 0;
            s += *s == '-';
            continue;
        }
        assert(at < n->n_in + n->n_out);
        const Value *v = value_of(g, nth_operand(n, at));
        assert(dim < v->rank);
        int f = factor_of(r, *s, v->dim[dim]);
        r->dim[at][dim++] = (int8_t)f;
        if (at >= n->n_in)
            r->kind[f] = FACTOR_PARALLEL;
    }
    assert(at == n->n_in + n->n_out - 1);
}

void rule_kind(Rule *r, char letter, FactorKind kind)
{
    for (int i = 0; i < r->n_factors; i++) {
        if (r->letter[i] == letter)
            r->kind[i] = kind;
    }
}

void rule_elementwise(const Graph *g, const Node *n, Rule *r)
{
    Text t = {0};

    for (int i = 0; i < n->n_in; i++) {
        text_put(&t, ",", i > 0);
        text_put(&t, letters, (size_t)in(g, n, i)->rank);
    }
    text_put(&t, "->", 2);
    text_put(&t, letters, (size_t)out(g, n)->rank);
    rule_set(g, n, r, t.s);
    text_free(&t);
}

void node_rule(Arena *a, const Graph *g, const Node *n, Rule *r)
{
    *r = (Rule){.n_in = n->n_in, .n_out = n->n_out};
    r->dim = arena_alloc(a, (size_t)(n->n_in + n->n_out), sizeof *r->dim);
    // Entries beyond an operand's rank stay -1.
    memset(r->dim, -1, (size_t)(n->n_in + n->n_out) * sizeof *r->dim);
    if (n->op->rule)
        n->op->rule(g, n, r);
    else
        rule_elementwise(g, n, r);
}

static void print_operand(const Rule *r, int at, Text *t)
{
    for (int i = 0; i < MAX_RANK && r->dim[at][i] >= 0; i++)
        text_put(t, &r->letter[r->dim[at][i]], 1);
}

static void print_kinds(const Rule *r, Text *t)
{
    static const char *const names[] = {"parallel", "sum",    "max",    "min",
                                        "masked",   "window", "blocked"};

    for (int kind = FACTOR_SUM; kind <= FACTOR_BLOCKED; kind++) {
        bool first = true;
        for (int i = 0; i < r->n_factors; i++) {
            if ((int)r->kind[i] != kind)
                continue;
            if (first)
                text_printf(t, " %s:", names[kind]);
            text_put(t, &r->letter[i], 1);
            first = false;
        }
    }
}

// Prints inputs in which the operator is jointly linear with '+' between them, alternatives with
// '|'.
static void print_linear(const Rule *r, Text *t)
{
    const char *before = " linear:";

    for (int i = 0; i < r->n_in && i < 64; i++) {
        if (r->joint >> i & 1) {
            text_printf(t, "%s%d", before, i);
            before = "+";
        }
    }
    if (r->joint)
        before = "|";
    for (int i = 0; i < r->n_in && i < 64; i++) {
        if (r->single >> i & 1) {
            text_printf(t, "%s%d", before, i);
            before = "|";
        }
    }
}

void rule_print(const Rule *r, Text *t)
{
    for (int i = 0; i < r->n_in + r->n_out; i++) {
        if (i == r->n_in)
            text_put(t, "->", 2);
        else if (i)
            text_put(t, ",", 1);
        print_operand(r, i, t);
    }
    print_kinds(r, t);
    print_linear(r, t);
}
