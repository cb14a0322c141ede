// Finds the commands that start the ranks of a job.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/internal.h"

static bool is_in_path(const char *name)
{
    char path[4096];

    for (const char *at = getenv("PATH"); at && *at; at += *at == ':') {
        int n = (int)strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", n, at, name) < (int)sizeof path &&
            access(path, X_OK) == 0)
            return true;
        at += n;
    }
    return false;
}

// "a:2,b:2" for mpirun, "a,b" for srun.
static const char *host_list(Arena *a, const Hosts *h, bool has_slots)
{
    Text t = {0};

    for (int i = 0; i < h->n; i++) {
        text_printf(&t, "%s%s", i ? "," : "", h->host[i].name);
        if (has_slots && h->host[i].slots)
            text_printf(&t, ":%d", h->host[i].slots);
    }
    const char *list = arena_copy(a, t.s, t.n);
    text_free(&t);
    return list;
}

static bool add_mpirun(Arena *a, int ranks, const Hosts *hosts, Strings *to, Diag *d)
{
    char *const version[] = {"mpirun", "--version", NULL};
    Text said = {0};
    int status;

    if (!launch_read(version, &said, &status, d))
        return false;
    bool is_open_mpi = said.s && strstr(said.s, "Open MPI");
    text_free(&said);
    // Else Open MPI's ranks get a core each, and are spread over sockets.
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    setenv("OMPI_MCA_rmaps_base_mapping_policy", "slot", 0);
    add_word(a, to, "mpirun");
    add_word(a, to, "-n");
    add_word(a, to, arena_string(a, "%d", ranks));
    if (hosts->n) {
        add_word(a, to, is_open_mpi ? "--host" : "-hosts");
        add_word(a, to, host_list(a, hosts, true));
    }
    return true;
}

// The slots of each host; 0: they differ, or aren't said.
static int common_slots(const Hosts *h)
{
    for (int i = 1; i < h->n; i++)
        if (h->host[i].slots != h->host->slots)
            return 0;
    return h->n ? h->host->slots : 0;
}

static void add_srun(Arena *a, int ranks, const Hosts *hosts, Strings *to)
{
    int slots = common_slots(hosts);

    add_word(a, to, "srun");
    add_word(a, to, "--kill-on-bad-exit=1");
    add_word(a, to, arena_string(a, "--ntasks=%d", ranks));
    if (slots)
        add_word(a, to, arena_string(a, "--ntasks-per-node=%d", slots));
    if (hosts->n)
        add_word(a, to, arena_string(a, "--nodelist=%s", host_list(a, hosts, false)));
}

// The launcher that "auto" means.
static const char *choose(const LaunchJob *j)
{
    if (strcmp(j->launcher, "auto") != 0)
        return j->launcher;
    if (getenv("SLURM_JOB_ID") && is_in_path("srun"))
        return "srun";
    if (j->hosts->n)
        return j->can_spawn ? "ssh" : "mpirun";
    return j->ranks > 1 && !j->can_spawn ? "mpirun" : "none";
}

bool launch_make(Arena *a, const LaunchJob *j, Launch *to, Diag *d)
{
    Strings words = {0};

    *to = (Launch){.launcher = choose(j)};
    bool is_srun = !strcmp(to->launcher, "srun"), is_none = !strcmp(to->launcher, "none");
    to->is_by_slot = j->hosts->n && !is_srun;
    if (!strcmp(to->launcher, "ssh"))
        return launch_by_ssh(a, j, to, d);
    if (is_srun)
        add_srun(a, j->ranks, j->hosts, &words);
    else if (!is_none && !add_mpirun(a, j->ranks, j->hosts, &words, d))
        return false;
    for (char *const *word = j->program; *word; word++)
        add_word(a, &words, *word);
    if (is_none && j->ranks > 1 && j->can_spawn) {
        add_word(a, &words, "--spawn");
        add_word(a, &words, arena_string(a, "%d", j->ranks));
    }
    add_word(a, &words, NULL);
    to->command = arena_array(a, LaunchCommand, 1);
    to->n = 1;
    *to->command = (LaunchCommand){.words = (char *const *)words.s, .host = -1};
    return true;
}
