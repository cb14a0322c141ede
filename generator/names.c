// Prints names, literals and comments. Names of the model reach the text only through here.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generator/internal.h"

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_.-/:,[]{}()@ ", c);
}

// A constant without a name is called v and a number where a graph is printed (value_label). Read
// back, it still has no name for the user.
const char *given_name(const Value *v)
{
    const char *s = v->name ? v->name : "";
    bool is_label =
        v->kind == VALUE_CONSTANT && *s == 'v' && s[1] && !s[1 + strspn(s + 1, "0123456789")];

    return is_label ? "" : s;
}

char *lower_identifier(Gen *g, const char *path)
{
    char *s = identifier_of(&g->identifiers, path, 1);

    s = *s >= '0' && *s <= '9' ? arena_string(g->arena, "MODEL_%s", s) : s;
    for (char *c = s; *c; c++)
        *c += *c >= 'A' && *c <= 'Z' ? 'a' - 'A' : 0;
    return s;
}

// The longest end of a dotted path that fits, from the beginning of a part on if possible.
static const char *fitting_end(const char *path, size_t width)
{
    const char *end = path;

    while (strlen(end) > width && strchr(end, '.'))
        end = strchr(end, '.') + 1;
    return strlen(end) > width ? end + strlen(end) - width : end;
}

static bool has_scope(const Source *from) { return from && from->scope && *from->scope; }

// "h.1.attn": where the node comes from.
static const char *path_of(const Node *n)
{
    const char *s = has_scope(n->source) ? n->source->scope : n->source ? n->source->name : "";

    return s ? s : "";
}

// The number in the node's path that layered_path leaves out; -1: there is none, or it is too large
// to count with.
static int64_t layer_of(Arena *scratch, const Gen *g, const Node *n)
{
    const char *path = path_of(n);

    if (!strcmp(layered_path(scratch, g->s->g, n->block, path), path))
        return -1;
    long long layer = strtoll(path + strlen(g->s->g->classes[n->block.cls].name) + 1, NULL, 10);
    return layer < 1 << 24 ? layer : -1;
}

bool class_layers(const Gen *g, int32_t cls, int64_t *first, int64_t *step)
{
    const Graph *graph = g->s->g;
    Arena *scratch = arena_new();
    int64_t layer[2] = {-1, -1};  // of iterations 0 and 1
    bool is_regular = true;

    for (NodeId n = 1; n < graph->n_nodes; n++) {
        Block b = graph->nodes[n].block;
        if (b.cls == cls && b.iter < 2 && layer[b.iter] < 0)
            layer[b.iter] = layer_of(scratch, g, &graph->nodes[n]);
    }
    if (layer[0] < 0 && layer[1] < 0)  // no label has {}
        layer[1] = 1 + (layer[0] = 0);
    *first = layer[0];
    *step = layer[1] - layer[0];
    for (NodeId n = 1; n < graph->n_nodes; n++) {
        Block b = graph->nodes[n].block;
        int64_t x = b.cls == cls ? layer_of(scratch, g, &graph->nodes[n]) : -1;
        is_regular &= x < 0 || x == *first + *step * b.iter;
    }
    arena_free(scratch);
    return is_regular && layer[0] >= 0 && layer[1] >= 0;
}

char *node_label(const Gen *g, const Node *n, int width)
{
    const Source *from = n->source;
    bool is_both = has_scope(from) && n->phase == UPDATE;
    const char *before = is_both ? arena_string(g->arena, "%s ", from->name) : "";
    int left = width - (int)strlen(before);
    const char *path = fitting_end(layered_path(g->arena, g->s->g, n->block, path_of(n)),
                                   left > 0 ? (size_t)left : 0);
    char *label = arena_string(g->arena, "%s%s", before, path);

    for (char *c = label; *c; c++)
        if (!is_plain(*c))
            *c = '_';
    return label;
}

void print_type(const Value *v, Text *t)
{
    text_printf(t, "%s[", dtype_name(v->dtype));
    for (int i = 0; i < v->rank; i++)
        text_printf(t, "%s%" PRId64, i ? "," : "", v->dim[i]);
    text_printf(t, "]");
}

char *sizeof_text(Gen *g, ValueId v, const char *count)
{
    const char *c_type = dtype_c_type(value_of(g->s->g, v)->dtype);

    return !strcmp(count, "1") ? arena_string(g->arena, "sizeof(%s)", c_type)
                               : arena_string(g->arena, "%s * sizeof(%s)", count, c_type);
}

void print_string(Text *t, const char *s, int indent)
{
    size_t start = t->n;

    text_printf(t, "\"");
    for (; *s; s++) {
        if (t->n - start > 64) {
            text_printf(t, "\"\n%*s\"", indent, "");
            start = t->n;
        }
        unsigned char c = (unsigned char)*s;
        if (c >= ' ' && c < 127 && c != '"' && c != '\\' && c != '?')
            text_put(t, s, 1);
        else
            text_printf(t, "\\%03o", c);
    }
    text_printf(t, "\"");
}

