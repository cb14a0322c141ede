// Reads and writes the manifest of a checkpoint.
#include "runtime/rt_manifest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_checksum.h"
#include "runtime/rt_lines.h"

static const char FIRST[] = "shardcc checkpoint ", WHO[] = "--checkpoint";
enum { VERSION = 1 };
static const int64_t MAX_STEPS = (int64_t)1 << 40;  // no run has more (RT_MAX_STEPS)

bool rt_manifest_add(RtManifest *m, const char *name, int64_t bytes, uint32_t sum)
{
    if (m->n == RT_MANIFEST_FILES)
        return false;
    if (m->n == m->capacity) {
        int capacity = m->capacity ? 2 * m->capacity : 16;
        RtManifestFile *grown = realloc(m->file, (size_t)capacity * sizeof *grown);
        if (!grown)
            return false;
        m->file = grown;
        m->capacity = capacity;
    }
    RtManifestFile *to = &m->file[m->n++];
    *to = (RtManifestFile){.bytes = bytes, .sum = sum};
    snprintf(to->name, sizeof to->name, "%s", name);
    return true;
}

bool rt_manifest_keep(RtManifest *m, int tensor)
{
    if (m->n_kept == m->kept_capacity) {
        int capacity = m->kept_capacity ? 2 * m->kept_capacity : 16;
        int *grown = realloc(m->kept, (size_t)capacity * sizeof *grown);
        if (!grown)
            return false;
        m->kept = grown;
        m->kept_capacity = capacity;
    }
    m->kept[m->n_kept++] = tensor;
    return true;
}

bool rt_manifest_keeps(const RtManifest *m, int tensor)
{
    for (int i = 0; i < m->n_kept; i++)
        if (m->kept[i] == tensor)
            return true;
    return false;
}

void rt_manifest_free(RtManifest *m)
{
    free(m->file);
    free(m->kept);
    *m = (RtManifest){0};
}

static uint32_t sum_of(const void *data, size_t n)
{
    RtChecksum c = {0};

    rt_checksum_add(&c, 0, data, n);
    return rt_checksum_whole(rt_checksum_parts(&c, (int64_t)n), (int64_t)n);
}

// ---- writing ----

enum { REAL = 25 };  // of a number in 17 digits, with the blank before it

// Prints a line with the numbers, if there are any, and returns its length.
static size_t print_recent(char *to, size_t capacity, const char *word, const RtRecent *r)
{
    size_t n = 0;

    for (int i = 0; i < r->n; i++)
        n += (size_t)snprintf(to + n, capacity - n, "%s %.17g", i ? "" : word,
                              r->value[(r->next - r->n + i + RT_RECENT) % RT_RECENT]);
    return r->n ? n + (size_t)snprintf(to + n, capacity - n, "\n") : 0;
}

static const char *const evaluations[] = {
    [RT_EVALUATION_DUE] = "due", [RT_EVALUATION_DONE] = "done"};

char *rt_manifest_print(const RtManifest *m, size_t *bytes)
{
    enum { HEAD = 640 + 2 * (16 + RT_RECENT * REAL), LINE = RT_MANIFEST_NAME + 48 };
    size_t capacity = HEAD + (size_t)(m->n + 1) * LINE + (size_t)m->n_kept * 20;
    char *to = malloc(capacity), log[24] = "none";

    if (!to)
        return NULL;
    if (m->log >= 0)
        snprintf(log, sizeof log, "%lld", (long long)m->log);
    size_t n = (size_t)snprintf(
        to, capacity,
        "%s%d\nprogram %s\nstep %lld\nstep_samples %lld\ndata_samples %lld\nseed %lld\n"
        "shuffle %s\nlog %s\n",
        FIRST, VERSION, m->program, (long long)m->step, (long long)m->step_samples,
        (long long)m->data_samples, (long long)m->seed, m->shuffles ? "yes" : "no", log);
    if (m->has_sum)
        n += (size_t)snprintf(to + n, capacity - n, "data %08x\n", m->data_sum);
    if (m->best.is_known)
        n += (size_t)snprintf(to + n, capacity - n, "best %lld %.17g %lld %08x\n",
                              (long long)m->best.step, m->best.loss, (long long)m->best.samples,
                              m->best.data_sum);
    if (m->rollbacks)
        n += (size_t)snprintf(to + n, capacity - n, "rollbacks %lld %lld\n",
                              (long long)m->rollbacks, (long long)m->skipped);
    if (m->evaluation)
        n += (size_t)snprintf(to + n, capacity - n, "evaluation %s\n", evaluations[m->evaluation]);
    n += print_recent(to + n, capacity - n, "loss", &m->loss);
    n += print_recent(to + n, capacity - n, "grad_norm", &m->grad_norm);
    if (*m->precision)
        n += (size_t)snprintf(to + n, capacity - n, "precision %s\n", m->precision);
    for (int i = 0; i < m->n; i++)
        n += (size_t)snprintf(to + n, capacity - n, "file %s %lld %08x\n", m->file[i].name,
                              (long long)m->file[i].bytes, m->file[i].sum);
    for (int i = 0; i < m->n_kept; i++)
        n += (size_t)snprintf(to + n, capacity - n, "kept %d\n", m->kept[i]);
    n += (size_t)snprintf(to + n, capacity - n, "end %d %08x\n", m->n, sum_of(to, n));
    *bytes = n;
    return to;
}

