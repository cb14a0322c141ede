// The log: one JSON object per line. Lines are written unbuffered, so that the log is complete up
// to the last step however the program ends.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/collectives.h"
#include "runtime/comm/comm.h"
#include "runtime/core/core.h"
#include "runtime/rt_file.h"
#include "runtime/trainer/run_report.h"

extern char **environ;

// The bytes of whole lines in the first `size` of the file. All of them if it can't be read.
static off_t whole_lines(const char *path, off_t size)
{
    char block[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    for (off_t end = size, begin; fd >= 0 && end > 0; end = begin) {
        begin = end > (off_t)sizeof block ? end - (off_t)sizeof block : 0;
        ssize_t n = pread(fd, block, (size_t)(end - begin), begin);
        if (n != end - begin)
            break;
        const char *last = memrchr(block, '\n', (size_t)n);
        if (last || begin == 0) {
            close(fd);
            return last ? begin + (last + 1 - block) : 0;
        }
    }
    if (fd >= 0)
        close(fd);
    return size;
}

// Lines after those bytes are of steps that are done once more.
static bool cut(const RtLog *l, int64_t before)
{
    struct stat st;

    if (fstat(l->fd, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode))
        return true;
    off_t size = whole_lines(l->path, before < 0 || before > st.st_size ? st.st_size : before);
    return size == st.st_size || ftruncate(l->fd, size) == 0;
}

bool rt_log_open(RtLog *l, const RtModel *m, const char *path, bool goes_on, int64_t before)
{
    *l = (RtLog){.fd = -1, .model = m, .path = path};
    if (!path)
        return true;
    l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (goes_on ? 0 : O_TRUNC), 0666);
    return (l->fd >= 0 && (!goes_on || cut(l, before))) ||
           rt_error(m, "%s: %s", path, strerror(errno));
}

// Keeps the first failure, and says so.
static void note_failure(RtLog *l, int error)
{
    if (!l->error)
        rt_warn(l->model, "%s: %s; what can't be written is left out", l->path, strerror(error));
    l->error = l->error ? l->error : error;
}

void rt_log_cut(RtLog *l, int64_t before)
{
    if (l->fd < 0)
        return;
    if (!cut(l, before >= 0 && before < l->head ? l->head : before))
        note_failure(l, errno);
    else
        l->half = 0;
}

// Removes the half of a line at the end. A pipe and the like keep it.
static bool take_back(RtLog *l)
{
    struct stat st;

    if (l->half && (fstat(l->fd, &st) != 0 ||
                    (S_ISREG(st.st_mode) && ftruncate(l->fd, st.st_size - l->half) != 0)))
        return false;
    l->half = 0;
    return true;
}

void rt_log_write(RtLog *l, const void *data, size_t bytes)
{
    if (l->fd < 0)
        return;
    if (!take_back(l)) {
        note_failure(l, errno);
        return;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t k = write(l->fd, (const char *)data + done, bytes - done);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            note_failure(l, k < 0 ? errno : ENOSPC);
            l->half = (off_t)done;
            take_back(l);
            return;
        }
        done += (size_t)k;
    }
}

// ---- the first line ----

static void put_string(FILE *f, const char *s)
{
    size_t bytes = rt_json_string(NULL, 0, s) + 1;
    char *json = rt_alloc(bytes, 1);

    rt_json_string(json, bytes, s);
    fputs(json, f);
    free(json);
}

// The environment's variables that begin so, as members of an object.
static void put_variables(FILE *f, const char *prefix)
{
    const char *between = "";

    for (char **v = environ; prefix && *v; v++) {
        size_t name = strcspn(*v, "="), n = strlen(*v);
        if (strncmp(*v, prefix, strlen(prefix)) || name == n)
            continue;
        char *text = memcpy(rt_alloc(n + 1, 1), *v, n);
        text[name] = 0;
        fputs(between, f);
        put_string(f, text);
        fputs(": ", f);
        put_string(f, text + name + 1);
        free(text);
        between = ", ";
    }
}

void rt_log_begin(RtLog *l, const Rt *rt)
{
    RtDescription by;
    struct stat st;
    char *line = NULL;
    size_t bytes = 0;

    if (l->fd < 0 || !rt_collectives_describe(rt, &by))
        return;
    FILE *f = open_memstream(&line, &bytes);
    if (f) {
        fprintf(f, "{\"ranks\": %d, \"exchange\": ", rt_comm_ranks(rt->comm));
        put_string(f, by.text);
        fprintf(f, ", \"exchange_bytes\": %lld, \"environment\": {", (long long)by.device_bytes);
        put_variables(f, by.variables);
        fputs("}}\n", f);
    }
    if (!f || fclose(f) != 0)
        note_failure(l, errno);
    else
        rt_log_write(l, line, bytes);
    free(line);
    l->head = fstat(l->fd, &st) == 0 ? st.st_size : 0;
}

// ---- steps ----

// JSON has no NaN and no infinity.
static const char *number(char to[32], const RtScalar *x)
{
    snprintf(to, 32, x->is_count ? "%.0f" : "%.9g", x->value);
    return isfinite(x->value) ? to : "null";
}

void rt_log_step(RtLog *l, const RtReport *r)
{
    RtScalar x[RT_SCALARS];
    char line[1024], text[32];
    int count = rt_report_scalars(r, x);
    int n = snprintf(line, sizeof line, "{\"step\": %lld", (long long)r->step);

    for (int i = 0; i < count; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, ", \"%s\": %s", x[i].name,
                      number(text, &x[i]));
    n += snprintf(line + n, sizeof line - (size_t)n, "%s}\n",
                  r->is_skipped ? ", \"skipped\": true" : "");
    rt_log_write(l, line, (size_t)n);
}

void rt_log_eval(RtLog *l, int64_t step, double loss, int64_t samples, double seconds)
{
    char line[256], text[32], time[32];
    RtScalar of_loss = {.value = loss}, of_time = {.value = seconds};
    int n = snprintf(line, sizeof line,
                     "{\"step\": %lld, \"eval_loss\": %s, \"samples\": %lld, \"seconds\": %s}\n",
                     (long long)step, number(text, &of_loss), (long long)samples,
                     number(time, &of_time));
    rt_log_write(l, line, (size_t)n);
}

bool rt_log_close(RtLog *l)
{
    if (l->fd >= 0 && close(l->fd) != 0 && !l->error)
        l->error = errno;
    l->fd = -1;
    return !l->error || rt_error(l->model, "%s: %s", l->path, strerror(l->error));
}
