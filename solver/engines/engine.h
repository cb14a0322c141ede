// What a library must do to be an engine: solver/mip.h behind the pipe. engine.c has main().
#ifndef SHARDCC_ENGINE_H
#define SHARDCC_ENGINE_H

#include "solver/mip.h"

void library_columns(const Lines *columns);
void library_rows(const Lines *rows);
void library_bounds(int column, double low, double high);
Relaxed library_relax(int64_t iterations);
// Says what it finds by engine_point and engine_bound.
Branched library_branch(double cutoff, double gap, int64_t nodes);

void engine_point(double objective, const double *x, int n);
void engine_bound(double bound);

#endif