bool rt_manifest_write(const RtManifest *m, const char *path, RtFileError *e)
{
    size_t bytes = 0;
    char *text = rt_manifest_print(m, &bytes);
    bool is_fine = rt_out_whole(path, text, bytes, e);

    free(text);
    return is_fine;
}

// ---- reading ----

static bool next_number(RtLines *l, const char *word, int64_t *to)
{
    return rt_lines_next(l) &&
           ((rt_take(l, word) && rt_take_number(l, INT64_MAX, to) && rt_take_end(l)) ||
            rt_lines_fail(l, WHO));
}

static bool read_first(RtLines *l)
{
    int64_t version;

    if (!rt_lines_next(l))
        return false;
    if (!rt_take(l, FIRST) || !rt_take_number(l, INT64_MAX, &version) || !rt_take_end(l))
        return rt_file_fail(l->error, "it begins with '%.60s', not with '%s%d'", l->line, FIRST,
                            VERSION);
    return version == VERSION ||
           rt_file_fail(l->error, "it is of version %lld; this program reads version %d",
                        (long long)version, VERSION);
}

static bool read_head(RtLines *l, RtManifest *m)
{
    if (!read_first(l) || !rt_lines_next(l))
        return false;
    if (!rt_take(l, "program ") || !rt_take_rest(l, m->program, sizeof m->program))
        return rt_lines_fail(l, WHO);
    if (!next_number(l, "step ", &m->step) || !next_number(l, "step_samples ", &m->step_samples) ||
        !next_number(l, "data_samples ", &m->data_samples) || !next_number(l, "seed ", &m->seed) ||
        !rt_lines_next(l))
        return false;
    m->shuffles = strcmp(l->line, "shuffle yes") == 0;
    if ((!m->shuffles && strcmp(l->line, "shuffle no") != 0))
        return rt_lines_fail(l, WHO);
    if (!rt_lines_next(l))
        return false;
    m->log = -1;
    return strcmp(l->line, "log none") == 0 ||
           (rt_take(l, "log ") && rt_take_number(l, INT64_MAX, &m->log) && rt_take_end(l)) ||
           rt_lines_fail(l, WHO);
}

