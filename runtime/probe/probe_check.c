// Looks at the hosts of a job, with one rank on each, for shardcc check. The ranks print these
// lines in any order; sizes are bytes, times seconds, and a sum is -1 if the file can't be read:
//
//   host RANK NAME CORES MEMORY FREE_MEMORY FREE_DISK FILES LOCKED SUM_OF_SHARDCC SUM_OF_PROGRAM
//     FREE_DISK_FOR_CHECKPOINTS
//   address RANK INTERFACE ADDRESS
//   devices RANK TEXT, driver RANK TEXT, exchanges RANK TEXT
//   sum RANK OTHER 0|1
//   link RANK ROUND_TRIP AHEAD LATENCY SECONDS_PER_BYTE
//   seen RANK 0|1
//
// The texts are the program's own. A sum of numbers of both ranks has come out wrong or right
// there; there is no line if the other rank's numbers didn't come. AHEAD is the clock of the rank
// less that of rank 0. The last line says whether the rank sees a file that rank 0 has made.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"
#include "runtime/rt_checksum.h"
#include "runtime/rt_file.h"
#include "runtime/trainer/trainer_options.h"

enum {
    LINK_S = 60,  // that the messages between two hosts may take
    SEEN_S = 5,   // after which a shared file must be seen
    CLOCK_CALLS = 10,
    NUMBERS = 64  // of a sum
};
#define SUM_SECONDS 10.0  // that the numbers of another host may take

// ---- a host ----

static int64_t free_memory(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    char line[128];
    long long kib = 0;

    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %lld kB", &kib) != 1)
        ;
    if (f)
        fclose(f);
    return kib * 1024;
}

// A folder that isn't there yet will be made in the nearest one above it that is.
static int64_t free_disk(const char *folder)
{
    char path[4096];
    struct statvfs s;

    snprintf(path, sizeof path, "%s", folder);
    while (statvfs(path, &s)) {
        char *slash = strrchr(path, '/');
        if (!strcmp(path, ".") || !strcmp(path, "/"))
            return 0;
        if (!slash)
            strcpy(path, ".");
        else
            slash[slash == path] = 0;
    }
    return (int64_t)s.f_bavail * (int64_t)s.f_frsize;
}

static int64_t limit(int which)
{
    struct rlimit r;

    return getrlimit(which, &r) || r.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)r.rlim_cur;
}

static int64_t sum_of(const char *path)
{
    RtChecksum sum = {0};
    RtFileError e;
    RtMap map;

    if (!rt_map(&map, path, &e))
        return -1;
    rt_checksum_add(&sum, 0, map.data, map.size);
    int64_t whole =
        rt_checksum_whole(rt_checksum_parts(&sum, (int64_t)map.size), (int64_t)map.size);
    rt_unmap(&map);
    return whole;
}

static void print_host(int rank, const char *shardcc, const char *program, const char *checkpoints)
{
    int64_t page = sysconf(_SC_PAGE_SIZE);
    char name[256] = "?";

    gethostname(name, sizeof name - 1);
    printf("host %d %s %ld %lld %lld %lld %lld %lld %lld %lld %lld\n", rank, name,
           sysconf(_SC_NPROCESSORS_ONLN), (long long)(sysconf(_SC_PHYS_PAGES) * page),
           (long long)free_memory(), (long long)free_disk("."), (long long)limit(RLIMIT_NOFILE),
           (long long)limit(RLIMIT_MEMLOCK), (long long)sum_of(shardcc), (long long)sum_of(program),
           (long long)free_disk(checkpoints));
    fflush(stdout);
}

static void print_text(const char *what, int rank, const char *text)
{
    if (*text)
        printf("%s %d %s\n", what, rank, text);
}

static void print_devices(int rank, const HostDevices *d)
{
    print_text("devices", rank, d->devices);
    print_text("driver", rank, d->driver);
    print_text("exchanges", rank, d->exchanges);
    fflush(stdout);
}

static void print_address(const Ranks *r)
{
    char text[256] = "";

    if (r->comm && r->comm->transport->address)
        r->comm->transport->address(r->comm, text, sizeof text);
    print_text("address", r->rank, text);
    fflush(stdout);
}

// ---- sums ----

// The numbers of this rank and of another one, in flight or there.
typedef struct Sum {
    int64_t own[NUMBERS], other[NUMBERS];
    RtPending out, in;
    bool is_sent, has_come, is_done;
} Sum;

static int64_t number_of(int rank, int i) { return (int64_t)(rank + 1) * (i + 1); }

static void start_sum(const Ranks *r, int other, Sum *s)
{
    for (int i = 0; i < NUMBERS; i++)
        s->own[i] = number_of(r->rank, i);
    s->in = rt_receive(r->comm, other, s->other, sizeof s->other);
    s->out = rt_send(r->comm, other, s->own, sizeof s->own);
}

// Prints the sum once both ranks' numbers have arrived, or the link is broken.
static void go_on_with_sum(const Ranks *r, int other, Sum *s)
{
    bool is_right = true;
    int in = s->has_come ? 1 : r->comm->transport->test(r->comm, s->in.message);
    int out = s->is_sent ? 1 : r->comm->transport->test(r->comm, s->out.message);

    s->has_come = in > 0;
    s->is_sent = out > 0;
    s->is_done = in < 0 || out < 0 || (s->has_come && s->is_sent);
    if (!s->has_come || !s->is_sent)
        return;
    for (int i = 0; i < NUMBERS; i++)
        is_right &= s->own[i] + s->other[i] == number_of(r->rank, i) + number_of(other, i);
    printf("sum %d %d %d\n", r->rank, other, is_right);
    fflush(stdout);
}

