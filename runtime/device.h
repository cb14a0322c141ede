// The device that a program runs on, as a table: its memory and its threads. Host code reaches the
// arena through this table alone, so the arena needn't be memory of the host. (CUDA's driver API
// and IREE's HAL have the same entries.)
#ifndef SHARDCC_RT_DEVICE_H
#define SHARDCC_RT_DEVICE_H

#include "runtime/rt_kernels.h"

// This rank's share of the processors that it may use: the default number of threads, and the
// rank's number among the ranks that share these processors, from 0.
typedef struct RtShare {
    int threads, index;
} RtShare;

// A function of the program: RtModel.prepare, micro, reduce, update or forward.
typedef void (*RtPart)(Rt *rt, char *m);

// The devices of a machine, for --info. A text says why if there is none.
typedef struct RtDevices {
    int n;
    char name[128];    // of the first one
    char driver[128];  // and its version
} RtDevices;

// A moment between statements, {0} at first: the host's clock, or an event of the device.
typedef struct RtMark {
    double seconds;
    void *event;
} RtMark;

// Abilities of a device, or of a transport, for which trainers have options.
typedef enum RtCan {
    RT_CAN_THREAD = 1,      // --threads, --pin: it computes with threads of the host
    RT_CAN_WATCH = 2,       // --check-arena: the arena can be read and filled between two calls
    RT_CAN_CHOOSE = 4,      // --device: a machine may have several of them
    RT_CAN_RECORD = 8,      // --no-graph: it records functions and replays them
    RT_CAN_ROUND = 16,      // --tf32
    RT_CAN_TUNE = 32,       // --tune
    RT_CAN_LOAD = 64,       // --libraries: it opens libraries at start
    RT_CAN_SPAWN = 128,     // --spawn, --rank …: a transport whose ranks need no launcher
    RT_CAN_EXCHANGE = 256,  // --collectives: the program has collectives of its own
    RT_CAN_FOLLOW = 512,    // --stdin-signals: like RT_CAN_SPAWN, or a program of one rank
} RtCan;

// Addresses are bytes in the arena. Calls and the program's statements are carried out in their
// order.
struct RtDevice {
    const char *name;
    const char *kind;  // for messages: "CPU", "GPU"
    unsigned can;      // bits of RtCan
    // Looks for the devices of this machine. NULL: the machine itself is the device.
    void (*list)(RtDevices *to);
    // All ranks call it.
    RtShare (*share)(struct RtComm *c);
    // Opens the device. Returns false after a message. NULL: there is nothing to open.
    bool (*open)(Rt *rt, const RtModel *m);
    // Allocates RtModel.arena_bytes of zeros, Rt.arena, once the collectives are open, which may
    // take memory of the device. Returns false after a message.
    bool (*allocate)(Rt *rt, const RtModel *m);
    // Frees the prepared kernels and the arena, as far as there are any.
    void (*close)(Rt *rt, const RtModel *m);
    // Starts `threads` threads, Rt.threads; 0: as many as the share has, up to RtModel.threads. It
    // refuses more than those. Binds each to a processor, if `pins`. Returns false after a message.
    bool (*start_threads)(Rt *rt, const RtModel *m, RtShare share, int threads, bool pins);
    // Chooses how kernels compute, after RtModel.init and before anything is put into the arena,
    // which has zeros afterwards. Returns false after a message. NULL: there is nothing to choose.
    bool (*tune)(Rt *rt, const RtModel *m);
    // Copy between host memory and the arena. Afterwards the host's bytes may be changed, or read.
    // One thread of the host calls them at a time.
    void (*copy_in)(Rt *rt, int64_t to, const void *from, int64_t bytes);
    void (*copy_out)(Rt *rt, void *to, int64_t from, int64_t bytes);
    // Writes an element of `bytes` bytes `count` times.
    void (*fill)(Rt *rt, int64_t to, const void *element, int64_t bytes, int64_t count);
    // Runs a function of the program. It may return before its statements have been carried out.
    void (*run)(Rt *rt, RtPart part);
    // Waits until all calls and statements so far have been carried out.
    void (*synchronise)(Rt *rt);
    // Marks the moment when all calls and statements so far have been carried out.
    void (*mark)(Rt *rt, RtMark *m);
    // The seconds between two such moments, after `synchronise`.
    double (*seconds_between)(const RtMark *from, const RtMark *to);
    void (*free_mark)(RtMark *m);
};

// The offset of an operand of the program in the arena.
static inline int64_t rt_operand_at(const Rt *rt, const void *operand)
{
    return (const char *)operand - rt->arena;
}

// Stack bytes that each thread needs. The packed rows of a product take 768 KiB of it (gemm.c). The
// test models run with 1 MiB and crash with 768 KiB.
enum { RT_STACK_BYTES = 1 << 20 };

// ---- the tensors of a model in the arena: device_tensor.c ----

int64_t rt_tensor_at(const RtTensor *t, int layer);
// Sets all layers to `value`, including padding.
void rt_fill_tensor(Rt *rt, const RtModel *m, const RtTensor *t, double value);
// A tensor of one element.
double rt_get_scalar(Rt *rt, const RtTensor *t);
int64_t rt_get_scalar_int(Rt *rt, const RtTensor *t);
void rt_set_scalar(Rt *rt, const RtTensor *t, double value);
void rt_set_scalar_int(Rt *rt, const RtTensor *t, int64_t value);
// Copies this rank's shard of a whole layer into the arena. `from` is the type of its elements: the
// tensor's, or one that converts to it.
void rt_load_shard(Rt *rt, const RtModel *m, const RtTensor *t, int layer, RtType from,
                   const void *whole);

#endif
