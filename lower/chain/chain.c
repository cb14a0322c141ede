// Makes a training program run stages of its forward part again, as a schedule says.
#include "lower/chain/chain.h"

// The function that computes gradients; NULL: there is none.
static Function *find_function(Set *s)
{
    for (int i = 0; i < s->n_functions; i++)
        if (s->functions[i].timing == TIMING_MICRO)
            return &s->functions[i];
    return NULL;
}

Chain *chain_find(Program *p, Budget *b, Diag *d)
{
    Chain *x = arena_array(p->arena, Chain, 1);

    *x = (Chain){.p = p,
                 .s = &p->set[SET_TRAIN],
                 .g = p->set[SET_TRAIN].g,
                 .f = find_function(&p->set[SET_TRAIN]),
                 .arena = p->arena,
                 .budget = b,
                 .d = d};
    x->n_buffers = p->n_buffers;
    x->is_kept = arena_array(x->arena, bool, p->n_buffers);
    x->is_joined = arena_array(x->arena, bool, x->s->n_items + 1);
    chain_find_classes(x);
    if (!chain_cut(x))
        return NULL;
    chain_find_pools(x);
    return x;
}

// Does nothing outside of the function use the local buffer?
static bool is_own(const Chain *x, const Buffer *b)
{
    bool is_input = b->value && value_of(x->g, b->value)->kind == VALUE_INPUT;

    return b->kind == BUFFER_LOCAL && b->set == SET_TRAIN && b->first >= x->f->begin &&
           b->last < x->f->end && !is_input;
}

// Packs what isn't in slots around them. As calls come in any order, what the trainer or another
// function uses too is in use all the time.
static void pack_kept(Chain *x)
{
    for (int i = 1; i < x->p->n_buffers; i++) {
        Buffer *b = &x->p->buffers[i];
        bool is_used = b->kind == BUFFER_LOCAL && b->set == SET_TRAIN && b->first >= 0 &&
                       b->first < x->f->end && b->last >= x->f->begin;
        if (!is_used || x->pool[i])
            continue;
        if (is_own(x, b)) {
            bool is_forward = b->first < x->unit[x->n_forward - 1].end;
            x->pool[i] = b->pool = POOL_KEPT;
            x->kept_bytes += is_forward ? b->bytes : 0;
            b->first = -1;
        } else {
            b->first = b->first < x->f->begin ? b->first : x->f->begin;
            b->last = b->last > x->f->end - 1 ? b->last : x->f->end - 1;
        }
    }
}

// Workspaces were added after the stages were found.
static void know_new_buffers(Chain *x)
{
    bool *is_kept = arena_array(x->arena, bool, x->p->n_buffers);

    memcpy(is_kept, x->is_kept, sizeof *is_kept * (size_t)x->n_buffers);
    x->is_kept = is_kept;
    x->n_buffers = x->p->n_buffers;
}

bool chain_enter_slots(Chain *x, const Cluster *c)
{
    know_new_buffers(x);
    chain_find_uses(x);
    chain_find_pools(x);
    x->work = chain_fill_slots(x, c);
    pack_kept(x);
    return chain_find_once(x);
}

// Adds the buffer of all slots.
static int32_t add_pools(const Chain *x)
{
    Program *p = x->p;

    *arena_push(p->arena, p->buffers, p->n_buffers, p->cap_buffers) =
        (Buffer){.kind = BUFFER_POOLS, .set = SET_TRAIN, .first = -1};
    return p->n_buffers - 1;
}

bool chain_choose_runs(Chain *x, const ChainChoice *o, int64_t more)
{
    StageRun *run;
    Calls *calls = arena_array(x->p->arena, Calls, 1);

    x->work->rest += more;
    int n = o->choose(x->p->arena, o->context, x->work, &run);
    if (!n)
        return false;
    int64_t bytes = chain_set_calls(x, run, n, calls);
    if (!x->buffer)
        x->buffer = add_pools(x);
    Buffer *b = &x->p->buffers[x->buffer];
    b->bytes = bytes + REDZONE;
    b->first = x->f->begin;
    b->last = x->f->end - 1;
    calls->buffer = x->buffer;
    x->f->calls = calls;
    x->calls = calls;
    return true;
}

void chain_finish(Chain *x)
{
    int64_t begin = x->p->buffers[x->buffer].offset;

    for (int i = 1; i < x->p->n_buffers; i++)
        if (x->p->buffers[i].pool == POOL_KEPT)
            x->p->buffers[i].offset += begin;
    for (int i = 0; i < x->calls->n_calls; i++) {
        Call *c = &x->calls->call[i];
        for (int k = 0; k < slots_of_part(&x->calls->part[c->part]); k++)
            c->at[k] += begin;
    }
}

void chain_set_rest(Chain *x, int64_t bytes) { x->work->rest = bytes + x->kept_bytes; }
