// Starts other programs: to read what they print, or as the ranks of a job.
#ifndef SHARDCC_LAUNCH_H
#define SHARDCC_LAUNCH_H

#include "base/base.h"

// Runs argv[0], which is looked up in PATH unless it has a slash, and appends up to 1 MiB of its
// stdout to `t`, and of its stderr to `errors` (NULL: that is shardcc's). It gets the signals that
// would end shardcc and are blocked meanwhile. Sets *status to its exit status; 128 and more: a
// signal ended it. Returns false after an error if it can't be run.
bool launch_read(char *const *argv, Text *t, Text *errors, int *status, Diag *d);

// A process in a group of its own, so that a terminal's Ctrl-C doesn't reach it. It gets SIGTERM if
// shardcc is gone. Returns its id; -1 after an error. `said` (may be NULL) gets the end of a pipe
// from which its stderr is read without waiting; the caller closes it.
pid_t launch_start(char *const *argv, int *said, Diag *d);
// Has the process a child that runs? True if that can't be known.
bool launch_has_children(pid_t process);

// A host of a job.
typedef struct Host {
    const char *name;
    int slots;     // how many ranks it takes; 0: not said
    int failures;  // runs that failed on it
} Host;

#define HOST_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// A host without slots has one.
static inline int host_slots(const Host *h) { return h->slots ? h->slots : 1; }

typedef struct Hosts {
    Host *host;
    int n;
} Hosts;

// Reads a file with a host a line: "node7", "node7 slots=8"; a # begins a comment. No host may be
// there twice.
bool hosts_read(Arena *a, const char *path, Hosts *to, Diag *d);

// The command that starts `ranks` ranks of a program: the words of mpirun or srun, then the
// program's own. mpirun fills the slots of the hosts in their order.
// `launcher` is "auto", "mpirun", "srun" or "none". `can_spawn`: the program starts the ranks of
// one host itself, which "none" then has it do. `hosts` may be empty. The list ends with NULL.
bool launch_words(Arena *a, const char *launcher, int ranks, bool can_spawn, const Hosts *hosts,
                  char *const *program, Strings *to, Diag *d);

#endif
