// Tests the kernels of gather and scatter against the operators' eval, and other numbers of threads
// against one. `scatter_test COUNT` tries more shapes.
#include "ir/build.h"
#include "ir/operator/operator.h"
#include "tests/runtime/kernels.h"

enum { MAX_DIMS = 2 };  // of each role

// A gather or scatter of a shard of a table, and its operands. The dims of each role are in the
// order batch, outer, index, inner.
typedef struct Case {
    RtGather p;
    bool is_scatter, has_onto, in_place, is_exact;
    int rank[4];
    int64_t dim[4][MAX_DIMS];
    Tensor table, rows, index;  // the table: what gather reads, or what scatter puts rows into
    Tensor want;
} Case;

enum { BATCH, OUTER, INDEX, INNER };

static const char *const reductions[] = {
    [RT_SUM] = "add", [RT_MUL] = "mul", [RT_MAX] = "max", [RT_MIN] = "min", [RT_LAST] = "last"};

// ---- random shapes ----

// Draws the dims of one role, and returns their product.
static int64_t draw_role(Random *r, Case *c, int role, int64_t most)
{
    int64_t volume = 1;

    c->rank[role] = (int)draw(r, MAX_DIMS + 1);
    for (int i = 0; i < c->rank[role]; i++) {
        int64_t left = most / volume;
        c->dim[role][i] = left ? draw_size(r, left) : draw(r, 2);
        volume *= c->dim[role][i];
        if (!volume)
            break;
    }
    return volume;
}

static RtType draw_type(Random *r, const Case *c)
{
    static const RtType often[] = {RT_F32, RT_F64, RT_I64};
    RtType t = draw(r, 2) ? often[draw(r, 3)] : (RtType)(1 + draw(r, RT_BOOL));

    if (!c->is_scatter)
        return t;
    return t == RT_F16 || t == RT_BF16 || (t == RT_BOOL && c->p.op != RT_LAST) ? RT_F32 : t;
}

// Many indices of wide rows are what several threads share, many slices what they need not sort.
static Case draw_case(Random *r, bool is_large)
{
    Case c = {.is_scatter = draw(r, 3) != 0};
    int64_t kind = draw(r, 3);

    c.p.batch = draw_role(r, &c, BATCH, kind == 0 ? 20 : 3);
    c.p.outer = draw_role(r, &c, OUTER, kind == 0 ? 20 : 3);
    c.p.index = draw_role(r, &c, INDEX, is_large && kind ? 3000 : 30);
    c.p.inner = draw_role(r, &c, INNER, kind == 1 ? (is_large ? 400 : 40) : 8);
    c.p.n = draw_size(r, is_large ? 300 : 12);
    c.p.offset = draw(r, 2) ? 0 : draw(r, 9);
    c.p.whole = c.p.offset + c.p.n + draw(r, 3);
    c.p.index_type = draw(r, 2) ? RT_I32 : RT_I64;
    c.p.op = (RtReduceOp)draw(r, RT_LAST + 1);
    c.p.type = draw_type(r, &c);
    c.has_onto = c.p.op != RT_SUM || draw(r, 2);
    c.in_place = c.has_onto && draw(r, 2);
    c.is_exact = draw(r, 2) || (c.p.op != RT_SUM && c.p.op != RT_MUL);
    return c;
}

// ---- operands ----

// Elements that sums and products of floats keep exactly, or any others.
static double draw_element(Random *r, const Case *c)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};

    if (c->is_scatter && c->p.op == RT_MUL)
        return (draw(r, 2) ? -1 : 1) * (c->is_exact ? 1 : 1 + (double)draw_float(r) / 16);
    if (c->is_scatter && c->p.op == RT_SUM)
        return c->is_exact ? (double)draw(r, 17) - 8 : (double)draw_float(r);
    return draw(r, 8) ? (double)draw_float(r) : odd[draw(r, 4)];
}

static void draw_tensor(Random *r, const Case *c, Tensor *t)
{
    for (int64_t i = 0; i < tensor_count(t); i++)
        if (t->f)
            t->f[i] = draw_element(r, c);
        else
            t->i[i] = (int64_t)((uint64_t)draw(r, INT32_MAX) * (uint64_t)draw(r, INT32_MAX) * 5);
    tensor_round(t);
}

