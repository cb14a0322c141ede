// Names statements and buffers by the model's names.
#include <string.h>

#include "report/profile.h"

static const char *path_of(Arena *a, const Graph *g, Block b, const char *path)
{
    return printable_text(a, layered_path(a, g, b, path ? path : ""));
}

static const char *node_path(Arena *a, const Graph *g, const Node *n)
{
    bool has_scope = n->source && n->source->scope && *n->source->scope;
    const char *path = has_scope ? n->source->scope : n->source ? n->source->name : "";
    const char *text = path_of(a, g, n->block, path);

    return has_scope && n->phase == UPDATE
               ? arena_string(a, "%s %s", printable_text(a, n->source->name), text)
               : text;
}

static const char *item_path(Arena *a, const Graph *g, const Item *it)
{
    const Node *n = item_node(g, it);

    if (n)
        return node_path(a, g, n);
    ValueId v = it->n_in + it->n_out ? it->operands[0].value : 0;
    return v ? path_of(a, g, value_block(g, v), value_of(g, v)->name) : "";
}

const char *profile_item_name(const Profile *f, const Item *it)
{
    return item_path(f->arena, f->s->g, it);
}

const char *profile_operators(const Profile *f, const Item *it)
{
    static const char *const of_kind[] = {[ITEM_COPY] = "copy", [ITEM_FILL] = "fill"};
    Text t = {0};

    text_printf(&t, "%s",
                it->kind == ITEM_WAIT  ? "wait for "
                : it->kind == ITEM_PAD ? "pad "
                : item_slot(it)        ? "start "
                                       : "");
    for (int i = 0; i < it->n_nodes; i++)
        text_printf(&t, "%s%s", i ? " " : "", f->s->g->nodes[it->nodes[i]].op->name);
    if (!it->n_nodes)
        text_printf(&t, "%s", of_kind[it->kind]);
    char *s = arena_copy(f->arena, t.s, t.n);
    text_free(&t);
    return s;
}

const char *profile_phase(const Profile *f, const Item *it)
{
    const Graph *g = f->s->g;
    const Node *n = item_node(g, it);

    if (!g->training)
        return "prediction";
    if (n && n->phase == BACKWARD && n->block.again)
        return "backward again";
    return phase_names[n ? n->phase : it->phase];
}

const char *profile_block(const Profile *f, const Item *it)
{
    const Graph *g = f->s->g;

    if (!it->cls)
        return "outside blocks";
    return arena_string(f->arena, "%s (x%d)", printable_text(f->arena, class_label(g, it->cls)),
                        g->classes[it->cls].length);
}

// ---- buffers ----

static const char *workspace_name(const Profile *f, const Set *s, int32_t buffer)
{
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].workspace_buffer == buffer)
            return arena_string(f->arena, "workspace of %s",
                                item_path(f->arena, s->g, &s->items[i]));
    return "workspace";
}

// The name of the parameter whose gradient the buffer holds; NULL: none.
static const char *gradient_name(const Profile *f, const Set *s, int32_t buffer)
{
    const Graph *g = s->g;

    for (int i = 0; i < g->n_outputs; i++) {
        const Output *o = &g->outputs[i];
        if (o->role == OUTPUT_GRADIENT && s->storage[o->value].buffer == buffer)
            return path_of(f->arena, g, value_block(g, o->value), o->name);
    }
    return NULL;
}

// The value that a copy holds in the layout that a kernel needs.
static const char *copied_name(const Profile *f, const Set *s, ValueId copy)
{
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_COPY && s->items[i].operands[1].base == copy)
            return arena_string(f->arena, "copy of %s", item_path(f->arena, s->g, &s->items[i]));
    return "copy";
}

// The name that the model gives a value; NULL if it gives none. In a text, values without a name
// have one of v and a number.
static const char *given_name(const Value *v)
{
    const char *s = v->name;
    bool is_label = s && *s == 'v' && s[1] && !s[1 + strspn(s + 1, "0123456789")];

    return is_label ? NULL : s;
}

static const char *activation_name(const Profile *f, const Set *s, ValueId v)
{
    Arena *a = f->arena;
    const Value *x = value_of(s->g, v);

    if (!x->producer)
        return copied_name(f, s, v);
    const Node *n = producer(s->g, v);
    const char *path = node_path(a, s->g, n);
    return arena_string(a, "%s%s%s", path, *path ? ": " : "",
                        given_name(x) ? printable_text(a, given_name(x)) : n->op->name);
}

const char *profile_buffer_name(const Profile *f, int32_t buffer)
{
    const Buffer *b = &f->p->buffers[buffer];
    const Set *s = &f->p->set[b->set];
    const char *gradient = gradient_name(f, s, buffer);

    if (b->kind == BUFFER_WORKSPACE)
        return workspace_name(f, s, buffer);
    if (b->kind == BUFFER_POOLS)
        return "slots of stages";
    const Value *x = buffer_value(f->p, b);
    const char *name =
        x->kind == VALUE_ACTIVATION
            ? activation_name(f, s, b->value)
            : path_of(f->arena, s->g, x->block,
                      given_name(x) || x->kind != VALUE_CONSTANT ? x->name : "constant");
    if (gradient && f->kinds.of_buffer[buffer] == MEMORY_GRADIENTS)
        name = arena_string(f->arena, "gradient of %s", gradient);
    else if (x->kind == VALUE_ZERO)
        name = arena_string(f->arena, "sum of %s", name);
    int more = f->kinds.n_values[buffer] - 1;
    if (more > 0)
        name = arena_string(f->arena, "%s and %d other%s", name, more, more > 1 ? "s" : "");
    return b->n_instances > 1 ? arena_string(f->arena, "%s (x%" PRId64 ")", name, b->n_instances)
                              : name;
}
