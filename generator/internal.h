// State and helpers that the files of the generator share.
#ifndef SHARDCC_GENERATOR_INTERNAL_H
#define SHARDCC_GENERATOR_INTERNAL_H

#include "generator/generator.h"
#include "generator/identifiers.h"

enum { COLUMNS = 100 };

typedef struct Sizes Sizes;
typedef struct TargetText TargetText;  // target_text.h

// A value's offset in the arena, `at` bytes from its start.
typedef struct NamedOffset {
    const char *name;
    int group;   // its set; N_SETS: it is persistent
    int rank;    // how well the value names its buffer
    int buffer;  // the one that begins there; 0: none does
    int same;    // 1 + the index of an earlier offset that is the same, and has the same name
    int64_t at;
    int64_t step;  // of a stack, from one instance to the next, or back to it; 0: it is no stack
    bool is_work;  // it holds no value
    bool is_used;
} NamedOffset;

// Those of generator/group/.
typedef struct GroupFunction GroupFunction;
typedef struct GroupCall GroupCall;

typedef struct Gen {
    const Program *p;
    const GenerateOptions *o;
    const TargetText *target;
    Arena *arena;
    const Set *s;  // the set being printed
    int set;
    Text *groups;          // functions of fused groups
    Text *operands;        // their structs of operands, and macros of arguments that calls share
    Text *group_names[2];  // the names of those without and with column sums
    Text *bodies;          // functions of blocks and parts
    Text *init;            // preparation of kernels
    Text *tables;          // tensors
    Text *live_ranges;     // of local buffers
    Identifiers identifiers;
    Sizes *sizes;
    Map offsets;  // values' offsets in buffers → 1 + index in `offset`
    NamedOffset *offset;
    int *buffer_offset;  // by buffer: 1 + the index of its offset
    Map kernels;         // prepared kernels by their requests → 1 + index in `kernel`
    const char **kernel;
    Map functions;  // groups' functions by their text → 1 + index in `function`
    GroupFunction *function;
    GroupCall **group_call[N_SETS];                 // by item
    const char *const *role[N_SETS];                // by ValueId: graph_roles
    bool has_workspace, has_addresses, has_stacks;  // the text uses WITH, AT, OF
    int n_offsets, cap_offsets, n_groups, cap_groups, n_kernels, cap_kernels;
    RtCut *cut;  // splits of dims over ranks: rt->shard[i] is the rank's shard of cut[i]
    int n_cuts, cap_cuts;
    Graph *symbolic;  // a copy of the set's graph for kernel_sizes.c; NULL: not needed yet
    // by NodeId, empty between groups: the text of a node's value in the group being printed
    const char **expr;
} Gen;

// "h.{}.attn.c_attn", from a node's scope or name: printable, at most `width` characters.
char *node_label(const Gen *g, const Node *n, int width);
// Sets the number that replaces {} in the labels of iteration 0, and its step from one iteration to
// the next: 0 and 1 if there is no {}. False: the labels of a class follow no such rule.
bool class_layers(const Gen *g, int32_t cls, int64_t *first, int64_t *step);
void print_type(const Value *v, Text *t);  // "f32[8,128]"

// The first argument of an item's call.
const char *rank_text(Gen *g, const Item *it);
// "3" or, if the iterations alternate between several slots, "3 + layer % 2".
const char *slot_text(Gen *g, const Item *it);
// The name of the index of a loop around an item: 0 is the innermost one.
const char *loop_index(const Gen *g, int k);
// "AT(A12 + layer * 96)". A new offset gets a name and a line in the table.
char *address_text(Gen *g, const Operand *o);
// The stride of an item's operand along the item's dim i, in elements: "3 * HEADS * HEAD_SIZE".
char *stride_text(Gen *g, const Item *it, const Operand *o, int i);
// The name of the offset in it: "A12".
const char *operand_name(Gen *g, const Operand *o);

// The name that the model gives a value; "" if it gives none.
const char *given_name(const Value *v);

// "c_attn" from "h.{}.attn.c_attn": the end of a path that no other one has.
char *lower_identifier(Gen *g, const char *path);

// The named offset of a value (0: none) at an offset in a buffer. Instances of a block share that
// of iteration 0.
const NamedOffset *use_offset(Gen *g, int32_t buffer, int64_t offset, ValueId v);
// The offset of a buffer, by the value that names it best.
const NamedOffset *use_buffer(Gen *g, int32_t buffer);

