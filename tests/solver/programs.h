// Finds the engines' programs, in the folder above the tests' own.
#ifndef SHARDCC_TESTS_SOLVER_PROGRAMS_H
#define SHARDCC_TESTS_SOLVER_PROGRAMS_H

#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

static inline const char *programs(Arena *a)
{
    char path[4096] = "";
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n <= 0)
        abort();
    return arena_string(a, "%s/../..", dirname(path));
}

#endif
