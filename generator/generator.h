// Program → C text → trainer, or a folder of sources that builds it elsewhere.
#ifndef SHARDCC_GENERATOR_H
#define SHARDCC_GENERATOR_H

#include "lower/lower.h"
#include "runtime/rt_transport.h"

typedef struct GenerateOptions {
    const char *name;                 // of the trainer; base name
    const char *options;              // canonical options that made it, base names only
    const char *plan;                 // the plan in one line
    const Cluster *cluster;           // calls say their predicted time on it; NULL: they don't
    double peak;                      // flop/s of a device at best; 0: unknown
    const RtTransportRow *transport;  // between ranks, if there are several
    double init_std;                  // > 0: of parameters, drawn if there is no weights file
    const char *gpus;    // "sm_80,sm_90": kernels are compiled for these, where they are for GPUs
    int64_t vocabulary;  // size of the first output's last dim if the input is tokens; else 0
} GenerateOptions;

// A program's texts: C, and the kernels that it launches, if the target has a text of them.
typedef struct ProgramTexts {
    Text c, kernels;
} ProgramTexts;

// Can the devices that the program is to be compiled for run it? False after reporting why not.
bool generate_check(const Program *p, const GenerateOptions *o, Diag *d);

// The trainer's texts. They depend only on the arguments.
void generate_texts(const Program *p, const GenerateOptions *o, ProgramTexts *t);
void texts_free(ProgramTexts *t);

// Results appear whole or not at all: they are written into a folder of their own, next to their
// destination, and moved there at the end. Signals that would end the program wait until then.
typedef struct Staging {
    Arena *arena;
    const char *target;
    char *folder;
    int lock;  // on the folder; -1: none
    BlockedSignals hold;
    const char **name;  // of the files in it; a folder's name ends in a slash
    int n, cap;
} Staging;

// `target` is a folder. Removes staging folders that killed programs left in it.
bool staging_open(Arena *a, Staging *s, const char *target, Diag *d);
const char *staging_file(Staging *s, const char *name);             // the path to write it to
const char *staging_folder(Staging *s, const char *name, Diag *d);  // makes it; NULL after an error
// Moves all results into the target if `ok`. Removes the staging folder in any case. False unless
// all were moved.
bool staging_close(Staging *s, bool ok, Diag *d);

typedef struct BuildOptions {
    const char *name;     // of the trainer; base name
    const char *runtime;  // folder with the runtime's libraries, and its sources in runtime/
    const char *cc;       // C compiler, "cc"
    const char *march;    // "native", "x86-64-v3" …
    const char *gpus;     // as GenerateOptions.gpus
    const char *cuda;     // the folder of CUDA's toolkit; NULL: where it is found
    const RtTransportRow *transport;  // between its ranks; NULL: it has one
} BuildOptions;

// Adds the program's texts and the program that is compiled from them and linked with the runtime.
bool build_program(Staging *s, const Program *p, const ProgramTexts *t, const BuildOptions *o,
                   Diag *d);

// Adds the program that measures a device of the target, which a launcher's ranks, or ranks that it
// starts itself, may run. It prints a cluster's file (runtime/probe/).
bool has_probe(const Target *target);  // else the runtime has one that is compiled already
bool build_probe(Staging *s, const Target *target, const BuildOptions *o, Diag *d);

// Adds the program's texts, the runtime's sources that it uses and a Makefile.
bool build_folder(Staging *s, const Program *p, const ProgramTexts *t, const BuildOptions *o,
                  Diag *d);

#endif
