// The text form of a graph: its tokens and its parser. ir/text/print.c prints it, ir/text/parse.c
// reads it.
#ifndef SHARDCC_IR_TEXT_H
#define SHARDCC_IR_TEXT_H

#include "ir/internal.h"

bool value_kind_has_fill(ValueKind k);  // is it printed with "= 0"?

enum { N_OUTPUT_ROLES = OUTPUT_BAD_LABEL + 1 };
extern const char *const output_role_names[N_OUTPUT_ROLES];

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_LINE,    // the end of a line
    TOKEN_WORD,    // gather
    TOKEN_NAME,    // %x or %"x y": without the %
    TOKEN_TEXT,    // "x y"
    TOKEN_NUMBER,  // a word that begins like a number: 12, -0.5e3, -inf, 1.0.7
    TOKEN_SIGN,    // one of ( ) [ ] { } , =
    TOKEN_BAD,     // `text` says what is wrong
} TokenKind;

// One token of lookahead. `text` lives until the next one is read.
typedef struct Lexer {
    const char *s, *end;
    int line;
    TokenKind kind;
    const char *text;
    Text buffer;
} Lexer;

Lexer lexer_new(const char *text, size_t n);  // at the first token
void lexer_next(Lexer *l);
void lexer_free(Lexer *l);

// ---- reading ----
// The functions below return false after reporting an error at the current line.

typedef struct Parser {
    Lexer lex;
    Graph *g;
    Diag *d;
    Map names;        // name → ValueId; UNUSABLE: its line had an error
    Map ops;          // name → place in op_table + 1
    ValueId *inputs;  // of the node being read
    int n_inputs, cap_inputs;
} Parser;

enum { UNUSABLE = -1 };

// The part of a definition before its "=".
typedef struct Definition {
    const char *name;
    Value type;  // dtype, dims, own dims
} Definition;

bool parse_error(Parser *p, const char *fmt, ...) PRINTF(2, 3);
bool parse_unexpected(Parser *p, const char *wanted);
bool parse_is_sign(const Parser *p, char c);
bool parse_is_word(const Parser *p, const char *word);
bool parse_sign(Parser *p, char c);
bool parse_text(Parser *p, const char **text);  // quoted; copied into the graph's arena
bool parse_int(Parser *p, int64_t *x);
bool parse_float(Parser *p, double *x);
bool parse_ints(Parser *p, int *n, int64_t *v);  // "[1,2]", at most MAX_RANK
bool parse_definition(Parser *p, Definition *def);
bool parse_block(Parser *p, Block *b);  // "block 1.0.3", if the line has it
bool parse_reference(Parser *p, ValueId *v);
bool parse_node(Parser *p);  // a whole line

// Binds the name of a definition to a value, or to UNUSABLE.
bool parse_define(Parser *p, const char *name, ValueId v);

#endif
