// Imports products. Each becomes a dot over named dims, without copies of broadcast operands.
#include "frontend/internal.h"

static void put_letters(char *s, int n, int first)
{
    for (int i = 0; i < n; i++)
        s[strlen(s)] = (char)('a' + first + i);
}

// One operand of a MatMul as dot takes it. A batch dim of 1 is dropped if the other operand's is
// larger: dot repeats an operand along letters that it lacks.
typedef struct Side {
    ValueId v;
    char letters[32];
} Side;

static Side matmul_side(Op *o, ValueId v, const Dims *batch, int batch_rank, const char *matrix)
{
    Dims d = dims_of(o->g, v), kept = {0};
    Side s = {0};
    int own = d.rank - (int)strlen(matrix);

    for (int i = 0; i < own; i++) {
        int at = batch_rank - own + i;
        if (d.dim[i] == 1 && batch->dim[at] != 1)
            continue;
        kept.dim[kept.rank++] = d.dim[i];
        put_letters(s.letters, 1, at);
    }
    for (int i = own; i < d.rank; i++)
        kept.dim[kept.rank++] = d.dim[i];
    strcat(s.letters, matrix);
    s.v = reshape_to(o->g, v, &kept);
    return s;
}

// A batch letter is in y if an operand has it. If a batch dim of 1 is missing from one operand
// because that has a lower rank, the other operand still has it, and the letter is free there. dot
// takes both forms.
static ValueId matmul(Op *o, ValueId a, ValueId b)
{
    Dims da = dims_of(o->g, a), db = dims_of(o->g, b);
    char eq[128], y[32] = "";

    if (!da.rank || !db.rank) {
        op_error(o, "a scalar can't be multiplied as a matrix");
        return 0;
    }
    Dims batch = {.rank = da.rank > 2 ? da.rank - 2 : 0},
         bb = {.rank = db.rank > 2 ? db.rank - 2 : 0};
    memcpy(batch.dim, da.dim, (size_t)batch.rank * sizeof *batch.dim);
    memcpy(bb.dim, db.dim, (size_t)bb.rank * sizeof *bb.dim);
    if (!dims_broadcast(o, &batch, &bb))
        return 0;
    Side sa = matmul_side(o, a, &batch, batch.rank, da.rank > 1 ? "yk" : "k");
    Side sb = matmul_side(o, b, &batch, batch.rank, db.rank > 1 ? "kz" : "k");
    put_letters(y, batch.rank, 0);
    snprintf(eq, sizeof eq, "%s,%s->%s%s%s", sa.letters, sb.letters, y, da.rank > 1 ? "y" : "",
             db.rank > 1 ? "z" : "");
    return make_dot(o->g, sa.v, sb.v, eq);
}

static void import_matmul(Op *o) { give(o, 0, matmul(o, arg(o, 0), arg(o, 1))); }

static ValueId scaled(Graph *g, ValueId x, double factor)
{
    return factor == 1 ? x : make_mul(g, x, scalar_like(g, x, factor));
}

static void import_gemm(Op *o)
{
    Graph *g = o->g;
    bool ta = attr_int(o, "transA", 0) != 0, tb = attr_int(o, "transB", 0) != 0;
    char eq[16];

    if (arg_value(o, 0)->rank != 2 || arg_value(o, 1)->rank != 2) {
        op_error(o, "two matrices are expected");
        return;
    }
    snprintf(eq, sizeof eq, "%s,%s->mn", ta ? "km" : "mk", tb ? "nk" : "kn");
    ValueId y = make_dot(g, arg(o, 0), arg(o, 1), eq);
    y = scaled(g, y, attr_float(o, "alpha", 1));
    if (has(o, 2) && y) {
        Dims d = dims_of(g, y);
        ValueId c = broadcast_to(g, arg(o, 2), d.rank, d.dim);
        y = make_add(g, y, scaled(g, c, attr_float(o, "beta", 1)));
    }
    give(o, 0, y);
}

const OpImporter import_contraction[] = {
    {"Einsum", 1, MAX_OPERANDS, .import = import_einsum, .attrs = "equation", .since = 12},
    {"Gemm", 2, 3, .import = import_gemm, .attrs = "alpha beta transA transB"},
    {"MatMul", 2, 2, .import = import_matmul},
    {0},
};
