// Finds the largest size of a dim with which a program fits a memory.
#ifndef SHARDCC_LARGEST_SIZE_H
#define SHARDCC_LARGEST_SIZE_H

#include "driver/driver.h"

// Tries sizes of o->range. Prints a table of the sizes tried, and the largest one that fits
// o->request.memory; with o->csv, the table goes to that file too. Returns the exit status.
int largest_size(Arena *a, const Options *o, Diag *d);

#endif
