// Elementwise operators: dtype checks, rules and the text of their C expressions.
#include "ir/operator/operator.h"

bool infer_number(const Graph *g, const Node *n, int i, Diag *d)
{
    DType t = in(g, n, i)->dtype;

    if (!dtype_is_float(t) && !dtype_is_int(t))
        return node_error(g, n, d, "takes floats or integers, not %s", dtype_name(t));
    return true;
}

bool infer_number_like(Graph *g, Node *n, Diag *d)
{
    return infer_like(g, n, d) && infer_number(g, n, 0, d);
}

bool infer_axis(const Graph *g, const Node *n, const char *name, int64_t axis, int rank, Diag *d)
{
    if (axis < 0 || axis >= rank)
        return node_error(g, n, d, "%s %" PRId64 " of rank %d", name, axis, rank);
    return true;
}

static bool in_word(int64_t x) { return x >= 0 && x <= UINT32_MAX; }

bool infer_draw(const Graph *g, const Node *n, int seed, int site, int64_t micro, Diag *d)
{
    for (int i = seed; i < seed + 3; i++)
        if (in(g, n, i)->dtype != I64 || in(g, n, i)->rank != 0)
            return node_error(g, n, d, "seed, step and micro must be i64[], not %s",
                              type_text(g->arena, in(g, n, i)));
    if (!in_word(n->attr[site].i) || !in_word(n->attr[site + 1].i) || micro < 1 ||
        micro > INT32_MAX)
        return node_error(g, n, d, "site, layer or micro is out of range");
    return true;
}

bool infer_ascending(const Graph *g, const Node *n, int attr, int limit, Diag *d)
{
    const Attr *a = &n->attr[attr];
    int64_t last = -1;

    for (int i = 0; i < a->n; i++) {
        if (a->v[i] <= last || a->v[i] >= limit)
            return node_error(g, n, d, "%s must be ascending and below %d", n->op->attrs[attr].name,
                              limit);
        last = a->v[i];
    }
    return true;
}

void rule_linear(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    r->joint = n->n_in == 1 ? 1 : 3;
}

void rule_source(const Graph *g, const Node *n, Rule *r)
{
    char text[RULE_TEXT];

    snprintf(text, sizeof text, "%.*s->%.*s", n->n_in > 1 ? n->n_in - 1 : 0, ",,", out(g, n)->rank,
             LETTERS);
    rule_set(g, n, r, text);
}

const char *dtype_c_type(DType t)
{
    static const char *const name[N_DTYPES] = {
        [F32] = "float",    [F64] = "double",   [F16] = "RtF16",    [BF16] = "RtBf16",
        [I8] = "int8_t",    [I16] = "int16_t",  [I32] = "int32_t",  [I64] = "int64_t",
        [U8] = "uint8_t",   [U16] = "uint16_t", [U32] = "uint32_t", [U64] = "uint64_t",
        [BOOL] = "uint8_t",
    };
    return name[t];
}

static const char *operands(const Node *n) { return n->n_in == 1 ? "$0" : "$0, $1"; }

const char *expr_call(const Graph *g, const Node *n, const char *name)
{
    DType t = in(g, n, 0)->dtype;

    if (dtype_is_int(t))
        return arena_string(g->arena, "(%s)rt_%s_int(%s)", dtype_c_type(t), name, operands(n));
    return arena_string(g->arena, "rt_%s%s(%s)", name, t == F64 ? "" : "f", operands(n));
}

const char *expr_number(const Graph *g, const Node *n, const char *name, const char *floats)
{
    return dtype_is_int(in(g, n, 0)->dtype) ? expr_call(g, n, name) : floats;
}

const char *expr_order(const Graph *g, const Node *n, const char *sign)
{
    const char *cast = in(g, n, 0)->dtype == U64 ? "(int64_t)" : "";

    return arena_string(g->arena, "%s$0 %s %s$1", cast, sign, cast);
}
