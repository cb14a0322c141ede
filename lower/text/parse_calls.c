// Reads the calls of a function.
#include "lower/text/text.h"

enum { MAX_STAGES = 1 << 12, MAX_CALLS = 1 << 20 };

// Reads "part 4 to 19 back stage 1 up", of items of the function that begins with item `begin`.
static bool parse_part(Parser *p, Calls *x, int begin, int *cap)
{
    const Set *s = p->s;
    int64_t first, last, stage;

    if (!parse_between(p, begin, s->n_items - 1, &first) || !lexer_word(p->lex, "to") ||
        !parse_between(p, first, s->n_items - 1, &last))
        return false;
    CallPart part = {.begin = (int)first, .end = (int)last + 1};
    part.is_backward = lexer_skip_word(p->lex, "back");
    if ((!part.is_backward && !lexer_word(p->lex, "forth")) || !lexer_word(p->lex, "stage") ||
        !parse_between(p, 0, x->n_stages - 1, &stage))
        return false;
    part.stage = (int)stage;
    part.stage_step = lexer_skip_word(p->lex, "up") ? 1 : lexer_skip_word(p->lex, "down") ? -1 : 0;
    part.is_loop = part.stage_step != 0;
    int depth = 0;
    for (int i = part.begin; i < part.end; i++) {
        depth += (s->items[i].kind == ITEM_LOOP) - (s->items[i].kind == ITEM_END);
        if (depth < 0 || (part.is_loop && !depth && i != part.end - 1))
            return lexer_error(p->lex, "a part holds whole loops");
    }
    const Item *loop = &s->items[part.begin];
    if (depth ||
        (part.is_loop && (loop->kind != ITEM_LOOP || loop->loop.skew || loop->loop.length)))
        return lexer_error(p->lex, depth ? "a part holds whole loops" : "no loop over a class");
    *arena_push(p->p->arena, x->part, x->n_parts, *cap) = part;
    return lexer_line(p->lex);
}

// Reads "call 3 layer 0 last @0 64 128".
static bool parse_call(Parser *p, Calls *x, int *cap)
{
    const Buffer *pools = &p->p->buffers[x->buffer];
    int64_t part, layer = 0;

    if (!parse_between(p, 0, x->n_parts - 1, &part))
        return false;
    const CallPart *of = &x->part[part];
    Call c = {.part = (int)part};
    if (of->is_loop &&
        (!lexer_word(p->lex, "layer") ||
         !parse_between(p, 0, loop_length(p->s->g, &p->s->items[of->begin]) - 1, &layer)))
        return false;
    c.iteration = (int)layer;
    c.is_last = lexer_skip_word(p->lex, "last");
    if (call_stage(x, &c) < 0 || call_stage(x, &c) >= x->n_stages)
        return lexer_error(p->lex, "there is no stage %d", call_stage(x, &c));
    if (!lexer_sign(p->lex, "@"))
        return false;
    for (int i = 0; i < slots_of_part(of); i++)
        if (!parse_between(p, pools->offset, pools->offset + pools->bytes, &c.at[i]))
            return false;
    *arena_push(p->p->arena, x->call, x->n_calls, *cap) = c;
    return (x->n_calls <= MAX_CALLS || lexer_error(p->lex, "more than %d calls", MAX_CALLS)) &&
           lexer_line(p->lex);
}

bool parse_calls(Parser *p, Function *f)
{
    Calls *x = arena_array(p->p->arena, Calls, 1);
    int64_t stages, pools;
    int cap = 0;

    if (!lexer_word(p->lex, "stages") || !parse_between(p, 1, MAX_STAGES, &stages) ||
        !lexer_word(p->lex, "pools") || !parse_between(p, 1, p->p->n_buffers - 1, &pools) ||
        !lexer_line(p->lex))
        return false;
    x->n_stages = (int)stages;
    x->buffer = (int32_t)pools;
    f->calls = x;
    if (p->p->buffers[pools].kind != BUFFER_POOLS || p->p->buffers[pools].set != p->set)
        return lexer_error(p->lex, "buffer %" PRId64 " has no pools", pools);
    while (lexer_skip_word(p->lex, "part"))
        if (!parse_part(p, x, f->begin, &cap))
            return false;
    cap = 0;
    while (lexer_skip_word(p->lex, "call"))
        if (!parse_call(p, x, &cap))
            return false;
    return true;
}

