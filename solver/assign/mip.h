// Linear and mixed-integer programs, solved in a process of their own. A library that solves them
// prints, takes signals, overruns limits and has a licence of its own. The process reads commands
// from a socket, its standard input, and answers there. It can be ended at any time.
#ifndef SHARDCC_MIP_H
#define SHARDCC_MIP_H

#include "solver/assign/internal.h"

// Rows or columns to add. The entries of line i are index[first[i]] up to index[first[i + 1]] - 1,
// in columns or rows that exist already. A bound of MIP_FREE or more is none.
#define MIP_FREE 1e30

typedef struct Lines {
    int n;
    double *low, *high;
    double *cost;    // columns
    char *is_whole;  // columns: 1 where branching must make the value an integer
    int *first, *index;
    double *value;
} Lines;

typedef enum MipStatus {
    MIP_OPTIMAL,     // within the tolerances asked for
    MIP_INFEASIBLE,  // or no point is below the cutoff
    MIP_LIMIT,       // iterations, or nodes
    MIP_STOPPED,     // by the deadline; the engine has ended
    MIP_FAILED,      // it gave up, or died
} MipStatus;

typedef struct Relaxed {
    MipStatus status;
    int64_t iterations;
    double objective;
    double *x, *dual;  // by column, by row; valid until the next call of this engine
} Relaxed;

typedef struct Branched {
    MipStatus status;
    double bound;      // no point is cheaper
    double objective;  // of x
    double *x;         // NULL: none was found; the caller frees it
} Branched;

// Callbacks that a search calls while it runs. x is by column and valid during the call.
typedef struct MipListener {
    void (*point)(void *to, double objective, const double *x);
    void (*bound)(void *to, double bound);
    void *to;
} MipListener;

typedef struct Engine Engine;

// Starts an engine. NULL, with a warning, if the folder has no program of that name.
Engine *engine_start(const char *programs, const char *name, const Deadline *w, Diag *d);
void engine_end(Engine *e);    // ends the process immediately, and frees e, which may be NULL
void engine_clear(Engine *e);  // forgets all columns and rows; e may be NULL
void engine_columns(Engine *e, const Lines *columns);
void engine_rows(Engine *e, const Lines *rows);
// Sets new bounds of columns.
void engine_bounds(Engine *e, int n, const int *column, const double *low, const double *high);
// Solves the linear program, starting from the last solution's basis.
Relaxed engine_relax(Engine *e, int64_t iterations);
// Branches for integer values in the columns that are whole. Looks only for points cheaper than the
// cutoff. Ends when the bound is within `gap` of the best point, or after `nodes` nodes.
Branched engine_branch(Engine *e, double cutoff, double gap, int64_t nodes, MipListener l);

// ---- wire.c: messages of the socket, the same on both sides ----
typedef enum WireKind {
    WIRE_CLEAR = 1,
    WIRE_COLUMNS,
    WIRE_ROWS,
    WIRE_BOUNDS,    // int64 n, then three doubles each: column, low, high
    WIRE_RELAX,     // int64 iterations
    WIRE_BRANCH,    // double cutoff, double gap, int64 nodes
    WIRE_RELAXED,   // int64 status, int64 iterations, double objective, x, dual
    WIRE_POINT,     // double objective, x
    WIRE_BOUND,     // double
    WIRE_BRANCHED,  // int64 status, double bound
} WireKind;

// Sends one message. False if the other side is gone.
bool wire_send(int fd, WireKind kind, const Text *body);
// Waits for a message until the deadline `stop` (NULL: forever) and returns its kind; 0 if the
// other side is gone or the deadline passed.
int wire_receive(int fd, Text *body, const Deadline *stop);
void wire_put_lines(Text *t, const Lines *l);
// Returns the next `size` bytes of t and moves `at` past them. They still belong to t.
const void *wire_take(const Text *t, size_t *at, size_t size);
Lines wire_take_lines(const Text *t, size_t *at);

#endif
