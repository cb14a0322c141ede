// --accumulate auto: chooses how many micro-batches a step has.
#ifndef SHARDCC_CHOOSE_ACCUMULATE_H
#define SHARDCC_CHOOSE_ACCUMULATE_H

#include "driver/make_program.h"

// Sets o->accumulate to the number of micro-batches with which the program fits the memory and its
// simulated step is the shortest; where none fits, to the one that takes the fewest bytes. `c` is
// the cluster; NULL: a fixed machine. What doesn't compile isn't tried further: the messages come
// from the compilation that follows.
void accumulate_choose(Options *o, const Cluster *c, const char *file);

#endif
