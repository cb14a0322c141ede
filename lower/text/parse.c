// Reads a program from its text. What follows from the rest of the text, such as addresses and the
// requests for kernels, is computed and compared with the text.
#include <stdlib.h>
#include <string.h>

#include "lower/text/text.h"

// ---- the head ----

static bool parse_mesh(Parser *p)
{
    const char *text;

    return lexer_text(p->lex, &text) && mesh_read(p->p->arena, text, &p->mesh, p->lex->d);
}

// Reads 16 digits in quotes.
static bool parse_plan(Parser *p)
{
    const char *text;

    if (!lexer_text(p->lex, &text))
        return false;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return lexer_error(p->lex, "a plan's hash of 16 digits expected, not '%s'", text);
    p->p->plan_hash = strtoull(text, NULL, 16);
    return true;
}

// Reads the first line: the target, the sizes, and the steps and ranks where there are several.
static bool parse_head(Parser *p, const Target *t, int64_t *arena, int64_t *bound)
{
    Target *own = arena_array(p->p->arena, Target, 1);
    int64_t accumulate = 1;

    if (!lexer_word(p->lex, "program") || !target_read(p->lex, t, own) ||
        !lexer_word(p->lex, "arena") || !parse_between(p, 0, MAX_ARENA_BYTES, arena) ||
        !lexer_word(p->lex, "bound") || !parse_between(p, 0, MAX_ARENA_BYTES, bound))
        return false;
    if (lexer_skip_word(p->lex, "accumulate") && !parse_between(p, 2, MAX_ACCUMULATE, &accumulate))
        return false;
    p->p->target = own;
    p->p->accumulate = (int)accumulate;
    return (!lexer_skip_word(p->lex, "mesh") || parse_mesh(p)) &&
           (!lexer_skip_word(p->lex, "plan") || parse_plan(p)) && lexer_line(p->lex);
}

// ---- sets ----

static Graph *parse_graph(Parser *p)
{
    Graph *g = graph_read(p->p->arena, p->lex);

    return g && graph_verify(g, p->lex->d) && check_types(g, p->lex->d) ? g : NULL;
}

static bool define_names(Parser *p)
{
    const Graph *g = p->s->g;
    const char **name = graph_names(p->p->arena, g);
    Map *names = &p->of[p->set].names;

    names->arena = p->p->arena;
    for (ValueId v = 1; v < g->n_values; v++)
        map_set(names, name[v], v);
    return true;
}

// Reads "copy %c of %v": a value that lowering adds.
static bool parse_copy(Parser *p)
{
    Graph *g = p->s->g;
    Map *names = &p->of[p->set].names;
    ValueId of;

    if (p->lex->kind != TOKEN_NAME)
        return lexer_unexpected(p->lex, "a %name");
    if (map_get(names, p->lex->text))
        return lexer_error(p->lex, "'%%%s' is defined twice", p->lex->text);
    const char *name = arena_copy(p->p->arena, p->lex->text, p->lex->buffer.n);
    lexer_next(p->lex);
    if (!lexer_word(p->lex, "of") || !parse_value_name(p, &of))
        return false;
    const Value x = *value_of(g, of);
    map_set(names, name, graph_value(g, VALUE_ACTIVATION, name, x.dtype, x.rank, x.dim));
    return lexer_line(p->lex);
}

static bool has_collective(const Graph *g)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (g->nodes[i].op->exchange)
            return true;
    return false;
}

static bool parse_set(Parser *p)
{
    Graph *whole = p->mesh.n_axes ? parse_graph(p) : NULL;

    if ((p->mesh.n_axes && !whole) || !(p->s->g = parse_graph(p)))
        return false;
    if (!whole && has_collective(p->s->g))
        return lexer_error(p->lex, "the graph has collectives, but the program has no mesh");
    if (!define_names(p) || (whole && !parse_sharded(p, whole)))
        return false;
    while (lexer_skip_word(p->lex, "copy"))
        if (!parse_copy(p))
            return false;
    p->s->storage = arena_array(p->p->arena, Storage, p->s->g->n_values);
    p->of[p->set].l =
        (Lowering){.g = p->s->g, .table = class_tables(p->p->arena, p->s->g), .d = p->lex->d};
    return true;
}

static bool parse_sets(Parser *p)
{
    bool has_set = false;

    for (p->set = 0; p->set < N_SETS; p->set++) {
        p->s = &p->p->set[p->set];
        if (!lexer_skip_word(p->lex, set_names[p->set]))
            continue;
        if (!lexer_line(p->lex) || !parse_set(p))
            return false;
        has_set = true;
    }
    return has_set || lexer_unexpected(p->lex, "'train' or 'predict'");
}

// ---- the whole ----

static bool check_size(Parser *p, const char *what, int64_t found, int64_t expected)
{
    if (found == expected)
        return true;
    diag_error(p->lex->d, "line 1: %s %" PRId64 " expected, not %" PRId64, what, expected, found);
    return false;
}

static bool parse_program(Parser *p, const Target *t)
{
    int64_t arena, bound;

    if (!parse_head(p, t, &arena, &bound) || !parse_sets(p) || !parse_buffers(p) ||
        !parse_tensors(p) || !parse_functions(p) || !check_buffers(p))
        return false;
    measure_arena(p->p);
    return check_size(p, "arena", arena, p->p->arena_bytes) &&
           check_size(p, "bound", bound, p->p->bound);
}

Program *program_parse(Arena *a, const char *text, size_t n, const Target *t, Diag *d)
{
    Lexer l = lexer_new(a, text, n, d);
    Parser p = {.lex = &l, .p = program_new(a, t, 1)};
    bool ok = parse_program(&p, t);

    lexer_free(&l);
    if (!ok)
        return NULL;
    program_finish(p.p);
    return p.p;
}
