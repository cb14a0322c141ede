// shardcc detect: measures this machine, and the links between ranks that mpirun started. A program
// of the runtime does the measuring, because shardcc is linked neither with kernels nor with MPI.
// shardcc checks the text that the program prints like any cluster file.
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/analyzer.h"
#include "driver/internal.h"

typedef struct DetectOptions {
    const char *output;
    int threads;  // 0: all threads
} DetectOptions;

#define AT(field) offsetof(DetectOptions, field)

static const OptionDef options[] = {
    {"-o", "FILE.json", &option_text, AT(output), "where to write the cluster file (stdout)"},
    {"--threads", "N", &option_count, AT(threads),
     "how many threads a trainer will have (one for each core)", .most = 64},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc detect [-o FILE.json]\n\n"
    "Measures this machine and writes a cluster file, which --cluster reads: the speed of matrix\n"
    "products and of memory, and the time that a call takes to start. This takes some seconds;\n"
    "run nothing else meanwhile. mpirun -n RANKS shardcc detect also measures the links between\n"
    "ranks.\n\n",
    options, COUNT(options)};

// Gives the output of the probe, up to 1 MiB. Returns false if its exit status says that it failed.
static bool run_probe(const char *path, const DetectOptions *o, Text *t, Diag *d)
{
    enum { MAX_PROBE_BYTES = 1 << 20 };
    char threads[16], buffer[4096];
    char *argv[] = {(char *)path, o->threads ? threads : NULL, NULL};
    posix_spawn_file_actions_t actions;
    int fd[2], status = 0;
    ssize_t n;
    pid_t pid;

    snprintf(threads, sizeof threads, "%d", o->threads);
    if (pipe(fd)) {
        diag_error(d, "cannot measure: %s", strerror(errno));
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, fd[0]);
    int error = posix_spawn(&pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fd[1]);
    while (!error && ((n = read(fd[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0 && t->n < MAX_PROBE_BYTES)
            text_put(t, buffer, (size_t)n);
    close(fd[0]);
    while (!error && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (error)
        diag_error(d, "cannot run '%s', a part of shardcc: %s", path, strerror(error));
    else if (status)
        diag_error(d, "'%s' failed, so nothing was measured", path);
    return !error && !status;
}

// Only the first rank's probe prints a cluster. The others print null, and `to` stays empty.
static bool measure(Arena *a, const DetectOptions *o, Text *to, Diag *d)
{
    Text said = {0};
    Cluster c;

    bool ok = run_probe(arena_string(a, "%s/probe", runtime_folder(a)), o, &said, d);
    if (ok && (!said.s || strcmp(said.s, "null\n"))) {
        ok = cluster_parse(a, said.s ? said.s : "", said.n, &c, d);
        if (ok)
            cluster_print(&c, to);
    }
    text_free(&said);
    return ok;
}

int detect(Arena *a, int argc, char **argv)
{
    DetectOptions o = {0};
    Diag d = {.file = "shardcc"};
    OutFile file = {0};
    Text t = {0};
    int status = 0;

    if (!command_read(&command, a, argc, argv, &o, &status))
        return status;
    if (o.output && !out_open(&file, o.output, &d))
        return EXIT_USER;
    bool ok = measure(a, &o, &t, &d);
    if (ok && t.n && o.output) {
        fwrite(t.s, 1, t.n, file.f);  // out_commit reports errors
        ok = out_commit(&file, &d);
    } else if (o.output) {
        out_cancel(&file);
    } else if (t.n) {
        fwrite(t.s, 1, t.n, stdout);
    }
    text_free(&t);
    return ok ? 0 : EXIT_USER;
}
