// Reads the parts of a line of a graph's text: types, names and labels.
#include "ir/text/text.h"

#include <stdlib.h>
#include <string.h>

static bool parse_shape(Parser *p, int *rank, int64_t *dim)
{
    if (!lexer_ints(p->lex, MAX_RANK, rank, dim))
        return false;
    const char *problem = shape_problem(*rank, dim);
    return !problem || lexer_error(p->lex, "the value %s", problem);
}

static bool parse_type(Parser *p, Value *type)
{
    if (p->lex->kind != TOKEN_WORD)
        return lexer_unexpected(p->lex, "a type");
    type->dtype = dtype_find(p->lex->text);
    if (!type->dtype)
        return lexer_error(p->lex, "unknown type '%s'", p->lex->text);
    lexer_next(p->lex);
    return parse_shape(p, &type->rank, type->dim);
}

bool parse_definition(Parser *p, Definition *def)
{
    Value own = {0};

    *def = (Definition){.type.own_rank = -1};
    if (p->lex->kind != TOKEN_NAME)
        return lexer_unexpected(p->lex, "a %name");
    def->name = arena_copy(p->g->arena, p->lex->text, p->lex->buffer.n);
    lexer_next(p->lex);
    if (!parse_type(p, &def->type))
        return false;
    if (!lexer_is_word(p->lex, "own"))
        return true;
    lexer_next(p->lex);
    if (!parse_shape(p, &own.rank, own.dim))
        return false;
    if (value_count(&own) != value_count(&def->type))
        return lexer_error(p->lex, "own dims of another size");
    def->type.own_rank = own.rank;
    memcpy(def->type.own_dim, own.dim, sizeof own.dim);
    return true;
}

// Reads "1.0.7" as class, iteration and position.
static bool split_block(const char *s, Block *b)
{
    int32_t *part[] = {&b->cls, &b->iter, &b->pos};

    for (int i = 0; i < 3; i++) {
        char *end;
        long x = *s >= '0' && *s <= '9' ? strtol(s, &end, 10) : -1;
        if (x < 0 || x > MAX_NODES || *end != (i < 2 ? '.' : 0))
            return false;
        *part[i] = (int32_t)x;
        s = end + 1;
    }
    return true;
}

bool parse_block(Parser *p, Block *b)
{
    *b = (Block){0};
    if (!lexer_is_word(p->lex, "block"))
        return true;
    lexer_next(p->lex);
    if (p->lex->kind != TOKEN_NUMBER || !split_block(p->lex->text, b))
        return lexer_unexpected(p->lex, "class.iteration.position");
    if (b->cls < 1 || b->cls >= p->g->n_classes)
        return lexer_error(p->lex, "class %d is not defined", (int)b->cls);
    if (b->iter >= p->g->classes[b->cls].length)
        return lexer_error(p->lex, "class %d has no iteration %d", (int)b->cls, (int)b->iter);
    lexer_next(p->lex);
    if (!lexer_skip_word(p->lex, "again"))
        return true;
    int64_t again;
    if (!lexer_int(p->lex, &again))
        return false;
    b->again = (int32_t)again;
    return (again > 0 && again <= MAX_AGAIN) ||
           lexer_error(p->lex, "an iteration is made again at most %d times", MAX_AGAIN);
}

bool parse_reference(Parser *p, ValueId *v)
{
    if (p->lex->kind != TOKEN_NAME)
        return lexer_unexpected(p->lex, "a %name");
    *v = map_get(&p->names, p->lex->text);
    if (!*v) {
        lexer_error(p->lex, "'%%%s' is not defined", p->lex->text);
        map_set(&p->names, arena_copy(p->g->arena, p->lex->text, p->lex->buffer.n), UNUSABLE);
        *v = UNUSABLE;
    }
    lexer_next(p->lex);
    return *v != UNUSABLE;
}

bool parse_define(Parser *p, const char *name, ValueId v)
{
    if (map_get(&p->names, name) > 0)
        return v == UNUSABLE || lexer_error(p->lex, "'%%%s' is defined twice", name);
    map_set(&p->names, name, v);
    return true;
}
