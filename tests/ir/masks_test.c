// Tests masks of attention: what the pass patterns makes of them against the same graph without the
// pass, for every form of a mask, alone and with a second one, and rows that see no key, one
// or all. Compares the output and the gradients of q, k and v, and some of these with differences.
//
// Scores are exact in f32, so both graphs round alike what masks add to them.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/internal.h"

enum { B = 4, H = 2, S = 4, E = 2, KINDS = 13, FORMS = 8 };

static int n_keys = 5;  // T

// Which scores a mask keeps.
typedef enum Kind {
    NONE,
    CAUSAL,       // t ≤ s
    STRICT,       // t < s: the first row sees no key
    LATER,        // t ≤ s - 2: two rows see no key
    WINDOW,       // s - 1 ≤ t ≤ s
    PAST_WINDOW,  // s - 3 ≤ t ≤ s - 2
    BY_KEY,       // [b,t], an input: padding on the left, keys of all rows, of none, one key
    BY_QUERY,     // [b,s]
    BY_BOTH,      // [b,s,t]
    BY_HEAD,      // [h,t]
    BY_BATCH,     // [b]
    BY_SEGMENT,   // queries and keys of one segment, of which some have no key
    BY_ALL,       // [b,h,s,t]
} Kind;

// How a mask is applied with its number n.
typedef enum Form {
    SELECTED,       // keep ? x : n
    FILLED,         // !keep ? n : x
    ADDED,          // x + (keep ? 0 : n)
    ADDED_FILLED,   // x + (!keep ? n : 0)
    ADDED_PRODUCT,  // x + (1 - keep) n
    MULTIPLIED,     // x keep + (1 - keep) n
    AS_DATA,        // x + an input that is 0 or n
    ADDED_TWICE,    // x + ((keep ? 0 : n) + (keep ? 0 : n))
} Form;

// How two masks are combined.
typedef enum Join { ONE_BY_ONE, AS_ONE_CONDITION, ADDED_NESTED, ADDED_SUM, JOINS } Join;

typedef struct Mask {
    Kind kind;
    Form form;
    double number;
} Mask;

typedef struct Case {
    Mask mask[2];
    Join join;
    bool guard;
    DType type;
} Case;

typedef struct Built {
    Arena *a;
    Graph *g;
    Diag d;
    ValueId scores;
    const Case *c;
} Built;

// ---- building ----

static ValueId input(Built *b, DType t, int rank, const int64_t *dim, const char *name, ValueKind k)
{
    return graph_value(b->g, k, name, t, rank, dim);
}

static ValueId iota(Built *b, int axis)
{
    return make_iota(b->g, I64, 4, (int64_t[]){B, H, S, n_keys}, axis);
}

static ValueId int_like(Built *b, ValueId x, int64_t c) { return scalar_like(b->g, x, (double)c); }

// low ≤ t - s ≤ high
static ValueId between(Built *b, int64_t low, int64_t high)
{
    Graph *g = b->g;
    ValueId d = make_sub(g, iota(b, 3), iota(b, 2));
    ValueId below = make_le(g, d, int_like(b, d, high));

    return low < -S ? below : make_and(g, make_le(g, int_like(b, d, low), d), below);
}

static ValueId spread(Built *b, DType t, const char *letters, const char *name)
{
    int64_t dim[4], dims[4];
    const int64_t all[] = {B, H, S, n_keys};
    int n = 0;

    for (int i = 0; i < 4; i++)
        if (strchr(letters, "bhst"[i])) {
            dim[n] = all[i];
            dims[n++] = i;
        }
    return make_broadcast(b->g, input(b, t, n, dim, name, VALUE_INPUT), 4, all, dims);
}

static const char *const letters_of[KINDS] = {
    [BY_KEY] = "bt",  [BY_QUERY] = "bs",    [BY_BOTH] = "bst", [BY_HEAD] = "ht",
    [BY_BATCH] = "b", [BY_SEGMENT] = "bst", [BY_ALL] = "bhst"};

// True where scores stay.
static ValueId keep_of(Built *b, const Mask *m, int i)
{
    switch (m->kind) {
    case CAUSAL:
        return between(b, -2 * n_keys, 0);
    case STRICT:
        return between(b, -2 * n_keys, -1);
    case LATER:
        return between(b, -2 * n_keys, -2);
    case WINDOW:
        return between(b, -1, 0);
    case PAST_WINDOW:
        return between(b, -3, -2);
    case BY_SEGMENT: {
        ValueId q = spread(b, I64, "bs", i ? "qsegment1" : "qsegment0");
        return make_eq(b->g, q, spread(b, I64, "bt", i ? "ksegment1" : "ksegment0"));
    }
    default:
        return spread(b, BOOL, letters_of[m->kind], i ? "keep1" : "keep0");
    }
}

