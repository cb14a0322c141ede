// The text form of a program: lower/text/print.c and print_items.c print it, lower/text/parse.c and
// its neighbours read it.
#ifndef SHARDCC_LOWER_TEXT_H
#define SHARDCC_LOWER_TEXT_H

#include "base/lexer.h"
#include "lower/internal.h"

extern const char *const set_names[N_SETS];
extern const char *const buffer_kind_names[BUFFER_POOLS + 1];
extern const char *const pool_names[POOL_KEPT + 1];
extern const char *const item_kind_names[ITEM_NONE + 1];
extern const char *const reshard_names[N_RESHARD_KINDS];
extern const char *const phase_words[UPDATE + 1];
extern const char *const loop_names[MAX_LOOPS];  // indices of the loops around an item

// ---- printing ----

typedef struct Printer {
    const Program *p;
    const Set *s;
    const char **name;  // by ValueId of the set's graph
    const int *number;  // by buffer: its number in the text
    Text *t;
} Printer;

void print_value_name(const Printer *r, ValueId v);  // after a blank
void print_function(const Printer *r, const Function *f);
void print_calls(const Printer *r, const Calls *x);
void print_address(const Address *a, Text *t);  // "@64+192*layer"

// The whole graph's node of which a split graph's node computes a shard, if the text says nothing:
// it makes the value of which the first result is a shard.
NodeId default_source(const Sharded *s, NodeId n);

// ---- reading ----

typedef struct SetParser {
    Map names;   // of values → ValueId
    Lowering l;  // for value_instance: only its graph and its table of instances
} SetParser;

typedef struct Parser {
    Lexer *lex;
    Program *p;
    Mesh mesh;  // no axes: one rank
    int set;    // the one that is being read
    Set *s;
    SetParser of[N_SETS];
    int loop[MAX_LOOPS];  // the items that began the loops that are being read, the innermost first
    int depth;            // how many loops
    int n_region;         // loops so far: items tell by a number which loop they are in
    Map functions;        // by name
} Parser;

// Goes on reading in that set.
static inline void enter_set(Parser *p, int set)
{
    p->set = set;
    p->s = &p->p->set[set];
}

// The functions below return false after reporting an error at the current line.
bool parse_between(Parser *p, int64_t least, int64_t most, int64_t *x);
int parse_one_of(Parser *p, const char *const *words, int n, const char *what);  // -1: an error
// Reads the name of a value among those of a graph. Messages end with `where`: "" or " in the whole
// graph".
bool parse_name_in(Parser *p, const Map *names, const char *where, ValueId *v);
// The name of the first result of a node.
bool parse_node_in(Parser *p, const Graph *g, const Map *names, const char *where, NodeId *n);
bool parse_value_name(Parser *p, ValueId *v);
bool parse_node_name(Parser *p, NodeId *n);  // the name of its first result
bool parse_sharded(Parser *p, Graph *whole);
bool parse_buffers(Parser *p);
bool parse_tensors(Parser *p);
bool parse_dims(Parser *p, Item *it);
bool parse_group(Parser *p, Item *it);        // all before the operands
bool finish_group_text(Parser *p, Item *it);  // when the operands are there
bool parse_operand(Parser *p, const Item *it, Operand *o);
bool parse_functions(Parser *p);
bool parse_calls(Parser *p, Function *f);  // after the word "calls"

// Do the elements of a box lie where sums and products of bytes can't overflow? The operand may
// move with an iteration.
bool check_reach(Parser *p, const Operand *o, int rank, const int64_t *dim);
// Do the set's calls have slots that hold what its items keep there?
bool check_calls(const Parser *p);
// Are values where the trainer finds them, and buffers live where items use them?
bool check_buffers(Parser *p);

#endif
