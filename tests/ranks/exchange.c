// Tests every collective on the ranks of a mesh (`exchange 2x3`) against plain loops over the
// inputs of all ranks, which each rank can compute. Prints a TAP line for each arrangement of
// ranks on hosts and each mode of carrying out calls, and a hash of all results' bits. Compiled for
// GPUs it starts the ranks itself: `exchange 2x3 nccl` or `exchange 2x3 host` says how they
// exchange, and `large` after that asks for large tensors too.
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/collectives.h"
#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/rt_sizes.h"
#include "runtime/rt_workspace.h"
#include "tests/ranks/elements.h"
#include "tests/ranks/operands.h"

enum { MAX_RANKS = 8, GUARD = 64 };
// How ranks are assumed to lie on hosts: all on one; each on its own; two along an axis per host.
typedef enum Hosts { ONE, SEPARATE, BY_TWO, N_HOSTS } Hosts;
static const char *const host_names[] = {"one host", "a host each", "hosts of two"};

typedef struct Test {
    Rt rt;
    RtExchange p;
    int n, me, intra_host,
        rank[MAX_RANKS];  // ranks along the axis; this one's index; on a host; their numbers
    char *x[MAX_RANKS], *y, *want;  // x of all ranks; y, want of this rank
    int64_t x_count, y_count;
    RtType x_type;  // of x
    uint64_t bits;  // hash of all results
    int wrong, calls;
    bool is_large;     // large tensors too
    bool is_beside;    // calls run on the comm thread, with their own workspace
    bool rounds_each;  // sums of halves are rounded after each term, as NCCL's are
    Operands on;
} Test;

// ---- the wanted results ----

static void add_term(const Test *t, char *to, const char *x)
{
    RtType type = t->p.type;
    char element[8];

    join(wide_of(type), t->p.op, to, x);
    if (!t->rounds_each)
        return;
    narrow(type, element, to);
    widen(type, to, element);
}

// Writes to `want` the reduction of element `from` of all ranks' x: first within each host, then
// over the hosts, in the order of ranks. Halves are rounded after each of the two.
static void want_joined(Test *t, int64_t to, int64_t from, int intra_host)
{
    RtType type = t->p.type;
    int64_t bytes = rt_type_bytes(type);
    char all[8], part[8], x[8], element[8];

    for (int k = 0; k < t->n; k += intra_host) {
        widen(type, part, t->x[k] + from * bytes);
        for (int j = k + 1; j < k + intra_host; j++) {
            widen(type, x, t->x[j] + from * bytes);
            add_term(t, part, x);
        }
        narrow(type, element, part);
        widen(type, part, element);
        if (k)
            add_term(t, all, part);
        else
            memcpy(all, part, sizeof all);
    }
    narrow(type, t->want + to * bytes, all);
}

static void want_copy(Test *t, int64_t to, int rank, int64_t from)
{
    int64_t bytes = rt_type_bytes(t->p.type);

    memcpy(t->want + to * bytes, t->x[rank] + from * bytes, (size_t)bytes);
}

// ---- a call ----

static char *tensor(const Test *t, int64_t count)
{
    size_t bytes = (size_t)(count * rt_type_bytes(t->p.type) + GUARD);

    return memset(malloc(bytes), 0xa5, bytes);
}

static void free_x(Test *t)
{
    for (int k = 0; k < MAX_RANKS; k++) {
        free(t->x[k]);
        t->x[k] = NULL;
    }
}

// Draws x of x_count elements for every rank, unless the call before had the same.
static void draw_x(Test *t, int64_t x_count)
{
    if (t->x[0] && t->x_count == x_count && t->x_type == t->p.type)
        return;
    free_x(t);
    for (int k = 0; k < t->n; k++) {
        t->x[k] = tensor(t, x_count);
        draw(t->p.type, t->x[k], x_count, t->rank[k]);
    }
    t->x_count = x_count;
    t->x_type = t->p.type;
}

