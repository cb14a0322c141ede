// Prints requests for kernels, reads them back and compares them, by the tables of their fields.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel.h"

static const char *const ops[] = {[RT_SUM] = "RT_SUM", [RT_MAX] = "RT_MAX", [RT_MIN] = "RT_MIN"};

static size_t element_size(ParamType type)
{
    switch (type) {
    case PARAM_SIZE:
        return sizeof(int64_t);
    case PARAM_FLAG:
        return sizeof(bool);
    case PARAM_REAL:
        return sizeof(float);
    case PARAM_TYPE:
        return sizeof(RtType);
    case PARAM_OP:
        return sizeof(RtReduceOp);
    default:
        return sizeof(int);
    }
}

// The length of a list; `params` is the whole struct.
static int list_length(const ParamField *f, const char *params)
{
    int n;

    memcpy(&n, params + f->n_at, sizeof n);
    return n;
}

static bool has_terms(const Kernel *k, size_t at)
{
    for (int i = 0; i < k->n_terms; i++)
        if (k->term[i].at == at)
            return true;
    return false;
}

// ---- printing ----

typedef struct Printer {
    const Kernel *k;
    const char *params;
    TermsPrint *terms;
    void *context;
    Text *t;
} Printer;

static void print_element(ParamType type, bool in_list, const char *at, Text *t)
{
    switch (type) {
    case PARAM_INT:
        text_printf(t, "%d", *(const int *)at);
        break;
    case PARAM_SIZE:
        text_printf(t, "%" PRId64, *(const int64_t *)at);
        break;
    case PARAM_FLAG:
        if (in_list)
            text_printf(t, "%d", *(const bool *)at);
        else
            text_printf(t, "%s", *(const bool *)at ? "true" : "false");
        break;
    case PARAM_REAL:
        text_printf(t, "%.9g", (double)*(const float *)at);
        break;
    case PARAM_TYPE:
        text_printf(t, "%s", dtype_rt((DType) * (const RtType *)at));
        break;
    case PARAM_OP:
        text_printf(t, "%s", ops[*(const RtReduceOp *)at]);
        break;
    case PARAM_STRUCT:
        break;
    }
}

static void print_list(const Printer *p, const ParamField *f, const char *at)
{
    int n = list_length(f, p->params);

    text_printf(p->t, "{");
    for (int i = 0; i < n; i++) {
        text_printf(p->t, i ? ", " : "");
        print_element(f->type, true, at + (size_t)i * element_size(f->type), p->t);
    }
    text_printf(p->t, n ? "}" : "0}");
}

static bool is_zero(const Printer *p, const ParamField *f, const char *at)
{
    static const char zero[sizeof(KernelParams)];

    return !memcmp(at, zero, f->of ? f->of->size : element_size(f->type)) &&
           !has_terms(p->k, (size_t)(at - p->params));
}

static void print_fields(const Printer *p, const ParamTable *table, const char *params)
{
    const char *before = "{";

    for (int i = 0; i < table->n_fields; i++) {
        const ParamField *f = &table->field[i];
        const char *at = params + f->at;
        bool is_left_out =
            f->room ? !list_length(f, p->params) : f->is_optional && is_zero(p, f, at);
        if (is_left_out && table->has_names)
            continue;
        text_printf(p->t, "%s", before);
        before = ", ";
        if (table->has_names)
            text_printf(p->t, ".%s = ", f->name);
        if (f->room)
            print_list(p, f, at);
        else if (f->of)
            print_fields(p, f->of, at);
        else if (has_terms(p->k, (size_t)(at - p->params)))
            p->terms(p->context, p->k, (size_t)(at - p->params), *(const int64_t *)at, p->t);
        else
            print_element(f->type, false, at, p->t);
    }
    text_printf(p->t, "}");
}

void kernel_print(const Kernel *k, TermsPrint *terms, void *context, Text *t)
{
    const char *params = (const char *)&k->params;

    print_fields(&(Printer){k, params, terms, context, t}, &k->def->params, params);
}