void print_number(Text *t, DType type, double x)
{
    const char *suffix = type == F64 ? "" : "f";

    bool is_long = type == U64 || (type == I64 && fabs(x) > INT32_MAX);

    if (dtype_is_half(type)) {
        text_printf(t, "rt_to_%s(", dtype_name(type));
        print_number(t, F32, x);
        text_printf(t, ")");
    } else if (!dtype_is_float(type))
        text_printf(t, is_long ? "INT64_C(%" PRId64 ")" : "%" PRId64, (int64_t)x);
    else if (isnan(x))
        text_printf(t, "NAN");
    else if (isinf(x))
        text_printf(t, x < 0 ? "-INFINITY" : "INFINITY");
    else {
        char s[40];
        snprintf(s, sizeof s, "%.*g", type == F64 ? 17 : 9, x);
        text_printf(t, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0", suffix);
    }
}

// The length of the brackets at `s` before the last one, if they are short; else 0. They stay
// together.
static size_t short_brackets(const char *s)
{
    enum { SHORT = 40 };
    int depth = 0;

    for (size_t n = 0; n < SHORT && s[n] && !strchr("\"\n", s[n]); n++) {
        depth += (strchr("({[", s[n]) != NULL) - (strchr(")}]", s[n]) != NULL);
        if (depth <= 0)
            return n;
    }
    return 0;
}

// The length of `s` up to and including its first comma outside of string literals and of short
// brackets, or its first newline.
static size_t slice(const char *s)
{
    bool quoted = false;
    size_t n = 0;

    for (; s[n]; n++) {
        if (quoted && s[n] == '\\')
            n++;
        else if (s[n] == '"')
            quoted = !quoted;
        else if (s[n] == '\n' || (s[n] == ',' && !quoted))
            return n + 1;
        else if (!quoted)
            n += short_brackets(s + n);
    }
    return n;
}

// Where to break `s` to fit into `width`: after an operator of the second half in the fewest
// brackets; else at the last space, if it has one.
static size_t fit(const char *s, size_t n, int width)
{
    int depth = 0, least = INT_MAX, at_operator = 0, space = 0;

    if (n <= (size_t)width)
        return n;
    for (int i = 0; i <= width; i++) {
        depth += (s[i] == '(' || s[i] == '[') - (s[i] == ')' || s[i] == ']');
        if (s[i] != ' ' || i <= 20)
            continue;
        space = i;
        if (i > width / 2 && strchr("+-*/%<=>&|?:", s[i - 1]) && depth <= least) {
            least = depth;
            at_operator = i;
        }
    }
    return at_operator ? (size_t)at_operator : space ? (size_t)space : n;
}

void print_wrapped(Text *t, int indent, const char *s)
{
    int column = indent;

    text_printf(t, "%*s", indent, "");
    while (*s) {
        size_t n = slice(s);
        if (column + (int)n > COLUMNS - 1 && column > indent) {
            text_printf(t, "\n%*s", indent + 4, "");
            column = indent + 4;
            s += *s == ' ';
            n = slice(s);
        }
        if (*s != '"' && !memchr(s, '"', n))
            n = fit(s, n, COLUMNS - column);
        text_put(t, s, n);
        column = s[n - 1] == '\n' ? 0 : column + (int)n;
        s += n;
    }
    text_printf(t, "\n");
}

void list_add(List *l, int width, const char *entry)
{
    int n = (int)strlen(entry) + (int)strlen(l->between), end = (int)strlen(l->end);

    text_printf(l->t, "%s", l->n++ ? l->between : "");
    if (l->column + 1 + n + width + end > COLUMNS) {
        text_printf(l->t, "%s\n%*s", l->end, l->indent - 1, "");
        l->column = l->indent - 1;
    }
    text_printf(l->t, " %s", entry);
    l->column += 1 + n + width;
}

// The columns by which x is shorter than a number with so many digits.
static int missing_digits(int64_t x, int digits)
{
    int n = snprintf(NULL, 0, "%" PRId64, x);

    return n < digits ? digits - n : 0;
}

int offset_room(int64_t at) { return missing_digits(at, 9); }

int bytes_room(int64_t bytes, int64_t step)
{
    enum { MAX_LAYERS = 100, MIN_DIGITS = 4 };
    int64_t most = step > INT64_MAX / MAX_LAYERS ? step : step * MAX_LAYERS;

    return missing_digits(bytes, step ? snprintf(NULL, 0, "%" PRId64, most) : MIN_DIGITS);
}

const char *loop_index(const Gen *g, int k)
{
    return !k ? "layer" : k == 1 ? "outer" : arena_string(g->arena, "outer%d", k);
}
