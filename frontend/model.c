// Loads a model: maps the file, checks its wire format, unpacks it with protobuf-c into the arena,
// and checks its versions.
#include "frontend/internal.h"

static void *arena_unpack(void *arena, size_t size) { return arena_alloc(arena, 1, size); }

static void arena_keep(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

static bool check_versions(const Onnx__ModelProto *m, Diag *d)
{
    int64_t opset = 0;

    if (!m->graph) {
        diag_error(d, "the file holds no graph");
        return false;
    }
    if (!m->has_ir_version || m->ir_version < FIRST_IR || m->ir_version > LAST_IR) {
        diag_error(d, "IR version %" PRId64 " is not supported, only %d to %d are", m->ir_version,
                   FIRST_IR, LAST_IR);
        return false;
    }
    for (size_t i = 0; i < m->n_opset_import; i++) {
        const char *domain = m->opset_import[i]->domain;
        if (!domain || !*domain || !strcmp(domain, "ai.onnx"))
            opset = m->opset_import[i]->version;
    }
    if (opset < FIRST_OPSET || opset > LAST_OPSET) {
        diag_error(d, "operator set version %" PRId64 " is not supported, only %d to %d are", opset,
                   FIRST_OPSET, LAST_OPSET);
        return false;
    }
    return true;
}

Graph *import_bytes(Arena *a, const uint8_t *data, size_t size, const ImportOptions *o, Weights *w,
                    Diag *d)
{
    Text reduced = {0};
    Graph *g = NULL;
    Arena *scratch = arena_new();
    ProtobufCAllocator alloc = {arena_unpack, arena_keep, scratch};
    int errors = d->errors;

    if (wire_reduce(data, size, &reduced, d)) {
        Import x = {.arena = a, .scratch = scratch, .o = o, .diag = d, .data = data, .size = size};
        x.model = onnx__model_proto__unpack(&alloc, reduced.n, (const uint8_t *)reduced.s);
        if (!x.model)
            diag_error(d, "not an ONNX model, or damaged");
        else if (check_versions(x.model, d))
            g = import_model(&x, w);
    }
    text_free(&reduced);
    arena_free(scratch);
    return d->errors == errors ? g : NULL;
}

// The file stays mapped as long as the process lives, because weights are copied from it at the
// end.
Graph *frontend_import(Arena *a, const ImportOptions *o, Weights *w, Diag *d)
{
    File file;

    if (!file_map(o->path, &file, d))
        return NULL;
    Graph *g = import_bytes(a, file.data, file.size, o, w, d);
    if (!g)
        file_unmap(&file);
    return g;
}
