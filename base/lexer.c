// Splits a text into tokens, and reads its small parts.
#include "base/lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_utf8.h"

enum { MAX_SHOWN = 40 };  // characters of a text that a message shows beyond the mistake

static bool is_in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_in_name(char c) { return is_in_word(c) || c == '.'; }

static void bad(Lexer *l, const char *what)
{
    l->kind = TOKEN_BAD;
    l->text = what;
}

static void skip_blanks(Lexer *l)
{
    while (l->s < l->end && (*l->s == ' ' || *l->s == '\t' || *l->s == '\r'))
        l->s++;
    if (l->end - l->s >= 2 && l->s[0] == '/' && l->s[1] == '/') {
        while (l->s < l->end && *l->s != '\n')
            l->s++;
    }
}

static void take_while(Lexer *l, TokenKind kind, bool (*belongs)(char))
{
    const char *start = l->s;

    while (l->s < l->end && belongs(*l->s))
        l->s++;
    l->buffer.n = 0;
    text_put(&l->buffer, start, (size_t)(l->s - start));
    l->kind = kind;
    l->text = l->buffer.s;
}

// Reads a number's characters. A sign comes first or after an exponent's letter.
static void take_number(Lexer *l)
{
    const char *start = l->s++;

    while (l->s < l->end && (is_in_name(*l->s) || ((*l->s == '+' || *l->s == '-') &&
                                                   (l->s[-1] == 'e' || l->s[-1] == 'E'))))
        l->s++;
    l->buffer.n = 0;
    text_put(&l->buffer, start, (size_t)(l->s - start));
    l->kind = TOKEN_NUMBER;
    l->text = l->buffer.s;
}

