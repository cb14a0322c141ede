// Prints what the user learns about a compilation.
#ifndef SHARDCC_REPORT_H
#define SHARDCC_REPORT_H

#include "lower/lower.h"

void report_model(const char *file, const Graph *g);  // parameters, layers, inputs
void report_program(const Program *p);                // flops, arena, and what the arena holds
char *plan_line(Arena *a, const Program *p);          // the plan in one line

#endif
