// Prints what differs between ranks in a program of several, and the mesh.
#include <stdlib.h>
#include <string.h>

#include "generator/target_text.h"

static bool is_same_cut(const RtCut *a, const RtCut *b)
{
    return a->whole == b->whole && a->n_axes == b->n_axes &&
           !memcmp(a->axis, b->axis, sizeof(int) * (size_t)a->n_axes);
}

static int cut_number(Gen *g, const RtCut *c)
{
    for (int i = 0; i < g->n_cuts; i++)
        if (is_same_cut(&g->cut[i], c))
            return i;
    *arena_push(g->arena, g->cut, g->n_cuts, g->cap_cuts) = *c;
    return g->n_cuts - 1;
}

int node_shard(Gen *g, NodeId n, int factor)
{
    const DimSplit *split = g->s->node_split[n];

    return split && split[factor].cut.n_axes ? cut_number(g, &split[factor].cut) : -1;
}

int64_t whole_size(const Gen *g, NodeId n, int dim)
{
    const Sharded *s = g->s->sharded;

    return s ? s->node[n].size[dim] : out(g->s->g, &g->s->g->nodes[n])->dim[dim];
}

int sum_shard(Gen *g, NodeId n, int dim)
{
    const DimSplit *split = g->s->node_split[n];
    Rule r;

    if (!split)
        return -1;
    node_rule(g->arena, g->s->g, &g->s->g->nodes[n], &r);
    split += r.dim[0][dim];
    return split->is_uneven ? cut_number(g, &split->cut) : -1;
}

// The whole may itself be a shard, split over fewer axes.
const char *own_text(Gen *g, const Operand *o)
{
    const RankSlice *x = &o->rank_slice;
    const DimSplit *slice = g->s->value_split[x->slice], *whole = g->s->value_split[x->whole];

    if (!slice || !slice[x->dim].cut.n_axes)
        return "";
    const char *at =
        arena_string(g->arena, "rt->shard[%d].offset", cut_number(g, &slice[x->dim].cut));
    if (whole && whole[x->dim].cut.n_axes)
        at = arena_string(g->arena, "(%s - rt->shard[%d].offset)", at,
                          cut_number(g, &whole[x->dim].cut));
    return arena_string(g->arena, " + %s * %s", at,
                        sizeof_text(g, o->value, arena_string(g->arena, "%" PRId64, x->stride)));
}

const Graph *whole_graph(const Set *s) { return s->sharded ? s->sharded->whole : s->g; }

ValueId whole_value(const Set *s, ValueId v)
{
    if (!s->sharded)
        return v;
    return v < s->sharded->n_values ? s->sharded->value[v].of : 0;
}

void print_parts(Gen *g, ValueId v, Text *t)
{
    const Sharded *s = g->s->sharded;
    const Value *whole = s ? value_of(s->whole, s->value[v].of) : NULL;
    const DimSplit *split = g->s->value_split[v];
    int number[MAX_RANK] = {0};
    bool is_cut = false;

    for (int i = 0; split && i < whole->rank; i++)
        if (split[i].cut.n_axes) {
            number[i] = 1 + cut_number(g, &split[i].cut);
            is_cut = true;
        }
    if (!is_cut)
        return;
    text_printf(t, ", .n_parts = %d, .part = {", whole->rank);
    for (int i = 0; i < whole->rank; i++)
        text_printf(t, "%s%" PRId64, i ? ", " : "", whole->dim[i]);
    text_printf(t, "}, .cut = {");
    for (int i = 0; i < whole->rank; i++)
        text_printf(t, "%s%d", i ? ", " : "", number[i]);
    text_printf(t, "}");
}

static const Mesh *mesh_of(const Program *p)
{
    for (int i = 0; i < N_SETS; i++)
        if (p->set[i].sharded)
            return &p->set[i].sharded->plan->mesh;
    return NULL;
}

