// shardcc run: starts the ranks of a trainer, and again from the last checkpoint if they fail.
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "driver/internal.h"
#include "driver/launch.h"
#include "runtime/rt_checkpoint.h"

enum { NOT_GIVEN = -1, TRY_AGAIN = 75 };  // the latter is the status of a run that made room

typedef struct RunOptions {
    const char *hosts, *launcher;
    int ranks, restarts;
} RunOptions;

#define AT(field) offsetof(RunOptions, field)

static bool check_launcher(const char *s, int *status)
{
    static const char *const names[] = {"auto", "mpirun", "srun", "none"};

    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(s, names[i]))
            return true;
    return complain(status, "--launcher: '%s' is not one of auto, mpirun, srun, none", s);
}

static const OptionDef options[] = {
    {"--hosts", "FILE", &option_text, AT(hosts),
     "a host a line, as `node7` or `node7 slots=8` (those of the launcher)"},
    {"--ranks", "N", &option_count, AT(ranks), "how many ranks (those that PROGRAM --info says)",
     .most = INT_MAX},
    {"--launcher", "NAME", &option_text, AT(launcher),
     "auto, mpirun, srun or none (auto: srun in a job of Slurm, else mpirun; none for one rank)",
     .check = check_launcher},
    {"--max-restarts", "N", &option_count, AT(restarts),
     "how often to start again (3, and 0 without --checkpoint)", .most = 1 << 20, .word = "0"},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc run [OPTIONS] -- PROGRAM [ITS OPTIONS]\n\n"
    "Starts the ranks of a trainer and waits for their end. If they fail, it starts them again,\n"
    "from the last checkpoint: PROGRAM gets --resume if it has --checkpoint. Signals go to the\n"
    "ranks.\n\n",
    options, COUNT(options), .statuses = "the program's; 2 wrong options, 1 it can't be started"};

// ---- the program's options ----

// The value of a trainer's option, "--name V" or "--name=V"; "" if it has none, NULL if it isn't
// there.
static const char *option_of(char *const *argv, const char *name)
{
    size_t n = strlen(name);

    for (int i = 1; argv[i]; i++) {
        if (!strcmp(argv[i], name))
            return argv[i + 1] ? argv[i + 1] : "";
        if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
            return argv[i] + n + 1;
    }
    return NULL;
}

// The ranks that the program was compiled for, by its --info; 0 after an error.
static int ranks_of(const char *program, Diag *d)
{
    char *const info[] = {(char *)program, "--info", NULL};
    Text t = {0};
    int status, ranks = 1;

    if (!launch_read(info, &t, &status, d))
        return 0;
    const char *line = t.s ? strstr(t.s, "\nranks ") : NULL;
    if (status || !t.s || !strstr(t.s, "\narena ")) {
        diag_error(d, "'%s' is no trainer: it doesn't know --info", program);
        ranks = 0;
    } else if (line) {
        ranks = atoi(line + strlen("\nranks "));
    }
    text_free(&t);
    return ranks;
}

// ---- one run ----

typedef struct Job {
    const char *name;    // of the program
    char *const *words;  // that start it
    bool has_launcher;
    const char *folder;      // of checkpoints; NULL: none
    char was[RT_LOCK_TEXT];  // the lock file before it began
    pid_t process;
    int signal;      // that shardcc has got; 0: none
    bool has_begun;  // it has done a step
    double failed;   // when the run before has ended; 0: there was none
    sigset_t signals;
} Job;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
        fprintf(stderr, "shardcc: %s is at its next step, %.1f s after it failed\n", j->name,
                now() - j->failed);
}

// Waits for a signal, up to so many seconds, and gives it to the process, if there is one. mpirun
// kills ranks a second after it got SIGINT or SIGTERM, but hands SIGUSR1 on to them: it makes room
// as these do. The second signal goes on as it is.
static void wait_for_signal(Job *j, double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    int signal = sigtimedwait(&j->signals, NULL, &t);

    if (signal <= 0 || signal == SIGCHLD)
        return;
    bool is_first = !j->signal;
    j->signal = signal == SIGHUP ? SIGTERM : signal;
    if (j->process > 0)
        kill(j->process, j->has_launcher && is_first ? SIGUSR1 : j->signal);
}

