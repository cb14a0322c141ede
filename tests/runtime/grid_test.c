// Tests sampling at the points of a grid, and its gradients, against loops over all elements that
// weigh each by its distance from the point. 1, 2 and 8 threads must give the same bits. An
// argument is the number of random shapes: `grid_test 2000`.
#include "runtime/rt_grid.h"
#include "tests/runtime/kernels.h"

static int n_shapes = 60;

// ---- the definition, in double ----

// The position that replaces x in a dim of n elements.
static double moved(const RtGrid *p, int64_t n, double x)
{
    double low = p->corners ? 0 : -0.5, high = p->corners ? (double)n - 1 : (double)n - 0.5;

    if (p->outside == RT_ZEROS)
        return x;
    if (isnan(x) || (p->outside == RT_REFLECTION && isinf(x)))
        return 0;
    if (p->outside == RT_REFLECTION && high > low) {
        double turn = fmod(fabs(x - low), 2 * (high - low));
        x = low + (turn > high - low ? 2 * (high - low) - turn : turn);
    } else if (p->outside == RT_REFLECTION) {
        x = 0;
    }
    return fmin(fmax(x, 0), (double)n - 1);
}

static double cubic(double x)
{
    x = fabs(x);
    return x <= 1   ? 1.25 * x * x * x - 2.25 * x * x + 1
           : x <= 2 ? -0.75 * x * x * x + 3.75 * x * x - 6 * x + 3
                    : 0;
}

// The weight of element `e` of a dim of n elements at position x.
static double weight_of(const RtGrid *p, int64_t n, int64_t e, double x)
{
    double sum = 0;

    if (p->mode == RT_CUBIC) {
        for (int k = -1; k <= 2; k++)
            sum += moved(p, n, floor(x) + k) == (double)e ? cubic(x - floor(x) - k) : 0;
        return sum;
    }
    x = moved(p, n, x);
    return p->mode == RT_NEAREST ? rint(x) == (double)e : fmax(0, 1 - fabs(x - (double)e));
}

static int64_t plane_of(const RtGrid *p)
{
    int64_t plane = 1;

    for (int d = 0; d < p->spatial; d++)
        plane *= p->dim[d];
    return plane;
}

// The weight of element `e` of a plane at the point whose coordinates are at `x`, of which the last
// is for the first dim; coordinate `moves` (-1: none) is moved by `by`.
static double weight_at(const RtGrid *p, int64_t e, const float *x, int moves, double by)
{
    double w = 1;

    for (int d = p->spatial - 1; d >= 0; d--) {
        int at = p->spatial - 1 - d;
        w *= weight_of(p, p->dim[d], e % p->dim[d], (double)x[at] + (at == moves ? by : 0));
        e /= p->dim[d];
    }
    return w;
}

typedef struct Tensors {
    float *x, *grid, *y, *dx, *dgrid;
    int64_t n_x, n_grid, n_y;
} Tensors;

static void naive(const RtGrid *p, Tensors *t, const float *dy)
{
    const double step = 0x1p-10;
    int64_t plane = plane_of(p);

    memset(t->y, 0, sizeof(float) * (size_t)t->n_y);
    memset(t->dx, 0, sizeof(float) * (size_t)t->n_x);
    memset(t->dgrid, 0, sizeof(float) * (size_t)t->n_grid);
    for (int64_t i = 0; i < p->n * p->points; i++)
        for (int64_t e = 0; e < plane; e++) {
            const float *at = t->grid + i * p->spatial;
            double w = weight_at(p, e, at, -1, 0), slope[3] = {0};
            for (int d = 0; d < p->spatial && p->mode != RT_NEAREST; d++)
                slope[d] =
                    (weight_at(p, e, at, d, step) - weight_at(p, e, at, d, -step)) / 2 / step;
            for (int64_t c = 0; c < p->c; c++) {
                int64_t from = (i / p->points * p->c + c) * plane + e;
                int64_t to = (i / p->points * p->c + c) * p->points + i % p->points;
                t->y[to] += (float)(w * (double)t->x[from]);
                t->dx[from] += (float)(w * (double)dy[to]);
                for (int d = 0; d < p->spatial; d++)
                    t->dgrid[i * p->spatial + d] +=
                        (float)(slope[d] * (double)t->x[from] * (double)dy[to]);
            }
        }
}

// ---- random shapes ----

static RtGrid draw_grid(Random *r)
{
    RtGrid p = {.type = RT_F32,
                .mode = (int)draw(r, 3),
                .outside = (int)draw(r, 3),
                .corners = draw(r, 2),
                .spatial = 1 + (int)draw(r, 3),
                .n = draw_size(r, 3),
                .c = draw_size(r, 10),
                .points = draw_size(r, draw(r, 3) ? 9 : 150)};

    for (int d = 0; d < p.spatial; d++)
        p.dim[d] = 1 + draw(r, p.spatial == 3 ? 4 : 7);
    return p;
}