static void take_sign(Lexer *l, size_t n)
{
    l->buffer.n = 0;
    text_put(&l->buffer, l->s, n);
    l->s += n;
    l->kind = TOKEN_SIGN;
    l->text = l->buffer.s;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

// Reads an escape after its backslash. Returns its byte; 0 if it is no escape.
static char take_escape(Lexer *l)
{
    if (l->s < l->end && (*l->s == '"' || *l->s == '\\'))
        return *l->s++;
    if (l->end - l->s < 3 || *l->s != 'x')
        return 0;
    int high = hex_digit(l->s[1]), low = hex_digit(l->s[2]);
    l->s += 3;
    return high < 0 || low < 0 ? 0 : (char)(16 * high + low);
}

static void take_quoted(Lexer *l, TokenKind kind)
{
    l->buffer.n = 0;
    text_put(&l->buffer, "", 0);
    for (l->s++; l->s < l->end && *l->s != '"' && *l->s != '\n';) {
        char c = *l->s++;
        if (c == '\\')
            c = take_escape(l);
        if (!c) {
            bad(l, "bad character in a quoted text");
            return;
        }
        text_put(&l->buffer, &c, 1);
    }
    if (l->s == l->end || *l->s != '"') {
        bad(l, "a quoted text does not end");
        return;
    }
    l->s++;
    l->kind = kind;
    l->text = l->buffer.s;
}

static bool is_utf8(const char *s)
{
    while (*s && rt_utf8_length(s) > 0)
        s += rt_utf8_length(s);
    return !*s;
}

// Reads a quoted name, which must be UTF-8: weights files hold no other names.
static void take_quoted_name(Lexer *l)
{
    take_quoted(l, TOKEN_NAME);
    if (l->kind == TOKEN_NAME && !is_utf8(l->text))
        bad(l, "a name that isn't UTF-8");
}

static void take_name(Lexer *l)
{
    l->s++;
    if (l->s < l->end && *l->s == '"')
        take_quoted_name(l);
    else if (l->s < l->end && is_in_name(*l->s))
        take_while(l, TOKEN_NAME, is_in_name);
    else
        bad(l, "'%' without a name");
}

void lexer_next(Lexer *l)
{
    l->line += l->kind == TOKEN_LINE;
    skip_blanks(l);
    l->begin = l->s;
    if (l->s == l->end) {
        l->kind = TOKEN_END;
        l->text = "the end";
        return;
    }
    char c = *l->s;
    if (c == '\n') {
        l->s++;
        l->kind = TOKEN_LINE;
        l->text = "the line's end";
    } else if (c == '%') {
        take_name(l);
    } else if (c == '"') {
        take_quoted(l, TOKEN_TEXT);
    } else if (l->end - l->s >= 2 && c == '-' && l->s[1] == '>') {
        take_sign(l, 2);
    } else if (isdigit((unsigned char)c) || c == '-' || c == '.') {
        take_number(l);
    } else if (is_in_word(c)) {
        take_while(l, TOKEN_WORD, is_in_word);
    } else if (c && strchr("()[]{},=+*/@:", c)) {
        take_sign(l, 1);
    } else {
        l->s++;
        bad(l, "a character that means nothing here");
    }
}

Lexer lexer_new(Arena *a, const char *text, size_t n, Diag *d)
{
    Lexer l = {.s = text, .end = text + n, .line = 1, .arena = a, .d = d};

    lexer_next(&l);
    return l;
}

void lexer_free(Lexer *l) { text_free(&l->buffer); }

// ---- small parts ----

bool lexer_error(const Lexer *l, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    diag_error(l->d, "line %d: %s", l->line, arena_vstring(l->arena, fmt, args));
    va_end(args);
    return false;
}

bool lexer_unexpected(const Lexer *l, const char *wanted)
{
    if (l->kind == TOKEN_BAD)
        return lexer_error(l, "%s", l->text);
    bool in_quotes = l->kind != TOKEN_END && l->kind != TOKEN_LINE;
    const char *quote = in_quotes ? "'" : "";
    return lexer_error(l, "%s expected, not %s%s%s", wanted, quote, l->text, quote);
}

bool lexer_is_sign(const Lexer *l, const char *sign)
{
    return l->kind == TOKEN_SIGN && !strcmp(l->text, sign);
}

bool lexer_is_word(const Lexer *l, const char *word)
{
    return l->kind == TOKEN_WORD && !strcmp(l->text, word);
}

bool lexer_skip_sign(Lexer *l, const char *sign)
{
    if (!lexer_is_sign(l, sign))
        return false;
    lexer_next(l);
    return true;
}

bool lexer_skip_word(Lexer *l, const char *word)
{
    if (!lexer_is_word(l, word))
        return false;
    lexer_next(l);
    return true;
}

void lexer_skip_lines(Lexer *l)
{
    while (l->kind == TOKEN_LINE)
        lexer_next(l);
}

static bool unexpected(const Lexer *l, const char *wanted)
{
    return lexer_unexpected(l, arena_string(l->arena, "'%s'", wanted));
}

bool lexer_sign(Lexer *l, const char *sign)
{
    return lexer_skip_sign(l, sign) || unexpected(l, sign);
}

bool lexer_word(Lexer *l, const char *word)
{
    return lexer_skip_word(l, word) || unexpected(l, word);
}

bool lexer_line(Lexer *l)
{
    if (l->kind != TOKEN_LINE)
        return lexer_unexpected(l, "the line's end");
    lexer_next(l);
    return true;
}

bool lexer_expect(Lexer *l, const char *characters)
{
    const char *c = characters, *s = l->begin, *end = l->begin;

    while (*c && s < l->end && *s == *c) {
        c++;
        s++;
    }
    if (!*c && (s == l->end || !is_in_name(*s) || !is_in_name(c[-1]))) {
        l->s = s;
        lexer_next(l);
        return true;
    }
    while (end < l->end && end < s + MAX_SHOWN && *end != '\n' && (end < s || *end != ' '))
        end++;
    return lexer_error(l, "'%s' expected, not '%.*s'", characters, (int)(end - l->begin), l->begin);
}

bool lexer_text(Lexer *l, const char **text)
{
    if (l->kind != TOKEN_TEXT)
        return lexer_unexpected(l, "a quoted text");
    *text = arena_copy(l->arena, l->text, l->buffer.n);
    lexer_next(l);
    return true;
}

// Reads an integer. Integers above INT64_MAX, which u64 has, wrap.
bool lexer_int(Lexer *l, int64_t *x)
{
    const char *s = l->text;
    char *end;

    if (l->kind != TOKEN_NUMBER)
        return lexer_unexpected(l, "an integer");
    errno = 0;
    *x = s[0] == '-' ? strtoll(s, &end, 10) : (int64_t)strtoull(s, &end, 10);
    if (*end || end == s)
        return lexer_unexpected(l, "an integer");
    if (errno)
        return lexer_error(l, "%s is out of range", s);
    lexer_next(l);
    return true;
}

bool lexer_float(Lexer *l, double *x)
{
    const char *s = l->text;
    char *end;

    if (l->kind != TOKEN_NUMBER && !lexer_is_word(l, "inf") && !lexer_is_word(l, "nan"))
        return lexer_unexpected(l, "a number");
    *x = strtod(s, &end);
    if (*end || end == s)
        return lexer_unexpected(l, "a number");
    lexer_next(l);
    return true;
}

bool lexer_ints(Lexer *l, int most, int *n, int64_t *v)
{
    *n = 0;
    if (!lexer_sign(l, "["))
        return false;
    while (!lexer_is_sign(l, "]")) {
        if (*n == most)
            return lexer_error(l, "a list of more than %d numbers", most);
        if ((*n && !lexer_sign(l, ",")) || !lexer_int(l, &v[*n]))
            return false;
        ++*n;
    }
    return lexer_sign(l, "]");
}
