// The command line of shardcc.
#ifndef SHARDCC_DRIVER_H
#define SHARDCC_DRIVER_H

#include "base/base.h"

#define SHARDCC_VERSION "0.1"

enum { EXIT_USER = 1, EXIT_OPTION = 2, EXIT_INTERNAL = 3 };

typedef enum Emit { EMIT_PROGRAM_FILE, EMIT_IR, EMIT_PROGRAM, EMIT_C, EMIT_SOURCE } Emit;

typedef struct Strings {
    const char **s;
    int n, cap;
} Strings;

typedef struct Options {
    const char *input;
    const char *output;  // -o; NULL: the input's base name, or stdout for a text
    Strings written;     // the files that the command writes, of a folder those of its top
    Strings bind, shape, freeze, no_decay, padding, pin;
    const char *loss, *optimizer;
    const char *dump_after;
    const char *march, *cc;
    const char *cluster;  // a file or a known one; NULL: nothing is predicted
    const char *plan;     // its file, which the program follows; NULL: one is searched for
    const char *preset;   // that a plan keeps to; NULL: none
    const char *mesh;     // "2x4", "dp=2,tp=4"; NULL: the best one
    int ranks;            // 0: not said
    int64_t memory;       // bytes of a rank; 0: what the cluster's devices have
    double clip_norm;
    double init_std;  // --init normal(STD); 0: none
    int accumulate;
    Emit emit;
    bool frozen_batch_norm, no_weights, no_fuse;
} Options;

// Reads the command line into `o`. False, with the exit status in `*status`, when there is nothing
// (more) to do: help was asked for, or a mistake was reported.
bool options_read(Arena *a, int argc, char **argv, Options *o, int *status);
// … the command line of shardcc plan.
bool plan_options_read(Arena *a, int argc, char **argv, Options *o, int *status);

// With --plan: takes the options of the file. False after an error: one that differs was given.
bool plan_options_take(Arena *a, Options *o, int *status);

// The words of those options from which the graphs follow, in canonical order.
Strings options_words(Arena *a, const Options *o);

// The options in canonical form, base names only.
char *options_text(Arena *a, const Options *o);

// The commands; each returns the exit status. argv[0] is the command's name.
int compile(Arena *a, int argc, char **argv);
int detect(Arena *a, int argc, char **argv);
int diff(Arena *a, int argc, char **argv);
int inspect(Arena *a, int argc, char **argv);
int plan_command(Arena *a, int argc, char **argv);
int solve_command(Arena *a, int argc, char **argv);

bool input_is_ir(const Options *o);  // a graph's text, by the ending of its name

// ---- where results go (output.c) ----

// The part of a path after its last slash.
const char *base_name(const char *path);

// The trainer's path: -o, or the model's base name without its ending, here.
char *output_path(Arena *a, const Options *o);

char *output_folder(Arena *a, const char *path);  // the folder that it lies in

// Looks before anything is computed, and lists what is going to be written: no folder, no file that
// is read.
bool output_check(Arena *a, Options *o, Diag *d);
// The same for a command that writes one file.
bool output_check_file(Arena *a, Options *o, const char *path, Diag *d);

// Can a file be written there?
bool output_is_writable(Arena *a, const char *path, Diag *d);

// Is `file`, which is read, none of those that are written? Messages call it `what`.
bool output_spares(const Strings *written, const char *file, const char *what, Diag *d);

// The folder that shardcc itself lies in.
char *program_folder(Arena *a);

// The folder with the runtime's headers, sources, library and probe, beside shardcc itself.
char *runtime_folder(Arena *a);

bool is_same_file(const char *a, const char *b);

// To -o, or to stdout without one.
bool output_text(const Options *o, const Text *t, Diag *d);

#endif
