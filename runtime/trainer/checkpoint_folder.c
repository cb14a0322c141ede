// The folder of checkpoints: locks it, and removes what it no longer needs.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/trainer/checkpoint.h"

const RtCheckpointFile rt_checkpoint_files[RT_CHECKPOINT_FILES] = {
    {RT_WEIGHTS_FILE, 1u << RT_PARAMETER | 1u << RT_BUFFER, "the weights"},
    {RT_STATES_FILE, 1u << RT_STATE, "the states of the optimizer"},
};

// ---- the lock ----

// Writes the text at the file's start. A write may be done by half, on a disk that is nearly full
// say.
static bool write_lock(int fd, const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = pwrite(fd, text + at, n - at, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            errno = k < 0 ? errno : ENOSPC;
            return false;
        }
        at += (size_t)k;
    }
    return true;
}

// Another run may have it: the file has the process that locked it.
bool rt_checkpoints_lock(RtCheckpoints *c, const char *folder)
{
    const RtModel *m = c->run->model;
    char text[64] = {0};

    if (snprintf(c->path, sizeof c->path, "%s/%s", folder, RT_LOCK_FILE) >= (int)sizeof c->path)
        return rt_error(m, "--checkpoint: %s", strerror(ENAMETOOLONG));
    c->lock = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (c->lock < 0)
        return rt_error(m, "--checkpoint: %s: %s", c->path, strerror(errno));
    if (flock(c->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return rt_error(m, "--checkpoint: %s: %s", c->path, strerror(errno));
        ssize_t n = read(c->lock, text, sizeof text - 1);
        text[n > 0 ? strcspn(text, "\n") : 0] = 0;
        return rt_error(m, "--checkpoint: another run uses '%s'%s%s", folder,
                        *text ? ": process " : "", text);
    }
    int n = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    return (ftruncate(c->lock, 0) == 0 && write_lock(c->lock, text, (size_t)n)) ||
           rt_error(m, "--checkpoint: %s: %s", c->path, strerror(errno));
}

void rt_checkpoints_note_step(RtCheckpoints *c)
{
    char text[RT_LOCK_TEXT];
    int n = snprintf(text, sizeof text, "%lld" RT_LOCK_STEP "%lld\n", (long long)getpid(),
                     (long long)c->run->step);

    c->has_noted = true;
    (void)write_lock(c->lock, text, (size_t)n);
}

// ---- removing ----

static const char MADE[] = ".shardcc-";  // in the names of temporary files: rt_out.c

// Is it a file that checkpoints are made of, or a temporary file of one?
static bool is_ours(const char *name)
{
    const char *made = strstr(name, MADE);
    size_t n = made ? (size_t)(made - name) : strlen(name);

    for (int i = 0; i < RT_CHECKPOINT_FILES; i++)
        if (strlen(rt_checkpoint_files[i].name) == n &&
            strncmp(name, rt_checkpoint_files[i].name, n) == 0)
            return true;
    return n == strlen(RT_MANIFEST_FILE) && strncmp(name, RT_MANIFEST_FILE, n) == 0;
}

// Removes our files from the folder of a checkpoint, or the temporary ones alone.
static void remove_files(const char *path, bool temporary)
{
    const struct dirent *entry;
    DIR *d = opendir(path);

    while (d && (entry = readdir(d)))
        if (is_ours(entry->d_name) && (!temporary || strstr(entry->d_name, MADE)))
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
}

void rt_checkpoint_remove(const char *folder, int64_t step)
{
    char path[PATH_MAX];

    if (rt_checkpoint_path(path, folder, step, RT_MANIFEST_FILE) && unlink(path) == 0 &&
        rt_checkpoint_path(path, folder, step, NULL))
        rt_sync_folder(path);
    if (!rt_checkpoint_path(path, folder, step, NULL))
        return;
    remove_files(path, false);
    rmdir(path);  // it stays if someone has put other files there
}

void rt_checkpoints_trim(const char *folder, int64_t last, int64_t keep, const RtBest *best)
{
    const struct dirent *entry;
    char path[PATH_MAX];
    int64_t first = last;

    for (int64_t i = 1; i < keep && first >= 0; i++)
        first = rt_checkpoint_before(folder, first);
    DIR *d = opendir(folder);
    while (d && (entry = readdir(d))) {
        int64_t step = rt_checkpoint_step(entry->d_name);
        bool is_old = step < first && !(best->is_known && step == best->step);
        if (step >= 0 && (is_old || !rt_checkpoint_is_there(folder, step)))
            rt_checkpoint_remove(folder, step);
        else if (step >= 0 && rt_checkpoint_path(path, folder, step, NULL))
            remove_files(path, true);  // a run may be killed while it marks the best one
    }
    if (d)
        closedir(d);
}
