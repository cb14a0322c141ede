// The functions that a library must provide to be an engine, as in solver/assign/mip.h. engine.c
// has main() and reads the socket; report.c writes to it.
#ifndef SHARDCC_ENGINE_H
#define SHARDCC_ENGINE_H

#include "solver/assign/mip.h"

void library_clear(void);  // forgets columns and rows
void library_columns(const Lines *columns);
void library_rows(const Lines *rows);
void library_bounds(int column, double low, double high);
Relaxed library_relax(int64_t iterations);
// Reports points and bounds by engine_point and engine_bound while it runs.
Branched library_branch(double cutoff, double gap, int64_t nodes);

// Sends a message to the solver and frees its text. Ends the process if the solver is gone.
void engine_say(WireKind kind, Text *t);
void engine_point(double objective, const double *x, int n);
void engine_bound(double bound);

#endif
