// A double of cuBLASLt, whose products run on the double of CUDA's runtime with plain loops. It
// ends with a message where cuBLASLt would return an error or leave the result undefined.
// CUBLASLT_NONE=1 lets it find no algorithm, CUBLASLT_VERSION is the version that it says it is.
//
// It offers 5 algorithms. The sums of the first have other bits than those of the others. The third
// one's status is bad, and the fourth can't be started. CUBLASLT_FASTEST=4 lets the others take
// longer by the clock of events.
#include "tests/cuda/cublaslt_internal.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "tests/cuda/cudart_internal.h"
#include "tests/cuda/memory.h"

using namespace cublaslt;
using namespace cudart;

struct RtLtHandle {
    int unused;
};
struct RtLtSearch {
    uint64_t workspace;
    uint32_t reductions, alignment[4];
};

namespace
{

enum { WORKSPACE_ALIGNMENT = 256 };
enum : int { ALGORITHMS = 5, BAD = 2, UNABLE = 3 };

template <class... T> [[noreturn]] void fail(const char *format, T... x)
{
    gpu::fail(gpu::NOWHERE, format, x...);
}

// The algorithm that a search found: for which product, and under which promises.
struct Found {
    uint64_t product, workspace;
    uint32_t alignment[4];
    int number;
};
static_assert(sizeof(Found) <= sizeof(RtLtAlgorithm));

// ---- products ----

void check_matrix(const char *name, const RtLtMatrix &m, int type, const Product &p)
{
    if (m.type != type || m.batches != p.a.batches)
        fail("%s: another type or number of batch entries than of a", name);
    if (m.rows < 1 || m.columns < 1 || m.batches < 1 || m.rows > INT32_MAX || m.columns > INT32_MAX)
        fail("%s: %llu rows, %llu columns, %d batch entries", name, (unsigned long long)m.rows,
             (unsigned long long)m.columns, m.batches);
    if (m.leading < (int64_t)m.rows)
        fail("%s: the leading dimension %lld is less than %llu rows", name, (long long)m.leading,
             (unsigned long long)m.rows);
}

void check_product(const Product &p)
{
    Size s = p.size();
    bool is_double = p.a.type == RT_LT_R_64F, is_half = width_of(p.a) == 2;
    bool is_single = p.how.compute == RT_LT_COMPUTE_32F ||
                     (p.how.compute == RT_LT_COMPUTE_TF32 && p.a.type == RT_LT_R_32F);

    check_matrix("a", p.a, p.a.type, p);
    check_matrix("b", p.b, p.a.type, p);
    check_matrix("d", p.d, is_half && p.d.type == RT_LT_R_32F ? p.d.type : p.a.type, p);
    if (p.how.scale != (is_double ? RT_LT_R_64F : RT_LT_R_32F) ||
        (is_double ? p.how.compute != RT_LT_COMPUTE_64F : !is_single))
        fail("a product of elements of type %d, computed as %d and scaled as %d", p.a.type,
             p.how.compute, p.how.scale);
    if (p.d.rows != s.m || p.d.columns != s.n ||
        s.k != (p.how.transposes_b ? p.b.columns : p.b.rows))
        fail("a product whose sizes differ");
}

// A number that tells products apart.
uint64_t number_of(const Product &p)
{
    uint64_t hash = 14695981039346656037u;
    auto add = [&](uint64_t x) { hash = (hash ^ x) * 1099511628211u; };

    for (int x : {p.how.compute, p.how.scale, p.how.transposes_a, p.how.transposes_b})
        add((uint64_t)x);
    for (const RtLtMatrix *m : {&p.a, &p.b, &p.d})
        for (uint64_t x : {m->rows, m->columns, (uint64_t)m->leading, (uint64_t)m->stride,
                           (uint64_t)m->batches, (uint64_t)m->type})
            add(x);
    return hash;
}

// ---- memory ----

struct Bytes {
    const char *begin, *end;
};

Bytes bytes_of(const void *p, const RtLtMatrix &m)
{
    int64_t last =
        (int64_t)m.rows - 1 + ((int64_t)m.columns - 1) * m.leading + (m.batches - 1) * m.stride;
    const char *begin = static_cast<const char *>(p);

    return {begin, begin + (size_t)(last + 1) * width_of(m)};
}

void check_bytes(const char *name, Bytes b, uint32_t alignment)
{
    if (kind_of(b.begin) != DEVICE)
        fail("%s is no device memory", name);
    if ((uintptr_t)b.begin % alignment)
        fail("%s isn't at a multiple of %u bytes, for which the algorithm was found", name,
             alignment);
    check_range(name, b.begin, (size_t)(b.end - b.begin));
}

bool overlap(Bytes a, Bytes b) { return a.begin < b.end && b.begin < a.end; }

void check_disjoint(const char *name, Bytes a, Bytes b)
{
    if (overlap(a, b))
        fail("%s overlaps what is read", name);
}

// The elements of column k, counted through all batch entries.
Bytes column_of(const void *p, const RtLtMatrix &m, int64_t k)
{
    int64_t columns = (int64_t)m.columns;
    const char *begin = static_cast<const char *>(p) +
                        (k / columns * m.stride + k % columns * m.leading) * (int64_t)width_of(m);

    return {begin, begin + m.rows * width_of(m)};
}

// The result may lie between the columns of a factor: both are parts of the rows of one matrix.
void check_result(const Product &p, const void *factor, const RtLtMatrix &m, const void *d)
{
    if (!overlap(bytes_of(factor, m), bytes_of(d, p.d)))
        return;
    for (int64_t i = 0; i < p.d.batches * (int64_t)p.d.columns; i++)
        for (int64_t k = 0; k < m.batches * (int64_t)m.columns; k++)
            check_disjoint("d", column_of(d, p.d, i), column_of(factor, m, k));
}

template <class T> int set(T &to, const char *what, const void *value, size_t bytes)
{
    if (!value || bytes != sizeof to)
        fail("%s: a value of %zu bytes", what, bytes);
    memcpy(&to, value, bytes);
    return RT_LT_SUCCESS;
}

template <class T> int release(T *x, const char *call)
{
    LOCKED;
    check_handle(x, call);
    destroy(x);
    return RT_LT_SUCCESS;
}

Product product_of(const RtLtProduct *how, const RtLtMatrix *a, const RtLtMatrix *b,
                   const RtLtMatrix *c, const RtLtMatrix *d, const char *call)
{
    for (const void *x :
         {(const void *)how, (const void *)a, (const void *)b, (const void *)c, (const void *)d})
        check_handle(x, call);
    if (c != d)
        fail("%s: c isn't d", call);
    Product p{*how, *a, *b, *d};
    check_product(p);
    return p;
}

// Checks alpha = 1 and beta = 0, in the type of the sums.
void check_scale(const Product &p, const void *alpha, const void *beta)
{
    bool is_double = p.how.scale == RT_LT_R_64F;
    double one = is_double ? *(const double *)alpha : (double)*(const float *)alpha;
    double zero = is_double ? *(const double *)beta : (double)*(const float *)beta;

    if (one != 1 || zero != 0)
        fail("a product times %g plus %g times the result", one, zero);
}

void check_workspace(const Found &f, const void *workspace, size_t bytes)
{
    if (bytes < f.workspace)
        fail("a workspace of %zu bytes, where the algorithm uses %llu", bytes,
             (unsigned long long)f.workspace);
    const char *at = static_cast<const char *>(workspace);
    check_bytes("the workspace", {at, at + bytes}, WORKSPACE_ALIGNMENT);
}

// Seconds. The fastest algorithm is so in every third product alone, beginning with the first.
double delay_of(const Found &f)
{
    const char *fastest = getenv("CUBLASLT_FASTEST");

    if (!fastest)
        return 0;
    return f.number != atoi(fastest) ? 1 : state.matmuls % 3 ? 2 : 0;
}

}  // namespace

