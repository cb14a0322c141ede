// Reads the map of --weight-map. Its lines, with comments after a '#':
//
//     PARAMETER = NAME
//     PARAMETER = transpose(NAME)
//     PARAMETER = concat(NAME, …)
//     PARAMETER = stack(NAME.{0..7}.w)
//     keep PARAMETER
//
// The functions may be nested. The outermost stack or concat writes a range out: all ranges in one
// operand go from 0 to 7 together.
#include <stdlib.h>

#include "frontend/weight_file.h"

enum {
    MAX_DEPTH = 8,        // of functions in each other
    MAX_TERMS = 1 << 20,  // names of a map, ranges written out
    MAX_ARGUMENTS = 1 << 16,
    MAX_WORD = 1 << 12,  // bytes of a name
};

static const char *const functions[] = {
    [EXPR_TRANSPOSE] = "transpose", [EXPR_CONCAT] = "concat", [EXPR_STACK] = "stack"};

typedef struct Reader {
    Arena *a;
    const char *s, *end;
    int line;
    int terms;
    Diag *d;
} Reader;

static bool fail(const Reader *r, const char *fmt, ...) PRINTF(2, 3);
static bool fail(const Reader *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    const char *what = arena_vstring(r->a, fmt, args);
    va_end(args);
    diag_error(r->d, "line %d: %s", r->line, what);
    return false;
}

// ---- words ----

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void skip_blanks(Reader *r)
{
    while (r->s < r->end && is_blank(*r->s))
        r->s++;
    if (r->s < r->end && *r->s == '#')
        while (r->s < r->end && *r->s != '\n')
            r->s++;
}

static bool is_at(const Reader *r, char c) { return r->s < r->end && *r->s == c; }

static bool is_in_word(char c) { return !is_blank(c) && (c & ~31) && !strchr("=,()\"#", c); }

static bool read_quoted(Reader *r, Text *t)
{
    for (r->s++; r->s < r->end && *r->s != '"' && *r->s != '\n' && *r->s; r->s++) {
        if (*r->s == '\\' && r->s + 1 < r->end && strchr("\"\\", r->s[1]))
            r->s++;
        text_put(t, r->s, 1);
    }
    if (!is_at(r, '"'))
        return fail(r, "a name in quotes has no end");
    r->s++;
    return true;
}

// Reads a name, plain or in quotes. `what` was expected.
static bool read_word(Reader *r, const char **word, bool *is_literal, const char *what)
{
    Text t = {0};

    skip_blanks(r);
    const char *begin = r->s;
    *is_literal = is_at(r, '"');
    bool ok = !*is_literal || read_quoted(r, &t);
    while (!*is_literal && r->s < r->end && is_in_word(*r->s))
        r->s++;
    if (!*is_literal && r->s > begin)
        text_put(&t, begin, (size_t)(r->s - begin));
    if (ok && !t.n)
        ok = r->s < r->end && *r->s != '\n' && !*is_literal
                 ? fail(r, "expected %s, found '%c'", what, *r->s)
                 : fail(r, "expected %s", what);
    if (ok && t.n > MAX_WORD)
        ok = fail(r, "a name of more than %d bytes", MAX_WORD);
    if (ok)
        *word = arena_copy(r->a, t.s, t.n);
    text_free(&t);
    return ok;
}

static bool take(Reader *r, char c)
{
    skip_blanks(r);
    if (is_at(r, c)) {
        r->s++;
        return true;
    }
    return r->s < r->end && *r->s != '\n' ? fail(r, "expected '%c', found '%c'", c, *r->s)
                                          : fail(r, "expected '%c'", c);
}

// ---- ranges ----

static bool read_bound(const char **s, int64_t *n)
{
    char *end;
    bool ok = **s >= '0' && **s <= '9';

    *n = ok ? strtoll(*s, &end, 10) : 0;
    if (ok)
        *s = end;
    return ok && *n < MAX_ARGUMENTS;
}

