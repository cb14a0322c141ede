// Reads the file of an answer, without its instance, for the check.
#include <string.h>

#include "solver/assign/internal.h"

enum { MAX_STORED_NUMBERS = 1 << 28 };  // most numbers in one list of lists

static bool read_text(Scan *s, void *to) { return scan_string(s, to, STORED_TEXT); }
static bool read_decimal(Scan *s, void *to) { return scan_number(s, to, STORED_TEXT); }
static bool read_wide(Scan *s, void *to) { return scan_wide(s, to); }
static bool read_numbers(Scan *s, void *to) { return scan_numbers(s, to); }
static bool read_lists(Scan *s, void *to) { return scan_list(s, to, read_numbers); }

#define AT(member) offsetof(Stored, member)

#define OF_ROUND(member) offsetof(StoredRound, member)

static const Member rounds[] = {
    {"steps", read_numbers, OF_ROUND(steps)}, {"shift", read_wide, OF_ROUND(shift)},
    {"times", read_numbers, OF_ROUND(times)}, {"prices", read_numbers, OF_ROUND(prices)},
    {"edges", read_numbers, OF_ROUND(edges)}, {"messages", read_lists, OF_ROUND(messages)},
};

static bool read_round(Scan *s, void *to)
{
    Stored *t = to;
    Arena *a = t->choice.arena;

    if (t->n_rounds == PROOF_ROUNDS)
        return scan_wrong(s, "more than %d rounds of duals", PROOF_ROUNDS);
    StoredRound *r = arena_push(a, t->round, t->n_rounds, t->cap_rounds);
    *r = (StoredRound){
        .steps = {"steps", a, 1, MAX_STORED_NUMBERS},
        .times = {"times", a, 1, MAX_STORED_NUMBERS},
        .prices = {"prices", a, 1, MAX_STORED_NUMBERS},
        .edges = {"edges", a, 1, MAX_STORED_NUMBERS},
        .messages = {"messages", a, MAX_STORED_NUMBERS, MAX_STORED_NUMBERS},
    };
    return scan_object(s, r, rounds, COUNT(rounds), NULL);
}

static bool read_rounds(Scan *s, void *to) { return scan_list(s, to, read_round); }

typedef enum Id {
    CHOICE = 8,  // the first member that depends on the outcome
    TIME,
    COST,
    BOUND,
    BOUND_BY,
    CERTIFIED,
    GAP,
    PEAK,
    DUALS,
    MIN_BOUND,
    LOWEST,
} Id;

static const Member members[] = {
    {"version", read_text, AT(version)},
    {"instance", read_text, AT(instance)},
    {"hash", read_text, AT(hash)},
    {"seed", read_wide, AT(seed)},
    {"outcome", read_text, AT(outcome)},
    {"stop", read_text, AT(stop)},
    {"gap_wanted", read_decimal, AT(gap_wanted)},
    {"checksum", read_text, AT(checksum)},
    [CHOICE] = {"choice", read_numbers, AT(choice), true},
    [TIME] = {"at", read_wide, AT(at), true},
    [COST] = {"cost", read_wide, AT(cost), true},
    [BOUND] = {"bound", read_wide, AT(bound), true},
    [BOUND_BY] = {"bound_by", read_text, AT(bound_by), true},
    [CERTIFIED] = {"certified", read_wide, AT(certified), true},
    [GAP] = {"gap", read_decimal, AT(gap), true},
    [PEAK] = {"peak", read_wide, AT(peak), true},
    [DUALS] = {"duals", read_rounds, 0, true},
    [MIN_BOUND] = {"least_bound", read_wide, AT(least_bound), true},
    [LOWEST] = {"least", read_wide, AT(least), true},
};

// Checks that the members fit the outcome: a choice within the limit, or a choice of the lowest
// peak found, or only a bound of that peak.
static bool check_members(Scan *s, const Stored *t, uint64_t seen)
{
    const uint64_t all = (UINT64_C(1) << COUNT(members)) - 1, common = (1 << CHOICE) - 1;
    const uint64_t least = 1 << MIN_BOUND | 1 << LOWEST;
    uint64_t wanted = all & ~least;

    if (t->is_infeasible)
        wanted = common | (seen >> CHOICE & 1 ? 1 << CHOICE | 1 << TIME | least : 1 << MIN_BOUND);
    for (int i = 0; i < COUNT(members); i++) {
        if (wanted & ~seen & UINT64_C(1) << i)
            return scan_wrong(s, "'%s' is missing before here", members[i].name);
        if (seen & ~wanted & UINT64_C(1) << i)
            return scan_wrong(s, "'%s' doesn't belong to outcome '%s'", members[i].name,
                              t->outcome);
    }
    return true;
}

bool stored_read(Arena *a, File file, Stored *t, Diag *d)
{
    Scan s;
    uint64_t seen;

    *t = (Stored){.choice = {"choice", a, 1, MAX_STORED_NUMBERS}};
    scan_begin(&s, file, d);
    bool ok = scan_object(&s, t, members, COUNT(members), &seen) && scan_nothing(&s);
    t->is_infeasible = !strcmp(t->outcome, "infeasible");
    ok = ok && check_members(&s, t, seen);
    scan_end(&s);
    return ok;
}
