// Addresses and sockets.
#include "runtime/comm/tcp/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/core/core.h"

// ---- addresses ----

RtAddress rt_address_of_name(const char *name)
{
    RtAddress x = {.n = 0};
    struct sockaddr_un *un = (struct sockaddr_un *)&x.at;
    size_t n = strlen(name), most = sizeof un->sun_path - 1;

    n = n < most ? n : most;
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path + 1, name, n);
    x.n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (n ? 1 + n : 0));
    return x;
}

static RtAddress from_system(const struct sockaddr *from, socklen_t n)
{
    RtAddress x = {.n = n < sizeof x.at ? n : (socklen_t)sizeof x.at};

    memcpy(&x.at, from, x.n);
    return x;
}

int rt_address_find(const char *host, int port, RtAddress *to, int capacity, const char **why)
{
    struct addrinfo want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *all;
    int n = 0, error = getaddrinfo(host, NULL, &want, &all);

    *why = error ? gai_strerror(error) : "it has no address";
    if (error)
        return 0;
    for (struct addrinfo *a = all; a && n < capacity; a = a->ai_next) {
        RtAddress x = from_system(a->ai_addr, a->ai_addrlen);
        if (!rt_address_is_valid(&x))
            continue;
        rt_address_set_port(&x, port);
        to[n++] = x;
    }
    freeaddrinfo(all);
    return n;
}

static void refuse_interface(const RtModel *m, const char *name, int family,
                             const struct ifaddrs *all)
{
    char names[256] = "";
    size_t n = 0;

    for (const struct ifaddrs *a = all; a && n < sizeof names; a = a->ifa_next)
        if (a->ifa_addr && a->ifa_addr->sa_family == family)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", a->ifa_name);
    rt_error(m, "--interface: '%s' has no address of %s; there are %s", name,
             family == AF_INET ? "IPv4" : "IPv6", *names ? names : "none");
}

bool rt_address_of_interface(const RtModel *m, const char *name, int family, RtAddress *to)
{
    struct ifaddrs *all = NULL;
    bool found = false;

    if (getifaddrs(&all) != 0)
        return rt_error(m, "--interface: the system doesn't list its interfaces: %s",
                        strerror(errno));
    for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
        found = a->ifa_addr && a->ifa_addr->sa_family == family && strcmp(a->ifa_name, name) == 0;
        if (found)
            *to = from_system(a->ifa_addr, family == AF_INET ? sizeof(struct sockaddr_in)
                                                             : sizeof(struct sockaddr_in6));
    }
    if (!found)
        refuse_interface(m, name, family, all);
    freeifaddrs(all);
    return found;
}

bool rt_address_is_valid(const RtAddress *x)
{
    return (x->at.ss_family == AF_UNIX && x->n > offsetof(struct sockaddr_un, sun_path) &&
            x->n <= sizeof(struct sockaddr_un)) ||
           (x->at.ss_family == AF_INET && x->n == sizeof(struct sockaddr_in)) ||
           (x->at.ss_family == AF_INET6 && x->n == sizeof(struct sockaddr_in6));
}

RtAddress rt_address_any(const RtAddress *x)
{
    RtAddress y = *x;

    if (x->at.ss_family == AF_INET)
        ((struct sockaddr_in *)&y.at)->sin_addr.s_addr = htonl(INADDR_ANY);
    else if (x->at.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&y.at)->sin6_addr = in6addr_any;
    return y;
}

bool rt_address_is_local(const RtAddress *x)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&x->at;

    if (x->at.ss_family == AF_UNIX)
        return true;
    if (x->at.ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)&x->at)->sin_addr.s_addr) >> 24 == 127;
    return x->at.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

void rt_address_set_port(RtAddress *x, int port)
{
    if (x->at.ss_family == AF_INET)
        ((struct sockaddr_in *)&x->at)->sin_port = htons((uint16_t)port);
    else if (x->at.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&x->at)->sin6_port = htons((uint16_t)port);
}

int rt_address_port(const RtAddress *x)
{
    return ntohs(x->at.ss_family == AF_INET ? ((const struct sockaddr_in *)&x->at)->sin_port
                                            : ((const struct sockaddr_in6 *)&x->at)->sin6_port);
}

static bool is_same_host(const struct sockaddr *a, const RtAddress *x)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)&x->at;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&x->at;

    if (!a || a->sa_family != x->at.ss_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr == four->sin_addr.s_addr;
    return a->sa_family == AF_INET6 && memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                                              &six->sin6_addr, sizeof six->sin6_addr) == 0;
}

void rt_address_print_interface(const RtAddress *x, char *to, size_t capacity)
{
    struct ifaddrs *all = NULL;
    char host[NI_MAXHOST];
    const char *name = "?";

    *to = 0;
    if (x->at.ss_family == AF_UNIX || getnameinfo((const struct sockaddr *)&x->at, x->n, host,
                                                  sizeof host, NULL, 0, NI_NUMERICHOST) != 0)
        return;
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next)
        if (is_same_host(a->ifa_addr, x))
            name = a->ifa_name;
    snprintf(to, capacity, "%s %s", name, host);
    freeifaddrs(all);
}

void rt_address_print(const RtAddress *x, char *to, size_t capacity)
{
    char host[NI_MAXHOST];

    if (x->at.ss_family == AF_UNIX || getnameinfo((const struct sockaddr *)&x->at, x->n, host,
                                                  sizeof host, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(to, capacity, "this host");
    else if (x->at.ss_family == AF_INET)
        snprintf(to, capacity, "%s:%d", host, rt_address_port(x));
    else
        snprintf(to, capacity, "[%s]:%d", host, rt_address_port(x));
}

// ---- sockets ----

static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// Small messages must not wait for more of them.
static void send_immediately(int fd)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

static int close_failed(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
    return -1;
}

int rt_listen(const RtAddress *at)
{
    int fd = new_socket(at->at.ss_family);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(fd, (const struct sockaddr *)&at->at, at->n) != 0 || listen(fd, SOMAXCONN) != 0)
        return close_failed(fd);
    return fd;
}

int rt_connect(const RtAddress *to)
{
    int fd = new_socket(to->at.ss_family);

    if (fd < 0)
        return -1;
    send_immediately(fd);
    if (connect(fd, (const struct sockaddr *)&to->at, to->n) != 0 && errno != EINPROGRESS)
        return close_failed(fd);
    return fd;
}

int rt_accept(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0)
        send_immediately(fd);
    return fd;
}

RtAddress rt_own_address(int fd)
{
    RtAddress x = {.n = sizeof x.at};

    if (getsockname(fd, (struct sockaddr *)&x.at, &x.n) != 0)
        x.n = 0;
    return x;
}

RtAddress rt_other_address(int fd)
{
    RtAddress x = {.n = sizeof x.at};

    if (getpeername(fd, (struct sockaddr *)&x.at, &x.n) != 0)
        x.n = 0;
    return x;
}
