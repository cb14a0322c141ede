// Reads JSON of a known form: a table of members for each object, a function for the items of each
// list. It builds no tree, so a file costs only the memory of what is kept.
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "solver/assign/internal.h"

// Text is read in chunks of this size, so that its hash is the same gzipped or not.
enum { CHUNK_BYTES = 1 << 18 };

bool scan_wrong(Scan *s, const char *fmt, ...)
{
    char said[512];
    va_list args;

    if (s->is_wrong)
        return false;
    s->is_wrong = true;
    va_start(args, fmt);
    vsnprintf(said, sizeof said, fmt, args);
    va_end(args);
    diag_error(s->d, "byte %" PRId64 ": %s", s->before + (s->at - s->chunk), said);
    return false;
}

void scan_begin(Scan *s, File raw, Diag *d)
{
    bool is_zipped = raw.size >= 2 && raw.data[0] == 0x1f && raw.data[1] == 0x8b;

    *s = (Scan){.raw = raw, .d = d};
    if (!is_zipped)
        return;
    s->zip = calloc(1, sizeof *s->zip);
    s->buffer = malloc(CHUNK_BYTES);
    if (!s->zip || !s->buffer || inflateInit2(s->zip, 16 + MAX_WBITS) != Z_OK)
        lack_of_memory();
}

void scan_end(Scan *s)
{
    if (s->zip)
        inflateEnd(s->zip);
    free(s->zip);
    free(s->buffer);
    s->zip = NULL;
    s->buffer = NULL;
}

// Unpacks a chunk and returns its size. A file may be several gzip members in a row.
static size_t inflate_chunk(Scan *s)
{
    z_stream *z = s->zip;
    int result = Z_OK;

    z->next_out = s->buffer;
    z->avail_out = CHUNK_BYTES;
    while (z->avail_out && !s->is_wrong) {
        size_t left = s->raw.size - s->taken;
        if (result == Z_STREAM_END && (!left || inflateReset(z) != Z_OK))
            break;
        z->next_in = (uint8_t *)(uintptr_t)s->raw.data + s->taken;
        z->avail_in = left > CHUNK_BYTES ? CHUNK_BYTES : (uInt)left;
        uInt given = z->avail_in;
        result = inflate(z, Z_NO_FLUSH);
        s->taken += given - z->avail_in;
        if (result == Z_BUF_ERROR)
            scan_wrong(s, "the gzip data end too early");
        else if (result != Z_OK && result != Z_STREAM_END)
            scan_wrong(s, "the gzip data are broken: %s", z->msg ? z->msg : zError(result));
    }
    return CHUNK_BYTES - z->avail_out;
}

// Goes on to the next chunk of text. False at the end, or after an error.
static bool next_chunk(Scan *s)
{
    size_t left = s->raw.size - s->taken, n = left > CHUNK_BYTES ? CHUNK_BYTES : left;
    const uint8_t *chunk = s->zip ? s->buffer : s->raw.data + s->taken;

    if (s->stops && signal_is_pending())
        scan_wrong(s, "stopped before the end of the file");
    if (s->is_wrong)
        return false;
    s->before += s->end - s->chunk;
    s->chunk = s->at = s->end = chunk;
    if (s->zip)
        n = inflate_chunk(s);
    else
        s->taken += n;
    s->end = chunk + n;
    if (n)
        s->hash = hash_bytes(chunk, n, s->hash);
    return n && !s->is_wrong;
}

// The next byte, without reading past it; -1 at the end.
static inline int peek(Scan *s) { return s->at < s->end || next_chunk(s) ? *s->at : -1; }

// Skips blanks, and returns the next byte without reading past it.
static inline int peek_token(Scan *s)
{
    int c = peek(s);

    while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        s->at++;
        c = peek(s);
    }
    return c;
}

static bool expected(Scan *s, const char *what)
{
    int c = peek(s);

    if (c < 0)
        return scan_wrong(s, "expected %s, found the end of the file", what);
    if (c < ' ' || c > '~')
        return scan_wrong(s, "expected %s, found '\\x%02x'", what, (unsigned)c);
    return scan_wrong(s, "expected %s, found '%c'", what, c);
}

static bool expect_char(Scan *s, int c, const char *what)
{
    if (peek_token(s) != c)
        return expected(s, what);
    s->at++;
    return true;
}

bool scan_nothing(Scan *s)
{
    return peek_token(s) < 0 ? !s->is_wrong : expected(s, "the end of the file");
}

static inline bool is_digit(int c) { return c >= '0' && c <= '9'; }

