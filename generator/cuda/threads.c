// Chooses how threads share a fused group's elements, by its shape alone.
#include "generator/cuda/threads.h"

#include <assert.h>

#include "runtime/rt_cuda_workspace.h"

enum {
    VECTOR = 4,         // elements that a thread has together
    HALVES = 8,         // the same where some are halves
    VECTOR_BYTES = 16,  // of an access, at most
    WARP_TURNS = 4,     // a longer row is shared by a block
    BLOCK_TURNS = 2,    // of a block, unless that is as large as it can be
    MAX_THREADS = 1024,
    MIN_THREADS = 64,
    // Registers for elements of a row, of a thread in a block of up to 512 threads and in a larger
    // one, which has half as many: measured as the most that never spill.
    REGISTERS = 48,
    FEW_REGISTERS = 20,
};

// How a thread with several iterations over a row has its elements.
typedef enum Turns { ONE_TURN, KEPT, READ_AGAIN } Turns;

// A block needs at least two iterations, because it is made so small.
static const struct {
    Share share;
    Turns turns;  // ONE_TURN: there are no rows
    int width;
    const char *name;
} forms[] = {
    {SHARE_ELEMENTS, ONE_TURN, HALVES, "a thread has 8 neighbours"},
    {SHARE_ELEMENTS, ONE_TURN, VECTOR, "a thread has 4 neighbours"},
    {SHARE_ELEMENTS, ONE_TURN, 1, "a thread has an element"},
    {SHARE_WARP, ONE_TURN, VECTOR, "a warp has a row, in 1 turn of 4 neighbours a thread"},
    {SHARE_WARP, ONE_TURN, 1, "a warp has a row, in 1 turn"},
    {SHARE_WARP, KEPT, VECTOR, "a warp has a row, kept in registers, 4 neighbours a thread"},
    {SHARE_WARP, KEPT, 1, "a warp has a row, kept in registers"},
    {SHARE_WARP, READ_AGAIN, VECTOR, "a warp has a row, 4 neighbours a thread"},
    {SHARE_WARP, READ_AGAIN, 1, "a warp has a row"},
    {SHARE_BLOCK, KEPT, VECTOR, "a block has a row, kept in registers, 4 neighbours a thread"},
    {SHARE_BLOCK, KEPT, 1, "a block has a row, kept in registers"},
    {SHARE_BLOCK, READ_AGAIN, VECTOR, "a block has a row, 4 neighbours a thread"},
    {SHARE_BLOCK, READ_AGAIN, 1, "a block has a row"},
    {SHARE_COLUMNS, ONE_TURN, VECTOR, "a block has some columns of a chunk of rows, a thread 4"},
    {SHARE_COLUMNS, ONE_TURN, 1, "a block has some columns of a chunk of rows, a thread one"},
};

static const Value *value_at(const Body *b, int k)
{
    return value_of(b->g->s->g, b->it->operands[k].value);
}

int64_t last_stride(const Body *b, int k)
{
    return b->w->rank ? b->w->stride[k][b->w->rank - 1] : 1;
}

bool is_made(const Body *b, int k)
{
    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *n = &b->g->s->g->nodes[b->it->nodes[i]];
        if (n->out[0] == b->it->operands[k].value)
            return b->is_selected[i] && b->it->group.pass[i] == b->pass;
    }
    return false;
}

// ---- vectors ----

// Do all rows of the operand begin at multiples of `bytes`?
static bool is_aligned(const Body *b, int k, int64_t bytes)
{
    const Operand *o = &b->it->operands[k];
    int64_t size = dtype_size(value_at(b, k)->dtype);

    if (o->address.at % bytes || (o->rank_slice.slice && o->rank_slice.stride * size % bytes))
        return false;
    for (int i = 0; i < MAX_LOOPS; i++)
        if (o->address.move[i].step % bytes)
            return false;
    for (int d = 0; d < b->w->rank - 1; d++)
        if (b->w->stride[k][d] * size % bytes)
            return false;
    return true;
}

static bool is_vector(const Body *b, int k, int width)
{
    int64_t bytes = width * dtype_size(value_at(b, k)->dtype);

    return last_stride(b, k) == 1 && !is_column_output(b->g, b->it, k) &&
           is_aligned(b, k, bytes < VECTOR_BYTES ? bytes : VECTOR_BYTES);
}

// Is operand k contiguous, so that vectors pay if it is one?
static bool is_contiguous(const Body *b, int k)
{
    return !threads_of(b)->is_number[k] && last_stride(b, k) == 1 &&
           !is_column_output(b->g, b->it, k);
}

// Can a row end among a thread's elements? Accesses test it, and what is summed.
static bool can_end_early(const Body *b)
{
    const Walk *w = b->w;

    if (threads_of(b)->share == SHARE_ELEMENTS)
        return w->rank == 1;
    return threads_of(b)->share != SHARE_COLUMNS && w->rank - w->rows == 1;
}

// Vectors pay if one operand at least is read or written so, and no contiguous one isn't.
static bool has_vectors(const Body *b, int width)
{
    const Walk *w = b->w;
    bool has_vector = false;

    if (!w->rank || w->dim[w->rank - 1] < width)
        return false;
    if (w->dim[w->rank - 1] % width && !can_end_early(b))
        return false;
    for (int k = 0; k < b->it->n_in + b->it->n_out; k++) {
        if (is_contiguous(b, k) && !is_vector(b, k, width))
            return false;
        has_vector |= is_contiguous(b, k);
    }
    return has_vector;
}

