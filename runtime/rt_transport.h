// The table of transports: what the compiler needs to build a program with one, and what a program
// that is linked with none needs to notice that several ranks were started. rt_transports.def has
// the rows.
#ifndef SHARDCC_RT_TRANSPORT_ROW_H
#define SHARDCC_RT_TRANSPORT_ROW_H

#include <stdbool.h>
#include <stddef.h>

enum { RT_MAX_VARIABLES = 8 };

typedef struct RtTransportRow {
    const char *name;
    const char *needs;    // to build a program, and where that comes from; NULL: nothing
    const char *cc;       // the C compiler of its Makefile; NULL: the user's
    const char *library;  // flags that link what it needs, unless `cc` does; NULL: none
    bool can_spawn;       // its ranks need no launcher: programs have --spawn, --rank …
    // Environment variables that launchers set before a program starts: how many ranks there are,
    // and the number of this one. Up to NULL; the first one that is set counts.
    const char *counts[RT_MAX_VARIABLES], *numbers[RT_MAX_VARIABLES];
} RtTransportRow;

extern const RtTransportRow rt_transport_table[];  // up to {0}

const RtTransportRow *rt_transport_find(const char *name);  // NULL: there is none of that name

#endif
