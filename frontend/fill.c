// Fills the initializers of a model from the files of --weights. Each is found by the map, by its
// name, or by the end of its name. Tensors that are one in the model have one value.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/weight_file.h"

// ---- bytes of the model's file ----

// The bytes of another file of the model; -1: it isn't there.
static int64_t file_size(const Import *x, const char *location)
{
    struct stat st;
    int fd = model_path(x->o->model) && location
                 ? open_beneath(model_path(x->o->model), location, NULL)
                 : -1;
    int64_t size = fd >= 0 && !fstat(fd, &st) ? st.st_size : -1;

    if (fd >= 0)
        close(fd);
    return size;
}

typedef struct FileSizes {
    Map index;  // location → 1 + index in `size`
    int64_t *size;
    int n, cap;
} FileSizes;

static int64_t known_size(Import *x, FileSizes *s, const char *location)
{
    int32_t i = location ? map_get(&s->index, location) : 0;

    if (!i) {
        *arena_push(x->scratch, s->size, s->n, s->cap) = file_size(x, location);
        i = s->n;
        if (location)
            map_set(&s->index, location, i);
    }
    return s->size[i - 1];
}

static bool lacks_bytes(Import *x, FileSizes *s, const Onnx__TensorProto *t)
{
    bool is_empty = false;

    for (size_t i = 0; i < t->n_dims; i++)
        is_empty |= t->dims[i] == 0;
    if (is_empty)
        return false;
    if (t->data_location != EXTERNAL)
        return !t->raw_bytes && !t->n_float_data && !t->n_int32_data && !t->n_int64_data &&
               !t->n_double_data && !t->n_uint64_data;
    int64_t size = known_size(x, s, literal_file(x, t)), bytes = literal_bytes(t);
    return literal_offset(t) > size || bytes > size - literal_offset(t);
}

// ---- candidates ----

static void add_candidate(Import *x, Fills *f, FileSizes *s, Onnx__TensorProto *t)
{
    Fill to = {.name = t->name,
               .tensor = t,
               .dtype = dtype_of_onnx(t->data_type),
               .rank = (int)t->n_dims,
               .lacks_bytes = lacks_bytes(x, s, t)};

    if (!to.dtype || t->n_dims > MAX_RANK ||
        (!to.lacks_bytes && (!dtype_is_float(to.dtype) || params_is_number(x, t))))
        return;
    if (t->n_dims)
        memcpy(to.dim, t->dims, t->n_dims * sizeof *t->dims);
    *arena_push(x->scratch, f->fill, f->n, f->cap) = to;
}

static void list_candidates(Import *x, Fills *f)
{
    const Onnx__GraphProto *m = x->model->graph;
    FileSizes s = {.index.arena = x->scratch};

    for (size_t i = 0; i < m->n_initializer; i++)
        if (m->initializer[i]->name)
            add_candidate(x, f, &s, m->initializer[i]);
    adopt_list(x, f);
}

static void index_tensors(Import *x, Fills *f)
{
    char key[PART_KEY];

    f->index.arena = x->scratch;
    for (int i = 0; i < f->n; i++)
        if (f->fill[i].tensor)
            map_set(&f->index, arena_string(x->scratch, "%s", part_key(key, f->fill[i].tensor)),
                    i + 1);
}

// ---- the map ----

static bool apply_line(const Import *x, Fills *f, const MapLine *l, Diag *d)
{
    const char *star[MAX_STARS];
    size_t length[MAX_STARS];
    int n = 0;

    for (int i = 0; i < f->n; i++) {
        Fill *t = &f->fill[i];
        if (!weight_map_match(l, t->name, star, length))
            continue;
        n++;
        if (t->line) {
            diag_error(d, "line %d: '%.200s' is in line %d already", l->line, t->name,
                       t->line->line);
            return false;
        }
        t->line = l;
        if (l->value &&
            !(t->value = weight_value_make(x->arena, x->o->values, l, star, length, f->used, d)))
            return false;
    }
    if (n)
        return true;
    const char **names = arena_array(x->scratch, const char *, f->n + 1);
    for (int i = 0; i < f->n; i++)
        names[i] = f->fill[i].name;
    const char *nearest = nearest_name(l->parameter, names, f->n);
    diag_error(d, "line %d: the model has no parameter '%.200s'%s", l->line, l->parameter,
               nearest ? arena_string(x->scratch, " (did you mean '%.200s'?)", nearest) : "");
    return false;
}

