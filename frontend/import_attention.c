// Imports the operators of opset 23 for a whole attention, and for rotary positions.
#include "frontend/internal.h"

// Turns [b, s, h · d] into [b, h, s, d]. An input of rank 4 has that form already.
static ValueId split_heads(Op *o, int i, const char *heads)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    Dims d = dims_of(o->g, arg(o, i));
    int64_t h = attr_int(o, heads, 0);

    if (d.rank == 4)
        return arg(o, i);
    if (d.rank != 3 || h < 1 || d.dim[2] % h) {
        op_error(o, "input %d can't be split into %" PRId64 " heads", i, h);
        return 0;
    }
    Dims split = {4, {d.dim[0], d.dim[1], h, d.dim[2] / h}};
    return make_transpose(o->g, reshape_to(o->g, arg(o, i), &split), perm);
}

// Turns [b, h, s, d] into [b, s, h · d] if the node's input had rank 3.
static ValueId join_heads(Op *o, ValueId y)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    Dims d = dims_of(o->g, y);

    if (arg_value(o, 0)->rank == 4 || !y)
        return y;
    return reshape_to(o->g, make_transpose(o->g, y, perm),
                      &(Dims){3, {d.dim[0], d.dim[2], d.dim[1] * d.dim[3]}});
}

typedef struct Heads {
    ValueId q, k,
        v;  // [b, h, g, s, e] [b, h, t, e] [b, h, t, f]: g query heads share one of k and v
    int64_t b, h, g, s, t;
    double scale;
} Heads;

static bool read_heads(Op *o, Heads *a)
{
    a->q = split_heads(o, 0, "q_num_heads");
    a->k = split_heads(o, 1, "kv_num_heads");
    a->v = split_heads(o, 2, "kv_num_heads");
    if (o->failed)
        return false;
    if (has(o, 4) != has(o, 5))
        return op_error(o, "past_key and past_value come together");
    if (has(o, 4)) {
        a->k = make_concat(o->g, 2, (ValueId[]){arg(o, 4), a->k}, 2);
        a->v = make_concat(o->g, 2, (ValueId[]){arg(o, 5), a->v}, 2);
    }
    Dims q = dims_of(o->g, a->q), k = dims_of(o->g, a->k), v = dims_of(o->g, a->v);
    if (!a->k || !a->v)
        return false;
    if (k.dim[1] < 1 || q.dim[1] % k.dim[1] || k.dim[1] != v.dim[1] || q.dim[0] != k.dim[0] ||
        k.dim[2] != v.dim[2] || q.dim[3] != k.dim[3])
        return op_error(o, "its queries, keys and values don't fit each other");
    a->b = q.dim[0], a->h = k.dim[1], a->g = q.dim[1] / k.dim[1];
    a->s = q.dim[2], a->t = k.dim[2];
    a->scale = attr_float(o, "scale", 1 / sqrt((double)q.dim[3]));
    Dims grouped = {5, {a->b, a->h, a->g, a->s, q.dim[3]}};
    a->q = reshape_to(o->g, a->q, &grouped);
    return true;
}

// Reads the mask, which is broadcast over [b, heads, s, t]. Gives the letters of the dims that it
// really has.
static ValueId read_bias(Op *o, const Heads *a, char *letters)
{
    static const char names[] = "bhgst";
    Dims m = dims_of(o->g, arg(o, 3)), wide = {4, {1, 1, 1, 1}}, kept = {0};

    if (m.rank > 4) {
        op_error(o, "its mask has rank %d, expected at most 4", m.rank);
        return 0;
    }
    for (int i = 0; i < m.rank; i++)
        wide.dim[4 - m.rank + i] = m.dim[i];
    bool by_head = wide.dim[1] != 1;
    Dims split = {5,
                  {wide.dim[0], by_head ? a->h : 1, by_head ? a->g : 1, wide.dim[2], wide.dim[3]}};
    const int64_t whole[] = {a->b, a->h, a->g, a->s, a->t};
    bool ok = !by_head || wide.dim[1] == a->h * a->g;
    int n = 0;
    for (int i = 0; i < 5 && ok; i++) {
        ok = split.dim[i] == 1 || split.dim[i] == whole[i];
        if (split.dim[i] == 1 && whole[i] != 1)
            continue;
        kept.dim[kept.rank++] = split.dim[i];
        letters[n++] = names[i];
    }
    if (!ok) {
        op_error(o, "its mask doesn't fit the scores");
        return 0;
    }
    letters[n] = 0;
    return reshape_to(o->g, arg(o, 3), &kept);
}

