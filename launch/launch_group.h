// The processes that start the ranks of one run. They end together: once one has failed, the others
// have some seconds to end, too.
#ifndef SHARDCC_LAUNCH_GROUP_H
#define SHARDCC_LAUNCH_GROUP_H

#include "launch/launch.h"

// A command that runs. It is in a process group of its own, so that a terminal's Ctrl-C doesn't
// reach it, and gets SIGTERM if shardcc is gone.
typedef struct LaunchProcess {
    pid_t id;             // 0: it has ended
    int status;           // then; 128 and more: a signal ended it
    int in, out, said;    // ends of its stdin, stdout and stderr; -1: shardcc's, or closed
    Text input;           // that wasn't written to its stdin yet
    Text output, errors;  // what has come of stdout and stderr; the reader may take it
} LaunchProcess;

typedef struct LaunchGroup {
    LaunchProcess *process;  // by command
    struct pollfd *fd;
    int n, running;
    int status;       // of the process that failed first; 0: none has
    int failed;       // its number; -1: none
    double grace;     // seconds that the others have after that, unless its host is out of reach
    double deadline;  // the next moment at which something is done about them; 0: none
    bool is_hung_up;
} LaunchGroup;

double launch_seconds(void);  // of a clock that nobody sets

// Starts all commands. `reads_output`, `reads_errors`: of all of them, which is shardcc's else.
// Returns false after an error; then none is left.
bool launch_group_start(Arena *a, const Launch *l, bool reads_output, bool reads_errors,
                        double grace, LaunchGroup *g, Diag *d);
// Waits for bytes, for the end of a process, for the descriptor `also` (-1: none), or for so many
// seconds; and takes what has come. The texts are capped at 1 MiB.
void launch_group_wait(LaunchGroup *g, int also, double seconds);
// Gives the signal to the ranks: by stdin where a command has input, else to the processes.
void launch_group_signal(LaunchGroup *g, int signal);
// Ends the ranks: closes stdin where a command has input, and kills what is still there some
// seconds later.
void launch_group_hang_up(LaunchGroup *g);
// Frees the texts, once nothing runs.
void launch_group_free(LaunchGroup *g);

#endif
