// Imports linear attention and the convolution before it.
//
// A state S [d, e] of each head runs over the tokens: S = exp(g) S + k u', and a token reads
// q' S. u is v, or what the state lacks of it: β (v - (exp(g) S)' k), the delta rule. Tokens are
// taken in chunks. With G, the sum of g from the chunk's begin on, the tokens of a chunk read
//
//     o = (q exp(G))' S + Σ_j A_ij u_j,   A_ij = q_i · k_j exp(G_i - G_j) for j ≤ i
//
// and the delta rule's u solve (1 + L) u = β (v - (k exp(G))' S) with L_ij = β_i k_i · k_j exp(G_i
// - G_j) for j < i (the WY form of Yang et al. 2024). So everything except the states' own chain is
// a product of all chunks together. Exponents are differences G_i - G_j, and never two factors,
// which could overflow.
#include "frontend/internal.h"

enum {
    CHUNK = 64,        // tokens
    SHORT_CHUNK = 16,  // where each key dim has a decay, whose A takes chunk² · d exponentials
};

typedef struct Tokens {
    Op *o;
    Graph *g;
    int64_t batch, length, heads, reads, keys, values;  // reads: query heads of a state
    int64_t chunk, chunks;
    bool has_decay, is_wide;  // is_wide: a decay for each key dim
    bool has_delta;
    double scale;
    ValueId q, k, v, sum, beta;  // [b n i h r d] [b n i h d] [b n i h e] [b n i h (d)] [b n i h]
} Tokens;

// ---- inputs ----

static bool read_rule(Op *o, Tokens *t)
{
    const char *rule = attr_text(o, "update_rule", "gated_delta");

    t->has_decay = !strncmp(rule, "gated", 5);
    t->has_delta = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
    if (strcmp(rule, "linear") && strcmp(rule, "gated") && !t->has_delta)
        return op_error(o, "update_rule '%.100s' is not linear, gated, delta or gated_delta", rule);
    if (has(o, 4) != t->has_decay)
        return op_error(o, "update_rule %s %s", rule, has(o, 4) ? "takes no decay" : "needs decay");
    return has(o, 5) == t->has_delta ||
           op_error(o, "update_rule %s %s", rule, has(o, 5) ? "takes no beta" : "needs beta");
}

static bool read_heads(Op *o, Tokens *t)
{
    const Value *q = arg_value(o, 0), *k = arg_value(o, 1), *v = arg_value(o, 2);
    int64_t q_heads = attr_int(o, "q_num_heads", 0), heads = attr_int(o, "kv_num_heads", 0);

    if (heads < 1 || q_heads < 1 || heads > 1 << 24 || q_heads % heads)
        return op_error(o, "q_num_heads %" PRId64 " is no multiple of kv_num_heads %" PRId64,
                        q_heads, heads);
    if (q->rank != 3 || k->rank != 3 || v->rank != 3)
        return op_error(o, "query, key and value of rank 3 are expected");
    t->batch = q->dim[0];
    t->length = q->dim[1];
    t->heads = heads;
    t->reads = q_heads / heads;
    t->keys = k->dim[2] / heads;
    t->values = v->dim[2] / heads;
    for (int i = 0; i < 3; i++) {
        const Value *x = arg_value(o, i);
        if (x->dim[0] != t->batch || x->dim[1] != t->length)
            return op_error(o, "query, key and value have different batches or lengths");
    }
    if (t->length < 1 || t->keys < 1 || t->values < 1 || k->dim[2] % heads || v->dim[2] % heads ||
        q->dim[2] != t->keys * q_heads)
        return op_error(o, "its heads don't divide the last dims of query, key and value");
    double scale = attr_float(o, "scale", 0);
    t->scale = scale != 0 ? scale : 1 / sqrt((double)t->keys);
    return true;
}

