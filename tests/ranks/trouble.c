// Runs two collectives alternately on four ranks (2x2). A neighbour of rank 0 fails in the third
// round: trouble stop|kill|fail|slow TIMEOUT [AXIS [overlap]], just before its collective along
// that axis. An unfinished file trouble.tmp exists meanwhile. Along axis 0 ranks send messages, as
// if they were on different hosts; along axis 1 they use the shared window. With `overlap`, there
// is a comm thread, which runs the collectives along axis 0.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/collectives.h"
#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/device.h"
#include "runtime/rt_cpu.h"
#include "runtime/rt_workspace.h"

enum { N = 300000 };

static void make_trouble(RtComm *c, const RtModel *m, const char *kind)
{
    if (!strcmp(kind, "stop"))
        raise(SIGSTOP);
    if (!strcmp(kind, "kill"))
        raise(SIGKILL);
    if (!strcmp(kind, "slow"))
        sleep(1);
    if (!strcmp(kind, "fail")) {
        rt_error(m, "data.bin: it is gone");
        rt_comm_fail(c);
    }
}

int main(int argc, char **argv)
{
    const RtModel m = {
        .name = "trouble", .transport = &TRANSPORT, .mesh = {2, {2, 2}, {"dp", "tp"}}, .slots = 1};
    const RtExchange p = {RT_F32, .outer = 1, .whole = N, .inner = 1};
    Rt rt = {
        .device = &rt_cpu, .threads = 1, .workspace = malloc((size_t)rt_exchange_workspace(&p, 2))};
    float *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);

    if (argc < 3 || !rt_comm_open(&rt.comm, &m, &(RtJob){.timeout = atof(argv[2])}))
        return 1;
    if (rt_comm_rank(rt.comm) == 0)
        fclose(fopen("trouble.tmp", "w"));
    rt_comm_file(rt.comm, "trouble.tmp");
    int troubled = argc > 3 ? atoi(argv[3]) : 1;
    RtGroup *inter_host = &rt.comm->inter_host[0], *intra_host = &rt.comm->intra_host[0];
    *inter_host = *intra_host;
    intra_host->n = 1;
    intra_host->me = 0;
    if (!rt_collectives_open(&rt, &m, argc > 4))
        return 1;
    for (int round = 0; round < 5; round++) {
        for (int axis = 0; axis < 2; axis++) {
            RtExchange e = p;
            e.axis = axis;
            if (round == 2 && axis == troubled && rt_comm_rank(rt.comm) == (axis ? 1 : 2))
                make_trouble(rt.comm, &m, argv[1]);
            rt_comm_at(rt.comm, axis ? "h.{}.mlp: all_reduce f32[300000]" : NULL, 7);
            if (axis)
                rt_all_reduce(&rt, &e, x, x);
            else
                rt_start(&rt, 0, rt_all_reduce, &e, y, y);
        }
        rt_wait(&rt, 0);
    }
    if (rt_comm_max(rt.comm, 7) == 7 && rt_comm_rank(rt.comm) == 0)
        printf("done, %lld bytes along tp\n", (long long)rt_comm_bytes(rt.comm, RT_ALL_REDUCE, 1));
    rt_collectives_close(&rt, true);
    rt_comm_close(rt.comm);
    free(rt.workspace);
    free(x);
    free(y);
    return 0;
}