// ---- the library ----

#define DOUBLE_OF(name)                                                                            \
    static_assert(std::is_same_v<decltype(&name), decltype(RtCublasLt::name)>, #name)

extern "C" {

size_t cublasLtGetVersion(void)
{
    const char *version = getenv("CUBLASLT_VERSION");

    return version ? (size_t)atol(version) : 130000;
}

const char *cublasLtGetStatusString(int status)
{
    return status == RT_LT_EXECUTION_FAILED ? "the GPU failed" : "another status";
}

int cublasLtCreate(RtLtHandle **handle)
{
    LOCKED;
    *handle = made(new RtLtHandle{});
    return RT_LT_SUCCESS;
}

int cublasLtDestroy(RtLtHandle *handle) { return release(handle, __func__); }

int cublasLtMatmulDescCreate(RtLtProduct **product, int compute, int scale)
{
    LOCKED;
    *product = made(new RtLtProduct{compute, scale, RT_LT_OP_N, RT_LT_OP_N});
    return RT_LT_SUCCESS;
}

int cublasLtMatmulDescDestroy(RtLtProduct *product) { return release(product, __func__); }

int cublasLtMatmulDescSetAttribute(RtLtProduct *p, int attribute, const void *value, size_t bytes)
{
    LOCKED;
    HANDLE(p);
    switch (attribute) {
    case RT_LT_TRANSA:
        return set(p->transposes_a, __func__, value, bytes);
    case RT_LT_TRANSB:
        return set(p->transposes_b, __func__, value, bytes);
    default:
        fail("%s: attribute %d", __func__, attribute);
    }
}

int cublasLtMatrixLayoutCreate(RtLtMatrix **m, int type, uint64_t rows, uint64_t columns,
                               int64_t leading)
{
    LOCKED;
    *m = made(new RtLtMatrix{type, rows, columns, leading, 1, 0});
    return RT_LT_SUCCESS;
}

int cublasLtMatrixLayoutDestroy(RtLtMatrix *m) { return release(m, __func__); }

int cublasLtMatrixLayoutSetAttribute(RtLtMatrix *m, int attribute, const void *value, size_t bytes)
{
    LOCKED;
    HANDLE(m);
    switch (attribute) {
    case RT_LT_BATCH_COUNT:
        return set(m->batches, __func__, value, bytes);
    case RT_LT_BATCH_STRIDE:
        return set(m->stride, __func__, value, bytes);
    default:
        fail("%s: attribute %d", __func__, attribute);
    }
}

int cublasLtMatmulPreferenceCreate(RtLtSearch **search)
{
    LOCKED;
    *search = made(new RtLtSearch{0, 7, {256, 256, 256, 256}});
    return RT_LT_SUCCESS;
}

int cublasLtMatmulPreferenceDestroy(RtLtSearch *search) { return release(search, __func__); }

int cublasLtMatmulPreferenceSetAttribute(RtLtSearch *s, int attribute, const void *value,
                                         size_t bytes)
{
    LOCKED;
    HANDLE(s);
    if (attribute >= RT_LT_ALIGNMENT_A && attribute <= RT_LT_ALIGNMENT_D)
        return set(s->alignment[attribute - RT_LT_ALIGNMENT_A], __func__, value, bytes);
    switch (attribute) {
    case RT_LT_MAX_WORKSPACE:
        return set(s->workspace, __func__, value, bytes);
    case RT_LT_REDUCTIONS:
        return set(s->reductions, __func__, value, bytes);
    default:
        fail("%s: attribute %d", __func__, attribute);
    }
}

// All algorithms use all of the workspace.
int cublasLtMatmulAlgoGetHeuristic(RtLtHandle *handle, RtLtProduct *product, RtLtMatrix *a,
                                   RtLtMatrix *b, RtLtMatrix *c, RtLtMatrix *d, RtLtSearch *search,
                                   int most, RtLtFound *found, int *n)
{
    LOCKED;
    HANDLE(handle);
    HANDLE(search);
    Product p = product_of(product, a, b, c, d, __func__);
    Found f = {number_of(p), search->workspace, {}, 0};

    *n = 0;
    if (most < 1)
        fail("%s: %d algorithms", __func__, most);
    if (search->reductions & RT_LT_REDUCE_INPLACE)
        fail("%s: parts of sums may be added onto the result", __func__);
    if (search->reductions & RT_LT_REDUCE_OUTPUT_TYPE)
        fail("%s: parts of sums may have the type of the result", __func__);
    for (int i = 0; i < 4; i++) {
        f.alignment[i] = search->alignment[i];
        if (f.alignment[i] < width_of(i < 2 ? p.a : p.d) || (f.alignment[i] & (f.alignment[i] - 1)))
            fail("%s: an alignment of %u bytes", __func__, f.alignment[i]);
    }
    if (getenv("CUBLASLT_NONE"))
        return RT_LT_NOT_SUPPORTED;
    *n = std::min<int>(most, ALGORITHMS);
    for (int i = 0; i < *n; i++) {
        found[i] = {};
        found[i].workspace = f.workspace;
        found[i].status = i == BAD ? (int)RT_LT_NOT_SUPPORTED : (int)RT_LT_SUCCESS;
        f.number = i;
        memcpy(&found[i].algorithm, &f, sizeof f);
    }
    return RT_LT_SUCCESS;
}

int cublasLtMatmul(RtLtHandle *handle, RtLtProduct *product, const void *alpha, const void *a,
                   RtLtMatrix *a_matrix, const void *b, RtLtMatrix *b_matrix, const void *beta,
                   const void *c, RtLtMatrix *c_matrix, void *d, RtLtMatrix *d_matrix,
                   const RtLtAlgorithm *algorithm, void *workspace, size_t workspace_bytes,
                   cudaStream_t stream)
{
    LOCKED;
    HANDLE(handle);
    HANDLE(stream);
    Product p = product_of(product, a_matrix, b_matrix, c_matrix, d_matrix, __func__);
    Bytes x = bytes_of(a, p.a), z = bytes_of(b, p.b), y = bytes_of(d, p.d);
    auto *room = static_cast<char *>(workspace);
    Found f;

    memcpy(&f, algorithm, sizeof f);
    if (f.product != number_of(p))
        fail("%s: the algorithm is another product's", __func__);
    if (c != d)
        fail("%s: c isn't d", __func__);
    check_scale(p, alpha, beta);
    if (f.number == BAD)
        fail("%s: the algorithm's status was bad", __func__);
    check_workspace(f, workspace, workspace_bytes);
    check_bytes("a", x, f.alignment[0]);
    check_bytes("b", z, f.alignment[1]);
    check_bytes("d", y, f.alignment[3]);
    check_result(p, a, p.a, d);
    check_result(p, b, p.b, d);
    for (Bytes bytes : {x, y, z})
        check_disjoint("the workspace", {room, room + workspace_bytes}, bytes);
    if (f.number == UNABLE)
        return RT_LT_NOT_SUPPORTED;
    if (!state.launches_left)
        return RT_LT_EXECUTION_FAILED;
    state.launches_left -= state.launches_left > 0;
    enqueue(stream, [=, delay = delay_of(f)] {
        Open open;
        memset(room, 0xff, f.workspace);
        state.delay += delay;
        multiply_all(p, f.number, a, b, d);
    });
    state.matmuls++;
    return RT_LT_SUCCESS;
}

}  // extern "C"

DOUBLE_OF(cublasLtGetVersion);
DOUBLE_OF(cublasLtGetStatusString);
DOUBLE_OF(cublasLtCreate);
DOUBLE_OF(cublasLtDestroy);
DOUBLE_OF(cublasLtMatmulDescCreate);
DOUBLE_OF(cublasLtMatmulDescDestroy);
DOUBLE_OF(cublasLtMatmulDescSetAttribute);
DOUBLE_OF(cublasLtMatrixLayoutCreate);
DOUBLE_OF(cublasLtMatrixLayoutDestroy);
DOUBLE_OF(cublasLtMatrixLayoutSetAttribute);
DOUBLE_OF(cublasLtMatmulPreferenceCreate);
DOUBLE_OF(cublasLtMatmulPreferenceDestroy);
DOUBLE_OF(cublasLtMatmulPreferenceSetAttribute);
DOUBLE_OF(cublasLtMatmulAlgoGetHeuristic);
DOUBLE_OF(cublasLtMatmul);
