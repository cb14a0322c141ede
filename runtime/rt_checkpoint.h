// A folder of checkpoints, as trainers write it and shardcc looks at it: "step-000000000500" and so
// on, each with a MANIFEST and the files that it lists.
#ifndef SHARDCC_RT_CHECKPOINT_FOLDER_H
#define SHARDCC_RT_CHECKPOINT_FOLDER_H

#include <limits.h>

#include "rt_manifest.h"

#define RT_MANIFEST_FILE "MANIFEST"
#define RT_WEIGHTS_FILE "model.safetensors"  // parameters and buffers
#define RT_STATES_FILE "optimizer.safetensors"

// The file that a run locks while it uses the folder: its process, and after its first step a line
// that begins with RT_LOCK_STEP.
#define RT_LOCK_FILE "LOCK"
#define RT_LOCK_STEP "\nstep "
enum { RT_LOCK_TEXT = 64 };
// Reads it. Returns false if there is none.
bool rt_checkpoint_lock(const char *folder, char to[RT_LOCK_TEXT]);

// The step of a checkpoint's folder of that name; -1: it isn't one.
int64_t rt_checkpoint_step(const char *name);
// The path of a file of the checkpoint of a step; NULL: of its folder. Returns false if it is too
// long.
bool rt_checkpoint_path(char to[PATH_MAX], const char *folder, int64_t step, const char *name);
bool rt_checkpoint_is_there(const char *folder, int64_t step);  // has it a manifest?
// The last step before `before` of which there is a checkpoint with a manifest; -1: there is none.
int64_t rt_checkpoint_before(const char *folder, int64_t before);
// Reads the manifest, which the caller frees, compares the bytes of all files with it, and looks
// for numbers that aren't finite.
bool rt_checkpoint_verify(const char *folder, int64_t step, RtManifest *m, RtFileError *e);
// Are all numbers of a file of the checkpoint finite, except those that the manifest knows not to
// be? Looks through the tensors `first`, `first` + `by` and so on.
bool rt_checkpoint_finite(const RtManifest *m, const char *name, const RtMap *map, int first,
                          int by, RtFileError *e);

#endif
