// Random chains, and all schedules of small ones: a search through every sequence of operations
// that keeps the rules of chain.h. It shares nothing with the solver except the types.
#ifndef SHARDCC_TESTS_SOLVER_CHAINS_H
#define SHARDCC_TESTS_SOLVER_CHAINS_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "solver/chain/chain.h"
#include "tests/solver/random.h"

// ---- random chains ----

// The sizes and times of one chain.
typedef struct ChainStyle {
    int64_t byte;    // unit of the sizes
    int most_units;  // of a size
    int odd;         // percent of the sizes that aren't whole units
    int zero;        // percent of the sizes that are 0
    int equal;       // percent of the stages that equal an earlier one
    int most_time;
    bool is_consistent;  // backward_scratch can hold the gradient
} ChainStyle;

static inline ChainStyle random_chain_style(uint64_t *r)
{
    return (ChainStyle){
        .byte = PICK(r, 1, 1, 1, 1000, 65536, 1000000007, (int64_t)1 << 40),
        .most_units = (int)PICK(r, 3, 6, 20, 100, 1000),
        .odd = (int)PICK(r, 0, 0, 20, 100),
        .zero = (int)PICK(r, 0, 0, 10, 40),
        .equal = (int)PICK(r, 0, 0, 50, 100),
        .most_time = (int)PICK(r, 1, 3, 10, 1000, 1000000),
        .is_consistent = chance(r, 70),
    };
}

static inline int64_t random_size(uint64_t *r, const ChainStyle *s)
{
    if (chance(r, s->zero))
        return 0;
    int64_t size = below(r, s->most_units + 1) * s->byte;
    return chance(r, s->odd) ? size + below(r, s->byte < 1000 ? 3 : (int)(s->byte / 1000)) : size;
}

static inline double random_time(uint64_t *r, const ChainStyle *s)
{
    return below(r, s->most_time + 1);
}

static inline ChainStage random_stage(Arena *a, uint64_t *r, const ChainStyle *s, int n_policies,
                                      int64_t input)
{
    ChainStage x = {"s", random_size(r, s), random_size(r, s), random_size(r, s)};

    x.forward_time = random_time(r, s);
    x.n_policies = 1 + below(r, n_policies);
    x.policy = arena_array(a, StagePolicy, x.n_policies);
    if (s->is_consistent)
        x.backward_scratch += input;
    for (int k = 0; k < x.n_policies; k++) {
        x.policy[k] =
            (StagePolicy){x.output + random_size(r, s),
                          chance(r, 70) ? x.forward_time : random_time(r, s), random_time(r, s)};
        x.policy[k].more_scratch = chance(r, 30) ? random_size(r, s) : 0;
    }
    return x;
}

// Copies a stage; one in four times something of it is another.
static inline ChainStage nearly_equal(Arena *a, uint64_t *r, const ChainStage *s)
{
    ChainStage x = *s;

    x.policy = arena_array(a, StagePolicy, x.n_policies);
    memcpy(x.policy, s->policy, (size_t)x.n_policies * sizeof *x.policy);
    StagePolicy *last = &x.policy[x.n_policies - 1];
    switch (below(r, 28)) {
    case 0:
        x.forward_scratch += 1 + x.output;
        break;
    case 1:
        x.backward_scratch += 1 + x.output;
        break;
    case 2:
        x.forward_time++;
        break;
    case 3:
        last->saved += 1 + x.output;
        break;
    case 4:
        last->forward_time++;
        break;
    case 5:
        last->backward_time++;
        break;
    case 6:
        last->more_scratch += 1 + x.output;
    }
    return x;
}

static inline ChainProblem random_chain(Arena *a, uint64_t seed, int n_stages, int n_policies)
{
    uint64_t r = seed * 0x2545f4914f6cdd1d + 7;
    ChainStyle s = random_chain_style(&r);
    ChainProblem p = {random_size(&r, &s), n_stages, arena_array(a, ChainStage, n_stages)};

    for (int i = 0; i < n_stages; i++) {
        int64_t input = i ? p.stage[i - 1].output : p.input;
        bool is_equal = i && chance(&r, s.equal);
        p.stage[i] = is_equal ? nearly_equal(a, &r, &p.stage[below(&r, i)])
                              : random_stage(a, &r, &s, n_policies, input);
    }
    return p;
}

// ---- every sequence of operations ----

enum { MAX_CHAIN_SEARCHED = 6, MAX_POLICIES_SEARCHED = 3 };

// The state between operations. A value is dead, live by itself, or a checkpoint: live by itself
// until its stage's backward. The gradient of value `gradient` is live.
typedef struct Moment {
    uint8_t value[MAX_CHAIN_SEARCHED + 1];  // 0, 1 or 2
    uint8_t saved[MAX_CHAIN_SEARCHED];      // a policy + 1
    uint8_t gradient;
} Moment;

// A moment that was reached, in so much time and with such a peak.
typedef struct Reached {
    double time;
    int64_t peak;
    Moment at;
} Reached;

typedef struct Seen {
    uint64_t key;  // 0: none
    int64_t peak;  // the least with which the moment was left
} Seen;

typedef struct Search {
    const ChainProblem *p;
    Reached *heap;
    int n, cap;
    Seen *seen;
    int64_t n_seen, size;
    Reached *found;  // the end, in ascending time and descending peak
    int n_found, cap_found;
    Arena *a;
} Search;

static inline bool is_sooner(const Reached *x, const Reached *y)
{
    return x->time < y->time || (x->time == y->time && x->peak < y->peak);
}

