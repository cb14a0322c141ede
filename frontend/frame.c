// Looks up names: of a graph, of the subgraphs in it, and of function calls.
#include "frontend/internal.h"

bool frame_open(Import *x, Frame *f, const Frame *outer, const Onnx__FunctionProto *function,
                const Op *call)
{
    *f = (Frame){.arena = arena_new(), .outer = outer, .function = function, .call = call};
    f->names.arena = f->arena;
    const Frame *parent = call ? call->frame : outer;
    f->depth = parent ? parent->depth + 1 : 1;
    f->n_opset = function ? function->n_opset_import : x->model->n_opset_import;
    f->opset = function ? function->opset_import : x->model->opset_import;
    if (outer && !function) {  // the body of an If or a Loop inside a function
        f->function = outer->function;
        f->call = outer->call;
        f->n_opset = outer->n_opset;
        f->opset = outer->opset;
    }
    if (f->depth > MAX_NESTING) {
        diag_error(x->diag, "subgraphs and functions are nested more than %d deep", MAX_NESTING);
        return false;
    }
    return true;
}

void frame_close(Frame *f)
{
    arena_free(f->arena);
    f->arena = NULL;
}

Symbol *frame_define(Import *x, Frame *f, const char *name)
{
    x->named += (int64_t)strlen(name) + LOOKUP_BYTES;
    if (map_get(&f->names, name)) {
        diag_error(x->diag, "'%.200s' is defined twice", name);
        return NULL;
    }
    if (!f->n_symbols)
        (void)arena_push(f->arena, f->symbols, f->n_symbols, f->cap_symbols);
    map_set(&f->names, name, f->n_symbols);
    Symbol *symbol = arena_push(f->arena, f->symbols, f->n_symbols, f->cap_symbols);
    *symbol = (Symbol){0};
    return symbol;
}

static Symbol *look_up(Import *x, const Frame *f, const char *name)
{
    x->named += (int64_t)strlen(name) + LOOKUP_BYTES;
    for (; f; f = f->outer) {
        int32_t i = map_get(&f->names, name);
        if (i)
            return &f->symbols[i];
    }
    return NULL;
}

Symbol *frame_find(Import *x, const Frame *f, const char *name)
{
    Symbol *symbol = look_up(x, f, name);

    if (symbol && symbol->initializer && !symbol->value) {
        symbol->value = params_value(x, symbol->initializer);
        symbol->failed = !symbol->value;
        symbol->initializer = NULL;
    }
    return symbol;
}

bool frame_find_numbers(Import *x, const Frame *f, const char *name, Symbol *to)
{
    const Symbol *symbol = look_up(x, f, name);

    if (!symbol)
        return false;
    *to = *symbol;
    if (symbol->initializer && !symbol->value) {
        ValueId v = literal_value(x, symbol->initializer, name);
        *to = (Symbol){.value = v, .failed = !v};
    }
    return true;
}

bool frame_initializers(Import *x, Frame *f, const Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        const char *name = g->initializer[i]->name;
        if (!name || !*name) {
            diag_error(x->diag, "initializer %zu has no name", i);
            return false;
        }
        Symbol *symbol = frame_define(x, f, name);
        if (!symbol)
            return false;
        symbol->initializer = g->initializer[i];
    }
    return true;
}

char **names_of(Arena *a, size_t n, Onnx__ValueInfoProto **v)
{
    char **name = arena_array(a, char *, n + 1);

    for (size_t i = 0; i < n; i++)
        name[i] = v[i]->name ? v[i]->name : "";
    return name;
}