static bool read_gates(Op *o, Tokens *t)
{
    const int64_t state[] = {t->batch, t->heads, t->keys, t->values};

    for (int i = 4; i < 6; i++) {
        const Value *x = arg_value(o, i);
        if (!has(o, i))
            continue;
        bool fits = x->rank == 3 && x->dim[0] == t->batch && x->dim[1] == t->length;
        int64_t last = fits ? x->dim[2] : 0;
        bool is_narrow = last == t->heads || (i == 5 && last == 1);
        t->is_wide |= i == 4 && !is_narrow;
        if (!is_narrow && (i == 5 || last != t->heads * t->keys))
            return op_error(o, "input %d must have %s for each token", i,
                            i == 4 ? "a decay for each head or key dim"
                                   : "one number, or one for each head,");
    }
    for (int i = 0; has(o, 3) && i < 4; i++)
        if (arg_value(o, 3)->rank != 4 || arg_value(o, 3)->dim[i] != state[i])
            return op_error(o,
                            "past_state must be [%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]",
                            state[0], state[1], state[2], state[3]);
    return true;
}

// Input i as F32 [b, chunks, chunk, inner…]. Tokens after the last one are zero: they change no
// state.
static ValueId in_chunks(const Tokens *t, int i, int rank, const int64_t *inner)
{
    Graph *g = t->g;
    ValueId x = make_cast(g, arg(t->o, i), F32);
    int64_t none[3] = {0}, high[3] = {0, t->chunk * t->chunks - t->length, 0};
    Dims d = {3, {t->batch, t->chunks, t->chunk}};

    if (high[1])
        x = make_pad(g, x, none, high, none, 0);
    for (int k = 0; k < rank; k++)
        d.dim[d.rank++] = inner[k];
    return reshape_to(g, x, &d);
}

static bool read_tokens(Op *o, Tokens *t)
{
    if (!read_rule(o, t) || !read_heads(o, t) || !read_gates(o, t))
        return false;
    t->chunk = t->is_wide ? SHORT_CHUNK : CHUNK;
    t->chunk = t->length < t->chunk ? t->length : t->chunk;
    t->chunks = (t->length + t->chunk - 1) / t->chunk;
    if (t->chunks > MAX_TRIPS)
        return op_error(o, "more than %d chunks of %" PRId64 " tokens", MAX_TRIPS, t->chunk);
    budget_allow(o->g->budget, BUDGET_importing, t->chunks);
    t->q = in_chunks(t, 0, 3, (int64_t[]){t->heads, t->reads, t->keys});
    t->k = in_chunks(t, 1, 2, (int64_t[]){t->heads, t->keys});
    t->v = in_chunks(t, 2, 2, (int64_t[]){t->heads, t->values});
    if (t->has_decay) {
        ValueId decay = in_chunks(t, 4, 1 + t->is_wide, (int64_t[]){t->heads, t->keys});
        t->sum = make_cumsum(t->g, decay, 2, false, false);
    }
    if (t->has_delta) {
        int64_t last = arg_value(o, 5)->dim[2];
        Dims all = {4, {t->batch, t->chunks, t->chunk, t->heads}};
        t->beta = broadcast_to(t->g, in_chunks(t, 5, 1, &last), all.rank, all.dim);
    }
    return true;
}

// ---- letters ----

// Broadcasts x, whose dims are the letters `from`, to the letters `to` of y.
static ValueId spread(Graph *g, ValueId x, const char *from, ValueId y, const char *to)
{
    Dims d = dims_of(g, y);
    int64_t dims[MAX_RANK], perm[MAX_RANK];
    int n = 0;

    for (int i = 0; to[i]; i++) {
        const char *at = strchr(from, to[i]);
        if (!at)
            continue;
        dims[n] = i;
        perm[n++] = at - from;
    }
    return make_broadcast(g, transpose_to(g, x, perm), d.rank, d.dim, dims);
}

static ValueId times(Graph *g, ValueId y, const char *to, ValueId x, const char *from)
{
    return make_mul(g, y, spread(g, x, from, y, to));
}