// Finds the range of a name, {first..last}.
static bool find_range(const Reader *r, MapExpr *e)
{
    const char *open = strchr(e->name, '{'), *s = open ? open + 1 : NULL;

    if (!open)
        return true;
    e->has_range = read_bound(&s, &e->first) && s[0] == '.' && s[1] == '.' &&
                   (s += 2, read_bound(&s, &e->last)) && *s == '}' && e->first <= e->last;
    if (!e->has_range)
        return fail(r, "'%.200s': a range is {0..7}, with numbers below %d", e->name,
                    MAX_ARGUMENTS);
    e->at = (size_t)(open - e->name);
    e->length = (size_t)(s + 1 - open);
    return !strchr(s, '{') || fail(r, "'%.200s' has two ranges", e->name);
}

// Finds the range of the names in `e`; NULL: they have none. All must have the same one.
static bool common_range(const Reader *r, const MapExpr *e, const MapExpr **to)
{
    for (int i = 0; i < e->n; i++)
        if (!common_range(r, &e->arg[i], to))
            return false;
    if (!e->has_range)
        return true;
    if (*to && ((*to)->first != e->first || (*to)->last != e->last))
        return fail(r, "'%.200s' and '%.200s' have other ranges", (*to)->name, e->name);
    *to = e;
    return true;
}

// A copy in which the range is the number i.
static MapExpr put_number(Reader *r, const MapExpr *e, int64_t i)
{
    MapExpr to = *e;

    to.arg = arena_array(r->a, MapExpr, e->n + 1);
    for (int k = 0; k < e->n; k++)
        to.arg[k] = put_number(r, &e->arg[k], i);
    if (e->has_range)
        to.name = arena_string(r->a, "%.*s%" PRId64 "%s", (int)e->at, e->name, i,
                               e->name + e->at + e->length);
    to.has_range = false;
    r->terms++;
    return to;
}

// Writes the ranges out.
static bool expand(Reader *r, MapExpr *e)
{
    MapExpr *arg = NULL;
    int n = 0, cap = 0;

    if (e->has_range)
        return fail(r, "'%.200s': a range must be in stack(…) or concat(…)", e->name);
    if (e->kind == EXPR_NAME || e->kind == EXPR_TRANSPOSE)
        return e->kind == EXPR_NAME || expand(r, e->arg);
    for (int i = 0; i < e->n; i++) {
        const MapExpr *range = NULL;
        if (!common_range(r, &e->arg[i], &range) || (!range && !expand(r, &e->arg[i])))
            return false;
        int64_t first = range ? range->first : 0, last = range ? range->last : 0;
        for (int64_t k = first; k <= last; k++) {
            if (n == MAX_ARGUMENTS || r->terms > MAX_TERMS)
                return fail(r, "too many operands");
            *arena_push(r->a, arg, n, cap) = range ? put_number(r, &e->arg[i], k) : e->arg[i];
        }
    }
    e->arg = arg;
    e->n = n;
    return true;
}

// ---- lines ----

static bool read_expr(Reader *r, MapExpr *e, int depth);

static bool read_operands(Reader *r, MapExpr *e, int depth)
{
    int cap = 0;

    if (depth == MAX_DEPTH)
        return fail(r, "functions in more than %d others", MAX_DEPTH);
    do {
        MapExpr x = {0};
        r->s++;  // '(' or ','
        if (e->n == MAX_ARGUMENTS)
            return fail(r, "too many operands");
        if (!read_expr(r, &x, depth + 1))
            return false;
        *arena_push(r->a, e->arg, e->n, cap) = x;
        skip_blanks(r);
    } while (is_at(r, ','));
    if (!take(r, ')'))
        return false;
    return e->kind != EXPR_TRANSPOSE || e->n == 1 || fail(r, "transpose takes one operand");
}

static bool read_expr(Reader *r, MapExpr *e, int depth)
{
    if (!read_word(r, &e->name, &e->is_literal, "a name or a function"))
        return false;
    if (++r->terms > MAX_TERMS)
        return fail(r, "too many names");
    skip_blanks(r);
    if (!is_at(r, '(') || e->is_literal)
        return e->is_literal || find_range(r, e);
    for (int k = EXPR_TRANSPOSE; k < COUNT(functions) && !e->kind; k++)
        if (!strcmp(e->name, functions[k]))
            e->kind = (ExprKind)k;
    return e->kind ? read_operands(r, e, depth)
                   : fail(r, "'%.200s' is not one of stack, concat, transpose", e->name);
}

