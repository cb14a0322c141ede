// Prints and reads the text of a plan's file.
#include <string.h>

#include "analyzer/sharding/plan_file.h"
#include "base/record.h"

enum { VERSION = 1, MAX_PLAN_FILE_BYTES = 1 << 28 };

static const RecordField axis_fields[] = {
    {NEEDED(PlanAxis, TEXT, name)},
    {NEEDED(PlanAxis, INT, size)},
    {MAYBE(PlanAxis, TEXT, link)},
};
static const RecordField block_fields[] = {
    {NEEDED(PlanBlock, TEXT, name)},
    {NEEDED(PlanBlock, INT, layers)},
};
static const RecordField entry_fields[] = {
    {NEEDED(PlanEntry, TEXT, name)},
    {NEEDED(PlanEntry, TEXT, kind)},
    {NEEDED(PlanEntry, TEXT, type)},
    {MAYBE(PlanEntry, TEXT, phase)},
    {"reads", LIST(PlanEntry, TEXTS, n_reads, reads), false, NULL},
    {MAYBE(PlanEntry, TEXT, module)},
    {MAYBE(PlanEntry, INT, block)},
    {NEEDED(PlanEntry, TEXT, spec)},
    {NEEDED(PlanEntry, TEXT, solved)},
    {MAYBE(PlanEntry, FLAG, pin)},
    {"forward", FIELD_TEXT, offsetof(PlanEntry, compute_spec[FORWARD]), 0, false, NULL},
    {"backward", FIELD_TEXT, offsetof(PlanEntry, compute_spec[BACKWARD]), 0, false, NULL},
    {"update", FIELD_TEXT, offsetof(PlanEntry, compute_spec[UPDATE]), 0, false, NULL},
    {MAYBE(PlanEntry, TEXT, over)},
    {MAYBE(PlanEntry, TEXT, gradient)},
    {MAYBE(PlanEntry, TEXT, read)},
    {MAYBE(PlanEntry, TEXT, next)},
    {MAYBE(PlanEntry, SECONDS, next_seconds)},
    {MAYBE(PlanEntry, SECONDS, seconds)},
    {MAYBE(PlanEntry, BYTES, bytes)},
};
static const RecordField collective_fields[] = {
    {NEEDED(PlanCollective, TEXT, kind)},  {NEEDED(PlanCollective, TEXT, value)},
    {NEEDED(PlanCollective, TEXT, axis)},  {NEEDED(PlanCollective, TEXT, phase)},
    {MAYBE(PlanCollective, TEXT, before)}, {MAYBE(PlanCollective, INT, block)},
    {MAYBE(PlanCollective, INT, bucket)},  {NEEDED(PlanCollective, BYTES, times)},
    {MAYBE(PlanCollective, BYTES, bytes)}, {MAYBE(PlanCollective, SECONDS, seconds)},
};
static const RecordField holder_fields[] = {
    {NEEDED(PlanMemoryPart, TEXT, kind)},
    {NEEDED(PlanMemoryPart, BYTES, bytes)},
};
static const RecordField rival_fields[] = {
    {NEEDED(PlanPreset, TEXT, name)},      {NEEDED(PlanPreset, FLAG, fits)},
    {MAYBE(PlanPreset, SECONDS, seconds)}, {MAYBE(PlanPreset, SECONDS, simulated)},
    {MAYBE(PlanPreset, BYTES, bytes)},
};

static const RecordField keep_fields[] = {
    {"class", FIELD_TEXT, offsetof(PlanKeep, cls), 0, true, NULL},
    {MAYBE(PlanKeep, INT, first)},
    {MAYBE(PlanKeep, INT, layers)},
    {"again", LIST(PlanKeep, TEXTS, n_again, again), true, NULL},
};

static const RecordTable of_axis = {TABLE(PlanAxis, axis_fields)},
                         of_block = {TABLE(PlanBlock, block_fields)},
                         of_entry = {TABLE(PlanEntry, entry_fields)},
                         of_collective = {TABLE(PlanCollective, collective_fields)},
                         of_holder = {TABLE(PlanMemoryPart, holder_fields)},
                         of_rival = {TABLE(PlanPreset, rival_fields)},
                         of_keep = {TABLE(PlanKeep, keep_fields)};

