// Checks the reads and the writes of one item in one iteration.
#include <stdlib.h>
#include <string.h>

#include "lower/check/check.h"

// Are the bytes inside of the operand's buffer?
static void check_bounds(Check *c, const Operand *o, const Footprint *f)
{
    const Buffer *b = &c->p->buffers[c->s->storage[o->base].buffer];
    Address a = operand_address(c->p, c->s, o);
    int64_t low, high, begin = b->offset;

    if (a.pool)
        begin += c->slots[a.pool][a.stage + a.stage_step * c->iteration[0]];
    if (footprint_range(f, &low, &high) && (low < begin || high > begin + b->bytes - REDZONE))
        check_fail(c, NULL, "bytes %" PRId64 " to %" PRId64 " are outside of their buffer", low,
                   high);
}

// ---- items ----

static bool same_attr(const AttrDef *def, const Attr *a, const Attr *b, int64_t by)
{
    if (def->type == ATTR_TEXT)
        return a->s == b->s || (a->s && b->s && !strcmp(a->s, b->s));
    if (def->type == ATTR_FLOAT)
        return !memcmp(&a->f, &b->f, sizeof a->f);
    if (def->type == ATTR_INT)
        return a->i + by == b->i;
    return a->n == b->n &&
           (def->is_affine || !a->n || !memcmp(a->v, b->v, sizeof *a->v * (size_t)a->n));
}

// Checks that the numbers in a group's text, which are one iteration's, hold in this iteration too.
// An integer that depends on the iteration grows by 1. Lists that depend on it are offsets of
// views, which the check of addresses covers.
static void check_attrs(Check *c, NodeId id)
{
    const Node *n = &c->g->nodes[id], *now = check_node(c, id);

    if (!now || now == n)
        return;
    if (now->op != n->op) {
        check_fail(c, n, "it is %s in this iteration", now->op->name);
        return;
    }
    for (int i = 0; i < MAX_ATTRS && n->op->attrs[i].name; i++)
        if (!same_attr(&n->op->attrs[i], &n->attr[i], &now->attr[i],
                       n->op->attrs[i].is_affine ? c->iteration[0] - c->representative : 0))
            check_fail(c, n, "attribute %s differs in this iteration", n->op->attrs[i].name);
}

// Does this iteration's node need the call's kernel and parameters, with its operands' layouts?
static void check_call(Check *c, const Node *n, const Node *now)
{
    const Item *it = c->it;
    int count = n->n_in + n->n_out;
    NodeId id = (NodeId)(now - c->g->nodes);
    int64_t(*stride)[MAX_RANK] = arena_alloc(c->arena, (size_t)count, sizeof *stride);
    const Sharded *s = c->s->sharded;
    Kernel k = {.want = arena_alloc(c->arena, (size_t)count, sizeof *stride),
                .whole = s ? s->node[id].size : NULL,
                .cut = split_factors(s, id)};

    for (int i = 0; i < count; i++)
        memcpy(stride[i], it->operands[i].stride, sizeof stride[i]);
    node_kernel(c->g, now, (const int64_t(*)[MAX_RANK])stride, &k);
    kernel_settle(&k, it->region && now->block.cls == it->cls ? now->block.iter : -1);
    if (!k.def || k.copies || !kernel_equal(&k, &it->call.kernel))
        check_fail(c, n, "its call is another than its operands need");
    else if (target_workspace(c->p->target, &k) > it->call.workspace)
        check_fail(c, n, "its workspace is too small");
}

// Checks that the workspace overlaps nothing, and leaves nothing in it that may be read.
static void check_workspace(Check *c, const Node *n, const Footprint *f)
{
    const Buffer *b = &c->p->buffers[c->it->workspace_buffer];
    int64_t bytes = item_workspace(c->it), at = b->offset;
    if (b->pool)
        at += c->slots[b->pool][b->stage + b->stage_step * c->iteration[0]];
    const Footprint all = {.rank = 1, .dim = {bytes}, .stride = {1}, .at = at, .size = 1};

    if (!c->it->workspace_buffer || !bytes)
        return;
    if (bytes > b->bytes - REDZONE)
        check_fail(c, n, "its workspace doesn't fit into its buffer");
    for (int k = 0; k < c->it->n_in + c->it->n_out; k++)
        if (c->it->operands[k].base && footprints_intersect(&all, &f[k]))
            check_fail(c, n, "its workspace lies over an operand");
    check_pending(c, n, &all, true);
    shadow_poison(c->shadow, all.at, all.at + bytes);
}

static void check_disjoint(Check *c, const Node *n, const Footprint *f)
{
    const Item *it = c->it;

    for (int k = it->n_in; k < it->n_in + it->n_out; k++)
        for (int j = 0; j < k; j++) {
            bool is_over = j + 1 == it->call.kernel.over && f[j].at == f[k].at;
            if (it->operands[j].base && !is_over && footprints_intersect(&f[j], &f[k]))
                check_fail(c, n, "its result is written over another operand");
        }
}

// Has each element an address of its own, unless `from` (may be NULL) repeats it too?
static void check_distinct(Check *c, const Footprint *f, const Footprint *from)
{
    for (int i = 0; i < f->rank && footprint_count(f); i++)
        if (f->dim[i] > 1 && !f->stride[i] && (!from || from->stride[i]))
            check_fail(c, NULL, "several elements of a result have one address");
}

