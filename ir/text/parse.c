// Reads a graph from text, line by line. The text is not trusted: lists, names and sizes are
// bounded, and types are inferred and compared. After an error it goes on with the next line, to
// find more.
#include "ir/text/text.h"

#include <string.h>

enum { MAX_CLASSES = 1 << 10 };

static int find_word(const Parser *p, const char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        if (words[i] && lexer_is_word(p->lex, words[i]))
            return i;
    }
    return -1;
}

// ---- values without a producer ----

static bool parse_element(Parser *p, Tensor *t, int64_t i)
{
    if (t->f)
        return lexer_float(p->lex, &t->f[i]);
    if (!lexer_int(p->lex, &t->i[i]))
        return false;
    if (wrap_int(t->dtype, t->i[i]) != t->i[i])
        return lexer_error(p->lex, "element %" PRId64 " does not fit in %s", i,
                           dtype_name(t->dtype));
    return true;
}

static bool parse_data(Parser *p, Value *x)
{
    int64_t count = value_count(x);

    if (value_bytes(x) > MAX_CONSTANT_BYTES)
        return lexer_error(p->lex, "a constant of more than %d bytes", MAX_CONSTANT_BYTES);
    Tensor t = tensor_new(p->g->arena, x->dtype, x->rank, x->dim);
    if (x->rank && !lexer_sign(p->lex, "["))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if ((i && !lexer_sign(p->lex, ",")) || !parse_element(p, &t, i))
            return false;
    }
    if (x->rank && !lexer_sign(p->lex, "]"))
        return false;
    tensor_round(&t);
    x->data = tensor_pack(p->g->arena, &t);
    return true;
}

// Reads a line after its value kind: %w f32[4] own [2,2] = … block 1.0.3; of an input, "labels".
static bool parse_value_as(Parser *p, ValueKind kind, Definition *def)
{
    if (!parse_definition(p, def))
        return false;
    Value x = def->type;
    x.kind = kind;
    x.name = def->name;
    x.is_labels = kind == VALUE_INPUT && lexer_skip_word(p->lex, "labels");
    if (kind == VALUE_CONSTANT || value_kind_has_fill(kind)) {
        if (!lexer_sign(p->lex, "="))
            return false;
        if (!(kind == VALUE_CONSTANT ? parse_data(p, &x) : lexer_float(p->lex, &x.fill)))
            return false;
    }
    if (!parse_block(p, &x.block))
        return false;
    if (p->g->n_values > MAX_VALUES)
        return lexer_error(p->lex, "more than %d values", MAX_VALUES);
    ValueId v = graph_value(p->g, kind, x.name, x.dtype, x.rank, x.dim);
    *value_edit(p->g, v) = x;
    return parse_define(p, x.name, v);
}

static bool parse_value(Parser *p, ValueKind kind)
{
    Definition def = {0};

    lexer_next(p->lex);
    if (parse_value_as(p, kind, &def))
        return true;
    if (def.name)
        parse_define(p, def.name, UNUSABLE);
    return false;
}

// ---- classes, outputs, carries ----

static bool parse_class(Parser *p)
{
    int64_t id, length;
    const char *name;

    lexer_next(p->lex);
    if (!lexer_int(p->lex, &id) || !lexer_text(p->lex, &name) || !lexer_int(p->lex, &length))
        return false;
    if (id != p->g->n_classes)
        return lexer_error(p->lex, "class %d expected", p->g->n_classes);
    if (id >= MAX_CLASSES)
        return lexer_error(p->lex, "more than %d classes", MAX_CLASSES);
    if (length < 1 || length > MAX_NODES)
        return lexer_error(p->lex, "a class of %" PRId64 " iterations", length);
    *arena_push(p->g->arena, p->g->classes, p->g->n_classes, p->g->cap_classes) =
        (BlockClass){name, (int32_t)length};
    return true;
}

static bool parse_output(Parser *p)
{
    const char *name;
    ValueId v;

    lexer_next(p->lex);
    int role = find_word(p, output_role_names, N_OUTPUT_ROLES);
    if (role < 0)
        return lexer_unexpected(p->lex, "the output's role");
    lexer_next(p->lex);
    if (!lexer_text(p->lex, &name) || !parse_reference(p, &v))
        return false;
    graph_output(p->g, name, v, (OutputRole)role);
    Output *o = &p->g->outputs[p->g->n_outputs - 1];
    if (role == OUTPUT_BAD_LABEL)
        return lexer_word(p->lex, "ignored") && lexer_int(p->lex, &o->ignored);
    return !output_has_bound((OutputRole)role) ||
           (lexer_word(p->lex, "bound") && lexer_int(p->lex, &o->bound));
}

