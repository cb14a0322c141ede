// Finds the failed host in lines of stderr.
#include "launch/failed_host.h"

#include <stdlib.h>
#include <string.h>

// A line that names a failed rank or host, between two texts. The rank's own messages of errors,
// such as data that may not be, are no failures of its host.
typedef struct Sign {
    const char *before, *after;
    const char *in;  // a text that the line has too; NULL: any line
    bool is_rank;
} Sign;

static const Sign signs[] = {
    // Trainers: runtime/comm/watchdog.c and wait.c.
    {"rank ", " is gone: ", .is_rank = true},
    {"rank ", " didn't arrive within ", .is_rank = true},
    {"the link to rank ", " broke", .is_rank = true},
    // Open MPI.
    {"mpirun noticed that process rank ", " with PID ", .is_rank = true},
    {" on node ", "", .in = "Remote daemon"},
    {"Node: ", ""},  // of a program that can't be run there
    // ssh, by which mpirun reaches hosts.
    {"ssh: connect to host ", " port "},
    {"ssh: Could not resolve hostname ", ":"},
    {"@", ": Permission denied"},
    // Slurm.
    {"srun: error: ", ": task"},
    {"Node failure on ", ""},
};

static int host_of_rank(const Hosts *h, int64_t rank)
{
    for (int i = 0; i < h->n; i++) {
        if (rank < host_slots(&h->host[i]))
            return i;
        rank -= host_slots(&h->host[i]);
    }
    return -1;
}

// Is it the same host? One of the names may have a domain.
static bool is_name(const char *name, const char *word, size_t n)
{
    size_t own = strlen(name), least = own < n ? own : n;

    return !strncmp(name, word, least) &&
           (own == n || (own > n ? name[n] == '.' : word[own] == '.'));
}

static int host_of_name(const Hosts *h, const char *word, size_t n)
{
    for (int i = 0; i < h->n; i++)
        if (n && is_name(h->host[i].name, word, n))
            return i;
    return -1;
}

static int host_of_sign(const Sign *s, const char *line, const Hosts *h)
{
    const char *letters = s->is_rank ? "0123456789" : HOST_LETTERS;

    for (const char *at = strstr(line, s->before); at; at = strstr(at + 1, s->before)) {
        const char *word = at + strlen(s->before);
        size_t n = strspn(word, letters);
        if (n && !strncmp(word + n, s->after, strlen(s->after)))
            return s->is_rank ? host_of_rank(h, strtoll(word, NULL, 10)) : host_of_name(h, word, n);
    }
    return -1;
}

int failed_host(const char *line, const Hosts *h, bool by_slot)
{
    for (int i = 0; i < COUNT(signs); i++) {
        const Sign *s = &signs[i];
        if ((s->is_rank && !by_slot) || (s->in && !strstr(line, s->in)))
            continue;
        int host = host_of_sign(s, line, h);
        if (host >= 0)
            return host;
    }
    return -1;
}