bool scan_whole(Scan *s, int64_t *x)
{
    bool is_negative = peek_token(s) == '-';
    int64_t v = 0;
    int digits = 0;

    if (is_negative)
        s->at++;
    int c = peek(s), first = c;
    if (!is_digit(c))
        return expected(s, "a whole number");
    for (; is_digit(c); c = peek(s), digits++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, c - '0', &v))
            return scan_wrong(s, "the number doesn't fit 64 bits");
        s->at++;
    }
    *x = is_negative ? -v : v;
    if (first == '0' && digits > 1)
        return scan_wrong(s, "the number begins with 0");
    return (c != '.' && c != 'e' && c != 'E') || expected(s, "a whole number");
}

bool scan_number(Scan *s, char *text, size_t size)
{
    size_t n = 0;

    for (int c = peek_token(s); is_digit(c) || (c > 0 && strchr("+-.eE", c));
         s->at++, c = peek(s)) {
        if (n + 1 >= size)
            return scan_wrong(s, "the number has more than %zu characters", size - 1);
        text[n++] = (char)c;
    }
    text[n] = 0;
    return n || expected(s, "a number");
}

bool scan_wide(Scan *s, Wide *x)
{
    char text[64];
    const Wide most = ((Wide)1 << 126) - 1;
    Wide v = 0;

    if (!scan_number(s, text, sizeof text))
        return false;
    const char *c = text + (*text == '-');
    if (!*c || (*c == '0' && c[1]))
        return scan_wrong(s, "expected a whole number before here");
    for (; *c; c++) {
        if (!is_digit(*c))
            return scan_wrong(s, "expected a whole number before here");
        if (v > (most - (*c - '0')) / 10)
            return scan_wrong(s, "the number doesn't fit 126 bits");
        v = 10 * v + (*c - '0');
    }
    *x = *text == '-' ? -v : v;
    return true;
}

bool scan_string(Scan *s, char *text, size_t size)
{
    bool is_escaped = false;
    size_t n = 0;

    if (!expect_char(s, '"', "a string"))
        return false;
    for (int c = peek(s); c != '"' || is_escaped; c = peek(s)) {
        if (c < ' ')
            return expected(s, "the end of a string");
        if (n + 1 >= size)
            return scan_wrong(s, "the string has more than %zu bytes", size - 1);
        is_escaped = c == '\\' && !is_escaped;
        text[n++] = (char)c;
        s->at++;
    }
    s->at++;
    text[n] = 0;
    return true;
}

bool scan_list(Scan *s, void *to, bool (*item)(Scan *s, void *to))
{
    if (!expect_char(s, '[', "'['"))
        return false;
    if (peek_token(s) == ']')
        return expect_char(s, ']', "']'");
    while (item(s, to)) {
        if (peek_token(s) == ']')
            return expect_char(s, ']', "']'");
        if (!expect_char(s, ',', "',' or ']'"))
            return false;
    }
    return false;
}

static bool read_number(Scan *s, void *to)
{
    Lists *l = to;
    int64_t x;

    if (!scan_whole(s, &x))
        return false;
    if (l->n_x >= l->most_numbers)
        return scan_wrong(s, "the %s: more than %d numbers", l->what, l->most_numbers);
    *arena_push(l->arena, l->x, l->n_x, l->cap_x) = x;
    return true;
}

bool scan_numbers(Scan *s, Lists *l)
{
    if (l->n >= l->most)
        return scan_wrong(s, "the %s: more than %d lists", l->what, l->most);
    *arena_push(l->arena, l->first, l->n, l->cap) = l->n_x;
    return scan_list(s, l, read_number);
}

static bool read_member(Scan *s, void *to, const Member *members, int n, uint64_t *seen)
{
    char name[64];

    if (!scan_string(s, name, sizeof name) || !expect_char(s, ':', "':'"))
        return false;
    for (int i = 0; i < n; i++) {
        if (strcmp(name, members[i].name))
            continue;
        if (*seen >> i & 1)
            return scan_wrong(s, "'%s' occurs twice", name);
        *seen |= UINT64_C(1) << i;
        return members[i].read(s, (char *)to + members[i].offset);
    }
    return scan_wrong(s, "'%s' is not known here", name);
}

bool scan_object(Scan *s, void *to, const Member *members, int n, uint64_t *seen)
{
    uint64_t mine = 0;

    if (!seen)
        seen = &mine;
    *seen = 0;
    if (!expect_char(s, '{', "'{'"))
        return false;
    if (peek_token(s) != '}')
        do {
            if (!read_member(s, to, members, n, seen))
                return false;
        } while (peek_token(s) == ',' && expect_char(s, ',', "','"));
    if (!expect_char(s, '}', "',' or '}'"))
        return false;
    for (int i = 0; i < n; i++)
        if (!(*seen >> i & 1) && !members[i].is_optional)
            return scan_wrong(s, "'%s' is missing before here", members[i].name);
    return true;
}
