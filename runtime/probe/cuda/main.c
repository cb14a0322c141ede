// Measures a GPU with the kernels that trainers call, and, if a launcher or this program itself has
// started several ranks, the links between their GPUs. Prints the result as JSON for shardcc
// detect, which compiles this program as it compiles trainers.
//
//   probe SECONDS SPAWN   how long measuring may take; how many ranks to start, 0: a launcher's
//   probe collectives LEAST MOST BY SPAWN MESH
//                         how fast collectives of so many bytes are, BY nccl, host or any; the
//                         ranks are all those of MESH: 8, or 2x4 for permutes between two axes
//   probe failure BY SPAWN MESH
//                         what happens if a kernel of the last rank fails while ranks exchange
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/collectives.h"
#include "runtime/core/core.h"
#include "runtime/probe/cuda/gpu_probe.h"

RT_KERNELS("kernels.fatbin");

enum { SLOTS = 1 };
// Bytes of a collective's operands at most.
static const int64_t MAX_COLLECTIVE = (int64_t)1 << 33;
// A call of 1/CALL_SHARE of the time that all may take is the longest. A call runs a dozen times,
// and few are as long.
static const double CALL_SHARE = 1000;
// The part of the time that goes to the rates. Links take the rest.
static const double RATES_SHARE = 0.8;

static const char *type_name(RtType t)
{
    return t == RT_F64 ? "f64" : t == RT_BF16 ? "bf16" : t == RT_F16 ? "f16" : "f32";
}

static void print_products(const Product *product, int n)
{
    const char *comma = "";

    for (int i = 0; i < n; i++) {
        const Product *x = &product[i];
        if (!x->rate.n)
            continue;
        printf("%s{\"type\": \"%s\", \"batch\": %lld, \"m\": %lld, \"n\": %lld, \"k\": %lld, "
               "\"flops\": %.4g}",
               comma, type_name(x->type), (long long)x->batch, (long long)x->m, (long long)x->n,
               (long long)x->k, rate_of(&x->rate));
        comma = ",\n";
    }
}

// Bytes that are assumed of what NCCL takes in any case, and of a communicator if none was made.
static const int64_t NCCL_BYTES = (int64_t)1 << 30, COMMUNICATOR_BYTES = (int64_t)1 << 28;

// One communicator for all ranks, and one for each axis of fewer.
static int64_t communicator_bytes(const Probe *p)
{
    int axes = p->ranks->model.mesh.n_axes;
    RtDescription d;

    if (!rt_collectives_describe(&p->rt, &d) || !d.device_bytes)
        return COMMUNICATOR_BYTES;
    return d.device_bytes / (axes > 1 ? 1 + axes : 1);
}

static void print_device(const Probe *p, const Rates *r, const Product *product, int n)
{
    printf("\"device\": {\"is_gpu\": true,\n\"threads\": 1, \"memory\": %lld, ",
           (long long)p->memory);
    printf("\"bandwidth\": %.4g, \"reading\": %.4g, \"launch\": %.4g,\n", rate_of(&r->bandwidth),
           rate_of(&r->reading), rate_of(&r->launch));
    printf("\"vector\": %.4g, \"attention\": %.4g, \"attention_grad\": %.4g,\n",
           rate_of(&r->vector), rate_of(&r->attention), rate_of(&r->attention_grad));
    printf("\"half_attention\": %.4g, \"half_attention_grad\": %.4g,\n\"gemm\": [",
           rate_of(&r->half_attention), rate_of(&r->half_attention_grad));
    print_products(product, n);
    printf("],\n\"exchange_memory\": {\"base\": %lld, \"communicator\": %lld}}}\n",
           (long long)NCCL_BYTES, (long long)communicator_bytes(p));
}

// All ranks measure at the same time, as they compute at the same time. Another round begins if it
// will end within `seconds` on all.
static void measure(Probe *p, double seconds, Rates *r, Product *product, int n)
{
    double began = rt_seconds(), took = 0;

    p->end = began + seconds;
    for (int i = 0; i < ROUNDS && took * (i + 1) < seconds * i + (i == 0); i++) {
        ranks_wait(p->ranks);
        measure_rates(p, r);
        measure_products(p, product, n);
        took = ranks_most(p->ranks, rt_seconds() - began);
    }
}

static void open_gpu(Probe *p, const RtModel *m)
{
    size_t available = 0, all = 0;
    bool is_open = p->rt.device->open(&p->rt, m);

    is_open = !rt_comm_max(p->rt.comm, !is_open);  // the collectives begin with messages of all
    if (!is_open || !rt_collectives_open(&p->rt, m, true)) {
        rt_comm_fail(p->rt.comm);
        exit(1);
    }
    rt_cuda_must(cudaMemGetInfo(&available, &all), "the GPU's memory");
    p->memory = (int64_t)all;
}

