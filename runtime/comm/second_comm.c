// The communicator of a rank's second thread.
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"

void rt_second_comm_open(RtSecondComm *s, RtComm *c, int64_t names)
{
    pthread_mutex_init(&s->transport, NULL);
    c->lock = &s->transport;
    s->comm = *c;
    s->comm.tag = 1;
    rt_last_calls_open(&s->comm, names);
    s->comm.pending = rt_alloc((size_t)RT_MAX_PENDING(c), sizeof *c->pending);
    s->comm.source = rt_alloc((size_t)c->ranks, sizeof *c->source);
    memset(s->comm.bytes, 0, sizeof s->comm.bytes);
    c->second = &s->comm;
}

void rt_second_comm_close(RtSecondComm *s, RtComm *c)
{
    c->second = NULL;
    c->lock = NULL;
    pthread_mutex_destroy(&s->transport);
    rt_last_calls_close(&s->comm);
    free(s->comm.pending);
    free(s->comm.source);
}
