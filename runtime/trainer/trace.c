// Writes a step's calls as Chrome trace events ("Trace Event Format": complete events, times in
// µs).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/trainer/run_report.h"

bool rt_trace_check(const RtModel *m, const char *path)
{
    RtFileError error;

    return rt_out_try(path, &error) || rt_error(m, "%s: %s", path, error.text);
}

static void write_event(RtOut *o, const RtEvent *e, bool is_last)
{
    char line[1024], name[512];

    rt_json_string(name, sizeof name, e->call.what);
    int n =
        snprintf(line, sizeof line,
                 "{\"name\":%s,\"cat\":\"%s\",\"ph\":\"X\",\"pid\":0,\"tid\":0,"
                 "\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"flops\":%.9g,\"read\":%.9g,\"written\":%.9g",
                 name, e->part, 1e6 * e->start, 1e6 * e->seconds, e->call.flops, e->call.reads,
                 e->call.writes);

    rt_out_write(o, line, (size_t)n);
    if (e->call.seconds > 0) {
        n = snprintf(line, sizeof line, ",\"predicted_us\":%.3f", 1e6 * e->call.seconds);
        rt_out_write(o, line, (size_t)n);
    }
    const char *end = is_last ? "}}\n" : "}},\n";
    rt_out_write(o, end, strlen(end));
}

bool rt_trace_write(const RtProfile *p, const RtModel *m, const char *path)
{
    static const char head[] = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    RtFileError error;
    RtOut o;

    if (!rt_out_open(&o, path, &error))
        return rt_error(m, "%s: %s", path, error.text);
    rt_out_write(&o, head, strlen(head));
    for (int i = 0; i < p->n; i++)
        write_event(&o, &p->event[i], i + 1 == p->n);
    rt_out_write(&o, "]}\n", 3);
    return rt_out_commit(&o, &error) || rt_error(m, "%s: %s", path, error.text);
}