// The softmax over the last of five dims. A row of -inf gives 0, as in ONNX Runtime. Its scores are
// replaced first, so that its gradient is 0, too.
static ValueId masked_softmax(Graph *g, ValueId x)
{
    static const int64_t last[] = {4}, dims[] = {0, 1, 2, 3};
    ValueId most = make_reduce_max(g, x, 1, last), zero = scalar_like(g, x, 0);
    ValueId is_masked = make_eq(g, most, scalar_like(g, most, -INFINITY));

    is_masked = make_broadcast(g, is_masked, 5, value_of(g, x)->dim, dims);
    ValueId p = make_softmax(g, make_select(g, is_masked, zero, x), 4);
    return make_select(g, is_masked, zero, p);
}

// Composes attention of simple nodes. The attention primitive has no soft cap, and gives no
// gradient for a mask that is computed from parameters.
static ValueId written_out(Op *o, const Heads *a, ValueId bias, const char *letters, bool is_causal)
{
    Graph *g = o->g;
    double cap = attr_float(o, "softcap", 0);
    ValueId x = make_dot(g, a->q, a->k, "bhgse,bhte->bhgst");

    x = make_mul(g, x, scalar_like(g, x, a->scale));
    Dims d = dims_of(g, x);
    int64_t dims[5];
    if (cap != 0) {
        ValueId c = scalar_like(g, x, cap);
        x = make_mul(g, c, make_tanh(g, make_div(g, x, c)));
    }
    if (bias) {
        for (int i = 0; letters[i]; i++)
            dims[i] = strchr("bhgst", letters[i]) - "bhgst";
        ValueId m = make_broadcast(g, bias, 5, d.dim, dims);
        x = value_of(g, bias)->dtype == BOOL ? make_select(g, m, x, scalar_like(g, x, -INFINITY))
                                             : make_add(g, x, m);
    }
    if (is_causal) {
        ValueId row = make_iota(g, I64, 5, d.dim, 3), column = make_iota(g, I64, 5, d.dim, 4);
        ValueId last = make_add(g, row, scalar_like(g, row, (double)(has(o, 4) ? a->t - a->s : 0)));
        ValueId unseen = scalar_like(g, x, -INFINITY);
        x = make_select(g, make_le(g, column, last), x, unseen);
    }
    return make_dot(g, masked_softmax(g, x), a->v, "bhgst,bhtf->bhgsf");
}

// A mask as ONNX Runtime reads it: the lowest number means -inf.
static ValueId read_numbers(Op *o, ValueId mask)
{
    Graph *g = o->g;

    if (value_of(g, mask)->dtype == BOOL)
        return mask;
    mask = make_cast(g, mask, F32);
    ValueId is_lowest = make_le(g, mask, scalar_like(g, mask, -3.38e38));
    return make_select(g, is_lowest, scalar_like(g, mask, -INFINITY), mask);
}

static void import_attention_op(Op *o)
{
    bool is_causal = attr_int(o, "is_causal", 0) != 0;
    char letters[6] = "";
    Heads a = {0};

    if (wants(o, 3) || has(o, 6)) {
        op_error(o, wants(o, 3) ? "the output of the product of q and k is not supported"
                                : "nonpad_kv_seqlen is not supported");
        return;
    }
    if (!read_heads(o, &a))
        return;
    ValueId bias = has(o, 3) ? read_bias(o, &a, letters) : 0, y;
    if (o->failed)
        return;
    if (bias)
        bias = read_numbers(o, bias);
    if (attr_float(o, "softcap", 0) != 0 || (bias && is_learned(o->x, bias))) {
        y = written_out(o, &a, bias, letters, is_causal);
    } else {
        Attention at = {.eq = "bhgse,bhte,bhtf->bhgsf",
                        .bias_eq = letters,
                        .query = 3,
                        .scale = a.scale,
                        .causal = is_causal,
                        .guard = 2};
        at.offset = has(o, 4) ? a.t - a.s : 0;
        y = make_attention(o->g, a.q, a.k, a.v, bias, &at);
    }
    Dims d = dims_of(o->g, y);
    if (y)
        give(o, 0, join_heads(o, reshape_to(o->g, y, &(Dims){4, {a.b, a.h * a.g, a.s, d.dim[4]}})));
    if (wants(o, 1))
        give(o, 1, a.k);
    if (wants(o, 2))
        give(o, 2, a.v);
    o->failed |= !y;
}