// Indices inside and outside of the shard and of the table, and a row that is often chosen.
static void draw_index(Random *r, const RtGather *p, Tensor *index)
{
    int64_t often = p->offset + draw(r, p->n + 1);
    bool is_wide = p->index_type == RT_I64;

    for (int64_t i = 0; i < tensor_count(index); i++) {
        int64_t kind = draw(r, 32);
        index->i[i] = kind == 0   ? (is_wide ? INT64_MIN : INT32_MIN)
                      : kind == 1 ? (is_wide ? INT64_MAX : INT32_MAX)
                      : kind < 10 ? often
                                  : draw(r, p->whole + 6) - 3;
    }
}

typedef struct Shape {
    int rank;
    int64_t dim[4 * MAX_DIMS];
} Shape;

// The dims of these roles; n, if it isn't negative, is instead of the index's.
static Shape shape_of(const Case *c, const int *role, int count, int64_t n)
{
    Shape d = {0};

    for (int k = 0; k < count; k++) {
        if (role[k] == INDEX && n >= 0) {
            d.dim[d.rank++] = n;
            continue;
        }
        for (int i = 0; i < c->rank[role[k]]; i++)
            d.dim[d.rank++] = c->dim[role[k]][i];
    }
    return d;
}

static void draw_operands(Arena *a, Random *r, Case *c)
{
    static const int all[] = {BATCH, OUTER, INDEX, INNER}, of_index[] = {BATCH, INDEX};
    Shape table = shape_of(c, all, 4, c->p.n), rows = shape_of(c, all, 4, -1);
    Shape index = shape_of(c, of_index, 2, -1);

    c->table = tensor_new(a, (DType)c->p.type, table.rank, table.dim);
    c->rows = tensor_new(a, (DType)c->p.type, rows.rank, rows.dim);
    c->index = tensor_new(a, (DType)c->p.index_type, index.rank, index.dim);
    draw_tensor(r, c, &c->table);
    draw_tensor(r, c, &c->rows);
    draw_index(r, &c->p, &c->index);
}

// ---- eval ----

static ValueId input(Graph *g, const char *name, const Tensor *t)
{
    return graph_value(g, VALUE_INPUT, name, t->dtype, t->rank, t->dim);
}

static void evaluate(Arena *a, Case *c)
{
    int batch = c->rank[BATCH], axis = batch + c->rank[OUTER];
    Diag d = {.file = "scatter"};
    Graph *g = graph_new(a, "g");
    Tensor operand[3] = {c->is_scatter ? c->rows : c->table, c->index, c->table};
    NodeShard shard = {0};

    g->diag = &d;
    ValueId x = input(g, "x", &operand[0]), index = input(g, "index", &c->index);
    ValueId onto = c->has_onto ? input(g, "onto", &c->table) : 0;
    ValueId y = c->is_scatter
                    ? make_scatter(g, x, index, onto, reductions[c->p.op], axis, batch, c->p.n)
                    : make_gather(g, x, index, axis, batch);
    assert_true(y);
    const Node *n = producer(g, y);
    // The factor of the table's rows is scatter's last one.
    shard.offset[c->is_scatter ? c->rows.rank : axis] = c->p.offset;
    c->want = tensor_new(a, value_of(g, y)->dtype, value_of(g, y)->rank, value_of(g, y)->dim);
    node_eval_shard(g, n, &shard, operand, &c->want);
}

// ---- kernels ----

// A copy of the tensor's elements of exactly their size, so that sanitizers see a byte too many.
static void *packed(Arena *a, const Tensor *t)
{
    size_t bytes = (size_t)(tensor_count(t) * dtype_size(t->dtype));
    void *room;

    if (posix_memalign(&room, 64, bytes + (bytes == 0)))
        abort();
    memcpy(room, tensor_pack(a, t), bytes);
    return room;
}

static void *run(Arena *a, const Case *c, int threads)
{
    const Tensor *result = c->is_scatter ? &c->table : &c->rows;
    Rt rt = rt_new(threads, c->is_scatter ? rt_scatter_workspace(&c->p) : 0);
    void *table = packed(a, &c->table), *rows = packed(a, &c->rows), *index = packed(a, &c->index);
    void *y = packed(a, result);

    if (!c->in_place)
        memset(y, 0xff, (size_t)(tensor_count(result) * dtype_size(result->dtype)));
    if (c->is_scatter)
        rt_scatter(&rt, &c->p, y, rows, index, c->in_place ? y : c->has_onto ? table : NULL);
    else
        rt_gather(&rt, &c->p, y, table, index);
    rt_delete(&rt);
    free(table);
    free(rows);
    free(index);
    return y;
}