static bool take_sum(RtLines *l, uint32_t *to)
{
    static const char digits[] = "0123456789abcdef";
    enum { DIGITS = 8 };

    *to = 0;
    for (int i = 0; i < DIGITS; i++, l->word++) {
        const char *digit = *l->word ? strchr(digits, *l->word) : NULL;
        if (!digit)
            return false;
        *to = *to << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

// Takes a number as it is written above, in no other form.
static bool take_real(RtLines *l, double *to)
{
    char text[32], *end;

    *to = strtod(l->word, &end);
    snprintf(text, sizeof text, "%.17g", *to);
    return isfinite(*to) && end > l->word && rt_take(l, text) && l->word == end;
}

static bool read_sum(RtLines *l, RtManifest *m)
{
    m->has_sum = take_sum(l, &m->data_sum) && rt_take_end(l);
    return m->has_sum;
}

static bool read_best(RtLines *l, RtManifest *m)
{
    m->best.is_known = rt_take_number(l, m->step, &m->best.step) && rt_take(l, " ") &&
                       take_real(l, &m->best.loss) && rt_take(l, " ") &&
                       rt_take_number(l, INT64_MAX, &m->best.samples) && rt_take(l, " ") &&
                       take_sum(l, &m->best.data_sum) && rt_take_end(l);
    return m->best.is_known;
}

static bool read_rollbacks(RtLines *l, RtManifest *m)
{
    return rt_take_number(l, MAX_STEPS, &m->rollbacks) && rt_take(l, " ") &&
           rt_take_number(l, MAX_STEPS, &m->skipped) && rt_take_end(l) && m->rollbacks > 0 &&
           m->skipped > 0;
}

static bool read_evaluation(RtLines *l, RtManifest *m)
{
    for (int i = RT_EVALUATION_DUE; i <= RT_EVALUATION_DONE && !m->evaluation; i++)
        if (rt_take(l, evaluations[i]))
            m->evaluation = (RtEvaluation)i;
    return m->evaluation && rt_take_end(l);
}

static bool read_recent(RtLines *l, RtRecent *r)
{
    do {
        if (r->n == RT_RECENT || !take_real(l, &r->value[r->n++]))
            return false;
    } while (rt_take(l, " "));
    r->next = r->n % RT_RECENT;
    return rt_take_end(l);
}

static bool read_loss(RtLines *l, RtManifest *m) { return read_recent(l, &m->loss); }

static bool read_grad_norm(RtLines *l, RtManifest *m) { return read_recent(l, &m->grad_norm); }

static bool read_precision(RtLines *l, RtManifest *m)
{
    return rt_take_rest(l, m->precision, sizeof m->precision) &&
           (!strcmp(m->precision, "bf16") || !strcmp(m->precision, "f16"));
}

// The lines that not all manifests have, in their order. They come before the lines of files.
static const struct {
    const char *word;
    bool (*read)(RtLines *l, RtManifest *m);
} optional[] = {{"data ", read_sum},
                {"best ", read_best},
                {"rollbacks ", read_rollbacks},
                {"evaluation ", read_evaluation},
                {"loss ", read_loss},
                {"grad_norm ", read_grad_norm},
                {"precision ", read_precision}};

enum { OPTIONAL = sizeof optional / sizeof *optional };

// Reads such a line if the line is one, and sets *is_read. *next: the first that may come.
static bool read_optional(RtLines *l, RtManifest *m, int *next, bool *is_read)
{
    *is_read = false;
    for (int i = *next; i < OPTIONAL && !m->n && !*is_read; i++)
        if (rt_take(l, optional[i].word)) {
            if (!optional[i].read(l, m))
                return rt_lines_fail(l, WHO);
            *next = i + 1;
            *is_read = true;
        }
    return true;
}

static bool take_name(RtLines *l, char to[RT_MANIFEST_NAME])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char others[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t n = strspn(l->word, others);

    if (n >= RT_MANIFEST_NAME || !strspn(l->word, letters))
        return false;
    memcpy(to, l->word, n);
    to[n] = 0;
    l->word += n;
    return true;
}

static bool read_file(RtLines *l, RtManifest *m)
{
    RtManifestFile f;

    if (!rt_take(l, "file ") || !take_name(l, f.name) || !rt_take(l, " ") ||
        !rt_take_number(l, INT64_MAX, &f.bytes) || !rt_take(l, " ") || !take_sum(l, &f.sum) ||
        !rt_take_end(l))
        return rt_lines_fail(l, WHO);
    return rt_manifest_add(m, f.name, f.bytes, f.sum) ||
           rt_file_fail(l->error, "it has more than %d files, or memory ran out",
                        RT_MANIFEST_FILES);
}

// A line of a tensor that isn't finite. They come after the lines of files.
static bool read_kept(RtLines *l, RtManifest *m)
{
    int64_t tensor;

    if (!m->n || !rt_take_number(l, INT32_MAX, &tensor) || !rt_take_end(l) ||
        (m->n_kept && tensor <= m->kept[m->n_kept - 1]))
        return rt_lines_fail(l, WHO);
    return rt_manifest_keep(m, (int)tensor) || rt_file_fail(l->error, "memory ran out");
}

// Reads a line that is no optional one of the head: of a file, or of a tensor.
static bool read_entry(RtLines *l, RtManifest *m)
{
    if (rt_take(l, "kept "))
        return read_kept(l, m);
    return m->n_kept ? rt_lines_fail(l, WHO) : read_file(l, m);
}

static bool read_files(RtLines *l, RtManifest *m, const char *begin)
{
    int next = 0;

    for (;;) {
        const char *line = l->at;
        int64_t n;
        uint32_t sum;
        bool is_read;

        if (!rt_lines_next(l))
            return false;
        if (!read_optional(l, m, &next, &is_read))
            return false;
        if (is_read)
            continue;
        if (!rt_take(l, "end ")) {
            if (!read_entry(l, m))
                return false;
            continue;
        }
        if (!rt_take_number(l, RT_MANIFEST_FILES, &n) || !rt_take(l, " ") || !take_sum(l, &sum) ||
            !rt_take_end(l) || n != m->n)
            return rt_lines_fail(l, WHO);
        if (sum != sum_of(begin, (size_t)(line - begin)))
            return rt_file_fail(l->error, "its checksum is wrong");
        return l->at == l->end ||
               rt_file_fail(l->error, "it goes on after its end in line %d", l->number);
    }
}

bool rt_manifest_parse(RtManifest *m, const uint8_t *data, size_t size, RtFileError *e)
{
    RtLines l = rt_lines(data, size, e);

    *m = (RtManifest){0};
    if (read_head(&l, m) && read_files(&l, m, (const char *)data))
        return true;
    rt_manifest_free(m);
    return false;
}

bool rt_manifest_read(RtManifest *m, const char *path, RtFileError *e)
{
    RtMap map;

    *m = (RtManifest){0};
    if (!rt_map(&map, path, e))
        return false;
    bool is_fine = rt_manifest_parse(m, map.data, map.size, e) && rt_map_check(&map, e);
    if (!is_fine)
        rt_manifest_free(m);
    rt_unmap(&map);
    return is_fine;
}
