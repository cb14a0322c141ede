// Reads a line that makes a node: %y f32[2], … = op(%x, _) attr=… from "…" backward block 1.0.7
#include "ir/text/text.h"

#include <string.h>

// ---- attributes ----

static bool parse_dtype(Parser *p, int64_t *t)
{
    if (p->lex->kind != TOKEN_WORD)
        return lexer_unexpected(p->lex, "a dtype");
    *t = dtype_find(p->lex->text);
    if (!*t)
        return lexer_error(p->lex, "unknown dtype '%s'", p->lex->text);
    lexer_next(p->lex);
    return true;
}

static bool parse_attr_value(Parser *p, const AttrDef *def, Attr *a)
{
    int64_t v[MAX_RANK];

    if (def->type == ATTR_FLOAT)
        return lexer_float(p->lex, &a->f);
    if (def->type == ATTR_TEXT)
        return lexer_text(p->lex, &a->s);
    if (def->type == ATTR_INT)
        return def->is_dtype ? parse_dtype(p, &a->i) : lexer_int(p->lex, &a->i);
    if (!lexer_ints(p->lex, MAX_RANK, &a->n, v))
        return false;
    int64_t *kept = arena_array(p->g->arena, int64_t, a->n);
    memcpy(kept, v, (size_t)a->n * sizeof *v);
    a->v = kept;
    return true;
}

static int find_attr(const OpDef *op, const char *name)
{
    for (int i = 0; i < MAX_ATTRS && op->attrs[i].name; i++) {
        if (!strcmp(op->attrs[i].name, name))
            return i;
    }
    return -1;
}

static void set_missing(const OpDef *op, Attr *attr)
{
    for (int i = 0; i < MAX_ATTRS && op->attrs[i].name; i++) {
        attr[i] = (Attr){0};
        if (op->attrs[i].type == ATTR_INT)
            attr[i].i = (int64_t)op->attrs[i].missing;
        else if (op->attrs[i].type == ATTR_FLOAT)
            attr[i].f = op->attrs[i].missing;
    }
}

static bool is_after_attrs(const Parser *p)
{
    return p->lex->kind != TOKEN_WORD || lexer_is_word(p->lex, "from") ||
           lexer_is_word(p->lex, "backward") || lexer_is_word(p->lex, "update") ||
           lexer_is_word(p->lex, "block");
}

static bool parse_attrs(Parser *p, const OpDef *op, Attr *attr)
{
    unsigned seen = 0;

    set_missing(op, attr);
    while (!is_after_attrs(p)) {
        int i = find_attr(op, p->lex->text);
        if (i < 0)
            return lexer_error(p->lex, "%s has no attribute '%s'", op->name, p->lex->text);
        if (seen >> i & 1)
            return lexer_error(p->lex, "attribute '%s' occurs twice", p->lex->text);
        seen |= 1U << i;
        lexer_next(p->lex);
        if (!lexer_sign(p->lex, "=") || !parse_attr_value(p, &op->attrs[i], &attr[i]))
            return false;
    }
    return true;
}

// ---- the rest of the line ----

static bool parse_source(Parser *p)
{
    p->g->source = NULL;
    if (!lexer_is_word(p->lex, "from"))
        return true;
    lexer_next(p->lex);
    Source *s = arena_array(p->g->arena, Source, 1);
    s->scope = "";
    if (!lexer_text(p->lex, &s->name))
        return false;
    if (p->lex->kind == TOKEN_TEXT && !lexer_text(p->lex, &s->scope))
        return false;
    p->g->source = s;
    return true;
}

static void parse_phase(Parser *p)
{
    p->g->phase = FORWARD;
    if (lexer_is_word(p->lex, "backward"))
        p->g->phase = BACKWARD;
    else if (lexer_is_word(p->lex, "update"))
        p->g->phase = UPDATE;
    if (p->g->phase != FORWARD)
        lexer_next(p->lex);
}

