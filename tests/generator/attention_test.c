// Tests attention and its gradient in generated programs, for every kind of mask and its numbers,
// limit, group, layout and dropout: against eval, and two threads against one, bit by bit.
//
// The bound limits the norm of the difference, relative to the norm of eval's result plus the norm
// of as many ones. The ones are there because the gradient of a query that sees one key is 0, a
// difference of numbers of about 1. A score is a sum of up to 16 products of such numbers, so a
// score and its exp have an error of some 10 units of 2^-24.
#include <float.h>
#include <math.h>

#include "ir/internal.h"
#include "tests/generator/program.h"
#include "tests/sanitized.h"

static const double bound = 1e-6;
// Weights of masked keys have their errors in common: that of the row's maximum.
static const double mask_bound = 4e-6;

// Letters: b batch, h heads, g queries' heads that share one of k and v, s queries, t keys.
static const struct Mask {
    const char *name, *eq;
    DType type;
} masks[] = {
    {"none", "", DT_NONE},   {"bool_t", "t", BOOL},        {"bool_bt", "bt", BOOL},
    {"bool_st", "st", BOOL}, {"bool_full", "bhgst", BOOL}, {"f32_t", "t", F32},
    {"f32_bs", "bs", F32},   {"f32_st", "st", F32},        {"f32_ts", "ts", F32},
    {"f32_hst", "hst", F32}, {"f32_full", "bhgst", F32},
};

static const struct Limit {
    int causal, offset, window;
} limits[] = {{0, 0, 0}, {1, 0, 0}, {1, 5, 0}, {1, -2, 0}, {1, 0, 3}, {1, 9, 14}};

// The numbers of scores outside of limits and hidden by a mask; 0 is -inf. Those near 0 give masked
// keys weights in every row, the others where a row sees no key. Small numbers are added, or such
// that nothing of a score is left: else a score's last bit would decide how the sum is rounded.
static const struct Numbers {
    double outside, hidden;
    bool outside_added, hidden_added;
    AttentionOrder order;
    int guard;
} numbers[] = {
    {0, 0, 0, 0, LIMITS_LAST, 0},
    {0, 0, 0, 0, LIMITS_LAST, 1},
    {-1e4, -1e9, 0, 0, LIMITS_LAST, 0},
    {-FLT_MAX, -FLT_MAX, 0, 0, LIMITS_FIRST, 2},
    {-3, -2, 0, 0, LIMITS_LAST, 0},
    {-3, -2, 0, 0, LIMITS_FIRST, 1},
    {-3, -2, 1, 1, LIMITS_LAST, 0},
    {-3, -3, 1, 1, MASKED_ONCE, 0},
    {-3, -3, 0, 0, MASKED_ONCE, 0},
    {-1e9, -1e9, 1, 1, LIMITS_FIRST, 0},
    {-FLT_MAX, -FLT_MAX, 1, 1, MASKED_ONCE, 1},
    {-1e9, 0, 1, 0, LIMITS_LAST, 0},
    {-2, 0, 1, 0, LIMITS_FIRST, 0},
    {0, 0, 0, 0, LIMITS_LAST, 2},
};

static const struct Drop {
    const char *eq;
    double rate;
    int micro_axis;
} drops[] = {{NULL, 0, 0}, {"bhgst", 0.3, 0}, {"tsbhg", 0.5, -1}, {"hbgst", 0.1, 1}};

// Layouts of the operands. DENSE: the heads are the outer dims. TRANSPOSED: the elements of keys
// and values aren't contiguous. QKV: all operands are slices of one tensor, with the heads inside
// the sequence.
enum { DENSE, TRANSPOSED, QKV, N_LAYOUTS };

typedef struct Sizes {
    int64_t b, h, s, t, e, f;
} Sizes;

// Sizes near the kernels' tiles: 32 queries, 12 keys, blocks of 96 and 264 keys.
static const Sizes sizes[] = {{1, 1, 1, 1, 1, 1},     {2, 1, 5, 7, 3, 2},    {1, 2, 33, 35, 8, 5},
                              {2, 2, 12, 96, 16, 16}, {1, 1, 97, 265, 4, 3}, {1, 1, 130, 40, 5, 8},
                              {1, 3, 64, 64, 9, 7}};

// One combination, and its dims by letter.
typedef struct Form {
    const struct Mask *mask;
    const struct Limit *limit;
    const struct Drop *drop;
    const struct Numbers *numbers;
    int groups, layout;
    int64_t size[N_LETTERS];
} Form;

typedef struct Head {
    ValueId v;
    const char *dims;
} Head;

