// Tests answer files: those that are written are accepted, and wrong ones are refused.
#include "tests/solver/answers.h"

enum { PROBLEMS = 2500 };

static void accepted(void **state)
{
    int proved = 0, found = 0, infeasible = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Case c;
        make(a, &c, seed);
        assert_true(check(&c));
        proved += c.answer.outcome == OUTCOME_PROVED;
        found += c.answer.outcome == OUTCOME_FOUND;
        infeasible += c.answer.outcome == OUTCOME_INFEASIBLE;
        arena_free(a);
    }
    assert_true(proved > 100 && found > 100 && infeasible > 100);
}

// ---- alterations, with the checksum recomputed ----

static const char *const fields[] = {
    "choice", "cost",  "bound",   "certified",   "peak",  "at",   "outcome",  "shift",
    "times",  "price", "message", "least_bound", "least", "hash", "instance",
};

static bool alter_dual(Case *c, const char *field, uint64_t *r)
{
    Dual *d = &c->answer.proof.round->dual;
    int n = 0;

    for (int e = 0; e < c->p.n_edges; e++)
        n += c->answer.proof.round->edge[e].n_messages;
    if (!strcmp(field, "shift"))
        d->shift += (int)PICK(r, 1, -1, 2, 40);
    else if (!strcmp(field, "message") && n)
        d->message[below(r, n)] += change(r) * (INT64_C(1) << below(r, 30));
    else if (!strcmp(field, "price") && d->n_times)
        d->price[below(r, d->n_times)] += change(r);
    else if (!strcmp(field, "times") && d->n_times)
        d->time[below(r, d->n_times)] += (int)PICK(r, 1, -1, 5, -5, 80000000);
    else
        return false;
    return true;
}

// Alters a field. Returns false if the answer has no such field.
static bool alter(Case *c, const char *field, uint64_t *r)
{
    Answer *x = &c->answer;
    bool is_infeasible = x->outcome == OUTCOME_INFEASIBLE;

    if (!strcmp(field, "hash"))
        c->written.hash ^= UINT64_C(1) << below(r, 64);
    else if (!strcmp(field, "instance"))
        c->written.name = chance(r, 50) ? "" : "cases";
    else if (!strcmp(field, "choice") && x->choice)
        x->choice[below(r, c->p.n_nodes)] += (int)PICK(r, 1, -1, 2, -2, 9, 1000000);
    else if (!strcmp(field, "at") && x->choice)
        x->at += (int)PICK(r, 1, -1, 3, -5, 80000000, -80000000);
    else if (!strcmp(field, "least") && x->choice && is_infeasible)
        x->least += change(r);
    else if (!strcmp(field, "least_bound") && is_infeasible)
        x->least_bound = c->p.limit + change(r) % 100;
    else if (is_infeasible)
        return false;
    else if (!strcmp(field, "cost"))
        x->cost += change(r);
    else if (!strcmp(field, "bound"))
        x->bound = chance(r, 50) ? x->bound + change(r) : x->cost + below(r, 2);
    else if (!strcmp(field, "certified"))
        x->proof.bound += change(r);
    else if (!strcmp(field, "peak"))
        x->peak += change(r);
    else if (!strcmp(field, "outcome"))
        x->outcome = x->outcome == OUTCOME_PROVED ? OUTCOME_FOUND : OUTCOME_PROVED;
    else
        return alter_dual(c, field, r);
    return true;
}

static int64_t bytes_at(const Problem *p, const int *choice, int time)
{
    int64_t bytes = 0;

    for (int i = 0; i < p->n_nodes; i++)
        for (int u = p->first_live[p->first[i] + choice[i]];
             u < p->first_live[p->first[i] + choice[i] + 1]; u++)
            if (p->live[u].first <= time && time < p->live[u].last)
                bytes += p->live[u].bytes;
    return bytes;
}

static bool is_dual(const Dual *d)
{
    for (int t = 0; t < d->n_times; t++)
        if (d->price[t] <= 0 || d->time[t] < 0 || (t && d->time[t] <= d->time[t - 1]))
            return false;
    return d->shift >= 0 && d->shift <= 40;
}

// Is an altered answer still a right one?
static bool is_right(Arena *a, const Case *c)
{
    const Answer *x = &c->answer;
    const Problem *p = &c->p;

    if (c->written.hash != p->hash || strcmp(c->written.name, p->name))
        return false;
    if (x->outcome == OUTCOME_INFEASIBLE && !x->choice)
        return x->least_bound > p->limit;
    for (int i = 0; i < p->n_nodes; i++)
        if (x->choice[i] < 0 || x->choice[i] >= n_alternatives(p, i))
            return false;
    ChoicePrice price = problem_price(p, x->choice);
    if (price.is_forbidden || (price.peak && bytes_at(p, x->choice, x->at) != price.peak))
        return false;
    if (x->outcome == OUTCOME_INFEASIBLE)
        return x->least == price.peak && x->least_bound <= x->least && x->least_bound > p->limit;
    bool is_proved = answer_gap(x->cost, x->bound) <= c->o.gap;
    return x->cost == price.cost && x->peak == price.peak && x->peak <= p->limit &&
           is_dual(&x->proof.round->dual) && x->proof.bound == round_bound(a, p, x->proof.round) &&
           x->proof.bound <= x->bound && x->bound <= x->cost &&
           is_proved == (x->outcome == OUTCOME_PROVED);
}

