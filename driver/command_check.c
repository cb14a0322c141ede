// shardcc check: looks at the hosts of a job before it is run, and says what is wrong with them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/internal.h"
#include "launch/host_report.h"
#include "launch/trainer_file.h"
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
    "its --checkpoint have space for it. Prints a row for each host, and a line for each "
    "problem.\n\n",
    options, COUNT(options), .statuses = "0 no problem, 2 wrong options, 1 any problem or error"};

typedef struct Check {
    Arena *a;
    CheckOptions o;
    Hosts hosts;
    TrainerFile program;  // path NULL: none
    HostQuestion question;
    HostReport *host;
    int n, problems;
    const HostReport *first;  // NULL: it hasn't answered
} Check;

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
        const HostReport *r = &c->host[i];
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

static void check_files(Check *c, const HostReport *r)
{
    const HostReport *first = c->first;

    if (r->shardcc < 0)
        problem(c, r->name, "'%s' can't be read there", c->question.shardcc);
    else if (first && r->shardcc != first->shardcc)
        problem(c, r->name, "another shardcc is there: build %08" PRIx64 ", not %08" PRIx64,
                r->shardcc, first->shardcc);
    if (c->program.path && r->program < 0)
        problem(c, r->name, "'%s' can't be read there", c->program.path);
    else if (c->program.path && first && r->program != first->program)
        problem(c, r->name, "another '%s' is there than on %s", c->program.path, first->name);
    if (!r->sees && r == first)
        problem(c, r->name, "cannot write into '%s'", c->o.folder);
    else if (!r->sees && first && first->sees)
        problem(c, r->name, "a file that %s has made in '%s' isn't there", first->name,
                c->o.folder);
}

static void check_resources(Check *c, const HostReport *r, int ranks)
{
    const struct {
        const char *what;
        int64_t found, median;
    } resources[] = {{"memory", r->free, median(c, offsetof(HostReport, free))},
                     {"disk", r->disk, median(c, offsetof(HostReport, disk))}};
    const char *folder = c->question.checkpoints;
    double arena = ranks * c->program.arena, state = 2 * c->program.state;

    for (int i = 0; i < COUNT(resources); i++)
        if (resources[i].found < resources[i].median / 2)
            problem(c, r->name, "%s of %s are free, less than half of the median %s",
                    size_text(c->a, resources[i].found), resources[i].what,
                    size_text(c->a, resources[i].median));
    if (arena > (double)r->free)
        problem(c, r->name, "%d rank%s of '%s' would take %s of memory, %s are free", ranks,
                ranks == 1 ? "" : "s", c->program.path, bytes_text(c->a, arena),
                size_text(c->a, r->free));
    if (folder && r == c->first && state > (double)r->checkpoints)
        problem(c, r->name, "two checkpoints in '%s' would take %s, %s are free", folder,
                bytes_text(c->a, state), size_text(c->a, r->checkpoints));
}

static void check_link(Check *c, const HostReport *r)
{
    enum { MAX_AHEAD_S = 1 };

    if (!c->first || r == c->first)
        return;
    if (!r->is_linked)
        problem(c, r->name, "messages between %s and it don't come through", c->first->name);
    else if (fabs(r->ahead) > MAX_AHEAD_S + r->round_trip)
        problem(c, r->name, "its clock is %.1f s %s than that of %s", fabs(r->ahead),
                r->ahead > 0 ? "later" : "earlier", c->first->name);
}

static void find_problems(Check *c)
{
    int left = c->program.ranks;

    for (int i = 0; i < c->n; i++) {
        const HostReport *r = &c->host[i];
        int slots = c->hosts.n ? host_slots(&c->hosts.host[i]) : left;
        int ranks = left < slots ? left : slots;
        left -= ranks;
        if (r->gone)
            problem(c, r->name, "it is out of reach: %s", r->gone);
        else if (!r->is_there)
            problem(c, r->name, "it doesn't answer");
        if (!r->is_there)
            continue;
        check_files(c, r);
        check_resources(c, r, ranks);
        check_link(c, r);
    }
    if (left > 0)
        problem(c, c->program.path, "it has %d ranks, the hosts have slots for %d",
                c->program.ranks, c->program.ranks - left);
}

// ---- the command ----

static int check_hosts(Check *c, Diag *d)
{
    c->n = c->hosts.n ? c->hosts.n : 1;
    c->host = arena_array(c->a, HostReport, c->n);
    bool ok = host_reports_make(c->a, &c->question, &c->hosts, c->host, d);
    bool has_answers = false;
    for (int i = 0; i < c->n; i++) {
        has_answers |= c->host[i].is_there || c->host[i].gone;
        if (c->host[i].is_there && c->host[i].is_first)
            c->first = &c->host[i];
    }
    if (!has_answers)
        return EXIT_USER;  // after an error
    if (c->first)
        printf("shardcc %s, build %08" PRIx64 "\n", SHARDCC_VERSION, c->first->shardcc);
    print_table(c);
    fflush(stdout);
    find_problems(c);
    return ok && !c->problems ? 0 : EXIT_USER;
}

// The path of this program's file.
static const char *own_path(Arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);

    return arena_copy(a, path, n > 0 ? (size_t)n : 0);
}

int check_command(Arena *a, int argc, char **argv)
{
    Check c = {.a = a, .o = {.launcher = "auto", .folder = "."}};
    Diag d = {.file = "shardcc"};
    int status = 0, n = 1;

    while (n < argc && strcmp(argv[n], "--"))
        n++;
    if (!command_read(a, &command, n, argv, &c.o, &status))
        return status;
    char **program = n + 1 < argc ? argv + n + 1 : NULL;
    if ((c.o.hosts && !hosts_read(a, c.o.hosts, &c.hosts, &d)) ||
        (program && !trainer_file_read(a, *program, &c.program, &d)))
        return EXIT_USER;
    c.question =
        (HostQuestion){.launcher = c.o.launcher,
                       .probe = arena_string(a, "%s/probe", runtime_folder(a)),
                       .shardcc = own_path(a),
                       .program = c.program.path,
                       .checkpoints = program ? trainer_option(program, "--checkpoint") : NULL,
                       .folder = c.o.folder};
    return check_hosts(&c, &d);
}