static const RecordField file_fields[] = {
    {NEEDED(PlanFile, TEXT, model)},
    {NEEDED(PlanFile, HASH, model_hash)},
    {NEEDED(PlanFile, TEXT, cluster)},
    {NEEDED(PlanFile, HASH, cluster_hash)},
    {"options", LIST(PlanFile, TEXTS, n_options, option), true, NULL},
    {NEEDED(PlanFile, INT, ranks)},
    {NEEDED(PlanFile, BYTES, memory)},
    {MAYBE(PlanFile, BYTES, exchange_memory)},
    {MAYBE(PlanFile, TEXT, target)},
    {MAYBE(PlanFile, TEXT, precision)},
    {MAYBE(PlanFile, INT, threads)},
    {MAYBE(PlanFile, TEXT, preset)},
    {NEEDED(PlanFile, TEXT, recompute)},
    {NEEDED(PlanFile, TEXT, recompute_solved)},
    {"keep", LIST(PlanFile, LIST, n_keep, keep), false, &of_keep},
    {"keep_solved", LIST(PlanFile, LIST, n_keep_solved, keep_solved), false, &of_keep},
    {"mesh", LIST(PlanFile, LIST, n_axes, axis), true, &of_axis},
    {NEEDED(PlanFile, SECONDS, seconds)},
    {NEEDED(PlanFile, SECONDS, compute)},
    {NEEDED(PlanFile, SECONDS, communication)},
    {MAYBE(PlanFile, SECONDS, cheapest)},
    {NEEDED(PlanFile, SECONDS, bound)},
    {MAYBE(PlanFile, SECONDS, simulated)},
    {MAYBE(PlanFile, SECONDS, exposed)},
    {MAYBE(PlanFile, SECONDS, hidden)},
    {MAYBE(PlanFile, SECONDS, least)},
    {NEEDED(PlanFile, INT, meshes)},
    {MAYBE(PlanFile, INT, excluded)},
    {MAYBE(PlanFile, INT, left_out)},
    {NEEDED(PlanFile, BYTES, bytes)},
    {MAYBE(PlanFile, TEXT, fullest)},
    {"holders", LIST(PlanFile, LIST, n_memory_parts, memory_part), true, &of_holder},
    {"presets", LIST(PlanFile, LIST, n_rivals, rival), true, &of_rival},
    {"blocks", LIST(PlanFile, LIST, n_blocks, block), true, &of_block},
    {"values", LIST(PlanFile, LIST, n_values, value), true, &of_entry},
    {"nodes", LIST(PlanFile, LIST, n_nodes, node), true, &of_entry},
    {"collectives", LIST(PlanFile, LIST, n_collectives, collective), true, &of_collective},
};

static const RecordTable whole = {TABLE(PlanFile, file_fields), .has_version = true};

void plan_file_print(const PlanFile *f, Text *t)
{
    text_printf(t, "{\n  \"version\": %d,\n  ", VERSION);
    record_print(&whole, f, ",\n  ", t);
    text_printf(t, "\n}\n");
}

static const char *const recompute_names[] = {
    [RECOMPUTE_NONE] = "none", [RECOMPUTE_MIN_CUT] = "min_cut"};

const char *recompute_name(RecomputeRule rule) { return recompute_names[rule]; }

RecomputeRule recompute_rule(const char *name)
{
    int i = 0;

    while (i < N_RECOMPUTE_RULES && strcmp(name, recompute_names[i]))
        i++;
    return (RecomputeRule)i;
}

// ---- reading ----

static bool check_blocks(const RecordReader *r, const char *list, int i, int block, int n)
{
    RecordReader inner = {r->a, r->d, list, i};

    return block <= n || record_wrong(&inner, "block", "is %d, but there are %d blocks", block, n);
}

static bool check_recompute(const RecordReader *r, const char *member, const char *name)
{
    return recompute_rule(name) < N_RECOMPUTE_RULES ||
           record_wrong(r, member, "is '%.100s', expected '%s' or '%s'", name,
                        recompute_names[RECOMPUTE_NONE], recompute_names[RECOMPUTE_MIN_CUT]);
}

static bool check_file(const RecordReader *r, const PlanFile *f)
{
    bool ok = ((f->n_axes >= 1 && f->n_axes <= MAX_AXES) ||
               record_wrong(r, "mesh", "must have 1 to %d axes", MAX_AXES)) &&
              check_recompute(r, "recompute", f->recompute) &&
              check_recompute(r, "recompute_solved", f->recompute_solved);

    for (int i = 0; i < f->n_values && ok; i++)
        ok = check_blocks(r, "values", i, f->value[i].block, f->n_blocks);
    for (int i = 0; i < f->n_nodes && ok; i++)
        ok = check_blocks(r, "nodes", i, f->node[i].block, f->n_blocks);
    for (int i = 0; i < f->n_collectives && ok; i++)
        ok = check_blocks(r, "collectives", i, f->collective[i].block, f->n_blocks);
    return ok;
}

static bool is_version(const RecordReader *r, const cJSON *root)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(root, "version");

    if (cJSON_IsObject(root) && (!cJSON_IsNumber(x) || x->valuedouble != VERSION))
        return record_wrong(r, "version", "must be %d, as shardcc plan writes it", VERSION);
    return true;
}

bool plan_file_parse(Arena *a, const char *text, size_t n, PlanFile *f, Diag *d)
{
    const RecordReader r = {a, d, NULL, 0};
    cJSON *root = json_parse(text, n, MAX_PLAN_FILE_BYTES, "a plan", d);

    *f = (PlanFile){0};
    bool ok = root && is_version(&r, root) && record_read(&r, &whole, root, f) && check_file(&r, f);
    cJSON_Delete(root);
    return ok;
}

bool plan_file_open(Arena *a, const char *path, PlanFile *f, Diag *d)
{
    File file;

    if (!file_map(path, &file, d))
        return false;
    bool ok = plan_file_parse(a, (const char *)file.data, file.size, f, d);
    file_unmap(&file);
    return ok;
}