static void altered(void **state)
{
    for (int f = 0; f < COUNT(fields); f++) {
        int refused = 0;
        for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
            Arena *a = arena_new();
            uint64_t r = seed ^ (uint64_t)f << 32;
            Case c;
            make(a, &c, seed);
            if (alter(&c, fields[f], &r)) {
                bool ok = check(&c);
                if (ok != is_right(a, &c))
                    fail_msg("%s of problem %d: %s", fields[f], (int)seed,
                             ok ? "accepted" : "refused");
                refused += !ok;
            }
            arena_free(a);
        }
        assert_true(refused >= 100);
    }
}

// ---- alterations of the text ----

static const char *find_tail(const Text *t)
{
    return t->s + t->n - strlen("  \"checksum\": \"0123456789abcdef\"\n}\n");
}

// Checks the text after the part from `name` to `end` is replaced and the checksum recomputed.
static bool check_with(const Case *c, const char *name, char end, const char *by, Text *said)
{
    Text t = {0}, u = {0};

    answer_print(&t, &c->written, &c->o, &c->answer, "1");
    const char *from = strstr(t.s, name);
    assert_non_null(from);
    from += strlen(name);
    const char *to = strchr(from, end);
    text_put(&u, t.s, (size_t)(from - t.s));
    text_printf(&u, "%s", by);
    text_put(&u, to, (size_t)(find_tail(&t) - to));
    text_printf(&u, "  \"checksum\": \"%016" PRIx64 "\"\n}\n", hash_bytes(u.s, u.n, 0));
    bool ok = check_text(&c->p, u.s, u.n, said);
    text_free(&t);
    text_free(&u);
    return ok;
}

static void gaps(void **state)
{
    int refused = 0, foreign = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        uint64_t r = seed;
        Case c;
        make(a, &c, seed);
        if (c.answer.outcome != OUTCOME_INFEASIBLE) {
            Text said = {0};
            double gap = answer_gap(c.answer.cost, c.answer.bound);
            double off = gap * (1 + (double)change(&r) * 0x1p-52) + (gap == 0 ? 1e-9 : 0);
            assert_true(check_with(&c, "\"gap\": ", ',', arena_string(a, "%.17g", gap), NULL));
            assert_false(check_with(&c, "\"gap\": ", ',', arena_string(a, "%.17g", off), &said));
            refused++;
            if (c.answer.bound != c.answer.proof.bound) {
                assert_false(check_with(&c, "\"bound_by\": ", ',', "\"duals\"", &said));
                foreign++;
            }
            text_free(&said);
        }
        arena_free(a);
    }
    assert_true(refused >= 100 && foreign >= 100);
}

