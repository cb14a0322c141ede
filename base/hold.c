#include "base/base.h"

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

void hold_begin(Hold *h)
{
    sigemptyset(&h->held);
    for (int i = 0; i < COUNT(ends); i++) {
        struct sigaction now;
        if (!sigaction(ends[i], NULL, &now) && now.sa_handler != SIG_IGN)
            sigaddset(&h->held, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &h->held, &h->before);
}

bool hold_asked(void)
{
    sigset_t pending;

    sigpending(&pending);
    for (int i = 0; i < COUNT(ends); i++)
        if (sigismember(&pending, ends[i]))
            return true;
    return false;
}

void hold_end(const Hold *h) { sigprocmask(SIG_SETMASK, &h->before, NULL); }
