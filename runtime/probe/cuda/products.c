// Measures matrix products, from small to large ones: a table of all sizes; long ones, which are
// tall, flat or deep; and batches. One that would take longer than a call may is left out.
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/probe/cuda/gpu_probe.h"

enum { MAX_SIZES = 5, MAX_PRODUCTS = 1024 };
static const double MAX_BYTES = 2.0 * (1 << 30);  // of all operands
static const double ALWAYS = 1 << 21;  // flops up to which a product is measured in any case

// Products m by k by n of all these sizes. `longer`: also those whose one size is this.
static const struct {
    RtType type;
    int64_t batch, size[MAX_SIZES], longer;
} tables[] = {{RT_F32, 1, {32, 128, 512, 2048, 8192}, 0},
              {RT_F32, 1, {128, 512, 2048}, 32768},
              {RT_F32, 16, {32, 128, 512, 2048}, 0},
              {RT_F32, 256, {32, 128, 512, 2048}, 0},
              {RT_BF16, 1, {32, 512, 2048, 8192}, 0},
              {RT_BF16, 1, {512, 2048}, 32768},
              {RT_BF16, 16, {32, 512, 2048}, 0},
              {RT_F16, 1, {32, 512, 8192}, 0},
              {RT_F64, 1, {32, 256, 2048}, 0},
              {RT_F64, 1, {256}, 16384},
              {RT_F64, 16, {32, 256}, 0}};

static double flops_of(const Product *x)
{
    return 2.0 * (double)x->batch * (double)x->m * (double)x->n * (double)x->k;
}

static double bytes_of(const Product *x)
{
    double elements =
        (double)x->m * (double)x->k + (double)x->k * (double)x->n + (double)x->m * (double)x->n;

    return elements * (double)x->batch * rt_type_bytes(x->type);
}

static int compare(const void *a, const void *b)
{
    double x = flops_of(a), y = flops_of(b);

    return (x > y) - (x < y);
}

static void add(Product *to, int *n, const Product *x)
{
    if (bytes_of(x) <= MAX_BYTES && *n < MAX_PRODUCTS)
        to[(*n)++] = *x;
}

Product *products_new(int *n)
{
    Product *to = rt_alloc(MAX_PRODUCTS, sizeof *to);

    *n = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const int64_t *size = tables[t].size, longer = tables[t].longer;
        int sizes = 0;
        while (sizes < MAX_SIZES && size[sizes])
            sizes++;
        for (int i = 0; i < sizes * sizes * sizes; i++) {
            int64_t m = size[i / (sizes * sizes)], x = size[i / sizes % sizes], k = size[i % sizes];
            if (!longer)
                add(to, n, &(Product){tables[t].type, tables[t].batch, m, x, k, {{0}, 0}});
            else if (m == size[0]) {
                add(to, n, &(Product){tables[t].type, tables[t].batch, longer, x, k, {{0}, 0}});
                add(to, n, &(Product){tables[t].type, tables[t].batch, x, longer, k, {{0}, 0}});
                add(to, n, &(Product){tables[t].type, tables[t].batch, x, k, longer, {{0}, 0}});
            }
        }
    }
    qsort(to, (size_t)*n, sizeof *to, compare);
    return to;
}

typedef struct Operands {
    void *y, *a, *b;
} Operands;

static void multiply(Rt *rt, const void *operand)
{
    const Operands *o = operand;

    rt_dot(rt, 0, o->y, o->a, o->b);
}

static double product_seconds(Probe *p, const Product *x)
{
    RtDot dot = product_of(x->type, x->batch, x->m, x->n, x->k);
    Operands o = {gpu_memory(x->batch * x->m * x->n * rt_type_bytes(x->type)),
                  drawn_memory(p, x->type, x->batch * x->m * x->k),
                  drawn_memory(p, x->type, x->batch * x->k * x->n)};
    void *kernel = NULL;

    p->rt.kernel = &kernel;
    p->rt.workspace = gpu_memory(rt_cuda_dot_workspace(&dot) + 1);
    rt_dot_init(&p->rt, 0, &dot);
    double seconds = bare_seconds(p, multiply, &o);
    rt_kernels_free(&p->rt, 1);
    p->rt.kernel = NULL;
    rt_cuda_must(cudaFree(p->rt.workspace), "memory");
    rt_cuda_must(cudaFree(o.y), "memory");
    rt_cuda_must(cudaFree(o.a), "memory");
    rt_cuda_must(cudaFree(o.b), "memory");
    return seconds;
}

// A product is at least as fast as the fastest one so far: sizes grow slowly, so it isn't much
// slower.
void measure_products(Probe *p, Product *product, int n)
{
    double best[RT_BOOL + 1] = {0};

    for (int i = 0; i < n; i++) {
        Product *x = &product[i];
        double rate = best[x->type];
        bool fits = bytes_of(x) <= (double)p->memory / 4 && has_time(p, flops_of(x) / rate);
        if (flops_of(x) > ALWAYS && !fits)
            continue;
        rate = flops_of(x) / product_seconds(p, x);
        rate_add(&x->rate, rate);
        best[x->type] = rate > best[x->type] ? rate : best[x->type];
    }
}
