// shardcc check: looks at the hosts of a job before it is run. The runtime's probe, which the
// launcher of shardcc run starts on each of them, prints what they have (probe_check.c).
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/internal.h"
#include "driver/launch.h"
#include "driver/trainer_file.h"
#include "report/report.h"

typedef struct CheckOptions {
    const char *hosts, *folder, *launcher;
} CheckOptions;

#define AT(field) offsetof(CheckOptions, field)

static const OptionDef options[] = {
    {"--hosts", "FILE", &option_text, AT(hosts),
     "a host a line, as `node7` or `node7 slots=8` (this one alone)"},
    {"--folder", "FOLDER", &option_text, AT(folder),
     "a folder that all hosts must see (the current one)"},
    {"--launcher", "NAME", &option_text, AT(launcher),
     "as of shardcc run: auto, mpirun, srun or none", .check = check_launcher},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc check [OPTIONS] [-- PROGRAM [ITS OPTIONS]]\n\n"
    "Looks at hosts before a run: shardcc itself, cores, memory, disk of the current folder, "
    "limits,\n"
    "clocks, the links between the first host and each other one, and a folder that all must see.\n"
    "With a program: whether it is the same everywhere, and whether the memory and the disk of\n"
    "its --checkpoint have room for it. Prints a row for each host, and a line for each "
    "problem.\n\n",
    options, COUNT(options), .statuses = "0 no problem, 2 wrong options, 1 any problem or error"};

// A host, as the probe sees it.
typedef struct Report {
    const char *name;     // in the file of hosts
    char own[64];         // that the host has itself
    int ranks;            // of the program
    bool is_there, sees;  // did it answer? Does it see the first one's file?
    bool is_linked;       // is the link to the first host measured?
    int cores;
    int64_t memory, free, disk, files, locked;
    int64_t shardcc, program;  // sums of the files; -1: they can't be read
    int64_t checkpoints;       // free on the disk of the checkpoints
    double round_trip, ahead, latency, per_byte;
} Report;

typedef struct Check {
    Arena *a;
    CheckOptions o;
    Hosts hosts;
    TrainerFile program;  // path NULL: none
    const char *checkpoints;
    const char *own;  // shardcc's file
    bool is_by_slot;  // rank i is on host i; srun has an order of its own
    Report *host;
    int n, problems;
} Check;

// ---- the probe ----

static void read_line(Check *c, const char *line)
{
    int rank, sees;
    Report r = {0};

    if (sscanf(line,
               "host %d %63s %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
               " %" SCNd64 " %" SCNd64 " %" SCNd64,
               &rank, r.own, &r.cores, &r.memory, &r.free, &r.disk, &r.files, &r.locked, &r.shardcc,
               &r.program, &r.checkpoints) == 11 &&
        rank >= 0 && rank < c->n) {
        r.name = c->is_by_slot ? c->host[rank].name : arena_string(c->a, "%s", r.own);
        r.ranks = c->host[rank].ranks;
        r.is_there = true;
        c->host[rank] = r;
    } else if (sscanf(line, "link %d %lf %lf %lf %lf", &rank, &r.round_trip, &r.ahead, &r.latency,
                      &r.per_byte) == 5 &&
               rank > 0 && rank < c->n) {
        Report *to = &c->host[rank];
        to->is_linked = true;
        to->round_trip = r.round_trip;
        to->ahead = r.ahead;
        to->latency = r.latency;
        to->per_byte = r.per_byte;
    } else if (sscanf(line, "seen %d %d", &rank, &sees) == 2 && rank >= 0 && rank < c->n) {
        c->host[rank].sees = sees;
    }
}

