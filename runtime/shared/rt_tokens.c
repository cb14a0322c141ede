// Finds the tokens of a file.
#include "runtime/rt_tokens.h"

#include <string.h>

static const struct {
    uint32_t magic, version;
    int bytes;  // of a token
} formats[] = {{20240520, 1, 2}, {20240801, 7, 4}};

enum { FORMATS = sizeof formats / sizeof *formats, WORD = 4, NO_FORMAT = -1 };

static uint32_t word(const uint8_t *data, int i)
{
    const uint8_t *p = data + i * WORD;

    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int find_format(const uint8_t *data, size_t size)
{
    for (int i = 0; i < FORMATS && size >= WORD; i++)
        if (word(data, 0) == formats[i].magic)
            return i;
    return NO_FORMAT;
}

static bool parse_header(RtTokens *t, const uint8_t *data, size_t size, int format, int said,
                         RtFileError *e)
{
    uint32_t version = formats[format].version;
    int bytes = formats[format].bytes;

    if (size < RT_TOKENS_HEADER)
        return rt_file_fail(e, "its header is cut short: %zu of %d bytes", size, RT_TOKENS_HEADER);
    if (word(data, 1) != version)
        return rt_file_fail(e, "its header is of version %u; version %u of %u can be read",
                            word(data, 1), version, formats[format].magic);
    if (said && said != bytes)
        return rt_file_fail(e, "its header says tokens of %d bytes, --token-bytes says %d", bytes,
                            said);
    uint32_t n = word(data, 2);
    uint64_t whole = RT_TOKENS_HEADER + (uint64_t)n * (uint64_t)bytes;
    if (size != whole)
        return rt_file_fail(e, "its header says %u tokens, a file of %llu bytes; it has %zu", n,
                            (unsigned long long)whole, size);
    *t = (RtTokens){data + RT_TOKENS_HEADER, n, bytes};
    return true;
}

bool rt_tokens_parse(RtTokens *t, const uint8_t *data, size_t size, int said, int usual,
                     RtFileError *e)
{
    int format = find_format(data, size), bytes = said ? said : usual;

    if (format != NO_FORMAT)
        return parse_header(t, data, size, format, said, e);
    if (size % (size_t)bytes != 0)
        return rt_file_fail(
            e, "%zu bytes are not a whole number of tokens of %d bytes (--token-bytes)", size,
            bytes);
    *t = (RtTokens){data, (int64_t)(size / (size_t)bytes), bytes};
    return true;
}
