// Watches a run for divergence (--spike): a step whose loss, or norm of the gradients, is many
// times its median over the steps before.
#ifndef SHARDCC_RT_SPIKE_H
#define SHARDCC_RT_SPIKE_H

#include "runtime/rt_manifest.h"
#include "runtime/trainer/run_report.h"

// The median is taken over the last RT_RECENT steps. Nothing is a spike before there are
// RT_SPIKE_MIN of them.
enum { RT_SPIKE_MIN = 16, RT_SPIKE_TEXT = 128 };

typedef struct RtSpike {
    double factor;  // 0: nothing is a spike
    RtRecent loss, norm;
} RtSpike;

// Is this step a spike? Then it writes what is so large: "the loss is 12.5, 4.1 times its median
// over the last 64 steps". Medians that aren't above 0 are no measure. A spike counts for the
// medians of later steps as any other step does, so that a new level isn't one for long.
bool rt_spike_step(RtSpike *s, const RtReport *r, char text[RT_SPIKE_TEXT]);

#endif
