// Builds the attention node of the pattern: operands over atoms, their letters, and the attributes.
#include <math.h>
#include <string.h>

#include "ir/patterns/attention.h"

enum { OF_Q = 1, OF_K = 2, OF_V = 4, OF_Y = 8 };
enum { BATCH = OF_Q | OF_K | OF_V | OF_Y, QUERY = OF_Q | OF_Y, KEY = OF_K | OF_V };
enum { INNER = OF_Q | OF_K, VALUE = OF_V | OF_Y, MAX_LETTERS = 6 * MAX_RANK };

typedef struct Operand {
    ValueId v;  // in the new graph
    int n;
    int32_t leaf[MAX_RANK];
    char letters[MAX_RANK + 1];
} Operand;

// The atoms of all operands: which operands have each of them, and its letter.
typedef struct Letters {
    int n;
    int32_t leaf[MAX_LETTERS];
    unsigned of[MAX_LETTERS];
    char letter[MAX_LETTERS];
} Letters;

static int letter_at(Letters *l, int32_t leaf)
{
    for (int i = 0; i < l->n; i++)
        if (l->leaf[i] == leaf)
            return i;
    l->leaf[l->n] = leaf;
    l->of[l->n] = 0;
    return l->n++;
}

static void letters_add(Letters *l, const Operand *o, unsigned of)
{
    for (int i = 0; i < o->n; i++)
        l->of[letter_at(l, o->leaf[i])] |= of;
}

static void letters_write(Letters *l, Operand *o)
{
    for (int i = 0; i < o->n; i++)
        o->letters[i] = l->letter[letter_at(l, o->leaf[i])];
    o->letters[o->n] = 0;
}

// The query dim that has positions: the masks' dim, else the last query dim of the scores.
static int32_t query_leaf(Found *f, Letters *l)
{
    const Node *n = producer(f->m->g, f->inside);
    int32_t query = 0, leaf[MAX_RANK];

    if (f->query)
        return leaf_of(&f->r, f->query);
    for (int i = 0; i < out(f->m->g, n)->rank; i++) {
        int count = term_leaves(&f->r, f->dim[i], leaf, MAX_RANK);
        for (int k = 0; k < count && k < MAX_RANK; k++)
            if (l->of[letter_at(l, leaf[k])] == QUERY)
                query = leaf[k];
    }
    return query;
}

// Gives each atom its letter. False if an atom has a role that attention doesn't know.
static bool name_letters(Found *f, Letters *l, int32_t query)
{
    const char *next = "bhgnmklopqruvwxyzacdijABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int n_inner = 0, n_value = 0;

    if (l->n > MAX_FACTORS)
        return false;
    for (int i = 0; i < l->n; i++) {
        bool is_key = l->leaf[i] == leaf_of(&f->r, f->key);

        if ((l->of[i] == KEY) != is_key)
            return false;
        if (l->of[i] == INNER && n_inner++ == 0)
            l->letter[i] = 'e';
        else if (l->of[i] == VALUE && n_value++ == 0)
            l->letter[i] = 'f';
        else if (is_key)
            l->letter[i] = 't';
        else if (l->leaf[i] == query && l->of[i] == QUERY)
            l->letter[i] = 's';
        else if (l->of[i] == BATCH || l->of[i] == QUERY || l->of[i] == INNER || l->of[i] == VALUE)
            l->letter[i] = *next++;
        else
            return false;
    }
    return n_inner && n_value;
}

static void set_number(const Masking *m, double *number, bool *is_added)
{
    *number = m->number == -INFINITY ? 0 : m->number;
    *is_added = m->is_added;
}

// Turns the limits of t - s into causal, offset and window. False if all keys would be masked.
static bool set_limits(Found *f, int32_t query, Attention *a)
{
    int64_t n_s = f->r.terms[query].size, n_t = f->r.terms[leaf_of(&f->r, f->key)].size;
    bool is_causal = f->high<n_t - 1, has_window = f->low> 1 - n_s;

    if (!is_causal && !has_window)
        return true;
    a->causal = true;
    a->offset = is_causal ? f->high : n_t - 1;
    a->window = has_window ? a->offset + 1 - f->low : 0;
    set_number(&f->limits, &a->outside, &a->outside_added);
    a->order = order_of(f);
    return !has_window || a->window > 0;
}

// Is v read by a transpose next? Then the result gets its dims in the order that q has before its
// own transposes, so that the two transposes cancel.
static bool is_transposed_next(const Match *m, ValueId v)
{
    for (NodeId i = producer(m->g, v) - m->g->nodes + 1; i < m->g->n_nodes; i++) {
        const Node *n = &m->g->nodes[i];

        if (n->n_in != 1 || n->in[0] != v)
            continue;
        if (m->uses[v] != 1)
            return false;
        if (n->op == &op_transpose)
            return true;
        if (n->op != &op_reshape)
            return false;
        v = n->out[0];
    }
    return false;
}

