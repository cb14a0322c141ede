// What the files of the probe share: the ranks that mpirun started, and how long messages take
// between them.
#ifndef RT_PROBE_H
#define RT_PROBE_H

typedef struct Ranks {
    int n, rank;
    int per_host;
} Ranks;

enum { MOST_RANKS = 128 };

// One rank if mpirun didn't start this program. Ends it, with a message, if ranks don't stand by host
// in a row, equally many on each.
Ranks ranks_begin(void);
// Waits for all, and takes no time of those that still work.
void ranks_wait(const Ranks *r);
void ranks_end(const Ranks *r);

// Measures messages between each two ranks, and between all at once; rank 0 prints them: "messages":
// {…}. All ranks call it.
void ranks_measure(const Ranks *r);

#endif
