// Decisions of a plan that the user made.
#ifndef SHARDCC_PINS_H
#define SHARDCC_PINS_H

#include "driver/driver.h"
#include "solver/plan.h"

// What --pin asks for on a mesh, each thing once; returns how many, -1 after an error.
int pins_read(Arena *a, const Options *o, const Graph *g, const Mesh *m, Pin **pin, Diag *d);

#endif