void generate_cuts(const Gen *g, Text *t)
{
    const Mesh *m = mesh_of(g->p);

    if (!g->n_cuts)
        return;
    text_printf(t, "// Dims that are split over ranks; rt->shard[i] is this rank's shard of the "
                   "i-th.\nstatic const RtCut cuts[] = {\n");
    for (int i = 0; i < g->n_cuts; i++) {
        const RtCut *c = &g->cut[i];
        text_printf(t, "    {%" PRId64 ", %d, {", c->whole, c->n_axes);
        for (int k = 0; k < c->n_axes; k++)
            text_printf(t, "%s%d", k ? ", " : "", c->axis[k]);
        text_printf(t, "}},  // %d: on ", i);
        mesh_print_axes(m, c->axis, c->n_axes, t);
        text_printf(t, "\n");
    }
    text_printf(t, "};\n\n");
}

void print_mesh(const Gen *g, Text *t)
{
    const Mesh *m = mesh_of(g->p);

    if (!m)
        return;
    text_printf(t, "    .mesh = {%d, {", m->n_axes);
    for (int i = 0; i < m->n_axes; i++)
        text_printf(t, "%s%d", i ? ", " : "", m->size[i]);
    text_printf(t, "}, {");
    for (int i = 0; i < m->n_axes; i++) {
        text_printf(t, "%s", i ? ", " : "");
        print_string(t, m->name[i], 12);
    }
    text_printf(t, "}},\n    .transport = &rt_%s,\n", g->o->transport->name);
    if (g->target->collectives.table)
        text_printf(t, "    .collectives = &%s,\n", g->target->collectives.table);
    if (g->n_cuts)
        text_printf(t, "    .cuts = cuts,\n    .n_cuts = sizeof cuts / sizeof *cuts,\n");
}

// Appends "dp+tp".
static void put_axes(const Sharded *s, const Node *collective, Text *t)
{
    const Attr *axes = &collective->attr[0];

    for (int i = 0; i < axes->n; i++)
        text_printf(t, "%s%s", i ? "+" : "", s->plan->mesh.name[axes->v[i]]);
}

// "all_reduce on tp: 12.0 MiB, 310 us" or, for a bucket, "all_reduce of 8 on tp: …".
char *exchange_comment(const Gen *g, const Item *it)
{
    const Sharded *s = g->s->sharded;
    const Node *n = it->kind == ITEM_KERNEL ? &g->s->g->nodes[it->nodes[0]] : NULL;

    if (!n || !n->op->exchange)
        return NULL;
    const ShardedNode *x = &s->node[it->nodes[0]];
    Text t = {0};
    text_printf(&t, "// %s ", n->op->name);
    if (x->n_joined)
        text_printf(&t, "of %d ", x->n_joined);
    text_printf(&t, "on ");
    put_axes(s, n, &t);
    if (x->bytes)
        text_printf(&t, ": %.3g MiB, %.3g us", (double)x->bytes / 1048576,
                    (double)x->picoseconds * 1e-6);
    char *text = arena_copy(g->arena, t.s, t.n);
    text_free(&t);
    return text;
}

double exchange_seconds(const Gen *g, const Item *it)
{
    const Node *n = it->kind == ITEM_KERNEL ? &g->s->g->nodes[it->nodes[0]] : NULL;

    return n && n->op->exchange && !it->call.slot
               ? (double)g->s->sharded->node[it->nodes[0]].picoseconds * 1e-12
               : 0;
}

ExchangeCall exchange_call(const Gen *g, const Item *it)
{
    bool may_send = it->kind == ITEM_KERNEL || it->kind == ITEM_WAIT;
    const Node *n = may_send ? &g->s->g->nodes[it->nodes[0]] : NULL;
    const ShardedNode *x = n && n->op->exchange ? &g->s->sharded->node[it->nodes[0]] : NULL;
    Text axes = {0};

    if (!x || !x->bytes)
        return (ExchangeCall){0};
    put_axes(g->s->sharded, n, &axes);
    ExchangeCall call = {arena_copy(g->arena, axes.s, axes.n), (double)x->bytes,
                         1e-12 * (double)x->picoseconds};
    text_free(&axes);
    return call;
}
