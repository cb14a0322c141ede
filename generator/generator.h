// Program → C text → trainer, or a folder of sources that builds it elsewhere.
#ifndef SHARDCC_GENERATOR_H
#define SHARDCC_GENERATOR_H

#include "lower/lower.h"

typedef struct GenerateOptions {
    const char *name;        // of the trainer; base name
    const char *options;     // canonical options that made it, base names only
    const char *plan;        // the plan in one line
    const Cluster *cluster;  // calls say how long they take on it; NULL: they don't
    double init_std;         // > 0: parameters are drawn when there is no weights file
    int64_t
        vocabulary;  // size of the last dim of the first output, where the input is tokens; or 0
} GenerateOptions;

// The trainer's C text. It depends on nothing but its arguments.
void generate_c(const Program *p, const GenerateOptions *o, Text *t);

// Results appear whole or not at all: they are written into a folder of their own beside their
// place and moved there at the end. Signals that would end the program wait so long.
typedef struct Staging {
    Arena *arena;
    const char *place;
    char *folder;
    int lock;  // on the folder; -1: none
    BlockedSignals hold;
    const char **name;  // of what is in it; a folder's ends in a slash
    int n, cap;
} Staging;

// `place` is a folder; stages that killed programs left in it are cleared away.
bool staging_open(Staging *s, Arena *a, const char *place, Diag *d);
const char *staging_file(Staging *s, const char *name);             // the path to write it to
const char *staging_folder(Staging *s, const char *name, Diag *d);  // makes it; NULL after an error
// Moves all into place if `ok`; the stage is gone either way. False unless it was moved.
bool staging_close(Staging *s, bool ok, Diag *d);

typedef struct BuildOptions {
    const char *name;     // of the trainer; base name
    const char *runtime;  // folder with rt.h, the runtime's sources and libshardrt.a
    const char *cc;       // C compiler, "cc"
    const char *march;    // "native", "x86-64-v3" …
    bool has_ranks;       // it is a program of several: needs MPI
} BuildOptions;

// Adds NAME.c and the program, compiled from it and linked with the runtime.
bool build_program(Staging *s, const Text *c, const BuildOptions *o, Diag *d);

// Adds the program's text, the runtime's sources that it uses and a Makefile.
bool build_folder(Staging *s, const Program *p, const Text *c, const BuildOptions *o, Diag *d);

#endif
