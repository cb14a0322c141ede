// shardcc solve: solves an assignment problem from a file and writes the answer to another file, or
// checks such an answer.
#include <string.h>

#include "driver/internal.h"
#include "solver/assign/solver.h"

enum { EXIT_FOUND = 3 };

typedef struct Request {
    const char *input, *output, *check;
    int seed;
    SolveOptions o;
} Request;

static bool check_engine(const char *s, int *status)
{
    return !strcmp(s, "cbc") || !strcmp(s, "glpk") ||
           complain(status, "--engine: '%s' is not one of cbc, glpk", s);
}

#define AT(field) offsetof(Request, field)

static const OptionDef options[] = {
    {"-o", "FILE.json", &option_text, AT(output), "where to write the answer (nowhere)"},
    {"--time-limit", "SECONDS", &option_number, AT(o.time_limit),
     "when to stop with the best choice so far (300; 0: never)"},
    {"--gap", "X", &option_number, AT(o.gap),
     "the (cost - bound) / cost at which a choice counts as proved (1e-6)"},
    {"--threads", "N", &option_count, AT(o.threads), "how many threads: 1 or 2 (2)", .max = 2},
    {"--engine", "NAME", &option_text, AT(o.engine),
     "the solver of linear programs: cbc or glpk (cbc)", .check = check_engine},
    {"--seed", "N", &option_count, AT(seed),
     "the same seed gives the same answer, unless time runs out (1)", .max = INT32_MAX},
    {"-v", NULL, &option_flag, AT(o.is_verbose), "print to stderr what the solver does"},
    {"--check", "FILE.json", &option_text, AT(check),
     "solve nothing, but check this answer: is everything true?"},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc solve INSTANCE.json[.gz] [-o ANSWER.json] [option ...]\n"
    "shardcc solve --check ANSWER.json INSTANCE.json[.gz]\n\n"
    "Chooses an alternative for every node, at the least cost within a limit of bytes, and proves\n"
    "how far the cost may be from the least one. docs/solver.md describes the files.\n\n",
    options,
    COUNT(options),
    "instance",
    1,
    AT(input),
    "0 proved (or checked), 3 an answer that is not proved, 4 no choice stays within the\n"
    "limit, 5 stopped before a choice was found, 2 wrong options, 1 any other error"};

// ---- output ----

static void print_problem(const Problem *p)
{
    printf("%-13s %d nodes, %d edges, %d alternatives, limit %" PRId64 " bytes\n",
           p->name && *p->name ? p->name : "instance", p->n_nodes, p->n_edges,
           p->n_nodes ? p->first[p->n_nodes] : 0, p->limit);
}

static void print_times(const Answer *x)
{
    static const char *const phases[PHASES] = {"presolve", "relaxation", "ascent",
                                               "search",   "branching",  "certificate"};

    printf("%-13s", "seconds");
    for (int i = 0; i < PHASES; i++)
        printf("%s %s %.2f", i ? "," : "", phases[i], x->seconds[i]);
    printf("\n");
}

static void print_stop(const Answer *x)
{
    static const char *const stops[] = {"the search is complete", "the effort limit is reached",
                                        "the time limit is reached", "the user asked to stop"};

    printf("%-13s %s\n", "stopped", stops[x->stop]);
}

static void print_found(const Problem *p, const SolveOptions *o, const Answer *x)
{
    char text[WIDE_DIGITS];

    printf("%-13s %s\n", "cost", wide_text(x->cost, text));
    printf("%-13s %s%s\n", "bound", wide_text(x->bound, text),
           x->is_branched && x->bound > x->proof.bound ? " (by branching, not certified)" : "");
    printf("%-13s %s\n", "certified", wide_text(x->proof.bound, text));
    printf("%-13s %.3g: %s\n", "gap", answer_gap(x->cost, x->bound),
           x->outcome == OUTCOME_PROVED ? "proved" : "not proved");
    printf("%-13s %" PRId64 " bytes at time %d, %.1f %% of the limit\n", "memory", x->peak, x->at,
           p->limit ? 100 * (double)x->peak / (double)p->limit : 100.0);
}

static int64_t bytes_at(const Problem *p, int node, int k, int time)
{
    int64_t bytes = 0;

    for (int u = p->first_live[p->first[node] + k]; u < p->first_live[p->first[node] + k + 1]; u++)
        if (p->live[u].first <= time && time < p->live[u].last)
            bytes += p->live[u].bytes;
    return bytes;
}

