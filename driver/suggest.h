// A refusal for want of memory names options that would help.
#ifndef SHARDCC_SUGGEST_H
#define SHARDCC_SUGGEST_H

#include "driver/driver.h"

// Says how many bytes twice the micro-batches would take, and one rank more, wherever that is less
// than what the refused program takes, the smallest one of the graphs that was found. The lines are
// notes below the error. To find them takes less time than the refusal did.
void suggest_options(const Options *o, const Compiled *refused, Diag *d);

#endif
