// Evaluates a model with the reference evaluator, after all passes of a forward-only graph, for
// tests/onnx/cases.py:
//
//     evaluate MODEL.onnx FOLDER
//
// FOLDER/in.txt has a line for each input, "FILE NAME"; FOLDER/FILE holds its elements in row-major
// order. Each output becomes FOLDER/outN, and a line "f32 2 3": its dtype and dims. Its messages
// and exit statuses are those of shardcc.
#include <string.h>

#include "driver/driver.h"
#include "ir/internal.h"

typedef struct Inputs {
    Arena *a;
    const char *folder;
    int n, cap;
    struct {
        const char *name, *file;
    } * input;
} Inputs;

// Reads in.txt. The names may hold any bytes but line ends.
static bool read_list(Inputs *in, Diag *d)
{
    File f;

    if (!file_map(arena_string(in->a, "%s/in.txt", in->folder), &f, d))
        return false;
    const char *s = (const char *)f.data, *end = s + f.size;
    while (s < end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s)),
                   *space = memchr(s, ' ', (size_t)(end - s));
        if (!stop || !space || space > stop)
            break;
        in->input = arena_grow(in->a, in->input, in->n, &in->cap, sizeof *in->input);
        in->input[in->n].file = arena_copy(in->a, s, (size_t)(space - s));
        in->input[in->n++].name = arena_copy(in->a, space + 1, (size_t)(stop - space - 1));
        s = stop + 1;
    }
    file_unmap(&f);
    return true;
}

// The elements of a value, read from a file at an offset.
static bool read_tensor(Arena *a, const char *path, int64_t offset, const Value *v, Tensor *to,
                        Diag *d)
{
    Value constant = *v;
    File f;

    if (!file_map(path, &f, d))
        return false;
    bool fits = offset + value_bytes(v) <= (int64_t)f.size;
    constant.data = fits ? f.data + offset : NULL;
    if (fits)
        *to = tensor_of(a, &constant);
    else
        diag_error(d, "%s has too few bytes for '%s'", path, v->name);
    file_unmap(&f);
    return fits;
}

static bool read_input(const Inputs *in, const Value *v, Tensor *to, Diag *d)
{
    for (int i = 0; i < in->n; i++)
        if (!strcmp(in->input[i].name, v->name))
            return read_tensor(in->a, arena_string(in->a, "%s/%s", in->folder, in->input[i].file),
                               0, v, to, d);
    diag_error(d, "no file for input '%s'", v->name);
    return false;
}

static bool read_weight(const Inputs *in, const char *model, const Weights *w, const Value *v,
                        Tensor *to, Diag *d)
{
    Value constant = *v;

    for (int i = 0; i < w->n; i++) {
        if (strcmp(w->weight[i].name, v->name))
            continue;
        if (w->weight[i].path)
            return read_tensor(in->a, model, w->weight[i].offset, v, to, d);
        constant.data = w->weight[i].data;
        *to = tensor_of(in->a, &constant);
        return true;
    }
    diag_error(d, "no bytes for '%s'", v->name);
    return false;
}

static bool write_output(Arena *a, const char *folder, const Graph *g, int i, const Tensor *t,
                         Diag *d)
{
    const Value *v = value_of(g, g->outputs[i].value);
    FILE *f = fopen(arena_string(a, "%s/out%d", folder, i), "wb");
    size_t n = (size_t)value_bytes(v);
    bool is_own = v->own_rank >= 0;

    bool ok = f && fwrite(tensor_pack(a, t), 1, n, f) == n && !fclose(f);
    if (!ok)
        diag_error(d, "can't write output %d", i);
    printf("%s", dtype_name(v->dtype));
    for (int k = 0; k < (is_own ? v->own_rank : v->rank); k++)
        printf(" %" PRId64, is_own ? v->own_dim[k] : v->dim[k]);
    printf("\n");
    return ok;
}

static bool evaluate(Inputs *in, const Options *o, Compiled *made, Diag *d)
{
    const Graph *g = made->predict;
    Tensor *value = arena_array(in->a, Tensor, g->n_values + 1);
    bool ok = read_list(in, d);

    for (ValueId v = 1; ok && v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->kind == VALUE_INPUT)
            ok = read_input(in, x, &value[v], d);
        else if (x->kind == VALUE_PARAMETER || x->kind == VALUE_BUFFER)
            ok = read_weight(in, o->request.input, &made->weights, x, &value[v], d);
    }
    if (!ok)
        return false;
    graph_eval(in->a, g, value);
    for (int i = 0; i < g->n_outputs && ok; i++)
        if (g->outputs[i].role == OUTPUT_MODEL)
            ok = write_output(in->a, in->folder, g, i, &value[g->outputs[i].value], d);
    return ok;
}

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Options o;
    Compiled made;
    int status = EXIT_OPTION;

    if (argc != 3 || !options_read(a, 2, argv, &o, &status))
        return status;
    Inputs in = {.a = a, .folder = argv[2]};
    Diag d = {.file = o.request.input};
    if (!open_model(a, &o, &d))
        return EXIT_USER;
    CompileStatus compiled = compile_graphs(a, &o.request, &made, &d);
    if (compiled)
        status = exit_status_of(compiled);
    else
        status = evaluate(&in, &o, &made, &d) ? 0 : EXIT_INTERNAL;
    arena_free(a);
    return status;
}
