// The progress of training: a status line that is overwritten on a terminal; elsewhere a line every
// few seconds.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/trainer/run_report.h"

enum { BAR = 20 };

// Seconds between two lines.
static const double TERMINAL_PAUSE = 0.1, FILE_PAUSE = 10;

void rt_short_number(double v, char to[RT_SHORT])
{
    static const char unit[] = " kMGTPE";
    int u = 0;

    for (; v >= 999.5 && unit[u + 1]; u++)
        v /= 1000;
    const char *format = u == 0 || v >= 99.95 ? "%.0f" : "%.1f";
    int n = snprintf(to, RT_SHORT, v < 10 && u == 0 ? "%.2g" : format, v);
    if (u > 0 && n + 1 < RT_SHORT)
        memcpy(to + n, (char[]){unit[u], 0}, 2);
}

// "5:45" or "1:05:45".
static void print_time(double seconds, char *to, size_t capacity)
{
    double capped = seconds < 360000 ? seconds : 359999;  // 99:59:59
    long s = lround(isfinite(capped) ? capped : 0);

    if (s >= 3600)
        snprintf(to, capacity, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(to, capacity, "%ld:%02ld", s / 60, s % 60);
}

RtProgress rt_progress_start(const RtRun *run)
{
    return (RtProgress){
        .is_quiet = run->o.quiet,
        .is_terminal = isatty(STDERR_FILENO),
        .last = -1e9,
    };
}

// Truncates the line to the terminal's width, because a wrapped line can't be overwritten.
static void write_over(char *line)
{
    struct winsize w;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 && strlen(line) >= w.ws_col)
        line[w.ws_col - 1] = 0;
    fprintf(stderr, "\r%s\033[K", line);
}

void rt_progress_step(RtProgress *p, const RtReport *r)
{
    double now = rt_seconds(), pause = p->is_terminal ? TERMINAL_PAUSE : FILE_PAUSE;
    char line[256], rate[RT_SHORT], flops[RT_SHORT], left[64], bar[BAR + 1];

    // A moving average. It starts anew in the second step, because the first one is slower.
    p->mean_seconds = p->steps++ < 2 ? r->seconds : 0.9 * p->mean_seconds + 0.1 * r->seconds;
    if (p->is_quiet || (now - p->last < pause && r->step < r->steps))
        return;
    p->last = now;
    double seconds = p->mean_seconds > 1e-9 ? p->mean_seconds : 1e-9;
    rt_short_number(r->work->items / seconds, rate);
    rt_short_number(r->work->flops / seconds * 1e-9, flops);
    print_time(seconds * (double)(r->steps - r->step), left, sizeof left);
    int n = snprintf(line, sizeof line, "step %lld/%lld  loss %.4f  %s %s/s", (long long)r->step,
                     (long long)r->steps, r->loss, rate, r->work->unit);
    if (r->work->flops > 0)
        n += snprintf(line + n, sizeof line - (size_t)n, "  %s GFLOP/s", flops);
    if (r->is_skipped)
        n += snprintf(line + n, sizeof line - (size_t)n, "  skipped");
    if (!p->is_terminal) {
        fprintf(stderr, "%s  %s left\n", line, left);
        return;
    }
    int done = (int)(BAR * r->step / r->steps);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < done ? '=' : i == done ? '>' : ' ';
    bar[BAR] = 0;
    snprintf(line + n, sizeof line - (size_t)n, "  [%s]  %s left", bar, left);
    write_over(line);
}

void rt_progress_clear(const RtProgress *p)
{
    if (!p->is_quiet && p->is_terminal)
        fputs("\r\033[K", stderr);
}

void rt_progress_eval(const RtProgress *p, int64_t step, double loss)
{
    rt_progress_clear(p);
    if (!p->is_quiet)
        fprintf(stderr, "step %lld  eval loss %.4f\n", (long long)step, loss);
}

void rt_progress_end(RtProgress *p)
{
    if (!p->is_quiet && p->is_terminal && p->last > 0)
        fputc('\n', stderr);
}