// The addend of scores.
static ValueId addend(Built *b, const Mask *m, ValueId keep, ValueId kept)
{
    Graph *g = b->g;
    ValueId n = scalar_like(g, b->scores, m->number), zero = scalar_like(g, b->scores, 0);

    kept = kept ? kept : zero;
    if (m->form == ADDED_FILLED)
        return make_select(g, make_not(g, keep), n, kept);
    if (m->form == ADDED_PRODUCT)
        return make_mul(g, make_sub(g, scalar_like(g, zero, 1), make_cast(g, keep, b->c->type)), n);
    ValueId x = make_select(g, keep, kept, n);
    return m->form == ADDED_TWICE ? make_add(g, x, x) : x;
}

static ValueId apply(Built *b, const Mask *m, int i, ValueId x)
{
    Graph *g = b->g;

    if (m->kind == NONE)
        return x;
    if (m->form == AS_DATA)
        return make_add(g, x, spread(b, b->c->type, letters_of[m->kind], i ? "data1" : "data0"));
    ValueId keep = keep_of(b, m, i), n = scalar_like(g, x, m->number);
    if (m->form == SELECTED)
        return make_select(g, keep, x, n);
    if (m->form == FILLED)
        return make_select(g, make_not(g, keep), n, x);
    if (m->form == MULTIPLIED)
        x = make_mul(g, x, make_cast(g, keep, b->c->type));
    Mask as = *m;
    as.form = m->form == MULTIPLIED ? ADDED_PRODUCT : m->form;
    return make_add(g, x, addend(b, &as, keep, 0));
}

static ValueId apply_both(Built *b, ValueId x)
{
    const Mask *m = b->c->mask;
    Graph *g = b->g;

    if (b->c->join == ONE_BY_ONE)
        return apply(b, &m[1], 1, apply(b, &m[0], 0, x));
    ValueId keep0 = keep_of(b, &m[0], 0), keep1 = keep_of(b, &m[1], 1);
    if (b->c->join == AS_ONE_CONDITION)
        return make_select(g, make_and(g, keep0, keep1), x, scalar_like(g, x, m[0].number));
    ValueId inner = addend(b, &m[0], keep0, 0);
    if (b->c->join == ADDED_NESTED)
        return make_add(g, x, addend(b, &m[1], keep1, inner));
    return make_add(g, x, make_add(g, inner, addend(b, &m[1], keep1, 0)));
}

static Built build(const Case *c, bool fused)
{
    Built b = {.a = arena_new(), .d = {.file = "masks"}, .c = c};
    const int64_t q_dim[] = {B, H, S, E}, k_dim[] = {B, H, n_keys, E};

    b.g = graph_new(b.a, "masks");
    b.g->diag = &b.d;
    b.g->training = true;
    ValueId q = input(&b, c->type, 4, q_dim, "q", VALUE_PARAMETER);
    ValueId k = input(&b, c->type, 4, k_dim, "k", VALUE_PARAMETER);
    ValueId v = input(&b, c->type, 4, k_dim, "v", VALUE_PARAMETER);
    b.scores = make_dot(b.g, q, k, "bhse,bhte->bhst");
    b.scores = make_mul(b.g, b.scores, scalar_like(b.g, b.scores, 0.5));
    ValueId p = make_softmax(b.g, apply_both(&b, b.scores), 3);
    if (c->guard)
        p = make_select(b.g, make_is_nan(b.g, p), scalar_like(b.g, p, 0), p);
    graph_output(b.g, "y", make_dot(b.g, p, v, "bhst,bhte->bhse"), OUTPUT_MODEL);
    assert_true(fold(b.g, &b.d) && loss_add(b.g, "mse(y, t)", &b.d));
    assert_true((!fused || patterns(b.g, &b.d)) && guards(b.g, &b.d) && simplify(b.g, &b.d));
    assert_true(autodiff(b.g, 1, &b.d) && graph_verify(b.g, &b.d));
    return b;
}

// ---- numbers ----

static uint64_t draw(const char *name, int64_t i)
{
    return hash_bytes(name, strlen(name), (uint64_t)i + 7) % 1000;
}

// One sample is padding alone, one has one key, one all, one some.
static bool keeps(const char *name, int64_t i, int64_t n)
{
    int64_t sample = i * B / n, rest = i - sample * n / B;

    return sample == 0 ? false : sample == 1 ? rest == 1 : sample == 2 ? true : draw(name, i) < 500;
}

