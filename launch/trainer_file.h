// Trainers as files: what they say of themselves, and the trainers for fewer ranks in the folder of
// one.
#ifndef SHARDCC_TRAINER_FILE_H
#define SHARDCC_TRAINER_FILE_H

#include "base/base.h"
#include "runtime/rt_transport.h"

// A trainer, by what it says of itself.
typedef struct TrainerFile {
    const char *path;
    int ranks;
    const RtTransportRow *transport;  // NULL: it has one rank
    bool can_spawn;                   // it starts its ranks itself, on one host
    double arena;                     // bytes of a rank
    double state;                     // bytes of a checkpoint
} TrainerFile;

// Asks the trainer by its --info. Returns false after an error.
bool trainer_file_read(Arena *a, const char *path, TrainerFile *to, Diag *d);

// The value of an option on a trainer's command line, "--name V" or "--name=V"; "" if it has none,
// NULL if it isn't there. The list ends with NULL.
const char *trainer_option(char *const *argv, const char *name);

// Chooses the trainer for the most ranks that fits `slots`: the given one, or one that `shardcc
// --ranks 8,6,4` has put next to it (NAME.6, NAME.4). A name that is looked up in PATH has no
// others. Returns false after an error, such as that none fits.
bool trainer_file_fit(Arena *a, const TrainerFile *given, int slots, TrainerFile *to, Diag *d);

#endif
