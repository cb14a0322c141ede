// What contractions, attention, convolution and pooling share: dims as letters, sliding windows.
#ifndef SHARDCC_IR_CONTRACT_H
#define SHARDCC_IR_CONTRACT_H

#include "ir/operator.h"

// ---- equations: the dims of dot's and attention's operands as letters ----
enum { MAX_OPERANDS = 4 };

// "bmk,bkn->bmn": one string per operand, the result last. Sizes and indices of dims are arrays of
// N_LETTERS, by letter.
typedef struct Equation {
    int n;  // operands, the result included
    char dims[MAX_OPERANDS][MAX_RANK + 1];
} Equation;

// Splits a text that is known to be well-formed.
void equation_read(const char *text, int n_in, Equation *e);
// Splits `text` and sets the letters' sizes (-1: no such letter) from the node's inputs. False
// after an error: malformed, other ranks, a letter twice in an operand or of two sizes, a letter of
// the result that no input has.
bool equation_infer(const Graph *g, const Node *n, const char *text, int n_in, Equation *e,
                    int64_t *size, Diag *d);
// Parts of that, for an operand outside the equation.
bool letters_check(const Graph *g, const Node *n, const char *dims, Diag *d);
bool letters_bind(const Graph *g, const Node *n, const char *dims, const Value *v, int64_t *size,
                  Diag *d);

void letters_dims(const char *dims, const int64_t *size, int64_t *dim);  // dims by sizes
void letters_sizes(const char *dims, const Tensor *t, int64_t *size);    // sizes by dims
// A walk over all indices of some letters: for (bool more = letters_begin(…); more; more =
// letters_next(…)). begin is false if a size is 0.
bool letters_begin(int64_t *index, const char *letters, const int64_t *size);
bool letters_next(int64_t *index, const char *letters, const int64_t *size);
int64_t letters_at(const int64_t *index, const char *dims, const Tensor *t);  // row-major place
// Between elements that are neighbours along that dim; 0 if there is no such dim.
int64_t letters_stride(char letter, const char *dims, const Tensor *t);

// ---- attention and its gradient: inputs 0 to 6 are q, k, v, bias, seed, step and micro ----
#define ATTENTION_ATTRS                                                                            \
    {                                                                                              \
        {"eq", ATTR_TEXT}, {"bias_eq", ATTR_TEXT}, {"query", ATTR_INT},                            \
            {"scale", ATTR_FLOAT, .missing = 1}, {"causal", ATTR_INT}, {"offset", ATTR_INT},       \
            {"window", ATTR_INT}, {"drop", ATTR_FLOAT}, {"drop_eq", ATTR_TEXT},                    \
            {"site", ATTR_INT}, {"layer", ATTR_INT, .is_affine = true},                            \
            {"micro_axis", ATTR_INT, .missing = -1}, {"micro", ATTR_INT, .missing = 1},            \
    }
enum { ATTENTION_SITE = 9, ATTENTION_LAYER };  // of these

Attention attention_options(const Node *n);

typedef struct AttentionDims {
    Equation eq;  // q, k, v, y
    char bias[MAX_RANK + 1], drop[MAX_RANK + 1];
    char rows[MAX_RANK + 1];  // batch and query dims in y's order: the dims of lse
    char queries[MAX_RANK + 1], keys[MAX_RANK + 1], inner[MAX_RANK + 1], values[MAX_RANK + 1];
    char query;  // the one of queries that has positions
} AttentionDims;

void attention_read(const Node *n, AttentionDims *a);  // of a node that is known to be right
bool infer_attention(const Graph *g, const Node *n, AttentionDims *a, int64_t *size, Diag *d);
void rule_attention(const Graph *g, const Node *n, const char *text, Rule *r);
// Flops of so many products of length inner and of length values per score.
double work_attention(const Graph *g, const Node *n, int inner, int values);
#define ATTENTION_NO_SPLIT                                                                         \
    "keys, because a row's weights sum to 1; head dims, because scores are sums"