static void order_like_q(const Letters *l, const Operand *q, const Operand *wanted, Operand *y)
{
    Letters at = *l;
    bool done = false;

    y->n = 0;
    for (int i = 0; i < q->n; i++) {
        if (at.of[letter_at(&at, q->leaf[i])] != INNER) {
            y->leaf[y->n++] = q->leaf[i];
            continue;
        }
        for (int k = 0; k < wanted->n && !done; k++)
            if (at.of[letter_at(&at, wanted->leaf[k])] == VALUE)
                y->leaf[y->n++] = wanted->leaf[k];
        done = true;
    }
}

static bool build_operand(Found *f, const View *w, Operand *o)
{
    o->v = view_build(f->m, &f->r, w, &o->n, o->leaf);
    return o->v != 0;
}

static bool build_bias(Found *f, Letters *l, Operand *bias, Attention *a)
{
    if (!f->has_bias)
        return true;
    if (!build_operand(f, &f->bias, bias))
        return false;
    for (int i = 0; i < bias->n; i++) {
        unsigned of = l->of[letter_at(l, bias->leaf[i])];
        if (of != BATCH && of != QUERY && of != KEY)
            return false;
    }
    letters_write(l, bias);
    if (f->keeps)
        set_number(&f->bias_masking, &a->hidden, &a->hidden_added);
    if (f->keeps && f->is_inverted)
        bias->v = make_not(f->m->r->to, bias->v);
    return true;
}

// Sets drop_eq, the letters of the random numbers' dims, and micro_axis.
static bool name_drop(Found *f, Letters *l, Attention *a)
{
    Operand drop = {0};
    int axis = -1;

    a->drop = f->drop;
    for (int i = 0; i < f->drop_rank; i++) {
        if (i == f->drop.micro_axis)
            axis = drop.n;
        drop.n += term_leaves(&f->r, f->drop_dim[i], drop.leaf + drop.n, MAX_RANK - drop.n);
        if (drop.n > MAX_RANK)
            return false;
    }
    for (int i = 0; i < drop.n; i++) {
        unsigned of = l->of[letter_at(l, drop.leaf[i])];
        if (of != BATCH && of != QUERY && of != KEY)
            return false;
    }
    letters_write(l, &drop);
    a->drop.eq = f->drop.seed ? arena_string(f->m->arena, "%s", drop.letters) : NULL;
    a->drop.micro_axis = axis;
    return true;
}

// Rearranges the result to the dims of the second product's result.
static ValueId arrange(const Match *m, const Node *n, ValueId v, const Operand *y,
                       const Operand *wanted)
{
    const Value *x = out(m->g, n);
    int64_t perm[MAX_RANK];
    bool same = true;

    for (int i = 0; i < wanted->n; i++) {
        for (int k = 0; k < y->n; k++)
            if (y->leaf[k] == wanted->leaf[i])
                perm[i] = k;
        same &= perm[i] == i;
    }
    if (!same)
        v = make_transpose(m->r->to, v, perm);
    return same_shape(value_of(m->r->to, v), x) ? v : make_reshape(m->r->to, v, x->rank, x->dim);
}

bool attention_build(Found *f, const Node *n, const int32_t *dim)
{
    const Match *m = f->m;
    Operand q = {0}, k = {0}, v = {0}, bias = {0}, y = {0}, wanted = {0};
    Letters l = {0};

    for (int i = 0; i < out(m->g, n)->rank; i++) {
        wanted.n += term_leaves(&f->r, dim[i], wanted.leaf + wanted.n, MAX_RANK - wanted.n);
        if (wanted.n > MAX_RANK)
            return false;
    }
    if (!build_operand(f, &f->q, &q) || !build_operand(f, &f->k, &k) ||
        !build_operand(f, &f->v, &v))
        return false;
    letters_add(&l, &q, OF_Q);
    letters_add(&l, &k, OF_K);
    letters_add(&l, &v, OF_V);
    letters_add(&l, &wanted, OF_Y);
    int32_t query = query_leaf(f, &l);
    Attention a = {.scale = f->scale, .guard = f->guard};
    if (!query || !name_letters(f, &l, query) || !build_bias(f, &l, &bias, &a) ||
        !set_limits(f, query, &a) || !name_drop(f, &l, &a))
        return false;
    y = wanted;
    if (is_transposed_next(m, n->out[0]))
        order_like_q(&l, &q, &wanted, &y);
    letters_write(&l, &q);
    letters_write(&l, &k);
    letters_write(&l, &v);
    letters_write(&l, &y);
    const char *s = strchr(q.letters, 's');
    if (!s)
        return false;
    a.query = (int)(s - q.letters);
    a.eq = arena_string(m->arena, "%s,%s,%s->%s", q.letters, k.letters, v.letters, y.letters);
    a.bias_eq = bias.v ? bias.letters : NULL;
    ValueId result = make_attention(m->r->to, q.v, k.v, v.v, bias.v, &a);
    return result && replace(m, n, arrange(m, n, result, &y, &wanted));
}
