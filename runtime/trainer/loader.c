// Reads ahead: while a step runs, a thread stages the next micro-batch, so that the step waits
// neither for the disk nor for the conversion.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/trainer/data.h"

typedef struct Slot {
    char *staging;
    int64_t *sample;
    bool is_full;
} Slot;

// Two slots are enough: one is read while the other is filled. Micro-batch i is in slot i mod 2.
struct RtLoader {
    const RtData *data;
    int64_t first, micros, per_epoch, seed;
    bool shuffle, is_ended;
    int64_t next;  // the micro-batch that rt_loader_next returns
    Slot slot[2];
    int64_t *given;  // samples of the micro-batch that was returned last
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static void fill(const RtLoader *l, Slot *s, int64_t micro)
{
    const RtData *d = l->data;

    for (int64_t r = 0; r < d->batch; r++) {
        int64_t at = micro * d->batch + r, epoch = at / l->per_epoch, i = at % l->per_epoch;
        s->sample[r] = l->shuffle ? rt_shuffle(i, d->samples, l->seed, epoch) : i;
    }
    rt_data_stage(d, s->sample, s->staging);
}

static void *read_ahead(void *loader)
{
    RtLoader *l = loader;

    for (int64_t micro = l->first; micro < l->micros; micro++) {
        Slot *s = &l->slot[micro % 2];

        pthread_mutex_lock(&l->lock);
        while (s->is_full && !l->is_ended)
            pthread_cond_wait(&l->changed, &l->lock);
        bool is_ended = l->is_ended;
        pthread_mutex_unlock(&l->lock);
        if (is_ended)
            return NULL;
        fill(l, s, micro);
        pthread_mutex_lock(&l->lock);
        s->is_full = true;
        pthread_cond_broadcast(&l->changed);
        pthread_mutex_unlock(&l->lock);
    }
    return NULL;
}

RtLoader *rt_loader_start(const RtData *d, int64_t first, int64_t micros, int64_t per_epoch,
                          bool shuffle, int64_t seed)
{
    RtLoader *l = rt_alloc(1, sizeof *l);

    l->data = d;
    l->first = l->next = first;
    l->micros = micros;
    l->per_epoch = per_epoch;
    l->shuffle = shuffle;
    l->seed = seed;
    l->given = rt_alloc((size_t)d->batch, sizeof *l->given);
    for (int i = 0; i < 2; i++) {
        l->slot[i].staging = rt_alloc((size_t)d->staged_bytes, 1);
        l->slot[i].sample = rt_alloc((size_t)d->batch, sizeof *l->slot[i].sample);
    }
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    if (pthread_create(&l->thread, NULL, read_ahead, l) != 0) {
        fprintf(stderr, "error: cannot start the thread that reads the data\n");
        exit(1);
    }
    return l;
}

const int64_t *rt_loader_next(RtLoader *l, const char **staging)
{
    Slot *s = &l->slot[l->next % 2];

    pthread_mutex_lock(&l->lock);
    while (!s->is_full)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
    for (int64_t r = 0; r < l->data->batch; r++)
        l->given[r] = s->sample[r];
    *staging = s->staging;
    return l->given;
}

void rt_loader_release(RtLoader *l)
{
    pthread_mutex_lock(&l->lock);
    l->slot[l->next++ % 2].is_full = false;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

void rt_loader_stop(RtLoader *l)
{
    pthread_mutex_lock(&l->lock);
    l->is_ended = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->changed);
    for (int i = 0; i < 2; i++) {
        free(l->slot[i].staging);
        free(l->slot[i].sample);
    }
    free(l->given);
    free(l);
}
