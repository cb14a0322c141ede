// Reads what the values and nodes of a split graph hold of the whole one.
#include <string.h>

#include "lower/text/text.h"

typedef struct SplitParser {
    Parser *p;
    Sharded *s;
    Strategy *strategy;  // by NodeId of the whole graph
    Map names;           // of its values
    Rule *rule;          // by NodeId of the whole graph
} SplitParser;

// Reads the name of a value of the whole graph.
static bool parse_whole_name(SplitParser *x, ValueId *v)
{
    return parse_name_in(x->p, &x->names, " in the whole graph", v);
}

static bool parse_whole_node(SplitParser *x, NodeId *n)
{
    return parse_node_in(x->p, x->s->whole, &x->names, " in the whole graph", n);
}

// Says where a wrong spec or strategy is.
static bool noted(const SplitParser *x, bool ok)
{
    if (!ok)
        diag_note(x->p->lex->d, "line %d", x->p->lex->line);
    return ok;
}

// Reads "strategy %v "m:dp"".
static bool parse_strategy(SplitParser *x)
{
    const char *text;
    NodeId n;

    return parse_whole_node(x, &n) && lexer_text(x->p->lex, &text) &&
           noted(x, strategy_parse(&x->rule[n], &x->p->mesh, text, &x->strategy[n], x->p->lex->d));
}

static bool is_chunk(const SplitParser *x, ValueId v)
{
    const ShardedValue *of = &x->s->value[v];
    const Value *shard = value_of(x->s->g, v), *whole = value_of(x->s->whole, of->of);

    if (shard->rank != whole->rank || shard->dtype != whole->dtype)
        return false;
    for (int i = 0; i < whole->rank; i++)
        if (shard->dim[i] != spec_chunk(&x->p->mesh, &of->spec, i, whole->dim[i]))
            return false;
    return true;
}

// Reads "shard %x of %v "[dp,-]"".
static bool parse_shard(SplitParser *x)
{
    Lexer *l = x->p->lex;
    const char *text;
    ValueId v, of;

    if (!parse_value_name(x->p, &v) || !lexer_word(l, "of") || !parse_whole_name(x, &of) ||
        !lexer_text(l, &text))
        return false;
    ShardedValue *to = &x->s->value[v];
    to->of = of;
    if (!noted(x, spec_parse(&x->p->mesh, value_of(x->s->whole, of), text, &to->spec, l->d)))
        return false;
    return is_chunk(x, v) ||
           lexer_error(l, "'%s' hasn't the dims of such a shard", value_of(x->s->g, v)->name);
}

// Reads "exchange %x all_reduce bytes 64 picoseconds 1000 joined 2".
static bool parse_exchange(SplitParser *x, ShardedNode *to, const Node *n)
{
    Parser *p = x->p;
    int64_t joined = 0;
    int kind = parse_one_of(p, reshard_names, N_RESHARD_KINDS, "a collective");

    if (kind < 0)
        return false;
    if (!n->op->exchange || (kind == RESHARD_SLICE) != (n->op == &op_shard))
        return lexer_error(p->lex, "%s is no %s", n->op->name, reshard_names[kind]);
    if (!lexer_word(p->lex, "bytes") || !parse_between(p, 0, INT64_MAX, &to->bytes) ||
        !lexer_word(p->lex, "picoseconds") || !parse_between(p, 0, INT64_MAX, &to->picoseconds) ||
        (lexer_skip_word(p->lex, "joined") && !parse_between(p, 1, INT32_MAX, &joined)))
        return false;
    to->kind = (ReshardKind)kind;
    to->n_joined = (int)joined;
    return true;
}

// Reads a line that says what a node of the split graph does.
static bool parse_sharded_node(SplitParser *x, const char *word, bool *is_said)
{
    NodeId n, of = 0;

    if (!parse_node_name(x->p, &n))
        return false;
    if (!strcmp(word, "node") && (!lexer_word(x->p->lex, "of") || !parse_whole_node(x, &of)))
        return false;
    if (is_said[n])
        return lexer_error(x->p->lex, "the node of '%s' is there twice",
                           value_of(x->s->g, x->s->g->nodes[n].out[0])->name);
    x->s->node[n].of = of;
    is_said[n] = true;
    return strcmp(word, "exchange") || parse_exchange(x, &x->s->node[n], &x->s->g->nodes[n]);
}

