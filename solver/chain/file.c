// Reads the files of chains, and prints those of schedules. Both are JSON.
#include "base/record.h"
#include "solver/chain/chain.h"

enum { MAX_CHAIN_FILE_BYTES = 1 << 26 };

static const int64_t MAX_CHAIN_BYTES = (int64_t)1 << 53;

static const RecordField policy_fields[] = {
    {NEEDED(StagePolicy, BYTES, saved)},
    {NEEDED(StagePolicy, TIME, forward_time)},
    {NEEDED(StagePolicy, TIME, backward_time)},
    {MAYBE(StagePolicy, BYTES, more_scratch)},
};
static const RecordTable of_policy = {TABLE(StagePolicy, policy_fields)};

static const RecordField stage_fields[] = {
    {NEEDED(ChainStage, TEXT, name)},
    {NEEDED(ChainStage, BYTES, output)},
    {NEEDED(ChainStage, BYTES, forward_scratch)},
    {NEEDED(ChainStage, BYTES, backward_scratch)},
    {NEEDED(ChainStage, TIME, forward_time)},
    {"keep", LIST(ChainStage, LIST, n_policies, policy), true, &of_policy},
};
static const RecordTable of_stage = {TABLE(ChainStage, stage_fields)};

static const RecordField chain_fields[] = {
    {NEEDED(ChainProblem, BYTES, input)},
    {"stages", LIST(ChainProblem, LIST, n_stages, stage), true, &of_stage},
};
static const RecordTable of_chain = {TABLE(ChainProblem, chain_fields)};

// ---- reading ----

static bool check_names(const ChainProblem *p, RecordReader *r)
{
    Map names = {.arena = r->a};

    for (r->i = 0; r->i < p->n_stages; r->i++) {
        const char *name = p->stage[r->i].name;
        int before = map_get(&names, name) - 1;
        if (before >= 0)
            return record_wrong(r, "name", "is '%.40s', as stages[%d].name is", name, before);
        map_set(&names, name, r->i + 1);
    }
    return true;
}

static bool check_policies(const ChainProblem *p, RecordReader *r)
{
    const ChainStage *s = &p->stage[r->i];
    bool is_loss = r->i == p->n_stages - 1;

    if (s->n_policies < 1 || s->n_policies > MAX_STAGE_POLICIES)
        return record_wrong(r, "keep", "must have 1 to %d policies for '%.40s', found %d",
                            MAX_STAGE_POLICIES, s->name, s->n_policies);
    for (int k = 0; k < s->n_policies && !is_loss; k++) {
        RecordReader inner = {r->a, r->d, "keep", k, r};
        if (s->policy[k].saved < s->output)
            return record_wrong(&inner, "saved",
                                "must hold the output of '%.40s', %" PRId64
                                " bytes, found %" PRId64,
                                s->name, s->output, s->policy[k].saved);
    }
    return true;
}

// Adds the bytes of a stage to `*sum`.
static bool add_bytes(const ChainStage *s, const RecordReader *r, int64_t *sum)
{
    *sum += s->output + s->forward_scratch + s->backward_scratch;
    for (int k = 0; k < s->n_policies && *sum <= MAX_CHAIN_BYTES; k++)
        *sum += s->policy[k].saved + s->policy[k].more_scratch;
    return *sum <= MAX_CHAIN_BYTES ||
           record_wrong(r, "output", "and the other sizes up to '%.40s' sum to more than %" PRId64,
                        s->name, MAX_CHAIN_BYTES);
}

static bool check_stages(const ChainProblem *p, RecordReader *r)
{
    int64_t sum = p->input;

    for (r->i = 0; r->i < p->n_stages; r->i++)
        if (!check_policies(p, r) || !add_bytes(&p->stage[r->i], r, &sum))
            return false;
    return true;
}

static bool check_chain(const ChainProblem *p, const RecordReader *r)
{
    RecordReader stages = {r->a, r->d, "stages", 0, r};

    if (p->n_stages < 1 || p->n_stages > MAX_CHAIN_STAGES)
        return record_wrong(r, "stages", "must have 1 to %d stages, found %d", MAX_CHAIN_STAGES,
                            p->n_stages);
    return check_names(p, &stages) && check_stages(p, &stages);
}

bool chain_parse(Arena *a, const char *text, size_t n, ChainProblem *p, Diag *d)
{
    const RecordReader r = {.a = a, .d = d};
    cJSON *root = json_parse(text, n, MAX_CHAIN_FILE_BYTES, "a chain", d);

    *p = (ChainProblem){0};
    bool ok = root && record_read(&r, &of_chain, root, p) && check_chain(p, &r);
    cJSON_Delete(root);
    return ok;
}

bool chain_read(Arena *a, const char *path, ChainProblem *p, Diag *d)
{
    File f;

    if (!file_map(path, &f, d))
        return false;
    bool ok = chain_parse(a, (const char *)f.data, f.size, p, d);
    file_unmap(&f);
    return ok;
}

// ---- printing ----

static void print_time(Text *t, const char *name, double time)
{
    text_printf(t, ", \"%s\": ", name);
    text_number(t, time);
}

static void print_policy(Text *t, const StagePolicy *w)
{
    text_printf(t, "{\"saved\": %" PRId64, w->saved);
    print_time(t, "forward_time", w->forward_time);
    print_time(t, "backward_time", w->backward_time);
    if (w->more_scratch)
        text_printf(t, ", \"more_scratch\": %" PRId64, w->more_scratch);
    text_printf(t, "}");
}

void chain_print_problem(const ChainProblem *p, Text *t)
{
    text_printf(t, "{\n  \"input\": %" PRId64 ",\n  \"stages\": [", p->input);
    for (int i = 0; i < p->n_stages; i++) {
        const ChainStage *s = &p->stage[i];
        text_printf(t, "%s\n    {\"name\": ", i ? "," : "");
        text_quote(t, s->name);
        text_printf(t,
                    ", \"output\": %" PRId64 ", \"forward_scratch\": %" PRId64
                    ", \"backward_scratch\": %" PRId64,
                    s->output, s->forward_scratch, s->backward_scratch);
        print_time(t, "forward_time", s->forward_time);
        text_printf(t, ", \"keep\": [");
        for (int k = 0; k < s->n_policies; k++) {
            text_printf(t, "%s\n      ", k ? "," : "");
            print_policy(t, &s->policy[k]);
        }
        text_printf(t, "]}");
    }
    text_printf(t, "\n  ]\n}\n");
}

void chain_print(const ChainProblem *p, const ChainSchedule *s, Text *t)
{
    static const char *const names[CHAIN_OP_KINDS] = {
        [CHAIN_FORWARD] = "forward",
        [CHAIN_CHECKPOINT] = "checkpoint",
        [CHAIN_SAVE] = "save",
        [CHAIN_BACKWARD] = "backward",
    };

    text_printf(t, "{\n  \"total_time\": ");
    text_number(t, s->time);
    text_printf(t, ",\n  \"peak\": %" PRId64 ",\n  \"operations\": [", s->peak);
    for (int i = 0; i < s->n_ops; i++) {
        const ChainOp *o = &s->op[i];
        text_printf(t, "%s\n    {\"op\": \"%s\", \"stage\": ", i ? "," : "", names[o->kind]);
        text_quote(t, p->stage[o->stage].name);
        if (o->kind == CHAIN_SAVE)
            text_printf(t, ", \"keep\": %d", o->policy);
        text_printf(t, "}");
    }
    text_printf(t, "\n  ]\n}\n");
}
