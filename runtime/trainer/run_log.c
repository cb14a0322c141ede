// The log: one JSON object per line. Lines are written unbuffered, so that the log is complete up
// to the last step however the program ends.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/trainer/run_report.h"

// Lines after those bytes are of steps that are done once more.
static bool cut(const RtLog *l, int64_t before)
{
    struct stat st;

    return fstat(l->fd, &st) == 0 && (before < 0 || before >= st.st_size || !S_ISREG(st.st_mode) ||
                                      ftruncate(l->fd, before) == 0);
}

bool rt_log_open(RtLog *l, const RtModel *m, const char *path, bool goes_on, int64_t before)
{
    *l = (RtLog){.fd = -1};
    if (!path)
        return true;
    l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (goes_on ? 0 : O_TRUNC), 0666);
    return (l->fd >= 0 && (!goes_on || cut(l, before))) ||
           rt_error(m, "%s: %s", path, strerror(errno));
}

void rt_log_cut(RtLog *l, int64_t before)
{
    if (l->fd >= 0 && !l->error && !cut(l, before))
        l->error = errno;
}

void rt_log_write(RtLog *l, const void *data, size_t bytes)
{
    const char *at = data;

    while (l->fd >= 0 && bytes > 0 && !l->error) {
        ssize_t k = write(l->fd, at, bytes);

        if (k < 0 && errno != EINTR)
            l->error = errno;
        if (k > 0) {
            at += k;
            bytes -= (size_t)k;
        }
    }
}

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
    n += snprintf(line + n, sizeof line - (size_t)n, "}\n");
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

bool rt_log_close(RtLog *l, const RtModel *m, const char *path)
{
    if (l->fd >= 0 && close(l->fd) != 0 && !l->error)
        l->error = errno;
    l->fd = -1;
    return !l->error || rt_error(m, "%s: %s", path, strerror(l->error));
}