static void fail_case(const Case *c, int64_t i)
{
    fail_msg("%s %s of %s: batch %" PRId64 " outer %" PRId64 " n %" PRId64 " index %" PRId64
             " inner %" PRId64 " offset %" PRId64 " onto %d in place %d: element %" PRId64
             " is not %.9g",
             c->is_scatter ? "scatter" : "gather", c->is_scatter ? reductions[c->p.op] : "",
             dtype_name((DType)c->p.type), c->p.batch, c->p.outer, c->p.n, c->p.index, c->p.inner,
             c->p.offset, c->has_onto, c->in_place, i,
             c->want.f ? c->want.f[i] : (double)c->want.i[i]);
}

// Sums of rounded numbers differ by a rounding for each row, which eval leaves out. All else is
// the same. NaN is equal to NaN, and 0 to -0.
static void check_result(Arena *a, const Case *c, const void *got)
{
    const void *want = tensor_pack(a, &c->want);
    int64_t count = tensor_count(&c->want), width = dtype_size(c->want.dtype);
    double digit = c->p.type == RT_F32 ? 0x1p-23 : 0x1p-52;
    double limit = c->is_exact ? 0 : digit * pow((double)(1 + c->p.index), 1.5);

    for (int64_t i = 0; i < count; i++) {
        const char *x = (const char *)got + i * width, *y = (const char *)want + i * width;
        if (!memcmp(x, y, (size_t)width))
            continue;
        if (c->p.type != RT_F32 && c->p.type != RT_F64) {
            fail_case(c, i);
            return;
        }
        double e = c->p.type == RT_F32 ? (double)*(const float *)(const void *)x
                                       : *(const double *)(const void *)x;
        double w = c->want.f[i];
        if (e != w && !(isnan(e) && isnan(w)) && !(fabs(e - w) <= limit))
            fail_case(c, i);
    }
}

static void check(Random *r, Case *c)
{
    Arena *a = arena_new();
    void *first = NULL;

    draw_operands(a, r, c);
    evaluate(a, c);
    for (int threads = 1; threads <= 8; threads = threads * 2 + (threads == 2)) {
        void *y = run(a, c, threads);
        check_result(a, c, y);
        if (first)
            assert_memory_equal(y, first,
                                (size_t)(tensor_count(&c->want) * dtype_size(c->want.dtype)));
        if (first)
            free(y);
        else
            first = y;
    }
    free(first);
    arena_free(a);
}

static int n_shapes = 60;

static void test_random_shapes(void **state)
{
    Random r = {1};

    for (int i = 0; i < n_shapes; i++) {
        Case c = draw_case(&r, i % 10 == 9);
        check(&r, &c);
    }
}

// Large enough for several threads: segments that are longer than a thread's share, rows longer
// than a strip, and a table that is stored past the caches.
static void test_large_shapes(void **state)
{
    static const struct {
        int64_t batch, outer, n, index, inner;
        RtReduceOp op;
        bool has_onto, in_place;
    } shapes[] = {
        {1, 1, 2, 500, 1000, RT_SUM, false, false},   {2, 1, 3, 400, 700, RT_MUL, true, true},
        {1, 3, 300, 900, 300, RT_MAX, true, false},   {300, 2, 30, 40, 12, RT_MIN, true, false},
        {1, 1, 20000, 9000, 7, RT_SUM, false, false}, {1, 1, 60000, 500, 290, RT_SUM, true, false}};
    Random r = {2};

    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++) {
        RtGather p = {.type = RT_F32,
                      .index_type = RT_I32,
                      .batch = shapes[i].batch,
                      .outer = shapes[i].outer,
                      .n = shapes[i].n,
                      .index = shapes[i].index,
                      .inner = shapes[i].inner,
                      .whole = shapes[i].n,
                      .op = shapes[i].op};
        Case c = {.p = p,
                  .is_scatter = true,
                  .has_onto = shapes[i].has_onto,
                  .in_place = shapes[i].in_place,
                  .is_exact = true,
                  .rank = {1, 1, 1, 1},
                  .dim = {{p.batch}, {p.outer}, {p.index}, {p.inner}}};
        check(&r, &c);
        c.is_scatter = c.has_onto = c.in_place = false;
        if (i < 5)
            check(&r, &c);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_shapes),
                                       cmocka_unit_test(test_large_shapes)};

    n_shapes = argc > 1 ? atoi(argv[1]) : n_shapes;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