// One row of scores at a time: `at` is where, `p` gets them, masked ones are -inf; `keep` what
// dropout multiplies their weights by.
typedef struct AttentionRow {
    AttentionDims dims;
    Attention options;
    int64_t at[N_LETTERS], size[N_LETTERS], count;
    int64_t offset[N_LETTERS], whole[N_LETTERS];  // of the piece that is evaluated
    double *p, *keep;
} AttentionRow;
AttentionRow attention_row(const Graph *g, const Node *n, const Place *p, Arena *a,
                           const Tensor *x);
void attention_scores(AttentionRow *r, const Node *n, const Tensor *x);

// ---- windows: convolution and pooling ----
// The window of a node whose attributes stride, low, high and dilation begin at `first`; entries
// that are left out are 1, 0, 0 and 1.
void window_read(const Node *n, int first, int spatial, const int64_t *size, Window *w);
// Checks these attributes and sets y's spatial dims from x's.
bool infer_window(const Graph *g, const Node *n, int first, int spatial, const int64_t *size,
                  const int64_t *x, int64_t *y, Diag *d);
// The row-major place in x's spatial dims that tap `tap` of the window at `y` is on; -1: padding.
int64_t window_at(const Window *w, const int64_t *y, const int64_t *tap, const int64_t *x_dim);
#define WINDOW_LETTERS "uvzrst"  // spatial dims and those of the window, in texts of rules
void rule_window(const Graph *g, const Node *n, Rule *r, const char *text);  // rule_set and these

// What a convolution ties together. conv and its two gradients each make one of them from the other
// two; `order` says what a node's two inputs and its output are. Attribute 0 of the gradients is
// the shape of their result; stride, low, high, dilation and groups follow.
typedef enum ConvPart { CONV_X, CONV_W, CONV_Y } ConvPart;
bool infer_conv(Graph *g, Node *n, const ConvPart *order, Diag *d);
void rule_conv(const Graph *g, const Node *n, const ConvPart *order, Rule *r);
void localise_conv(const Node *n, const ConvPart *order, const Rule *r, const int64_t *size,
                   Arena *a, Attr *attr);
void grad_conv(Graph *g, const Node *n, const ConvPart *order, ValueId dy, const bool *want,
               ValueId *dx);
void eval_conv(const Node *n, const ConvPart *order, const Tensor *x, const Tensor *y);
double work_conv(const Graph *g, const Node *n, const ConvPart *order);
#define CONV_NO_SPLIT "spatial dims need a halo; channels of groups that aren't one channel each"

// Pooling: attribute `size` of these is followed by stride, low, high and dilation.
bool infer_pool(Graph *g, Node *n, Diag *d);
// Of a gradient: its last input is that of the pooled result, its own result has x's dims.
bool infer_pool_grad(Graph *g, Node *n, int size, int rank, const int64_t *x, Diag *d);
void rule_pool(const Graph *g, const Node *n, Rule *r);
void pool_window(const Node *n, int size, Window *w);
double work_pool(const Node *n, int size, const Value *y);  // one operation per tap
#define POOL_NO_SPLIT "spatial dims need a halo"

typedef struct Pool {
    Window window;
    const int64_t *x_dim, *y_dim;           // spatial
    int64_t x_plane, y_plane, count, taps;  // count: all elements of y
} Pool;
Pool pool_of(const Node *n, int size, const Tensor *x, const Tensor *y);
int64_t pool_at(const Pool *p, int64_t y,
                int64_t k);  // x's element under tap k of y's; -1: padding
int64_t pool_max(const Pool *p, const double *x, int64_t y);  // … of the first largest one

// ---- kernel calls: see Kernel ----
void kernel_dot(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
void kernel_attention(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
void kernel_conv(const Graph *g, const Node *n, const ConvPart *order,
                 const int64_t (*stride)[MAX_RANK], Kernel *k);
void kernel_pool(const Graph *g, const Node *n, int size, const Value *x, const Value *y,
                 const int64_t (*stride)[MAX_RANK], Kernel *k);

#endif