// Coordinates around the dims, in sixteenths but no whole numbers or halves: there the kernel, in
// float, takes the taps of the definition, and both sides of a point have one slope.
static void draw_points(Random *r, const RtGrid *p, float *grid)
{
    static const float parts[] = {0.0625f, 0.1875f, 0.3125f, 0.4375f, 0.5625f, 0.6875f, 0.9375f};

    for (int64_t i = 0; i < p->n * p->points * p->spatial; i++) {
        int64_t size = p->dim[p->spatial - 1 - i % p->spatial], reach = draw(r, 4) ? 2 : 9;
        grid[i] = (float)(draw(r, size + 2 * reach) - reach) + parts[draw(r, 7)];
    }
}

static Tensors tensors_new(const RtGrid *p)
{
    Tensors t = {.n_x = p->n * p->c * plane_of(p),
                 .n_grid = p->n * p->points * p->spatial,
                 .n_y = p->n * p->c * p->points};

    t.y = malloc(sizeof(float) * (size_t)t.n_y + (t.n_y == 0));
    t.dx = malloc(sizeof(float) * (size_t)t.n_x + (t.n_x == 0));
    t.dgrid = malloc(sizeof(float) * (size_t)t.n_grid + (t.n_grid == 0));
    return t;
}

static void tensors_free(Tensors *t)
{
    free(t->y);
    free(t->dx);
    free(t->dgrid);
}

static void run(const RtGrid *p, const Tensors *in, const float *dy, int threads, Tensors *t)
{
    Rt rt = rt_new(threads, 0);

    *t = tensors_new(p);
    rt_grid_sample(&rt, p, t->y, in->x, in->grid);
    rt_grid_sample_input_grad(&rt, p, t->dx, dy, in->grid);
    rt_grid_sample_grid_grad(&rt, p, t->dgrid, in->x, in->grid, dy);
    rt_delete(&rt);
}

static double *widened(const float *x, int64_t n)
{
    double *y = malloc(sizeof *y * (size_t)n + (n == 0));

    for (int64_t i = 0; i < n; i++)
        y[i] = (double)x[i];
    return y;
}

// Frees x.
static void narrow(float *y, double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    free(x);
}

// The same in f64, on the same numbers.
static void run_double(const RtGrid *p, const Tensors *in, const float *dy, Tensors *t)
{
    RtGrid q = *p;
    Rt rt = rt_new(2, 0);
    double *x = widened(in->x, in->n_x), *grid = widened(in->grid, in->n_grid);
    double *wide = widened(dy, in->n_y), *y = widened(dy, in->n_y);
    double *dx = widened(in->x, in->n_x), *dgrid = widened(in->grid, in->n_grid);

    q.type = RT_F64;
    *t = tensors_new(p);
    rt_grid_sample(&rt, &q, y, x, grid);
    rt_grid_sample_input_grad(&rt, &q, dx, wide, grid);
    rt_grid_sample_grid_grad(&rt, &q, dgrid, x, grid, wide);
    narrow(t->y, y, in->n_y);
    narrow(t->dx, dx, in->n_x);
    narrow(t->dgrid, dgrid, in->n_grid);
    free(x);
    free(grid);
    free(wide);
    rt_delete(&rt);
}

static void check_tensors(const RtGrid *p, const Tensors *got, const Tensors *want)
{
    double many = (double)(p->points + p->c);

    check_floats("y", got->y, want->y, want->n_y, 1e-5);
    check_floats("dx", got->dx, want->dx, want->n_x, 1e-6 * many + 1e-5);
    check_floats("dgrid", got->dgrid, want->dgrid, want->n_grid, 1e-5 * many);
}

static void test_random_shapes(void **state)
{
    static const int threads[] = {1, 2, 8};
    Random r = {1};

    for (int i = 0; i < n_shapes; i++) {
        RtGrid p = draw_grid(&r);
        Tensors want = tensors_new(&p), got[4];
        float *dy = draw_floats(&r, want.n_y);
        want.x = draw_floats(&r, want.n_x);
        want.grid = draw_floats(&r, want.n_grid);
        draw_points(&r, &p, want.grid);
        naive(&p, &want, dy);
        for (int k = 0; k < 3; k++)
            run(&p, &want, dy, threads[k], &got[k]);
        run_double(&p, &want, dy, &got[3]);
        check_tensors(&p, &got[0], &want);
        check_tensors(&p, &got[3], &want);
        for (int k = 1; k < 3; k++) {
            assert_memory_equal(got[0].y, got[k].y, sizeof(float) * (size_t)want.n_y);
            assert_memory_equal(got[0].dx, got[k].dx, sizeof(float) * (size_t)want.n_x);
            assert_memory_equal(got[0].dgrid, got[k].dgrid, sizeof(float) * (size_t)want.n_grid);
        }
        for (int k = 0; k < 4; k++)
            tensors_free(&got[k]);
        free(want.x);
        free(want.grid);
        free(dy);
        tensors_free(&want);
    }
}

