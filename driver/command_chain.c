// shardcc chain: finds the fastest schedule of a chain of stages within a memory, or one by a rule,
// and writes it to a file.
#include <string.h>

#include "driver/internal.h"
#include "solver/chain/chain.h"

enum { EXIT_TOO_LITTLE = 4, MAX_SLOTS = 1 << 20 };

typedef struct Request {
    const char *input, *output, *schedule;
    int64_t memory;
    int slots;
} Request;

static const char *const rule_names[CHAIN_RULES] = {
    [CHAIN_NONE] = "none", [CHAIN_SQRT] = "sqrt", [CHAIN_FULL] = "full"};

// The rule of that name; CHAIN_RULES for any other.
static ChainRule find_rule(const char *name)
{
    int i = 0;

    while (i < CHAIN_RULES && strcmp(name, rule_names[i]))
        i++;
    return (ChainRule)i;
}

static bool check_schedule(const char *s, int *status)
{
    return find_rule(s) < CHAIN_RULES || !strcmp(s, "best") ||
           complain(status, "--schedule: '%s' is not one of best, none, sqrt, full", s);
}

#define AT(field) offsetof(Request, field)

static const OptionDef options[] = {
    {"--memory", "N", &option_bytes, AT(memory),
     "the most bytes that may be live, such as 123456789 or 70GiB"},
    {"--slots", "S", &option_count, AT(slots),
     "how many slots the memory is cut into at least (none where few times are possible, else as "
     "many as take little time, 2000 and more)",
     .max = MAX_SLOTS},
    {"--schedule", "NAME", &option_text, AT(schedule),
     "best: the fastest within the memory (the default); or by a rule: none runs nothing twice, "
     "sqrt keeps the inputs of sqrt(n) segments, full those of all stages",
     .check = check_schedule},
    {"-o", "FILE.json", &option_text, AT(output), "where to write the schedule (nowhere)"},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc chain CHAIN.json --memory N [-o SCHEDULE.json] [option ...]\n\n"
    "Finds out which stages of a chain are saved, and which run forward again, so that the step "
    "is\n"
    "as short as possible within the memory. docs/chain.md describes the files.\n\n",
    options,
    COUNT(options),
    "chain",
    1,
    AT(input),
    "0 done, 4 no schedule (or not that of the rule) stays within the memory, 2 wrong options,\n"
    "1 any other error"};

// ---- output ----

static void print_schedule(Arena *a, const char *name, const ChainSchedule *s)
{
    Text time = {0};

    text_number(&time, s->time);
    printf("%-13s time %s, %d operations, peak %" PRId64 " bytes (%s)\n", name, time.s, s->n_ops,
           s->peak, bytes_text(a, (double)s->peak));
    text_free(&time);
}

static void print_chain(Arena *a, const Request *r, const ChainProblem *p, const ChainTable *t)
{
    printf("%-13s %d stages; least memory %" PRId64 " bytes (%s)\n", base_name(r->input),
           p->n_stages, chain_least(t), bytes_text(a, (double)chain_least(t)));
    for (int i = 0; i < CHAIN_RULES; i++) {
        ChainSchedule s = {0};
        chain_by_rule(a, p, (ChainRule)i, &s);
        print_schedule(a, rule_names[i], &s);
    }
}

static bool write_schedule(const Request *r, const ChainProblem *p, const ChainSchedule *s, Diag *d)
{
    Text t = {0};
    BlockedSignals h;

    if (!r->output)
        return true;
    chain_print(p, s, &t);
    signals_block(&h);
    bool ok = out_write(r->output, t.s, t.n, d);
    signals_unblock(&h);
    text_free(&t);
    if (ok)
        printf("%-13s %s\n", "wrote", r->output);
    return ok;
}

// ---- the command ----

// Finds the schedule that is asked for. Returns false, with a message, if it exceeds the memory.
static bool find_schedule(Arena *a, const Request *r, const ChainProblem *p, const ChainTable *t,
                          ChainSchedule *s, Diag *d)
{
    ChainRule rule = find_rule(r->schedule);

    if (rule == CHAIN_RULES && chain_schedule(a, t, r->memory, s))
        return true;
    if (rule == CHAIN_RULES) {
        diag_error(
            d, "no schedule stays within %" PRId64 " bytes: the least memory is %" PRId64 " bytes",
            r->memory, chain_least(t));
        return false;
    }
    chain_by_rule(a, p, rule, s);
    if (s->peak > r->memory)
        diag_error(d,
                   "the schedule '%s' needs %" PRId64 " bytes, more than %" PRId64
                   ": the least memory of any schedule is %" PRId64 " bytes",
                   r->schedule, s->peak, r->memory, chain_least(t));
    return s->peak <= r->memory;
}

static int solve_chain(Arena *a, const Request *r, Diag *d)
{
    ChainProblem p;
    ChainSchedule s = {0};

    if (!chain_read(a, r->input, &p, d))
        return EXIT_USER;
    ChainTable *t = chain_solve(a, &p, r->memory, r->slots);
    if (!find_schedule(a, r, &p, t, &s, d))
        return EXIT_TOO_LITTLE;
    print_chain(a, r, &p, t);
    if (find_rule(r->schedule) == CHAIN_RULES)
        print_schedule(a, "best", &s);
    if (find_rule(r->schedule) == CHAIN_RULES && chain_slots(t))
        printf("%-13s %d, to which sizes were rounded\n", "slots", chain_slots(t));
    return write_schedule(r, &p, &s, d) ? 0 : EXIT_USER;
}

static bool check_request(const Request *r, int *status)
{
    if (!r->input)
        return complain(status, "no chain given; --help tells more");
    return r->memory || complain(status, "no memory given: --memory N");
}

int chain_command(Arena *a, int argc, char **argv)
{
    Request r = {.schedule = "best"};
    int status = 0;

    if (!command_read(a, &command, argc, argv, &r, &status) || !check_request(&r, &status))
        return status;
    Diag d = {.file = "shardcc"};
    const Strings written = {.s = &r.output, .n = r.output ? 1 : 0};
    if (r.output &&
        (!output_is_writable(a, r.output, &d) || !out_spares(&written, r.input, "the chain", &d)))
        return EXIT_USER;
    d.file = base_name(r.input);
    return solve_chain(a, &r, &d);
}
