// Judges a net, from its graph to its program.
#include <string.h>
#include <time.h>

#include "tests/nets/judge.h"

// Gives the verdict with the first error of `said`.
void verdict_refused(Verdict *v, Ruling o, const Text *said)
{
    const char *at = said->n ? strstr(said->s, "error: ") : NULL;

    if (at && !strncmp(at, "error: after the pass '", 23))
        o = WRONG_PASSES;

    verdict_wrong(v, o, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
}

double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

void net_texts(const Program *p, const char *transport, ProgramTexts *to)
{
    GenerateOptions o = {.name = "net",
                         .options = "",
                         .plan = "a plan",
                         .gpus = "sm_80",
                         .transport = transport ? rt_transport_find(transport) : NULL};

    generate_texts(p, &o, to);
    text_printf(&to->c, "const RtModel *the_model(void);\n"
                        "const RtModel *the_model(void) { return &model; }\n");
}

void verdict_check(Verdict *v, const Program *p)
{
#ifndef NETS_WITHOUT_CHECK
    Text said = {0};
    Diag d = {.file = "check", .to = &said};

    if (!program_check(p, &d))
        verdict_refused(v, WRONG_CHECK, &said);
    else if (v->outcome)
        verdict_add(v, "; program_check says nothing");
    text_free(&said);
#else
    (void)p;
    (void)v;
#endif
}

static int count_classes(const Program *p)
{
    const Set *s = &p->set[SET_TRAIN];
    int n = 0;

    for (int i = 0; i < s->n_items; i++)
        n += s->items[i].kind == ITEM_LOOP;
    return n;
}

// Judges the items of a program.
static void judge_items(Arena *a, const Subject *s, const Program *p, const Oracle *o,
                        const Reference *r, Verdict *v)
{
    Result x = run_items_of(a, p, r, s);
    judge_result(r, &x, WRONG_PROGRAM, v);
    Tensor y = predict_items(a, p, s);
    judge_prediction(o, &y, WRONG_PROGRAM, v);
    verdict_check(v, p);
}

// Judges the program whose stages run again by a random schedule, if the net is a chain.
static void judge_stages(Arena *a, const Subject *s, const LowerOptions *options, const Oracle *o,
                         const Reference *r, Verdict *v)
{
    Text said = {0};
    Diag d = {.file = "stages", .to = &said};
    uint64_t seed = s->numbers;
    const ChainChoice choice = {choose_random_runs, &seed, &cluster_assumed};
    LowerOptions lo = *options;

    lo.chain = &choice;
    Program *p = lower(a, s->train, s->predict, &lo, &d);
    if (p) {
        v->stages = true;
        judge_items(a, s, p, o, r, v);
        if (v->outcome)
            verdict_add(v, "; where stages run again");
    } else if (!said.n || !strstr(said.s, "is no chain of stages")) {
        verdict_refused(v, REFUSED, &said);
    }
    text_free(&said);
}

// Judges the program of a net whose passes are right.
static void judge_program(Arena *a, const Subject *s, const Task *t, const Oracle *o,
                          const Reference *r, Verdict *v)
{
    Text said = {0};
    Diag d = {.file = "lower", .to = &said};
    LowerOptions lo = {
        .target = nets_target.target, .fuse = !s->plain, .accumulate = s->accumulate};
    classes_align(s->predict, s->train);
    int n_train = s->train->n_values, n_predict = s->predict->n_values;
    double begin = processor_seconds();
    Program *p = lower(a, s->train, s->predict, &lo, &d);
    v->seconds += processor_seconds() - begin;
    if (!p) {
        verdict_refused(v, REFUSED, &said);
        text_free(&said);
        return;
    }
    text_free(&said);
    v->classes = count_classes(p);
    if (t->texts)
        net_texts(p, NULL, t->texts);
    if (t->model) {
        Result x = run_model(a, t->model, p, r, s);
        judge_result(r, &x, WRONG_C, v);
        Tensor y = predict_model(a, t->model, p, s);
        judge_prediction(o, &y, WRONG_C, v);
        return;
    }
    judge_items(a, s, p, o, r, v);
    s->train->n_values = n_train;
    s->predict->n_values = n_predict;
    if (!v->outcome)
        judge_stages(a, s, &lo, o, r, v);
}

static bool has_parameter(const Graph *g)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].kind == VALUE_PARAMETER)
            return true;
    return false;
}

// Adds to the prediction's error what the passes' graph predicts in its own types.
static void add_rounding(Arena *a, Oracle *o)
{
    const Graph *g = o->s->predict;
    Tensor *value = numbers_all(a, g, o->s, 0), *wide;

    graph_eval(a, g, value);
    wide = &o->predicted[o->predict->outputs[0].value];
    const Tensor *is = &value[prediction_of(g)];
    if (tensor_count(is) == tensor_count(wide))
        o->roughly = tensor_rough(a, wide, &o->roughly, is);
}

// Runs the passes over both graphs. A net that has been judged before isn't checked by values; so
// the time is the passes' own.
static bool run_both(const Subject *s, const Task *t, Verdict *v, Diag *d)
{
    double begin = processor_seconds();
    bool ok = run_passes(s->train, s, false, !t->is_fast, d) &&
              run_passes(s->predict, s, false, false, d);

    v->seconds = t->is_fast ? processor_seconds() - begin : 0;
    return ok;
}

static void judge_in(Arena *a, const Subject *s, const Task *t, Verdict *v)
{
    Text said = {0};
    Diag d = {.file = "net", .to = &said};
    Oracle o;
    Reference r;

    if (!has_parameter(s->train)) {
        verdict_wrong(v, NO_NET, "nothing to train");
    } else if (!oracle_new(a, &o, s, &d) || !run_both(s, t, v, &d) ||
               !reference_new(a, &r, s->train, s, &d)) {
        bool is_its_own = said.n && strstr(said.s, "the loss depends on no parameter");
        verdict_refused(v, is_its_own ? NO_NET : REFUSED, &said);
    } else if (r.overflows || !products_fit(r.g, r.wide, s->precision)) {
        verdict_wrong(v, NO_NET, "f32 can't hold the numbers of its step");
    } else if (!oracle_eval(&o, s->train)) {
        verdict_wrong(v, NO_NET, "f32 can't hold its numbers; the loss is %g / %g", o.sum, o.count);
    } else {
        add_rounding(a, &o);
        if (!t->is_fast)
            judge_reference(&r, &o, v);
        if (!v->outcome)
            judge_program(a, s, t, &o, &r, v);
    }
    text_free(&said);
}

void judge(const Subject *s, const Task *t, Verdict *v)
{
    Arena *a = s->train->arena;

    if (t->ranks)
        judge_ranks(a, s, t, v);
    else
        judge_in(a, s, t, v);
}
