// Attention and its gradient: the roles of dims, checks, and the scores of one row.
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/operator/contract.h"
#include "runtime/rt_philox.h"

enum { EQ, BIAS_EQ, QUERY, SCALE, CAUSAL, OFFSET, WINDOW, DROP, DROP_EQ, SITE, LAYER };
enum { MICRO_AXIS = LAYER + 1, MICROS, OUTSIDE, OUTSIDE_ADDED, HIDDEN, HIDDEN_ADDED, ORDER, GUARD };
enum { BIAS = 3, SEED, STEP, MICRO };

static_assert((int)SITE == (int)ATTENTION_SITE, "the order of ATTENTION_ATTRS");

static bool has(const char *dims, char c) { return strchr(dims, c) != NULL; }

// Sets `to` to the letters of `from` that are in every text of `in` (NULL ends it) and not in
// `without`.
static void pick(const char *from, const char *const *in, const char *without, char *to)
{
    for (const char *s = from; *s; s++) {
        bool all = !has(without, *s);

        for (int i = 0; in[i]; i++)
            all = all && has(in[i], *s);
        if (all)
            *to++ = *s;
    }
    *to = 0;
}

static void roles(AttentionDims *a)
{
    const char *q = a->eq.dims[0], *k = a->eq.dims[1], *v = a->eq.dims[2], *y = a->eq.dims[3];

    pick(y, (const char *[]){q, NULL}, "", a->rows);
    pick(q, (const char *[]){y, NULL}, k, a->queries);
    pick(k, (const char *[]){v, NULL}, y, a->keys);
    pick(q, (const char *[]){k, NULL}, y, a->inner);
    pick(v, (const char *[]){y, NULL}, q, a->values);
}

Attention attention_options(const Node *n)
{
    const Attr *a = n->attr;

    return (Attention){
        .eq = a[EQ].s,
        .bias_eq = a[BIAS_EQ].s,
        .query = (int)a[QUERY].i,
        .scale = a[SCALE].f,
        .causal = a[CAUSAL].i,
        .offset = a[OFFSET].i,
        .window = a[WINDOW].i,
        .outside = a[OUTSIDE].f,
        .hidden = a[HIDDEN].f,
        .outside_added = a[OUTSIDE_ADDED].i,
        .hidden_added = a[HIDDEN_ADDED].i,
        .guard = (int)a[GUARD].i,
        .order = (AttentionOrder)a[ORDER].i,
        .drop = {n->in[SEED], n->in[STEP], n->in[MICRO], a[DROP_EQ].s, a[DROP].f, a[SITE].i,
                 a[LAYER].i, a[MICRO_AXIS].i, a[MICROS].i},
    };
}

void attention_read(const Node *n, AttentionDims *a)
{
    equation_read(n->attr[EQ].s, 3, &a->eq);
    snprintf(a->bias, sizeof a->bias, "%s", n->attr[BIAS_EQ].s ? n->attr[BIAS_EQ].s : "");
    snprintf(a->drop, sizeof a->drop, "%s", n->attr[DROP_EQ].s ? n->attr[DROP_EQ].s : "");
    roles(a);
    a->query = a->eq.dims[0][n->attr[QUERY].i];
}

// Does every letter have exactly one role: batch, query, key, inner or value?
static bool check_roles(const Graph *g, const Node *n, const AttentionDims *a, Diag *d)
{
    for (int i = 0; i < 4; i++)
        for (const char *s = a->eq.dims[i]; *s; s++) {
            int in_all = 0;

            for (int j = 0; j < 4; j++)
                in_all += has(a->eq.dims[j], *s);
            if (in_all != 4 && !has(a->queries, *s) && !has(a->keys, *s) && !has(a->inner, *s) &&
                !has(a->values, *s))
                return node_error(g, n, d,
                                  "dim '%c' of eq=\"%s\" is none of batch, query, key, inner and "
                                  "value",
                                  *s, n->attr[EQ].s);
        }
    if (strlen(a->keys) != 1)
        return node_error(g, n, d, "eq=\"%s\" has %d key dims instead of one", n->attr[EQ].s,
                          (int)strlen(a->keys));
    int64_t query = n->attr[QUERY].i;
    if (query < 0 || query >= (int64_t)strlen(a->eq.dims[0]) ||
        !has(a->queries, a->eq.dims[0][query]))
        return node_error(g, n, d, "query=%" PRId64 " is not a query dim of eq=\"%s\"", query,
                          n->attr[EQ].s);
    return true;
}

