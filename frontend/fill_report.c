// Reports what is wrong with --weights: values that don't fit, names that fit twice, and what is
// left over.
#include "frontend/weight_file.h"

enum { MAX_SHOWN = 12, MAX_LISTED = 3 };  // of mistakes; of what is left over

typedef struct List {
    Diag *diag;
    const char *title;
    int n;
} List;

static void add_line(List *l, const char *fmt, ...) PRINTF(2, 3);
static void add_line(List *l, const char *fmt, ...)
{
    char text[800];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!l->n++)
        diag_error(l->diag, "%s", l->title);
    if (l->n <= MAX_SHOWN)
        diag_note(l->diag, "%s", text);
}

static bool end_list(const List *l)
{
    if (l->n > MAX_SHOWN)
        diag_note(l->diag, "and %d more", l->n - MAX_SHOWN);
    return !l->n;
}

// ---- names that fit twice ----

bool fill_check_pairs(const Import *x, const Fills *f, const NamePair *pair)
{
    const RtStored *t = x->o->values->shards.tensor;
    List l = {x->diag,
              arena_string(x->scratch,
                           "names of '%.200s' match the model's twice: --weight-map says which",
                           x->o->values->name),
              0};

    for (int i = 0; i < f->n; i++) {
        const NamePair *p = &pair[i];
        if (p->rival)
            add_line(&l, "ambiguous   %.150s: '%.150s' or '%.150s'", f->fill[i].name,
                     t[p->tensor - 1].name, t[p->rival - 1].name);
        else if (p->other && p->other - 1 < i)
            add_line(&l, "ambiguous   tensor %.150s: of '%.150s' or of '%.150s'",
                     t[p->tensor - 1].name, f->fill[p->other - 1].name, f->fill[i].name);
    }
    return end_list(&l);
}

// ---- values that don't fit ----

static const char *print_type(Arena *a, const char *dtype, int rank, const int64_t *dim)
{
    RtStored t = {.dtype = dtype, .rank = rank};
    char text[200];

    if (rank > RT_FILE_RANK)
        return arena_string(a, "%s with %d dims", dtype, rank);
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    rt_stored_print(text, sizeof text, &t);
    return arena_string(a, "%s", text);
}

static const char *print_fill(Arena *a, const Fill *f)
{
    return print_type(a, stored_type(f->dtype), f->rank, f->dim);
}

static bool has_dims(const Fill *f, int rank, const int64_t *dim)
{
    return f->rank == rank && !memcmp(f->dim, dim, (size_t)rank * sizeof *dim);
}

static bool is_transposed(const Fill *f, int rank, const int64_t *dim)
{
    return rank == 2 && f->rank == 2 && f->dim[0] == dim[1] && f->dim[1] == dim[0];
}

// Where a value is from: the tensor, or the line of the map.
static const char *source_of(const Import *x, const Fill *f)
{
    return f->line ? arena_string(x->scratch, "line %d of '%.100s'", f->line->line,
                                  base_name(x->o->values->map_path))
                   : arena_string(x->scratch, "'%.150s'", f->value->part[0].tensor[0]->name);
}

bool fill_check_values(const Import *x, const Fills *f)
{
    List l = {
        x->diag,
        arena_string(x->scratch, "tensors of '%.200s' don't fit the model", x->o->values->name), 0};

    for (int i = 0; i < f->n; i++) {
        const Fill *t = &f->fill[i];
        const WeightValue *v = t->value;
        if (!v)
            continue;
        const char *misfit = weight_value_misfit(v, t->dtype);
        const char *type = misfit ? misfit : v->part[0].tensor[0]->dtype;
        const char *found = print_type(x->scratch, type, v->rank, v->dim);
        if (!misfit && has_dims(t, v->rank, v->dim))
            continue;
        const char *more = "";
        if (!misfit && is_transposed(t, v->rank, v->dim))
            more = t->line ? ", which is transposed"
                           : arena_string(x->scratch,
                                          ", which is transposed: --weight-map takes the line "
                                          "%.150s = transpose(%.150s)",
                                          t->name, v->part[0].tensor[0]->name);
        else if (misfit)
            more = dtype_is_float(t->dtype) ? ": not a type of floats" : ": another type";
        add_line(&l, "different   %.150s: %s is %s, expected %s%s", t->name, source_of(x, t), found,
                 print_fill(x->scratch, t), more);
    }
    return end_list(&l);
}