static inline void heap_put(Search *s, Reached x)
{
    arena_push(s->a, s->heap, s->n, s->cap);
    int i = s->n - 1;
    for (; i && is_sooner(&x, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = x;
}

static inline Reached heap_take(Search *s)
{
    Reached top = s->heap[0], x = s->heap[--s->n];
    int i = 0;

    for (int k = 1; k < s->n; i = k, k = 2 * k + 1) {
        if (k + 1 < s->n && is_sooner(&s->heap[k + 1], &s->heap[k]))
            k++;
        if (!is_sooner(&s->heap[k], &x))
            break;
        s->heap[i] = s->heap[k];
    }
    s->heap[i] = x;
    return top;
}

static inline uint64_t moment_key(const Moment *m)
{
    uint64_t key = 1;

    for (int i = 0; i <= MAX_CHAIN_SEARCHED; i++)
        key = key * 3 + m->value[i];
    for (int i = 0; i < MAX_CHAIN_SEARCHED; i++)
        key = key * (MAX_POLICIES_SEARCHED + 1) + m->saved[i];
    return key * (MAX_CHAIN_SEARCHED + 1) + m->gradient;
}

static inline Seen *seen_find(Search *s, uint64_t key)
{
    uint64_t i = hash_bytes(&key, sizeof key, 0) % (uint64_t)s->size;

    while (s->seen[i].key && s->seen[i].key != key)
        i = (i + 1) % (uint64_t)s->size;
    return &s->seen[i];
}

static inline Seen *seen_get(Search *s, const Moment *m)
{
    uint64_t key = moment_key(m);

    if (2 * s->n_seen >= s->size) {
        Seen *old = s->seen;
        int64_t n = s->size;
        s->size = n ? 4 * n : 1024;
        s->seen = arena_array(s->a, Seen, s->size);
        for (int64_t i = 0; i < n; i++)
            if (old[i].key)
                *seen_find(s, old[i].key) = old[i];
    }
    Seen *x = seen_find(s, key);
    if (!x->key) {
        *x = (Seen){key, INT64_MAX};
        s->n_seen++;
    }
    return x;
}

static inline int64_t size_of_value(const ChainProblem *p, int i)
{
    return i ? p->stage[i - 1].output : p->input;
}

static inline int64_t moment_bytes(const ChainProblem *p, const Moment *m)
{
    int64_t bytes = m->gradient < p->n_stages ? size_of_value(p, m->gradient) : 0;

    for (int i = 0; i <= p->n_stages; i++)
        bytes += m->value[i] ? size_of_value(p, i) : 0;
    for (int i = 0; i < p->n_stages; i++)
        bytes += m->saved[i] ? p->stage[i].policy[m->saved[i] - 1].saved : 0;
    return bytes;
}

// Goes on from `from` with an operation that takes so much time, and so many bytes more.
static inline void reach(Search *s, const Reached *from, int64_t besides, double time, Moment to)
{
    int64_t during = moment_bytes(s->p, &from->at) + besides, after = moment_bytes(s->p, &to);
    Reached x = {from->time + time, from->peak, to};

    x.peak = during > x.peak ? during : x.peak;
    x.peak = after > x.peak ? after : x.peak;
    if (x.peak < seen_get(s, &to)->peak)
        heap_put(s, x);
}

static inline void try_forwards(Search *s, const Reached *x, int i)
{
    const ChainStage *stage = &s->p->stage[i];
    const Moment *m = &x->at;
    bool is_free = !m->value[i + 1] && !m->saved[i];
    Moment to = *m;

    if (!(m->value[i] || (i && m->saved[i - 1])) || !is_free)
        return;
    to.value[i + 1] = 1;
    if (m->value[i] == 1) {
        to.value[i] = 0;
        reach(s, x, stage->output + stage->forward_scratch, stage->forward_time, to);
    }
    to.value[i] = m->value[i] ? 2 : 0;
    reach(s, x, stage->output + stage->forward_scratch, stage->forward_time, to);
    to.value[i + 1] = 0;
    for (int k = 0; k < stage->n_policies; k++) {
        to.saved[i] = (uint8_t)(k + 1);
        reach(s, x, stage->policy[k].saved + stage->forward_scratch, stage->policy[k].forward_time,
              to);
    }
}

static inline void try_backward(Search *s, const Reached *x)
{
    int i = x->at.gradient - 1;
    Moment to = x->at;

    if (!x->at.saved[i] || !(x->at.value[i] || (i && x->at.saved[i - 1])))
        return;
    to.saved[i] = to.value[i] = 0;
    to.gradient = (uint8_t)i;
    const StagePolicy *w = &s->p->stage[i].policy[x->at.saved[i] - 1];
    reach(s, x, s->p->stage[i].backward_scratch + w->more_scratch, w->backward_time, to);
}

// Finds the least time for every memory: the ends that no other beats in both time and peak.
static inline Search search_schedules(Arena *a, const ChainProblem *p)
{
    Search s = {.p = p, .a = a};
    Moment start = {.value = {1}, .gradient = (uint8_t)p->n_stages};

    heap_put(&s, (Reached){0, p->input, start});
    while (s.n) {
        Reached x = heap_take(&s);
        Seen *seen = seen_get(&s, &x.at);
        if (x.peak >= seen->peak)
            continue;
        seen->peak = x.peak;
        if (!x.at.gradient) {
            if (!s.n_found || x.peak < s.found[s.n_found - 1].peak)
                *arena_push(a, s.found, s.n_found, s.cap_found) = x;
            continue;
        }
        for (int i = 0; i < x.at.gradient; i++)
            try_forwards(&s, &x, i);
        try_backward(&s, &x);
        for (int i = 0; i <= p->n_stages; i++)
            if (x.at.value[i] == 1) {
                Moment to = x.at;
                to.value[i] = 0;
                reach(&s, &x, 0, 0, to);
            }
    }
    return s;
}

#endif