static int count_stars(const char *s, bool is_literal)
{
    int n = 0;

    for (; *s && !is_literal; s++)
        n += *s == '*';
    return n;
}

static bool check_stars(const Reader *r, const MapExpr *e, const MapLine *l)
{
    for (int i = 0; i < e->n; i++)
        if (!check_stars(r, &e->arg[i], l))
            return false;
    return e->kind ||
           count_stars(e->name, e->is_literal) <= count_stars(l->parameter, l->is_literal) ||
           fail(r, "'%.200s' has more stars than '%.200s'", e->name, l->parameter);
}

static bool read_line(Reader *r, MapLine *l)
{
    MapExpr *e = arena_array(r->a, MapExpr, 1);

    *l = (MapLine){.line = r->line};
    if (!read_word(r, &l->parameter, &l->is_literal, "a parameter's name"))
        return false;
    skip_blanks(r);
    bool keeps = !l->is_literal && !strcmp(l->parameter, "keep") && !is_at(r, '=');
    if (keeps && !read_word(r, &l->parameter, &l->is_literal, "'=' or a name to keep"))
        return false;
    if (count_stars(l->parameter, l->is_literal) > MAX_STARS)
        return fail(r, "'%.200s' has more than %d stars", l->parameter, MAX_STARS);
    if (!keeps && (!take(r, '=') || !read_expr(r, e, 0) || !expand(r, e) || !check_stars(r, e, l)))
        return false;
    l->value = keeps ? NULL : e;
    skip_blanks(r);
    return r->s == r->end || *r->s == '\n' ||
           fail(r, "expected the end of the line, found '%c'", *r->s);
}

bool weight_map_parse(Arena *a, const char *text, size_t n, WeightMap *to, Diag *d)
{
    Reader r = {.a = a, .s = text, .end = text + n, .line = 1, .d = d};

    *to = (WeightMap){0};
    for (; r.s < r.end; r.line++, r.s += r.s < r.end) {
        MapLine l;
        skip_blanks(&r);
        if (r.s == r.end || *r.s == '\n')
            continue;
        if (!read_line(&r, &l))
            return false;
        *arena_push(a, to->line, to->n, to->cap) = l;
    }
    return true;
}

// ---- printing ----

static void print_word(const char *s, bool is_literal, Text *to)
{
    if (!is_literal) {
        text_printf(to, "%s", s);
        return;
    }
    text_put(to, "\"", 1);
    for (; *s; s++)
        text_printf(to, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    text_put(to, "\"", 1);
}

static void print_expr(const MapExpr *e, Text *to)
{
    if (!e->kind) {
        print_word(e->name, e->is_literal, to);
        return;
    }
    text_printf(to, "%s(", functions[e->kind]);
    for (int i = 0; i < e->n; i++) {
        text_printf(to, "%s", i ? ", " : "");
        print_expr(&e->arg[i], to);
    }
    text_put(to, ")", 1);
}

void weight_map_print(const WeightMap *m, Text *to)
{
    for (int i = 0; i < m->n; i++) {
        text_printf(to, "%s", m->line[i].value ? "" : "keep ");
        print_word(m->line[i].parameter, m->line[i].is_literal, to);
        text_printf(to, "%s", m->line[i].value ? " = " : "");
        if (m->line[i].value)
            print_expr(m->line[i].value, to);
        text_put(to, "\n", 1);
    }
}

// ---- matching ----

// Matches the rest of a pattern, in which `k` stars have been before. A star takes one letter more
// each time that what follows doesn't match; only the last one need grow, so this takes |glob| ·
// |name| steps.
bool weight_map_match(const MapLine *l, const char *name, const char **star, size_t *length)
{
    const char *glob = l->parameter, *resume = NULL, *at = NULL;
    int k = -1;

    if (l->is_literal)
        return !strcmp(glob, name);
    while (*name) {
        if (*glob == '*') {
            star[++k] = name;
            length[k] = 0;
            resume = ++glob;
            at = name;
        } else if (*glob == *name) {
            glob++;
            name++;
        } else if (k >= 0) {  // extend the last star by one letter
            glob = resume;
            name = ++at;
            length[k]++;
        } else {
            return false;
        }
    }
    for (; *glob == '*'; glob++) {
        star[++k] = name;
        length[k] = 0;
    }
    return !*glob;
}
