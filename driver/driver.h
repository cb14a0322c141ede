// The options and commands of shardcc's command line.
#ifndef SHARDCC_DRIVER_H
#define SHARDCC_DRIVER_H

#include <string.h>

#include "compile/compile.h"
#include "report/report.h"
#include "runtime/rt_transport.h"

#define SHARDCC_VERSION "0.2"

enum {
    EXIT_USER = 1,
    EXIT_OPTION = 2,
    EXIT_INTERNAL = 3,
    EXIT_INFEASIBLE = 4,  // nothing fits the memory
    EXIT_NOTHING = 5,     // stopped before anything was found
};

enum { MAX_RANK_COUNTS = 16 };  // of --ranks 8,6,4

typedef enum Emit {
    EMIT_PROGRAM_FILE,
    EMIT_IR,
    EMIT_PROGRAM,
    EMIT_C,
    EMIT_KERNELS,
    EMIT_SOURCE
} Emit;

// Sizes of a dim to try: DIM=A..B.
typedef struct DimRange {
    const char *dim;  // NULL: there is none
    int64_t first, last;
} DimRange;

typedef struct Options {
    CompileRequest request;
    const char *output;  // -o; NULL: the input's base name, or stdout for a text
    Strings written;     // the files that the command writes; of a folder, the files directly in it
    const char *dump_after;
    const char *gpus;  // --gpu; NULL: the default
    const char *cuda;  // the toolkit's folder; NULL: where it is found
    const char *march, *cc;
    const char *cluster;         // a file or a known cluster; NULL: no prediction
    int fewer[MAX_RANK_COUNTS];  // --ranks 8,6,4: those after the first, for the other programs
    int n_fewer;
    const RtTransportRow *transport;  // between ranks; NULL: the first of the table
    double init_std;                  // --init normal(STD); 0: none
    const char *chain;                // --chain: the file for the chain of stages; NULL: none
    const char *weights;              // files that fill the model's initializers; NULL: none
    const char *weight_map;           // the map of their names; NULL: none
    ModelFile *model_file;            // the input, opened, if it is a model; also request.model
    WeightFile *weight_file;          // both, opened; also request.values
    bool is_accumulate_chosen;
    Emit emit;
    const Target *emit_target;  // of EMIT_KERNELS: whose kernels are asked for
    // For shardcc profile: the table to print, the files to write (NULL: none), and the dim whose
    // largest size is asked for.
    ProfileBy by;
    const char *csv, *svg;
    DimRange range;
    bool no_weights;
} Options;

// Reads the command line into `o`. Returns false, with the exit status in `*status`, if there is
// nothing (more) to do: the user asked for help, or a mistake was reported.
bool options_read(Arena *a, int argc, char **argv, Options *o, int *status);
// The same for the command line of shardcc plan.
bool plan_options_read(Arena *a, int argc, char **argv, Options *o, int *status);

// The same for the command line of shardcc profile.
bool profile_options_read(Arena *a, int argc, char **argv, Options *o, int *status);

// With --plan, takes the options of the plan's file. Returns false after an error: the command line
// gives an option with another value.
bool plan_options_take(Arena *a, Options *o, int *status);

// The words of the options that determine the graphs, in canonical order.
Strings options_words(Arena *a, const Options *o);

// The options in canonical form, base names only.
char *options_text(Arena *a, const Options *o);

// The commands. Each returns the exit status. argv[0] is the command's name.
int check_command(Arena *a, int argc, char **argv);
int chain_command(Arena *a, int argc, char **argv);
int compile(Arena *a, int argc, char **argv);
int detect(Arena *a, int argc, char **argv);
int diff(Arena *a, int argc, char **argv);
int inspect(Arena *a, int argc, char **argv);
int checkpoint_command(Arena *a, int argc, char **argv);
int pack_command(Arena *a, int argc, char **argv);
int plan_command(Arena *a, int argc, char **argv);
int profile_command(Arena *a, int argc, char **argv);
int run_command(Arena *a, int argc, char **argv);
int solve_command(Arena *a, int argc, char **argv);

// ---- requests: request.c ----

// Programs with several ranks need the costs of a cluster; --cluster asks for a prediction.
static inline bool needs_cluster(const Options *o) { return o->cluster || o->request.ranks > 1; }

// Opens the cluster that the options name, or else this machine, which `ranks` share (0: one does),
// for the request. False after an error.
bool open_cluster(Arena *a, Options *o, int ranks);
// The same if the options need one. Then chooses the number of micro-batches if it isn't given.
bool complete_request(Arena *a, Options *o, const Diag *d);

// Opens the model, unless the input is a text. The caller closes o->model_file.
bool open_model(Arena *a, Options *o, Diag *d);

// Opens the files of --weights, if there are some, and checks that none is about to be overwritten.
// The caller closes o->weight_file unless it failed.
bool open_weights(Arena *a, Options *o, Diag *d);

// Reads a program's text, which says for how many ranks it is. NULL after an error.
Program *read_program(Arena *a, Options *o, Diag *d);

// The exit status of a command after a compilation.
int exit_status_of(CompileStatus status);

// Does --dump-after name the graph that partition makes?
bool dumps_split(const Options *o);

// ---- where results go (output.c) ----

// The trainer's path: -o, or the model's base name without its ending, in the current folder.
char *output_path(Arena *a, const Options *o);

// The path of the trainer for o->ranks: that path; of a program for fewer ranks than the first one
// followed by their number, as in "gpt2.6".
char *program_path(Arena *a, const Options *o);

// Lists the files to be written in `o->written`, and checks them before anything is computed. None
// may be a folder, or a file that is read.
bool output_check(Arena *a, Options *o, Diag *d);
// The same for a command that writes one file.
bool output_check_file(Arena *a, Options *o, const char *path, Diag *d);

// Can a file be written at the path?
bool output_is_writable(Arena *a, const char *path, Diag *d);

// The folder that holds shardcc's engines and rt/: shardcc's own, or ../lib/shardcc from there
// where shardcc is installed.
char *program_folder(Arena *a);

// The folder with the runtime's headers, sources, library and probe. It is in shardcc's own folder.
char *runtime_folder(Arena *a);

// The program of the runtime that measures. Its ranks talk by the transport `*row`. If that is
// NULL, it becomes the first one whose probe is there, and whose ranks need no launcher if
// `must_spawn`.
const char *probe_path(Arena *a, const RtTransportRow **row, bool must_spawn);

// Writes the text to -o, or to stdout if -o isn't given.
bool output_text(const Options *o, const Text *t, Diag *d);

#endif