static bool run_probe(Check *c, Diag *d)
{
    Hosts each = {arena_array(c->a, Host, c->n), c->hosts.n};
    struct timespec now;
    Strings words = {0};
    Text said = {0};
    int status;

    clock_gettime(CLOCK_REALTIME, &now);
    char *const own[] = {
        arena_string(c->a, "%s/probe", runtime_folder(c->a)),
        "check",
        (char *)c->own,
        (char *)(c->program.path ? c->program.path : ""),
        (char *)(c->checkpoints ? c->checkpoints : "."),
        arena_string(c->a, "%s/.shardcc-check-%d-%ld", c->o.folder, getpid(), now.tv_nsec),
        NULL};
    for (int i = 0; i < each.n; i++)
        each.host[i] = (Host){.name = c->hosts.host[i].name, .slots = 1};
    if (!launch_words(c->a, c->o.launcher, c->n, &each, own, &words, d))
        return false;
    c->is_by_slot = c->hosts.n && strcmp(words.s[0], "srun") != 0;
    if (!launch_read((char *const *)words.s, &said, &status, d))
        return false;
    for (char *line = said.s, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        read_line(c, line);
    }
    text_free(&said);
    if (status)
        diag_error(d, "'%s' ended with status %d on the hosts", base_name(own[0]), status);
    return !status;
}

// ---- the table ----

static const char *size_text(Arena *a, int64_t bytes)
{
    return bytes == INT64_MAX ? "unlimited" : bytes_text(a, (double)bytes);
}

static void print_table(const Check *c)
{
    static const char *const head[] = {"host",    "name",      "cores",      "free memory",
                                       "of",      "free disk", "open files", "locked memory",
                                       "latency", "bandwidth", "clock"};
    Columns t = {.arena = c->a, .n_columns = COUNT(head)};

    columns_add_row(&t, head);
    for (int i = 0; i < c->n; i++) {
        const Report *r = &c->host[i];
        const char *row[COUNT(head)] = {r->name, r->own, "no answer"};
        if (r->is_there) {
            row[2] = arena_string(c->a, "%d", r->cores);
            row[3] = size_text(c->a, r->free);
            row[4] = size_text(c->a, r->memory);
            row[5] = size_text(c->a, r->disk);
            row[6] = r->files == INT64_MAX ? "unlimited" : arena_string(c->a, "%" PRId64, r->files);
            row[7] = size_text(c->a, r->locked);
        }
        if (r->is_linked) {
            row[8] = time_text(c->a, r->latency);
            row[9] = arena_string(c->a, "%s/s", bytes_text(c->a, 1 / r->per_byte));
            row[10] = arena_string(c->a, "%+.4f s", r->ahead);
        }
        columns_add_row(&t, row);
    }
    columns_print(&t);
}

// ---- problems ----

static void problem(Check *c, const char *host, const char *fmt, ...) PRINTF(3, 4);

