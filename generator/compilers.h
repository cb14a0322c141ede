// Runs the compilers that make a trainer.
#ifndef SHARDCC_GENERATOR_COMPILERS_H
#define SHARDCC_GENERATOR_COMPILERS_H

#include "generator/target_text.h"

// How messages speak of a compiler.
typedef struct Compiler {
    const char *what;    // "C compiler"
    const char *option;  // that names another one: "--cc"
    const char *needs;   // all that it needs, in addition to the text
} Compiler;

// Runs argv[0] with the arguments, up to NULL. Returns false after an error, and if it fails.
bool compiler_run(const Staging *s, const Compiler *c, char *const argv[], Diag *d);
// Checks that a compiler that reports success has made the file, which access() allows in this
// mode. Messages call it `what`.
bool compiler_made(const Compiler *c, const char *program, const char *path, int mode,
                   const char *what, Diag *d);

// Adds the program's texts to the results.
bool write_texts(Staging *s, const Program *p, const ProgramTexts *t, const BuildOptions *o,
                 Diag *d);

#endif
