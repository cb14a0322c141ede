// Sampling at the points of a grid on GPUs against the CPU's, which adds in the same order.
#include "runtime/rt_grid.h"
#include "tests/cuda/both.h"

CALL_BOTH(grid_sample, p, o[0], o[1], o[2])
CALL_BOTH(grid_sample_input_grad, p, o[0], o[1], o[2])
CALL_BOTH(grid_sample_grid_grad, p, o[0], o[1], o[2], o[3])

static RtGrid draw_grid(Random *r)
{
    RtGrid p = {.type = draw(r, 3) ? RT_F32 : RT_F64,
                .mode = (int)draw(r, 3),
                .outside = (int)draw(r, 3),
                .corners = draw(r, 2),
                .spatial = 1 + (int)draw(r, 3),
                .n = 1 + draw(r, 3),
                .c = 1 + draw(r, 10),
                .points = 1 + draw(r, draw(r, 3) ? 9 : 300)};

    for (int d = 0; d < p.spatial; d++)
        p.dim[d] = 1 + draw(r, p.spatial == 3 ? 4 : 7);
    if (draw(r, 25) == 0) {  // so many planes that a thread takes several elements of one
        p.n = 3;
        p.c = 700 + draw(r, 2000);
        p.points = 1 + draw(r, 3);
    }
    return p;
}

// Coordinates around the dims, a NaN or infinity now and then.
static void *draw_points(Random *r, const RtGrid *p)
{
    int64_t n = p->n * p->points * p->spatial;
    void *grid = draw_elements(r, p->type, n, draw(r, 3) == 0);

    for (int64_t i = 0; i < n; i++) {
        if (p->type == RT_F32)
            ((float *)grid)[i] = ((float *)grid)[i] * 6 + 2;
        else
            ((double *)grid)[i] = ((double *)grid)[i] * 6 + 2;
    }
    return grid;
}

static void test_grids(void **state)
{
    Random r = {1};

    for (int i = 0; i < 150; i++) {
        RtGrid p = draw_grid(&r);
        int64_t plane = 1, width = rt_type_bytes(p.type);
        for (int d = 0; d < p.spatial; d++)
            plane *= p.dim[d];
        int64_t n_x = p.n * p.c * plane, n_y = p.n * p.c * p.points;
        int64_t n_grid = p.n * p.points * p.spatial;
        double limit = p.type == RT_F32 ? 1e-4 : 1e-12;
        void *x = draw_elements(&r, p.type, n_x, false), *y = draw_elements(&r, p.type, n_y, false);
        void *to = draw_elements(&r, p.type, n_x + n_y + n_grid, false),
             *grid = draw_points(&r, &p);
        Operand sampled[] = {
            {to, n_y * width, true, p.type, limit}, {x, n_x * width}, {grid, n_grid * width}};
        Operand scattered[] = {
            {to, n_x * width, true, p.type, limit}, {y, n_y * width}, {grid, n_grid * width}};
        Operand slopes[] = {{to, n_grid * width, true, p.type, limit},
                            {x, n_x * width},
                            {grid, n_grid * width},
                            {y, n_y * width}};

        CHECK_BOTH(grid_sample, &p, sampled, 3, 0, 0);
        CHECK_BOTH(grid_sample_input_grad, &p, scattered, 3, 0, 0);
        CHECK_BOTH(grid_sample_grid_grad, &p, slopes, 4, 0, 0);
        free(x);
        free(y);
        free(to);
        free(grid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grids)};

    return cmocka_run_group_tests(tests, NULL, NULL) + cudart_count_unlaunched("rt_cuda_grid");
}
