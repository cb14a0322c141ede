// Formulas for the bytes of Rt.workspace that kernels use. The compiler calls them to plan memory,
// and kernels to divide it. They depend on shapes only, and on how many threads compute at most.
#include "runtime/rt_workspace.h"

#include "runtime/rt_resample.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

int64_t rt_product(const int64_t *dim, int n)
{
    int64_t p = 1;

    for (int i = 0; i < n; i++)
        p *= dim[i];
    return p;
}

int rt_type_bytes(RtType t)
{
    switch (t) {
    case RT_I8:
    case RT_U8:
    case RT_BOOL:
        return 1;
    case RT_F16:
    case RT_BF16:
    case RT_I16:
    case RT_U16:
        return 2;
    case RT_F64:
    case RT_I64:
    case RT_U64:
        return 8;
    default:
        return 4;
    }
}

void rt_dot_drop_batch(RtDot *p, int at)
{
    p->n_batch--;
    for (int i = at; i < p->n_batch; i++) {
        p->batch[i] = p->batch[i + 1];
        p->a_batch[i] = p->a_batch[i + 1];
        p->b_batch[i] = p->b_batch[i + 1];
        p->y_batch[i] = p->y_batch[i + 1];
    }
}

// Merges a free dim (its size, and its strides in the operand and in y) with a batch dim that the
// other operand lacks. The batch dim may be the outer or the inner one, or the free dim may be 1.
static bool fold(int64_t *n, int64_t *x, int64_t *y, int64_t batch, int64_t x_batch,
                 int64_t y_batch)
{
    bool outside = x_batch == *n * *x && y_batch == *n * *y;
    bool inside = *x == batch * x_batch && *y == batch * y_batch;

    if (*n != 1 && !outside && !inside)
        return false;
    if (*n == 1 || !outside) {
        *x = x_batch;
        *y = y_batch;
    }
    *n *= batch;
    return true;
}

static bool fold_batch(RtDot *p, int i)
{
    int64_t n = p->batch[i];

    return n == 1 ||
           (p->b_batch[i] == 0 && fold(&p->m, &p->a_m, &p->y_m, n, p->a_batch[i], p->y_batch[i])) ||
           (p->a_batch[i] == 0 && fold(&p->n, &p->b_n, &p->y_n, n, p->b_batch[i], p->y_batch[i]));
}

// The transposed product: y' = b' a'.
static RtDot transposed(const RtDot *p)
{
    RtDot t = {.type = p->type,
               .result = p->result,
               .m = p->n,
               .n = p->m,
               .k = p->k,
               .n_batch = p->n_batch,
               .a_m = p->b_n,
               .a_k = p->b_k,
               .b_k = p->a_k,
               .b_n = p->a_m,
               .y_m = p->y_n,
               .y_n = p->y_m};

    for (int i = 0; i < p->n_batch; i++) {
        t.batch[i] = p->batch[i];
        t.a_batch[i] = p->b_batch[i];
        t.b_batch[i] = p->a_batch[i];
        t.y_batch[i] = p->y_batch[i];
    }
    return t;
}

RtDot rt_dot_fold(const RtDot *p, bool *is_transposed)
{
    RtDot d = *p;

    for (int i = d.n_batch - 1; i >= 0; i--)
        if (fold_batch(&d, i)) {
            rt_dot_drop_batch(&d, i);
            i = d.n_batch;  // a dim that couldn't be folded before may fold now
        }
    bool is_row = d.m == 1 && d.n != 1;
    bool is_column_major = d.n != 1 && d.y_n != 1 && d.y_m == 1;
    *is_transposed = is_row || is_column_major;
    return *is_transposed ? transposed(&d) : d;
}

int64_t rt_dot_slab(int64_t batches) { return batches > 1 ? RT_BLOCK_K : RT_SLAB_K; }

RtType rt_dot_result(const RtDot *p) { return p->result == RT_NONE ? p->type : p->result; }

// A tile's rows and columns are at most RT_PANEL.
int64_t rt_product_sums(RtType result, int64_t m, int64_t n, int64_t most)
{
    return rt_is_half(result) ? least((m + RT_PANEL) * round_up(n, RT_PANEL), most) : 0;
}

int64_t rt_dot_sums(const RtDot *folded, int64_t batches)
{
    return rt_product_sums(rt_dot_result(folded), folded->m, folded->n,
                           batches > 1 ? RT_SUMS_OWN : RT_SUMS);
}