// Halves that share no row are moved in accesses of VECTOR_BYTES, too.
static int choose_width(const Body *b)
{
    bool has_halves = false;

    for (int k = 0; k < b->it->n_in + b->it->n_out; k++)
        has_halves |= is_contiguous(b, k) && dtype_is_half(value_at(b, k)->dtype);
    if (has_halves && threads_of(b)->share == SHARE_ELEMENTS && has_vectors(b, HALVES))
        return HALVES;
    return has_vectors(b, VECTOR) ? VECTOR : 1;
}

// ---- threads ----

static bool is_number(const Body *b, int k)
{
    const Walk *w = b->w;
    int from = threads_of(b)->share == SHARE_ELEMENTS || threads_of(b)->share == SHARE_COLUMNS
                   ? w->rank - 1
                   : w->rows;

    for (int d = from < 0 ? 0 : from; d < w->rank; d++)
        if (w->stride[k][d])
            return false;
    return k < b->it->n_in;
}

static void choose_threads(const Body *b)
{
    Threads *x = threads_of(b);
    int64_t parts = (x->count + x->width - 1) / x->width;

    x->threads = BLOCK;
    x->turns = 1;
    if (x->share == SHARE_COLUMNS)
        x->columns = (int)rt_cuda_sums_columns(b->w->dim[b->w->rank - 1]);
    if (x->share == SHARE_ELEMENTS || x->share == SHARE_COLUMNS)
        return;
    if (parts <= WARP * WARP_TURNS) {
        x->share = SHARE_WARP;
        x->threads = WARP;
    } else {
        int64_t n = (parts + BLOCK_TURNS * WARP - 1) / (BLOCK_TURNS * WARP) * WARP;
        x->threads = (int)(n > MAX_THREADS ? MAX_THREADS : n < MIN_THREADS ? MIN_THREADS : n);
    }
    x->turns = (int)((parts + x->threads - 1) / x->threads);
}

// ---- registers ----

// In how many passes is operand k read or made?
static int passes_of(Body *b, int k)
{
    int n = 0;

    for (int pass = 0; pass < b->it->group.n_passes; pass++) {
        select_pass(b, pass, false);
        n += is_used(b, k);
    }
    return n;
}

// Is input k the same in all rows, so that a thread that goes down columns reads it once?
static bool is_same_in_rows(const Body *b, int k)
{
    for (int d = 0; d < b->w->rows; d++)
        if (b->w->stride[k][d])
            return false;
    return k < b->it->n_in;
}

// Keeps what several passes use, as far as there are registers. What costs much to compute again
// comes first.
static void choose_registers(Body *b)
{
    const Item *it = b->it;
    Threads *x = threads_of(b);
    int64_t room = x->threads > MAX_THREADS / 2 ? FEW_REGISTERS : REGISTERS;
    int64_t each = (int64_t)x->turns * x->width;
    bool has_rows = x->share == SHARE_WARP || x->share == SHARE_BLOCK;

    find_kept(b, has_rows && 2 * each <= room ? x->count : 0);
    for (int i = 0; i < it->n_nodes; i++) {
        b->is_kept[i] &= room >= each;
        room -= b->is_kept[i] ? each : 0;
        x->has_registers |= b->is_kept[i];
    }
    for (int k = 0; x->share == SHARE_COLUMNS && k < it->n_in; k++)
        x->is_register[k] = !x->is_number[k] && is_same_in_rows(b, k);
    for (int k = 0; has_rows && k < it->n_in + it->n_out; k++) {
        int64_t words = each * (1 + (dtype_size(value_at(b, k)->dtype) > 4));
        if (x->is_number[k] || words > room || passes_of(b, k) < 2)
            continue;
        x->is_register[k] = x->has_registers = true;
        room -= words;
    }
}

void share_out(Body *b)
{
    const Walk *w = b->w;
    const Group *g = &b->it->group;
    int n = b->it->n_in + b->it->n_out;
    Threads *x = arena_array(b->g->arena, Threads, 1);

    b->own = x;
    x->share = g->has_columns ? SHARE_COLUMNS : g->has_rows ? SHARE_BLOCK : SHARE_ELEMENTS;
    x->is_number = arena_array(b->g->arena, bool, n);
    x->is_vector = arena_array(b->g->arena, bool, n);
    x->is_register = arena_array(b->g->arena, bool, n);
    x->count = 1;
    for (int d = x->share == SHARE_ELEMENTS ? 0 : w->rows; d < w->rank; d++)
        x->count *= w->dim[d];
    for (int k = 0; k < n; k++)
        x->is_number[k] = is_number(b, k);
    x->width = choose_width(b);
    for (int k = 0; k < n; k++)
        x->is_vector[k] = x->width > 1 ? is_vector(b, k, x->width) : last_stride(b, k) == 1;
    choose_threads(b);
    choose_registers(b);
}

// ---- forms ----

static Turns turns_of(const Threads *x)
{
    if (x->turns < 2)
        return ONE_TURN;
    return x->has_registers ? KEPT : READ_AGAIN;
}

const char *form_of(const Threads *x)
{
    for (int i = 0; i < COUNT(forms); i++)
        if (forms[i].share == x->share && forms[i].turns == turns_of(x) &&
            forms[i].width == x->width)
            return forms[i].name;
    assert(false);
    return NULL;
}

const char *form_name(int i) { return i < COUNT(forms) ? forms[i].name : NULL; }
