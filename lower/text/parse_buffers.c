// Reads the buffers of a program and the values that lie in them.
#include <string.h>

#include "lower/text/text.h"

enum { MAX_TEXT_BUFFERS = 1 << 20 };

// Gives the value's storage to all its instances.
static bool store_instances(Parser *p, ValueId v, const Storage *st)
{
    const Graph *g = p->s->g;
    int32_t cls = value_block(g, v).cls;
    int length = cls ? g->classes[cls].length : 1;

    if (value_block(g, v).iter)
        return lexer_error(p->lex, "'%s' isn't of the first iteration", value_of(g, v)->name);
    for (int i = 0; i < length; i++) {
        ValueId w = value_instance(&p->of[p->set].l, v, i);
        if (p->s->storage[w].buffer)
            return lexer_error(p->lex, "'%s' is in a buffer already", value_of(g, w)->name);
        p->s->storage[w] = *st;
    }
    return true;
}

// Is the value within the buffer, in all instances?
static bool check_fits(Parser *p, ValueId v, const Storage *st, const Buffer *b)
{
    int32_t cls = value_block(p->s->g, v).cls;
    int64_t most = !cls ? 0 : st->ring ? st->ring - 1 : p->s->g->classes[cls].length - 1, end;

    bool fits = mul_size(st->step, most, &end) && add_size(end, st->offset, &end) &&
                add_size(end, padded_bytes(value_of(p->s->g, v), st->row), &end) &&
                end <= b->bytes - REDZONE;
    return fits ||
           lexer_error(p->lex, "'%s' doesn't fit into the buffer", value_of(p->s->g, v)->name);
}

// Reads how many elements a row has with its padding.
static bool parse_row(Parser *p, ValueId v, int64_t *row)
{
    const Value *x = value_of(p->s->g, v);
    int64_t n = x->rank ? x->dim[x->rank - 1] : 0;

    if (n < 1)
        return lexer_error(p->lex, "'%s' has no rows", x->name);
    return parse_between(p, n + 1, 2 * n, row);
}

// Reads the name of a value, and its storage in the buffer: "%h+64 step 192 ring 2 row 16".
static bool parse_storage(Parser *p, const Buffer *b, ValueId *v)
{
    Storage st = {.buffer = (int32_t)(b - p->p->buffers)};
    int64_t ring = 0, instance = 0;

    if (!parse_value_name(p, v) ||
        (lexer_skip_sign(p->lex, "+") && !parse_between(p, 0, b->bytes, &st.offset)) ||
        (lexer_skip_word(p->lex, "step") && !parse_between(p, 0, b->bytes, &st.step)) ||
        (lexer_skip_word(p->lex, "ring") && !parse_between(p, 2, INT16_MAX, &ring)) ||
        (lexer_skip_word(p->lex, "row") && !parse_row(p, *v, &st.row)) ||
        (lexer_skip_word(p->lex, "instance") && !parse_between(p, -1, INT16_MAX, &instance)))
        return false;
    st.ring = (int32_t)ring;
    st.instance = (int)instance;
    return check_fits(p, *v, &st, b) && store_instances(p, *v, &st);
}

// Reads the values in a buffer; values of the other set come after its name.
static bool parse_values(Parser *p, Buffer *b)
{
    int other = (b->set + 1) % N_SETS;
    ValueId v;

    if (!parse_storage(p, b, &b->value))
        return false;
    while (p->lex->kind == TOKEN_NAME)
        if (!parse_storage(p, b, &v))
            return false;
    if (b->kind != BUFFER_PERSISTENT || !lexer_skip_word(p->lex, set_names[other]))
        return true;
    enter_set(p, other);
    if (!p->s->g)
        return lexer_error(p->lex, "the program has no graph '%s'", set_names[other]);
    while (p->lex->kind == TOKEN_NAME)
        if (!parse_storage(p, b, &v))
            return false;
    return true;
}

// Persistent buffers lie one after the other.
static bool parse_offset(Parser *p, Buffer *b, int64_t persistent)
{
    char at[24];

    if (b->kind == BUFFER_PERSISTENT) {
        snprintf(at, sizeof at, "@%" PRId64, persistent);
        b->offset = persistent;
        return lexer_expect(p->lex, at);
    }
    return lexer_sign(p->lex, "@") && parse_between(p, 0, MAX_ARENA_BYTES, &b->offset);
}

// Reads "live 3 to 5"; without it no item uses the buffer.
static bool parse_live_range(Parser *p, Buffer *b)
{
    int64_t first = -1, last = 0;

    if (b->kind != BUFFER_PERSISTENT && lexer_skip_word(p->lex, "live") &&
        (!parse_between(p, 0, INT32_MAX - 1, &first) || !lexer_word(p->lex, "to") ||
         !parse_between(p, first, INT32_MAX - 1, &last)))
        return false;
    b->first = (int)first;
    b->last = (int)last;
    return true;
}