// Finds the operands' boxes and checks that they are in their buffers.
static Footprint *find_boxes(Check *c)
{
    const Item *it = c->it;
    int count = it->n_in + it->n_out;
    Footprint *f = arena_array(c->arena, Footprint, count);

    for (int k = 0; k < count; k++) {
        if (!it->operands[k].base)
            continue;
        f[k] = check_operand_box(c, &it->operands[k]);
        check_bounds(c, &it->operands[k], &f[k]);
        if (k >= it->n_in) {
            check_pending(c, NULL, &f[k], true);
            check_distinct(c, &f[k], NULL);
        }
    }
    return f;
}

static int slot_of(const Check *c)
{
    return c->it->call.slot - 1 +
           (c->it->call.n_slots > 1 ? c->iteration[0] % c->it->call.n_slots : 0);
}

static void start_exchange(Check *c, const Node *now, Footprint *f)
{
    int slot = slot_of(c);

    for (int i = 0; i < c->n_pending; i++)
        if (c->pending[i].slot == slot)
            check_fail(c, now, "the call before it in slot %d is still running", slot);
    *arena_push(c->arena, c->pending, c->n_pending, c->cap_pending) =
        (PendingExchange){slot, c->it, f, now};
}

static void run_kernel(Check *c)
{
    const Item *it = c->it;
    const Node *n = &c->g->nodes[it->nodes[0]], *now = check_node(c, it->nodes[0]);
    Footprint *f = find_boxes(c);

    if (!now)
        return;
    if (c->is_read) {
        check_call(c, n, now);
        check_pads(c, now, f);
    }
    for (int k = 0; k < it->n_in; k++)
        if (!it->operands[k].base != !now->in[k])
            check_fail(c, n, "input %d is %s", k, now->in[k] ? "missing" : "too many");
        else if (now->in[k] && c->is_read)
            check_holds(c, n, &f[k], now->in[k]);
    check_disjoint(c, n, f);
    check_workspace(c, n, f);
    if (it->call.slot) {
        start_exchange(c, now, f);
        return;
    }
    for (int k = 0; k < it->n_out; k++)
        shadow_put(c->shadow, &f[it->n_in + k], now->out[k]);
}

static void run_wait(Check *c)
{
    int slot = slot_of(c), i = 0;

    while (i < c->n_pending && c->pending[i].slot != slot)
        i++;
    if (i == c->n_pending) {
        check_fail(c, NULL, "slot %d is waited for, but nothing is running in it", slot);
        return;
    }
    const PendingExchange x = c->pending[i];
    for (int k = 0; k < x.it->n_out; k++)
        shadow_put(c->shadow, &x.f[x.it->n_in + k], x.node->out[k]);
    c->pending[i] = c->pending[--c->n_pending];
}

static const char *value_text(const Check *c, ValueId v)
{
    Text t = {0};

    value_describe(c->g, v, &t);
    const char *s = arena_copy(c->arena, t.s, t.n);
    text_free(&t);
    return s;
}

static void run_copy(Check *c)
{
    const Item *it = c->it;
    const char *name = value_text(c, it->operands[0].value);
    Footprint from = check_box(c, &it->operands[0], it->rank, it->dim);
    Footprint to = check_box(c, &it->operands[1], it->rank, it->dim);
    int64_t index[MAX_RANK];

    check_bounds(c, &it->operands[0], &from);
    check_bounds(c, &it->operands[1], &to);
    check_pending(c, NULL, &from, false);
    check_pending(c, NULL, &to, true);
    for (int at = 0; c->is_read && sample_next(&from, &at, index);)
        if (shadow_get(c->shadow, footprint_address(&from, index)).kind <= ELEMENT_POISON) {
            check_fail(c, NULL, "nothing is where a copy reads %s, at %" PRId64, name, from.at);
            break;
        }
    check_distinct(c, &to, &from);
    if (footprints_intersect(&from, &to))
        check_fail(c, NULL, "a copy of %s is written over itself", name);
    shadow_copy(c->shadow, &from, &to);
}

static void run_gradient(Check *c)
{
    const Operand *o = &c->it->operands[0];
    ValueId v = check_value(c, o->value);
    Footprint f = check_operand_box(c, o);

    if (!v)
        return;
    c->shown[v]++;
    check_shown_gradient(c, v);
    check_holds(c, producer(c->g, v), &f, v);
}

static void run_group(Check *c)
{
    const Footprint *f = find_boxes(c);

    for (int i = 0; i < c->it->n_nodes && c->is_read; i++)
        check_attrs(c, c->it->nodes[i]);
    check_workspace(c, NULL, f);
    check_group(c, f);
}

void check_item(Check *c)
{
    const Item *it = c->it;
    Footprint f;

    if (c->is_first)
        check_stored_addresses(c);
    if (c->is_first && it->kind == ITEM_GROUP)
        check_stored_group(c);
    switch (it->kind) {
    case ITEM_GROUP:
        run_group(c);
        break;
    case ITEM_KERNEL:
        run_kernel(c);
        break;
    case ITEM_COPY:
        run_copy(c);
        break;
    case ITEM_FILL:
    case ITEM_PAD:
        f = check_operand_box(c, &it->operands[0]);
        check_bounds(c, &it->operands[0], &f);
        check_pending(c, NULL, &f, true);
        if (it->kind == ITEM_PAD)
            check_pad(c, &f);
        else
            shadow_fill(c->shadow, &f, it->fill.value);
        break;
    case ITEM_GRADIENT:
        run_gradient(c);
        break;
    case ITEM_WAIT:
        run_wait(c);
        break;
    case ITEM_LOOP:
    case ITEM_END:
    case ITEM_NONE:
        break;
    }
}
