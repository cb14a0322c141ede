// Inserts expressions into others. Sums and products of floats depend on their order, so brackets
// are left out only where C builds the same tree without them.
#include <string.h>

#include "generator/group/expression.h"

// How tightly an expression's outermost operator binds.
typedef enum Level { CHOICE, BOTH, OR, AND, ORDER, SUM, PRODUCT, UNARY, PRIMARY } Level;

// Operands of at least the level `least` need no brackets, nor does a left operand of the same
// level where the operator groups to the left. Comparisons next to & and | could do without, but
// gcc warns of them.
typedef struct Operator {
    const char *name;
    Level level, least;
    bool groups_left;
} Operator;

static const Operator operators[] = {
    {"?", CHOICE, BOTH, false},  {":", CHOICE, CHOICE, false}, {"&&", BOTH, OR, true},
    {"|", OR, PRODUCT, true},    {"&", AND, PRODUCT, true},    {"==", ORDER, SUM, false},
    {"!=", ORDER, SUM, false},   {"<", ORDER, SUM, false},     {"<=", ORDER, SUM, false},
    {"+", SUM, PRODUCT, true},   {"-", SUM, PRODUCT, true},    {"*", PRODUCT, UNARY, true},
    {"/", PRODUCT, UNARY, true}, {"%", PRODUCT, UNARY, true},
};

static const Operator unary = {"", UNARY, UNARY, false};

// The binary operator of this name; NULL: it is none.
static const Operator *find_operator(const char *s, size_t n)
{
    for (int i = 0; i < COUNT(operators); i++)
        if (strlen(operators[i].name) == n && !memcmp(operators[i].name, s, n))
            return &operators[i];
    return NULL;
}

// After the bracket that closes the one at `s`.
static const char *after_bracket(const char *s)
{
    int depth = 0;

    do
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    while (*s++ && depth);
    return s;
}

static bool is_cast(const char *s) { return *s == '(' && !strchr(" [", *after_bracket(s)); }

static Level level_of(const char *s)
{
    Level level = strchr("-!", *s) || is_cast(s) ? UNARY : PRIMARY;

    while (*s)
        if (*s == '(' || *s == '[') {
            s = after_bracket(s);
        } else if (*s++ == ' ') {
            const Operator *o = find_operator(s, strcspn(s, " "));
            level = o && o->level < level ? o->level : level;
        }
    return level;
}

// The operator before the hole at `from`, of which the hole is the right operand. NULL: none.
static const Operator *operator_before(const char *pattern, const char *from)
{
    const char *end = from - 1, *begin = end;

    if (from == pattern)
        return NULL;
    if (*end != ' ')
        return strchr("-!)", *end) ? &unary : NULL;
    while (begin > pattern && begin[-1] != ' ')
        begin--;
    return find_operator(begin, (size_t)(end - begin));
}

static const Operator *operator_after(const char *to)
{
    return *to == ' ' ? find_operator(to + 1, strcspn(to + 1, " ")) : NULL;
}

// gcc warns of !a < b and !a & b, clang of a & b ? x : y.
static bool is_odd(const Operator *o, const char *operand)
{
    Level level = level_of(operand);

    if (o->level == CHOICE)
        return *o->name == '?' && (level == OR || level == AND);
    return *operand == '!' && o->level >= OR && o->level <= ORDER;
}

static bool needs_brackets(const Operator *before, const Operator *after, const char *operand)
{
    Level level = level_of(operand);

    if (before && (level < before->least || is_odd(before, operand)))
        return true;
    if (!after || (after->groups_left && level == after->level))
        return false;
    return level < after->least || is_odd(after, operand);
}

void print_operand_at(Text *t, const char *pattern, const char *from, const char *to,
                      const char *operand)
{
    bool is_minus = from > pattern && from[-1] == '-' && *operand == '-';
    bool brackets =
        is_minus || needs_brackets(operator_before(pattern, from), operator_after(to), operand);

    text_printf(t, brackets ? "(%s)" : "%s", operand);
}