// Carries out all lines, so that one run names all mistakes.
static bool apply_map(const Import *x, Fills *f)
{
    const WeightFile *values = x->o->values;
    Diag d = {.file = values->map_path ? base_name(values->map_path) : "", .to = x->diag->to};

    for (int i = 0; i < values->map.n; i++)
        (void)apply_line(x, f, &values->map.line[i], &d);
    x->diag->errors += d.errors;
    return !d.errors;
}

// ---- names ----

// Does the parameter take the tensor? The end of a name isn't enough for an input that has no name
// of a module, as "x": the dims must be equal, and another input must be a parameter.
static bool takes_pair(const Import *x, const Fill *t, const NamePair *p, bool has_inputs)
{
    const RtStored *s = p->tensor ? &x->o->values->shards.tensor[p->tensor - 1] : NULL;

    if (!s || !strcmp(s->name, t->name))
        return s;
    if (x->o->only_weights || !t->input || weight_name_end(t->name))
        return !x->o->only_weights;
    return has_inputs && t->rank == s->rank &&
           !memcmp(t->dim, s->dim, (size_t)s->rank * sizeof *s->dim);
}

static bool apply_names(const Import *x, Fills *f)
{
    const RtShards *s = &x->o->values->shards;
    const char **names = arena_array(x->scratch, const char *, f->n + 1);
    bool *open = arena_array(x->scratch, bool, f->n + 1);
    NamePair *pair = arena_array(x->scratch, NamePair, f->n + 1);

    for (int i = 0; i < f->n; i++) {
        names[i] = f->fill[i].name;
        open[i] = !f->fill[i].line;
    }
    weight_names_pair(x->scratch, f->n, names, open, s, pair);
    bool has_inputs = false;
    for (int i = 0; i < f->n; i++)
        has_inputs |= f->fill[i].input && takes_pair(x, &f->fill[i], &pair[i], false);
    for (int i = 0; i < f->n; i++)
        if (!takes_pair(x, &f->fill[i], &pair[i], has_inputs))
            pair[i] = (NamePair){0};
    if (!fill_check_pairs(x, f, pair))
        return false;
    for (int i = 0; i < f->n; i++) {
        if (!pair[i].tensor)
            continue;
        f->fill[i].value = weight_value_of(x->arena, &s->tensor[pair[i].tensor - 1]);
        f->used[pair[i].tensor - 1] = true;
    }
    return true;
}

// ---- tensors with the same bytes ----

// Initializers with the same bytes of another file are one parameter, whichever of them has a
// value.
static bool share_bytes(Import *x, const Fills *f)
{
    Map first = {.arena = x->scratch};
    bool ok = true;

    for (int i = 0; i < f->n; i++) {
        const Onnx__TensorProto *t = f->fill[i].tensor;
        if (!t || t->data_location != EXTERNAL || !literal_file(x, t))
            continue;
        const char *key = arena_string(x->scratch, "%s\n%" PRId64 "\n%" PRId64, literal_file(x, t),
                                       literal_offset(t), literal_bytes(t));
        int32_t k = map_get(&first, key);
        if (!k)
            map_set(&first, key, i + 1);
        else if (!fill_share(x, f->fill[k - 1].tensor, t))
            ok = false;
    }
    return ok;
}

// ---- the whole ----

static bool has_value(const Fills *f)
{
    for (int i = 0; i < f->n; i++)
        if (f->fill[i].value)
            return true;
    return false;
}

static bool report_none(const Import *x, const Fills *f)
{
    const RtShards *s = &x->o->values->shards;
    const char *first = NULL;
    int n = 0;

    for (int i = 0; i < f->n; i++)
        if (!f->fill[i].input && !n++)
            first = f->fill[i].name;
    diag_error(x->diag, "no tensor of '%.200s' has the name of a parameter of the model",
               x->o->values->name);
    if (s->n)
        diag_note(x->diag, "the file has '%.200s' and %d more", s->tensor[0].name, s->n - 1);
    if (n)
        diag_note(x->diag, "the model has '%.200s' and %d more; --weight-map pairs other names",
                  first, n - 1);
    return false;
}

bool fill_scan(Import *x)
{
    if (!x->o->values)
        return true;
    Fills *f = arena_array(x->scratch, Fills, 1);
    f->used = arena_array(x->scratch, bool, x->o->values->shards.n + 1);
    list_candidates(x, f);
    if (!apply_map(x, f) || !apply_names(x, f))
        return false;
    if (!x->o->only_weights && !has_value(f))
        return report_none(x, f);
    x->fills = f;
    if (!adopt_take(x, f))
        return false;
    index_tensors(x, f);
    if (!x->o->only_weights && (!fill_check_values(x, f) || !share_bytes(x, f)))
        return false;
    return true;
}
