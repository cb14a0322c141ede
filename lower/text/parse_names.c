// Reads the small parts of a program text: numbers, words, names of values and nodes.
#include "lower/text/text.h"

bool parse_between(Parser *p, int64_t least, int64_t most, int64_t *x)
{
    if (!lexer_int(p->lex, x))
        return false;
    return (*x >= least && *x <= most) ||
           lexer_error(p->lex, "%" PRId64 " isn't between %" PRId64 " and %" PRId64, *x, least,
                       most);
}

int parse_one_of(Parser *p, const char *const *words, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (lexer_skip_word(p->lex, words[i]))
            return i;
    lexer_unexpected(p->lex, what);
    return -1;
}

bool parse_name_in(Parser *p, const Map *names, const char *where, ValueId *v)
{
    Lexer *l = p->lex;

    if (l->kind != TOKEN_NAME)
        return lexer_unexpected(l, "a %name");
    *v = map_get(names, l->text);
    if (!*v)
        return lexer_error(l, "'%%%s' is not defined%s", l->text, where);
    lexer_next(l);
    return true;
}

bool parse_node_in(Parser *p, const Graph *g, const Map *names, const char *where, NodeId *n)
{
    ValueId v;

    if (!parse_name_in(p, names, where, &v))
        return false;
    *n = value_of(g, v)->producer;
    return (*n && g->nodes[*n].out[0] == v) ||
           lexer_error(p->lex, "no node makes '%s' as its first result", value_of(g, v)->name);
}

bool parse_value_name(Parser *p, ValueId *v)
{
    return parse_name_in(p, &p->of[p->set].names, "", v);
}

bool parse_node_name(Parser *p, NodeId *n)
{
    return parse_node_in(p, p->s->g, &p->of[p->set].names, "", n);
}