// Each two hosts add numbers, all of them concurrently: a link that is cut holds up no other one.
// Its messages stay in flight, so the sums are never freed.
static void add_with_all(const Ranks *r)
{
    Sum *sum = rt_alloc((size_t)r->n, sizeof *sum);
    int left = r->n - 1;

    for (int i = 1; i < r->n; i++) {
        int other = (r->rank + i) % r->n;
        start_sum(r, other, &sum[other]);
    }
    for (double end = rt_seconds() + SUM_SECONDS; left && rt_seconds() < end;) {
        left = r->n - 1;
        for (int i = 0; i < r->n; i++) {
            if (i != r->rank && !sum[i].is_done)
                go_on_with_sum(r, i, &sum[i]);
            left -= sum[i].is_done;
        }
        usleep(RT_POLL_MICROSECONDS);
    }
}

// ---- links ----

static double clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The shortest of several exchanges tells the most.
static void compare_clocks(const Ranks *r, int other, bool begins, double *round_trip,
                           double *ahead)
{
    *round_trip = INFINITY;
    *ahead = 0;
    for (int i = 0; i < CLOCK_CALLS; i++) {
        double start = clock_now(), there = start;
        if (begins)
            ranks_send(r, other, &start, sizeof start);
        ranks_receive(r, other, &there, sizeof there);
        double end = clock_now();
        if (!begins)
            ranks_send(r, other, &end, sizeof end);
        if (end - start < *round_trip) {
            *round_trip = end - start;
            *ahead = there - (start + end) / 2;
        }
    }
}

static void measure_link(const Ranks *r, int rank, char *p)
{
    bool begins = r->rank == 0;
    int other = begins ? rank : 0;
    double round_trip, ahead;

    compare_clocks(r, other, begins, &round_trip, &ahead);
    double small = message_seconds(r, other, begins, p, 1, SMALL_CALLS);
    double large = message_seconds(r, other, begins, p, LARGE, LARGE_CALLS);
    if (begins)
        printf("link %d %.9g %.9g %.9g %.9g\n", rank, round_trip, ahead, small,
               fmax(large - small, 1e-12) / LARGE);
    fflush(stdout);
}

static void measure_all(const Ranks *r)
{
    char *p = rt_alloc(1, LARGE);

    for (int rank = 1; rank < r->n; rank++) {
        if (r->rank == 0)
            alarm(LINK_S);
        if (r->rank == 0 || r->rank == rank)
            measure_link(r, rank, p);
    }
    free(p);
}

// ---- the shared folder ----

static const char *shared;  // the file; rank 0 removes it, however it ends

static void end_early(int signal)
{
    if (shared)
        unlink(shared);
    _exit(1);
}

static bool make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return false;
    shared = path;
    return close(fd) == 0;
}

// File systems over a network may take a moment.
static bool sees_file(const char *path)
{
    for (int i = 0; i < 10 * SEEN_S; i++) {
        if (access(path, F_OK) == 0)
            return true;
        usleep(100000);
    }
    return false;
}

static void look_at_file(const Ranks *r, const char *path)
{
    int64_t made = rt_comm_max(r->comm, r->rank == 0 && make_file(path));

    printf("seen %d %d\n", r->rank, made && sees_file(path));
    fflush(stdout);
    ranks_wait(r);
    if (shared)
        unlink(shared);
}

// The job that the options in argv[1 …] describe. Returns false in the process that has started the
// rank, after its end.
static bool take_job(int argc, char **argv, RtJob *job, int *status)
{
    const RtDevice device = {0};
    RtModel m = {.name = "probe", .transport = &TRANSPORT, .device = &device};
    RtOptions o;
    bool ok = rt_options_read(&o, &m, argc, argv);

    *job = rt_options_job(&o);
    *status = 2;
    int spawns = o.spawn ? (int)o.spawn : o.stdin_signals;
    rt_options_free(&o);
    return ok && (!spawns || rt_spawn(&m, spawns, job, status));
}

int probe_check(int argc, char **argv)
{
    HostDevices devices;
    RtJob job;
    Ranks r;
    int status;

    if (!take_job(argc - PROBE_CHECK_WORDS + 1, argv + PROBE_CHECK_WORDS - 1, &job, &status))
        return status;
    signal(SIGALRM, end_early);
    signal(SIGTERM, end_early);
    signal(SIGINT, end_early);
    alarm(LINK_S);
    host_devices_find(argv[1], argv[4], &devices);
    ranks_start(&r, &(RtModel){.name = "probe", .transport = &TRANSPORT}, job);
    alarm(LINK_S * (unsigned)r.n);
    add_with_all(&r);
    print_address(&r);
    print_host(r.rank, argv[0], argv[1], argv[2]);
    print_devices(r.rank, &devices);
    measure_all(&r);
    look_at_file(&r, argv[3]);
    ranks_end(&r);
    return 0;
}
