// Tests of cuBLASLt's double: a product, and misuse, which ends with its message.
#include "tests/cuda/both.h"

enum { M = 4, N = 6, K = 8, ROOM = 256 };

// A product of f32 that is ready to be searched for: y = a b, column-major, with a workspace.
typedef struct Machine {
    RtCublasLt *lt;
    RtLtProduct *product;
    RtLtMatrix *a, *b, *y;
    RtLtSearch *search;
    RtLtFound found;
    float *x, *z, *to, alpha, beta;  // of a, b and y
    char *workspace;
    cudaStream_t stream;
} Machine;

static RtLtMatrix *matrix(Machine *m, int rows, int columns, int leading)
{
    RtLtMatrix *to;

    m->lt->cublasLtMatrixLayoutCreate(&to, RT_LT_R_32F, (uint64_t)rows, (uint64_t)columns, leading);
    return to;
}

static void allow(Machine *m, uint64_t workspace, uint32_t reductions, uint32_t alignment)
{
    const RtCublasLt *lt = m->lt;

    lt->cublasLtMatmulPreferenceSetAttribute(m->search, RT_LT_MAX_WORKSPACE, &workspace, 8);
    lt->cublasLtMatmulPreferenceSetAttribute(m->search, RT_LT_REDUCTIONS, &reductions, 4);
    for (int i = RT_LT_ALIGNMENT_A; i <= RT_LT_ALIGNMENT_D; i++)
        lt->cublasLtMatmulPreferenceSetAttribute(m->search, i, &alignment, 4);
}

static Machine machine_new(void)
{
    Machine m = {.lt = rt_cublaslt_open(NULL), .alpha = 1};

    cudart_order(0, true);
    m.lt->cublasLtMatmulDescCreate(&m.product, RT_LT_COMPUTE_32F, RT_LT_R_32F);
    m.lt->cublasLtMatmulPreferenceCreate(&m.search);
    m.a = matrix(&m, M, K, M);
    m.b = matrix(&m, K, N, K);
    m.y = matrix(&m, M, N, M);
    allow(&m, ROOM, RT_LT_REDUCE_COMPUTE_TYPE, 16);
    cudaStreamCreateWithFlags(&m.stream, cudaStreamNonBlocking);
    cudaMalloc((void **)&m.x, M * K * 4);
    cudaMalloc((void **)&m.z, K * N * 4);
    cudaMalloc((void **)&m.to, M * N * 4);
    cudaMalloc((void **)&m.workspace, ROOM);
    cudaMemsetAsync(m.x, 0, M * K * 4, m.stream);
    cudaMemsetAsync(m.z, 0, K * N * 4, m.stream);
    return m;
}

static void machine_end(Machine *m)
{
    const RtCublasLt *lt = m->lt;

    lt->cublasLtMatmulDescDestroy(m->product);
    lt->cublasLtMatmulPreferenceDestroy(m->search);
    lt->cublasLtMatrixLayoutDestroy(m->a);
    lt->cublasLtMatrixLayoutDestroy(m->b);
    lt->cublasLtMatrixLayoutDestroy(m->y);
    rt_cublaslt_close(m->lt);
    cudaStreamDestroy(m->stream);
    cudaFree(m->x);
    cudaFree(m->z);
    cudaFree(m->to);
    cudaFree(m->workspace);
    assert_int_equal(cudart_objects(), 0);
}

static int search(Machine *m)
{
    int n = 0;
    int status = m->lt->cublasLtMatmulAlgoGetHeuristic(m->lt->handle, m->product, m->a, m->b, m->y,
                                                       m->y, m->search, 1, &m->found, &n);

    return status ? status : n;
}

static int call(Machine *m)
{
    int status = m->lt->cublasLtMatmul(m->lt->handle, m->product, &m->alpha, m->x, m->a, m->z, m->b,
                                       &m->beta, m->to, m->y, m->to, m->y, &m->found.algorithm,
                                       m->workspace, ROOM, m->stream);

    return status ? status : (int)cudaStreamSynchronize(m->stream);
}

static void search_and_call(Machine *m)
{
    search(m);
    call(m);
}

static void test_product(void **state)
{
    Machine m = machine_new();
    float host[M * N];

    assert_int_equal(search(&m), 1);
    assert_int_equal(call(&m), 0);
    assert_int_equal(cudaMemcpy(host, m.to, sizeof host, cudaMemcpyDeviceToHost), 0);
    for (int i = 0; i < M * N; i++)
        assert_true(host[i] == 0);
    machine_end(&m);
}

// Gives a and y the rows of one matrix of 2 M rows: a the first ones, y M of them from row `first`
// on.
static void share_columns(Machine *m, int first)
{
    const RtCublasLt *lt = m->lt;

    cudaStreamSynchronize(m->stream);
    lt->cublasLtMatrixLayoutDestroy(m->a);
    lt->cublasLtMatrixLayoutDestroy(m->y);
    m->a = matrix(m, M, K, 2 * M);
    m->y = matrix(m, M, N, 2 * M);
    cudaFree(m->x);
    cudaFree(m->to);
    cudaMalloc((void **)&m->x, 2 * M * K * 4);
    m->to = m->x + first;
}

static void test_result_between_columns(void **state)
{
    Machine m = machine_new();

    share_columns(&m, M);
    assert_int_equal(search(&m), 1);
    assert_int_equal(call(&m), 0);
    m.to = NULL;
    machine_end(&m);
}