void params_print(const KernelDef *def, const void *params, Text *t)
{
    static const Kernel none;

    print_fields(&(Printer){&none, params, NULL, NULL, t}, &def->params, params);
}

static void print_terms(void *context, const Kernel *k, size_t at, int64_t x, Text *t)
{
    text_printf(t, "%" PRId64, x);
    for (int i = 0; i < k->n_terms; i++) {
        const KernelTerm *m = &k->term[i];
        if (m->at != at)
            continue;
        text_printf(t, "+%" PRId64 "*", m->by);
        if (m->factor == TERM_LAYER)
            text_printf(t, "layer");
        else
            text_printf(t, "shard[%d]", m->factor);
    }
}

void kernel_print_text(const Kernel *k, Text *t)
{
    text_printf(t, "%s", k->def->name);
    kernel_print(k, print_terms, NULL, t);
}

// ---- reading ----

typedef struct Reader {
    const char *s;
    Kernel *k;
    Text *why;
} Reader;

static bool wrong(Reader *r, const char *what, const char *name)
{
    text_printf(r->why, "%s '%s'", what, name);
    return false;
}

// Skips `text` if it comes next.
static bool skip(Reader *r, const char *text)
{
    size_t n = strlen(text);

    if (strncmp(r->s, text, n))
        return false;
    r->s += n;
    return true;
}

static bool read_number(Reader *r, int64_t least, int64_t most, int64_t *x)
{
    char *end;

    if (*r->s != '-' && (*r->s < '0' || *r->s > '9'))
        return false;
    errno = 0;
    long long n = strtoll(r->s, &end, 10);
    if (end == r->s || errno || n < least || n > most)
        return false;
    r->s = end;
    *x = n;
    return true;
}

static bool read_real(Reader *r, float *x)
{
    char *end;

    if (!*r->s || !strchr("-0123456789in", *r->s))  // inf, nan
        return false;
    *x = strtof(r->s, &end);
    if (end == r->s)
        return false;
    r->s = end;
    return true;
}

// Reads one of n names, of which none is the beginning of another that comes later.
static bool read_name(Reader *r, const char *const *name, int n, int *x)
{
    for (*x = 0; *x < n; ++*x)
        if (skip(r, name[*x]))
            return true;
    return false;
}

static bool read_type(Reader *r, RtType *type)
{
    for (DType t = N_DTYPES - 1; t > DT_NONE; t--)
        if (skip(r, dtype_rt(t))) {
            *type = (RtType)t;
            return true;
        }
    return false;
}

static bool read_element(Reader *r, ParamType type, bool in_list, char *at)
{
    static const char *const flags[] = {"false", "true"};
    int64_t n;
    int which;

    switch (type) {
    case PARAM_INT:
        if (!read_number(r, 0, INT32_MAX, &n))
            return false;
        *(int *)at = (int)n;
        return true;
    case PARAM_SIZE:
        return read_number(r, INT64_MIN, INT64_MAX, (int64_t *)at);
    case PARAM_FLAG:
        if (in_list ? !read_number(r, 0, 1, &n) : !read_name(r, flags, COUNT(flags), &which))
            return false;
        *(bool *)at = in_list ? n : which;
        return true;
    case PARAM_REAL:
        return read_real(r, (float *)at);
    case PARAM_TYPE:
        return read_type(r, (RtType *)at);
    case PARAM_OP:
        if (!read_name(r, ops, COUNT(ops), &which))
            return false;
        *(RtReduceOp *)at = (RtReduceOp)which;
        return true;
    case PARAM_STRUCT:
        break;
    }
    return false;
}