static ValueId input(Cases *c, const Form *f, const char *dims, DType t)
{
    int64_t dim[MAX_RANK];

    for (int i = 0; dims[i]; i++)
        dim[i] = f->size[(int)dims[i]];
    return add_input(c, t, (int)strlen(dims), dim, (Mark){0});
}

// Slices some heads of x, whose dims are [b, s, heads, e].
static ValueId heads_of(Cases *c, const Form *f, ValueId x, int64_t first, const char *dims)
{
    bool has_groups = strchr(dims, 'g');
    int64_t h = f->size['h'], g = has_groups ? f->size['g'] : 1, b = f->size['b'];
    int64_t s = f->size['s'], e = f->size['e'];
    ValueId v = make_slice(c->g, x, (int64_t[]){0, 0, first, 0}, (int64_t[]){b, s, h * g, e},
                           (int64_t[]){1, 1, 1, 1});

    return has_groups ? make_reshape(c->g, v, 5, (int64_t[]){b, s, h, g, e}) : v;
}

// Adds the operands q, k and v.
static void add_operands(Cases *c, Form *f, Head *o)
{
    static const char *const dims[N_LAYOUTS][3] = {
        {"bhgse", "bhte", "bhtf"}, {"bgshe", "hbet", "bfht"}, {"bshge", "bthe", "bthf"}};

    for (int i = 0; i < 3; i++)
        o[i].dims = dims[f->layout][i];
    if (f->layout != QKV) {
        for (int i = 0; i < 3; i++)
            o[i].v = input(c, f, o[i].dims, F32);
        return;
    }
    int64_t h = f->size['h'], g = f->size['g'];
    f->size['t'] = f->size['s'];
    f->size['f'] = f->size['e'];
    f->size['x'] = h * (g + 2);
    ValueId x = input(c, f, "bsxe", F32);
    for (int i = 0; i < 3; i++)
        o[i].v = heads_of(c, f, x, i ? h * (g + i - 1) : 0, o[i].dims);
}

static void add_output(Cases *c, int form, int k, ValueId v)
{
    graph_output(c->g, arena_string(c->arena, "y%d_%d", form, k), v, OUTPUT_MODEL);
}

// Sets the numbers of the masks that there are.
static void set_numbers(const Form *f, Attention *a)
{
    const struct Numbers *x = f->numbers;
    bool has_limits = f->limit->causal, hides = f->mask->type == BOOL;

    a->guard = x->guard;
    if (has_limits && f->mask->type && (hides || x->order != MASKED_ONCE))
        a->order = x->order;
    a->outside = has_limits ? x->outside : 0;
    a->outside_added = has_limits && x->outside_added;
    a->hidden = hides ? x->hidden : 0;
    a->hidden_added = hides && x->hidden_added;
}

enum { OUTPUTS = 6 };  // y, max, sum, dq, dk, dv

static void add_form(Cases *c, Form *f, int number)
{
    const char *y_dims = f->layout == DENSE ? "bhgsf" : "bshgf";
    Attention a = {.bias_eq = f->mask->type ? f->mask->eq : NULL,
                   .scale = 0.4,
                   .causal = f->limit->causal,
                   .offset = f->limit->offset,
                   .window = f->limit->window};
    ValueId bias = 0;
    Head o[3];

    set_numbers(f, &a);
    add_operands(c, f, o);
    if (f->mask->type)
        bias = input(c, f, f->mask->eq, f->mask->type);
    a.eq = arena_string(c->arena, "%s,%s,%s->%s", o[0].dims, o[1].dims, o[2].dims, y_dims);
    a.query = (int)(strchr(o[0].dims, 's') - o[0].dims);
    if (f->drop->eq) {
        a.drop = (Dropout){.eq = f->drop->eq,
                           .rate = f->drop->rate,
                           .site = 5,
                           .layer = 2,
                           .micro_axis = f->drop->micro_axis,
                           .micro_batches = 3};
        a.drop.seed = add_input(c, I64, 0, NULL, (Mark){'=', number});
        a.drop.step = add_input(c, I64, 0, NULL, (Mark){'=', 7});
        a.drop.micro = add_input(c, I64, 0, NULL, (Mark){'=', number % 3});
    }
    ValueId y = make_attention(c->g, o[0].v, o[1].v, o[2].v, bias, &a);
    ValueId max = graph_output_of(c->g, y, 1), sum = graph_output_of(c->g, y, 2);
    ValueId dy = input(c, f, y_dims, F32);
    ValueId dq = make_attention_grad(c->g, o[0].v, o[1].v, o[2].v, bias, y, max, sum, dy, &a);
    for (int k = 0; k < OUTPUTS; k++)
        add_output(c, number, k,
                   k < 3 ? graph_output_of(c->g, y, k) : graph_output_of(c->g, dq, k - 3));
}