static void problem(Check *c, const char *host, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    diag_verror(&(Diag){.file = host}, fmt, args);
    va_end(args);
    c->problems++;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

// The median of a field of the hosts that answered.
static int64_t median(const Check *c, size_t at)
{
    int64_t *x = arena_array(c->a, int64_t, c->n);
    int n = 0;

    for (int i = 0; i < c->n; i++)
        if (c->host[i].is_there)
            x[n++] = *(const int64_t *)((const char *)&c->host[i] + at);
    qsort(x, (size_t)n, sizeof *x, compare);
    return n ? x[n / 2] : 0;
}

static void check_files(Check *c, const Report *r)
{
    const Report *first = c->host;

    if (r->shardcc < 0)
        problem(c, r->name, "'%s' can't be read there", c->own);
    else if (r->shardcc != first->shardcc)
        problem(c, r->name, "another shardcc is there: build %08" PRIx64 ", not %08" PRIx64,
                r->shardcc, first->shardcc);
    if (c->program.path && r->program < 0)
        problem(c, r->name, "'%s' can't be read there", c->program.path);
    else if (c->program.path && r->program != first->program)
        problem(c, r->name, "another '%s' is there than on %s", c->program.path, first->name);
    if (!r->sees)
        problem(c, r->name,
                r == first ? "cannot write into '%s'"
                           : "what the first host writes into '%s' isn't there",
                c->o.folder);
}

static void check_room(Check *c, const Report *r)
{
    const struct {
        const char *what;
        int64_t found, median;
    } rooms[] = {{"memory", r->free, median(c, offsetof(Report, free))},
                 {"disk", r->disk, median(c, offsetof(Report, disk))}};

    for (int i = 0; i < COUNT(rooms); i++)
        if (rooms[i].found < rooms[i].median / 2)
            problem(c, r->name, "%s of %s are free, less than half of the median %s",
                    size_text(c->a, rooms[i].found), rooms[i].what,
                    size_text(c->a, rooms[i].median));
    double arena = r->ranks * c->program.arena;
    if (arena > (double)r->free)
        problem(c, r->name, "%d rank%s of '%s' would take %s of memory, %s are free", r->ranks,
                r->ranks == 1 ? "" : "s", c->program.path, bytes_text(c->a, arena),
                size_text(c->a, r->free));
    if (c->checkpoints && r == c->host && 2 * c->program.state > (double)r->checkpoints)
        problem(c, r->name, "two checkpoints in '%s' need %s, %s are free", c->checkpoints,
                bytes_text(c->a, 2 * c->program.state), size_text(c->a, r->checkpoints));
}

static void find_problems(Check *c)
{
    enum { MOST_AHEAD_S = 1 };
    int ranks = c->program.ranks;

    for (int i = 0; i < c->n; i++) {
        const Report *r = &c->host[i];
        ranks -= r->ranks;
        if (!r->is_there) {
            problem(c, r->name, "it doesn't answer");
            continue;
        }
        check_files(c, r);
        check_room(c, r);
        if (i && !r->is_linked)
            problem(c, r->name, "messages don't come through to %s", c->host->name);
        else if (fabs(r->ahead) > MOST_AHEAD_S + r->round_trip)
            problem(c, r->name, "its clock is %.1f s %s that of %s", fabs(r->ahead),
                    r->ahead > 0 ? "ahead of" : "behind", c->host->name);
    }
    if (c->program.path && ranks > 0)
        problem(c, c->program.path, "it has %d ranks, the hosts have slots for %d",
                c->program.ranks, c->program.ranks - ranks);
}

// ---- the command ----

// Makes the list of hosts, with the ranks that the program has on each.
static void list_hosts(Check *c)
{
    int left = c->program.ranks;

    c->n = c->hosts.n ? c->hosts.n : 1;
    c->host = arena_array(c->a, Report, c->n);
    if (!c->hosts.n)
        c->host->ranks = left;
    for (int i = 0; i < c->hosts.n; i++) {
        int slots = host_slots(&c->hosts.host[i]);
        c->host[i].name = c->hosts.host[i].name;
        c->host[i].ranks = left < slots ? left : slots;
        left -= c->host[i].ranks;
    }
}

static int check_hosts(Check *c, Diag *d)
{
    bool ok = run_probe(c, d);

    if (!c->host->name)
        c->host->name = "localhost";
    if (c->host->is_there)
        printf("shardcc %s, build %08" PRIx64 "\n", SHARDCC_VERSION, c->host->shardcc);
    print_table(c);
    fflush(stdout);
    find_problems(c);
    return ok && !c->problems ? 0 : EXIT_USER;
}

int check_command(Arena *a, int argc, char **argv)
{
    Check c = {.a = a, .o = {.launcher = "auto", .folder = "."}};
    Diag d = {.file = "shardcc"};
    int status = 0, n = 1;
    char own[4096];

    while (n < argc && strcmp(argv[n], "--"))
        n++;
    if (!command_read(&command, a, n, argv, &c.o, &status))
        return status;
    char **program = n + 1 < argc ? argv + n + 1 : NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    c.own = arena_copy(a, own, length > 0 ? (size_t)length : 0);
    c.checkpoints = program ? trainer_option(program, "--checkpoint") : NULL;
    if ((c.o.hosts && !hosts_read(a, c.o.hosts, &c.hosts, &d)) ||
        (program && !trainer_file_read(a, *program, &c.program, &d)))
        return EXIT_USER;
    list_hosts(&c);
    return check_hosts(&c, &d);
}