// Reads the terms after a number, if there are any.
static bool read_terms(Reader *r, size_t at)
{
    Kernel *k = r->k;

    while (*r->s == '+') {
        KernelTerm m = {.at = at, .factor = TERM_LAYER};
        int64_t factor;
        r->s++;
        if (k->n_terms == MAX_TERMS || !read_number(r, INT64_MIN, INT64_MAX, &m.by))
            return false;
        if (!skip(r, "*layer")) {
            if (!skip(r, "*shard[") || !read_number(r, 0, MAX_FACTORS - 1, &factor) ||
                !skip(r, "]"))
                return false;
            m.factor = (int)factor;
        }
        k->term[k->n_terms++] = m;
    }
    return true;
}

static bool read_list(Reader *r, const ParamField *f, char *at)
{
    int n = list_length(f, (const char *)&r->k->params);

    if (n > f->room || !skip(r, "{"))
        return false;
    for (int i = 0; i < n; i++)
        if ((i && !skip(r, ", ")) ||
            !read_element(r, f->type, true, at + (size_t)i * element_size(f->type)))
            return false;
    return skip(r, n ? "}" : "0}");
}

static bool read_fields(Reader *r, const ParamTable *table, char *params);

static bool read_field(Reader *r, const ParamField *f, char *at)
{
    if (f->of)
        return read_fields(r, f->of, at);
    if (f->room ? read_list(r, f, at)
                : read_element(r, f->type, false, at) &&
                      (f->type != PARAM_SIZE ||
                       read_terms(r, (size_t)(at - (const char *)&r->k->params))))
        return true;
    return wrong(r, "cannot read field", f->name);
}

static bool read_fields(Reader *r, const ParamTable *table, char *params)
{
    const char *before = "{";

    for (int i = 0; i < table->n_fields; i++) {
        const ParamField *f = &table->field[i];
        const char *begin = r->s;
        bool is_here = skip(r, before) &&
                       (!table->has_names || (skip(r, ".") && skip(r, f->name) && skip(r, " = ")));
        bool is_empty = f->room && !list_length(f, (const char *)&r->k->params);
        if (!is_here && table->has_names && (f->is_optional || is_empty)) {
            r->s = begin;
            continue;
        }
        if (!is_here)
            return wrong(r, "expected field", f->name);
        before = ", ";
        if (!read_field(r, f, params + f->at))
            return false;
    }
    return skip(r, "}") || wrong(r, "expected", "}");
}

static bool read_def(Reader *r)
{
    char name[32] = "";
    size_t n = strcspn(r->s, "{");

    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, r->s);
    r->k->def = kernel_find(name);
    r->s += r->k->def ? n : 0;
    return r->k->def || wrong(r, "there is no kernel", name);
}

bool kernel_read_text(const char **s, Kernel *k, Text *why)
{
    Reader r = {.s = *s, .k = k, .why = why};

    k->n_terms = 0;
    memset(&k->params, 0, sizeof k->params);
    bool ok = read_def(&r) && read_fields(&r, &k->def->params, (char *)&k->params);
    *s = r.s;
    return ok;
}

// ---- comparing ----

static bool equal_fields(const ParamTable *table, const char *a, const char *b, const char *params)
{
    for (int i = 0; i < table->n_fields; i++) {
        const ParamField *f = &table->field[i];
        size_t n = f->room ? (size_t)list_length(f, params) : 1;
        if (f->of ? !equal_fields(f->of, a + f->at, b + f->at, params)
                  : memcmp(a + f->at, b + f->at, n * element_size(f->type)) != 0)
            return false;
    }
    return true;
}

bool kernel_equal(const Kernel *a, const Kernel *b)
{
    if (a->def != b->def || a->n_terms != b->n_terms)
        return false;
    for (int i = 0; i < a->n_terms; i++)
        if (a->term[i].at != b->term[i].at || a->term[i].factor != b->term[i].factor ||
            a->term[i].by != b->term[i].by)
            return false;
    return !a->def || (!memcmp(a->type, b->type, sizeof a->type) &&
                       equal_fields(&a->def->params, (const char *)&a->params,
                                    (const char *)&b->params, (const char *)&a->params));
}