static const struct {
    const char *name;
    char end;
    const char *by, *message;
} texts[] = {
    {"\"seed\": ", ',', "-1", "'seed' is below 0"},
    {"\"seed\": ", ',', "1.5", "byte 85: expected a whole number before here"},
    {"\"outcome\": ", ',', "\"perfect\"",
     "'outcome' is 'perfect', expected proved, found or infeasible"},
    {"\"outcome\": ", ',', "\"infeasible\"",
     "byte *: 'cost' doesn't belong to outcome 'infeasible'"},  // the duals come before it
    {"\"stop\": ", ',', "\"tired\"", "'stop' is 'tired', expected done, work, time or asked"},
    {"\"bound_by\": ", ',', "\"guess\"",
     "'bound_by' is 'guess', expected duals, presolve or branching"},
    {"\"hash\": ", ',', "\"\"",
     "it answers another instance: hash '', expected '910a2dec89025cc1'"},
    {"\"choice\": ", '\n', "[0],", "'choice' has 1 nodes, the instance 10"},
    {"\"choice\": ", '\n', "[0,0,0,0,0,0,0,0,0,0,0],", "'choice' has 11 nodes, the instance 10"},
    {"\"choice\": ", '\n', "[[0]],", "byte 333: expected a whole number, found '['"},
    {"\"peak\": ", '\n', "0, \"peak\": 0,", "byte 316: 'peak' occurs twice"},
    {"\"cost\": ", ',', "1000000000000000000000000000000000000000",
     "byte 197: the number doesn't fit 126 bits"},
    {"\"cost\": ", ',', "7e3", "byte 160: expected a whole number before here"},
    {"\"version\"", '\n', ": \"2\", \"more\": 1,", "byte 27: 'more' is not known here"},
    {"\"shift\": ", ',', "41", "the shift of the duals isn't from 0 to 40"},
    {"\"times\": ", '\n', "[1,2,3],", "the duals have 3 times, but 5 prices"},
    {"\"prices\": ", '\n', "[1,2,3],", "the duals have 5 times, but 3 prices"},
    {"\"messages\": [", '[', "[1],", "the duals have messages of 9 edges, but 16 ends of edges"},
    {"\"edges\": [", ']', "", "the duals have messages of 8 edges, but 0 ends of edges"},
    {"\"edges\": [", ',', "-1", "the duals have messages of nodes -1 and * without an edge"},
    {"\"steps\": ", '\n', "[0,1],", "the steps of the duals are 2 numbers, not threes"},
    {"\"steps\": ", '\n', "[4,1,0],",
     "a step of the duals, of nodes 1 and 0: there is no such step"},
    {"\"steps\": ", '\n', "[0,1,10],", "a step of the duals, of nodes 1 and 10: they aren't there"},
    {"\"steps\": ", '\n', "[2,1,1],", "a step of the duals, of nodes 1 and 1: they aren't there"},
    {"\"steps\": ", '\n', "[1,-1,0],", "a step of the duals, of nodes -1 and 0: they aren't there"},
    {"\"gap\": ", ',', "nan", "byte 275: expected a number, found 'n'"},
    {"\"gap_wanted\"", '\n', "", "byte 142: expected ':', found '\"'"},
};

static void malformed(void **state)
{
    Arena *a = arena_new();
    Case c;

    make(a, &c, 0);
    for (uint64_t seed = 0; !c.answer.proof.n_rounds || !c.answer.proof.round->dual.n_times ||
                            c.p.n_edges < 2 || c.p.n_nodes < 2;
         seed++)
        make(a, &c, seed);
    for (int i = 0; i < COUNT(texts); i++) {
        Text said = {0};
        if (check_with(&c, texts[i].name, texts[i].end, texts[i].by, &said))
            fail_msg("accepted: %s%s", texts[i].name, texts[i].by);
        if (!glob_match(arena_string(a, "a: error: %s\n", texts[i].message), said.s))
            fail_msg("%s is not %s", said.s, texts[i].message);
        text_free(&said);
    }
    c.answer.proof.n_rounds = 0;
    assert_false(check(&c));
    arena_free(a);
}

// With the old checksum, no byte may change and none may be missing.
static void damaged(void **state)
{
    Arena *a = arena_new();
    Text t = {0};
    Case c;

    make(a, &c, 7);
    answer_print(&t, &c.written, &c.o, &c.answer, "1");
    for (size_t i = 0; i < t.n; i++) {
        Text said = {0};
        t.s[i] ^= 1;
        assert_false(check_text(&c.p, t.s, t.n, &said));
        t.s[i] ^= 1;
        assert_false(check_text(&c.p, t.s, i, &said));
        text_free(&said);
    }
    text_free(&t);
    arena_free(a);
}

// After a signal to stop, an instance isn't read to its end, but an answer is still checked.
static void asked(void **state)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "f", .to = &said};
    Problem p;
    Case c;
    BlockedSignals h;

    make(a, &c, 7);
    signal(SIGINT, SIG_DFL);  // a shell's background jobs begin with it ignored
    signals_block(&h);
    raise(SIGINT);
    assert_true(check(&c));
    assert_false(problem_parse(a, (File){(const uint8_t *)"{}", 2}, &p, &d));
    assert_string_equal(said.s, "f: error: byte 0: stopped before the end of the file\n");
    signal(SIGINT, SIG_IGN);
    signals_unblock(&h);
    signal(SIGINT, SIG_DFL);
    text_free(&said);
    arena_free(a);
}

static void digits(void **state)
{
    static const struct {
        Wide x;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-1, "-1"},
        {1000000000000000000, "1000000000000000000"},
        {INT64_MIN, "-9223372036854775808"},
        {(Wide)INT64_MAX * 4 + 3, "36893488147419103231"},
        {WIDE_MAX, "170141183460469231731687303715884105727"},
        {-WIDE_MAX - 1, "-170141183460469231731687303715884105728"},
    };
    char text[WIDE_DIGITS];

    for (int i = 0; i < COUNT(rows); i++)
        assert_string_equal(wide_text(rows[i].x, text), rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accepted), cmocka_unit_test(altered),
                                       cmocka_unit_test(gaps),     cmocka_unit_test(malformed),
                                       cmocka_unit_test(damaged),  cmocka_unit_test(asked),
                                       cmocka_unit_test(digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