static const char *decay_letters(const Tokens *t) { return t->is_wide ? "bnihd" : "bnih"; }

// x, with letters b n i h and others, times exp(G), or times exp(G of the chunk's end - G).
static ValueId decayed(const Tokens *t, ValueId x, const char *letters, bool to_end)
{
    Graph *g = t->g;
    ValueId sum = t->sum;

    if (!t->has_decay)
        return x;
    if (to_end) {
        Dims d = dims_of(g, sum);
        ValueId end = slice_axis(g, sum, 2, t->chunk - 1, 1, 1);
        sum = make_sub(g, broadcast_to(g, end, d.rank, d.dim), sum);
    }
    return times(g, x, letters, make_exp(g, sum), decay_letters(t));
}

// ---- pairs of tokens in a chunk ----

// exp(G_i - G_j) for j ≤ i, else 0; y has the letters `to`, with i and j.
static ValueId pair_decay(const Tokens *t, ValueId y, const char *to)
{
    Graph *g = t->g;
    const char *i_letters = decay_letters(t), *j_letters = t->is_wide ? "bnjhd" : "bnjh";
    Dims d = dims_of(g, y);
    ValueId i = make_iota(g, I64, d.rank, d.dim, (int)(strchr(to, 'i') - to));
    ValueId j = make_iota(g, I64, d.rank, d.dim, (int)(strchr(to, 'j') - to));
    ValueId is_past = make_le(g, j, i);

    if (!t->has_decay)
        return make_cast(g, is_past, F32);
    ValueId between =
        make_sub(g, spread(g, t->sum, i_letters, y, to), spread(g, t->sum, j_letters, y, to));
    ValueId never = scalar_like(g, between, -(double)INFINITY);
    return make_exp(g, make_select(g, is_past, between, never));
}

// Σ_d x_i k_j exp(G_i - G_j) for j ≤ i, [b n h (r) i j]; x is q or k.
static ValueId pairs(const Tokens *t, ValueId x, bool is_query)
{
    Graph *g = t->g;
    const char *from = is_query ? "bnihrd" : "bnihd", *wide = is_query ? "bnhrijd" : "bnhijd";
    const char *to = is_query ? "bnhrij" : "bnhij";
    Dims d = {4, {t->batch, t->chunks, t->heads}};

    if (!t->is_wide) {
        ValueId y = make_dot(g, x, t->k, is_query ? "bnihrd,bnjhd->bnhrij" : "bnihd,bnjhd->bnhij");
        return make_mul(g, y, pair_decay(t, y, to));
    }
    d.rank = 3;
    if (is_query)
        d.dim[d.rank++] = t->reads;
    d.dim[d.rank++] = t->chunk;
    d.dim[d.rank++] = t->chunk;
    d.dim[d.rank++] = t->keys;
    ValueId like = full(g, F32, &d, 1);
    ValueId y = times(g, spread(g, x, from, like, wide), wide, t->k, "bnjhd");
    y = make_mul(g, y, pair_decay(t, like, wide));
    return make_reduce_sum(g, y, 1, &(int64_t){d.rank - 1});
}

// The inverse of 1 + L for L strictly below the diagonal. If the diagonal blocks of `size` elements
// are inverted, X, then so are those of twice the size by X - X B X, where B are the blocks of L
// below each first half. Powers of L, which could be huge, never occur.
static ValueId inverse(const Tokens *t, ValueId l)
{
    Graph *g = t->g;
    Dims d = dims_of(g, l);
    ValueId i = make_iota(g, I64, d.rank, d.dim, d.rank - 2);
    ValueId j = make_iota(g, I64, d.rank, d.dim, d.rank - 1);
    ValueId x = make_cast(g, make_eq(g, i, j), F32);

    for (int64_t size = 1; size < t->chunk; size *= 2) {
        ValueId block = make_div(g, i, scalar_like(g, i, (double)size));
        ValueId before = make_div(g, j, scalar_like(g, j, (double)size));
        ValueId is_odd = make_eq(g, make_mod(g, block, scalar_like(g, i, 2)), scalar_like(g, i, 1));
        ValueId is_next = make_eq(g, block, make_add(g, before, scalar_like(g, i, 1)));
        ValueId b = make_select(g, make_and(g, is_odd, is_next), l, scalar_like(g, l, 0));
        if (size > 1)
            b = make_dot(g, x, make_dot(g, b, x, "bnhij,bnhjk->bnhik"), "bnhij,bnhjk->bnhik");
        x = make_sub(g, x, b);
    }
    return x;
}