static bool parse_carry(Parser *p)
{
    ValueId from, to;

    lexer_next(p->lex);
    bool is_step = lexer_is_word(p->lex, "step");
    if (!is_step && !lexer_is_word(p->lex, "micro"))
        return lexer_unexpected(p->lex, "'step' or 'micro'");
    lexer_next(p->lex);
    if (!parse_reference(p, &from) || !parse_reference(p, &to))
        return false;
    graph_carry(p->g, from, to, is_step ? SCOPE_STEP : SCOPE_MICRO);
    return true;
}

// ---- the whole ----

static bool parse_line(Parser *p)
{
    if (p->lex->kind == TOKEN_NAME)
        return parse_node(p);
    if (lexer_is_word(p->lex, "class"))
        return parse_class(p);
    if (lexer_is_word(p->lex, "output"))
        return parse_output(p);
    if (lexer_is_word(p->lex, "carry"))
        return parse_carry(p);
    int kind = find_word(p, value_kind_names, N_VALUE_KINDS);
    if (kind < 0 || kind == VALUE_ACTIVATION)
        return lexer_unexpected(p->lex, "a value, node, output or carry");
    return parse_value(p, (ValueKind)kind);
}

// Reads "after PASS accumulate K", of which the head may lack either.
static bool parse_stage(Parser *p)
{
    int64_t k = 0;

    if (lexer_is_word(p->lex, "after")) {
        lexer_next(p->lex);
        if (p->lex->kind != TOKEN_WORD)
            return lexer_unexpected(p->lex, "a pass");
        p->g->after = arena_string(p->g->arena, "%s", p->lex->text);
        lexer_next(p->lex);
    }
    if (lexer_is_word(p->lex, "accumulate")) {
        lexer_next(p->lex);
        if (!lexer_int(p->lex, &k))
            return false;
        if (k < 2 || k > MAX_ACCUMULATE)
            return lexer_error(p->lex, "a step of %" PRId64 " micro-batches", k);
    }
    p->g->accumulate = (int)k;
    return true;
}

static bool parse_head(Parser *p)
{
    lexer_skip_lines(p->lex);
    if (!lexer_is_word(p->lex, "graph"))
        return lexer_unexpected(p->lex, "'graph'");
    lexer_next(p->lex);
    if (!lexer_text(p->lex, &p->g->name))
        return false;
    p->g->training = lexer_is_word(p->lex, "training");
    if (p->g->training)
        lexer_next(p->lex);
    return parse_stage(p) && lexer_sign(p->lex, "{");
}

static void skip_line(Parser *p)
{
    while (p->lex->kind != TOKEN_LINE && p->lex->kind != TOKEN_END)
        lexer_next(p->lex);
}

static void parse_body(Parser *p)
{
    while (!lexer_is_sign(p->lex, "}") && p->lex->kind != TOKEN_END) {
        if (p->lex->kind == TOKEN_LINE) {
            lexer_next(p->lex);
            continue;
        }
        if (parse_line(p) && p->lex->kind != TOKEN_LINE)
            lexer_unexpected(p->lex, "the line's end");
        skip_line(p);
    }
    if (!lexer_sign(p->lex, "}"))
        return;
    lexer_skip_lines(p->lex);
}

Graph *graph_read(Arena *a, Lexer *l)
{
    Parser p = {.lex = l, .g = graph_new(a, ""), .names.arena = arena_new()};
    int errors = l->d->errors;

    p.ops.arena = p.names.arena;
    for (int i = 0; op_table[i]; i++)
        map_set(&p.ops, op_table[i]->name, i + 1);
    p.g->diag = l->d;
    if (parse_head(&p))
        parse_body(&p);
    p.g->phase = FORWARD;
    p.g->block = (Block){0};
    p.g->source = NULL;
    arena_free(p.names.arena);
    return l->d->errors > errors ? NULL : p.g;
}

Graph *graph_parse_two(Arena *a, const char *text, size_t n, Graph **second, Diag *d)
{
    Lexer l = lexer_new(a, text, n, d);
    int errors = d->errors;
    Graph *first = graph_read(a, &l);

    if (second)
        *second = first && l.kind != TOKEN_END ? graph_read(a, &l) : NULL;
    if (d->errors == errors && l.kind != TOKEN_END)
        lexer_unexpected(&l, "the end");
    if (second && *second && (*second)->training)
        diag_error(d, "the text's second graph is for training: only the first one may be");
    lexer_free(&l);
    return d->errors > errors ? NULL : first;
}

Graph *graph_parse(Arena *a, const char *text, size_t n, Diag *d)
{
    return graph_parse_two(a, text, n, NULL, d);
}
