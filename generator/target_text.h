// The table by which generator/ prints what differs between targets: fused groups, calls of
// kernels, and how a program is built from its text.
#ifndef SHARDCC_GENERATOR_TARGET_TEXT_H
#define SHARDCC_GENERATOR_TARGET_TEXT_H

#include "generator/internal.h"

// A kernel whose file in the runtime isn't called after it.
typedef struct KernelFile {
    const char *kernel, *file;
} KernelFile;

// Arguments of a compiler, or names.
typedef struct Words {
    const char **word;
    int n, cap;
} Words;

static inline void words_add(Arena *a, Words *to, const char *word)
{
    *arena_push(a, to->word, to->n, to->cap) = word;
}

typedef struct TargetText {
    const char *header;  // that the text includes
    // The start of the text of kernels, a file of its own; NULL: functions are in the C text.
    const char *kernels_head;
    // Called for each set, then once for both, before any item is printed: makes the functions of
    // fused groups, and prints them to g->groups.
    void (*make_functions)(Gen *g);
    void (*print_functions)(Gen *g);
    // Print the item's statement. The preparation of a kernel goes to g->init.
    void (*print_group)(Gen *g, const Item *it, Text *t, int indent);
    void (*print_kernel)(Gen *g, const Item *it, Text *t, int indent);
    // Are the GPUs of GenerateOptions new enough for the program? NULL: there are none.
    bool (*check_gpus)(const Program *p, const char *gpus, Diag *d);
    const char *device;  // the runtime's table for it
    // The types of groups' functions, of those that also sum columns second; NULL: they aren't
    // declared.
    const char *group_type[2];
    const char *main_begin;    // the first statement of main; NULL: there is none
    const char *const *flags;  // of the C compiler, up to NULL; the user chooses -march
    const char *extension;     // of C that the compiler must have
    // A library that kernels use: its name and its flag, where it comes from ("Debian: PACKAGE"),
    // and the only file of the runtime that needs it.
    struct {
        const char *name, *flag, *source, *file;
    } library;
    const char *archive;       // of its kernels, without lib and .a; NULL: they have none
    const char *folder;        // of its kernels in the runtime; the target's name
    const char *const *files;  // in that folder, up to NULL: every program needs them
    // The runtime's table of collectives, its files, and the one of these with kernels, for
    // programs of several ranks. {0}: those of the transport.
    struct {
        const char *table;
        const char *const *files;
        const char *kernels;
    } collectives;
    const KernelFile *shared_files;  // up to {0}; NULL: each kernel has a file of its name
    // NULL: there is no text of kernels.
    // Compiles the text at `path`, and adds arguments of the C compiler that a program needs
    // because of it and of these files of the target's folder.
    bool (*build_kernels)(Staging *s, const TargetText *t, const char *path, const Words *files,
                          const BuildOptions *o, Words *to, Diag *d);
    // The program that measures a device, which is compiled as programs are: its sources in the
    // runtime, the text of its kernels, and the kernels' files. {0}: it needn't be compiled.
    struct {
        const char *const *sources, *kernels, *const *files;  // lists end with NULL
    } probe;
    const char *image;  // the declaration of RtModel.kernels, rt_kernels
    // In a Makefile: variables, flags of the C compiler and the linker, the rule that compiles it,
    // and what this makes.
    struct {
        const char *variables, *flags, *link_flags, *made;
        void (*print_rule)(const BuildOptions *o, Text *t);
    } make;
} TargetText;

#define TARGET(name, text) extern const TargetText name##_text;
#include "analyzer/target/targets.def"
#undef TARGET

// How programs for the target are printed and built.
const TargetText *target_text(const Target *t);

#endif
