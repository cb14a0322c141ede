// Which rank this is, and where the rendezvous is.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/comm/tcp/tcp.h"
#include "runtime/core/core.h"

// The variables of a launcher. NULL: it has none of that kind.
typedef struct Launcher {
    const char *name, *rank, *ranks;
    const char *host_ranks;   // how many ranks are on this host
    const char *host, *port;  // where rank 0 is
    const char *id;           // of the job: for a rendezvous on one host
} Launcher;

static const Launcher launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
     "TORCHELASTIC_RUN_ID"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, "SLURM_STEP_NODELIST", NULL, NULL},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", NULL,
     NULL, "PMIX_NAMESPACE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", NULL, NULL, NULL},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

// torchrun itself may use the port that it names, for its store. Then rank 0 takes one of the next
// ones, and the others try them all.
enum { STORE_PORTS = 16 };

// Ports for jobs of Slurm, below those that Linux gives to others (ip_local_port_range).
enum { FIRST_PORT = 12000, PORTS = 20000 };

// ---- variables ----

// The number in a variable; -1: it isn't set, or has none.
static int number_in(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    char *end;

    if (!text)
        return -1;
    long v = strtol(text, &end, 10);
    return end == text || *end || v < 0 || v > INT_MAX ? -1 : (int)v;
}

static bool is_set(const char *name) { return name && getenv(name); }

// The first name of a list of Slurm: node3 of "node[3-5,9],other".
static bool first_node(const char *list, char *to, size_t capacity)
{
    size_t prefix = strcspn(list, "[,"), number = 0;
    const char *inside = list + prefix, *after = inside;

    if (*inside == '[') {
        number = strcspn(++inside, "-,]");
        after = inside + strcspn(inside, "]");
        after += *after == ']';
    }
    size_t n = (size_t)snprintf(to, capacity, "%.*s%.*s%.*s", (int)prefix, list, (int)number,
                                inside, (int)strcspn(after, ","), after);
    return prefix + number > 0 && n < capacity;
}

// ---- where rank 0 is ----

// The variable that a launcher ought to have set, too; NULL: all that is needed is there.
static const char *missing_variable(const Launcher *l, bool has_master)
{
    const char *const needed[] = {l->rank, l->ranks, has_master ? NULL : l->host,
                                  has_master ? NULL : l->port};

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i] && !is_set(needed[i]))
            return needed[i];
    return NULL;
}

// torchrun sets WORLD_SIZE as well; other programs set RANK alone. A launcher that has set its
// number of ranks has started this process.
static bool has_started(const Launcher *l) { return is_set(l->ranks); }

// The rendezvous of ranks of one host is a name that only this job has.
static void rendezvous_here(const Launcher *l, RtTcpJob *to)
{
    const char *id = l->id ? getenv(l->id) : NULL, *port = l->port ? getenv(l->port) : NULL;
    const char *restart = l->port ? getenv("TORCHELASTIC_RESTART_COUNT") : NULL;
    char parent[24];

    snprintf(parent, sizeof parent, "parent %d", (int)getppid());
    to->is_local = true;
    snprintf(to->name, sizeof to->name, "shardcc %s %.40s %s %s", l->name, id ? id : parent,
             port ? port : "", restart ? restart : "");
}

static bool rendezvous_at(const RtModel *m, const Launcher *l, RtTcpJob *to)
{
    bool is_slurm = !l->port;
    bool is_store = !is_slurm && is_set("TORCHELASTIC_USE_AGENT_STORE");

    if (is_slurm && !first_node(getenv(l->host), to->name, sizeof to->name))
        return rt_error(m, "%s: '%s' is no list of hosts", l->host, getenv(l->host));
    if (!is_slurm &&
        snprintf(to->name, sizeof to->name, "%s", getenv(l->host)) >= (int)sizeof to->name)
        return rt_error(m, "%s: the name is longer than %zu bytes", l->host, sizeof to->name - 1);
    uint64_t job = rt_hash(rt_hash(0, getenv("SLURM_JOB_ID")), getenv("SLURM_STEP_ID"));
    to->port = is_slurm ? FIRST_PORT + (int)(job % PORTS) : number_in(l->port) + is_store;
    to->n_ports = is_store ? STORE_PORTS : 1;
    if (to->port >= 1 && to->port + to->n_ports - 1 <= UINT16_MAX)
        return true;
    return rt_error(m, "%s: '%s' is not a port, 1 to 65535", l->port, getenv(l->port));
}

static bool ask_for_master(const RtModel *m, const Launcher *l)
{
    return rt_error(m,
                    "%s doesn't say where rank 0 is, and not all ranks are on this host: "
                    "--master HOST:PORT says it",
                    l->name);
}

static bool take(const RtModel *m, const Launcher *l, bool has_master, RtTcpJob *to)
{
    to->rank = number_in(l->rank);
    to->ranks = number_in(l->ranks);
    if (to->rank < 0 || to->ranks < 1) {
        const char *name = to->rank < 0 ? l->rank : l->ranks;
        return rt_error(m, "%s: '%s' is not a number of %s", name, getenv(name),
                        to->rank < 0 ? "a rank" : "ranks");
    }
    if (has_master)
        return true;
    if (number_in(l->host_ranks) == to->ranks)
        rendezvous_here(l, to);
    else if (!l->host)
        return ask_for_master(m, l);
    else
        return rendezvous_at(m, l, to);
    return true;
}

static bool take_launcher(const RtModel *m, bool has_master, RtTcpJob *to)
{
    for (int i = 0; i < LAUNCHERS; i++)
        if (has_started(&launchers[i]) && !missing_variable(&launchers[i], has_master))
            return take(m, &launchers[i], has_master, to);
    for (int i = 0; i < LAUNCHERS; i++)
        if (has_started(&launchers[i]))
            return rt_error(m, "%s is set, as %s does, but %s isn't", launchers[i].ranks,
                            launchers[i].name, missing_variable(&launchers[i], has_master));
    return true;
}

bool rt_tcp_job(const RtModel *m, const RtJob *job, RtTcpJob *to)
{
    *to = (RtTcpJob){.ranks = 1, .n_ports = 1};
    if (job->size) {
        to->rank = job->rank;
        to->ranks = job->size;
    } else if (!take_launcher(m, *job->host, to)) {
        return false;
    }
    if (*job->name) {
        to->is_local = true;
        snprintf(to->name, sizeof to->name, "%s", job->name);
    } else if (*job->host) {
        to->is_local = false;
        snprintf(to->name, sizeof to->name, "%s", job->host);
        to->port = job->port;
        to->n_ports = 1;
    }
    to->number = rt_hash(rt_hash(0, to->name), getenv("TORCHELASTIC_RUN_ID"));
    return true;
}
