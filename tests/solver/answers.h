// Answers as a search might give them, and the checker's verdict on their files.
#ifndef SHARDCC_TESTS_SOLVER_ANSWERS_H
#define SHARDCC_TESTS_SOLVER_ANSWERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/solver/random.h"

typedef struct Case {
    Problem p, written;  // the problem it is checked against; the one it was written for
    SolveOptions o;
    Answer answer;
} Case;

static inline Wide between(uint64_t *r, Wide low, Wide high)
{
    return low + (Wide)(next_random(r) % 101) * (high - low) / 100;
}

static inline void make(Arena *a, Case *c, uint64_t seed)
{
    uint64_t r = seed;
    Answer *x = &c->answer;

    c->p = random_problem(a, seed);
    c->p.name = "case";
    c->p.hash = next_random(&r);
    c->written = c->p;
    Best b = brute_force(&c->p);
    c->o = (SolveOptions){.gap = (double)PICK(&r, 0, 1, 100) / 100, .seed = seed};
    *x = (Answer){.choice = arena_array(a, int, MAX_RANDOM_NODES + 1)};
    if (!b.is_feasible) {
        x->outcome = OUTCOME_INFEASIBLE;
        x->least = b.least;
        x->least_bound = b.is_allowed ? b.least : INT64_MAX;
        memcpy(x->choice, b.least_choice, sizeof b.choice);
        x->at = problem_price(&c->p, b.least_choice).at;
        if (!b.is_allowed)
            x->choice = NULL;
        return;
    }
    memcpy(x->choice, b.choice, sizeof b.choice);
    x->proof = random_certificate(a, &c->p, &r, 20);
    x->cost = b.cost;
    x->is_branched = chance(&r, 50);
    x->bound = x->is_branched ? between(&r, x->proof.bound, x->cost) : x->proof.bound;
    x->outcome = answer_gap(x->cost, x->bound) <= c->o.gap ? OUTCOME_PROVED : OUTCOME_FOUND;
    x->peak = problem_price(&c->p, x->choice).peak;
    x->at = problem_price(&c->p, x->choice).at;
}

static inline bool check_text(const Problem *p, const char *s, size_t n, Text *said)
{
    Diag d = {.file = "a", .to = said};
    Text line = {0};
    bool ok = stored_check((File){(const uint8_t *)s, n}, p, &line, &d);

    assert_int_equal(d.errors, !ok);
    assert_int_equal(line.n > 0, ok);
    text_free(&line);
    return ok;
}

static inline bool check(const Case *c)
{
    Text t = {0}, said = {0};

    answer_print(&t, &c->written, &c->o, &c->answer, "1");
    bool ok = check_text(&c->p, t.s, t.n, &said);
    text_free(&t);
    text_free(&said);
    return ok;
}

// A number to add to the number that is altered.
static inline int64_t change(uint64_t *r)
{
    return PICK(r, 1, -1, 2, -7, 1000, -1000000, 123456789) * (1 + below(r, 3));
}

#endif
