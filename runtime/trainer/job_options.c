// The options that say which rank this is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/trainer/trainer_options.h"

// "10.0.0.1:29500", "node3:29500", "[fe80::1]:29500".
static bool split_master(const char *text, char *host, size_t capacity, int *port)
{
    const char *colon = strrchr(text, ':');
    bool is_bracketed = *text == '[' && colon > text && colon[-1] == ']';
    char *end = NULL;
    long v = colon ? strtol(colon + 1, &end, 10) : 0;

    if (!colon || colon[1] < '0' || colon[1] > '9' || *end || v < 1 || v > UINT16_MAX)
        return false;
    int n = (int)(colon - text) - 2 * is_bracketed;
    bool fits = snprintf(host, capacity, "%.*s", n, text + is_bracketed) < (int)capacity;
    *port = (int)v;
    return n > 0 && fits && (is_bracketed || !memchr(host, ':', (size_t)n));
}

bool rt_options_check_job(const RtOptions *o, const RtModel *m)
{
    char host[sizeof(((RtJob *)0)->host)];
    int port;

    if (o->spawn && o->size && o->rank + o->spawn > o->size)
        return rt_error(m, "--spawn %lld: from --rank %lld on there are %lld ranks of --size %lld",
                        (long long)o->spawn, (long long)o->rank, (long long)(o->size - o->rank),
                        (long long)o->size);
    return !o->master || split_master(o->master, host, sizeof host, &port) ||
           rt_error(m, "--master: '%s' is not HOST:PORT, with a port from 1 to 65535", o->master);
}

bool rt_options_has_job(const RtOptions *o)
{
    return o->spawn || o->rank >= 0 || o->size || o->master;
}

RtJob rt_options_job(const RtOptions *o)
{
    RtJob job = {.timeout = (double)o->timeout,
                 .rank = o->rank < 0 ? 0 : (int)o->rank,
                 .size = (int)o->size,
                 .follows_stdin = o->stdin_signals,
                 .interface = o->interface};

    if (o->master && !split_master(o->master, job.host, sizeof job.host, &job.port))
        *job.host = 0;
    return job;
}
