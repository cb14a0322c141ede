// The transport `loop`, which reaches no other rank.
#include <stdlib.h>

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/exchange/message_collectives.h"

static bool loop_open(RtComm *c)
{
    return rt_error(c->model, "the transport loop reaches no other rank: compile with another one");
}

static void loop_close(RtComm *c) { (void)c; }

static int loop_send(RtComm *c, int to, const void *data, int64_t bytes) { return -1; }

static int loop_receive(RtComm *c, int from, void *data, int64_t bytes) { return -1; }

static int loop_test(RtComm *c, int message) { return -1; }

static void loop_warn(RtComm *c, const RtWarning *w) { (void)c; }

static int loop_warned(RtComm *c, RtWarning *w) { return -1; }

static void loop_end(RtComm *c) { exit(1); }

const RtTransport rt_loop = {
    .name = "loop",
    .launcher = "looprun",
    .starting = "the loop's start",
    .ending = "the loop's end",
    .open = loop_open,
    .close = loop_close,
    .send = loop_send,
    .receive = loop_receive,
    .test = loop_test,
    .warn = loop_warn,
    .warned = loop_warned,
    .end = loop_end,
    .collectives = &rt_message_collectives,
};
