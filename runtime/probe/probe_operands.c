// The operands of what probes measure: products, and attention in both directions.
#include "runtime/probe/probe.h"
#include "runtime/rt_workspace.h"

RtDot product_of(RtType type, int64_t batch, int64_t m, int64_t n, int64_t k)
{
    return (RtDot){.m = m,
                   .n = n,
                   .k = k,
                   .n_batch = batch > 1,
                   .batch = {batch},
                   .a_m = k,
                   .a_k = 1,
                   .a_batch = {m * k},
                   .b_k = n,
                   .b_n = 1,
                   .b_batch = {k * n},
                   .y_m = n,
                   .y_n = 1,
                   .y_batch = {m * n},
                   .type = type};
}

// ---- attention ----

static RtAttention attention_of(int64_t heads, int64_t tokens)
{
    RtAttention p = {.n_batch = 1,
                     .batch = {heads},
                     .s = tokens,
                     .t = tokens,
                     .e = HEAD,
                     .f = HEAD,
                     .scale = 0.125f,
                     .q = {.batch = {HEAD}, .row = 3 * heads * HEAD, .col = 1},
                     .y = {.batch = {HEAD}, .row = heads * HEAD, .col = 1},
                     .max = {.batch = {tokens}, .row = 1},
                     .sum = {.batch = {tokens}, .row = 1}};

    p.k = p.v = p.dq = p.dk = p.dv = p.q;
    p.dy = p.y;
    return p;
}

int64_t heads_bytes(RtType type, int64_t heads, int64_t tokens)
{
    return 8 * heads * tokens * HEAD * rt_type_bytes(type) +
           2 * heads * tokens * (int64_t)sizeof(float);
}

Heads heads_at(void *memory, RtType type, int64_t heads, int64_t tokens)
{
    int64_t each = heads * tokens * HEAD * rt_type_bytes(type);
    Heads h = {
        .p = attention_of(heads, tokens), .x = memory, .all = heads * HEAD * rt_type_bytes(type)};

    h.p.type = type == RT_F32 ? RT_NONE : type;
    h.dx = h.x + 3 * each;
    h.y = h.dx + 3 * each;
    h.dy = h.y + each;
    h.max = (float *)(h.dy + each);
    h.sum = h.max + heads * tokens;
    return h;
}

void attend(Rt *rt, const void *heads)
{
    const Heads *h = heads;
    const char *q = h->x, *k = q + h->all, *v = k + h->all;

    rt_attention(rt, &h->p, h->y, h->max, h->sum, q, k, v, NULL, NULL, NULL, NULL);
}

void attend_grad(Rt *rt, const void *heads)
{
    const Heads *h = heads;
    const char *q = h->x, *k = q + h->all, *v = k + h->all;
    char *dq = h->dx, *dk = dq + h->all, *dv = dk + h->all;

    rt_attention_grad(rt, &h->p, dq, dk, dv, q, k, v, NULL, NULL, NULL, NULL, h->y, h->max, h->sum,
                      h->dy);
}

double heads_flops(int64_t heads, int64_t tokens)
{
    return 2.0 * (double)heads * HEAD * (double)tokens * (double)tokens;
}