// Draws x of x_count elements; allocates y and want of y_count elements.
static void begin(Test *t, int64_t x_count, int64_t y_count)
{
    draw_x(t, x_count);
    t->y = tensor(t, y_count);
    t->want = tensor(t, y_count);
    t->y_count = y_count;
}

// Compares all bytes of y with `want`.
static void end(Test *t, const char *name)
{
    size_t bytes = (size_t)(t->y_count * rt_type_bytes(t->p.type) + GUARD);
    const RtExchange *p = &t->p;
    bool is_wrong = memcmp(t->y, t->want, bytes) != 0;

    t->calls++;
    t->wrong += is_wrong;
    if (is_wrong && t->wrong < 5)
        printf("# %s type %d op %d axis %d: %lld %lld %lld %lld %lld %d\n", name, p->type, p->op,
               p->axis, (long long)p->outer, (long long)p->whole, (long long)p->middle,
               (long long)p->joined, (long long)p->inner, p->joins_first);
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, t->y + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        t->bits = mix(t->bits ^ word);
    }
    free(t->y);
    free(t->want);
}

static int64_t extent(int64_t whole, int64_t shard, int i)
{
    return rt_most(0, rt_least(shard, whole - i * shard));
}

// ---- collectives ----

// Starts f, and waits for it after an all_reduce along each axis.
static void call_beside(Test *t, RtCollective *f, const char *x)
{
    const RtMesh *m = &t->rt.comm->model->mesh;
    Operands *o = &t->on;

    rt_start(rt_with(&t->rt, o->workspace), 1, f, &t->p, o->y, x);
    for (int axis = 0; axis < m->n_axes; axis++) {
        RtExchange other = {RT_I64, .axis = axis, .outer = 1, .whole = 1000, .inner = 1};
        int64_t count[1000] = {1};
        operand_put(&t->rt, o, &o->count, count, sizeof count);
        rt_all_reduce(rt_with(&t->rt, o->other), &other, o->count, o->count);
        operand_get(&t->rt, count, o->count, sizeof count);
        t->wrong += count[0] != m->size[axis];
    }
    rt_wait(&t->rt, 1);
}

// Calls f, and checks that nothing is written after its workspace.
static void call(Test *t, RtCollective *f, const void *x)
{
    Operands *o = &t->on;
    size_t bytes = (size_t)rt_type_bytes(t->p.type);
    char guard[GUARD], *after = o->workspace + WORKSPACE(&t->p, t->n);

    memset(guard, 0xa5, sizeof guard);
    bytes_put(after, guard, sizeof guard);
    operand_put(&t->rt, o, &o->y, t->y, (size_t)t->y_count * bytes + GUARD);
    operand_put(&t->rt, o, &o->x, x, (size_t)t->x_count * bytes + GUARD);
    const char *from = x == t->y ? o->y : o->x;
    if (t->is_beside)
        call_beside(t, f, from);
    else
        f(rt_with(&t->rt, o->workspace), &t->p, o->y, from);
    operand_get(&t->rt, t->y, o->y, (size_t)t->y_count * bytes + GUARD);
    operand_get(&t->rt, guard, after, sizeof guard);
    for (int i = 0; i < GUARD; i++)
        t->wrong += guard[i] != (char)0xa5;
}

static void all_gather(Test *t)
{
    const RtExchange *p = &t->p;
    int64_t shard = rt_ceil_div(p->whole, t->n);

    begin(t, p->outer * shard * p->inner, p->outer * p->whole * p->inner);
    for (int k = 0; k < t->n; k++)
        for (int64_t o = 0; o < p->outer; o++)
            for (int64_t w = 0; w < extent(p->whole, shard, k); w++)
                for (int64_t i = 0; i < p->inner; i++)
                    want_copy(t, (o * p->whole + k * shard + w) * p->inner + i, k,
                              (o * shard + w) * p->inner + i);
    call(t, rt_all_gather, t->x[t->me]);
    end(t, "all_gather");
}

