// Reads an operand of an item: "%v in %b[layer-1]+12 f32[4,6]/1,4@64+96*layer".
#include <string.h>

#include "lower/text/text.h"

// Every offset in the arena is below this.
static const int64_t FAR = (int64_t)1 << 56;

// Adds |x| · count to *sum.
static bool add_reach(int64_t x, int64_t count, int64_t *sum)
{
    int64_t bytes;

    return x != INT64_MIN && mul_size(x < 0 ? -x : x, count, &bytes) &&
           add_size(*sum, bytes, sum) && *sum < FAR;
}

// No more iterations than a loop around has, which may walk a part of its class.
static int most_iterations(const Parser *p, int k)
{
    if (k >= p->depth)
        return 1;
    const Item *loop = &p->s->items[p->loop[k]];
    return loop->cls ? p->s->g->classes[loop->cls].length : loop->loop.length;
}

bool check_reach(Parser *p, const Operand *o, int rank, const int64_t *dim)
{
    int64_t size = dtype_size(value_of(p->s->g, o->base)->dtype), sum = 0;

    bool ok = add_reach(o->offset, size, &sum);

    for (int k = 0; ok && k < MAX_LOOPS; k++)
        ok = add_reach(o->step[k], size * most_iterations(p, k), &sum);
    for (int i = 0; ok && i < rank; i++)
        ok = add_reach(o->stride[i], size * (dim[i] > 1 ? dim[i] : 1), &sum);
    return ok || lexer_error(p->lex, "'%s' reaches too far", value_of(p->s->g, o->value)->name);
}

// Reads the index of a loop around the item: which one, the innermost is 0. -1 after an error.
static int parse_loop_name(Parser *p)
{
    int k = parse_one_of(p, loop_names, MAX_LOOPS, "the index of a loop");

    if (k < p->depth)
        return k;
    lexer_error(p->lex, "there is no loop '%s' here", loop_names[k]);
    return -1;
}

// Reads "[layer-1]", the instance of a loop's iteration, or "[-1]", one beyond the end of a class.
static bool parse_instance(Parser *p, Operand *o)
{
    int32_t cls = value_block(p->s->g, o->base).cls;
    int64_t delta = 0;

    if (!lexer_skip_sign(p->lex, "["))
        return true;
    o->is_instance = p->lex->kind == TOKEN_WORD;
    o->loop = o->is_instance ? parse_loop_name(p) : 0;
    if (o->loop < 0)
        return false;
    bool has_delta =
        !o->is_instance || lexer_skip_sign(p->lex, "+") || p->lex->kind == TOKEN_NUMBER;
    if (has_delta && !parse_between(p, -1, 1, &delta))
        return false;
    o->delta = (int)delta;
    if (!cls || (o->is_instance && p->s->items[p->loop[o->loop]].cls != cls))
        return lexer_error(p->lex, "'%s' has no instance here", value_of(p->s->g, o->base)->name);
    return lexer_sign(p->lex, "]");
}

// Reads "+12+4*layer", where the view begins in its base.
static bool parse_offset(Parser *p, Operand *o)
{
    int64_t x;

    while (lexer_skip_sign(p->lex, "+")) {
        if (!lexer_int(p->lex, &x))
            return false;
        int k = lexer_skip_sign(p->lex, "*") ? parse_loop_name(p) : MAX_LOOPS;
        if (k < 0)
            return false;
        *(k < MAX_LOOPS ? &o->step[k] : &o->offset) = x;
    }
    return true;
}

static bool parse_base(Parser *p, Operand *o)
{
    o->base = o->value;
    return lexer_skip_word(p->lex, "in")
               ? parse_value_name(p, &o->base) && parse_instance(p, o) && parse_offset(p, o)
               : parse_instance(p, o);
}

static bool parse_type(Parser *p, const Value *v)
{
    Text t = {0};

    value_print_type(v, &t);
    bool ok = lexer_expect(p->lex, t.s);
    text_free(&t);
    return ok;
}

// Reads "/4,1" over the `rank` dims. Without it they are dense.
static bool parse_strides(Parser *p, int rank, const int64_t *dim, Operand *o)
{
    dense_strides(rank, dim, o->stride);
    if (!lexer_skip_sign(p->lex, "/"))
        return true;
    for (int i = 0; i < rank; i++)
        if ((i && !lexer_sign(p->lex, ",")) || !lexer_int(p->lex, &o->stride[i]))
            return false;
    return true;
}

static bool parse_address(Parser *p, Operand *o)
{
    Text t = {0};

    o->address = operand_address(p->p, p->s, o);
    print_address(&o->address, &t);
    bool ok = lexer_expect(p->lex, t.s);
    text_free(&t);
    return ok;
}

static bool has_dim(const Parser *p, ValueId v, int64_t dim)
{
    const Sharded *s = p->s->sharded;

    return v < s->n_values && s->value[v].of && dim < value_of(s->whole, s->value[v].of)->rank;
}

// Reads "+64*shard(%slice, %whole, 0)".
static bool parse_rank_slice(Parser *p, Operand *o)
{
    RankSlice *to = &o->rank_slice;
    int size = dtype_size(value_of(p->s->g, o->value)->dtype);
    int64_t bytes, dim;

    if (!lexer_skip_sign(p->lex, "+"))
        return true;
    if (!lexer_int(p->lex, &bytes) || !lexer_sign(p->lex, "*") || !lexer_word(p->lex, "shard") ||
        !lexer_sign(p->lex, "(") || !parse_value_name(p, &to->slice) || !lexer_sign(p->lex, ",") ||
        !parse_value_name(p, &to->whole) || !lexer_sign(p->lex, ",") ||
        !parse_between(p, 0, MAX_RANK - 1, &dim))
        return false;
    to->dim = (int)dim;
    to->stride = bytes / size;
    if (!p->s->sharded || bytes % size || !has_dim(p, to->slice, dim) ||
        !has_dim(p, to->whole, dim))
        return lexer_error(p->lex, "no shard begins there");
    const Sharded *s = p->s->sharded;
    int64_t sum = 0, n = value_of(s->whole, s->value[to->slice].of)->dim[dim] +
                         value_of(s->whole, s->value[to->whole].of)->dim[dim];
    return (add_reach(bytes, n, &sum) || lexer_error(p->lex, "the shard is too far")) &&
           lexer_sign(p->lex, ")");
}

bool parse_operand(Parser *p, const Item *it, Operand *o)
{
    *o = (Operand){0};
    if (lexer_skip_word(p->lex, "_"))
        return true;
    if (!parse_value_name(p, &o->value) || !parse_base(p, o))
        return false;
    const Value *v = value_of(p->s->g, o->value);
    bool is_copy = it->kind == ITEM_COPY;
    int rank = is_copy ? it->rank : v->rank;
    const int64_t *dim = is_copy ? it->dim : v->dim;
    if (!parse_type(p, v) || !parse_strides(p, rank, dim, o) || !check_reach(p, o, rank, dim))
        return false;
    if (!p->s->storage[o->base].buffer)
        return lexer_error(p->lex, "'%s' is in no buffer", value_of(p->s->g, o->base)->name);
    if (dtype_size(v->dtype) != dtype_size(value_of(p->s->g, o->base)->dtype))
        return lexer_error(p->lex, "'%s' is no view of '%s'", v->name,
                           value_of(p->s->g, o->base)->name);
    return parse_address(p, o) && parse_rank_slice(p, o);
}