// ---- the states ----

typedef struct Chunks {
    ValueId u, w;      // what is written: u, or u - w S: [b n h i e], [b n h i d]
    ValueId keys;      // k exp(G of the end - G): [b n i h d]
    ValueId decay;     // exp(G of the end): [b n h (d)]; 0: none
    ValueId *state;    // before each chunk, [b 1 h d e]
    ValueId *written;  // by each chunk, [b 1 h i e]
} Chunks;

static ValueId at_chunk(const Tokens *t, ValueId x, int64_t n)
{
    return slice_axis(t->g, x, 1, n, 1, 1);
}

// Runs over the chunks. Returns the state after the last one.
static ValueId run_states(const Tokens *t, Chunks *c, ValueId state)
{
    Graph *g = t->g;
    const char *decay = t->is_wide ? "bnhd" : "bnh";

    for (int64_t n = 0; n < t->chunks; n++) {
        ValueId u = at_chunk(t, c->u, n);
        if (c->w)
            u = make_sub(g, u, make_dot(g, at_chunk(t, c->w, n), state, "bnhid,bnhde->bnhie"));
        c->state[n] = state;
        c->written[n] = u;
        if (c->decay)
            state = times(g, state, "bnhde", at_chunk(t, c->decay, n), decay);
        state = make_add(g, state, make_dot(g, at_chunk(t, c->keys, n), u, "bnihd,bnhie->bnhde"));
    }
    return state;
}

static Chunks make_chunks(const Tokens *t)
{
    Graph *g = t->g;
    Chunks c = {.keys = decayed(t, t->k, "bnihd", true),
                .u = make_transpose(g, t->v, (int64_t[]){0, 1, 3, 2, 4}),
                .state = arena_array(t->o->x->scratch, ValueId, t->chunks),
                .written = arena_array(t->o->x->scratch, ValueId, t->chunks)};

    if (t->has_decay) {
        ValueId end = slice_axis(g, t->sum, 2, t->chunk - 1, 1, 1);
        c.decay = make_exp(g, drop_dim(g, end, 2));
    }
    if (t->has_delta) {
        ValueId l = pairs(t, t->k, false);
        ValueId x = inverse(t, times(g, l, "bnhij", t->beta, "bnih"));
        ValueId v = times(g, t->v, "bnihe", t->beta, "bnih");
        ValueId k = times(g, decayed(t, t->k, "bnihd", false), "bnihd", t->beta, "bnih");
        c.u = make_dot(g, x, v, "bnhij,bnjhe->bnhie");
        c.w = make_dot(g, x, k, "bnhij,bnjhd->bnhid");
    }
    return c;
}

static ValueId joined(const Tokens *t, const ValueId *v)
{
    return t->chunks == 1 ? v[0] : make_concat(t->g, (int)t->chunks, v, 1);
}

