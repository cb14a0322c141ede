// Collects the facts of a profile: how often statements run, their work, and bytes in use.
#include "report/profile.h"

// Counts the runs of each statement in a step.
static int64_t *count_runs(Arena *a, const Program *p, const Set *s)
{
    int64_t *times = arena_array(a, int64_t, s->n_items);

    for (int i = 0; i < s->n_functions; i++) {
        const Function *f = &s->functions[i];
        ItemWalk w = item_walk_function(s, f);
        while (item_walk_next(&w))
            if (item_is_statement(&s->items[w.item]))
                times[w.item] += f->timing == TIMING_MICRO ? p->accumulate : 1;
    }
    return times;
}

Profile profile_make(Arena *a, const Program *p, const Cluster *c)
{
    int set = p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT;
    const Set *s = &p->set[set];
    MemoryKinds kinds = memory_kinds(a, p);

    return (Profile){.arena = a,
                     .p = p,
                     .s = s,
                     .cluster = c,
                     .times = count_runs(a, p, s),
                     .kinds = kinds,
                     .moment = memory_moments(a, p, set, &kinds),
                     .peak = memory_peak(a, p, &kinds)};
}

StatementWork profile_work(const Profile *f, int item)
{
    const Item *it = &f->s->items[item];
    const ShardedNode *exchange = item_exchange(f->s, it);
    double times = (double)f->times[item];

    return (StatementWork){
        .flops = times * it->work.flops,
        .read = times * it->work.read,
        .written = times * it->work.written,
        .sent = exchange ? times * (double)exchange->bytes : 0,
        .seconds = f->cluster ? times * item_seconds(f->s, it, f->cluster) : 0,
    };
}
