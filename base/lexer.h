// Tokens of a text form, and readers of its small parts: words, signs, names, numbers and lists.
// The text is not trusted.
#ifndef SHARDCC_LEXER_H
#define SHARDCC_LEXER_H

#include "base/base.h"

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_LINE,    // the end of a line
    TOKEN_WORD,    // gather
    TOKEN_NAME,    // %x or %"x y": without the %
    TOKEN_TEXT,    // "x y"
    TOKEN_NUMBER,  // a word that begins like a number: 12, -0.5e3, -inf, 1.0.7
    TOKEN_SIGN,    // one of ( ) [ ] { } , = + * / @ : or ->
    TOKEN_BAD,     // `text` says what is wrong
} TokenKind;

// One token of lookahead. `text` lives until the next one is read.
typedef struct Lexer {
    const char *s, *end;
    const char *begin;  // of the token; `s` is its end
    int line;
    TokenKind kind;
    const char *text;
    Text buffer;
    Arena *arena;  // of texts that are kept
    Diag *d;
} Lexer;

Lexer lexer_new(Arena *a, const char *text, size_t n, Diag *d);  // at the first token
void lexer_next(Lexer *l);
void lexer_free(Lexer *l);

bool lexer_is_sign(const Lexer *l, const char *sign);
bool lexer_is_word(const Lexer *l, const char *word);

// Goes on after the sign or the word if it comes next.
bool lexer_skip_sign(Lexer *l, const char *sign);
bool lexer_skip_word(Lexer *l, const char *word);
void lexer_skip_lines(Lexer *l);  // ends of lines

// The functions below return false after reporting an error at the current line.
bool lexer_error(const Lexer *l, const char *fmt, ...) PRINTF(2, 3);
bool lexer_unexpected(const Lexer *l, const char *wanted);
bool lexer_sign(Lexer *l, const char *sign);
bool lexer_word(Lexer *l, const char *word);
bool lexer_line(Lexer *l);  // the end of a line
// Skips these characters if they come next, unless they are only the start of a longer word or
// number.
bool lexer_expect(Lexer *l, const char *characters);
bool lexer_text(Lexer *l, const char **text);  // quoted; copied into the arena
bool lexer_int(Lexer *l, int64_t *x);
bool lexer_float(Lexer *l, double *x);
bool lexer_ints(Lexer *l, int most, int *n, int64_t *v);  // "[1,2]", at most `most`

#endif
