// Lists the files of a target's runtime that a program needs.
#ifndef SHARDCC_GENERATOR_KERNEL_FILES_H
#define SHARDCC_GENERATOR_KERNEL_FILES_H

#include "generator/target_text.h"

// Their names without endings, each once, in the target's folder.
Words kernel_files(Arena *a, const TargetText *t, const Program *p, bool has_ranks);
// Those of the program that measures a device.
Words probe_files(Arena *a, const TargetText *t);

#endif
