// Imports a model of a file or of bytes.
#include "frontend/internal.h"

// Imports a model of which other graphs may be made too: tensors that it lacks are added to a copy
// of its graph.
static Graph *import(Arena *a, Import *x, const Onnx__ModelProto *shared, Weights *w)
{
    Onnx__ModelProto model = *shared;
    Onnx__GraphProto graph = *shared->graph;
    int errors = x->diag->errors;

    model.graph = &graph;
    x->model = &model;
    x->arena = a;
    x->scratch = arena_new();
    Graph *g = import_model(x, w);
    arena_free(x->scratch);
    return x->diag->errors == errors ? g : NULL;
}

Graph *import_bytes(Arena *a, const uint8_t *data, size_t size, const ImportOptions *o, Weights *w,
                    Diag *d)
{
    Arena *own = arena_new();
    const Onnx__ModelProto *m = model_unpack(own, data, size, d);
    Import x = {.o = o, .diag = d, .data = data, .size = size};
    Graph *g = m ? import(a, &x, m, w) : NULL;

    arena_free(own);
    return g;
}

Graph *frontend_import(Arena *a, const ImportOptions *o, Weights *w, Diag *d)
{
    const ModelFile *f = o->model;
    Import x = {.o = o, .diag = d, .data = f->file.data, .size = f->file.size};

    return import(a, &x, f->model, w);
}
