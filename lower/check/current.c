// The item that a check runs: its nodes in the current iteration, and what is reported of it.
#include <stdarg.h>

#include "lower/check/check.h"

enum { MAX_FINDINGS = 5 };  // findings that are printed

void check_fail(Check *c, const Node *n, const char *fmt, ...)
{
    Text t = {0};
    va_list args;

    if (c->findings++ >= MAX_FINDINGS)
        return;
    va_start(args, fmt);
    const char *s = arena_vstring(c->arena, fmt, args);
    va_end(args);
    if (c->s->sharded)
        text_printf(&t, "rank %d: ", c->rank);
    if (c->it && c->it->region)
        text_printf(&t, "iteration %d of %s: ", c->iteration[0], class_label(c->g, c->it->cls));
    text_printf(&t, "%s", s);
    if (n)
        node_error(c->g, n, c->d, "%s", t.s);
    else
        diag_error(c->d, "%s", t.s);
    text_free(&t);
}

const Node *check_node(Check *c, NodeId n)
{
    const Node *x = &c->g->nodes[n];

    if (!c->it->region || x->block.cls != c->it->cls)
        return x;
    const ClassTable *t = &c->table[x->block.cls];
    int iter = c->iteration[0] + x->block.iter - c->representative;
    NodeId now = 0;
    if (iter >= 0 && iter < c->g->classes[x->block.cls].length && x->block.pos < t->n_nodes)
        now = t->nodes[(int64_t)iter * t->n_nodes + x->block.pos];
    if (!now)
        check_fail(c, x, "its loop has no such node in this iteration");
    return now ? &c->g->nodes[now] : NULL;
}

ValueId check_value(Check *c, ValueId v)
{
    const Value *x = value_of(c->g, v);

    if (!x->producer)
        return v;
    const Node *n = &c->g->nodes[x->producer], *now = check_node(c, x->producer);
    return now ? now->out[v - n->out[0]] : 0;
}