static bool check_bias(const Graph *g, const Node *n, const AttentionDims *a, int64_t *size,
                       Diag *d)
{
    const char *text = n->attr[BIAS_EQ].s ? n->attr[BIAS_EQ].s : "";

    if (!n->in[BIAS]) {
        if (*text)
            return node_error(g, n, d, "bias_eq=\"%s\" without a bias", text);
        return true;
    }
    const Value *bias = in(g, n, BIAS);
    if (bias->dtype != BOOL && bias->dtype != F32 && bias->dtype != in(g, n, 0)->dtype)
        return node_error(g, n, d, "the bias must be f32 or bool, not %s", dtype_name(bias->dtype));
    for (const char *s = text; *s; s++)
        if (!has(a->rows, *s) && !has(a->keys, *s))
            return node_error(g, n, d, "bias_eq=\"%s\": '%c' is not a dim of the scores", text, *s);
    return letters_check(g, n, text, d) && letters_bind(g, n, text, bias, size, d);
}

// Checks dropout: its random numbers must have all dims of the scores.
static bool check_drop(const Graph *g, const Node *n, const AttentionDims *a, const int64_t *size,
                       Diag *d)
{
    const char *text = n->attr[DROP_EQ].s ? n->attr[DROP_EQ].s : "";
    int64_t axis = n->attr[MICRO_AXIS].i, whole = n->attr[MICROS].i;
    size_t rank = strlen(a->rows) + strlen(a->keys);
    double rate = n->attr[DROP].f;

    if (!n->in[SEED] || !n->in[STEP] || !n->in[MICRO])
        return (!*text && rate == 0 && !n->in[SEED] && !n->in[STEP] && !n->in[MICRO]) ||
               node_error(g, n, d, "dropout needs seed, step and micro");
    if (!infer_draw(g, n, SEED, SITE, n->attr[MICROS].i, d) || !letters_check(g, n, text, d))
        return false;
    if (!(rate >= 0 && rate < 1))
        return node_error(g, n, d, "drop=%g is not in [0, 1)", rate);
    for (const char *s = text; *s; s++)
        if (!has(a->rows, *s) && !has(a->keys, *s))
            return node_error(g, n, d, "drop_eq=\"%s\": '%c' is not a dim of the scores", text, *s);
        else if (size[(int)*s] && !mul_size(whole, size[(int)*s], &whole))
            return node_error(g, n, d, "the whole batch has too many elements");
    if (strlen(text) != rank)
        return node_error(g, n, d, "drop_eq=\"%s\" lacks a dim of the scores", text);
    if (axis < -1 || axis > (int64_t)rank)
        return node_error(g, n, d, "micro_axis=%" PRId64 " is not a position in drop_eq=\"%s\"",
                          axis, text);
    return true;
}

// Checks a mask's number; `is_used`: are there scores that it masks?
static bool check_mask(const Graph *g, const Node *n, int number, int added, bool is_used, Diag *d)
{
    const char *name = n->op->attrs[number].name;
    double x = n->attr[number].f;

    if (!(x <= 0 && x >= -DBL_MAX))
        return node_error(g, n, d, "%s=%g is not a finite number below 0, or 0 for -inf", name, x);
    if ((x != 0 && !is_used) || (x == 0 && n->attr[added].i))
        return node_error(g, n, d, "%s without %s", x ? name : n->op->attrs[added].name,
                          x ? "scores that it masks" : name);
    return true;
}