// Tests reduce_scatter, or `shard`, which takes a part of this rank's own x.
static void scatter(Test *t, bool reduces)
{
    const RtExchange *p = &t->p;
    int64_t shard = rt_ceil_div(p->whole, t->n);

    begin(t, p->outer * p->whole * p->inner, p->outer * shard * p->inner);
    for (int64_t o = 0; o < p->outer; o++)
        for (int64_t w = 0; w < extent(p->whole, shard, t->me); w++)
            for (int64_t i = 0; i < p->inner; i++) {
                int64_t from = (o * p->whole + t->me * shard + w) * p->inner + i;
                int64_t to = (o * shard + w) * p->inner + i;
                if (reduces)
                    want_joined(t, to, from, t->intra_host);
                else
                    want_copy(t, to, t->me, from);
            }
    if (reduces)
        call(t, rt_reduce_scatter, t->x[t->me]);
    else
        call(t, rt_shard, t->x[t->me]);
    end(t, reduces ? "reduce_scatter" : "shard");
}

static void all_reduce(Test *t, bool in_place)
{
    int64_t count = t->p.outer * t->p.whole * t->p.inner;

    begin(t, count, count);
    for (int64_t i = 0; i < count; i++)
        want_joined(t, i, i, t->intra_host);
    if (in_place)
        memcpy(t->y, t->x[t->me], (size_t)(count * rt_type_bytes(t->p.type)));
    call(t, rt_all_reduce, in_place ? t->y : t->x[t->me]);
    end(t, "all_reduce");
}

// The index of element [outer, a, middle, b, inner].
static int64_t at(const RtExchange *p, const int64_t *i, int64_t a, int64_t b)
{
    return (((i[0] * a + i[1]) * p->middle + i[2]) * b + i[3]) * p->inner + i[4];
}

static void all_to_all(Test *t)
{
    const RtExchange *p = &t->p;
    int64_t cut = rt_ceil_div(p->whole, t->n), part = rt_ceil_div(p->joined, t->n);
    int64_t rest = p->outer * p->middle * p->inner;
    // Sizes of dims 1 and 3 of x and y.
    int64_t x1 = p->joins_first ? part : p->whole, x3 = p->joins_first ? p->whole : part;
    int64_t y1 = p->joins_first ? p->joined : cut, y3 = p->joins_first ? cut : p->joined;
    int split = p->joins_first ? 3 : 1, join_dim = 4 - split;
    int64_t i[5];

    begin(t, rest * p->whole * part, rest * cut * p->joined);
    for (int k = 0; k < t->n; k++)
        for (i[0] = 0; i[0] < p->outer; i[0]++)
            for (i[1] = 0; i[1] < x1; i[1]++)
                for (i[2] = 0; i[2] < p->middle; i[2]++)
                    for (i[3] = 0; i[3] < x3; i[3]++)
                        for (i[4] = 0; i[4] < p->inner; i[4]++) {
                            int64_t to[5];
                            memcpy(to, i, sizeof to);
                            to[split] -= t->me * cut;
                            to[join_dim] += k * part;
                            if (to[split] >= 0 && to[split] < cut && to[join_dim] < p->joined)
                                want_copy(t, at(p, to, y1, y3), k, at(p, i, x1, x3));
                        }
    call(t, rt_all_to_all, t->x[t->me]);
    end(t, "all_to_all");
}

static void keep_one(Test *t)
{
    int64_t count = t->p.outer * t->p.whole * t->p.inner;
    char x[8], y[8];

    begin(t, count, count);
    call(t, rt_keep_one, t->x[t->me]);
    // Rank 0 keeps its x. On the other ranks y must be an identity: joined with rank 0's x it
    // changes nothing.
    for (int64_t i = 0; i < count; i++) {
        int64_t bytes = rt_type_bytes(t->p.type);
        want_copy(t, i, 0, i);
        if (t->me) {
            widen(t->p.type, x, t->want + i * bytes);
            widen(t->p.type, y, t->y + i * bytes);
            join(wide_of(t->p.type), t->p.op, x, y);
            narrow(t->p.type, t->want + i * bytes, x);
        }
    }
    if (t->me)
        memcpy(t->y, t->x[0], (size_t)(count * rt_type_bytes(t->p.type)));
    end(t, "keep_one");
}

