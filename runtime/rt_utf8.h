// UTF-8 of names, for the compiler and the trainers. Includes nothing of ours.
#ifndef SHARDCC_RT_UTF8_H
#define SHARDCC_RT_UTF8_H

#include <stdbool.h>

// Bytes of the character at the start of the 0-terminated `text`; 0 if it isn't valid.
static inline int rt_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;

    for (int i = 1; i < n; i++)
        if (s[i] >> 6 != 2)
            return 0;
    bool is_long = (n == 2 && s[0] < 0xc2) || (n == 3 && s[0] == 0xe0 && s[1] < 0xa0) ||
                   (n == 4 && s[0] == 0xf0 && s[1] < 0x90);
    bool is_surrogate = n == 3 && s[0] == 0xed && s[1] >= 0xa0;
    bool is_beyond = n == 4 && (s[0] > 0xf4 || (s[0] == 0xf4 && s[1] >= 0x90));
    return is_long || is_surrogate || is_beyond ? 0 : n;
}

#endif