static bool check_masks(const Graph *g, const Node *n, Diag *d)
{
    const Attr *a = n->attr;
    bool hides = n->in[BIAS] && in(g, n, BIAS)->dtype == BOOL, is_causal = a[CAUSAL].i;

    if (!check_mask(g, n, OUTSIDE, OUTSIDE_ADDED, is_causal, d) ||
        !check_mask(g, n, HIDDEN, HIDDEN_ADDED, hides, d))
        return false;
    if (a[ORDER].i < LIMITS_LAST || a[ORDER].i > MASKED_ONCE ||
        (a[ORDER].i && !(is_causal && n->in[BIAS])))
        return node_error(g, n, d, "order=%" PRId64 " is none of limits and a bias", a[ORDER].i);
    if (a[GUARD].i < 0 || a[GUARD].i > 2)
        return node_error(g, n, d, "guard=%" PRId64 " is none of 0 to 2", a[GUARD].i);
    if (a[ORDER].i == MASKED_ONCE &&
        (!hides || a[OUTSIDE].f != a[HIDDEN].f || !a[OUTSIDE_ADDED].i != !a[HIDDEN_ADDED].i))
        return node_error(g, n, d, "order=%d needs limits and a bool bias that mask alike",
                          MASKED_ONCE);
    return true;
}

static bool check_numbers(const Graph *g, const Node *n, Diag *d)
{
    const int64_t most = (int64_t)1 << 48;
    const Attr *a = n->attr;

    if (!isfinite(a[SCALE].f))
        return node_error(g, n, d, "the scale is not a finite number");
    if (a[OFFSET].i < -most || a[OFFSET].i > most || a[WINDOW].i < 0 || a[WINDOW].i > most)
        return node_error(g, n, d, "offset or window is out of range");
    if (a[WINDOW].i && !a[CAUSAL].i)
        return node_error(g, n, d, "a window needs causal=1");
    return check_masks(g, n, d);
}

bool infer_attention(const Graph *g, const Node *n, AttentionDims *a, int64_t *size, Diag *d)
{
    DType t = in(g, n, 0)->dtype;

    if (!dtype_is_float(t) || in(g, n, 1)->dtype != t || in(g, n, 2)->dtype != t)
        return node_error(g, n, d, "needs q, k and v of one float type, not %s, %s and %s",
                          dtype_name(t), dtype_name(in(g, n, 1)->dtype),
                          dtype_name(in(g, n, 2)->dtype));
    if (!equation_infer(g, n, n->attr[EQ].s, 3, &a->eq, size, d))
        return false;
    roles(a);
    return check_roles(g, n, a, d) && check_bias(g, n, a, size, d) &&
           check_drop(g, n, a, size, d) && check_numbers(g, n, d);
}

void rule_attention(const Graph *g, const Node *n, const char *text, Rule *r)
{
    AttentionDims a;

    attention_read(n, &a);
    rule_set(g, n, r, text);
    rule_kind(r, *a.keys, FACTOR_BLOCKED);
    for (const char *s = a.inner; *s; s++)
        rule_kind(r, *s, FACTOR_BLOCKED);
    for (const char *s = a.values; *s; s++)
        rule_kind(r, *s, FACTOR_BLOCKED);
}

static double count_of(const char *dims, const int64_t *size)
{
    double count = 1;

    for (; *dims; dims++)
        count *= (double)size[(int)*dims];
    return count;
}

double work_attention(const Graph *g, const Node *n, int inner, int values)
{
    int64_t size[N_LETTERS];
    AttentionDims a;

    attention_read(n, &a);
    for (int i = 0; i < 3; i++)
        for (int j = 0; a.eq.dims[i][j]; j++)
            size[(int)a.eq.dims[i][j]] = in(g, n, i)->dim[j];
    double scores = count_of(a.rows, size) * count_of(a.keys, size);
    double each = 2 * (inner * count_of(a.inner, size) + values * count_of(a.values, size));
    // Half of the scores of a causal square are masked.
    return scores * each * (n->attr[CAUSAL].i ? 0.5 : 1);
}

