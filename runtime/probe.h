// What the files of the probe share: the ranks that mpirun started, how long messages take between
// them, and what all of them at once do to messages and to computation.
#ifndef RT_PROBE_H
#define RT_PROBE_H

#include <stdbool.h>

#include "runtime/rt.h"

typedef struct Ranks {
    int n, rank;
    int per_host;
    int per_machine;  // hosts may be containers, which share its cores
} Ranks;

enum { MOST_RANKS = 128 };

// One rank if mpirun didn't start this program. Ends it, with a message, if ranks don't stand by
// host in a row, equally many on each.
Ranks ranks_begin(void);
// Waits for all, and takes no time of those that still work.
void ranks_wait(const Ranks *r);
void ranks_end(const Ranks *r);

// What a trainer would compute meanwhile: some work of less than a millisecond.
typedef struct Meanwhile {
    void (*call)(Rt *rt, const void *p);
    Rt *rt;
    const void *p;
} Meanwhile;

// Measures messages between each two ranks, and between all at once; rank 0 prints them:
// "messages": {…}. All ranks call it.
void ranks_measure(const Ranks *r, const Meanwhile *m);

// ---- messages ----

enum { LARGE = 1 << 22 };  // bytes of one that shows what a byte takes

// Seconds of a message one way between this rank and another, of which one begins: the median of
// some calls.
double message_seconds(int other, bool begins, char *p, int bytes, int calls);

// Where every rank exchanges messages with the one a stride away, p having room for two large ones.
// How many times as long do they take as where only the first rank and that one do?
double load_times(const Ranks *r, int stride, char *p);
// So many seconds computation takes longer for each byte that goes each way meanwhile.
double load_overhead(const Ranks *r, int stride, char *p, const Meanwhile *m);

#endif