// One product: two packed slabs of b, or one if that is all of b. Several products: a slab for each
// thread. Sums of a half y, as often. A packed f32 has 6 bytes on a matrix unit; of a half, 4.
int64_t rt_dot_workspace(const RtDot *p, int threads)
{
    bool is_transposed;
    RtDot d = rt_dot_fold(p, &is_transposed);
    int64_t batches = rt_product(d.batch, d.n_batch), slab_k = rt_dot_slab(batches);
    bool is_one = d.k <= slab_k && d.n <= RT_SLAB_N && batches == 1;
    int64_t slab =
        round_up(least(d.k, slab_k), RT_PANEL) * round_up(least(d.n, RT_SLAB_N), RT_PANEL);
    int64_t each = batches == 1 ? 1 : least(batches, threads);

    if (d.n == 1 || d.type == RT_F64)
        return 0;
    return 4 * rt_dot_sums(&d, batches) * each +
           (rt_is_half(d.type) ? 4 : 6) * slab * (batches == 1 && !is_one ? 2 : each);
}

// Partial sums in f64 of up to RT_CHUNKS chunks, if there are few results. They take at most 2 *
// RT_CHUNKS blocks of RT_WIDTH sums.
int64_t rt_reduce_workspace(const RtReduce *p)
{
    int64_t results = 1;

    for (int i = 0; i < p->rank; i++)
        results *= p->reduced[i] ? 1 : p->dim[i];
    if ((p->type != RT_F32 && !rt_is_half(p->type)) || results >= RT_CHUNKS * RT_WIDTH)
        return 0;
    return 8 * least(results * RT_CHUNKS, 2 * RT_CHUNKS * RT_WIDTH);
}

int64_t rt_sums_chunks(const RtSums *q)
{
    enum { MIN_CHUNK = 1 << 15 };  // elements per chunk
    int64_t chunks =
        least(RT_CHUNKS / (q->outer > 0 ? q->outer : 1), q->rows * q->width / MIN_CHUNK);

    return chunks > 1 ? chunks : 1;
}

// The sums of each chunk in double and of each thread in float.
int64_t rt_sums_workspace(const RtSums *q, int threads)
{
    int64_t units = q->outer * rt_sums_chunks(q);

    return q->n * q->width * (8 * units + 4 * least(units, threads));
}

// The sorted index of one batch: the end of each row's segment, and the order. None if rows are
// narrow, or if there are enough slices to give each to one thread.
int64_t rt_scatter_workspace(const RtGather *p)
{
    bool is_sorted = p->inner > RT_NARROW && p->batch * p->outer < RT_SLICES;

    return is_sorted ? 8 * (p->n + p->index) : 0;
}

int64_t rt_resample_workspace(const RtResample *p)
{
    int64_t taps = p->size * rt_resample_most(p);

    return 8 * (3 * p->size + taps + (p->transposed ? 3 * p->n + taps : 0));
}

// A table of waves, and for each thread two buffers of complex numbers.
int64_t rt_dft_workspace(const RtDft *p, int threads)
{
    return 2 * p->n * rt_type_bytes(p->type) * (1 + 2 * RT_DFT_LANES * (int64_t)threads);
}

int64_t rt_drop_floats(const RtAttention *p) { return p->drops ? (RT_KEYS + 4) * RT_PANEL : 0; }

// Bytes of one thread, for forward or gradient, whichever needs more: operands, results and
// probabilities of a block. runtime/cpu/attention.c and attention_grad.c list them.
int64_t rt_attention_thread(const RtAttention *p)
{
    int64_t e = round_up(p->e, RT_PANEL), f = round_up(p->f, RT_PANEL);
    int64_t forward = (RT_ROWS + RT_KEYS) * (e + f) + RT_KEYS * RT_ROWS + 3 * RT_ROWS;
    int64_t grad = 2 * (RT_ROWS + RT_KEYS) * (e + f) + 2 * RT_KEYS * RT_ROWS + 3 * RT_ROWS;

    int64_t bias = p->has_bias ? (p->bool_bias ? 2 : 1) * RT_KEYS * RT_PANEL : 0;

    return 4 * ((forward > grad ? forward : grad) + rt_drop_floats(p) + bias);
}

int64_t rt_attention_workspace(const RtAttention *p, int threads)
{
    int64_t groups = rt_product(p->group, p->n_group), chunks = (p->s + RT_ROWS - 1) / RT_ROWS;
    int64_t tasks = groups * chunks > 0 ? groups * chunks : 1;

    tasks *= rt_product(p->batch, p->n_batch);
    return rt_attention_thread(p) * least(tasks, threads);
}

int64_t rt_attention_dq(const RtAttention *p)
{
    return rt_is_half(p->type) ? rt_product(p->group, p->n_group) * p->s * round_up(p->e, RT_PANEL)
                               : 0;
}