static bool is_zero(const Tensor *x)
{
    for (int64_t i = 0; x && i < tensor_count(x); i++)
        if (x->f[i] != 0)
            return false;
    return true;
}

static double number_of(const Case *c, const Value *x, int64_t i, int64_t n)
{
    const char *name = x->name;

    if (!strncmp(name, "keep", 4))
        return keeps(name, i, n);
    if (!strncmp(name, "data", 4))
        return keeps(name, i, n) ? 0 : c->mask[name[4] - '0'].number;
    if (strstr(name, "segment"))
        return (double)(draw(name, i) % 3 + (*name == 'q'));
    return (double)((int64_t)(draw(name, i) % 17) - 8) / 4;
}

static Tensor *fill(const Built *b)
{
    Tensor *t = arena_array(b->a, Tensor, b->g->n_values);

    for (ValueId v = 1; v < b->g->n_values; v++) {
        const Value *x = value_of(b->g, v);
        if (x->producer || x->kind == VALUE_CONSTANT || x->kind == VALUE_ZERO)
            continue;
        t[v] = tensor_new(b->a, x->dtype, x->rank, x->dim);
        int64_t n = tensor_count(&t[v]);
        for (int64_t i = 0; i < n; i++)
            if (t[v].f)
                t[v].f[i] = number_of(b->c, x, i, n);
            else
                t[v].i[i] = (int64_t)number_of(b->c, x, i, n);
    }
    return t;
}

// NULL: there is none, as of gradients by scores that are all masked.
static const Tensor *output(const Built *b, const Tensor *t, OutputRole role, const char *name)
{
    for (int i = 0; i < b->g->n_outputs; i++)
        if (b->g->outputs[i].role == role && !strcmp(b->g->outputs[i].name, name))
            return &t[b->g->outputs[i].value];
    return NULL;
}

static bool is_fused(const Graph *g)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (g->nodes[i].op == &op_attention)
            return true;
    return false;
}

// ---- checks ----

static const char *text_of(const Case *c)
{
    static char text[200];

    snprintf(text, sizeof text, "%s masks %d by %d of %g, %d by %d of %g, join %d%s",
             c->type == F64 ? "f64" : "f32", c->mask[0].kind, c->mask[0].form, c->mask[0].number,
             c->mask[1].kind, c->mask[1].form, c->mask[1].number, c->join,
             c->guard ? ", guarded" : "");
    return text;
}

static bool check_same(const Case *c, const char *name, const Tensor *is, const Tensor *want)
{
    double limit = c->type == F64 ? 1e-12 : 3e-6;
    bool has_nan = false;

    for (int64_t i = 0; i < tensor_count(want); i++) {
        double x = is->f[i], y = want->f[i];
        has_nan |= isnan(y);
        if (!(isnan(x) && isnan(y)) && !(fabs(x - y) <= limit * fmax(1, fabs(y))))
            fail_msg("%s: %s[%d] is %.9g, want %.9g", text_of(c), name, (int)i, x, y);
    }
    return has_nan;
}

// The mean square error, without the rounding of the graph's own loss to f32.
static double loss(const Built *b, const Tensor *values)
{
    Arena *a = arena_new();
    Tensor *t = arena_array(a, Tensor, b->g->n_values);

    memcpy(t, values, (size_t)b->g->n_values * sizeof *t);
    graph_eval(a, b->g, t);
    const Tensor *y = output(b, t, OUTPUT_MODEL, "y"), *target = NULL;
    for (ValueId v = 1; v < b->g->n_values; v++)
        if (value_of(b->g, v)->kind == VALUE_INPUT && !strcmp(value_of(b->g, v)->name, "t"))
            target = &t[v];
    double sum = 0;
    for (int64_t i = 0; i < tensor_count(y); i++)
        sum += (y->f[i] - target->f[i]) * (y->f[i] - target->f[i]);
    sum /= (double)tensor_count(y);
    arena_free(a);
    return sum;
}

// Some elements of the gradient of parameter `name` against differences of the plain graph's loss.
static void check_differences(const Built *plain, const char *name, const Tensor *is)
{
    const double step = 1e-4;
    Tensor *t = fill(plain);

    for (ValueId v = 1; v < plain->g->n_values; v++) {
        const Value *x = value_of(plain->g, v);
        if (x->kind != VALUE_PARAMETER || strcmp(x->name, name))
            continue;
        for (int64_t i = 0; i < tensor_count(&t[v]); i += 5) {
            double was = t[v].f[i];
            t[v].f[i] = was + step;
            double above = loss(plain, t);
            t[v].f[i] = was - step;
            double want = (above - loss(plain, t)) / (2 * step);
            t[v].f[i] = was;
            if (!(fabs(is->f[i] - want) <= 1e-6))
                fail_msg("%s: gradient of %s[%d] is %.9g, differences say %.9g", text_of(plain->c),
                         name, (int)i, is->f[i], want);
        }
    }
}