// ---- what is left over ----

// How many components of a name does another name have?
static int common_components(const char *a, const char *b)
{
    int n = 0;

    for (const char *s = a; s; s = weight_name_end(s)) {
        size_t k = strcspn(s, "./");
        bool is_common = false;
        for (const char *t = b; t && !is_common; t = weight_name_end(t))
            is_common = strcspn(t, "./") == k && !memcmp(s, t, k);
        n += is_common;
    }
    return n;
}

// The only tensor that nothing uses; NULL: there is none, or there are more.
static const char *only_unused(const RtShards *s, const bool *used)
{
    const char *name = NULL;
    int n = 0;

    for (int i = 0; i < s->n; i++)
        if (!used[i] && !n++)
            name = s->tensor[i].name;
    return n == 1 ? name : NULL;
}

// An unused tensor of the same dims comes first, or one with rows and columns swapped; of several,
// that whose name has more of the same components.
const char *fill_nearest(const Import *x, const Fills *f, const Fill *of)
{
    const RtShards *s = &x->o->values->shards;
    const char *best = NULL;
    int most = 0;

    for (int i = 0; i < s->n && of->dtype; i++) {
        const RtStored *t = &s->tensor[i];
        bool is_like = has_dims(of, t->rank, t->dim) || is_transposed(of, t->rank, t->dim);
        int alike = 1 + common_components(t->name, of->name);
        if (f->used[i] || !is_like || alike <= most)
            continue;
        most = alike;
        best = t->name;
    }
    if (!best && !of->dtype)
        best = only_unused(s, f->used);
    return best ? best : weight_file_nearest(x->scratch, x->o->values, of->name);
}

// The nearest tensor, for a line of the list that is shown.
static const char *print_nearest(const Import *x, const List *l, const Fill *t)
{
    const char *name = l->n < MAX_SHOWN ? fill_nearest(x, x->fills, t) : NULL;
    const RtStored *near = name ? weight_file_find(x->o->values, name) : NULL;

    if (!near)
        return "";
    return arena_string(x->scratch, "; the nearest is '%.150s' %s%s", name,
                        print_type(x->scratch, near->dtype, near->rank, near->dim),
                        is_transposed(t, near->rank, near->dim) ? ", transposed" : "");
}

// Names of weights that are left over, a few of them.
typedef struct Rest {
    int n;
    Text names;
} Rest;

static void add_rest(Rest *r, const char *name)
{
    if (r->n < MAX_LISTED)
        text_printf(&r->names, "%s'%.150s'", r->n ? ", " : "", name);
    r->n++;
}

static const char *end_rest(const Import *x, Rest *r)
{
    const char *s = r->n > MAX_LISTED
                        ? arena_string(x->scratch, "%s and %d more", r->names.s, r->n - MAX_LISTED)
                    : r->n ? arena_string(x->scratch, "%s", r->names.s)
                           : "";

    text_free(&r->names);
    return s;
}

static const char *list_unused(const Import *x, const Fills *f, int *n)
{
    const RtShards *s = &x->o->values->shards;
    Rest r = {0};

    for (int i = 0; i < s->n; i++)
        if (!f->used[i])
            add_rest(&r, s->tensor[i].name);
    *n = r.n;
    return end_rest(x, &r);
}

bool fill_note_unused(const Import *x, const Fills *f)
{
    int n;
    const char *names = list_unused(x, f, &n);

    if (n)
        diag_note(x->diag, "not used    %s", names);
    return false;
}

static Map list_kinds(const Import *x)
{
    Map kinds = {.arena = x->scratch};

    for (ValueId v = 1; v < x->g->n_values; v++) {
        const Value *value = value_of(x->g, v);
        if (value->kind == VALUE_PARAMETER || value->kind == VALUE_BUFFER)
            map_set(&kinds, value->name, (int32_t)value->kind);
    }
    return kinds;
}

