// shardcc detect: measures this machine, and the links between ranks. A program of the runtime does
// the measuring, because shardcc is linked neither with kernels nor with a transport. The program
// for GPUs is compiled first, as a trainer is. shardcc checks the text that the program prints like
// any cluster file.
#include <stdlib.h>
#include <string.h>

#include "analyzer/sharding/sharding.h"
#include "driver/internal.h"
#include "generator/generator.h"
#include "launch/launch.h"

typedef struct DetectOptions {
    const char *output;
    const char *program;  // of GPUs: only write the program that measures; NULL: run it
    const Target *target;
    int spawn;                     // 0: a launcher's ranks, or one
    int threads;                   // 0: all threads
    int seconds;                   // that measuring a GPU may take
    const char *gpus, *cuda, *cc;  // as those of Options; NULL: the default
} DetectOptions;

enum { MAX_SPAWN = 128, MAX_GPU_SPAWN = 16, SECONDS = 90 };

#define AT(field) offsetof(DetectOptions, field)

static const char targets_help[] = "what the ranks run on; the first is the default:\n"
#define TARGET(name, text) #name " (" text ") "
#include "analyzer/target/targets.def"
#undef TARGET
    ;

static const OptionDef options[] = {
    {"-o", "FILE.json", &option_text, AT(output), "where to write the cluster file (stdout)"},
    {"--target", "TARGET", &option_target, AT(target), targets_help},
    {"--spawn", "N", &option_count, AT(spawn),
     "start N ranks on this machine, and measure the links between them too;\n"
     "of GPUs 2, 4, 8 or 16",
     .max = MAX_SPAWN},
    {"--threads", "N", &option_count, AT(threads),
     "how many threads a trainer will have (one for each core)", .max = 64, .target = &target_cpu},
    {"--seconds", "N", &option_count, AT(seconds),
     "how long measuring GPUs may take (90): in less, fewer and smaller\n"
     "sizes are measured",
     .max = 3600, .absent = SECONDS, .target = &target_cuda},
    {"--build", "PROGRAM", &option_text, AT(program),
     "only write the program that measures GPUs, for machines without\n"
     "a compiler: PROGRAM SECONDS N > FILE.json does there what\n"
     "--seconds SECONDS --spawn N -o FILE.json does",
     .target = &target_cuda},
    {"--gpu", "LIST", &option_text, AT(gpus),
     "as of compiling: the GPUs to compile for (sm_80,sm_90)", .check = check_gpus,
     .target = &target_cuda},
    {"--cuda", "FOLDER", &option_text, AT(cuda),
     "the toolkit of CUDA, with bin/nvcc (that of PATH, or /usr/local/cuda)",
     .target = &target_cuda},
    {"--cc", "PROGRAM", &option_text, AT(cc), "the C compiler to call (cc)",
     .target = &target_cuda},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc detect [-o FILE.json] [--target TARGET] [--spawn N]\n\n"
    "Measures this machine and writes a cluster file, which --cluster reads: the speed of matrix\n"
    "products and of memory, and the time that a call takes to start. This takes some seconds, of\n"
    "GPUs a minute, after their kernels have been compiled; run nothing else meanwhile.\n"
    "--spawn N, or mpirun -n N shardcc detect, also measures the links between N ranks.\n\n",
    options, COUNT(options)};

static bool options_match(Arena *a, const DetectOptions *o, int *status)
{
    const OptionDef *other = option_of_other_target(a, &command, o, o->target);
    int n = o->spawn;

    if (other)
        return complain(status, "%s needs --target %s", other->name, other->target->name);
    if (has_probe(o->target) && n && (n > MAX_GPU_SPAWN || n & (n - 1)))
        return complain(status, "--spawn: %d; links of GPUs are measured among 2, 4, 8 or 16 ranks",
                        n);
    if (o->program && (o->output || n))
        return complain(status, "--build and %s: one at a time", o->output ? "-o" : "--spawn");
    return true;
}

// Gives the output of the program. Returns false if its exit status says that it failed.
static bool run_probe(char *const *argv, const char *what, Text *t, Diag *d)
{
    int status;

    if (!launch_read(argv, t, &status, d)) {
        diag_note(d, "it is a part of shardcc");
        return false;
    }
    if (status)
        diag_error(d, "%s failed, so nothing was measured", what);
    return !status;
}