// ---- all of them ----

static void take_axis(Test *t, int axis)
{
    const RtMesh *m = &t->rt.comm->model->mesh;
    int me = t->rt.comm->rank;

    free_x(t);
    t->p.axis = axis;
    t->n = m->size[axis];
    t->me = rt_mesh_coordinate(m, axis, me);
    for (int k = 0; k < t->n; k++)
        t->rank[k] = me + (k - t->me) * rt_mesh_stride(m, axis);
    t->intra_host = t->rt.comm->intra_host[axis].n;
}

static void call_all(Test *t, RtType type, int ops, int64_t outer, int64_t whole, int64_t inner)
{
    t->p = (RtExchange){
        .type = type, .axis = t->p.axis, .outer = outer, .whole = whole, .inner = inner};
    all_gather(t);
    scatter(t, false);
    for (t->p.op = RT_SUM; (int)t->p.op < ops; t->p.op++) {
        scatter(t, true);
        all_reduce(t, false);
        all_reduce(t, true);
        keep_one(t);
    }
}

static void call_all_to_all(Test *t, RtType type)
{
    static const int64_t sizes[][5] = {{1, 8, 1, 8, 1}, {3, 5, 2, 7, 1}, {1, 1, 1, 5, 4},
                                       {2, 7, 3, 1, 2}, {1, 0, 1, 3, 1}, {1, 700, 1, 700, 1}};

    int n = (int)(sizeof sizes / sizeof *sizes) - !t->is_large;
    for (int i = 0; i < 2 * n; i++) {
        const int64_t *s = sizes[i / 2];
        t->p = (RtExchange){type,           .axis = t->p.axis, .outer = s[0], .whole = s[1],
                            .middle = s[2], .joined = s[3],    .inner = s[4], .joins_first = i % 2};
        all_to_all(t);
    }
}

static void permute(Test *t, int64_t count)
{
    const RtMesh *m = &t->rt.comm->model->mesh;
    const int me = t->rt.comm->rank;
    // Both axes together: rank i · q + j gets x of rank j · p + i, in the order of the mesh.
    int p = m->size[0], q = m->size[1], i = me / q, j = me % q;

    t->p =
        (RtExchange){.type = RT_F32, .axis = 0, .other = 1, .outer = 1, .whole = count, .inner = 1};
    t->n = p * q;
    t->me = me;
    for (int k = 0; k < t->n; k++)
        t->rank[k] = k;
    free_x(t);
    begin(t, count, count);
    for (int64_t e = 0; e < count; e++)
        want_copy(t, e, j * p + i, e);
    call(t, rt_permute, t->x[me]);
    end(t, "permute");
}

// Pretends that the ranks lie on hosts like that. An odd axis keeps its ranks apart in BY_TWO.
static void move_hosts(RtComm *c, Hosts hosts)
{
    for (int a = 0; a < c->model->mesh.n_axes; a++) {
        int n = c->model->mesh.size[a], me = rt_mesh_coordinate(&c->model->mesh, a, c->rank);
        int stride = rt_mesh_stride(&c->model->mesh, a);
        int intra_host = hosts == ONE ? n : hosts == BY_TWO && n % 2 == 0 ? 2 : 1;

        c->intra_host[a] = (RtGroup){a, intra_host, me % intra_host, stride};
        c->inter_host[a] = (RtGroup){a, n / intra_host, me / intra_host, stride * intra_host};
    }
}

