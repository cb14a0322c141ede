// shardcc run: starts the ranks of a trainer, and again from the last checkpoint if they fail.
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "driver/internal.h"
#include "launch/failed_host.h"
#include "launch/launch_group.h"
#include "launch/trainer_file.h"
#include "runtime/rt_checkpoint.h"

enum { NOT_GIVEN = -1, TRY_AGAIN = 75 };  // the latter: a run that stopped for others
enum { ALONE_S = 5 };                     // seconds that mpirun may run without a rank
#define GRACE_SECONDS 5.0  // for the ranks of other hosts, once those of one have failed

typedef struct RunOptions {
    const char *hosts, *launcher;
    int ranks, restarts;
} RunOptions;

#define AT(field) offsetof(RunOptions, field)

static const OptionDef options[] = {
    {"--hosts", "FILE", &option_text, AT(hosts),
     "a host a line, as `node7` or `node7 slots=8` (those of the launcher);\n"
     "one that fails twice is left out"},
    {"--ranks", "N", &option_count, AT(ranks), "how many ranks (those that PROGRAM --info says)",
     .max = INT_MAX},
    {"--launcher", "NAME", &option_text, AT(launcher),
     "auto, mpirun, srun, ssh or none. auto: srun in a job of Slurm; else, for\n"
     "ranks of TCP, ssh on --hosts, and none here: the program starts them;\n"
     "none for one rank, too; else mpirun",
     .check = check_launcher},
    {"--max-restarts", "N", &option_count, AT(restarts),
     "how often to start again (3, and 0 without --checkpoint)", .max = 1 << 20, .word = "0"},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc run [OPTIONS] -- PROGRAM [ITS OPTIONS]\n\n"
    "Starts the ranks of a trainer and waits for their end. If they fail, it starts them again,\n"
    "from the last checkpoint: PROGRAM gets --resume if it has --checkpoint. Without a host that\n"
    "failed twice it goes on with the program for fewer ranks that is next to it (PROGRAM.6).\n"
    "Signals go to the ranks. On several hosts all end once those of one have failed.\n\n",
    options, COUNT(options), .statuses = "the program's; 2 wrong options, 1 it can't be started"};

// ---- one run ----

typedef struct Job {
    TrainerFile given, program;  // the command line's; the one that runs
    char **own;                  // the program's words; the first is replaced
    const char *launcher;
    Hosts hosts;
    Launch launch;           // the commands that start it
    LaunchGroup *group;      // that run; NULL: none
    const char *folder;      // of checkpoints; NULL: none
    char was[RT_LOCK_TEXT];  // the lock file before it began
    int failed_on;           // the number of a host; -1: none is known
    int signal;              // that shardcc has got; 0: none
    bool has_begun;          // it has done a step
    double had_ranks;        // when it had a rank last; 0: never yet
    double failed;           // when the run before has ended; 0: there was none
    int signals;             // a descriptor of signals
} Job;

static const char *name_of(const Job *j) { return base_name(j->program.path); }

static bool is_by(const Job *j, const char *launcher)
{
    return !strcmp(j->launch.launcher, launcher);
}

// Notes the first step of a run: its second line in the lock file.
static void look_for_step(Job *j)
{
    char text[RT_LOCK_TEXT];

    if (j->has_begun || !j->folder || !rt_checkpoint_lock(j->folder, text) ||
        !strcmp(text, j->was) || !strstr(text, RT_LOCK_STEP))
        return;
    j->has_begun = true;
    if (j->failed > 0)
        fprintf(stderr, "shardcc: %s is at its next step, %.1f s after it failed\n", name_of(j),
                launch_seconds() - j->failed);
}

// Hands on the lines of stderr that have come, and looks in them for the host that failed. `all`:
// the last one, too, though it has no end.
static void read_lines(Job *j, Text *t, bool all)
{
    while (t->n) {
        char *end = memchr(t->s, '\n', t->n);
        if (!end && !all)
            break;
        size_t n = end ? (size_t)(end + 1 - t->s) : t->n;
        fwrite(t->s, 1, n, stderr);
        if (end)
            *end = 0;
        if (end && j->failed_on < 0)
            j->failed_on = failed_host(t->s, &j->hosts, j->launch.is_by_slot && !is_by(j, "none"));
        t->n -= n;
        memmove(t->s, t->s + n, t->n);
    }
}

static void read_said(Job *j)
{
    enum { MAX_LINE = 1 << 16 };

    for (int i = 0; i < j->group->n; i++) {
        LaunchProcess *p = &j->group->process[i];
        read_lines(j, &p->errors, p->id == 0 || p->errors.n > MAX_LINE);
    }
}