static void import_linear_attention(Op *o)
{
    Graph *g = o->g;
    Tokens t = {.o = o, .g = g};
    DType type = arg_value(o, 0)->dtype;

    for (int i = 0; i < o->n_in; i++)
        if (has(o, i) && !dtype_is_float(arg_value(o, i)->dtype)) {
            op_error(o, "input %d must hold floats", i);
            return;
        }
    if (!read_tokens(o, &t))
        return;
    Dims state = {5, {t.batch, 1, t.heads, t.keys, t.values}};
    DType state_type = has(o, 3) ? arg_value(o, 3)->dtype : type;
    ValueId s =
        has(o, 3) ? reshape_to(g, make_cast(g, arg(o, 3), F32), &state) : full(g, F32, &state, 0);
    Chunks c = make_chunks(&t);
    s = run_states(&t, &c, s);
    ValueId q = make_mul(g, t.q, scalar_like(g, t.q, t.scale));
    ValueId old =
        make_dot(g, decayed(&t, q, "bnihrd", false), joined(&t, c.state), "bnihrd,bnhde->bnihre");
    ValueId own = make_dot(g, pairs(&t, q, true), joined(&t, c.written), "bnhrij,bnhje->bnihre");
    Dims y = {3, {t.batch, t.chunks * t.chunk, t.heads * t.reads * t.values}};
    ValueId out = reshape_to(g, make_add(g, old, own), &y);
    give(o, 0, make_cast(g, slice_axis(g, out, 1, 0, t.length, 1), type));
    if (wants(o, 1))
        give(o, 1, make_cast(g, drop_dim(g, s, 1), state_type));
}

// ---- CausalConvWithState ----

// A depthwise convolution over the last dim, which sees a token and those before it. The state is
// the tokens that the next call needs.
static void import_causal_conv(Op *o)
{
    Graph *g = o->g;
    Dims x = dims_of(g, arg(o, 0)), w = dims_of(g, arg(o, 1));
    const char *activation = attr_text(o, "activation", "none");
    bool is_silu = !strcmp(activation, "silu") || !strcmp(activation, "swish");

    if (!is_silu && strcmp(activation, "none")) {
        op_error(o, "activation '%.100s' is not none, silu or swish", activation);
        return;
    }
    if (x.rank != 3 || w.rank != 3 || w.dim[0] != x.dim[1] || w.dim[1] != 1 || w.dim[2] < 1) {
        op_error(o, "expected an input [batch, channels, length] and a weight [channels, 1, k]");
        return;
    }
    int64_t before = w.dim[2] - 1;
    Dims past = {3, {x.dim[0], x.dim[1], before}};
    if (has(o, 3) && memcmp(dims_of(g, arg(o, 3)).dim, past.dim, 3 * sizeof *past.dim)) {
        op_error(o, "past_state must be [%" PRId64 ",%" PRId64 ",%" PRId64 "]", past.dim[0],
                 past.dim[1], past.dim[2]);
        return;
    }
    ValueId part[] = {has(o, 3) ? arg(o, 3) : full(g, value_of(g, arg(o, 0))->dtype, &past, 0),
                      arg(o, 0)};
    ValueId all = before ? make_concat(g, 2, part, 2) : arg(o, 0);
    Window win = {.n = 1, .size = {w.dim[2]}, .stride = {1}, .dilation = {1}};
    ValueId y = make_conv(g, all, arg(o, 1), &win, x.dim[1]);
    if (y && has(o, 2))
        y = make_add(g, y, vector_at(g, arg(o, 2), y, 1));
    give(o, 0, y && is_silu ? make_mul(g, y, make_sigmoid(g, y)) : y);
    if (wants(o, 1))
        give(o, 1, slice_axis(g, all, 2, x.dim[2], before, 1));
}

const OpImporter import_linear[] = {
    {"CausalConvWithState", 2, 4, .import = import_causal_conv, .attrs = "activation", .max_out = 2,
     .since = 27},
    {"LinearAttention", 3, 6, .import = import_linear_attention,
     .attrs = "chunk_size kv_num_heads q_num_heads scale update_rule", .max_out = 2, .since = 27,
     .refuses = "more than 16384 chunks of 64 tokens, or of 16 where each key dim has a decay"},
    {0},
};
