// Dims as letters and sliding windows, for contractions, attention, convolution and pooling.
#ifndef SHARDCC_IR_CONTRACT_H
#define SHARDCC_IR_CONTRACT_H

#include "ir/operator/operator.h"

// ---- equations: the dims of dot's and attention's operands as letters ----
enum { MAX_OPERANDS = 4 };

// "bmk,bkn->bmn": one string per operand, the result last. Sizes and indices of dims are in arrays
// of N_LETTERS entries, by letter.
typedef struct Equation {
    int n;  // operands, the result included
    char dims[MAX_OPERANDS][MAX_RANK + 1];
} Equation;

// Splits a text that is known to be well-formed. n_in is the number of operands before the arrow.
void equation_read(const char *text, int n_in, Equation *e);
// Splits `text` and sets the letters' sizes (-1: no such letter) from the node's inputs. False
// after an error: the text is malformed, a rank differs, a letter is twice in an operand or has two
// sizes, or no input has a letter of the result.
bool equation_infer(const Graph *g, const Node *n, const char *text, int n_in, Equation *e,
                    int64_t *size, Diag *d);
// For an operand outside the equation. letters_check: is the text well-formed? letters_bind: does
// `v` have these dims? Sets the sizes of letters that have none yet. Both report errors.
bool letters_check(const Graph *g, const Node *n, const char *dims, Diag *d);
bool letters_bind(const Graph *g, const Node *n, const char *dims, const Value *v, int64_t *size,
                  Diag *d);

void letters_dims(const char *dims, const int64_t *size, int64_t *dim);  // dims from sizes
void letters_sizes(const char *dims, const Tensor *t, int64_t *size);    // sizes from t's dims
// Walks over all indices of some letters, the last letter fastest:
// for (bool more = letters_begin(…); more; more = letters_next(…)). Both are false at the end.
bool letters_begin(int64_t *index, const char *letters, const int64_t *size);
bool letters_next(int64_t *index, const char *letters, const int64_t *size);
int64_t letters_at(const int64_t *index, const char *dims, const Tensor *t);  // row-major index
// The stride of the dim, in elements; 0 if there is no such dim.
int64_t letters_stride(char letter, const char *dims, const Tensor *t);
// letters_dot: the sum of u · v over all indices of some letters, the last letter fastest.
// letters_add: v += factor · u at each of them. `index` has the other letters; these change in it.
double letters_dot(int64_t *index, const char *letters, const int64_t *size, const char *u_dims,
                   const Tensor *u, const char *v_dims, const Tensor *v);
void letters_add(int64_t *index, const char *letters, const int64_t *size, double factor,
                 const char *u_dims, const Tensor *u, const char *v_dims, Tensor *v);

// ---- attention and its gradient: inputs 0 to 6 are q, k, v, bias, seed, step and micro ----
#define ATTENTION_ATTRS                                                                            \
    {                                                                                              \
        {"eq", ATTR_TEXT}, {"bias_eq", ATTR_TEXT}, {"query", ATTR_INT},                            \
            {"scale", ATTR_FLOAT, .missing = 1}, {"causal", ATTR_INT}, {"offset", ATTR_INT},       \
            {"window", ATTR_INT}, {"drop", ATTR_FLOAT}, {"drop_eq", ATTR_TEXT},                    \
            {"site", ATTR_INT}, {"layer", ATTR_INT, .is_affine = true},                            \
            {"micro_axis", ATTR_INT, .missing = -1}, {"micro", ATTR_INT, .missing = 1},            \
            {"outside", ATTR_FLOAT}, {"outside_added", ATTR_INT}, {"hidden", ATTR_FLOAT},          \
            {"hidden_added", ATTR_INT}, {"order", ATTR_INT}, {"guard", ATTR_INT},                  \
    }
enum { ATTENTION_SITE = 9, ATTENTION_LAYER };  // indices of attributes

Attention attention_options(const Node *n);

typedef struct AttentionDims {
    Equation eq;  // q, k, v, y
    char bias[MAX_RANK + 1], drop[MAX_RANK + 1];
    char rows[MAX_RANK + 1];  // batch and query dims in y's order: the dims of max and sum
    char queries[MAX_RANK + 1], keys[MAX_RANK + 1], inner[MAX_RANK + 1], values[MAX_RANK + 1];
    char query;  // the letter of `queries` that has positions
} AttentionDims;

void attention_read(const Node *n, AttentionDims *a);  // the node must have passed infer_attention
bool infer_attention(const Graph *g, const Node *n, AttentionDims *a, int64_t *size, Diag *d);
void rule_attention(const Graph *g, const Node *n, const char *text, Rule *r);
// The flops of a node that computes, per score, `inner` products along the inner dims and `values`
// products along the value dims.
double work_attention(const Graph *g, const Node *n, int inner, int values);
#define ATTENTION_NO_SPLIT                                                                         \
    "keys, because a row's weights sum to 1; head dims, because scores are sums"

