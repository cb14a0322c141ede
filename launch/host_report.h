// Reports of the hosts of a job: what they have, as the runtime's probe sees it on each of them.
#ifndef SHARDCC_HOST_REPORT_H
#define SHARDCC_HOST_REPORT_H

#include "launch/launch.h"

// A host. Sizes are bytes, times seconds; INT64_MAX is no limit.
typedef struct HostReport {
    const char *name;  // in the file of hosts
    char own[64];      // its own name
    const char *gone;  // the launcher's message if it is out of reach
    bool is_there;     // the probe has answered
    bool is_first;     // the link to it and the clocks are measured from here
    bool is_linked;    // the link between the first one and it is measured
    bool sees;         // it sees the file that the first one has made in the folder
    int cores;
    int64_t memory, free, disk;            // all, free; free on the disk of the current folder
    int64_t files, locked;                 // limits: of open files, of locked memory
    int64_t shardcc, program;              // checksums of the files; -1: they can't be read
    int64_t checkpoints;                   // free on the disk of the checkpoints
    double round_trip, latency, per_byte;  // of messages from and to the first one
    double ahead;                          // its clock less the first one's
    const char *address;                   // interface and address; NULL: it isn't known
    const char *devices;                   // "2, NVIDIA H200", as the program says; NULL: nothing
    const char *driver, *exchanges;        // versions, of the same
    // By host: the sum of its and that host's numbers came out there.
    enum { SUM_MISSING, SUM_WRONG, SUM_RIGHT } * sum;
} HostReport;

// The things that are looked at there.
typedef struct HostQuestion {
    const char *launcher;     // as of LaunchJob
    const char *probe;        // the file of the runtime's probe
    bool can_spawn;           // of its ranks
    const char *interface;    // for its --interface, if it can spawn; NULL: not given
    const char *libraries;    // for the program's --libraries; NULL: not given
    const char *shardcc;      // the file of this program
    const char *program;      // NULL: none
    const char *checkpoints;  // the folder; NULL: none
    const char *folder;       // that all hosts must see
} HostQuestion;

// Fills in a report for each host, or for this machine alone if there are none. Hosts out of reach
// are left out of the looking. Returns false after an error; some hosts may have answered.
bool host_reports_make(Arena *a, const HostQuestion *q, const Hosts *hosts, HostReport *report,
                       Diag *d);

#endif
