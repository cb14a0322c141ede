// Prints requests for kernels and compares them, by the tables of their fields.
#include <string.h>

#include "ir/kernel.h"

static const char *const ops[] = {[RT_SUM] = "RT_SUM",
                                  [RT_MAX] = "RT_MAX",
                                  [RT_MIN] = "RT_MIN",
                                  [RT_MUL] = "RT_MUL",
                                  [RT_LAST] = "RT_LAST"};

static const char *const modes[] = {
    [RT_NEAREST_FLOOR] = "RT_NEAREST_FLOOR", [RT_NEAREST_CEIL] = "RT_NEAREST_CEIL",
    [RT_NEAREST_DOWN] = "RT_NEAREST_DOWN",   [RT_NEAREST_UP] = "RT_NEAREST_UP",
    [RT_FILTER_LINEAR] = "RT_FILTER_LINEAR", [RT_FILTER_CUBIC] = "RT_FILTER_CUBIC"};

static size_t element_size(ParamType type)
{
    switch (type) {
    case PARAM_SIZE:
        return sizeof(int64_t);
    case PARAM_FLAG:
        return sizeof(bool);
    case PARAM_REAL:
        return sizeof(float);
    case PARAM_DOUBLE:
        return sizeof(double);
    case PARAM_TYPE:
        return sizeof(RtType);
    case PARAM_OP:
        return sizeof(RtReduceOp);
    case PARAM_MODE:
        return sizeof(RtResampleMode);
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
    SizePrint *size;
    void *context;
    Text *t;
} Printer;

static void print_element(const Printer *p, ParamType type, bool in_list, const char *at)
{
    Text *t = p->t;

    switch (type) {
    case PARAM_INT:
        text_printf(t, "%d", *(const int *)at);
        break;
    case PARAM_SIZE:
        if (p->size)
            p->size(p->context, (size_t)(at - p->params), *(const int64_t *)at, t);
        else
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
    case PARAM_DOUBLE:
        text_number(t, *(const double *)at);
        break;
    case PARAM_TYPE:
        text_printf(t, "%s", dtype_rt((DType) * (const RtType *)at));
        break;
    case PARAM_OP:
        text_printf(t, "%s", ops[*(const RtReduceOp *)at]);
        break;
    case PARAM_MODE:
        text_printf(t, "%s", modes[*(const RtResampleMode *)at]);
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
        print_element(p, f->type, true, at + (size_t)i * element_size(f->type));
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
            f->capacity ? !list_length(f, p->params) : f->is_optional && is_zero(p, f, at);
        if (is_left_out && table->has_names)
            continue;
        text_printf(p->t, "%s", before);
        before = ", ";
        if (table->has_names)
            text_printf(p->t, ".%s = ", f->name);
        if (f->capacity)
            print_list(p, f, at);
        else if (f->of)
            print_fields(p, f->of, at);
        else if (has_terms(p->k, (size_t)(at - p->params)))
            p->terms(p->context, p->k, (size_t)(at - p->params), *(const int64_t *)at, p->t);
        else
            print_element(p, f->type, false, at);
    }
    text_printf(p->t, "}");
}

void kernel_print(const Kernel *k, TermsPrint *terms, SizePrint *size, void *context, Text *t)
{
    const char *params = (const char *)&k->params;

    print_fields(&(Printer){k, params, terms, size, context, t}, &k->def->params, params);
}

void params_print(const KernelDef *def, const void *params, Text *t)
{
    static const Kernel none;

    print_fields(&(Printer){&none, params, NULL, NULL, NULL, t}, &def->params, params);
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
    kernel_print(k, print_terms, NULL, NULL, t);
}

// ---- comparing ----

static bool equal_fields(const ParamTable *table, const char *a, const char *b, const char *params)
{
    for (int i = 0; i < table->n_fields; i++) {
        const ParamField *f = &table->field[i];
        size_t n = f->capacity ? (size_t)list_length(f, params) : 1;
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