// ---- misuse ----

static void short_leading(Machine *m)
{
    m->a = matrix(m, M, K, M - 1);
    search(m);
}
static void other_sizes(Machine *m)
{
    m->b = matrix(m, K + 1, N, K + 1);
    search(m);
}
static void other_batches(Machine *m)
{
    int32_t n = 2;

    m->lt->cublasLtMatrixLayoutSetAttribute(m->b, RT_LT_BATCH_COUNT, &n, sizeof n);
    search(m);
}
static void other_type(Machine *m)
{
    m->lt->cublasLtMatmulDescCreate(&m->product, RT_LT_COMPUTE_64F, RT_LT_R_64F);
    search(m);
}
static void wrong_bytes(Machine *m)
{
    int64_t n = 2;

    m->lt->cublasLtMatrixLayoutSetAttribute(m->b, RT_LT_BATCH_COUNT, &n, sizeof n);
}
static void onto_result(Machine *m)
{
    allow(m, ROOM, RT_LT_REDUCE_INPLACE | RT_LT_REDUCE_COMPUTE_TYPE, 16);
    search(m);
}
static void onto_halves(Machine *m)
{
    allow(m, ROOM, RT_LT_REDUCE_OUTPUT_TYPE | RT_LT_REDUCE_COMPUTE_TYPE, 16);
    search(m);
}
static void half_result(Machine *m)
{
    m->lt->cublasLtMatrixLayoutCreate(&m->y, RT_LT_R_16F, M, N, M);
    search(m);
}
static void destroyed(Machine *m)
{
    m->lt->cublasLtMatrixLayoutDestroy(m->a);
    search(m);
}
static void other_product(Machine *m)
{
    search(m);
    m->a = matrix(m, M, K, M);
    m->y = matrix(m, M, N, M + 1);
    call(m);
}
static void misaligned(Machine *m)
{
    m->x++;
    search_and_call(m);
}
static void host_memory(Machine *m)
{
    static _Alignas(16) float x[M * K];

    m->x = x;
    search_and_call(m);
}
static void too_short(Machine *m)
{
    cudaMalloc((void **)&m->x, M * K * 4 - 4);
    search_and_call(m);
}
static void freed(Machine *m)
{
    cudaFree(m->z);
    search_and_call(m);
}
static void onto_operand(Machine *m)
{
    m->to = m->x;
    search_and_call(m);
}
static void onto_rows(Machine *m)
{
    allow(m, ROOM, RT_LT_REDUCE_COMPUTE_TYPE, 4);
    share_columns(m, M - 1);
    search_and_call(m);
}
static void bad_status(Machine *m)
{
    RtLtFound found[3];
    int n = 0;

    m->lt->cublasLtMatmulAlgoGetHeuristic(m->lt->handle, m->product, m->a, m->b, m->y, m->y,
                                          m->search, 3, found, &n);
    m->found = found[2];
    call(m);
}
static void small_workspace(Machine *m)
{
    allow(m, ROOM + 1, RT_LT_REDUCE_COMPUTE_TYPE, 16);
    search_and_call(m);
}
static void moved_workspace(Machine *m)
{
    m->workspace += 64;
    search_and_call(m);
}
static void adds(Machine *m)
{
    m->beta = 1;
    search_and_call(m);
}
static void closed(Machine *m)
{
    search(m);
    m->lt->cublasLtDestroy(m->lt->handle);
    call(m);
}

static const struct {
    void (*f)(Machine *m);
    const char *says;
} misuses[] = {
    {short_leading, "a: the leading dimension 3 is less than 4 rows"},
    {other_sizes, "a product whose sizes differ"},
    {other_batches, "b: another type or number of batch entries than of a"},
    {other_type, "a product of elements of type 0, computed as 70 and scaled as 1"},
    {wrong_bytes, "cublasLtMatrixLayoutSetAttribute: a value of 8 bytes"},
    {onto_result, "cublasLtMatmulAlgoGetHeuristic: parts of sums may be added onto the result"},
    {onto_halves, "cublasLtMatmulAlgoGetHeuristic: parts of sums may have the type of the result"},
    {half_result, "d: another type or number of batch entries than of a"},
    {destroyed, "cublasLtMatmulAlgoGetHeuristic: the object has been destroyed"},
    {other_product, "cublasLtMatmul: the algorithm is another product's"},
    {misaligned, "a isn't at a multiple of 16 bytes, for which the algorithm was found"},
    {host_memory, "a is no device memory"},
    {too_short, "a: bytes 0 to 128 of an allocation of 124 bytes"},
    {freed, "b: memory is used after its free"},
    {onto_operand, "d overlaps what is read"},
    {onto_rows, "d overlaps what is read"},
    {bad_status, "cublasLtMatmul: the algorithm's status was bad"},
    {small_workspace, "a workspace of 256 bytes, where the algorithm uses 257"},
    {moved_workspace, "the workspace isn't at a multiple of 256 bytes"},
    {adds, "a product times 1 plus 1 times the result"},
    {closed, "cublasLtMatmul: the object has been destroyed"},
};

static void run_misuse(const void *i)
{
    Machine m = machine_new();

    misuses[*(const size_t *)i].f(&m);
}

static void test_misuse(void **state)
{
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++)
        check_failure(run_misuse, &i, misuses[i].says);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_product),
                                       cmocka_unit_test(test_result_between_columns),
                                       cmocka_unit_test(test_misuse)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
