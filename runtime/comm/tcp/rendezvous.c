// Shared by the two sides of the rendezvous.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "runtime/comm/tcp/rendezvous.h"
#include "runtime/core/core.h"

void rt_rendezvous_print_endpoint(const RtRendezvous *x, char *to, size_t capacity)
{
    if (x->job->is_local)
        snprintf(to, capacity, "on this host");
    else
        snprintf(to, capacity, "at %s:%d", x->job->name, x->job->port);
}

bool rt_rendezvous_transfer(int fd, void *data, size_t n, bool is_send, double deadline)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = is_send ? send(fd, (char *)data + done, n - done, MSG_NOSIGNAL)
                            : recv(fd, (char *)data + done, n - done, 0);
        if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR) || rt_seconds() > deadline)
            return false;
        if (k < 0)
            poll(&(struct pollfd){.fd = fd, .events = is_send ? POLLOUT : POLLIN}, 1,
                 RT_RENDEZVOUS_POLL);
        else
            done += (size_t)k;
    }
    return true;
}

uint64_t rt_rendezvous_program(const RtModel *m)
{
    return rt_hash(rt_hash(m->identity, m->options), m->plan);
}

bool rt_rendezvous_set_address(RtRendezvous *x, int fd)
{
    RtAddress listener = rt_own_address(x->s->listener), *own = &x->self.listener;

    *own = listener;
    if (x->job->is_local)
        return true;
    if (!x->c->job.interface)
        *own = rt_own_address(fd);
    else if (!rt_address_of_interface(x->c->model, x->c->job.interface, listener.at.ss_family, own))
        return false;
    rt_address_set_port(own, rt_address_port(&listener));
    return true;
}

bool rt_rendezvous_listen(RtRendezvous *x, const RtAddress *rank_0)
{
    RtAddress at = x->job->is_local ? rt_address_of_name("") : rt_address_any(rank_0);

    rt_address_set_port(&at, 0);
    if (x->s->listener < 0)
        x->s->listener = rt_listen(&at);
    return x->s->listener >= 0 ||
           rt_error(x->c->model, "can't listen for other ranks: %s", strerror(errno));
}
