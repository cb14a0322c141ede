// What a program's arena holds when most of it is in use.
#include "driver/plan_make.h"

typedef enum Holder {
    HOLDS_PARAMETERS,   // and buffers
    HOLDS_OPTIMIZER,    // its states
    HOLDS_GRADIENTS,    // and what sums them up over micro-batches
    HOLDS_ACTIVATIONS,  // all else that rests
    HOLDS_COPIES,       // of values, as they are made or used where that isn't as they rest
    HOLDS_WORKSPACE,
    HOLDS_GAPS,  // nothing, between buffers
    HOLDERS
} Holder;

typedef struct Memory {
    const Program *p;
    bool **is_gradient;  // by set and ValueId
    int64_t holds[HOLDERS];
} Memory;

// Is the value a copy: other than it rests, or one that a kernel wants?
static bool is_copy(const Set *s, ValueId v)
{
    const Sharded *x = s->sharded;

    return v >= x->n_values || !spec_equal(&x->value[v].spec, &x->plan->spec[x->value[v].of]);
}

static Holder holder_of(const Memory *m, const Buffer *b)
{
    const Set *s = &m->p->set[b->set];

    if (b->kind == BUFFER_WORKSPACE)
        return HOLDS_WORKSPACE;
    switch (buffer_value(m->p, b)->kind) {
    case VALUE_PARAMETER:
    case VALUE_BUFFER:
        return HOLDS_PARAMETERS;
    case VALUE_STATE:
        return HOLDS_OPTIMIZER;
    case VALUE_ZERO:
        return HOLDS_GRADIENTS;
    default:
        return is_copy(s, b->value)               ? HOLDS_COPIES
               : m->is_gradient[b->set][b->value] ? HOLDS_GRADIENTS
                                                  : HOLDS_ACTIVATIONS;
    }
}

static bool **find_gradients(const Program *p, Arena *a)
{
    bool **is = arena_array(a, bool *, N_SETS);

    for (int k = 0; k < N_SETS; k++) {
        const Graph *g = p->set[k].g;
        is[k] = arena_array(a, bool, g ? g->n_values : 0);
        for (int i = 0; g && i < g->n_outputs; i++)
            is[k][g->outputs[i].value] |= g->outputs[i].role == OUTPUT_GRADIENT;
    }
    return is;
}

// "backward of h.31": the place of the next node that is run from there on.
static const char *place_of(const Set *s, int item, Arena *a)
{
    while (item < s->n_items && !s->items[item].n_nodes)
        item++;
    if (item >= s->n_items)
        return NULL;
    const Node *n = &s->g->nodes[s->items[item].nodes[0]];
    const char *scope = n->source && n->source->scope ? n->source->scope : "";
    return arena_string(a, "%s%s%s", s->g->training ? phase_names[n->phase] : "prediction",
                        *scope ? " of " : "", printable_text(a, scope));
}

void plan_make_memory(PlanFile *f, const Program *p, Arena *a)
{
    static const char *const kinds[HOLDERS] = {
        "parameters", "optimizer", "gradients", "activations", "copies", "workspace", "gaps"};
    Memory m = {.p = p, .is_gradient = find_gradients(p, a)};
    int set = SET_PREDICT, item = 0, other = 0;
    int64_t most = program_fullest(p, SET_PREDICT, NULL, &item);

    if (p->set[SET_TRAIN].g && program_fullest(p, SET_TRAIN, NULL, &other) >= most) {
        set = SET_TRAIN;
        item = other;
    }
    f->bytes = m.holds[HOLDS_GAPS] = p->arena_bytes;
    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        bool is_live = buffer_is_live(b, set, item);
        m.holds[holder_of(&m, b)] += is_live ? b->bytes : 0;
        m.holds[HOLDS_GAPS] -= is_live ? b->bytes : 0;
    }
    f->n_holders = HOLDERS;
    f->holder = arena_array(a, PlanHolder, HOLDERS);
    for (int i = 0; i < HOLDERS; i++)
        f->holder[i] = (PlanHolder){kinds[i], m.holds[i]};
    f->fullest = place_of(&p->set[set], item, a);
}