// One row of scores. attention_scores sets `p` to the scores of the row at `at`, `is_set` where a
// mask's number replaced a score, and `keep` to dropout's factors of their weights.
typedef struct AttentionRow {
    AttentionDims dims;
    Attention options;
    int64_t at[N_LETTERS], size[N_LETTERS], count;
    int64_t offset[N_LETTERS], whole[N_LETTERS];  // by letter, see NodeShard
    double *p, *keep;
    bool *is_set;
} AttentionRow;
AttentionRow attention_row(Arena *a, const Graph *g, const Node *n, const NodeShard *p,
                           const Tensor *x);
void attention_scores(AttentionRow *r, const Node *n, const Tensor *x);

// ---- windows: convolution and pooling ----
// Reads the window of a node whose attributes stride, low, high and dilation begin at index
// `first`. Their defaults are 1, 0, 0 and 1.
void window_read(const Node *n, int first, int spatial, const int64_t *size, Window *w);
// Checks the same attributes and sets y's spatial dims from x's.
bool infer_window(const Graph *g, const Node *n, int first, int spatial, const int64_t *size,
                  const int64_t *x, int64_t *y, Diag *d);
// The row-major index in x's spatial dims of tap `tap` of the window at `y`; -1: padding.
int64_t window_at(const Window *w, const int64_t *y, const int64_t *tap, const int64_t *x_dim);
#define WINDOW_LETTERS "uvzrst"  // the letters of spatial and window dims in the text of a rule
// rule_set, with the letters of WINDOW_LETTERS as FACTOR_WINDOW.
void rule_window(const Graph *g, const Node *n, Rule *r, const char *text);

// Checks that both operands of a dot or a convolution have one float type, and finds the result's.
// Attribute `to` is that of operands that are halves; DT_NONE: theirs.
bool infer_product(const Graph *g, const Node *n, int to, DType *result, Diag *d);
// The gradient of a result, in the type of the operands.
ValueId product_gradient(Graph *g, const Node *n, ValueId dy);

// The tensors of a convolution. conv and its two gradients each make one of them from the other
// two; `order` says which ones a node's two inputs and its output are. Attribute 0 of the gradients
// is the shape of their result. Attributes stride, low, high, dilation, groups and to follow.
typedef enum ConvPart { CONV_X, CONV_W, CONV_Y } ConvPart;
bool infer_conv(Graph *g, Node *n, const ConvPart *order, Diag *d);
void rule_conv(const Graph *g, const Node *n, const ConvPart *order, Rule *r);
void localise_conv(Arena *a, const Node *n, const ConvPart *order, const Rule *r,
                   const int64_t *size, Attr *attr);
void grad_conv(Graph *g, const Node *n, const ConvPart *order, ValueId dy, const bool *want,
               ValueId *dx);
void eval_conv(const Node *n, const ConvPart *order, const Tensor *x, const Tensor *y);
double work_conv(const Graph *g, const Node *n, const ConvPart *order);
#define CONV_NO_SPLIT "spatial dims need a halo; channels of groups that aren't one channel each"

// Pooling. `size` is the index of attribute size; stride, low, high and dilation follow it.
bool infer_pool(Graph *g, Node *n, Diag *d);
// For a gradient of pooling: its last input is the gradient of the pooled result, and its result
// has the `rank` dims `x`.
bool infer_pool_grad(Graph *g, Node *n, int size, int rank, const int64_t *x, Diag *d);
void rule_pool(const Graph *g, const Node *n, Rule *r);
void pool_window(const Node *n, int size, Window *w);
double work_pool(const Node *n, int size, const Value *y);  // one operation per tap
#define POOL_NO_SPLIT "spatial dims need a halo"

typedef struct Pool {
    Window window;
    const int64_t *x_dim, *y_dim;           // spatial dims
    int64_t x_plane, y_plane, count, taps;  // elements of a plane of x and of y, of y, of a window
} Pool;
Pool pool_of(const Node *n, int size, const Tensor *x, const Tensor *y);
// The element of x under tap k of element y; -1: padding.
int64_t pool_at(const Pool *p, int64_t y, int64_t k);
// The element of x that is the first largest one under the window of element y.
int64_t pool_max(const Pool *p, const double *x, int64_t y);

// ---- kernel calls: for OpDef.kernel ----
RtType half_type(DType t);                             // RT_NONE if it is no half
RtType product_result(const Graph *g, const Node *n);  // RT_NONE: the first operand's type
void kernel_dot(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
void kernel_attention(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k);
void kernel_conv(const Graph *g, const Node *n, const ConvPart *order,
                 const int64_t (*stride)[MAX_RANK], Kernel *k);
void kernel_pool(const Graph *g, const Node *n, int size, const Value *x, const Value *y,
                 const int64_t (*stride)[MAX_RANK], Kernel *k);

#endif