// A thread has one batch entry at a time.
int64_t rt_attention_grad_workspace(const RtAttention *p, int threads)
{
    return rt_attention_workspace(p, threads) +
           4 * rt_attention_dq(p) * least(rt_product(p->batch, p->n_batch), threads);
}

int64_t rt_conv_weights(const RtConv *p)
{
    return p->o * (p->c / (p->groups > 0 ? p->groups : 1)) *
           rt_product(p->window.size, p->window.n);
}

static int64_t sample_bytes(const RtConv *p)
{
    return 4 *
           (p->c * rt_product(p->x_dim, p->window.n) + p->o * rt_product(p->y_dim, p->window.n));
}

// A divisor of the number of samples, so that one prepared kernel does.
RtConv rt_conv_of_f32(const RtConv *p)
{
    enum { CACHE_BYTES = 16 << 20 };
    int64_t most = CACHE_BYTES / (1 + sample_bytes(p)), n = least(p->n, most > 1 ? most : 1);
    RtConv q = *p;

    while (n > 1 && p->n % n)
        n--;
    q.n = n;
    q.x_last = q.y_last = true;
    q.type = q.result = RT_NONE;
    return q;
}

// The copies of x, w and y, a part of dw, and the convolution of f32.
static int64_t widened_workspace(const RtConv *p)
{
    RtConv q = rt_conv_of_f32(p);

    return q.n * sample_bytes(p) + 2 * 4 * rt_conv_weights(p) + 4 * RT_BUFFER_BYTES +
           rt_conv_workspace(&q);
}

// A copy of each operand in the library's layouts, whose channels are rounded up to 16; as much
// again for the library's own scratch memory; eight partial sums of the weight gradient; and 1 MiB.
// If an implementation of the library needs more, the kernel tries its next one, or fewer threads.
int64_t rt_conv_workspace(const RtConv *p)
{
    int64_t groups = p->groups > 0 ? p->groups : 1, o = p->o / groups, c = p->c / groups;
    int spatial = p->window.n;
    int64_t taps = rt_product(p->window.size, spatial);
    int64_t x = p->n * round_up(p->c, 16) * rt_product(p->x_dim, spatial);
    int64_t y = p->n * round_up(p->o, 16) * rt_product(p->y_dim, spatial);
    bool is_depthwise = o * c <= 4;
    int64_t w = is_depthwise ? round_up(groups, 16) * o * c * taps
                             : groups * round_up(o, 16) * round_up(c, 16) * taps;

    if (rt_is_half(p->type))
        return widened_workspace(p);
    return 4 * (2 * x + 2 * y + 9 * w) + 1048576;
}

int64_t rt_exchange_piece(const RtExchange *p, int ranks)
{
    int64_t shard = (p->whole + ranks - 1) / ranks, joined = (p->joined + ranks - 1) / ranks;

    return p->outer * shard * (p->middle > 0 ? p->middle : 1) * (joined > 0 ? joined : 1) *
           p->inner * rt_type_bytes(p->type);
}

// Upper bound of a message's bytes between two ranks: the shard of one rank for another. An
// all-reduce splits all elements as if they were one dim, which gives at most a cache line more.
static int64_t message_bytes(const RtExchange *p, int ranks)
{
    return round_up(rt_exchange_piece(p, ranks), 64) + 64;
}

// Over TCP, Open MPI sends messages up to 64 KiB immediately (eager). Larger ones wait for the
// receiver first (rendezvous), which leaves links that are busy in both directions idle for a third
// of the time.
int64_t rt_exchange_chunk(const RtExchange *p, int ranks)
{
    enum { MAX_SHARE = 60 << 10, MIN_SHARE = 16 << 10, ALL = 1 << 20 };
    int64_t share = round_up(ALL / ranks, 64);

    return least(message_bytes(p, ranks), least(MAX_SHARE, share > MIN_SHARE ? share : MIN_SHARE));
}

// Enough rounds to fill a fast link with a long delay.
int rt_exchange_rounds(const RtExchange *p, int ranks)
{
    int64_t all = 32 / ranks, chunk = rt_exchange_chunk(p, ranks);
    int64_t most = all < 2 ? 2 : least(all, RT_MAX_ROUNDS);

    return (int)least(most, (message_bytes(p, ranks) + chunk - 1) / chunk);
}

// In each round, one message to and one from every rank.
int64_t rt_exchange_workspace(const RtExchange *p, int ranks)
{
    return 2 * ranks * rt_exchange_rounds(p, ranks) * rt_exchange_chunk(p, ranks);
}