// Reads "pool handed stage 3 up": in which slots of a function's calls it lies.
static bool parse_pool(Parser *p, Buffer *b)
{
    int64_t stage = 0;

    if (!lexer_skip_word(p->lex, "pool"))
        return true;
    int pool = parse_one_of(p, pool_names + 1, POOL_KEPT, "a pool");
    if (pool < 0)
        return false;
    b->pool = (Pool)(pool + 1);
    if (b->pool == POOL_KEPT)
        return true;
    if (!lexer_word(p->lex, "stage") || !parse_between(p, INT16_MIN, INT16_MAX, &stage))
        return false;
    b->stage = (int)stage;
    b->stage_step = lexer_skip_word(p->lex, "up") ? 1 : lexer_skip_word(p->lex, "down") ? -1 : 0;
    bool is_right = b->kind == BUFFER_LOCAL || b->kind == BUFFER_WORKSPACE;
    return is_right || lexer_error(p->lex, "only local buffers and workspaces are in pools");
}

// Reads the bytes of a slot and the loops whose iterations take and free slots: "slots 192 taken 3
// freed 20". Without them the buffer is in use as a whole.
static bool parse_slots(Parser *p, Buffer *b)
{
    int64_t taken = -1, freed = -1;

    if (!lexer_skip_word(p->lex, "slots"))
        return true;
    if (!parse_between(p, 64, b->bytes, &b->slots.bytes) ||
        (lexer_skip_word(p->lex, "taken") && !parse_between(p, 0, b->last, &taken)) ||
        (lexer_skip_word(p->lex, "freed") && !parse_between(p, 0, b->last, &freed)))
        return false;
    b->slots.taken = (int)taken + 1;
    b->slots.freed = (int)freed + 1;
    return b->slots.bytes % 64 == 0 || lexer_error(p->lex, "a slot has a multiple of 64 bytes");
}

// Reads a line after the word "buffer".
static bool parse_buffer(Parser *p, int64_t *persistent)
{
    Program *x = p->p;
    Buffer b = {.n_instances = 1};
    int64_t number;

    if (!parse_between(p, x->n_buffers, x->n_buffers, &number))
        return false;
    if (number >= MAX_TEXT_BUFFERS)
        return lexer_error(p->lex, "more than %d buffers", MAX_TEXT_BUFFERS);
    int kind = parse_one_of(p, buffer_kind_names, COUNT(buffer_kind_names), "a kind of buffer");
    if (kind < 0)
        return false;
    b.kind = (BufferKind)kind;
    if (!parse_offset(p, &b, *persistent) || !parse_between(p, REDZONE, MAX_ARENA_BYTES, &b.bytes))
        return false;
    if (b.bytes % 64 || b.offset % 64)
        return lexer_error(p->lex, "a buffer begins and ends at multiples of 64 bytes");
    b.set = parse_one_of(p, set_names, N_SETS, "'train' or 'predict'");
    if (b.set < 0)
        return false;
    enter_set(p, b.set);
    if (!p->s->g)
        return lexer_error(p->lex, "the program has no graph '%s'", set_names[b.set]);
    if (!parse_live_range(p, &b) ||
        (lexer_skip_word(p->lex, "x") && !parse_between(p, 2, INT32_MAX, &b.n_instances)) ||
        !parse_pool(p, &b) || !parse_slots(p, &b))
        return false;
    bool has_values = b.kind == BUFFER_LOCAL || b.kind == BUFFER_PERSISTENT;
    if (!has_values)
        b.n_instances = 0;
    Buffer *to = arena_push(x->arena, x->buffers, x->n_buffers, x->cap_buffers);
    *to = b;
    if (b.kind == BUFFER_PERSISTENT && (*persistent += b.bytes) > MAX_ARENA_BYTES)
        return lexer_error(p->lex, "the buffers are larger than %" PRId64 " bytes",
                           MAX_ARENA_BYTES);
    return (!has_values || (lexer_sign(p->lex, ":") && parse_values(p, to))) && lexer_line(p->lex);
}

bool parse_buffers(Parser *p)
{
    int64_t persistent = 0;

    while (lexer_skip_word(p->lex, "buffer"))
        if (!parse_buffer(p, &persistent))
            return false;
    for (int i = 1; i < p->p->n_buffers; i++)
        if (p->p->buffers[i].kind != BUFFER_PERSISTENT && p->p->buffers[i].first >= 0 &&
            p->p->buffers[i].offset < persistent)
            return lexer_error(p->lex, "buffer %d lies over persistent ones", i);
    return true;
}

// ---- when all items are known ----

static bool is_persistent(ValueKind k)
{
    return k == VALUE_PARAMETER || k == VALUE_BUFFER || k == VALUE_STATE || k == VALUE_ZERO ||
           k == VALUE_HYPER || k == VALUE_CONSTANT;
}

static bool wrong_use(const Parser *p, int buffer, const char *by)
{
    diag_error(p->lex->d, "buffer %d isn't live where %s uses it", buffer, by);
    return false;
}

static bool check_use(const Parser *p, int buffer, int item)
{
    if (p->p->buffers[buffer].pool || buffer_is_live(&p->p->buffers[buffer], p->set, item))
        return true;
    return wrong_use(p, buffer, arena_string(p->p->arena, "item %d", item));
}

