// Matrix products by cuBLASLt.
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/cuda/matmul.h"

static void must(const RtCuda *c, int status) { rt_cublaslt_must(c->blas, status, "a product"); }

// ---- preparation ----

static int type_of(RtType t)
{
    return t == RT_F64    ? RT_LT_R_64F
           : t == RT_F16  ? RT_LT_R_16F
           : t == RT_BF16 ? RT_LT_R_16BF
                          : RT_LT_R_32F;
}

static RtLtMatrix *matrix_of(const RtCuda *c, const RtMatmul *q, const RtCudaMatrix *m, RtType t)
{
    const RtCublasLt *lt = c->blas;
    int32_t batches = (int32_t)q->plan.batches;
    RtLtMatrix *to;

    must(c, lt->cublasLtMatrixLayoutCreate(&to, type_of(t), (uint64_t)m->rows, (uint64_t)m->columns,
                                           m->leading));
    must(c, lt->cublasLtMatrixLayoutSetAttribute(to, RT_LT_BATCH_COUNT, &batches, sizeof batches));
    must(c, lt->cublasLtMatrixLayoutSetAttribute(to, RT_LT_BATCH_STRIDE, &m->stride,
                                                 sizeof m->stride));
    return to;
}

// Halves are added up in f32, and a sum is rounded once.
static RtLtProduct *product_of(const RtCuda *c, const RtMatmul *q, bool has_tf32)
{
    const RtCublasLt *lt = c->blas;
    int32_t a = q->plan.a.is_transposed ? RT_LT_OP_T : RT_LT_OP_N;
    int32_t b = q->plan.b.is_transposed ? RT_LT_OP_T : RT_LT_OP_N;
    int compute = q->type == RT_F64               ? RT_LT_COMPUTE_64F
                  : has_tf32 && q->type == RT_F32 ? RT_LT_COMPUTE_TF32
                                                  : RT_LT_COMPUTE_32F;
    RtLtProduct *to;

    must(c,
         lt->cublasLtMatmulDescCreate(&to, compute, q->type == RT_F64 ? RT_LT_R_64F : RT_LT_R_32F));
    must(c, lt->cublasLtMatmulDescSetAttribute(to, RT_LT_TRANSA, &a, sizeof a));
    must(c, lt->cublasLtMatmulDescSetAttribute(to, RT_LT_TRANSB, &b, sizeof b));
    return to;
}

RtMatmul *rt_cuda_matmul_new(Rt *rt, const RtDot *p)
{
    RtCuda *c = rt_cuda_of(rt);
    RtCudaMatmul plan;

    if (!rt_cuda_matmul_plan(p, &plan))
        return NULL;
    if (!c->blas)
        c->blas = rt_cublaslt_open(rt->gpu.libraries);
    RtMatmul *q = rt_alloc(1, sizeof *q);
    *q = (RtMatmul){.plan = plan, .type = p->type, .result = rt_dot_result(p), .next = c->matmul};
    q->workspace = (uint64_t)rt_cuda_matmul_bytes(p);
    q->product = product_of(c, q, rt->gpu.has_tf32);
    q->a = matrix_of(c, q, &plan.a, q->type);
    q->b = matrix_of(c, q, &plan.b, q->type);
    q->y = matrix_of(c, q, &plan.y, q->result);
    c->matmul = q;
    return q;
}

void rt_cuda_matmuls_free(RtCuda *c)
{
    for (RtMatmul *q = c->matmul, *next; q; q = next) {
        next = q->next;
        c->blas->cublasLtMatmulDescDestroy(q->product);
        c->blas->cublasLtMatrixLayoutDestroy(q->a);
        c->blas->cublasLtMatrixLayoutDestroy(q->b);
        c->blas->cublasLtMatrixLayoutDestroy(q->y);
        free(q);
    }
    c->matmul = NULL;
    if (c->blas)
        rt_cublaslt_close(c->blas);
    c->blas = NULL;
}

// ---- the choice of an algorithm ----

