// The table of transports.
#include "runtime/rt_transport.h"

#include <string.h>

#define RT_TRANSPORT(name, ...) {#name, __VA_ARGS__},
const RtTransportRow rt_transport_table[] = {
#include "runtime/rt_transports.def"
    {0}};

const RtTransportRow *rt_transport_find(const char *name)
{
    for (const RtTransportRow *row = rt_transport_table; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}