static bool check_items(const Parser *p)
{
    const Set *s = p->s;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        for (int k = 0; k < it->n_in + it->n_out; k++) {
            ValueId base = it->operands[k].base;
            if (base && !check_use(p, s->storage[base].buffer, i))
                return false;
        }
        if (it->workspace_buffer && !check_use(p, it->workspace_buffer, i))
            return false;
    }
    return true;
}

// The trainer writes inputs before the first item and reads outputs after the last one. A value
// without a producer is in a buffer, and a value that outlives a step in a persistent one.
static bool check_values(const Parser *p)
{
    const Set *s = p->s;

    for (ValueId v = 1; v < s->g->n_values; v++) {
        const Value *x = value_of(s->g, v);
        int32_t b = s->storage[v].buffer;
        bool is_kept = is_persistent(x->kind) && x->kind != VALUE_CONSTANT;
        bool is_right = !b ? !is_kept && x->kind != VALUE_INPUT
                           : is_persistent(x->kind) || x->producer || x->kind == VALUE_ACTIVATION ||
                                 x->kind == VALUE_INPUT;
        if (b && is_persistent(x->kind))
            is_right = p->p->buffers[b].kind == BUFFER_PERSISTENT;
        if (!is_right) {
            diag_error(p->lex->d, "'%s' is in no %s buffer", x->name,
                       is_persistent(x->kind) ? "persistent" : "such");
            return false;
        }
        if (x->kind == VALUE_INPUT && !buffer_is_live(&p->p->buffers[b], p->set, 0))
            return wrong_use(p, b, "the trainer");
    }
    for (int i = 0; i < s->g->n_outputs; i++) {
        int32_t b = s->storage[s->g->outputs[i].value].buffer;
        if (s->g->outputs[i].role != OUTPUT_GRADIENT && b &&
            !buffer_is_live(&p->p->buffers[b], p->set, s->n_items))
            return wrong_use(p, b, "the trainer");
    }
    return true;
}

// Each micro-batch of a step reads what was made before the first of them.
static bool check_prepared(const Parser *p)
{
    const Set *s = p->s;
    int begin = timing_end(s, TIMING_PREPARE), end = timing_end(s, TIMING_MICRO);

    for (int i = 0; i < begin && end; i++)
        for (int k = s->items[i].n_in; k < s->items[i].n_in + s->items[i].n_out; k++) {
            int32_t b = s->storage[s->items[i].operands[k].base].buffer;
            if (buffer_is_live(&p->p->buffers[b], p->set, begin) &&
                !buffer_is_live(&p->p->buffers[b], p->set, end))
                return wrong_use(p, b, "the next micro-batch");
        }
    return true;
}

static bool check_live_ranges(const Parser *p)
{
    for (int i = 1; i < p->p->n_buffers; i++) {
        const Buffer *b = &p->p->buffers[i];
        if (b->kind != BUFFER_PERSISTENT && b->last > p->p->set[b->set].n_items) {
            diag_error(p->lex->d, "buffer %d is live until item %d, of %d", i, b->last,
                       p->p->set[b->set].n_items);
            return false;
        }
    }
    return true;
}

// Are slots in use where the set's items use them?
static bool check_slots(const Parser *p)
{
    const bool *is_misused = slots_misused(p->p->arena, p->p, p->set);

    for (int i = 1; i < p->p->n_buffers; i++)
        if (is_misused[i]) {
            diag_error(p->lex->d, "buffer %d: its slots don't agree with the loops that use it", i);
            return false;
        }
    return true;
}

// Have values of one name in both sets the same address?
static bool check_shared(const Parser *p)
{
    const Program *x = p->p;
    const Graph *g = x->set[SET_PREDICT].g;
    Map train = {.arena = x->arena};

    for (ValueId v = 1; x->set[SET_TRAIN].g && v < x->set[SET_TRAIN].g->n_values; v++)
        if (is_persistent(value_of(x->set[SET_TRAIN].g, v)->kind))
            map_set(&train, value_of(x->set[SET_TRAIN].g, v)->name, v);
    for (ValueId v = 1; g && v < g->n_values; v++) {
        const Value *w = value_of(g, v);
        ValueId other =
            is_persistent(w->kind) && w->kind != VALUE_CONSTANT ? map_get(&train, w->name) : 0;
        Address a = {0}, b = {0};
        if (!other)
            continue;
        value_address(x, &x->set[SET_TRAIN], other, &a);
        value_address(x, &x->set[SET_PREDICT], v, &b);
        if (a.at == b.at)
            continue;
        diag_error(p->lex->d, "'%s' has another address when it predicts", w->name);
        return false;
    }
    return true;
}

bool check_buffers(Parser *p)
{
    if (!check_live_ranges(p))
        return false;
    for (int i = 0; i < N_SETS; i++) {
        enter_set(p, i);
        if (p->s->g && (!check_items(p) || !check_values(p) || !check_prepared(p) ||
                        !check_slots(p) || !check_calls(p)))
            return false;
    }
    return check_shared(p);
}
