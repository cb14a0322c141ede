// Opens a model: maps the file, checks its wire format, unpacks it with protobuf-c, and checks its
// versions.
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

// Checks and unpacks a model's bytes. NULL after an error.
const Onnx__ModelProto *model_unpack(Arena *a, const uint8_t *data, size_t size, Diag *d)
{
    Text reduced = {0};
    ProtobufCAllocator alloc = {arena_unpack, arena_keep, a};
    const Onnx__ModelProto *m = NULL;

    if (wire_reduce(data, size, &reduced, d)) {
        m = onnx__model_proto__unpack(&alloc, reduced.n, (const uint8_t *)reduced.s);
        if (!m)
            diag_error(d, "not an ONNX model, or damaged");
    }
    text_free(&reduced);
    return m && check_versions(m, d) ? m : NULL;
}

ModelFile *model_open(Arena *a, const char *path, Diag *d)
{
    ModelFile *f = arena_array(a, ModelFile, 1);

    *f = (ModelFile){.path = arena_string(a, "%s", path)};
    if (!file_map(path, &f->file, d))
        return NULL;
    f->model = model_unpack(a, f->file.data, f->file.size, d);
    if (f->model)
        return f;
    model_close(f);
    return NULL;
}

const char *model_path(const ModelFile *f) { return f ? f->path : NULL; }

void model_close(ModelFile *f)
{
    if (f)
        file_unmap(&f->file);
}
