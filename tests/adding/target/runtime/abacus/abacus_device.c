// An abacus as a device. No machine has one.
#include "runtime/core/core.h"
#include "runtime/device.h"
#include "runtime/rt_abacus.h"

void rt_rows(Rt *rt, RtRows *f, const void *operands, int64_t rows, int64_t work)
{
    f(operands, 0, rows);
}

static RtShare abacus_share(struct RtComm *c) { return (RtShare){1, 0}; }

static bool abacus_open(Rt *rt, const RtModel *m)
{
    return rt_error(m, "this program is for an abacus, and this machine has none");
}

static void abacus_close(Rt *rt, const RtModel *m) { (void)rt; }

const RtDevice rt_abacus = {
    .name = "abacus",
    .kind = "abacus",
    .share = abacus_share,
    .open = abacus_open,
    .close = abacus_close,
};
