// Files of tokens: numbers of 1, 2 or 4 bytes, little-endian, with a header or without.
//
// The header is that of llm.c (https://github.com/karpathy/llm.c, dev/data/data_common.py): 256
// int32. The first one says how the tokens are stored, the second one is the version, the third one
// counts the tokens, and the others are 0. A file with another beginning has no header.
//
//     20240520  version 1  2 bytes a token (GPT-2)
//     20240801  version 7  4 bytes a token (Llama 3)
//
// The file is untrusted.
#ifndef SHARDCC_RT_TOKENS_H
#define SHARDCC_RT_TOKENS_H

#include "rt_file.h"

enum { RT_TOKENS_HEADER = 1024 };  // bytes

typedef struct RtTokens {
    const uint8_t *first;  // points into the file; unaligned
    int64_t n;
    int bytes;  // of a token
} RtTokens;

// Finds the tokens of a file in memory. `said`: the bytes of a token as the user has them, with
// which a header must agree; 0: then a file without a header has `usual` bytes.
bool rt_tokens_parse(RtTokens *t, const uint8_t *data, size_t size, int said, int usual,
                     RtFileError *e);

#endif
