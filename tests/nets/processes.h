// Programs of several ranks as processes.
#ifndef SHARDCC_TESTS_NETS_PROCESSES_H
#define SHARDCC_TESTS_NETS_PROCESSES_H

#include "runtime/rt_model.h"

// Runs a step of the program on the arenas of its ranks. Returns false if one doesn't end well.
bool run_processes(const RtModel *m, char *const *arena, int ranks);

#endif