static RtLtSearch *search_of(const RtCuda *c, const RtMatmul *q, bool is_aligned)
{
    const RtCublasLt *lt = c->blas;
    // Parts of a sum are added by a kernel of its own, so their order depends on no timing, and two
    // runs give the same bits.
    uint32_t reductions = RT_LT_REDUCE_COMPUTE_TYPE;
    RtLtSearch *to;

    must(c, lt->cublasLtMatmulPreferenceCreate(&to));
    must(c, lt->cublasLtMatmulPreferenceSetAttribute(to, RT_LT_MAX_WORKSPACE, &q->workspace,
                                                     sizeof q->workspace));
    must(c, lt->cublasLtMatmulPreferenceSetAttribute(to, RT_LT_REDUCTIONS, &reductions,
                                                     sizeof reductions));
    for (int i = RT_LT_ALIGNMENT_A; i <= RT_LT_ALIGNMENT_D; i++) {
        RtType t = i < RT_LT_ALIGNMENT_A + 2 ? q->type : q->result;
        uint32_t bytes = is_aligned ? RT_MATMUL_ALIGNMENT : (uint32_t)rt_type_bytes(t);
        must(c, lt->cublasLtMatmulPreferenceSetAttribute(to, i, &bytes, sizeof bytes));
    }
    return to;
}

int rt_cuda_matmul_search(const RtCuda *c, const RtMatmul *q, bool is_aligned, int most,
                          RtLtFound *found)
{
    RtLtSearch *search = search_of(c, q, is_aligned);
    int n = 0;
    int status = c->blas->cublasLtMatmulAlgoGetHeuristic(c->blas->handle, q->product, q->a, q->b,
                                                         q->y, q->y, search, most, found, &n);

    if (status != RT_LT_NOT_SUPPORTED && status != RT_LT_INVALID_VALUE)
        must(c, status);
    must(c, c->blas->cublasLtMatmulPreferenceDestroy(search));
    return status == RT_LT_SUCCESS ? n : 0;
}

// Takes the algorithm that cuBLASLt expects to be the fastest.
static void choose(const RtCuda *c, const RtMatmul *q, bool is_aligned, RtMatmulChoice *to)
{
    RtLtFound found = {0};
    int n = rt_cuda_matmul_search(c, q, is_aligned, 1, &found);

    to->is_made = true;
    to->has_algorithm = n == 1 && found.status == RT_LT_SUCCESS;
    to->algorithm = found.algorithm;
}

// ---- the call ----

// Where cuBLASLt's workspace begins in the call's.
static void *workspace_of(const Rt *rt)
{
    uintptr_t at = (uintptr_t)rt->workspace, mask = RT_CUDA_MATMUL_ALIGNMENT - 1;

    return (void *)((at + mask) & ~mask);
}

int rt_cuda_matmul_start(const RtCuda *c, const RtMatmul *q, const RtMatmulOperands *at,
                         const RtLtAlgorithm *algorithm)
{
    const double double_one = 1, double_zero = 0;
    const float float_one = 1, float_zero = 0;
    const void *one = q->type == RT_F64 ? (const void *)&double_one : &float_one;
    const void *zero = q->type == RT_F64 ? (const void *)&double_zero : &float_zero;

    return c->blas->cublasLtMatmul(c->blas->handle, q->product, one, at->a, q->a, at->b, q->b, zero,
                                   at->y, q->y, at->y, q->y, algorithm, at->workspace, q->workspace,
                                   c->stream);
}

bool rt_cuda_matmul(Rt *rt, RtMatmul *q, void *y, const void *left, const void *right)
{
    const RtCuda *c = rt_cuda_of(rt);
    bool is_swapped = q->plan.is_swapped;
    RtMatmulOperands at = {y, workspace_of(rt), is_swapped ? right : left,
                           is_swapped ? left : right};
    bool is_aligned =
        ((uintptr_t)y | (uintptr_t)left | (uintptr_t)right) % RT_MATMUL_ALIGNMENT == 0;
    RtMatmulChoice *choice = &q->choice[is_aligned ? RT_ALIGNED : RT_UNALIGNED];

    if (!choice->is_made)
        choose(c, q, is_aligned, choice);
    if (choice->has_algorithm)
        must(c, rt_cuda_matmul_start(c, q, &at, &choice->algorithm));
    return choice->has_algorithm;
}
