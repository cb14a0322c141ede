// Splits a graph's text into tokens.
#include "ir/text/text.h"

#include <ctype.h>
#include <string.h>

#include "runtime/rt_utf8.h"

static bool is_in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_in_name(char c) { return is_in_word(c) || c == '.'; }

static bool is_in_number(char c) { return is_in_name(c) || c == '+' || c == '-'; }

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
    } else if (isdigit((unsigned char)c) || c == '-' || c == '.') {
        take_while(l, TOKEN_NUMBER, is_in_number);
    } else if (is_in_word(c)) {
        take_while(l, TOKEN_WORD, is_in_word);
    } else if (c && strchr("()[]{},=", c)) {
        l->s++;
        l->buffer.n = 0;
        text_put(&l->buffer, &c, 1);
        l->kind = TOKEN_SIGN;
        l->text = l->buffer.s;
    } else {
        l->s++;
        bad(l, "a character that has no place here");
    }
}

Lexer lexer_new(const char *text, size_t n)
{
    Lexer l = {.s = text, .end = text + n, .line = 1};

    lexer_next(&l);
    return l;
}

void lexer_free(Lexer *l) { text_free(&l->buffer); }
