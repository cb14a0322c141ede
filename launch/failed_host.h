// Which host a run failed on, by what its ranks and their launcher say.
#ifndef SHARDCC_FAILED_HOST_H
#define SHARDCC_FAILED_HOST_H

#include "launch/launch.h"

// The number of the host that a line of stderr says is gone or out of reach; -1: the line says no
// such thing. Lines name a host, or a rank: `by_slot` says that ranks fill the slots of the hosts
// in their order, as under mpirun.
int failed_host(const char *line, const Hosts *h, bool by_slot);

#endif
