// The files of tensors that a trainer reads and writes.
#ifndef SHARDCC_RT_FILES_H
#define SHARDCC_RT_FILES_H

#include "runtime/rt_checksum.h"
#include "runtime/rt_finite.h"
#include "runtime/rt_manifest.h"
#include "runtime/trainer/data.h"
#include "runtime/trainer/pace.h"
#include "runtime/trainer/run.h"

// ---- weights: weights.c, draw_weights.c ----

// Loads this rank's shards of all tensors of these roles from that file. Names, types and shapes
// must match; otherwise it prints a list of the differences. `what` are they: "the weights".
bool rt_tensors_load(RtRun *run, const char *path, unsigned roles, const char *what);
// Starts the states of the loss's scale. False if there are others, which a checkpoint has to have.
bool rt_scale_start(RtRun *run);
// Sets the path of the weights file: --load, or the file next to the program; empty if there is
// none.
bool rt_weights_find(const RtRun *run, char *path, size_t capacity);
// Loads the weights from that file, or draws them.
bool rt_weights_start(RtRun *run);
bool rt_weights_draw(RtRun *run);

// ---- numbers that aren't finite: finite.c ----

// Sets *f to the first one of all ranks. All ranks call it.
void rt_nonfinite_agree(const RtRun *run, RtNonfinite *f);
// Notes in RtRun.kept whether this rank's shard of a weight isn't finite as it is found in a file.
void rt_kept_note(RtRun *run, const RtEntries *weights, int entry, const RtStored *found);
void rt_kept_agree(RtRun *run);  // makes RtRun.kept the same on all ranks, which call it
// Lists them in the manifest. Returns false if memory runs out.
bool rt_kept_list(const RtRun *run, const RtEntries *weights, RtManifest *m);
// "samples 3, 16 to 19 and 480 more"; sorts them.
void rt_samples_print(char *to, size_t capacity, int64_t *sample, int64_t n);

// ---- saving: save.c ----

// A file of tensors. Its header is made in advance, so that saving allocates nothing.
typedef struct RtSaver {
    RtRun *run;
    RtEntries entries;
    char *header, *staging, *gathered;
    int64_t header_bytes;
    int64_t *begin;  // of each entry in the file, and the file's end
    const char *path;
    RtOut out;
    bool is_begun;
    bool is_optional;  // a failure is a warning, and the run goes on
    RtChecksum sum;    // of what this rank has written
    RtPace *pace;      // of rt_saver_put_copy
    bool judges;       // a file with numbers that aren't finite isn't saved
    bool are_weights;  // except those of entries in RtRun.kept
    RtNonfinite bad;   // the first such number that this rank has found
} RtSaver;

// Checks right away that a file can be written at `path`. NULL: RtSaver.path is set before each
// file.
bool rt_saver_open(RtSaver *s, RtRun *run, RtEntries entries, const char *path);
int64_t rt_saver_bytes(const RtSaver *s);  // of the file
// All ranks call begin and end. In between each rank puts its own shards, and of shards that
// several ranks have equally its part. The complete file appears under its name once all ranks have
// called end. After a failure no file is left.
bool rt_saver_begin(RtSaver *s);
void rt_saver_put(RtSaver *s, int entry, int64_t at);  // this rank's shard, in the arena
// Looks for numbers that aren't finite in it, without a file.
void rt_saver_look(RtSaver *s, int entry, int64_t at);
// Were all numbers finite? If not, `text` says which one wasn't: "'w'[3, 5] is NaN". All ranks call
// it, and get the same answer.
bool rt_saver_judge(const RtSaver *s, char *text, size_t capacity);
// Opens the file of --save, whose floats are of --save-dtype. The caller closes it.
bool rt_weights_open(RtSaver *s, RtRun *run);
// Opens it without a file, and looks through this rank's weights. The caller closes it.
void rt_weights_search(RtSaver *s, RtRun *run);
bool rt_saver_end(RtSaver *s);
bool rt_saver_write(RtSaver *s);   // begin, all entries from the arena, end
void rt_saver_cancel(RtSaver *s);  // removes a file that was begun
void rt_saver_close(RtSaver *s);

// The parts between begin and rename. rt_saver_put_all has all ranks; checkpoints during the steps
// have one, and may run in a thread of their own.
bool rt_saver_put_all(RtSaver *s);                 // all entries from the arena
int64_t rt_saver_copy_bytes(RtSaver *s);           // of a copy of what this rank writes
void rt_saver_copy(RtSaver *s, char *to);          // copies it from the arena, to a block
void rt_saver_put_copy(RtSaver *s, char *copy);    // and writes the copy
bool rt_saver_finish(RtSaver *s, RtFileError *e);  // waits until they are on disk
bool rt_saver_rename(RtSaver *s);                  // all ranks: the file gets its name

// ---- --save-gradients: gradients.c ----

// A file of the gradients of one step, which the program gives one by one, by rt_gradient.
typedef struct RtGradients {
    RtSaver file;
    bool searches;
} RtGradients;

bool rt_gradients_open(RtGradients *g, RtRun *run);
// From begin to end, the gradients of run->rt go to the file.
bool rt_gradients_begin(RtGradients *g);
bool rt_gradients_end(RtGradients *g);
// Between them they are looked through for numbers that aren't finite: rt_saver_judge. There is no
// file.
void rt_gradients_search(RtGradients *g, RtRun *run);
void rt_gradients_found(RtGradients *g);
void rt_gradients_close(RtGradients *g);

// ---- checks: outputs.c, check_data.c ----

// Checks that all requested outputs can be written, that none overwrites an input, and
// that no two go to one file.
bool rt_outputs_check(const RtRun *run, const RtInputs *x);

// These report values out of range; `sample` has the samples of the micro-batch.
// rt_check_data checks the indices in `staging`, and that the mapped files weren't truncated while
// they were staged. rt_check_batch runs after the micro-batch: it checks labels and indices that
// were computed, rt_check_indices these alone.
bool rt_check_data(const RtRun *run, const RtData *d, const int64_t *sample, const char *staging);
bool rt_check_batch(RtRun *run, const RtTensor *set, int n, const RtData *d, const int64_t *sample);
bool rt_check_indices(RtRun *run, const RtTensor *set, int n);

#endif
