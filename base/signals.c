// Blocks the signals that would end the program while a half-made file exists.
#include "base/base.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

void signals_block(BlockedSignals *h)
{
    sigemptyset(&h->blocked);
    for (int i = 0; i < COUNT(ending_signals); i++) {
        struct sigaction now;
        if (!sigaction(ending_signals[i], NULL, &now) && now.sa_handler != SIG_IGN)
            sigaddset(&h->blocked, ending_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &h->blocked, &h->before);
}

bool signal_is_pending(void)
{
    sigset_t pending;

    sigpending(&pending);
    for (int i = 0; i < COUNT(ending_signals); i++)
        if (sigismember(&pending, ending_signals[i]))
            return true;
    return false;
}

void signals_unblock(const BlockedSignals *h) { sigprocmask(SIG_SETMASK, &h->before, NULL); }