// ---- rotary ----

// Takes the row of a cos or sin cache for each position, as [b, 1, s, half] over x [b, h, s, d].
static ValueId rotary_rows(Op *o, int i, const Dims *x, int64_t half)
{
    Graph *g = o->g;
    ValueId rows = arg(o, i);
    const int64_t dims[] = {0, 2, 3};

    if (has(o, 3))
        rows = make_gather(g, rows, arg(o, 3), 0, 0);
    Dims d = dims_of(g, rows);
    if (d.rank != 3 || d.dim[0] != x->dim[0] || d.dim[1] != x->dim[2] || d.dim[2] != half) {
        op_error(o, "input %d doesn't fit", i);
        return 0;
    }
    return make_broadcast(g, rows, 4, (int64_t[]){x->dim[0], x->dim[1], x->dim[2], half}, dims);
}

// Rotates pairs (x1, x2): x1 cos - x2 sin, x1 sin + x2 cos. The pairs are the two halves, or
// neighbours if interleaved.
static void import_rotary(Op *o)
{
    Graph *g = o->g;
    bool is_interleaved = attr_int(o, "interleaved", 0) != 0;
    ValueId x = split_heads(o, 0, "num_heads");

    if (o->failed)
        return;
    Dims d = dims_of(g, x);
    int64_t rotary_dim = attr_int(o, "rotary_embedding_dim", 0), half;
    rotary_dim = rotary_dim ? rotary_dim : d.dim[3];
    if (rotary_dim < 2 || rotary_dim > d.dim[3] || rotary_dim % 2) {
        op_error(o, "rotary_embedding_dim is %" PRId64 ", expected an even number up to %" PRId64,
                 rotary_dim, d.dim[3]);
        return;
    }
    half = rotary_dim / 2;
    ValueId c = rotary_rows(o, 1, &d, half), s = rotary_rows(o, 2, &d, half);
    int64_t step = is_interleaved ? 2 : 1;
    ValueId x1 = slice_axis(g, x, 3, 0, half, step);
    ValueId x2 = slice_axis(g, x, 3, is_interleaved ? 1 : half, half, step);
    ValueId x2_s = make_mul(g, x2, s), x1_c = make_mul(g, x1, c);
    ValueId first = make_sub(g, x1_c, x2_s);
    ValueId x2_c = make_mul(g, x2, c), x1_s = make_mul(g, x1, s);
    ValueId y[] = {first, make_add(g, x1_s, x2_c), 0};
    ValueId pair[2] = {y[0], y[1]};
    if (is_interleaved) {
        Dims one = {5, {d.dim[0], d.dim[1], d.dim[2], half, 1}};
        for (int i = 0; i < 2; i++)
            pair[i] = reshape_to(g, y[i], &one);
    }
    ValueId r = make_concat(g, 2, pair, is_interleaved ? 4 : 3);
    r = reshape_to(g, r, &(Dims){4, {d.dim[0], d.dim[1], d.dim[2], rotary_dim}});
    if (rotary_dim < d.dim[3]) {
        ValueId unrotated = slice_axis(g, x, 3, rotary_dim, d.dim[3] - rotary_dim, 1);
        r = make_concat(g, 2, (ValueId[]){r, unrotated}, 3);
    }
    give(o, 0, join_heads(o, r));
}

const OpImporter import_attention[] = {
    {"Attention", 3, 7, .import = import_attention_op,
     .attrs = "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap "
              "softmax_precision",
     .max_out = 4, .since = 23, .refuses = "nonpad_kv_seqlen; the output qk_matmul_output"},
    {"RotaryEmbedding", 3, 4, .import = import_rotary,
     .attrs = "interleaved num_heads rotary_embedding_dim", .since = 23},
    {0},
};
