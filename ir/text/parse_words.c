// Reads the small parts of a graph's text: numbers, lists, types and names.
#include "ir/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_error(Parser *p, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *s = arena_array(p->g->arena, char, n + 1);
    va_start(args, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, args);
    va_end(args);
    diag_error(p->d, "line %d: %s", p->lex.line, s);
    return false;
}

bool parse_unexpected(Parser *p, const char *wanted)
{
    if (p->lex.kind == TOKEN_BAD)
        return parse_error(p, "%s", p->lex.text);
    bool in_quotes = p->lex.kind != TOKEN_END && p->lex.kind != TOKEN_LINE;
    const char *quote = in_quotes ? "'" : "";
    return parse_error(p, "%s expected, not %s%s%s", wanted, quote, p->lex.text, quote);
}

bool parse_is_sign(const Parser *p, char c)
{
    return p->lex.kind == TOKEN_SIGN && p->lex.text[0] == c;
}

bool parse_is_word(const Parser *p, const char *word)
{
    return p->lex.kind == TOKEN_WORD && !strcmp(p->lex.text, word);
}

bool parse_sign(Parser *p, char c)
{
    if (!parse_is_sign(p, c))
        return parse_unexpected(p, (char[]){'\'', c, '\'', 0});
    lexer_next(&p->lex);
    return true;
}

bool parse_text(Parser *p, const char **text)
{
    if (p->lex.kind != TOKEN_TEXT)
        return parse_unexpected(p, "a quoted text");
    *text = arena_copy(p->g->arena, p->lex.text, p->lex.buffer.n);
    lexer_next(&p->lex);
    return true;
}

// Reads an integer. Integers above INT64_MAX, which u64 has, wrap.
bool parse_int(Parser *p, int64_t *x)
{
    const char *s = p->lex.text;
    char *end;

    if (p->lex.kind != TOKEN_NUMBER)
        return parse_unexpected(p, "an integer");
    errno = 0;
    *x = s[0] == '-' ? strtoll(s, &end, 10) : (int64_t)strtoull(s, &end, 10);
    if (*end || end == s)
        return parse_unexpected(p, "an integer");
    if (errno)
        return parse_error(p, "%s is out of range", s);
    lexer_next(&p->lex);
    return true;
}

bool parse_float(Parser *p, double *x)
{
    const char *s = p->lex.text;
    char *end;

    if (p->lex.kind != TOKEN_NUMBER && !parse_is_word(p, "inf") && !parse_is_word(p, "nan"))
        return parse_unexpected(p, "a number");
    *x = strtod(s, &end);
    if (*end || end == s)
        return parse_unexpected(p, "a number");
    lexer_next(&p->lex);
    return true;
}

bool parse_ints(Parser *p, int *n, int64_t *v)
{
    *n = 0;
    if (!parse_sign(p, '['))
        return false;
    while (!parse_is_sign(p, ']')) {
        if (*n == MAX_RANK)
            return parse_error(p, "a list of more than %d numbers", MAX_RANK);
        if ((*n && !parse_sign(p, ',')) || !parse_int(p, &v[*n]))
            return false;
        ++*n;
    }
    return parse_sign(p, ']');
}

static bool parse_shape(Parser *p, int *rank, int64_t *dim)
{
    if (!parse_ints(p, rank, dim))
        return false;
    const char *problem = shape_problem(*rank, dim);
    return !problem || parse_error(p, "the value %s", problem);
}

static bool parse_type(Parser *p, Value *type)
{
    if (p->lex.kind != TOKEN_WORD)
        return parse_unexpected(p, "a type");
    type->dtype = dtype_find(p->lex.text);
    if (!type->dtype)
        return parse_error(p, "unknown type '%s'", p->lex.text);
    lexer_next(&p->lex);
    return parse_shape(p, &type->rank, type->dim);
}

bool parse_definition(Parser *p, Definition *def)
{
    Value own = {0};

    *def = (Definition){.type.own_rank = -1};
    if (p->lex.kind != TOKEN_NAME)
        return parse_unexpected(p, "a %name");
    def->name = arena_copy(p->g->arena, p->lex.text, p->lex.buffer.n);
    lexer_next(&p->lex);
    if (!parse_type(p, &def->type))
        return false;
    if (!parse_is_word(p, "own"))
        return true;
    lexer_next(&p->lex);
    if (!parse_shape(p, &own.rank, own.dim))
        return false;
    if (value_count(&own) != value_count(&def->type))
        return parse_error(p, "own dims of another size");
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
    if (!parse_is_word(p, "block"))
        return true;
    lexer_next(&p->lex);
    if (p->lex.kind != TOKEN_NUMBER || !split_block(p->lex.text, b))
        return parse_unexpected(p, "class.iteration.position");
    if (b->cls < 1 || b->cls >= p->g->n_classes)
        return parse_error(p, "class %d is not defined", (int)b->cls);
    if (b->iter >= p->g->classes[b->cls].length)
        return parse_error(p, "class %d has no iteration %d", (int)b->cls, (int)b->iter);
    lexer_next(&p->lex);
    return true;
}

bool parse_reference(Parser *p, ValueId *v)
{
    if (p->lex.kind != TOKEN_NAME)
        return parse_unexpected(p, "a %name");
    *v = map_get(&p->names, p->lex.text);
    if (!*v) {
        parse_error(p, "'%%%s' is not defined", p->lex.text);
        map_set(&p->names, arena_copy(p->g->arena, p->lex.text, p->lex.buffer.n), UNUSABLE);
        *v = UNUSABLE;
    }
    lexer_next(&p->lex);
    return *v != UNUSABLE;
}

bool parse_define(Parser *p, const char *name, ValueId v)
{
    if (map_get(&p->names, name) > 0)
        return v == UNUSABLE || parse_error(p, "'%%%s' is defined twice", name);
    map_set(&p->names, name, v);
    return true;
}
