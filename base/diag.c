// Diagnostics: formats the errors, notes and warnings of one compilation and counts the errors.
#include "base/base.h"

// Escapes control characters. Names inside a message may come from an untrusted file and must not
// move the cursor.
static void put_safe(Text *out, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20 || c == 0x7f)
            text_printf(out, "\\x%02x", c);
        else
            text_put(out, s, 1);
    }
}

static void emit(Diag *d, const char *before, const char *fmt, va_list args)
{
    Text line = {0}, message = {0};
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        return;
    Arena *a = arena_new();
    char *s = arena_array(a, char, n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, args);
    put_safe(&message, s);
    arena_free(a);
    text_printf(&line, "%s%s\n", before, message.n ? message.s : "");
    if (d->to)
        text_put(d->to, line.s, line.n);
    else
        fwrite(line.s, 1, line.n, stderr);
    text_free(&line);
    text_free(&message);
}

static void emit_headed(Diag *d, const char *word, const char *fmt, va_list args)
{
    Text before = {0};

    if (d->file) {
        put_safe(&before, d->file);
        text_put(&before, ": ", 2);
    }
    text_printf(&before, "%s: ", word);
    emit(d, before.s, fmt, args);
    text_free(&before);
}

void diag_verror(Diag *d, const char *fmt, va_list args)
{
    if (!d)
        return;
    d->errors++;
    if (d->errors <= MAX_ERRORS)
        emit_headed(d, "error", fmt, args);
}

void diag_error(Diag *d, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    diag_verror(d, fmt, args);
    va_end(args);
}

void diag_note(Diag *d, const char *fmt, ...)
{
    va_list args;

    if (!d || d->errors > MAX_ERRORS)
        return;
    va_start(args, fmt);
    emit(d, "  ", fmt, args);
    va_end(args);
}

void diag_warn(Diag *d, const char *fmt, ...)
{
    va_list args;

    if (!d)
        return;
    va_start(args, fmt);
    emit_headed(d, "warning", fmt, args);
    va_end(args);
}
