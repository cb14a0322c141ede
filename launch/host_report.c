// Starts the runtime's probe on hosts, and reads what it prints (probe_check.c).
#include "launch/host_report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch/failed_host.h"
#include "launch/launch_group.h"

typedef struct Looking {
    Arena *a;
    const HostQuestion *q;
    const Hosts *hosts;
    HostReport *report;
    int *at, n_at;  // the hosts that are looked at, by rank
    Launch launch;  // of the latest probe: srun has an order of ranks of its own
} Looking;

static void read_sum(const Looking *x, HostReport *r, const char *text)
{
    int other, is_right;

    if (sscanf(text, "%d %d", &other, &is_right) == 2 && other >= 0 && other < x->n_at)
        r->sum[x->at[other]] = is_right ? SUM_RIGHT : SUM_WRONG;
}

static void read_line(Looking *x, const char *line)
{
    char what[16];
    int rank, n = 0;

    if (sscanf(line, "%15s %d %n", what, &rank, &n) != 2 || rank < 0 || rank >= x->n_at)
        return;
    HostReport *r = &x->report[x->at[rank]];
    const char *rest = line + n;
    const struct {
        const char *what, **text;
    } texts[] = {{"address", &r->address},
                 {"devices", &r->devices},
                 {"driver", &r->driver},
                 {"exchanges", &r->exchanges}};
    for (int i = 0; i < COUNT(texts); i++)
        if (!strcmp(what, texts[i].what))
            *texts[i].text = arena_copy(x->a, rest, strlen(rest));
    if (!strcmp(what, "host"))
        r->is_there = sscanf(rest,
                             "%63s %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                             " %" SCNd64 " %" SCNd64 " %" SCNd64,
                             r->own, &r->cores, &r->memory, &r->free, &r->disk, &r->files,
                             &r->locked, &r->shardcc, &r->program, &r->checkpoints) == 10;
    else if (!strcmp(what, "link"))
        r->is_linked = sscanf(rest, "%lf %lf %lf %lf", &r->round_trip, &r->ahead, &r->latency,
                              &r->per_byte) == 4;
    else if (!strcmp(what, "sum"))
        read_sum(x, r, rest);
    else if (!strcmp(what, "seen"))
        r->sees = *rest == '1';
}

// The words of the probe, for the launcher.
static char *const *probe_words(const Looking *x)
{
    const HostQuestion *q = x->q;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    const char *file =
        arena_string(x->a, "%s/.shardcc-check-%d-%ld", q->folder, getpid(), now.tv_nsec);
    const char *const own[] = {q->probe,
                               "check",
                               q->shardcc,
                               q->program ? q->program : "",
                               q->checkpoints ? q->checkpoints : ".",
                               file,
                               q->libraries ? q->libraries : "",
                               q->interface && q->can_spawn ? "--interface" : NULL,
                               q->interface,
                               NULL};
    char **words = arena_array(x->a, char *, COUNT(own));
    memcpy(words, own, sizeof own);
    return words;
}

static void read_lines(Looking *x, Text *said)
{
    for (char *line = said->s, *end; line && (end = memchr(line, '\n', said->n)); line = end + 1) {
        *end = 0;
        read_line(x, line);
        said->n -= (size_t)(end + 1 - line);
    }
}

// Runs the probe on the hosts of x->at, `each` with one rank, and reads what they print. Returns
// false after an error; then there is nothing to free in `g`.
static bool run_probe(Looking *x, const Hosts *each, LaunchGroup *g, Diag *d)
{
    LaunchJob job = {.launcher = x->q->launcher,
                     .ranks = x->n_at,
                     .can_spawn = x->q->can_spawn,
                     .hosts = each,
                     .program = probe_words(x)};

    if (!launch_make(x->a, &job, &x->launch, d) ||
        !launch_group_start(x->a, &x->launch, true, true, 0, g, d))
        return false;
    while (g->running)
        launch_group_wait(g, -1, 1);
    for (int i = 0; i < g->n; i++)
        read_lines(x, &g->process[i].output);
    return true;
}

// Finds the host that the launcher says is out of reach, and the line that says so; -1: none.
static int find_gone(const Looking *x, const Hosts *each, const Text *errors, const char **why)
{
    for (size_t at = 0, n; at < errors->n; at += n + 1) {
        const char *end = memchr(errors->s + at, '\n', errors->n - at);
        n = end ? (size_t)(end - (errors->s + at)) : errors->n - at;
        *why = arena_copy(x->a, errors->s + at, n);
        int gone = failed_host(*why, each, x->launch.is_by_slot);
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

// Finds the host that the launcher says is out of reach, if it has failed. Of a host that ssh
// doesn't reach the status is enough. What else was said goes to stderr.
static int look_for_gone(const Looking *x, const Hosts *each, const LaunchGroup *g,
                         const char **why)
{
    int gone = -1;

    for (int i = 0; i < g->n && gone < 0 && g->status; i++)
        gone = find_gone(x, each, &g->process[i].errors, why);
    if (gone < 0 && g->status == LAUNCH_SSH_FAILED && !strcmp(x->launch.launcher, "ssh")) {
        const Text *said = &g->process[g->failed].errors;
        gone = x->launch.command[g->failed].host;
        *why = said->n ? arena_copy(x->a, said->s, strcspn(said->s, "\r\n")) : "ssh has failed";
    }
    for (int i = 0; i < g->n && gone < 0; i++)
        fwrite(g->process[i].errors.s, 1, g->process[i].errors.n, stderr);
    return gone;
}

// Launchers start nothing if a host is out of reach. So the others are tried again without it.
static bool look_at_hosts(Looking *x, Diag *d)
{
    while (x->n_at) {
        Hosts each = hosts_of(x);
        const char *why = NULL;
        LaunchGroup g;
        if (!run_probe(x, &each, &g, d))
            return false;
        int gone = look_for_gone(x, &each, &g, &why), status = g.status;
        launch_group_free(&g);
        if (gone < 0 && status)
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
        report[i].sum = arena_alloc(a, (size_t)n, sizeof *report[i].sum);
        x.at[i] = i;
    }
    bool ok = look_at_hosts(&x, d);
    for (int i = 0; i < n; i++)
        if (report[i].is_there && !x.launch.is_by_slot)
            report[i].name = report[i].own;
    if (x.n_at)
        report[*x.at].is_first = true;
    return ok;
}
