// Program → C text → trainer, or a folder of sources that builds it elsewhere.
#ifndef SHARDCC_GENERATOR_H
#define SHARDCC_GENERATOR_H

#include "lower/lower.h"

typedef struct TargetText TargetText;  // how programs for a target are printed and built
extern const TargetText cpu_text, cuda_text;

typedef struct GenerateOptions {
    const TargetText *target;
    const char *name;        // of the trainer; base name
    const char *options;     // canonical options that made it, base names only
    const char *plan;        // the plan in one line
    const Cluster *cluster;  // calls say their predicted time on it; NULL: they don't
    double init_std;         // > 0: of parameters, drawn if there is no weights file
    int64_t vocabulary;      // size of the first output's last dim if the input is tokens; else 0
} GenerateOptions;

// The trainer's C text. It depends only on the arguments.
void generate_c(const Program *p, const GenerateOptions *o, Text *t);
// The same, and the text of the kernels that it launches, if the target has one: C++ for nvcc.
void generate_texts(const Program *p, const GenerateOptions *o, Text *t, Text *kernels);

// Results appear whole or not at all: they are written into a folder of their own, beside their
// place, and moved there at the end. Signals that would end the program wait until then.
typedef struct Staging {
    Arena *arena;
    const char *place;
    char *folder;
    int lock;  // on the folder; -1: none
    BlockedSignals hold;
    const char **name;  // of the files in it; a folder's name ends in a slash
    int n, cap;
} Staging;

// `place` is a folder. Removes staging folders that killed programs left in it.
bool staging_open(Staging *s, Arena *a, const char *place, Diag *d);
const char *staging_file(Staging *s, const char *name);             // the path to write it to
const char *staging_folder(Staging *s, const char *name, Diag *d);  // makes it; NULL after an error
// Moves all results into place if `ok`. Removes the staging folder in any case. False unless all
// were moved.
bool staging_close(Staging *s, bool ok, Diag *d);

typedef struct BuildOptions {
    const TargetText *target;
    const char *name;     // of the trainer; base name
    const char *runtime;  // folder with rt.h, the runtime's sources and libraries
    const char *cc;       // C compiler, "cc"
    const char *march;    // "native", "x86-64-v3" …
    bool has_ranks;       // the program runs on several ranks: it needs MPI
} BuildOptions;

// Adds NAME.c and the program that is compiled from it and linked with the runtime.
bool build_program(Staging *s, const Text *c, const BuildOptions *o, Diag *d);

// Adds the program's text, the runtime's sources that it uses and a Makefile.
bool build_folder(Staging *s, const Program *p, const Text *c, const BuildOptions *o, Diag *d);

#endif