// Differences tell nothing of scores that a number added to them rounds away, though they have a
// gradient.
static bool has_differences(const Case *c)
{
    for (int i = 0; i < 2; i++)
        if (c->type != F64 || (c->mask[i].kind && c->mask[i].form > FILLED &&
                               c->mask[i].number < -1e4 && c->mask[i].number != -INFINITY))
            return false;
    return true;
}

// Returns whether the masks became attention.
static bool check(const Case *c, bool takes_differences)
{
    static const char *const names[] = {"q", "k", "v"};
    Built plain = build(c, false), fused = build(c, true);
    Tensor *want = fill(&plain), *is = fill(&fused);
    bool became = is_fused(fused.g);

    graph_eval(plain.a, plain.g, want);
    graph_eval(fused.a, fused.g, is);
    bool has_nan = check_same(c, "y", output(&fused, is, OUTPUT_MODEL, "y"),
                              output(&plain, want, OUTPUT_MODEL, "y"));
    for (int i = 0; !has_nan && i < COUNT(names); i++) {
        const Tensor *dx = output(&fused, is, OUTPUT_GRADIENT, names[i]);
        const Tensor *plain_dx = output(&plain, want, OUTPUT_GRADIENT, names[i]);
        if (dx && plain_dx)
            assert_false(check_same(c, names[i], dx, plain_dx) && c->guard);
        else
            assert_true(is_zero(dx) && is_zero(plain_dx));
        if (dx && takes_differences)
            check_differences(&plain, names[i], dx);
    }
    arena_free(plain.a);
    arena_free(fused.a);
    return became;
}

static const double numbers[] = {-INFINITY, -FLT_MAX, -1e9, -1e4};

// -inf times 0 isn't a number, and limits have no input.
static bool makes_sense(const Mask *m)
{
    bool is_product = m->form == ADDED_PRODUCT || m->form == MULTIPLIED;

    return !(is_product && m->number == -INFINITY) &&
           !(m->form == AS_DATA && (m->kind < BY_KEY || m->kind == BY_SEGMENT));
}

static void one_mask(void **state)
{
    int n = 0, fused = 0;

    for (int i = 0; i < (KINDS - 1) * FORMS * COUNT(numbers) * 4; i++) {
        Mask m = {(Kind)(1 + i / 4 % (KINDS - 1)), (Form)(i / 4 / (KINDS - 1) % FORMS),
                  numbers[i / 4 / (KINDS - 1) / FORMS]};
        Case c = {.mask = {m}, .guard = i % 2, .type = i / 2 % 2 ? F64 : F32};

        if (!makes_sense(&m))
            continue;
        fused += check(&c, i % 5 < 2 && has_differences(&c));
        n++;
    }
    printf("# %d of %d are fused\n", fused, n);
}

// Softmaxes over one number are known as such too.
static void one_key(void **state)
{
    n_keys = 1;
    one_mask(state);
    n_keys = 5;
}

static void two_masks(void **state)
{
    static const Kind kinds[] = {CAUSAL, LATER, WINDOW, PAST_WINDOW, BY_KEY, BY_BOTH};
    static const Form forms[] = {SELECTED, ADDED, AS_DATA};
    enum { K = COUNT(kinds), W = COUNT(forms), N = COUNT(numbers) };
    int n = 0, fused = 0;

    for (int i = 0; i < K * K * W * W * N * N * JOINS; i += 3) {
        int j = i;
        Case c = {.join = (Join)(j % JOINS)};
        j /= JOINS;
        for (int k = 0; k < 2; k++) {
            c.mask[k] = (Mask){kinds[j % K], forms[j / K % W], numbers[j / K / W % N]};
            j /= K * W * N;
        }
        c.guard = i / 3 % 3 == 0;
        c.type = i / 3 % 2 ? F64 : F32;
        if (!makes_sense(&c.mask[0]) || !makes_sense(&c.mask[1]) ||
            (c.join != ONE_BY_ONE && (c.mask[0].form != ADDED || c.mask[1].form != ADDED)))
            continue;
        fused += check(&c, i / 3 % 7 < 2 && has_differences(&c));
        n++;
    }
    printf("# %d of %d are fused\n", fused, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_mask), cmocka_unit_test(one_key),
                                       cmocka_unit_test(two_masks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