// Is the fill left without a value, though a weight of the graph needs one?
static bool is_left(const Map *kinds, const Fill *t)
{
    return t->tensor && !t->value && t->weight && map_get(kinds, t->weight);
}

static bool report_missing(const Import *x, const Map *kinds)
{
    List l = {x->diag,
              arena_string(x->scratch,
                           "tensors have no bytes in the model's files, and none in '%.200s'",
                           x->o->values->name),
              0};

    for (int i = 0; i < x->fills->n; i++) {
        const Fill *t = &x->fills->fill[i];
        if (is_left(kinds, t) && t->lacks_bytes)
            add_line(&l, "missing     %.150s %s%s", t->name, print_fill(x->scratch, t),
                     print_nearest(x, &l, t));
    }
    return end_list(&l) || fill_note_unused(x, x->fills);
}

static bool report_computed(const Import *x, const Map *kinds)
{
    List l = {x->diag,
              arena_string(x->scratch,
                           "tensors that the exporter has computed, perhaps of parameters, aren't "
                           "in '%.200s' and would stay as they are: torch.onnx.export with "
                           "optimize=False (do_constant_folding=False of the older one) keeps the "
                           "parameters; or a line of --weight-map makes them, or says keep",
                           x->o->values->name),
              0};

    for (int i = 0; i < x->fills->n; i++) {
        const Fill *t = &x->fills->fill[i];
        if (is_left(kinds, t) && !t->line && !t->lacks_bytes && params_is_computed(x, t->name))
            add_line(&l, "computed    %.150s %s%s", t->name, print_fill(x->scratch, t),
                     print_nearest(x, &l, t));
    }
    return end_list(&l) || fill_note_unused(x, x->fills);
}

static void warn_kept(const Import *x, const Map *kinds)
{
    Rest parameters = {0}, buffers = {0};

    for (int i = 0; i < x->fills->n; i++) {
        const Fill *t = &x->fills->fill[i];
        if (is_left(kinds, t) && !t->line)
            add_rest(map_get(kinds, t->weight) == VALUE_PARAMETER ? &parameters : &buffers,
                     t->name);
    }
    const Rest both[] = {parameters, buffers};
    for (int i = 0; i < COUNT(both); i++) {
        Rest r = both[i];
        const char *names = end_rest(x, &r);
        if (r.n)
            diag_warn(x->diag, "%d %s%s not in '%.200s' and stay%s as the model has %s: %s", r.n,
                      i ? "buffer" : "parameter", r.n > 1 ? "s are" : " is", x->o->values->name,
                      r.n > 1 ? "" : "s", r.n > 1 ? "them" : "it", names);
    }
}

// Says which inputs with the name of a module's part stay inputs, though others are parameters.
static void warn_inputs(const Import *x)
{
    const Fills *f = x->fills;
    bool has_inputs = false;

    for (int i = 0; i < f->n; i++)
        has_inputs |= f->fill[i].input && f->fill[i].tensor;
    for (int i = 0; i < f->n && has_inputs; i++)
        if (f->fill[i].input && !f->fill[i].tensor && weight_name_end(f->fill[i].name))
            diag_warn(x->diag, "'%.200s' isn't in '%.200s', and stays an input of the model",
                      f->fill[i].name, x->o->values->name);
}

static void warn_unused(const Import *x)
{
    int n;
    const char *names = list_unused(x, x->fills, &n);

    if (n)
        diag_warn(x->diag, "%d tensor%s of '%.200s' %s no parameter of the model: %s", n,
                  n > 1 ? "s" : "", x->o->values->name, n > 1 ? "are" : "is", names);
}

bool fill_report(const Import *x)
{
    if (!x->fills || x->o->only_weights)
        return true;
    Map kinds = list_kinds(x);
    if (!report_missing(x, &kinds) || !report_computed(x, &kinds))
        return false;
    warn_inputs(x);
    warn_kept(x, &kinds);
    warn_unused(x);
    return true;
}
