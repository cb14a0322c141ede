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
     "as of shardcc run: auto, mpirun, srun, ssh or none", .check = check_launcher},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc check [OPTIONS] [-- PROGRAM [ITS OPTIONS]]\n\n"
    "Looks at hosts before a run: shardcc itself, cores, memory, disk of the current folder, "
    "limits,\n"
    "clocks, the links between the first host and each other one, a small sum between each two "
    "hosts,\n"
    "and a folder that all must see. With a program: whether it is the same everywhere, whether "
    "the\n"
    "memory and the disk of its --checkpoint have space for it, and the GPUs, driver and NCCL that "
    "it\n"
    "finds. Prints a row for each host, and a line for each problem.\n\n",
    options, COUNT(options), .statuses = "0 no problem, 2 wrong options, 1 any problem or error"};

typedef struct Check {
    Arena *a;
    CheckOptions o;
    Hosts hosts;
    TrainerFile program;     // path NULL: none
    bool exchanges_by_host;  // the program's ranks may share a GPU, and need no NCCL
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

// Columns that only some jobs have: a text of each host.
typedef struct TextColumn {
    const char *head;
    size_t at;  // in HostReport
} TextColumn;

static const TextColumn text_columns[] = {{"interface", offsetof(HostReport, address)},
                                          {"devices", offsetof(HostReport, devices)},
                                          {"driver", offsetof(HostReport, driver)},
                                          {"exchanges", offsetof(HostReport, exchanges)}};

static const char *text_of(const HostReport *r, const TextColumn *x)
{
    return *(const char *const *)((const char *)r + x->at);
}

static bool has_column(const Check *c, const TextColumn *x)
{
    for (int i = 0; i < c->n; i++)
        if (text_of(&c->host[i], x))
            return true;
    return false;
}

enum { NUMBERS = 11, ALL_COLUMNS = NUMBERS + COUNT(text_columns) };

static void fill_row(const Check *c, const HostReport *r, const char *row[NUMBERS])
{
    row[0] = r->name;
    row[1] = r->own;
    row[2] = "no answer";
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
}

static void print_table(const Check *c)
{
    const char *head[ALL_COLUMNS] = {"host",    "name",      "cores",      "free memory",
                                     "of",      "free disk", "open files", "locked memory",
                                     "latency", "bandwidth", "clock"};
    bool has[COUNT(text_columns)];
    Columns t = {.arena = c->a, .n_columns = NUMBERS};

    for (int k = 0; k < COUNT(text_columns); k++) {
        has[k] = has_column(c, &text_columns[k]);
        if (has[k])
            head[t.n_columns++] = text_columns[k].head;
    }
    columns_add_row(&t, head);
    for (int i = 0; i < c->n; i++) {
        const char *row[ALL_COLUMNS] = {NULL};
        int n = NUMBERS;
        fill_row(c, &c->host[i], row);
        for (int k = 0; k < COUNT(text_columns); k++)
            if (has[k])
                row[n++] = text_of(&c->host[i], &text_columns[k]);
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
    if (!r->devices && arena > (double)r->free)
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

// Each two hosts have added numbers, on both. The link to the first host is another problem.
static void check_sums(Check *c, int i)
{
    const HostReport *r = &c->host[i];

    for (int k = 0; k < i; k++) {
        const HostReport *other = &c->host[k];
        bool is_wrong = r->sum[k] == SUM_WRONG || other->sum[i] == SUM_WRONG;
        bool is_there = r->sum[k] != SUM_MISSING && other->sum[i] != SUM_MISSING;
        bool is_cut = (other == c->first && !r->is_linked) || (r == c->first && !other->is_linked);
        if (!other->is_there || is_cut)
            continue;
        if (is_wrong)
            problem(c, r->name, "a sum of its numbers and those of %s comes out wrong",
                    other->name);
        else if (!is_there)
            problem(c, r->name, "messages between %s and it don't come through", other->name);
    }
}

// Ranks that exchange by a library need a device each, and the same version of it.
static void check_devices(Check *c, const HostReport *r, int ranks)
{
    const HostReport *first = c->first;
    int n = r->devices ? atoi(r->devices) : 0;

    if (!r->devices)
        return;
    if (!n)
        problem(c, r->name, "'%s' finds no device there: %s, driver: %s", c->program.path,
                r->devices, r->driver ? r->driver : "?");
    else if (n < ranks && r->exchanges && !c->exchanges_by_host)
        problem(c, r->name,
                "%d ranks of '%s' need a device each, and find %d; --collectives host "
                "lets them share",
                ranks, c->program.path, n);
    if (r != first && first && first->exchanges && r->exchanges && !c->exchanges_by_host &&
        strcmp(r->exchanges, first->exchanges) != 0)
        problem(c, r->name, "ranks exchange by %s there, by %s on %s", r->exchanges,
                first->exchanges, first->name);
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
        check_devices(c, r, ranks);
        check_link(c, r);
        check_sums(c, i);
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

// The probe's ranks talk as those of the program do. Without one, ssh needs a probe that it can
// start.
static HostQuestion question_of(Check *c, char **program)
{
    const RtTransportRow *transport = c->program.transport;
    bool is_ssh = !strcmp(c->o.launcher, "ssh");
    HostQuestion q = {.launcher = c->o.launcher, .shardcc = own_path(c->a), .folder = c->o.folder};

    q.probe = probe_path(c->a, &transport, is_ssh);
    q.can_spawn = transport && transport->can_spawn;
    if (!program)
        return q;
    const char *by = trainer_option(program, "--collectives");
    c->exchanges_by_host = by && !strcmp(by, "host");
    q.program = c->program.path;
    q.checkpoints = trainer_option(program, "--checkpoint");
    q.interface = trainer_option(program, "--interface");
    q.libraries = trainer_option(program, "--libraries");
    return q;
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
    c.question = question_of(&c, program);
    return check_hosts(&c, &d);
}
