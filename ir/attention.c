// What attention and its gradient share: the roles of dims, and a row of probabilities.
#include <math.h>
#include <string.h>

#include "ir/contract.h"

enum { EQ, BIAS_EQ, QUERY, SCALE, CAUSAL, OFFSET, WINDOW };

static bool has(const char *dims, char c) { return strchr(dims, c) != NULL; }

// Letters of `from` that are in each of `in` (NULL ends it) and not in `without`.
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

void attention_read(const Node *n, AttentionDims *a)
{
    equation_read(n->attr[EQ].s, 3, &a->eq);
    snprintf(a->bias, sizeof a->bias, "%s", n->attr[BIAS_EQ].s ? n->attr[BIAS_EQ].s : "");
    roles(a);
    a->query = a->eq.dims[0][n->attr[QUERY].i];
}

// Every letter has exactly one role: batch in all four, query, key, inner or value.
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
        return node_error(g, n, d, "query=%" PRId64 " is no query dim of eq=\"%s\"", query,
                          n->attr[EQ].s);
    return true;
}

static bool check_bias(const Graph *g, const Node *n, const AttentionDims *a, int64_t *size,
                       Diag *d)
{
    const char *text = n->attr[BIAS_EQ].s ? n->attr[BIAS_EQ].s : "";

    if (!n->in[3]) {
        if (*text)
            return node_error(g, n, d, "bias_eq=\"%s\" without a bias", text);
        return true;
    }
    const Value *bias = in(g, n, 3);
    if (bias->dtype != BOOL && bias->dtype != F32 && bias->dtype != in(g, n, 0)->dtype)
        return node_error(g, n, d, "the bias must be f32 or bool, not %s", dtype_name(bias->dtype));
    for (const char *s = text; *s; s++)
        if (!has(a->rows, *s) && !has(a->keys, *s))
            return node_error(g, n, d, "bias_eq=\"%s\": '%c' is no dim of the scores", text, *s);
    return letters_check(g, n, text, d) && letters_bind(g, n, text, bias, size, d);
}

static bool check_numbers(const Graph *g, const Node *n, Diag *d)
{
    const int64_t most = (int64_t)1 << 48;
    const Attr *a = n->attr;

    if (!isfinite(a[SCALE].f))
        return node_error(g, n, d, "the scale is no finite number");
    if (a[OFFSET].i < -most || a[OFFSET].i > most || a[WINDOW].i < 0 || a[WINDOW].i > most)
        return node_error(g, n, d, "offset or window is out of range");
    if (a[WINDOW].i && !a[CAUSAL].i)
        return node_error(g, n, d, "a window needs causal=1");
    return true;
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
    return check_roles(g, n, a, d) && check_bias(g, n, a, size, d) && check_numbers(g, n, d);
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
    // Every other score of a causal square is masked.
    return scores * each * (n->attr[CAUSAL].i ? 0.5 : 1);
}

AttentionRow attention_row(const Graph *g, const Node *n, const Place *p, Arena *a, const Tensor *x)
{
    AttentionRow r = {.causal = n->attr[CAUSAL].i, .scale = n->attr[SCALE].f};

    attention_read(n, &r.dims);
    for (int i = 0; i < 3; i++)
        letters_sizes(r.dims.eq.dims[i], &x[i], r.size);
    r.count = r.size[(int)*r.dims.keys];
    r.p = arena_array(a, double, r.count);
    r.last = n->attr[OFFSET].i;
    r.window = n->attr[WINDOW].i;
    if (p) {
        Rule rule;

        node_rule(g, n, a, &rule);
        r.last += p->offset[rule.dim[0][n->attr[QUERY].i]];
    }
    return r;
}

static double inner_product(AttentionRow *r, const Tensor *q, const Tensor *k)
{
    const AttentionDims *a = &r->dims;
    double sum = 0;

    for (bool e = letters_begin(r->at, a->inner, r->size); e;
         e = letters_next(r->at, a->inner, r->size))
        sum +=
            q->f[letters_at(r->at, a->eq.dims[0], q)] * k->f[letters_at(r->at, a->eq.dims[1], k)];
    return sum;
}

static double score(AttentionRow *r, const Tensor *x, bool has_bias)
{
    int64_t t = r->at[(int)*r->dims.keys], last = r->at[(int)r->dims.query] + r->last;

    if (r->causal && (t > last || (r->window && t <= last - r->window)))
        return -INFINITY;
    double s = r->scale * inner_product(r, &x[0], &x[1]);
    if (!has_bias)
        return s;
    int64_t at = letters_at(r->at, r->dims.bias, &x[3]);
    if (x[3].f)
        return s + x[3].f[at];
    return x[3].i[at] ? s : -INFINITY;
}

void attention_scores(AttentionRow *r, const Node *n, const Tensor *x)
{
    for (int64_t t = 0; t < r->count; t++) {
        r->at[(int)*r->dims.keys] = t;
        r->p[t] = score(r, x, n->in[3] != 0);
    }
}
