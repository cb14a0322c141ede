// Specs and strategies of a plan that the user fixed.
#ifndef SHARDCC_PINS_H
#define SHARDCC_PINS_H

#include "solver/plan/plan.h"

// Reads `n` --pin options for a mesh, and gives each pin once. Returns how many, or -1 after an
// error.
int pins_read(Arena *a, const char *const *option, int n, const Graph *g, const Mesh *m, Pin **pin,
              Diag *d);

#endif