static void print_cluster(Probe *p, double seconds)
{
    const Ranks *ranks = p->ranks;
    Rates rates = {0};
    int n;
    Product *product = products_new(&n);

    measure(p, RATES_SHARE * seconds, &rates, product, n);
    if (!ranks->rank)
        printf("{\"version\": 3, \"devices_per_host\": %d, ", ranks->per_host);
    if (ranks->n > 1)
        measure_gpu_links(p);
    else
        printf("\"links\": [], ");
    if (!ranks->rank)
        print_device(p, &rates, product, n);
    else if (!ranks->is_spawned)
        printf("null\n");
    free(product);
}

// ---- failure ----

static void put_sum(Rt *rt, const void *operand)
{
    static const RtExchange e = {.type = RT_F32, .outer = 1, .whole = 1, .inner = 1};
    float *x = *(float *const *)operand;

    rt_all_reduce(rt, &e, x + 1, x);
}

// Sums without an end, of which one comes after a kernel that writes to no address. Says when.
static void fail(Probe *p)
{
    enum { SUMS_BEFORE = 100 };
    float *x = gpu_memory(2 * sizeof *x), *nowhere = NULL;

    for (int64_t i = 0;; i++) {
        if (i == SUMS_BEFORE && p->ranks->rank == p->ranks->n - 1) {
            fprintf(stderr, "probe: a kernel fails at %.3f\n", rt_seconds());
            rt_launch(&p->rt, "probe_fail", 1, 1, &nowhere, sizeof nowhere);
        }
        run_seconds_of(p, put_sum, &x, 1);
    }
}

// ---- the program ----

// The words after the first one, whose number main has checked.
typedef struct Request {
    double seconds;
    CollectiveSizes sizes;
    bool fails;
    const char *by, *mesh;  // NULL: the links between all ranks are measured
    int spawn;
} Request;

static bool read_request(int argc, char **argv, Request *to)
{
    *to = (Request){.seconds = 90};
    if (argc == 7 && !strcmp(argv[1], "collectives"))
        to->sizes = (CollectiveSizes){atoll(argv[2]), atoll(argv[3])};
    else if (argc == 5 && !strcmp(argv[1], "failure"))
        to->fails = true;
    else {
        to->seconds = argc > 1 ? atof(argv[1]) : to->seconds;
        to->spawn = argc > 2 ? atoi(argv[2]) : 0;
        return argc <= 3 && to->seconds > 0;
    }
    to->by = argv[argc - 3];
    to->spawn = atoi(argv[argc - 2]);
    to->mesh = argv[argc - 1];
    return to->fails || (to->sizes.least > 0 && to->sizes.most <= MAX_COLLECTIVE);
}

// "2x4"
static bool read_mesh(const char *text, RtMesh *to)
{
    char rest;

    *to = (RtMesh){.name = {"x", "y"}};
    to->n_axes = sscanf(text, "%dx%d%c", &to->size[0], &to->size[1], &rest);
    for (int i = 0; i < to->n_axes; i++)
        if (to->size[i] < 1 || to->size[i] > MAX_RANKS)
            return false;
    return to->n_axes == 1 || to->n_axes == 2;
}

static RtGpuExchanges exchanges_of(const char *text)
{
    return !strcmp(text, "nccl") ? RT_BY_NCCL : !strcmp(text, "host") ? RT_BY_HOST : RT_BY_ANY;
}

int main(int argc, char **argv)
{
    RtModel model = {.name = "probe",
                     .transport = &TRANSPORT,
                     .collectives = &rt_cuda_collectives,
                     .exchange_bytes = 3 * GPU_LARGE + 4096,  // a message, and what two gather
                     .slots = SLOTS,
                     .device = &rt_cuda,
                     .kernels = rt_kernels,
                     .kernels_for = GPUS};
    Request request;
    Ranks ranks;
    bool is_done = true;

    if (!read_request(argc, argv, &request) ||
        (request.mesh && !read_mesh(request.mesh, &model.mesh))) {
        fprintf(stderr, "probe: the words are wrong: main.c says which there are\n");
        return 2;
    }
    if (request.sizes.most)
        model.exchange_bytes = collectives_pinned(request.sizes);
    ranks_begin(&ranks, &model, request.spawn);
    Probe p = {.rt = {.device = &rt_cuda, .comm = ranks.comm, .threads = 1},
               .ranks = &ranks,
               .longest = request.seconds / CALL_SHARE};
    p.rt.gpu = (RtGpuOptions){.number = -1, .has_graphs = true};
    if (request.by)
        p.rt.gpu.exchanges = exchanges_of(request.by);
    open_gpu(&p, &ranks.model);
    if (request.fails)
        fail(&p);
    else if (request.mesh)
        is_done = measure_collectives(&p, request.sizes);
    else
        print_cluster(&p, request.seconds);
    rt_collectives_close(&p.rt, true);
    p.rt.device->close(&p.rt, &ranks.model);
    ranks_end(&ranks);
    return fflush(stdout) != 0 || !is_done;
}
