// Predicts a step's time by simulating its items one after the other. Started collectives run
// concurrently until their waits, also one after the other. A collective takes some of the rank's
// own time, evenly while it is in flight. Iterations of a loop take equally long, and so do
// micro-batches.
#include "lower/internal.h"

typedef struct Clock {
    const Program *p;
    const Set *s;
    const Cluster *c;
    double *done;  // by slot: when the collective will have ended
    double now, link_free;
    double owed_seconds;  // time that the rank must still spend on collectives in flight
    Simulated sum;
} Clock;

static int slot_of(const Item *it, int iteration)
{
    return it->call.slot + iteration % it->call.n_slots;
}

// When the collectives in flight will have ended.
static double link_end(const Clock *k) { return k->link_free > k->now ? k->link_free : k->now; }

// The rank computes, and the collectives in flight take their share of its time.
static void compute(Clock *k, double seconds)
{
    double in_flight = link_end(k) - k->now;

    k->sum.compute += seconds;
    if (seconds + k->owed_seconds >= in_flight) {
        k->now += seconds + k->owed_seconds;
        k->owed_seconds = 0;
    } else {
        double share = k->owed_seconds / in_flight;
        k->now += seconds / (1 - share);
        k->owed_seconds -= seconds / (1 - share) * share;
    }
}

static void wait_until(Clock *k, double done)
{
    if (done <= k->now)
        return;
    k->owed_seconds *= 1 - (done - k->now) / (link_end(k) - k->now);
    k->now = done;
}

// A blocking call shares the link with the collectives in flight, which take that much longer.
static void run_blocking(Clock *k, double seconds)
{
    for (int i = 1; i <= k->p->n_slots && k->link_free > k->now; i++)
        if (k->done[i] > k->now)
            k->done[i] += seconds;
    k->link_free = link_end(k) + seconds;
    k->now += seconds;
}

static double overhead(const Clock *k, const Item *it)
{
    const ShardedNode *n = item_exchange(k->s, it);
    const Attr *axis = &k->s->g->nodes[it->nodes[0]].attr[0];
    unsigned axes = 0;

    for (int i = 0; i < axis->n; i++)
        axes |= 1U << axis->v[i];
    return collective_overhead(&k->s->sharded->plan->mesh, n->kind, axes, (double)n->bytes);
}

// A collective without a slot blocks: it ends before the next item begins.
static void exchange(Clock *k, const Item *it, int iteration)
{
    double seconds = item_seconds(k->s, it, k->c);

    if (!item_exchange(k->s, it)->bytes) {  // within the rank's own memory
        compute(k, seconds);
        return;
    }
    k->sum.communication += seconds;
    if (!it->call.slot) {
        run_blocking(k, seconds);
        return;
    }
    k->link_free = link_end(k) + seconds;
    k->done[slot_of(it, iteration)] = k->link_free;
    k->owed_seconds += overhead(k, it);
}

static void run_item(Clock *k, const Item *it, int iteration)
{
    if (item_exchange(k->s, it))
        exchange(k, it, iteration);
    else if (it->kind == ITEM_WAIT)
        wait_until(k, k->done[slot_of(it, iteration)]);
    else
        compute(k, item_seconds(k->s, it, k->c));
}

Simulated program_simulate(const Program *p, int set, const Cluster *c)
{
    Arena *scratch = arena_new();
    Simulated sum = {0};

    for (int i = 0; i < p->set[set].n_functions; i++) {
        const Function *f = &p->set[set].functions[i];
        int times = f->timing == TIMING_MICRO ? p->accumulate : 1;
        Clock k = {p, &p->set[set], c, arena_array(scratch, double, p->n_slots + 1)};
        ItemWalk w = item_walk_function(k.s, f);
        while (item_walk_next(&w))
            run_item(&k, &k.s->items[w.item], w.depth ? w.iteration[0] : 0);
        sum.seconds += times * k.now;
        sum.compute += times * k.sum.compute;
        sum.communication += times * k.sum.communication;
    }
    arena_free(scratch);
    return sum;
}
