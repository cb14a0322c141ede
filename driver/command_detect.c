// shardcc detect: measures this machine, and the links between ranks that a launcher started. A
// program of the runtime does the measuring, because shardcc is linked neither with kernels nor
// with a transport. shardcc checks the text that the program prints like any cluster file.
#include <string.h>

#include "analyzer/sharding/sharding.h"
#include "driver/internal.h"
#include "launch/launch.h"

typedef struct DetectOptions {
    const char *output;
    int threads;  // 0: all threads
} DetectOptions;

#define AT(field) offsetof(DetectOptions, field)

static const OptionDef options[] = {
    {"-o", "FILE.json", &option_text, AT(output), "where to write the cluster file (stdout)"},
    {"--threads", "N", &option_count, AT(threads),
     "how many threads a trainer will have (one for each core)", .max = 64},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc detect [-o FILE.json]\n\n"
    "Measures this machine and writes a cluster file, which --cluster reads: the speed of matrix\n"
    "products and of memory, and the time that a call takes to start. This takes some seconds;\n"
    "run nothing else meanwhile. mpirun -n RANKS shardcc detect also measures the links between\n"
    "ranks.\n\n",
    options, COUNT(options)};

// Gives the output of the probe. Returns false if its exit status says that it failed.
static bool run_probe(const char *path, const DetectOptions *o, Text *t, Diag *d)
{
    char threads[16];
    char *const argv[] = {(char *)path, o->threads ? threads : NULL, NULL};
    int status;

    snprintf(threads, sizeof threads, "%d", o->threads);
    if (!launch_read(argv, t, NULL, &status, d)) {
        diag_note(d, "it is a part of shardcc");
        return false;
    }
    if (status)
        diag_error(d, "'%s' failed, so nothing was measured", path);
    return !status;
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
            cluster_print(&c, CLUSTER_VERSION, to);
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

    if (!command_read(a, &command, argc, argv, &o, &status))
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