// Gives a signal to the ranks. mpirun kills ranks a second after it got SIGINT or SIGTERM, but
// hands SIGUSR1 on to them: it stops for others as these do. The second signal goes on as it is,
// and ends what ssh has started.
static void hand_on(Job *j, bool is_first)
{
    bool is_soft = is_first && (is_by(j, "mpirun") || is_by(j, "srun"));

    launch_group_signal(j->group, is_soft ? SIGUSR1 : j->signal);
    if (!is_first && is_by(j, "ssh"))
        launch_group_hang_up(j->group);
}

// Waits for a signal or for the ranks, up to so many seconds.
static void wait_for_signal(Job *j, double seconds)
{
    struct pollfd from = {.fd = j->signals, .events = POLLIN};
    struct signalfd_siginfo got;

    if (j->group) {
        launch_group_wait(j->group, j->signals, seconds);
        read_said(j);
    } else {
        poll(&from, 1, (int)(1000 * seconds) + 1);
    }
    if (read(j->signals, &got, sizeof got) != sizeof got || got.ssi_signo == SIGCHLD)
        return;
    bool is_first = !j->signal;
    j->signal = got.ssi_signo == SIGHUP ? SIGTERM : (int)got.ssi_signo;
    if (j->group)
        hand_on(j, is_first);
}

// Open MPI's mpirun may wait for itself at its end (in PMIx_server_finalize) if a rank is killed
// while it starts.
static void end_if_stuck(Job *j)
{
    pid_t process = j->group->process->id;

    if (!is_by(j, "mpirun") || !process)
        return;
    if (launch_has_children(process))
        j->had_ranks = launch_seconds();
    if (!j->had_ranks || launch_seconds() - j->had_ranks < ALONE_S)
        return;
    fprintf(stderr, "shardcc: mpirun is killed: its ranks have ended, but it hasn't\n");
    kill(process, SIGKILL);
    j->had_ranks = launch_seconds();
}

// Runs it once. Returns the exit status of the host that failed first; -1 after an error.
static int run_once(Arena *a, Job *j, Diag *d)
{
    bool reads = j->hosts.n && !is_by(j, "none");
    LaunchGroup g;

    j->has_begun = false;
    j->failed_on = -1;
    j->had_ranks = 0;
    if (!j->folder || !rt_checkpoint_lock(j->folder, j->was))
        *j->was = 0;
    if (!launch_group_start(a, &j->launch, false, reads, GRACE_SECONDS, &g, d))
        return -1;
    for (j->group = &g; g.running;) {
        wait_for_signal(j, 0.1);
        look_for_step(j);
        end_if_stuck(j);
    }
    if (j->failed_on < 0 && g.status == LAUNCH_SSH_FAILED)
        j->failed_on = j->launch.command[g.failed].host;
    j->group = NULL;
    launch_group_free(&g);
    return g.status;
}

// Finds the commands that start the program on the hosts.
static bool find_launch(Arena *a, Job *j, Diag *d)
{
    j->own[0] = (char *)j->program.path;
    LaunchJob job = {.launcher = j->launcher,
                     .ranks = j->program.ranks,
                     .can_spawn = j->program.can_spawn,
                     .hosts = &j->hosts,
                     .program = j->own};
    return launch_make(a, &job, &j->launch, d);
}

// ---- again ----

// Is the end with that status the last one?
static bool is_final(const Job *j, int status)
{
    return j->signal || status == 0 || status == EXIT_OPTION || status == TRY_AGAIN ||
           status == 128 + SIGINT || status == 128 + SIGTERM;
}

static void say_failure(const Job *j, int status, const char *rest)
{
    enum { LAST_SIGNAL = 64 };

    if (status > 128 && status <= 128 + LAST_SIGNAL)
        fprintf(stderr, "shardcc: %s: ended by signal %d; %s\n", name_of(j), status - 128, rest);
    else
        fprintf(stderr, "shardcc: %s: ended with status %d; %s\n", name_of(j), status, rest);
}

// Leaves out the host on which the run failed if it isn't the first time, and takes the program for
// the most ranks that the others have slots for. Finds the commands of the next start. Returns
// false after an error.
static bool leave_out(Arena *a, Job *j, Diag *d)
{
    enum { FAILURES = 2 };
    Host *h = j->failed_on < 0 ? NULL : &j->hosts.host[j->failed_on];
    int slots = 0;

    if (!h || ++h->failures < FAILURES)
        return find_launch(a, j, d);
    const char *name = h->name;
    for (Host *end = &j->hosts.host[--j->hosts.n]; h < end; h++)
        h[0] = h[1];
    for (int i = 0; i < j->hosts.n; i++)
        slots += host_slots(&j->hosts.host[i]);
    fprintf(stderr, "shardcc: %s has failed twice and is left out\n", name);
    if (!trainer_file_fit(a, &j->given, slots, &j->program, d) || !find_launch(a, j, d))
        return false;
    fprintf(stderr, "shardcc: %s goes on, with %d rank%s\n", name_of(j), j->program.ranks,
            j->program.ranks == 1 ? "" : "s");
    return true;
}