static bool parse_lines(SplitParser *x, bool *is_said)
{
    Lexer *l = x->p->lex;

    while (l->kind == TOKEN_WORD) {
        bool ok = false;
        if (lexer_skip_word(l, "strategy"))
            ok = parse_strategy(x);
        else if (lexer_skip_word(l, "shard"))
            ok = parse_shard(x);
        else if (lexer_skip_word(l, "node"))
            ok = parse_sharded_node(x, "node", is_said);
        else if (lexer_skip_word(l, "exchange"))
            ok = parse_sharded_node(x, "exchange", is_said);
        else if (lexer_skip_word(l, "pack"))
            ok = parse_sharded_node(x, "pack", is_said);
        else
            return true;
        if (!ok || !lexer_line(l))
            return false;
    }
    return true;
}

// Does the node work along axes that the mesh has?
static bool check_axes(const SplitParser *x, const Node *n)
{
    const Attr *axes = &n->attr[0], *ranks = &n->attr[1];

    for (int i = 0; n->op->exchange && i < axes->n; i++)
        if (axes->v[i] >= x->p->mesh.n_axes || ranks->v[i] != x->p->mesh.size[axes->v[i]])
            return node_error(x->s->g, n, x->p->lex->d,
                              "axis %" PRId64 " has other ranks than that of the mesh", axes->v[i]);
    return true;
}

// Notes the factors of the whole node.
static bool finish_node(const SplitParser *x, NodeId n)
{
    const Node *shard = &x->s->g->nodes[n];
    ShardedNode *to = &x->s->node[n];
    const Rule *r = &x->rule[to->of];
    Arena *a = arena_new();
    Rule own = {0};

    if (to->of)
        node_rule(a, x->s->g, shard, &own);
    arena_free(a);
    if (to->of && (shard->op != x->s->whole->nodes[to->of].op || own.n_factors != r->n_factors))
        return node_error(x->s->g, shard, x->p->lex->d, "it is no shard of node '%s'",
                          value_of(x->s->whole, x->s->whole->nodes[to->of].out[0])->name);
    to->n_factors = to->of ? r->n_factors : 0;
    to->size = to->of ? r->size : NULL;
    return check_axes(x, shard);
}

static Sharded *sharded_of(Parser *p, Graph *whole, Strategy *strategy)
{
    Arena *a = p->p->arena;
    Plan *plan = arena_array(a, Plan, 1);
    Sharded *s = arena_array(a, Sharded, 1);

    *plan = (Plan){.mesh = p->mesh, .strategy = strategy};
    *s = (Sharded){.whole = whole,
                   .plan = plan,
                   .g = p->s->g,
                   .value = arena_array(a, ShardedValue, p->s->g->n_values),
                   .n_values = p->s->g->n_values,
                   .node = arena_array(a, ShardedNode, p->s->g->n_nodes),
                   .n_nodes = p->s->g->n_nodes};
    for (NodeId n = 0; n < whole->n_nodes; n++)
        strategy[n] = spec_replicated();
    for (ValueId v = 0; v < s->n_values; v++)
        s->value[v].spec = spec_replicated();
    return s;
}

bool parse_sharded(Parser *p, Graph *whole)
{
    Arena *a = p->p->arena;
    SplitParser x = {.p = p,
                     .strategy = arena_array(a, Strategy, whole->n_nodes),
                     .names = {.arena = a},
                     .rule = arena_array(a, Rule, whole->n_nodes)};
    bool *is_said = arena_array(a, bool, p->s->g->n_nodes);
    const char **name = graph_names(a, whole);

    for (ValueId v = 1; v < whole->n_values; v++)
        map_set(&x.names, name[v], v);
    for (NodeId n = 1; n < whole->n_nodes; n++)
        node_rule(a, whole, &whole->nodes[n], &x.rule[n]);
    p->s->sharded = x.s = sharded_of(p, whole, x.strategy);
    if (!parse_lines(&x, is_said))
        return false;
    for (NodeId n = 1; n < x.s->n_nodes; n++) {
        if (!is_said[n])
            x.s->node[n].of = default_source(x.s, n);
        if (!finish_node(&x, n))
            return false;
    }
    return true;
}
