// Starts the runtime's probe on hosts, and reads what it prints (probe_check.c).
#include "launch/host_report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch/failed_host.h"

typedef struct Looking {
    Arena *a;
    const HostQuestion *q;
    const Hosts *hosts;
    HostReport *report;
    int *at, n_at;    // the hosts that are looked at, by rank
    bool is_by_slot;  // ranks are in that order; srun has an order of its own
} Looking;

static void read_line(Looking *x, const char *line)
{
    char what[8];
    int rank, n = 0;

    if (sscanf(line, "%7s %d %n", what, &rank, &n) != 2 || rank < 0 || rank >= x->n_at)
        return;
    HostReport *r = &x->report[x->at[rank]];
    const char *rest = line + n;
    if (!strcmp(what, "host"))
        r->is_there = sscanf(rest,
                             "%63s %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                             " %" SCNd64 " %" SCNd64 " %" SCNd64,
                             r->own, &r->cores, &r->memory, &r->free, &r->disk, &r->files,
                             &r->locked, &r->shardcc, &r->program, &r->checkpoints) == 10;
    else if (!strcmp(what, "link"))
        r->is_linked = sscanf(rest, "%lf %lf %lf %lf", &r->round_trip, &r->ahead, &r->latency,
                              &r->per_byte) == 4;
    else if (!strcmp(what, "seen"))
        r->sees = *rest == '1';
}

// The words of the probe, for the launcher.
static char *const *probe_words(const Looking *x)
{
    char **words = arena_array(x->a, char *, 7);
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    words[0] = (char *)x->q->probe;
    words[1] = "check";
    words[2] = (char *)x->q->shardcc;
    words[3] = (char *)(x->q->program ? x->q->program : "");
    words[4] = (char *)(x->q->checkpoints ? x->q->checkpoints : ".");
    words[5] = arena_string(x->a, "%s/.shardcc-check-%d-%ld", x->q->folder, getpid(), now.tv_nsec);
    return words;
}

// Runs the probe on the hosts of x->at, `each` with one rank. Returns its status; -1 after an
// error.
static int run_probe(Looking *x, const Hosts *each, Text *errors, Diag *d)
{
    Strings words = {0};
    Text said = {0};
    int status;

    if (!launch_words(x->a, x->q->launcher, x->n_at, false, each, probe_words(x), &words, d) ||
        !launch_read((char *const *)words.s, &said, errors, &status, d))
        return -1;
    x->is_by_slot = each->n && strcmp(words.s[0], "srun") != 0;
    for (char *line = said.s, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        read_line(x, line);
    }
    text_free(&said);
    return status;
}

// Finds the host that the launcher says is out of reach, and the line that says so; -1: none.
static int find_gone(const Looking *x, const Hosts *each, const Text *errors, const char **why)
{
    for (const char *line = errors->s, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *why = arena_copy(x->a, line, strcspn(line, "\r\n"));
        int gone = failed_host(*why, each, x->is_by_slot);
        if (gone >= 0)
            return gone;
    }
    return -1;
}

static Hosts hosts_of(const Looking *x)
{
    Hosts each = {arena_array(x->a, Host, x->n_at), x->hosts->n ? x->n_at : 0};

    for (int i = 0; i < each.n; i++)
        each.host[i] = (Host){.name = x->hosts->host[x->at[i]].name, .slots = 1};
    return each;
}

// Launchers start nothing if a host is out of reach. So the others are tried again without it.
static bool look_at_hosts(Looking *x, Diag *d)
{
    while (x->n_at) {
        Hosts each = hosts_of(x);
        Text errors = {0};
        const char *why = NULL;
        int status = run_probe(x, &each, &errors, d);
        int gone = status > 0 ? find_gone(x, &each, &errors, &why) : -1;
        if (gone < 0 && errors.n)
            fwrite(errors.s, 1, errors.n, stderr);
        text_free(&errors);
        if (gone < 0 && status > 0)
            diag_error(d, "the probe ended with status %d on the hosts", status);
        if (gone < 0)
            return status == 0;
        for (int i = 0; i < x->n_at; i++)
            x->report[x->at[i]].is_there = x->report[x->at[i]].is_linked = false;
        x->report[x->at[gone]].gone = why;
        for (x->n_at--; gone < x->n_at; gone++)
            x->at[gone] = x->at[gone + 1];
    }
    return true;
}

bool host_reports_make(Arena *a, const HostQuestion *q, const Hosts *hosts, HostReport *report,
                       Diag *d)
{
    int n = hosts->n ? hosts->n : 1;
    Looking x = {a, q, hosts, report, .at = arena_array(a, int, n), .n_at = n};

    for (int i = 0; i < n; i++) {
        report[i].name = hosts->n ? hosts->host[i].name : "localhost";
        x.at[i] = i;
    }
    bool ok = look_at_hosts(&x, d);
    for (int i = 0; i < n; i++)
        if (report[i].is_there && !x.is_by_slot)
            report[i].name = report[i].own;
    if (x.n_at)
        report[*x.at].is_first = true;
    return ok;
}
