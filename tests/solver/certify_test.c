// Tests certificates of several rounds. Those that certify makes are accepted. However one is
// altered, no bound above the optimum is accepted.
#include "tests/solver/answers.h"

enum { PROBLEMS = 20000 };

// The parts of a round that are altered: a step, a missing step, the ends of an edge, a number of
// the dual.
enum { STEP, DROP, END, NUMBER, PARTS };

static void alter_number(Round *x, uint64_t *r)
{
    Dual *d = &x->dual;
    int n = 0;

    for (int e = 0; e < x->n_edges; e++)
        n += x->edge[e].n_messages;
    if (n && chance(r, 50))
        d->message[below(r, n)] += change(r) * (INT64_C(1) << below(r, 30));
    else if (d->n_times && chance(r, 50))
        d->price[below(r, d->n_times)] += change(r);
    else if (d->n_times)
        d->time[below(r, d->n_times)] += (int)PICK(r, 1, -1, 5);
    else
        d->shift += (int)PICK(r, 1, -1, 2);
}

static void alter_round(Round *x, int part, uint64_t *r)
{
    int at = x->n_steps ? below(r, x->n_steps) : 0;

    if (part == STEP && x->n_steps) {
        *(chance(r, 50) ? &x->step[at].node : &x->step[at].other) += (int)PICK(r, 1, -1, 2, 100);
        x->step[at].kind = chance(r, 80) ? x->step[at].kind : (RuleKind)below(r, 5);
    } else if (part == DROP && x->n_steps) {
        x->n_steps--;
        memmove(x->step + at, x->step + at + 1, (size_t)(x->n_steps - at) * sizeof *x->step);
    } else if (part == END && x->n_edges) {
        Ends *e = &x->edge[below(r, x->n_edges)];
        *(chance(r, 50) ? &e->a : &e->b) += (int)PICK(r, 1, -1, 2, -5);
    } else if (part == NUMBER) {
        alter_number(x, r);
    }
}

// The bound that the answer's duals prove if only choices below `cutoff` count.
static Wide proved_below(Arena *a, const Case *c, Wide cutoff)
{
    Text t = {0}, said = {0};
    Diag d = {.file = "a", .to = &said};
    Stored s;
    Wide bound = 0;

    answer_print(&t, &c->written, &c->o, &c->answer, "1");
    assert_true(stored_read(a, (File){(const uint8_t *)t.s, t.n}, &s, &d));
    if (!stored_bound(&c->p, &s, cutoff, &bound, &d))
        bound = c->answer.cost;
    text_free(&t);
    text_free(&said);
    return bound;
}

// However a certificate is altered, no bound above the optimum is accepted, and most alterations
// are refused.
static void rounds(void **state)
{
    int refused[PARTS] = {0}, several = 0;
    Deadline w = deadline_start(0);

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        uint64_t r = seed;
        int part = (int)(seed % PARTS);
        Case c;
        make(a, &c, seed);
        Answer *x = &c.answer;
        if (x->outcome != OUTCOME_INFEASIBLE) {
            Dual none = {0};
            certify(a, &c.p, &c.o, x->cost, &none, false, &w, &x->proof);
            assert_true(x->proof.bound <= x->cost);
            x->bound = x->proof.bound;
            x->outcome = answer_gap(x->cost, x->bound) <= c.o.gap ? OUTCOME_PROVED : OUTCOME_FOUND;
            several += x->proof.n_rounds > 1;
            assert_true(check(&c));
            alter_round(&x->proof.round[below(&r, x->proof.n_rounds)], part, &r);
            refused[part] += !check(&c);
            assert_true(proved_below(a, &c, x->cost + 1 + below(&r, 100)) <= x->cost);
        }
        arena_free(a);
    }
    print_message("%d of several rounds\n", several);
    for (int i = 0; i < PARTS; i++)
        if (refused[i] < 100)
            fail_msg("part %d: %d refused", i, refused[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
