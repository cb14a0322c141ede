// Labels of repeated blocks: looks them up, splits classes and clears labels.
#include <string.h>

#include "ir/classes.h"

ClassNodes *class_nodes(Arena *a, const Graph *g)
{
    ClassNodes *c = arena_array(a, ClassNodes, g->n_classes + 1);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        if (b.cls && b.pos >= c[b.cls].n_pos)
            c[b.cls].n_pos = b.pos + 1;
    }
    for (int k = 1; k < g->n_classes; k++) {
        c[k].length = g->classes[k].length;
        c[k].node = arena_array(a, NodeId, (int64_t)c[k].length * c[k].n_pos);
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        if (b.cls)
            c[b.cls].node[(int64_t)b.iter * c[b.cls].n_pos + b.pos] = i;
    }
    return c;
}

NodeId class_instance(const ClassNodes *classes, const Node *n, int iter)
{
    const ClassNodes *c = &classes[n->block.cls];

    return c->node[(int64_t)iter * c->n_pos + n->block.pos];
}

int class_other(const ClassNodes *classes, const Node *n)
{
    int iter = n->block.iter;

    return iter + 1 < classes[n->block.cls].length ? iter + 1 : iter - 1;
}

const char *class_label(const Graph *g, int32_t cls)
{
    const char *name = g->classes[cls].name;

    return name && *name ? name : arena_string(g->arena, "repeated block %d", (int)cls);
}

const char *class_key(Arena *a, const Graph *g, int32_t cls)
{
    const char *label = class_label(g, cls);
    int n = 1;

    for (int32_t c = 1; c < cls; c++)
        n += !strcmp(class_label(g, c), label);
    return n > 1 ? arena_string(a, "%s#%d", label, n) : label;
}

char *layered_path(Arena *a, const Graph *g, Block b, const char *path)
{
    const char *prefix = b.cls ? g->classes[b.cls].name : NULL;
    size_t at = prefix ? strlen(prefix) : 0;
    size_t digits = at && !strncmp(path, prefix, at) && path[at] == '.'
                        ? strspn(path + at + 1, "0123456789")
                        : 0;

    if (!digits || (path[at + 1 + digits] && path[at + 1 + digits] != '.'))
        return arena_copy(a, path, strlen(path));
    return arena_string(a, "%s.{}%s", prefix, path + at + 1 + digits);
}

void class_drop(Graph *g, int32_t cls) { g->classes[cls].length = 0; }

static void split_label(Block *b, int32_t cls, int first, int32_t to)
{
    if (b->cls == cls && b->iter >= first)
        *b = (Block){to, b->iter - first, b->pos};
}

void class_split(Graph *g, int32_t cls, int first)
{
    int32_t to = g->n_classes;
    BlockClass part = g->classes[cls];

    part.length -= first;
    *arena_push(g->arena, g->classes, g->n_classes, g->cap_classes) = part;
    for (NodeId i = 1; i < g->n_nodes; i++)
        split_label(&g->nodes[i].block, cls, first, to);
    for (ValueId v = 1; v < g->n_values; v++)
        split_label(&value_edit(g, v)->block, cls, first, to);
    g->classes[cls].length = first;
}

// Clears the label if its class gets number 0.
static void renumber(Block *b, const int32_t *to)
{
    int32_t cls = to[b->cls];

    *b = cls ? (Block){cls, b->iter, b->pos} : (Block){0};
}

void class_compact(Graph *g)
{
    int32_t *to = arena_array(g->arena, int32_t, g->n_classes), n = 1;

    for (int32_t c = 1; c < g->n_classes; c++)
        if (g->classes[c].length >= 2) {
            g->classes[n] = g->classes[c];
            to[c] = n++;
        }
    for (NodeId i = 1; i < g->n_nodes; i++)
        renumber(&g->nodes[i].block, to);
    for (ValueId v = 1; v < g->n_values; v++)
        renumber(&value_edit(g, v)->block, to);
    g->n_classes = n;
}

void class_drop_unlike(Graph *g, const char *what, Diag *d)
{
    for (int32_t c = 1; c < g->n_classes; c++) {
        Text why = {0};
        if (!block_check(g, c, &why)) {
            diag_warn(d, "the %d iterations of %s %s and can't be a loop: %s",
                      (int)g->classes[c].length, class_label(g, c), what, why.s ? why.s : "");
            class_drop(g, c);
        }
        text_free(&why);
    }
    int32_t n = g->n_classes;
    class_compact(g);
    if (g->n_classes != n)
        graph_number_blocks(g);
}

// ---- two graphs of one model ----

// By name: the values without a producer.
static Map find_names(Arena *a, const Graph *g)
{
    Map at = {.arena = a};

    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer && value_of(g, v)->name)
            map_set(&at, value_of(g, v)->name, v);
    return at;
}

// By class of `g` and iteration: does `like` have another class there than in the iteration before?
static bool **find_ends(Arena *a, const Graph *g, const Graph *like)
{
    Map at = find_names(a, like);
    bool **ends = arena_array(a, bool *, g->n_classes);

    for (int c = 1; c < g->n_classes; c++)
        ends[c] = arena_array(a, bool, g->classes[c].length + 1);
    for (ValueId v = g->n_values - 1; v > 0; v--) {
        const Value *x = value_of(g, v);
        Block b = x->block;
        if (x->producer || !x->name || !b.cls || !map_get(&at, x->name))
            continue;
        Block here = value_of(like, map_get(&at, x->name))->block;
        ends[b.cls][b.iter] |= !here.cls || !here.iter;
    }
    return ends;
}

void classes_align(Graph *g, const Graph *like)
{
    Arena *a = arena_new();
    bool **ends = find_ends(a, g, like);
    int n_classes = g->n_classes;

    for (int c = 1; c < n_classes; c++)
        for (int iter = g->classes[c].length - 1; iter > 0; iter--)
            if (ends[c][iter])
                class_split(g, c, iter);
    class_compact(g);
    arena_free(a);
}