static void run(Test *t)
{
    static const RtType types[] = {RT_F32, RT_F64, RT_I32, RT_I64, RT_U8, RT_BF16, RT_F16};
    static const int64_t sizes[][3] = {{1, 1, 1}, {1, 5, 1}, {3, 7, 1}, {1, 8, 4},
                                       {2, 5, 3}, {1, 7, 2}, {4, 1, 5}, {1, 0, 1}};
    const RtMesh *m = &t->rt.comm->model->mesh;

    for (int a = 0; a < m->n_axes; a++) {
        take_axis(t, a);
        for (int k = 0; k < 7; k++) {
            for (int i = 0; i < (k < 5 ? 8 : 3); i++)
                call_all(t, types[k], 3, sizes[i][0], sizes[i][1], sizes[i][2]);
            if (k < 5)
                call_all_to_all(t, types[k]);
        }
        if (t->is_large) {
            call_all(t, RT_F32, 1, 1, 700001, 1);  // takes several rounds
            call_all(t, RT_F32, 1, 3, 1001, 111);
        }
    }
    for (int i = 0; i < 3 && m->n_axes == 2; i++)
        permute(t, i * (t->is_large ? 50001 : 501));
}

int main(int argc, char **argv)
{
    RtModel m = {.name = "exchange",
                 .transport = &TRANSPORT,
                 .collectives = COLLECTIVES,
                 .slots = 2,
                 .kernels = "image"};
    const char *at = argc > 1 ? argv[1] : "1", *by = argc > 2 ? argv[2] : "host";
    bool by_nccl = !strcmp(by, "nccl"), is_large = m.collectives == NULL || argc > 3;
    size_t operand = is_large ? LARGE_BYTES : SMALL_BYTES;
    Test t = {.rt = {.device = &DEVICE, .threads = 1, .gpu.number = -1},
              .is_large = is_large,
              .rounds_each = by_nccl};

    m.exchange_bytes = 3 * (int64_t)operand;

    for (char *end; m.mesh.n_axes < 2; at = end + 1) {
        m.mesh.name[m.mesh.n_axes] = m.mesh.n_axes ? "tp" : "dp";
        m.mesh.size[m.mesh.n_axes++] = (int)strtol(at, &end, 10);
        if (*end != 'x')
            break;
    }
    // Tensors are allocated again and again: their pages stay.
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    RtJob job = {.timeout = 60};
    int status = 0;
    bool failed = false;
    if (m.collectives && !rt_spawn(&m, rt_mesh_ranks(&m.mesh), &job, &status))
        return status;
    if (!rt_comm_open(&t.rt.comm, &m, &job))
        return 1;
    t.rt.gpu.exchanges = by_nccl ? RT_BY_NCCL : RT_BY_HOST;
    if (t.rt.device->open && !t.rt.device->open(&t.rt, &m))
        return 1;
    t.on = operands_new(operand);
    for (int i = 0; i < (by_nccl ? 2 : 2 * N_HOSTS); i++) {
        Hosts h = (Hosts)(i / 2);
        t.wrong = t.calls = 0;
        t.is_beside = i % 2;
        move_hosts(t.rt.comm, h);
        if (!rt_collectives_open(&t.rt, &m, t.is_beside))
            return 1;
        run(&t);
        rt_collectives_close(&t.rt, true);
        int64_t wrong = rt_comm_max(t.rt.comm, t.wrong);
        // The hash covers all ranks: it is combined on rank 0.
        for (int r = 1; r < t.rt.comm->ranks; r++) {
            uint64_t bits = t.bits;
            rt_comm_collect(t.rt.comm, r, &bits, sizeof bits);
            t.bits = t.rt.comm->rank ? t.bits : mix(t.bits ^ bits);
        }
        failed |= wrong > 0;
        if (t.rt.comm->rank == 0)
            printf("%sok - %s: %d calls on %s%s\n", wrong ? "not " : "", argv[1], t.calls,
                   host_names[h], t.is_beside ? ", beside others" : "");
    }
    if (t.rt.comm->rank == 0)
        printf("bits %016llx\n", (unsigned long long)t.bits);
    rt_comm_close(t.rt.comm);
    free_x(&t);
    operands_free(&t.on);
    if (t.rt.device->open)
        t.rt.device->close(&t.rt, &m);
    return failed;
}
