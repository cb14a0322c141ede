// Parses texts of the form name(argument, …, key=value, …), for --loss and --optimizer.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/passes/train/training.h"
#include "ir/text/text.h"

static const char *skip_space(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

// The end of the argument at `s`: a comma outside double quotes, or `end`.
static const char *argument_end(const char *s, const char *end)
{
    bool is_quoted = false;

    for (; s < end && (is_quoted || *s != ','); s++) {
        if (is_quoted && *s == '\\' && s + 1 < end)
            s++;
        else
            is_quoted ^= *s == '"';
    }
    return s;
}

// Unquotes the text [s, end); NULL if it isn't in the form of text_quote.
static const char *unquoted(Arena *a, const char *s, const char *end)
{
    Lexer l = lexer_new(a, s, (size_t)(end - s), NULL);
    bool ok = l.kind == TOKEN_TEXT && l.s == end;
    const char *text = ok ? arena_copy(a, l.text, strlen(l.text)) : NULL;

    lexer_free(&l);
    return text;
}

// The text [s, end) without blanks around it and without quotes; NULL if the quotes are wrong.
static const char *trimmed(Arena *a, const char *s, const char *end)
{
    s = skip_space(s);
    while (end > s && isspace((unsigned char)end[-1]))
        end--;
    if (s < end && *s == '"')
        return unquoted(a, s, end);
    return arena_copy(a, s, end > s ? (size_t)(end - s) : 0);
}

static bool bad_quotes(const Call *c, const char *text, Diag *d)
{
    diag_error(d,
               "%s: '%s': between double quotes \\\" means a quote, \\\\ a backslash, "
               "\\xHH for any other byte",
               c->flag, text);
    return false;
}

// The equals sign of "key=value", NULL if the argument isn't of that form.
static const char *equals_sign(const char *s, const char *end)
{
    s = skip_space(s);
    if (!isalpha((unsigned char)*s))
        return NULL;
    while (s < end && (isalnum((unsigned char)*s) || *s == '_'))
        s++;
    s = skip_space(s);
    return s < end && *s == '=' ? s : NULL;
}

static bool too_many(const Call *c, const char *what, Diag *d)
{
    diag_error(d, "%s: too many %s", c->flag, what);
    return false;
}

// Adds the argument at [s, end) of `text` to the call.
static bool add_argument(Arena *a, const char *text, const char *s, const char *end, Call *c,
                         Diag *d)
{
    const char *equals = equals_sign(s, end);
    const char *value = trimmed(a, equals ? equals + 1 : s, end);

    if (!value)
        return bad_quotes(c, text, d);
    if (equals && c->n_options == MAX_OPTIONS)
        return too_many(c, "options", d);
    if (equals) {
        c->key[c->n_options] = trimmed(a, s, equals);
        c->text[c->n_options++] = value;
        return true;
    }
    if (!*value || c->n_options) {
        diag_error(d, *value ? "%s: '%s' after an option" : "%s: an empty argument in '%s'",
                   c->flag, *value ? value : text);
        return false;
    }
    if (c->n_args == MAX_ARGUMENTS)
        return too_many(c, "arguments", d);
    c->arg[c->n_args++] = value;
    return true;
}

bool call_parse(Arena *a, const char *flag, const char *text, Call *c, Diag *d)
{
    // A quoted text is a name alone, which may have parentheses.
    const char *open = *text == '"' ? NULL : strchr(text, '('), *end = text + strlen(text);

    *c = (Call){.flag = flag, .is_plain = !open};
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    c->name = trimmed(a, text, open ? open : end);
    if (!c->name)
        return bad_quotes(c, text, d);
    if (!open && *c->name)
        return true;
    if (!*c->name || end[-1] != ')') {
        diag_error(d, "%s: '%s' is not of the form name(…)", flag, text);
        return false;
    }
    end--;
    if (skip_space(open + 1) == end)
        return true;
    for (const char *s = open + 1, *stop;; s = stop + 1) {
        stop = argument_end(s, end);
        if (!add_argument(a, text, s, stop, c, d))
            return false;
        if (stop == end)
            return true;
    }
}

static const char *const kind_text[] = {
    [OPTION_INTEGER] = "an integer",
    [OPTION_FLAG] = "true or false",
    [OPTION_AMOUNT] = "a number of at least 0",
    [OPTION_SHARE] = "a number from 0 to 1",
    [OPTION_DECAY] = "a number from 0 to below 1",
};

static bool parse_flag(const char *s, double *x)
{
    bool yes = strcmp(s, "true") == 0 || strcmp(s, "True") == 0 || strcmp(s, "1") == 0;
    bool no = strcmp(s, "false") == 0 || strcmp(s, "False") == 0 || strcmp(s, "0") == 0;

    *x = yes;
    return yes || no;
}

static bool parse_value(OptionKind kind, const char *s, double *x)
{
    const double most_integer = 9007199254740992.0;  // 2^53
    char *end;

    if (kind == OPTION_FLAG)
        return parse_flag(s, x);
    *x = strtod(s, &end);
    if (end == s || *end || !isfinite(*x))
        return false;
    if (kind == OPTION_INTEGER)
        return *x == floor(*x) && fabs(*x) <= most_integer;
    return *x >= 0 && (kind != OPTION_SHARE || *x <= 1) && (kind != OPTION_DECAY || *x < 1);
}

static bool unknown_option(const Call *c, const OptionDef *def, const char *key, Diag *d)
{
    const char *name[MAX_OPTIONS];
    int n = 0;
    Text all = {0};

    for (; n < MAX_OPTIONS && def[n].name; n++) {
        name[n] = def[n].name;
        text_printf(&all, "%s%s", n ? ", " : "", def[n].name);
    }
    const char *suggestion = nearest_name(key, name, n);
    if (suggestion)
        diag_error(d, "%s: %s has no option '%s' (did you mean '%s'?)", c->flag, c->name, key,
                   suggestion);
    else
        diag_error(d, "%s: %s has no option '%s'", c->flag, c->name, key);
    if (n)
        diag_note(d, "options  %s", all.s);
    text_free(&all);
    return false;
}

bool call_options(const Call *c, const OptionDef *def, double *value, Diag *d)
{
    bool is_given[MAX_OPTIONS] = {false}, ok = true;

    for (int i = 0; i < MAX_OPTIONS && def[i].name; i++)
        value[i] = def[i].missing;
    for (int i = 0; i < c->n_options; i++) {
        int k = 0;

        while (k < MAX_OPTIONS && def[k].name && strcmp(def[k].name, c->key[i]) != 0)
            k++;
        if (k == MAX_OPTIONS || !def[k].name) {
            ok = unknown_option(c, def, c->key[i], d);
            continue;
        }
        if (is_given[k]) {
            diag_error(d, "%s: %s is given twice", c->flag, c->key[i]);
            ok = false;
        } else if (!parse_value(def[k].kind, c->text[i], &value[k])) {
            diag_error(d, "%s: %s=%s: must be %s", c->flag, c->key[i], c->text[i],
                       kind_text[def[k].kind]);
            ok = false;
        }
        is_given[k] = true;
    }
    return ok;
}

bool call_unknown(const Call *c, const char *what, const char *const *names, int n, Diag *d)
{
    const char *suggestion = nearest_name(c->name, names, n);
    Text all = {0};

    for (int i = 0; i < n; i++)
        text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    if (suggestion)
        diag_error(d, "%s: unknown %s '%s' (did you mean '%s'?)", c->flag, what, c->name,
                   suggestion);
    else
        diag_error(d, "%s: unknown %s '%s'", c->flag, what, c->name);
    diag_note(d, "known  %s", all.s);
    text_free(&all);
    return false;
}
