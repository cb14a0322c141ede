// How a program's collectives are carried out, as a table. A communicator brings one that is made
// of its messages (transport.h), and programs for a device with memory of its own name another one.
// Messages about the job (agreement, results, warnings) stay with the transport.
#ifndef SHARDCC_RT_COLLECTIVES_H
#define SHARDCC_RT_COLLECTIVES_H

#include <stddef.h>

#include "runtime/rt_kernels.h"

// A description of a table, for a run's first line, its log and messages.
typedef struct RtDescription {
    char text[160];         // "NCCL 2.28.9, …"
    int64_t device_bytes;   // that it takes of the device's memory
    const char *variables;  // its environment variables begin so; NULL: it has none
} RtDescription;

// The calls of rt_kernels.h go to the entries of their names.
struct RtCollectives {
    const char *name;
    // Writes what exchanges would go by on this machine, for --info: "NCCL 2.28.9", or why it isn't
    // there. `libraries`: of --libraries, or NULL. NULL: all that they need is in the program.
    void (*find)(const char *libraries, char *to, size_t capacity);
    // Called once Rt.comm is there, before any other. With `overlaps`, started calls run
    // concurrently with the program's statements, in RtModel.slots slots; otherwise they have ended
    // when `start` returns. Returns false after a message.
    bool (*open)(Rt *rt, const RtModel *m, bool overlaps);
    // is_clean: all ranks have come to their ends, so that none waits for another one.
    void (*close)(Rt *rt, bool is_clean);
    // Has something gone wrong outside of a call? Writes what. Another thread calls it now and
    // then. NULL: nothing can.
    bool (*find_error)(const Rt *rt, char *why, size_t capacity);
    void (*describe)(const Rt *rt, RtDescription *to);  // NULL: there is nothing to say
    RtCollective *all_gather, *all_reduce, *all_to_all, *keep_one, *permute, *reduce_scatter,
        *shard;
    // `f` is a call of rt_kernels.h.
    void (*start)(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y, const void *x);
    void (*wait)(Rt *rt, int slot);
};

// Sets and opens Rt.collectives: the model's, else the transport's. With one rank there are none.
bool rt_collectives_open(Rt *rt, const RtModel *m, bool overlaps);
void rt_collectives_close(Rt *rt, bool is_clean);
// False: there is nothing to say.
static inline bool rt_collectives_describe(const Rt *rt, RtDescription *to)
{
    *to = (RtDescription){0};
    if (!rt->collectives || !rt->collectives->describe)
        return false;
    rt->collectives->describe(rt, to);
    return true;
}

#endif