// Runs it once. Returns its exit status; -1 after an error.
static int run_once(Job *j, Diag *d)
{
    int ended = 0;

    j->has_begun = false;
    if (!j->folder || !rt_checkpoint_lock(j->folder, j->was))
        *j->was = 0;
    j->process = launch_start(j->words, d);
    if (j->process < 0)
        return -1;
    while (waitpid(j->process, &ended, WNOHANG) == 0) {
        wait_for_signal(j, 0.1);
        look_for_step(j);
    }
    look_for_step(j);
    j->process = 0;
    return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
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
    if (status > 128)
        fprintf(stderr, "shardcc: %s: ended by signal %d; %s\n", j->name, status - 128, rest);
    else
        fprintf(stderr, "shardcc: %s: ended with status %d; %s\n", j->name, status, rest);
}

// Waits before the next start. False: a signal came.
static bool pause_for(Job *j, double seconds)
{
    for (double end = now() + seconds; !j->signal && now() < end;)
        wait_for_signal(j, end - now());
    return !j->signal;
}

static int run_again_and_again(Arena *a, Job *j, int restarts, Diag *d)
{
    enum { FIRST_PAUSE_S = 1, MOST_PAUSE_S = 60, LONG_RUN_S = 600 };
    bool was_running = false;
    double pause = FIRST_PAUSE_S;

    for (int i = 0;; i++) {
        double began = now();
        int status = run_once(j, d);
        was_running |= j->has_begun;
        if (status < 0)
            return EXIT_USER;
        if (is_final(j, status))
            return status && j->signal && j->signal != SIGUSR1 ? 128 + j->signal : status;
        // Another start has no more success if the first one didn't come to a step.
        if (!was_running || i == restarts) {
            if (restarts)
                say_failure(j, status,
                            was_running
                                ? arena_string(a, "it isn't started again after %d restart%s", i,
                                               i == 1 ? "" : "s")
                                : "it has done no step");
            return status;
        }
        j->failed = now();
        pause = j->failed - began > LONG_RUN_S ? FIRST_PAUSE_S : pause;
        say_failure(j, status,
                    arena_string(a, "restart %d of %d in %.0f s", i + 1, restarts, pause));
        if (!pause_for(j, pause))
            return 128 + j->signal;
        pause = 2 * pause < MOST_PAUSE_S ? 2 * pause : MOST_PAUSE_S;
    }
}

static void block_signals(Job *j)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD};

    sigemptyset(&j->signals);
    for (int i = 0; i < COUNT(signals); i++)
        sigaddset(&j->signals, signals[i]);
    sigprocmask(SIG_BLOCK, &j->signals, NULL);
}

// ---- the command ----

// The program's words, with --resume if it has --checkpoint.
static char *const *program_words(Arena *a, int n, char **argv, bool resumes)
{
    char **words = arena_array(a, char *, n + 2);

    memcpy(words, argv, (size_t)n * sizeof *words);
    if (resumes)
        words[n] = "--resume";
    return words;
}

static bool find_ranks(const char *program, RunOptions *o, Diag *d)
{
    int ranks = ranks_of(program, d);

    if (ranks && o->ranks && o->ranks != ranks) {
        diag_error(d, "--ranks %d: '%s' is for %d", o->ranks, program, ranks);
        return false;
    }
    o->ranks = ranks;
    return ranks > 0;
}

int run_command(Arena *a, int argc, char **argv)
{
    RunOptions o = {.launcher = "auto", .restarts = NOT_GIVEN};
    Diag d = {.file = "shardcc"};
    int status = 0, n = 1;
    Hosts hosts = {0};
    Strings words = {0};

    while (n < argc && strcmp(argv[n], "--"))
        n++;
    if (!command_read(&command, a, n, argv, &o, &status))
        return status;
    if (n + 1 >= argc) {
        complain(&status, "no program given: shardcc run [OPTIONS] -- PROGRAM [ITS OPTIONS]");
        return status;
    }
    char **program = argv + n + 1;
    Job j = {.name = base_name(*program), .folder = option_of(program, "--checkpoint")};
    if (!j.folder && o.restarts > 0) {
        complain(&status, "--max-restarts: '%s' needs --checkpoint FOLDER for that", *program);
        return status;
    }
    if (o.restarts == NOT_GIVEN)
        o.restarts = j.folder ? 3 : 0;
    bool resumes = j.folder && !option_of(program, "--resume");
    char *const *own = program_words(a, argc - n - 1, program, resumes);
    if (!find_ranks(*program, &o, &d) || (o.hosts && !hosts_read(a, o.hosts, &hosts, &d)) ||
        !launch_words(a, o.launcher, o.ranks, &hosts, own, &words, &d))
        return EXIT_USER;
    j.words = (char *const *)words.s;
    j.has_launcher = words.s[0] != own[0];
    block_signals(&j);
    return run_again_and_again(a, &j, o.restarts, &d);
}