// ---- when all is known ----

static const Function *function_of(const Set *s, int item)
{
    for (int i = 0; i < s->n_functions; i++)
        if (item >= s->functions[i].begin && item < s->functions[i].end)
            return &s->functions[i];
    return NULL;
}

// A part of the slots of some stages: those that a buffer has for an item, in all iterations.
typedef struct SlotUse {
    Pool pool;
    int stage, step, length;
    int64_t end;  // in the slot
} SlotUse;

static SlotUse use_of(const Parser *p, int item, const Buffer *b, Pool pool, int stage, int step)
{
    const Item *it = &p->s->items[item];

    return (SlotUse){pool, stage, step, step && it->cls ? p->s->g->classes[it->cls].length : 1,
                     b->offset + b->bytes};
}

// The part of slots that operand k of the item uses or, if k is their number, its workspace.
static SlotUse slot_use(const Parser *p, int item, int k)
{
    const Item *it = &p->s->items[item];
    const Operand *o = &it->operands[k];
    const Buffer *b;

    if (k == it->n_in + it->n_out) {
        b = &p->p->buffers[it->workspace_buffer];
        Pool pool = it->workspace_buffer && b->pool != POOL_KEPT ? b->pool : POOL_NONE;
        return use_of(p, item, b, pool, b->stage, b->stage_step);
    }
    if (!o->base)
        return (SlotUse){0};
    b = &p->p->buffers[o->address.buffer];
    return use_of(p, item, b, o->address.pool, o->address.stage, o->address.stage_step);
}

// Does the function have the stages whose slots its items use?
static bool check_stages(const Parser *p, int item, const SlotUse *u)
{
    const Function *f = function_of(p->s, item);
    int last = u->stage + u->step * (u->length - 1), n = f->calls ? f->calls->n_stages : 0;

    if (!u->pool || (u->stage >= 0 && u->stage < n && last >= 0 && last < n))
        return true;
    diag_error(p->lex->d, "item %d uses a slot of stage %d, but there are %d", item,
               u->stage < 0 || u->stage >= n ? u->stage : last, n);
    return false;
}

// Raises the bytes of the slots to those that are used.
static void raise_bytes(const SlotUse *u, StageSlots bytes)
{
    for (int i = 0; i < u->length && u->pool; i++) {
        int64_t *to = &bytes[u->pool][u->stage + u->step * i];
        *to = u->end > *to ? u->end : *to;
    }
}

static bool check_function(const Parser *p, const Function *f)
{
    const Calls *x = f->calls;
    const Buffer *pools = &p->p->buffers[x->buffer];
    StageSlots bytes;

    for (Pool pool = POOL_NONE; pool < N_POOLS; pool++)
        bytes[pool] = arena_array(p->p->arena, int64_t, x->n_stages);
    for (int i = f->begin; i < f->end; i++)
        for (int k = 0; k <= p->s->items[i].n_in + p->s->items[i].n_out; k++) {
            SlotUse u = slot_use(p, i, k);
            raise_bytes(&u, bytes);
        }
    for (int i = 0; i < x->n_calls; i++) {
        const Call *c = &x->call[i];
        const CallPart *part = &x->part[c->part];
        Pool first = part->is_backward ? POOL_GRADIENT : POOL_HANDED;
        for (int k = 0; k < slots_of_part(part); k++) {
            int64_t needs = bytes[first + k][call_stage(x, c)];
            if (c->at[k] % 64 == 0 && c->at[k] + needs <= pools->offset + pools->bytes - REDZONE)
                continue;
            diag_error(p->lex->d, "call %d: a slot of %" PRId64 " bytes doesn't fit at %" PRId64, i,
                       needs, c->at[k]);
            return false;
        }
    }
    return true;
}

bool check_calls(const Parser *p)
{
    const Set *s = p->s;

    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; k <= s->items[i].n_in + s->items[i].n_out; k++) {
            SlotUse u = slot_use(p, i, k);
            if (!check_stages(p, i, &u))
                return false;
        }
    for (int i = 0; i < s->n_functions; i++)
        if (s->functions[i].calls && !check_function(p, &s->functions[i]))
            return false;
    return true;
}