AttentionRow attention_row(Arena *a, const Graph *g, const Node *n, const NodeShard *p,
                           const Tensor *x)
{
    AttentionRow r = {.options = attention_options(n)};
    Rule rule;

    attention_read(n, &r.dims);
    for (int i = 0; i < 3; i++)
        letters_sizes(r.dims.eq.dims[i], &x[i], r.size);
    r.count = r.size[(int)*r.dims.keys];
    r.p = arena_array(a, double, r.count);
    r.keep = arena_array(a, double, r.count);
    r.is_set = arena_array(a, bool, r.count);
    node_rule(a, g, n, &rule);
    for (int i = 0; i < rule.n_factors; i++) {
        r.offset[(int)rule.letter[i]] = p ? p->offset[i] : 0;
        r.whole[(int)rule.letter[i]] = p ? p->whole[i] : rule.size[i];
    }
    return r;
}

// A score and whether a mask's number replaced it. Scores are rounded as in the kernels, those of
// halves to f32: a score that is too small next to a number added to it has no effect.
typedef struct Score {
    DType type;
    double s;
    bool is_set;
} Score;

static void add(Score *x, double number) { x->s = round_float(x->type, x->s + number); }

static void mask(Score *x, double number, bool is_added)
{
    if (is_added) {
        add(x, number);
        return;
    }
    x->s = number == 0 ? -INFINITY : round_float(x->type, number);
    x->is_set = true;
}

static bool is_outside(const AttentionRow *r)
{
    const Attention *o = &r->options;
    int query = r->dims.query;
    int64_t t = r->at[(int)*r->dims.keys], last = r->at[query] + r->offset[query] + o->offset;

    return o->causal && (t > last || (o->window && t <= last - o->window));
}

// The score of query row r->at and its key.
static Score score(AttentionRow *r, const Tensor *x, bool has_bias)
{
    const Attention *o = &r->options;
    Score s = {.type = dtype_is_half(x[0].dtype) ? F32 : x[0].dtype};
    int64_t at = has_bias ? letters_at(r->at, r->dims.bias, &x[BIAS]) : 0;
    bool outside = is_outside(r), hidden = has_bias && !x[BIAS].f && !x[BIAS].i[at];
    double product = letters_dot(r->at, r->dims.inner, r->size, r->dims.eq.dims[0], &x[0],
                                 r->dims.eq.dims[1], &x[1]);

    s.s = round_float(s.type, o->scale * product);
    if (outside && o->order == LIMITS_FIRST)
        mask(&s, o->outside, o->outside_added);
    if (hidden)
        mask(&s, o->hidden, o->hidden_added);
    else if (has_bias && x[BIAS].f)
        add(&s, x[BIAS].f[at]);
    if (outside && (o->order == LIMITS_LAST || (o->order == MASKED_ONCE && !hidden)))
        mask(&s, o->outside, o->outside_added);
    return s;
}

// Dropout's factor of a score's weight. In the index of the random number, the micro-batch is one
// more dim before dim micro_axis.
static double kept(const AttentionRow *r, const Tensor *x)
{
    const Dropout *o = &r->options.drop;
    int64_t element = 0;

    if (!o->seed)
        return 1;
    for (int i = 0; i == 0 || r->dims.drop[i - 1]; i++) {
        int c = r->dims.drop[i];
        if (i == o->micro_axis)
            element = element * o->micro_batches + x[MICRO].i[0];
        if (c)
            element = element * r->whole[c] + r->offset[c] + r->at[c];
    }
    float u = rt_uniform(x[SEED].i[0], x[STEP].i[0], o->site, o->layer, element);
    return u < (float)o->rate ? 0 : 1 / (1 - o->rate);
}

void attention_scores(AttentionRow *r, const Node *n, const Tensor *x)
{
    for (int64_t t = 0; t < r->count; t++) {
        r->at[(int)*r->dims.keys] = t;
        Score s = score(r, x, n->in[BIAS] != 0);
        r->p[t] = s.s;
        r->is_set[t] = s.is_set;
        r->keep[t] = kept(r, x);
    }
}
