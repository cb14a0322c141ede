// Prints names, literals and comments. Names of the model reach the text only through here.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "generator/internal.h"

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_.-/:,[]{}()@ ", c);
}

// Replaces the number of the layer in a scope, "h.1.attn", by {}.
static char *layered(const Gen *g, const Node *n, const char *s)
{
    const char *prefix = n->block.cls ? g->s->g->classes[n->block.cls].name : NULL;
    size_t at = prefix ? strlen(prefix) : 0;
    size_t digits =
        at && !strncmp(s, prefix, at) && s[at] == '.' ? strspn(s + at + 1, "0123456789") : 0;

    if (!digits || (s[at + 1 + digits] && s[at + 1 + digits] != '.'))
        return arena_copy(g->arena, s, strlen(s));
    return arena_string(g->arena, "%s.{}%s", prefix, s + at + 1 + digits);
}

// The end of a dotted path that has room, from the beginning of a part on if it can be.
static const char *fitting_end(const char *path, size_t room)
{
    const char *end = path;

    while (strlen(end) > room && strchr(end, '.'))
        end = strchr(end, '.') + 1;
    return strlen(end) > room ? end + strlen(end) - room : end;
}

char *node_label(const Gen *g, const Node *n, int room)
{
    const Source *from = n->source;
    bool has_scope = from && from->scope && *from->scope, is_both = has_scope && n->phase == UPDATE;
    const char *s = has_scope ? from->scope : from ? from->name : "";
    const char *before = is_both ? arena_string(g->arena, "%s ", from->name) : "";
    int left = room - (int)strlen(before);
    const char *path = fitting_end(layered(g, n, s ? s : ""), left > 0 ? (size_t)left : 0);
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

    if (!dtype_is_float(type))
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

// The length of `s` up to and including its first comma outside of string literals, or its first
// newline.
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
    }
    return n;
}

// Where to break `s` to fit into `room`: after an operator in the fewest brackets that stands in
// the second half; else at the last space, if it has one.
static size_t fit(const char *s, size_t n, int room)
{
    int depth = 0, least = INT_MAX, at_operator = 0, space = 0;

    if (n <= (size_t)room)
        return n;
    for (int i = 0; i <= room; i++) {
        depth += (s[i] == '(' || s[i] == '[') - (s[i] == ')' || s[i] == ']');
        if (s[i] != ' ' || i <= 20)
            continue;
        space = i;
        if (i > room / 2 && strchr("+-*/%<=>&|?:", s[i - 1]) && depth <= least) {
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

static char kind_letter(const Program *p, const Buffer *b)
{
    if (b->kind == BUFFER_WORKSPACE)
        return 'T';
    switch (buffer_value(p, b)->kind) {
    case VALUE_PARAMETER:
        return 'W';
    case VALUE_BUFFER:
        return 'B';
    case VALUE_STATE:
        return 'S';
    case VALUE_INPUT:
        return 'I';
    case VALUE_HYPER:
        return 'H';
    case VALUE_CONSTANT:
        return 'C';
    case VALUE_ZERO:
        return 'Z';
    default:
        return 'A';
    }
}

const char *place_name(Gen *g, int32_t buffer, int64_t offset)
{
    const Buffer *b = &g->p->buffers[buffer];
    char *key = arena_string(g->arena, "%d.%" PRId64, buffer, offset);
    int known = map_get(&g->names, key);

    if (known)
        return g->name[known - 1];
    char *name = arena_string(g->arena, "%c%d", kind_letter(g->p, b), g->n_names + 1);
    *arena_push(g->arena, g->name, g->n_names, g->cap_names) = name;
    map_set(&g->names, key, g->n_names);
    text_printf(g->places[b->kind == BUFFER_PERSISTENT ? PLACES_PERSISTENT : b->set],
                ", %s = %" PRId64, name, b->offset + offset);
    return name;
}

const char *rank_text(Gen *g, const Item *it)
{
    return it->workspace_buffer ? arena_string(g->arena, "rt_with(rt, m + %s)",
                                               place_name(g, it->workspace_buffer, 0))
                                : "rt";
}

const char *loop_index(const Gen *g, int k)
{
    return !k ? "layer" : k == 1 ? "outer" : arena_string(g->arena, "outer%d", k);
}

static char *add_movement(Gen *g, char *s, const Movement *m, const char *index)
{
    if (m->ring && m->shift)
        return arena_string(g->arena, "%s + (%s + %d) %% %d * %" PRId64, s, index, m->shift,
                            m->ring, m->step);
    if (m->ring)
        return arena_string(g->arena, "%s + %s %% %d * %" PRId64, s, index, m->ring, m->step);
    if (m->step)
        return arena_string(g->arena, "%s %c %s * %" PRId64, s, m->step < 0 ? '-' : '+', index,
                            m->step < 0 ? -m->step : m->step);
    return s;
}

char *place_text(Gen *g, const Operand *o)
{
    const Address a = o->address;
    int64_t distance = a.at - a.first;
    char *s = arena_string(g->arena, "m + %s",
                           place_name(g, a.buffer, a.first - g->p->buffers[a.buffer].offset));

    if (o->rank_slice.slice)
        s = arena_string(g->arena, "%s%s", s, own_text(g, o));
    if (distance)
        s = arena_string(g->arena, "%s %c %" PRId64, s, distance < 0 ? '-' : '+',
                         distance < 0 ? -distance : distance);
    for (int k = MAX_LOOPS - 1; k >= 0; k--)
        s = add_movement(g, s, &a.move[k], loop_index(g, k));
    return s;
}
