// Reads files of hosts.
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

enum { MAX_HOSTS = 4096, MAX_SLOTS = 4096 };

// "node7 slots=8", without its comment. An empty line is no host.
static bool read_host(Arena *a, char *line, int number, Hosts *to, int *cap, Diag *d)
{
    static const char blank[] = " \t\r";
    char *rest = NULL, *end = NULL, *name = strtok_r(line, blank, &rest);
    char *slots = name ? strtok_r(NULL, blank, &rest) : NULL;
    Host h = {.name = name};

    if (!name)
        return true;
    size_t n = strlen(name);
    if (strspn(name, HOST_LETTERS) != n || *name == '-') {
        diag_error(d, "line %d: '%s' is not the name of a host", number, name);
        return false;
    }
    for (int i = 0; i < to->n; i++)
        if (!strcmp(to->host[i].name, name)) {
            diag_error(d, "line %d: '%s' is there twice; slots=N says how many ranks it takes",
                       number, name);
            return false;
        }
    if (slots) {
        long v = strncmp(slots, "slots=", 6) ? 0 : strtol(slots + 6, &end, 10);
        if (v < 1 || v > MAX_SLOTS || *end || strtok_r(NULL, blank, &rest)) {
            diag_error(d, "line %d: expected a host and slots=N, N from 1 to %d", number,
                       MAX_SLOTS);
            return false;
        }
        h.slots = (int)v;
    }
    if (to->n == MAX_HOSTS) {
        diag_error(d, "more than %d hosts", MAX_HOSTS);
        return false;
    }
    *arena_push(a, to->host, to->n, *cap) = h;
    return true;
}

bool hosts_read(Arena *a, const char *path, Hosts *to, Diag *d)
{
    enum { MAX_BYTES = 1 << 20 };
    Diag in_file = {.file = path, .to = d->to};
    int cap = 0, number = 0;
    File f;

    *to = (Hosts){0};
    if (!file_map(path, &f, d))
        return false;
    char *at = arena_copy(a, (const char *)f.data, f.size < MAX_BYTES ? f.size : MAX_BYTES);
    file_unmap(&f);
    bool ok = true;
    while (ok && *at) {
        char *line = at, *end = strchrnul(at, '\n');
        at = *end ? end + 1 : end;
        *end = 0;
        *strchrnul(line, '#') = 0;
        ok = read_host(a, line, ++number, to, &cap, &in_file);
    }
    if (ok && !to->n) {
        diag_error(&in_file, "no host is in it");
        ok = false;
    }
    return ok;
}
