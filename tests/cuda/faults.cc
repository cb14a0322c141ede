// Faults of exchanges between ranks: CUDA's double calls these for functions of the host that a
// stream calls, NCCL's double for its collectives.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <unistd.h>

#include "tests/cuda/cudart_internal.h"

namespace cudart
{

// The exchange in which CUDART_FAULT lets something go wrong: "kill:7", "stop:7", "hang:7",
// "error:7"; "slow:500": each takes so many milliseconds more; "list:0": all are printed.
static struct {
    std::string kind;
    long number = -1;
} fault;
static long exchanges;

static void say_fault()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    fprintf(stderr, "fault at %.3f\n", (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
    fflush(stderr);
}

std::atomic<bool> exchange_has_failed;

void fault_in_exchange(const char *kind)
{
    if (fault.kind != kind || exchanges != fault.number)
        return;
    say_fault();
    exchange_has_failed = fault.kind == "error";
    for (;;)
        pause();
}

void begin_exchange(const char *call, size_t bytes)
{
    const char *text = getenv("CUDART_FAULT"), *number = text ? strchr(text, ':') : nullptr;

    if (number && fault.kind.empty()) {
        fault.kind.assign(text, number);
        fault.number = atol(number + 1);
    }
    exchanges++;
    if (fault.kind == "list")
        fprintf(stderr, "exchange %ld %s %zu\n", exchanges, call, bytes);
    if (fault.kind == "slow")
        usleep((useconds_t)(1000 * fault.number));
    else if (exchanges == fault.number && (fault.kind == "kill" || fault.kind == "stop")) {
        say_fault();
        raise(fault.kind == "kill" ? SIGKILL : SIGSTOP);
    }
}

}  // namespace cudart
