// Training steps of the tiny models: their numbers, and their results on one rank.
#ifndef SHARDCC_TESTS_LOWER_MODELS_H
#define SHARDCC_TESTS_LOWER_MODELS_H

#include <math.h>
#include <string.h>

#include "frontend/frontend.h"
#include "tests/ir/sample.h"
#include "tests/lower/plans.h"

// Meshes whose axes divide no size evenly.
static const struct {
    int n_axes, size[MAX_AXES];
} meshes[] = {{1, {2}}, {1, {3}},    {2, {2, 2}}, {1, {4}},      {2, {2, 3}},
              {1, {6}}, {2, {2, 4}}, {1, {8}},    {3, {2, 2, 2}}};

static const struct {
    const char *name, *optimizer;
    int accumulate;
} models[] = {
    {"bert", "adamw", 1},
    {"cnn", "sgd(momentum=0.9)", 1},
    {"encoder", "sgd", 2},
    {"gpt2", "adamw", 1},
    {"gpt_dropout", "adamw", 2},
    {"llama", "sgd(momentum=0.9)", 1},
    {"lstm", "adamw", 1},
    {"mixer", "sgd", 1},
    {"mlp", "lamb", 2},
    {"mobilenet", "adamw", 1},
    {"nanogpt", "adagrad", 1},
    {"opt", "adamw", 1},
    {"qwen3", "adamw", 1},
    {"regress", "sgd", 1},
    {"resnet", "sgd(momentum=0.9)", 1},
    {"vit", "adamw", 1},
};

// A training step, and its values on one rank.
typedef struct Model {
    const char *name;
    bool is_smooth;  // are its updates proportional to the gradients?
    Arena *arena;
    Graph *g;
    Tensor *value;
} Model;

static inline Graph *training_graph(Arena *a, const char *name, const char *optimizer,
                                    int accumulate)
{
    Diag *d = arena_array(a, Diag, 1);
    const char *folder = accumulate > 1 ? "tiny_dynamic" : "tiny", *bind = "batch=4";
    const char *path = arena_string(a, "models/%s/%s.onnx", folder, name);
    const char *loss =
        strcmp(name, "regress") ? "cross_entropy(logits, labels)" : "mse(logits, labels)";
    d->file = path;
    ImportOptions o = {.model = model_open(a, path, d),
                       .bind = &bind,
                       .n_bind = accumulate > 1,
                       .accumulate = accumulate,
                       .training = true};
    OptimizerOptions update = {.text = optimizer, .clip_norm = 1};
    Weights w;

    Graph *g = o.model ? frontend_import(a, &o, &w, d) : NULL;
    if (!g)
        return NULL;
    g->diag = d;
    bool ok = fold(g, d) && loss_add(g, loss, d) && patterns(g, d) && guards(g, d) && means(g, d) &&
              refine(g, d) && simplify(g, d) && blocks(g, d) && autodiff(g, accumulate, d) &&
              clip_add(g, d) && optimizer_add(g, &update, d) && graph_verify(g, d);
    return ok ? g : NULL;
}

// The number of the labels' classes: the last dim of the model's output.
static inline int64_t count_classes(const Graph *g)
{
    const Value *y = value_of(g, g->outputs[0].value);

    return y->rank ? y->dim[y->rank - 1] : 2;
}

static inline Tensor model_numbers(Arena *a, const Graph *g, ValueId id, Dice *d)
{
    const Value *v = value_of(g, id);
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    int64_t bound = input_range(g, id).bound, count = tensor_count(&t);

    if (!bound)
        bound = v->name && !strcmp(v->name, "labels") ? count_classes(g) : 2;
    for (int64_t i = 0; i < count; i++) {
        if (t.f)
            t.f[i] = (roll(d, 2001) - 1000) * (v->kind == VALUE_PARAMETER ? 2e-4 : 1e-3);
        else
            t.i[i] = roll(d, (int)bound);
    }
    tensor_round(&t);
    return t;
}

static inline Model model_new(int i)
{
    Model m = {.name = models[i].name,
               .is_smooth = !strncmp(models[i].optimizer, "sgd", 3),
               .arena = arena_new()};
    Dice d = {7};

    m.g = training_graph(m.arena, m.name, models[i].optimizer, models[i].accumulate);
    assert_non_null(m.g);
    m.value = arena_array(m.arena, Tensor, m.g->n_values);
    for (ValueId v = 1; v < m.g->n_values; v++) {
        ValueKind kind = value_of(m.g, v)->kind;
        if (kind == VALUE_INPUT || kind == VALUE_PARAMETER || kind == VALUE_BUFFER)
            m.value[v] = model_numbers(m.arena, m.g, v, &d);
    }
    graph_eval(m.arena, m.g, m.value);
    return m;
}

// ---- comparing ----

static inline double norm(const Tensor *t)
{
    double sum = 0;

    for (int64_t i = 0; i < tensor_count(t); i++)
        sum += t->f[i] * t->f[i];
    return sqrt(sum);
}

static inline double distance(const Tensor *a, const Tensor *b)
{
    double sum = 0;

    for (int64_t i = 0; i < tensor_count(a); i++)
        sum += (a->f[i] - b->f[i]) * (a->f[i] - b->f[i]);
    return sqrt(sum);
}

static inline double largest(double a, double b) { return a > b || a != a ? a : b; }

// The loss, given the tensors of the graph's outputs.
static inline double loss_of(const Graph *g, const Tensor *output)
{
    double loss = 1;

    for (int i = 0; i < g->n_outputs; i++) {
        if (g->outputs[i].role == OUTPUT_LOSS_SUM)
            loss *= output[i].f[0];
        if (g->outputs[i].role == OUTPUT_LOSS_COUNT)
            loss /= output[i].f[0];
    }
    return loss;
}

// The relative distance between `got` and `want`. It is 0 where `want` is negligible compared with
// `most`: the gradients of attention keys' biases, for example, consist of rounding errors.
static inline double error_of(const Tensor *got, const Tensor *want, double most)
{
    double size = norm(want);

    return size < 1e-6 * most ? 0 : distance(got, want) / size;
}

// The norm of the largest gradient, for error_of's `most`.
static inline double largest_gradient(const Model *m)
{
    double most = 0;

    for (int i = 0; i < m->g->n_outputs; i++)
        if (m->g->outputs[i].role == OUTPUT_GRADIENT)
            most = fmax(most, norm(&m->value[m->g->outputs[i].value]));
    return most;
}

// The test's command line: TEST [N [MODEL]].
typedef struct Asked {
    int plans;          // of each model; 0: the test's default
    const char *model;  // NULL: all
} Asked;

static inline Asked asked_of(int argc, char **argv)
{
    return (Asked){argc > 1 ? atoi(argv[1]) : 0, argc > 2 ? argv[2] : NULL};
}

static inline bool is_asked(const Asked *a, int model)
{
    return !a->model || !strcmp(a->model, models[model].name);
}

#endif
