// shardcc solve: solves an assignment problem from a file and writes the answer to another file, or
// checks such an answer.
#include <string.h>

#include "driver/internal.h"
#include "solver/assign/solver.h"

enum { EXIT_FOUND = 3, EXIT_INFEASIBLE = 4, EXIT_NOTHING = 5 };

typedef struct Request {
    const char *input, *output, *check;
    SolveOptions o;
} Request;

typedef enum SolveId {
    S_OUTPUT,
    S_CHECK,
    S_TIME,
    S_GAP,
    S_THREADS,
    S_ENGINE,
    S_SEED,
    S_VERBOSE,
    S_HELP = OPTION_HELP
} SolveId;

static const OptionDef options[] = {
    {"-o", S_OUTPUT, "FILE.json", "where to write the answer (nowhere)"},
    {"--time-limit", S_TIME, "SECONDS", "when to stop with the best choice so far (300; 0: never)"},
    {"--gap", S_GAP, "X", "the (cost - bound) / cost at which a choice counts as proved (1e-6)"},
    {"--threads", S_THREADS, "N", "how many threads: 1 or 2 (2)"},
    {"--engine", S_ENGINE, "NAME", "the solver of linear programs: cbc or glpk (cbc)"},
    {"--seed", S_SEED, "N", "the same seed gives the same answer, unless time runs out (1)"},
    {"-v", S_VERBOSE, NULL, "print to stderr what the solver does"},
    {"--check", S_CHECK, "FILE.json", "solve nothing, but check this answer: is everything true?"},
    {"--help", S_HELP, NULL, "print this text"},
};

static bool read_engine(const char *s, const char **engine, int *status)
{
    static const char *const names[] = {"cbc", "glpk"};

    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(s, names[i])) {
            *engine = names[i];
            return true;
        }
    return complain(status, "--engine: '%s' is not one of cbc, glpk", s);
}

static bool set(Arena *a, void *to, int id, const char *value, int *status)
{
    Request *r = to;
    int n = 0;

    switch ((SolveId)id) {
    case S_OUTPUT:
        r->output = value;
        return *value || complain(status, "-o: the name is empty");
    case S_CHECK:
        r->check = value;
        return *value || complain(status, "--check: the name is empty");
    case S_TIME:
        return read_number("--time-limit", value, 0, &r->o.time_limit, status);
    case S_GAP:
        return read_number("--gap", value, 0, &r->o.gap, status);
    case S_THREADS:
        return read_count("--threads", value, 2, &r->o.threads, status);
    case S_ENGINE:
        return read_engine(value, &r->o.engine, status);
    case S_SEED:
        if (!read_count("--seed", value, INT32_MAX, &n, status))
            return false;
        r->o.seed = (uint64_t)n;
        return true;
    default:
        r->o.is_verbose = true;
        return true;
    }
}

static bool word(void *to, const char *s, int *status)
{
    Request *r = to;

    if (r->input)
        return complain(status, "one instance at a time: '%s' and '%s'", r->input, s);
    r->input = s;
    return true;
}

static const Command command = {
    "shardcc solve INSTANCE.json[.gz] [-o ANSWER.json] [option ...]\n"
    "shardcc solve --check ANSWER.json INSTANCE.json[.gz]\n\n"
    "Chooses an alternative for every node, at the least cost within a limit of bytes, and proves\n"
    "how far the cost may be from the least one. docs/solver.md describes the files.\n\n",
    options,
    COUNT(options),
    set,
    word,
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

static void print_answer(const Problem *p, const SolveOptions *o, const Answer *x)
{
    if (x->outcome == OUTCOME_INFEASIBLE)
        print_infeasible(p, x);
    else if (x->outcome == OUTCOME_NOTHING)
        printf("%-13s no choice was found\n", "answer");
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

static int solve_it(const Request *r, const Problem *p, Arena *a)
{
    static const int status[] = {0, EXIT_FOUND, EXIT_INFEASIBLE, EXIT_NOTHING};
    Diag d = {.file = "shardcc"};
    Answer x = {0};

    print_problem(p);
    solve(p, &r->o, &x, a, &d);
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
    Request r = {.o = {.time_limit = 300,
                       .gap = 1e-6,
                       .threads = 2,
                       .seed = 1,
                       .engine = "cbc",
                       .progress = stdout}};
    Diag d = {.file = "shardcc"};
    Problem p;
    BlockedSignals h;
    int status = 0;

    if (!command_read(&command, a, argc, argv, &r, &status) || !check_request(&r, &status))
        return status;
    const Strings written = {.s = &r.output, .n = r.output ? 1 : 0};
    if (r.output && (!output_is_writable(a, r.output, &d) ||
                     !output_spares(&written, r.input, "the instance", &d)))
        return EXIT_USER;
    d.file = base_name(r.input);
    r.o.programs = program_folder(a);
    // From here on Ctrl-C only requests an end: the plan found so far is still checked and written.
    signals_block(&h);
    if (!problem_read(r.input, &p, a, &d))
        return signal_is_pending() ? EXIT_NOTHING : EXIT_USER;
    return r.check ? check_answer(&r, &p) : solve_it(&r, &p, a);
}