// Is there something to go on with, of this job or of an earlier one?
static bool has_checkpoint(const Job *j)
{
    return j->folder && rt_checkpoint_before(j->folder, INT64_MAX) >= 0;
}

// Waits before the next start. False: a signal came.
static bool pause_for(Job *j, double seconds)
{
    for (double end = launch_seconds() + seconds; !j->signal && launch_seconds() < end;)
        wait_for_signal(j, end - launch_seconds());
    return !j->signal;
}

static int run_again_and_again(Arena *a, Job *j, int restarts, Diag *d)
{
    enum { FIRST_PAUSE_S = 1, MAX_PAUSE_S = 60, LONG_RUN_S = 600 };
    bool can_go_on = false;
    double pause = FIRST_PAUSE_S;

    for (int i = 0;; i++) {
        double began = launch_seconds();
        int status = run_once(a, j, d);
        can_go_on |= j->has_begun || has_checkpoint(j);
        if (status < 0)
            return EXIT_USER;
        if (is_final(j, status))
            return status && j->signal && j->signal != SIGUSR1 ? 128 + j->signal : status;
        // Another start has no more success if the first one didn't come to a step, unless a host
        // is gone, or an earlier job, with the same command line say, had come farther.
        if ((!can_go_on && j->failed_on < 0) || i == restarts) {
            if (restarts)
                say_failure(j, status,
                            can_go_on ? arena_string(a, "it isn't started again after %d restart%s",
                                                     i, i == 1 ? "" : "s")
                                      : "it has done no step");
            return status;
        }
        j->failed = launch_seconds();
        pause = j->failed - began > LONG_RUN_S ? FIRST_PAUSE_S : pause;
        say_failure(j, status,
                    arena_string(a, "restart %d of %d in %.0f s", i + 1, restarts, pause));
        if (!leave_out(a, j, d))
            return EXIT_USER;
        if (!pause_for(j, pause))
            return 128 + j->signal;
        pause = 2 * pause < MAX_PAUSE_S ? 2 * pause : MAX_PAUSE_S;
    }
}

static void block_signals(Job *j)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD};
    sigset_t set;

    sigemptyset(&set);
    for (int i = 0; i < COUNT(signals); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    j->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

// ---- the command ----

// The program's words, with --resume if it has --checkpoint.
static char **program_words(Arena *a, int n, char **argv, bool resumes)
{
    char **words = arena_array(a, char *, n + 2);

    memcpy(words, argv, (size_t)n * sizeof *words);
    if (resumes)
        words[n] = "--resume";
    return words;
}

static bool find_program(Arena *a, const char *path, const RunOptions *o, Job *j, Diag *d)
{
    if (!trainer_file_read(a, path, &j->given, d))
        return false;
    if (o->ranks && o->ranks != j->given.ranks) {
        diag_error(d, "--ranks %d: '%s' is for %d", o->ranks, path, j->given.ranks);
        return false;
    }
    j->program = j->given;
    return true;
}

int run_command(Arena *a, int argc, char **argv)
{
    RunOptions o = {.launcher = "auto", .restarts = NOT_GIVEN};
    Diag d = {.file = "shardcc"};
    int status = 0, n = 1;

    while (n < argc && strcmp(argv[n], "--"))
        n++;
    if (!command_read(a, &command, n, argv, &o, &status))
        return status;
    if (n + 1 >= argc) {
        complain(&status, "no program given: shardcc run [OPTIONS] -- PROGRAM [ITS OPTIONS]");
        return status;
    }
    char **program = argv + n + 1;
    Job j = {.folder = trainer_option(program, "--checkpoint"), .launcher = o.launcher};
    if (!j.folder && o.restarts > 0) {
        complain(&status, "--max-restarts: '%s' needs --checkpoint FOLDER for that", *program);
        return status;
    }
    if (o.restarts == NOT_GIVEN)
        o.restarts = j.folder ? 3 : 0;
    bool resumes = j.folder && !trainer_option(program, "--resume");
    j.own = program_words(a, argc - n - 1, program, resumes);
    if (!find_program(a, *program, &o, &j, &d) ||
        (o.hosts && !hosts_read(a, o.hosts, &j.hosts, &d)) || !find_launch(a, &j, &d))
        return EXIT_USER;
    if (j.hosts.n)
        j.launcher = j.launch.launcher;  // also for a program of fewer ranks
    block_signals(&j);
    status = run_again_and_again(a, &j, o.restarts, &d);
    return status;
}
