// Starts other programs: to read what they print, or as the ranks of a job.
#ifndef SHARDCC_LAUNCH_H
#define SHARDCC_LAUNCH_H

#include "base/base.h"

// Runs argv[0], which is looked up in PATH unless it has a slash, and appends up to 1 MiB of its
// stdout to `t`. Its stderr is shardcc's. It gets the signals that would end shardcc and are
// blocked meanwhile. Sets *status to its exit status; 128 and more: a signal ended it. Returns
// false after an error if it can't be run.
bool launch_read(char *const *argv, Text *t, int *status, Diag *d);
// Has the process a child that runs? True if that can't be known.
bool launch_has_children(pid_t process);

// ---- hosts: hosts.c ----

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

// ---- launchers: launchers.c, ssh.c ----

typedef struct LaunchJob {
    const char *launcher;  // "auto", "mpirun", "srun", "ssh" or "none"
    int ranks;
    bool can_spawn;        // the program starts its ranks itself, with a trainer's --spawn
    const Hosts *hosts;    // may be empty
    char *const *program;  // the program's words; the list ends with NULL
} LaunchJob;

enum { LAUNCH_SSH_FAILED = 255 };  // ssh's status if it doesn't reach its host, or no more

// A command that starts ranks.
typedef struct LaunchCommand {
    char *const *words;  // the list ends with NULL
    // Its stdin begins with this text; then a byte is the number of a signal for its ranks, and
    // they end when it ends. NULL: its stdin is shardcc's.
    const char *input;
    int host;  // the number of the host whose ranks it starts; -1: it starts them all
} LaunchCommand;

typedef struct Launch {
    const char *launcher;  // the chosen one
    bool is_by_slot;       // ranks fill the slots of the hosts in their order
    LaunchCommand *command;
    int n;
} Launch;

// Finds the commands that start the ranks of a job. mpirun and ssh fill the slots of the hosts in
// their order. "none" has a program that can spawn start all its ranks on this host. Returns false
// after an error.
bool launch_make(Arena *a, const LaunchJob *job, Launch *to, Diag *d);

#endif
