// Shared by the files of launch/.
#ifndef SHARDCC_LAUNCH_INTERNAL_H
#define SHARDCC_LAUNCH_INTERNAL_H

#include "launch/launch.h"

// The commands that start the ranks by ssh, one for each host: ssh.c. Returns false after an error.
bool launch_by_ssh(Arena *a, const LaunchJob *job, Launch *to, Diag *d);

static inline void add_word(Arena *a, Strings *to, const char *word)
{
    *arena_push(a, to->s, to->n, to->cap) = word;
}

#endif