static bool parse_op(Parser *p, const OpDef **op)
{
    if (p->lex->kind != TOKEN_WORD)
        return lexer_unexpected(p->lex, "an operator");
    int32_t i = map_get(&p->ops, p->lex->text);
    if (!i)
        return lexer_error(p->lex, "unknown operator '%s'", p->lex->text);
    *op = op_table[i - 1];
    lexer_next(p->lex);
    return true;
}

static bool parse_inputs(Parser *p, const OpDef *op)
{
    p->n_inputs = 0;
    if (!lexer_sign(p->lex, "("))
        return false;
    while (!lexer_is_sign(p->lex, ")")) {
        ValueId v = 0;
        if (p->n_inputs == MAX_INPUTS)
            return lexer_error(p->lex, "more than %d inputs", MAX_INPUTS);
        if (p->n_inputs && !lexer_sign(p->lex, ","))
            return false;
        if (!lexer_is_word(p->lex, "_")) {
            if (!parse_reference(p, &v))
                return false;
        } else {
            if (!input_is_optional(op, p->n_inputs))
                return lexer_error(p->lex, "input %d of %s is missing", p->n_inputs, op->name);
            lexer_next(p->lex);
        }
        *arena_push(p->g->arena, p->inputs, p->n_inputs, p->cap_inputs) = v;
    }
    return lexer_sign(p->lex, ")");
}

// Reads the part after "=" and makes the node; 0 after an error.
static ValueId parse_call(Parser *p)
{
    const OpDef *op = NULL;
    Attr attr[MAX_ATTRS];
    int errors = p->lex->d->errors;

    if (!parse_op(p, &op) || !parse_inputs(p, op) || !parse_attrs(p, op, attr) || !parse_source(p))
        return 0;
    parse_phase(p);
    if (!parse_block(p, &p->g->block))
        return 0;
    if (p->lex->kind != TOKEN_LINE) {
        lexer_unexpected(p->lex, "the line's end");
        return 0;
    }
    if (p->g->n_nodes > MAX_NODES) {
        lexer_error(p->lex, "more than %d nodes", MAX_NODES);
        return 0;
    }
    ValueId v = graph_node(p->g, op, p->n_inputs, p->inputs, attr);
    if (!v && p->lex->d->errors > errors)
        diag_note(p->lex->d, "line %d", p->lex->line);
    return v;
}

static bool check_results(Parser *p, ValueId v, int n, const Definition *def)
{
    const Node *node = producer(p->g, v);

    if (node->n_out != n)
        return lexer_error(p->lex, "%s has %d results, not %d", node->op->name, node->n_out, n);
    for (int i = 0; i < n; i++) {
        Value *x = value_edit(p->g, node->out[i]);
        if (!same_type(x, &def[i].type))
            return lexer_error(p->lex, "'%%%s' is %s, not %s", def[i].name,
                               type_text(p->g->arena, x), type_text(p->g->arena, &def[i].type));
        if (!parse_define(p, def[i].name, node->out[i]))
            return false;
        x->name = def[i].name;
        x->own_rank = def[i].type.own_rank;
        memcpy(x->own_dim, def[i].type.own_dim, sizeof x->own_dim);
    }
    return true;
}

bool parse_node(Parser *p)
{
    Definition def[MAX_OUTPUTS];
    int n = 0;
    bool ok;

    do {
        if (n == MAX_OUTPUTS)
            return lexer_error(p->lex, "more than %d results", MAX_OUTPUTS);
        if (n)
            lexer_next(p->lex);
        ok = parse_definition(p, &def[n++]);
    } while (ok && lexer_is_sign(p->lex, ","));
    ok = ok && lexer_sign(p->lex, "=");
    ValueId v = ok ? parse_call(p) : 0;
    ok = v && check_results(p, v, n, def);
    // Later lines that use a result of a wrong line report no further error.
    for (int i = 0; !ok && i < n; i++) {
        if (def[i].name)
            parse_define(p, def[i].name, UNUSABLE);
    }
    return ok;
}
