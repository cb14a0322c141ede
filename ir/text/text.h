// The text form of a graph: its parser. ir/text/print.c prints it, ir/text/parse.c reads it.
#ifndef SHARDCC_IR_TEXT_H
#define SHARDCC_IR_TEXT_H

#include "base/lexer.h"
#include "ir/internal.h"

bool value_kind_has_fill(ValueKind k);  // is it printed with "= 0"?

enum { N_OUTPUT_ROLES = OUTPUT_LOSS_SCALE + 1 };
extern const char *const output_role_names[N_OUTPUT_ROLES];

// ---- reading ----
// The functions below return false after reporting an error at the current line.

typedef struct Parser {
    Lexer *lex;
    Graph *g;
    Map names;        // name → ValueId; UNUSABLE: its line had an error
    Map ops;          // name → index in op_table + 1
    ValueId *inputs;  // of the node being read
    int n_inputs, cap_inputs;
} Parser;

enum { UNUSABLE = -1 };

// The part of a definition before its "=".
typedef struct Definition {
    const char *name;
    Value type;  // dtype, dims, own dims
} Definition;

bool parse_definition(Parser *p, Definition *def);
bool parse_block(Parser *p, Block *b);  // "block 1.0.3 again 1", if the line has it
bool parse_reference(Parser *p, ValueId *v);
bool parse_node(Parser *p);  // a whole line

// Binds the name of a definition to a value, or to UNUSABLE.
bool parse_define(Parser *p, const char *name, ValueId v);

#endif