enum { FORMS = COUNT(drops) * N_LAYOUTS * 2, PROGRAMS = COUNT(masks) * COUNT(limits) };

// Adds the forms of program `number`: all that have one mask and one limit. More of them in one
// program would take the packer longer than all else.
static void make_graph(Cases *c, int number, Form *form)
{
    int mask = number / COUNT(limits), limit = number % COUNT(limits), n = 0;

    for (int k = 0; k < COUNT(drops); k++)
        for (int layout = 0; layout < N_LAYOUTS; layout++)
            for (int groups = 1; groups <= 2; groups++, n++) {
                const Sizes *z = &sizes[(FORMS * limit + n + mask) % COUNT(sizes)];
                form[n] = (Form){.mask = &masks[mask],
                                 .limit = &limits[limit],
                                 .drop = &drops[k],
                                 .numbers = &numbers[(n + number) % COUNT(numbers)],
                                 .groups = groups,
                                 .layout = layout};
                int64_t *size = form[n].size;
                size['b'] = z->b, size['h'] = z->h, size['g'] = groups;
                size['s'] = z->s, size['t'] = z->t, size['e'] = z->e, size['f'] = z->f;
                add_form(c, &form[n], n);
            }
    assert_int_equal(n, FORMS);
}

static double distance(const float *got, const Tensor *want)
{
    double sum = 0, norm = (double)tensor_count(want);

    for (int64_t i = 0; i < tensor_count(want); i++) {
        double x = (double)got[i], y = want->f[i];
        sum += x == y || (isnan(x) && isnan(y)) ? 0 : (x - y) * (x - y);
        norm += isfinite(y) ? y * y : 0;
    }
    return sum == 0 ? 0 : sqrt(sum / norm);
}

static void check(const Cases *c, const RtModel *m, const Tensor *values, const Form *form)
{
    static const char *const names[OUTPUTS] = {"y", "max", "sum", "dq", "dk", "dv"};
    char *arena[2];

    for (int i = 0; i < 2; i++)
        arena[i] = run_program(c, m, values, i + 1);
    for (int i = 0; i < c->g->n_outputs; i++) {
        const Form *f = &form[i / OUTPUTS];
        ValueId v = c->g->outputs[i].value;
        int64_t at = find_tensor(m, c->g->outputs[i].name)->at;
        double d = distance((const float *)(arena[0] + at), &values[v]);
        bool same = !memcmp(arena[0] + at, arena[1] + at, (size_t)value_bytes(value_of(c->g, v)));
        if (!(d <= (f->numbers->outside > -1e3 ? mask_bound : bound)) || !same)
            fail_msg(
                "%s of mask %s, causal %d offset %d window %d, numbers %d, dropout %s, %d groups, "
                "layout %d, s %d t %d: %.1e from eval, 2 threads %s",
                names[i % OUTPUTS], f->mask->name, f->limit->causal, f->limit->offset,
                f->limit->window, (int)(f->numbers - numbers), f->drop->eq ? f->drop->eq : "none",
                f->groups, f->layout, (int)f->size['s'], (int)f->size['t'], d,
                same ? "the same" : "other bits");
    }
    free(arena[0]);
    free(arena[1]);
}

enum { EACH = IS_SANITIZED ? 5 : 1 };  // program is tried

static void attention_is_eval(void **state)
{
    char dir[] = "/tmp/attention_test.XXXXXX";
    static Form form[PROGRAMS][FORMS];
    Cases c[PROGRAMS];
    Diag d = {.file = "attention"};

    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < PROGRAMS; i += EACH) {
        c[i] = (Cases){.arena = arena_new(), .r = {(uint64_t)i + 1}};
        c[i].g =
            graph_new(c[i].arena, arena_string(c[i].arena, "%s_%d", masks[i / COUNT(limits)].name,
                                               i % COUNT(limits)));
        c[i].g->diag = &d;
        make_graph(&c[i], i, form[i]);
        assert_true(graph_verify(c[i].g, &d));
        write_program(&c[i], c[i].g->name, dir, &d);
    }
    compile_all(dir, "-O0");  // generated code only calls kernels, but in long lists
    for (int i = 0; i < PROGRAMS; i += EACH) {
        Arena *a = arena_new();
        Loaded p = load_program(dir, c[i].g->name);
        check(&c[i], p.model, eval_values(a, &c[i]), form[i]);
        dlclose(p.handle);
        remove_program(dir, c[i].g->name);
        arena_free(a);
        arena_free(c[i].arena);
    }
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(attention_is_eval)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
