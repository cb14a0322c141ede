// Reads a fused group: "[4,5] rows 1 {add %y(0, %x), reduce_sum %s(%y) pass 1}".
#include <string.h>

#include "lower/text/text.h"

typedef struct GroupParser {
    Parser *p;
    Item *it;
    int n_sources, cap_sources, n_passes, cap_passes, cap_nodes;
} GroupParser;

bool parse_dims(Parser *p, Item *it)
{
    int64_t count = 1;

    if (!lexer_ints(p->lex, MAX_RANK, &it->rank, it->dim))
        return false;
    for (int i = 0; i < it->rank; i++)
        if (it->dim[i] < 0 || !mul_size(count, it->dim[i] ? it->dim[i] : 1, &count) ||
            count > MAX_ARENA_BYTES)
            return lexer_error(p->lex, "dims of more elements than an arena has");
    return true;
}

// Reads where input k of a node comes from: the number of an operand, a value that the group makes,
// or "=" and a number.
static bool parse_source(Parser *p, const Node *n, int k, int *source)
{
    const Graph *g = p->s->g;
    double x, y;
    int64_t i;
    ValueId v;

    if (p->lex->kind == TOKEN_NUMBER) {
        if (!parse_between(p, 0, INT16_MAX, &i))
            return false;
        *source = (int)i;
        return true;
    }
    if (lexer_skip_sign(p->lex, "=")) {
        *source = SOURCE_SPLAT;
        if (!lexer_float(p->lex, &x))
            return false;
        bool is_same = value_splat(g, n->in[k], &y) && (x == y || (x != x && y != y));
        return is_same ||
               lexer_error(p->lex, "'%s' isn't this number", value_of(g, n->in[k])->name);
    }
    *source = SOURCE_NODE;
    if (!parse_value_name(p, &v))
        return false;
    return v == n->in[k] || lexer_error(p->lex, "'%%%s' expected, not '%%%s'",
                                        value_of(g, n->in[k])->name, value_of(g, v)->name);
}

static bool parse_sources(GroupParser *x, const Node *n)
{
    Parser *p = x->p;

    if (!lexer_sign(p->lex, "("))
        return false;
    for (int k = 0; k < n->n_in; k++) {
        int *source = arena_push(p->p->arena, x->it->group.source, x->n_sources, x->cap_sources);
        if ((k && !lexer_sign(p->lex, ",")) || !parse_source(p, n, k, source))
            return false;
    }
    return lexer_sign(p->lex, ")");
}

// Reads a node: "add %y(0, %x) pass 1".
static bool parse_node(GroupParser *x)
{
    Parser *p = x->p;
    Group *gr = &x->it->group;
    int64_t pass = 0;
    NodeId id;

    if (p->lex->kind != TOKEN_WORD)
        return lexer_unexpected(p->lex, "an operator");
    const char *op = arena_string(p->p->arena, "%s", p->lex->text);
    lexer_next(p->lex);
    if (!parse_node_name(p, &id))
        return false;
    const Node *n = &p->s->g->nodes[id];
    if (strcmp(op, n->op->name) || !(n->op->expr || n->op->is_sum) || n->n_out != 1)
        return lexer_error(p->lex, "the node is %s, which can't be %s of a group", n->op->name, op);
    *arena_push(p->p->arena, x->it->nodes, x->it->n_nodes, x->cap_nodes) = id;
    if (!parse_sources(x, n) ||
        (lexer_skip_word(p->lex, "pass") && !parse_between(p, -1, INT16_MAX, &pass)))
        return false;
    *arena_push(p->p->arena, gr->pass, x->n_passes, x->cap_passes) = (int)pass;
    gr->n_passes = pass >= gr->n_passes ? (int)pass + 1 : gr->n_passes;
    return true;
}

static bool parse_walk(Parser *p, Item *it)
{
    Group *gr = &it->group;
    int64_t rows = 0, columns = 0;

    if (!parse_dims(p, it))
        return false;
    gr->is_channels_last = lexer_skip_word(p->lex, "channels_last");
    if (gr->is_channels_last && it->rank < 2)
        return lexer_error(p->lex, "there are no channels");
    gr->has_rows = lexer_skip_word(p->lex, "rows");
    if (gr->has_rows && !parse_between(p, 0, it->rank, &rows))
        return false;
    gr->has_columns = lexer_skip_word(p->lex, "columns");
    if (gr->has_columns && !parse_between(p, 0, it->rank - 1, &columns))
        return false;
    gr->row_rank = (int)rows;
    gr->column_rank = (int)columns;
    return true;
}

bool parse_group(Parser *p, Item *it)
{
    GroupParser x = {.p = p, .it = it};

    it->group.n_passes = 1;
    if (!parse_walk(p, it) || !lexer_sign(p->lex, "{"))
        return false;
    do {
        if (!parse_node(&x))
            return false;
    } while (lexer_skip_sign(p->lex, ","));
    return lexer_sign(p->lex, "}");
}

bool finish_group_text(Parser *p, Item *it)
{
    const Graph *g = p->s->g;
    const int *source = it->group.source;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &g->nodes[it->nodes[i]];
        for (int k = 0; k < n->n_in; k++, source++) {
            const Value *v = in(g, n, k);
            if (*source >= it->n_in)
                return lexer_error(p->lex, "the group reads no operand %d", *source);
            if (*source >= 0 && !check_reach(p, &it->operands[*source], v->rank, v->dim))
                return false;
        }
    }
    for (int k = 0; k < it->n_in + it->n_out; k++)
        if (!it->operands[k].base)
            return lexer_error(p->lex, "a group misses no operand");
    if (!it->group.has_columns)
        return true;
    Kernel k = {.def = kernel_find("sums")};
    k.params.sums = column_sums(g, it);
    it->group.workspace = target_workspace(p->p->target, &k);
    return true;
}