// Prints the nodes that hold the most bytes at the fullest time, largest first.
static void print_holders(const Problem *p, const Answer *x)
{
    enum { MAX_HOLDERS_SHOWN = 10 };
    int64_t before = INT64_MAX;
    int last = -1;

    for (int i = 0; i < MAX_HOLDERS_SHOWN; i++) {
        int64_t most = 0;
        int holding_alternative = -1;
        for (int n = 0; n < p->n_nodes; n++) {
            int64_t bytes = bytes_at(p, n, x->choice[n], x->at);
            bool is_next = bytes < before || (bytes == before && n > last);
            if (is_next && bytes > most) {
                most = bytes;
                holding_alternative = n;
            }
        }
        if (holding_alternative < 0)
            return;
        printf("  %" PRId64 " bytes: node %d, alternative %d\n", most, holding_alternative,
               x->choice[holding_alternative]);
        before = most;
        last = holding_alternative;
    }
}

static void print_infeasible(const Problem *p, const Answer *x)
{
    if (x->least_bound == INT64_MAX) {
        printf("%-13s every choice is forbidden, whatever the limit\n", "infeasible");
        return;
    }
    printf("%-13s every choice has a peak of at least %" PRId64 " bytes\n", "infeasible",
           x->least_bound);
    if (!x->choice)
        return;
    printf("%-13s %" PRId64 " bytes at time %d, the smallest peak found; the largest parts:\n",
           "least", x->least, x->at);
    print_holders(p, x);
}

static void print_nothing(void) { printf("%-13s no choice was found\n", "answer"); }

static void print_answer(const Problem *p, const SolveOptions *o, const Answer *x)
{
    if (x->outcome == OUTCOME_INFEASIBLE)
        print_infeasible(p, x);
    else if (x->outcome == OUTCOME_NOTHING)
        print_nothing();
    else
        print_found(p, o, x);
    printf("%-13s %d of %d nodes are left\n", "presolve", x->n_left, p->n_nodes);
    print_times(x);
    print_stop(x);
}

// ---- the command ----

static int check_answer(const Request *r, const Problem *p)
{
    Diag d = {.file = base_name(r->check)};
    Text said = {0};
    bool ok = answer_check(r->check, p, &said, &d);

    if (ok)
        printf("%s: everything is true: %s\n", base_name(r->check), said.s);
    text_free(&said);
    return ok ? 0 : EXIT_USER;
}

static int solve_it(Arena *a, const Request *r, const Problem *p)
{
    static const int status[] = {0, EXIT_FOUND, EXIT_INFEASIBLE, EXIT_NOTHING};
    Diag d = {.file = "shardcc"};
    Answer x = {0};

    print_problem(p);
    solve(a, p, &r->o, &x, &d);
    print_answer(p, &r->o, &x);
    if (x.outcome == OUTCOME_NOTHING)
        return EXIT_NOTHING;
    if (!answer_write(r->output, p, &r->o, &x, SHARDCC_VERSION, &d))
        return EXIT_USER;
    if (r->output)
        printf("%-13s %s\n", "wrote", r->output);
    return status[x.outcome];
}

static bool check_request(const Request *r, int *status)
{
    if (!r->input)
        return complain(status, "no instance given; --help tells more");
    return !r->check || !r->output || complain(status, "--check writes no file: it takes no -o");
}

int solve_command(Arena *a, int argc, char **argv)
{
    Request r = {
        .seed = 1,
        .o = {.time_limit = 300, .gap = 1e-6, .threads = 2, .engine = "cbc", .progress = stdout}};
    Diag d = {.file = "shardcc"};
    Problem p;
    BlockedSignals h;
    int status = 0;

    if (!command_read(a, &command, argc, argv, &r, &status) || !check_request(&r, &status))
        return status;
    const Strings written = {.s = &r.output, .n = r.output ? 1 : 0};
    if (r.output && (!output_is_writable(a, r.output, &d) ||
                     !out_spares(&written, r.input, "the instance", &d)))
        return EXIT_USER;
    d.file = base_name(r.input);
    r.o.programs = program_folder(a);
    r.o.seed = (uint64_t)r.seed;
    // From here on Ctrl-C only requests an end: the plan found so far is still checked and written.
    signals_block(&h);
    if (!problem_read(a, r.input, &p, &d)) {
        if (!signal_is_pending())
            return EXIT_USER;
        if (!r.check)
            print_nothing();
        return EXIT_NOTHING;
    }
    return r.check ? check_answer(&r, &p) : solve_it(a, &r, &p);
}
