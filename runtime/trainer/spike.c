// Finds steps whose numbers are far above those of the steps before.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/trainer/spike.h"

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(const RtRecent *r)
{
    double sorted[RT_RECENT];

    memcpy(sorted, r->value, sizeof sorted);
    qsort(sorted, (size_t)r->n, sizeof *sorted, by_value);
    return (sorted[(r->n - 1) / 2] + sorted[r->n / 2]) / 2;
}

static void add(RtRecent *r, double value)
{
    if (!isfinite(value))
        return;
    r->value[r->next] = value;
    r->next = (r->next + 1) % RT_RECENT;
    r->n += r->n < RT_RECENT;
}

// Adds a number, after comparing it with those before.
static bool is_spike(RtRecent *r, double factor, const char *name, double value,
                     char text[RT_SPIKE_TEXT])
{
    double usual = r->n >= RT_SPIKE_MIN ? median(r) : 0;
    int n = r->n;

    add(r, value);
    if (!(usual > 0 && value > factor * usual))
        return false;
    snprintf(text, RT_SPIKE_TEXT, "the %s is %.6g, %.3g times its median over the last %d steps",
             name, value, value / usual, n);
    return true;
}

bool rt_spike_step(RtSpike *s, const RtReport *r, char text[RT_SPIKE_TEXT])
{
    if (s->factor <= 0)
        return false;
    bool norm = is_spike(&s->norm, s->factor, "norm of the gradients", r->grad_norm, text);
    bool loss = is_spike(&s->loss, s->factor, "loss", r->loss, text);
    return loss || norm;
}
