// Program → C text → trainer, or a folder of sources that builds it elsewhere.
#ifndef SHARDCC_GENERATOR_H
#define SHARDCC_GENERATOR_H

#include "lower/lower.h"

typedef struct GenerateOptions {
    const char *name;     // of the trainer; base name
    const char *options;  // canonical options that made it, base names only
    const char *plan;     // the plan in one line
    double init_std;      // > 0: parameters are drawn when there is no weights file
    int64_t
        vocabulary;  // size of the last dim of the first output, where the input is tokens; or 0
} GenerateOptions;

// The trainer's C text. It depends on nothing but its arguments.
void generate_c(const Program *p, const GenerateOptions *o, Text *t);

typedef struct BuildOptions {
    const char *runtime;  // folder with rt.h, the runtime's sources and libshardrt.a
    const char *cc;       // C compiler, "cc"
    const char *march;    // "native", "x86-64-v3" …
} BuildOptions;

// Compiles `c_path` and links it with the runtime into `path`, by way of a file beside it.
bool build_program(const char *c_path, const char *path, const BuildOptions *o, Diag *d);

// Writes a folder with the program's text, the runtime's sources and a Makefile.
bool build_folder(const char *folder, const char *name, const Text *c, const BuildOptions *o,
                  Diag *d);

#endif
