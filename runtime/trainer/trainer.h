// The phases of a run, which the trainer calls in this order.
#ifndef SHARDCC_RT_TRAINER_H
#define SHARDCC_RT_TRAINER_H

#include "runtime/trainer/data.h"
#include "runtime/trainer/run.h"

// ---- train.c, schedule.c ----

// Also returns true if a signal ended training early: the steps so far are saved.
bool rt_train(RtRun *run, const RtData *data, const RtData *eval);

// The learning rate of step `step` (from 0) of `steps`.
double rt_schedule(const RtOptions *o, double lr, int64_t step, int64_t steps);

// ---- evaluate.c ----

// The mean loss over the whole batches of `d`. Returns false after a message, or when a signal
// interrupted it.
bool rt_evaluate(RtRun *run, const RtData *d, double *loss);

// ---- predict.c, generate.c ----

bool rt_predict(RtRun *run, const RtData *d);
bool rt_generate(RtRun *run);

#endif
