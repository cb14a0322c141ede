// Linear programs and mixed ones, solved by a program of its own: a library that solves them
// prints, takes signals, overruns limits and has a licence of its own. The program reads commands
// from a socket, its standard input, and answers there; it can be ended at any time.
#ifndef SHARDCC_MIP_H
#define SHARDCC_MIP_H

#include "solver/internal.h"

// Rows or columns. Entries of i are index[first[i]] to before index[first[i + 1]], in columns or
// rows that are there already. A bound of MIP_FREE or more is none.
#define MIP_FREE 1e30

typedef struct Lines {
    int n;
    double *low, *high;
    double *cost;    // columns
    char *is_whole;  // columns: 1 for those that must be integers where it branches
    int *first, *index;
    double *value;
} Lines;

typedef enum MipStatus {
    MIP_OPTIMAL,     // within the tolerances asked for
    MIP_INFEASIBLE,  // or nothing below the cutoff
    MIP_LIMIT,       // iterations, or nodes
    MIP_STOPPED,     // by the watch: the engine has ended
    MIP_FAILED,      // it gave up, or died
} MipStatus;

typedef struct Relaxed {
    MipStatus status;
    int64_t iterations;
    double objective;
    double *x, *dual;  // by column, by row; the engine's, until it is used again
} Relaxed;

typedef struct Branched {
    MipStatus status;
    double bound;      // no point is cheaper
    double objective;  // of x
    double *x;         // NULL: none was found; the caller frees it
} Branched;

// What a search hears of points while it runs; x is by column.
typedef struct MipListener {
    void (*point)(void *to, double objective, const double *x);
    void (*bound)(void *to, double bound);
    void *to;
} MipListener;

typedef struct Engine Engine;

// NULL, with a warning, if the program of that name isn't in the folder.
Engine *engine_start(const char *programs, const char *name, const Deadline *w, Diag *d);
void engine_end(Engine *e);  // at once
void engine_columns(Engine *e, const Lines *columns);
void engine_rows(Engine *e, const Lines *rows);
// New bounds of columns.
void engine_bounds(Engine *e, int n, const int *column, const double *low, const double *high);
// Solves the linear program, from where the last solution left it.
Relaxed engine_relax(Engine *e, int64_t iterations);
// Solves it with whole columns whole: only points cheaper than the cutoff are looked for, and it
// ends when the bound is within `gap` of the best, or after `nodes`.
Branched engine_branch(Engine *e, double cutoff, double gap, int64_t nodes, MipListener l);

// ---- wire.c: what goes over the pipe, the same on both sides ----
typedef enum WireKind {
    WIRE_COLUMNS = 1,
    WIRE_ROWS,
    WIRE_BOUNDS,    // int n; column, low, high of each
    WIRE_RELAX,     // int64 iterations
    WIRE_BRANCH,    // double cutoff, double gap, int64 nodes
    WIRE_RELAXED,   // int64 status, int64 iterations, double objective, x, dual
    WIRE_POINT,     // double objective, x
    WIRE_BOUND,     // double
    WIRE_BRANCHED,  // int64 status, double bound
} WireKind;

// Sends one message; false if the other side is gone.
bool wire_send(int fd, WireKind kind, const Text *body);
// Waits for one, `stop` permitting (NULL: for ever); 0 if the other side is gone or it was stopped.
int wire_receive(int fd, Text *body, const Deadline *stop);
void wire_put_lines(Text *t, const Lines *l);
// Takes `size` bytes off the front of what `at` is in; they stay the body's.
const void *wire_take(const Text *t, size_t *at, size_t size);
Lines wire_take_lines(const Text *t, size_t *at);

#endif