// "LAYERS": the length of a class of the set being printed.
const char *layers_text(Gen *g, int cls);
// "B * T * sizeof(float)": the bytes of so many elements of a value.
char *sizeof_text(Gen *g, ValueId v, const char *count);
// "4 * B * T": the product of dims of a value, which a mask selects, and `by`.
char *count_text(Gen *g, ValueId v, uint32_t dims, int64_t by);
// The same for dims of an item.
char *item_count_text(Gen *g, const Item *it, uint32_t dims, int64_t by);
// The same for the dims [from, to) of a group, from the outermost that it walks.
char *walk_count_text(Gen *g, const Item *it, int from, int to, int64_t by);

// A list whose entries fill lines, which begin at a column and end with `end`.
typedef struct List {
    Text *t;
    int column, indent;
    const char *between, *end;  // after each entry but the last; at the end of a line
    int n;
} List;

// Appends an entry. `width` more columns are kept free on its line.
void list_add(List *l, int width, const char *entry);
// The columns to keep free so that the number of lines doesn't depend on the number of layers: by
// which an offset, and the bytes of a buffer, are shorter than they may be with more of them.
// `step`: of a stack; 0: it is none.
int offset_room(int64_t at);
int bytes_room(int64_t bytes, int64_t step);

// A string literal, escaped; broken over lines indented by `indent` columns.
void print_string(Text *t, const char *s, int indent);
// A line, broken after commas so that none is longer than COLUMNS.
void print_wrapped(Text *t, int indent, const char *s);
// The module of an item's statement or, of an update, "adamw h.{}.ln_1.weight".
char *item_label(const Gen *g, const Item *it, int width);
// Prints a call that is no statement of its own for RT_AT, with a label as its comment.
void print_labelled(Text *t, int indent, const char *call, const char *label);
// Prints an item's call after a statement that says what it does: see RT_AT in rt_kernels.h.
void print_statement(Gen *g, const Item *it, Text *t, int indent, const char *call);
void print_number(Text *t, DType type, double x);

// At `*s` is "$a2": prints the node's attribute 2, which may grow with the iteration, and moves
// `*s` after it. True if it printed an expression of `layer`.
bool print_layer_attr(const Item *it, const Node *n, const char **s, Text *t);

// The index into rt->shard of the node's shard of a factor; -1: the node has the whole.
int node_shard(Gen *g, NodeId n, int factor);
// The same for a sum's input dim, if some ranks have less than a chunk of it; else -1.
int sum_shard(Gen *g, NodeId n, int dim);
// How many bytes later the operand begins on this rank, as " + rt->shard[0].offset * 64"; or "".
const char *own_text(Gen *g, const Operand *o);
// The size of an output's dim on all ranks together, for a node without inputs of that shape.
int64_t whole_size(const Gen *g, NodeId n, int dim);
// The graph before it was split over ranks, and the value in it; 0: it isn't of that graph, as a
// bucket.
const Graph *whole_graph(const Set *s);
ValueId whole_value(const Set *s, ValueId v);
// ", .n_parts = …", if ranks have shards of the value.
void print_parts(Gen *g, ValueId v, Text *t);
void generate_cuts(const Gen *g, Text *t);
void print_mesh(const Gen *g, Text *t);
// A collective's bytes, axes and predicted time as a comment, and its predicted seconds unless it
// is started. Other items: NULL, 0.
char *exchange_comment(const Gen *g, const Item *it);
double exchange_seconds(const Gen *g, const Item *it);
// The collective that an item carries out, starts or waits for: its axes, "dp+tp", the bytes that
// this rank hands to it, and its predicted seconds. axes NULL: it sends nothing.
typedef struct ExchangeCall {
    const char *axes;
    double bytes, seconds;
} ExchangeCall;
ExchangeCall exchange_call(const Gen *g, const Item *it);

// A gradient's number in calls of rt_gradient. Layers share one.
int gradient_number(const Gen *g, ValueId v);

void generate_functions(Gen *g);                 // of one set
void generate_calls(Gen *g, const Function *f);  // a function that has calls
// Prints one iteration of a loop as a function, with a parameter is_last if has_last. Returns its
// name.
const char *generate_loop_body(Gen *g, int loop, Timing timing, bool has_last);
// Prints items [begin, end) as statements of a function.
void generate_statements(Gen *g, int begin, int end, Timing timing, Text *t);
// "handed[layer + 2]": where the slot of a stage lies, + step * layer.
char *slot_address(Gen *g, Pool pool, int stage, int step);
const char *pool_name(Pool pool);
void generate_tensors(Gen *g);      // of both sets
void generate_live_ranges(Gen *g);  // of both sets, after their items

#endif