// Runs the runtime's program for CPUs.
static bool measure_cpus(Arena *a, const DetectOptions *o, Text *said, Diag *d)
{
    const RtTransportRow *transport = NULL;
    char *path = arena_string(a, "%s", probe_path(a, &transport, o->spawn));
    char *threads = o->threads || o->spawn ? arena_string(a, "%d", o->threads) : NULL;
    char *const own[] = {path, threads, NULL};
    char *const spawning[] = {path, "spawn", arena_string(a, "%d", o->spawn), threads, NULL};

    return run_probe(o->spawn ? spawning : own, arena_string(a, "'%s'", path), said, d);
}

static const RtTransportRow *spawning_transport(void)
{
    const RtTransportRow *row = rt_transport_table;

    while (!row->can_spawn)
        row++;
    return row;
}

static BuildOptions build_options(Arena *a, const DetectOptions *o)
{
    return (BuildOptions){.name = o->program ? base_name(o->program) : "probe",
                          .runtime = runtime_folder(a),
                          .cc = o->cc ? o->cc : "cc",
                          .march = "native",
                          .gpus = o->gpus ? o->gpus : o->target->gpus,
                          .cuda = o->cuda,
                          .transport = spawning_transport()};
}

// Compiles the program for GPUs, and writes it.
static bool build_only(Arena *a, const DetectOptions *o, Diag *d)
{
    BuildOptions b = build_options(a, o);
    Staging s;

    return output_is_writable(a, o->program, d) &&
           staging_open(a, &s, folder_name(a, o->program), d) &&
           staging_close(&s, build_probe(&s, o->target, &b, d), d);
}

// Compiles the program for GPUs in a folder that is removed again, and runs it.
static bool measure_gpus(Arena *a, const DetectOptions *o, Text *said, Diag *d)
{
    const char *folder = getenv("TMPDIR");
    BuildOptions b = build_options(a, o);
    Staging s;

    if (!staging_open(a, &s, folder && *folder ? folder : "/tmp", d))
        return false;
    bool ok = build_probe(&s, o->target, &b, d);
    if (ok) {
        char *const argv[] = {arena_string(a, "%s/%s", s.folder, b.name),
                              arena_string(a, "%d", o->seconds), arena_string(a, "%d", o->spawn),
                              NULL};
        ok = run_probe(argv, "the program that measures GPUs", said, d);
    }
    staging_close(&s, false, d);  // nothing of it is kept
    return ok;
}

// Only the first rank's program prints a cluster. The others print null, and `to` stays empty.
static bool measure(Arena *a, const DetectOptions *o, Text *to, Diag *d)
{
    Text said = {0};
    Cluster c;

    bool ok = has_probe(o->target) ? measure_gpus(a, o, &said, d) : measure_cpus(a, o, &said, d);
    if (ok && (!said.s || strcmp(said.s, "null\n"))) {
        ok = cluster_parse(a, said.s ? said.s : "", said.n, &c, d);
        if (ok)
            cluster_print(&c, CLUSTER_VERSION, to);
    }
    text_free(&said);
    return ok;
}

// The file is opened only once there is something to write: a signal meanwhile leaves no part of
// it.
static bool can_write(const char *path, Diag *d)
{
    OutFile file;

    if (!out_open(&file, path, d))
        return false;
    out_cancel(&file);
    return true;
}

int detect(Arena *a, int argc, char **argv)
{
    DetectOptions o = {.target = target_default(), .seconds = SECONDS};
    Diag d = {.file = "shardcc"};
    Text t = {0};
    int status = 0;

    if (!command_read(a, &command, argc, argv, &o, &status) || !options_match(a, &o, &status))
        return status;
    if (o.program)
        return build_only(a, &o, &d) ? 0 : EXIT_USER;
    if (o.output && !can_write(o.output, &d))
        return EXIT_USER;
    bool ok = measure(a, &o, &t, &d);
    if (ok && t.n && o.output)
        ok = out_write(o.output, t.s, t.n, &d);
    else if (ok && t.n)
        fwrite(t.s, 1, t.n, stdout);
    text_free(&t);
    return ok ? 0 : EXIT_USER;
}