// ---- numbers that aren't finite ----

// Modes, what is outside, a coordinate, and what x = 1 2 4 gives there. NaN counts as position 0
// with a border or reflection; PyTorch says the same, but may crash.
static const struct {
    int mode, outside;
    float at, y;
} odd[] = {{RT_NEAREST, RT_ZEROS, NAN, 0},           {RT_NEAREST, RT_ZEROS, INFINITY, 0},
           {RT_NEAREST, RT_ZEROS, 1e30f, 0},         {RT_NEAREST, RT_BORDER, NAN, 1},
           {RT_NEAREST, RT_BORDER, INFINITY, 4},     {RT_NEAREST, RT_BORDER, -INFINITY, 1},
           {RT_NEAREST, RT_REFLECTION, NAN, 1},      {RT_NEAREST, RT_REFLECTION, -INFINITY, 1},
           {RT_LINEAR, RT_ZEROS, NAN, NAN},          {RT_LINEAR, RT_ZEROS, -INFINITY, NAN},
           {RT_LINEAR, RT_ZEROS, -1e30f, 0},         {RT_LINEAR, RT_ZEROS, 3e9f, 0},
           {RT_LINEAR, RT_BORDER, NAN, 1},           {RT_LINEAR, RT_BORDER, INFINITY, 4},
           {RT_LINEAR, RT_BORDER, 3e9f, 4},          {RT_LINEAR, RT_REFLECTION, NAN, 1},
           {RT_LINEAR, RT_REFLECTION, INFINITY, 1},  {RT_CUBIC, RT_ZEROS, NAN, NAN},
           {RT_CUBIC, RT_ZEROS, 1e30f, 0},           {RT_CUBIC, RT_BORDER, NAN, NAN},
           {RT_CUBIC, RT_REFLECTION, -INFINITY, NAN}};

static void test_odd_points(void **state)
{
    static const float x[] = {1, 2, 4}, dy[] = {1};

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        RtGrid p = {RT_F32, odd[i].mode, odd[i].outside, false, 1, 1, 1, {3}, 1};
        float y[1], dx[3], dgrid[1];
        Rt rt = rt_new(1, 0);
        rt_grid_sample(&rt, &p, y, x, &odd[i].at);
        check_floats("odd", y, &odd[i].y, 1, 0);
        rt_grid_sample_input_grad(&rt, &p, dx, dy, &odd[i].at);
        rt_grid_sample_grid_grad(&rt, &p, dgrid, x, &odd[i].at, dy);
        rt_delete(&rt);
    }
}

// An element that isn't finite reaches only the points next to it, though positions outside of x
// are read as its first element.
static void test_odd_elements(void **state)
{
    static const float x[2][3] = {{INFINITY, 2, 4}, {1, 2, 4}}, at[] = {-5.5f, 1.5f, 0.5f};
    static const float y[2][3] = {{0, 3, INFINITY}, {0, 3, 1.5f}};
    static const float dy[2][3] = {{1, 1, 0}, {INFINITY, 1, 0}};
    RtGrid p = {RT_F32, RT_LINEAR, RT_ZEROS, false, 1, 1, 2, {3}, 3};
    static const float dx[2][3] = {{0, 0.5f, 0.5f}, {0, 0.5f, 0.5f}};
    float found[2][3], gradient[2][3], slope[3];
    Rt rt = rt_new(1, 0);

    rt_grid_sample(&rt, &p, found, x, at);
    check_floats("y", found[0], y[0], 6, 0);
    rt_grid_sample_input_grad(&rt, &p, gradient, dy, at);
    check_floats("dx", gradient[0], dx[0], 6, 0);
    rt_grid_sample_grid_grad(&rt, &p, slope, x, at, dy);
    check_floats("dgrid", slope, (float[]){0, 4, NAN}, 3, 0);
    rt_delete(&rt);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_shapes),
                                       cmocka_unit_test(test_odd_points),
                                       cmocka_unit_test(test_odd_elements)};

    if (argc > 1)
        n_shapes = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
