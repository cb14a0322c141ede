// Writes answer.json. All numbers except the gaps are integers, so that a checker can ask for
// equality.
#include <string.h>

#include "solver/assign/internal.h"

double answer_gap(Wide cost, Wide bound)
{
    Wide size = cost < 0 ? -cost : cost;
    return (double)(cost - bound) / (double)(size > 1 ? size : 1);
}

static void put_wide(Text *t, const char *name, Wide x)
{
    char text[WIDE_DIGITS];
    text_printf(t, "  \"%s\": %s,\n", name, wide_text(x, text));
}

// Writes a list in lines of up to 100 columns.
static void put_numbers(Text *t, const char *indent, const int64_t *x, int n)
{
    size_t line = t->n;

    text_put(t, "[", 1);
    for (int i = 0; i < n; i++) {
        if (i)
            text_put(t, ",", 1);
        if (t->n - line > 76) {
            text_printf(t, "\n%s", indent);
            line = t->n;
        }
        text_printf(t, "%" PRId64, x[i]);
    }
    text_put(t, "]", 1);
}

static void put_ints(Text *t, const char *indent, const int *x, int n)
{
    Arena *scratch = arena_new();
    int64_t *y = arena_array(scratch, int64_t, n);

    for (int i = 0; i < n; i++)
        y[i] = x[i];
    put_numbers(t, indent, y, n);
    arena_free(scratch);
}

static void put_choice(Text *t, const Problem *p, const Answer *answer)
{
    text_printf(t, "  \"at\": %d,\n  \"choice\": ", answer->at);
    put_ints(t, "    ", answer->choice, p->n_nodes);
    text_put(t, ",\n", 2);
}

static void put_steps(Text *t, const Round *r)
{
    Arena *scratch = arena_new();
    int *x = arena_array(scratch, int, 3 * (size_t)r->n_steps);

    for (int i = 0; i < r->n_steps; i++) {
        x[3 * i] = r->step[i].kind;
        x[3 * i + 1] = r->step[i].node;
        x[3 * i + 2] = r->step[i].other;
    }
    put_ints(t, "        ", x, 3 * r->n_steps);
    arena_free(scratch);
}

static void put_edges(Text *t, const Round *r)
{
    const int64_t *message = r->dual.message;

    text_printf(t, ",\n      \"edges\": [");
    for (int e = 0; e < r->n_edges; e++)
        text_printf(t, "%s%d,%d",
                    !e      ? ""
                    : e % 8 ? ","
                            : ",\n        ",
                    r->edge[e].a, r->edge[e].b);
    text_printf(t, "],\n      \"messages\": [");
    for (int e = 0; e < r->n_edges; e++) {
        text_printf(t, "%s\n        ", e ? "," : "");
        put_numbers(t, "          ", message, r->edge[e].n_messages);
        message += r->edge[e].n_messages;
    }
    text_printf(t, "]");
}

static void put_round(Text *t, const Round *r)
{
    text_printf(t, "    {\n      \"steps\": ");
    put_steps(t, r);
    text_printf(t, ",\n      \"shift\": %d,\n      \"times\": ", r->dual.shift);
    put_ints(t, "        ", r->dual.time, r->dual.n_times);
    text_printf(t, ",\n      \"prices\": ");
    put_numbers(t, "        ", r->dual.price, r->dual.n_times);
    put_edges(t, r);
    text_printf(t, "\n    }");
}

static void put_rounds(Text *t, const Certificate *c)
{
    text_printf(t, "  \"duals\": [");
    for (int i = 0; i < c->n_rounds; i++) {
        text_put(t, i ? ",\n" : "\n", i ? 2 : 1);
        put_round(t, &c->round[i]);
    }
    text_printf(t, "\n  ],\n");
}

static void put_head(Text *t, const Problem *p, const SolveOptions *o, const Answer *answer,
                     const char *version)
{
    static const char *const outcomes[] = {"proved", "found", "infeasible", "nothing"};
    static const char *const stops[] = {"done", "work", "time", "asked"};

    text_printf(t, "{\n  \"version\": \"%s\",\n  \"instance\": \"%s\",\n", version,
                p->name ? p->name : "");
    text_printf(t, "  \"hash\": \"%016" PRIx64 "\",\n  \"seed\": %" PRIu64 ",\n", p->hash, o->seed);
    text_printf(t, "  \"outcome\": \"%s\",\n  \"stop\": \"%s\",\n  \"gap_wanted\": %.17g,\n",
                outcomes[answer->outcome], stops[answer->stop], o->gap);
}

// The method that proved the bound. A checker can repeat only "duals".
static const char *bound_by(const Answer *answer)
{
    if (answer->bound == answer->proof.bound)
        return "duals";
    return answer->is_branched ? "branching" : "presolve";
}

static void put_body(Text *t, const Problem *p, const Answer *answer)
{
    if (answer->outcome == OUTCOME_INFEASIBLE) {
        put_wide(t, "least_bound", answer->least_bound);
        if (answer->choice) {
            put_wide(t, "least", answer->least);
            put_choice(t, p, answer);
        }
        return;
    }
    put_wide(t, "cost", answer->cost);
    put_wide(t, "bound", answer->bound);
    text_printf(t, "  \"bound_by\": \"%s\",\n", bound_by(answer));
    put_wide(t, "certified", answer->proof.bound);
    text_printf(t, "  \"gap\": %.17g,\n", answer_gap(answer->cost, answer->bound));
    put_wide(t, "peak", answer->peak);
    put_choice(t, p, answer);
    put_rounds(t, &answer->proof);
}

void answer_print(Text *t, const Problem *p, const SolveOptions *o, const Answer *answer,
                  const char *version)
{
    put_head(t, p, o, answer, version);
    put_body(t, p, answer);
    text_printf(t, "  \"checksum\": \"%016" PRIx64 "\"\n}\n", hash_bytes(t->s, t->n, 0));
}

bool answer_write(const char *path, const Problem *p, const SolveOptions *o, const Answer *answer,
                  const char *version, Diag *d)
{
    Text t = {0}, said = {0};
    Diag own = {.file = "answer", .to = &said};

    answer_print(&t, p, o, answer, version);
    bool ok = stored_check((File){(const uint8_t *)t.s, t.n}, p, &said, &own);
    if (!ok)
        diag_error(d, "shardcc found a wrong answer, which is a bug in shardcc: %s", said.s);
    ok = ok && (!path || out_write(path, t.s, t.n, d));
    text_free(&t);
    text_free(&said);
    return ok;
}
