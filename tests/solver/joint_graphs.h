// Draws small training steps of three equal layers, and machines on which to plan them.
#ifndef SHARDCC_TESTS_SOLVER_JOINT_GRAPHS_H
#define SHARDCC_TESTS_SOLVER_JOINT_GRAPHS_H

#include <string.h>

#include "lower/lower.h"
#include "tests/lower/plans.h"

enum { LAYERS = 3 };

#define ONE_OF(dice, ...)                                                                          \
    (((const double[]){__VA_ARGS__})[roll(dice, COUNT(((const double[]){__VA_ARGS__})))])

// Is a claim true that holds in so many cases of a hundred?
static inline bool chance(Dice *d, int percent) { return roll(d, 100) < percent; }

// A training step, and what it runs on.
typedef struct Step {
    Graph *train, *predict;
    Source *source;  // by NodeId of train: the source that recomputation keeps
    Cluster cluster;
    Mesh mesh;
    const char *mesh_text;
    int64_t inner;  // a size of the layers' weights
} Step;

// The text of a layer. Its letters mean: X its input, Y its output, # its number, and M, K, N, the
// sizes of the batch, of what layers hand on, and of what is inside of them.
static const char *const layers[] = {
    // A layer that expands and contracts.
    "  parameter %u# f32[K,N]\n  parameter %w# f32[N,K]\n"
    "  %h# f32[M,N] = dot(%X, %u#) eq=\"mk,kn->mn\"\n"
    "  %a# f32[M,N] = tanh(%h#)\n"
    "  %Y f32[M,K] = dot(%a#, %w#) eq=\"mn,nk->mk\"\n",

    // The same with a residual.
    "  parameter %u# f32[K,N]\n  parameter %w# f32[N,K]\n"
    "  %h# f32[M,N] = dot(%X, %u#) eq=\"mk,kn->mn\"\n"
    "  %a# f32[M,N] = exp(%h#)\n"
    "  %y# f32[M,K] = dot(%a#, %w#) eq=\"mn,nk->mk\"\n"
    "  %Y f32[M,K] = add(%X, %y#)\n",

    // One weight and two elementwise nodes.
    "  parameter %u# f32[K,K]\n"
    "  %h# f32[M,K] = dot(%X, %u#) eq=\"mk,kn->mn\"\n"
    "  %a# f32[M,K] = tanh(%h#)\n"
    "  %Y f32[M,K] = mul(%a#, %X)\n",

    // Two activations.
    "  parameter %u# f32[K,N]\n  parameter %w# f32[N,K]\n"
    "  %h# f32[M,N] = dot(%X, %u#) eq=\"mk,kn->mn\"\n"
    "  %a# f32[M,N] = tanh(%h#)\n"
    "  %y# f32[M,K] = dot(%a#, %w#) eq=\"mn,nk->mk\"\n"
    "  %Y f32[M,K] = sin(%y#)\n",

    // A gated layer.
    "  parameter %u# f32[K,N]\n  parameter %v# f32[K,N]\n  parameter %w# f32[N,K]\n"
    "  %h# f32[M,N] = dot(%X, %u#) eq=\"mk,kn->mn\"\n"
    "  %g# f32[M,N] = dot(%X, %v#) eq=\"mk,kn->mn\"\n"
    "  %a# f32[M,N] = tanh(%g#)\n"
    "  %b# f32[M,N] = mul(%a#, %h#)\n"
    "  %Y f32[M,K] = dot(%b#, %w#) eq=\"mn,nk->mk\"\n",

    // Three products in a row.
    "  parameter %u# f32[K,N]\n  parameter %v# f32[N,N]\n  parameter %w# f32[N,K]\n"
    "  %h# f32[M,N] = dot(%X, %u#) eq=\"mk,kn->mn\"\n"
    "  %a# f32[M,N] = tanh(%h#)\n"
    "  %g# f32[M,N] = dot(%a#, %v#) eq=\"mk,kn->mn\"\n"
    "  %b# f32[M,N] = tanh(%g#)\n"
    "  %Y f32[M,K] = dot(%b#, %w#) eq=\"mn,nk->mk\"\n",
};

typedef struct Sizes {
    int m, k, n;
} Sizes;

static inline void put_layer(Text *t, const char *layer, int number, const char *to, Sizes s)
{
    for (const char *c = layer; *c; c++) {
        if (*c == 'X')
            text_printf(t, "x%d", number);
        else if (*c == 'Y')
            text_printf(t, "%s", to);
        else if (*c == '#')
            text_printf(t, "%d", number);
        else if (*c == 'M' || *c == 'K' || *c == 'N')
            text_printf(t, "%d", *c == 'M' ? s.m : *c == 'K' ? s.k : s.n);
        else
            text_put(t, c, 1);
    }
}

// The forward graph. A product before the layers makes the first one like the others: all of them
// give their input a gradient. Some graphs have one more product after them.
static inline Graph *draw_forward(Arena *a, Dice *r, int64_t *inner, Diag *d)
{
    const char *layer = layers[roll(r, COUNT(layers))];
    Sizes s = {(int)ONE_OF(r, 32, 48, 64, 96, 128, 256), (int)ONE_OF(r, 24, 40, 56),
               (int)ONE_OF(r, 36, 60, 80, 144)};
    bool has_head = chance(r, 40);
    Text t = {0};

    *inner = chance(r, 70) ? s.n : s.k;
    text_printf(
        &t,
        "graph \"joint\" training {\n  input %%x f32[%d,16]\n  parameter %%stem f32[16,%d]\n"
        "  %%x0 f32[%d,%d] = dot(%%x, %%stem) eq=\"mk,kn->mn\"\n",
        s.m, s.k, s.m, s.k);
    for (int i = 0; i < LAYERS; i++) {
        bool is_last = i + 1 == LAYERS && !has_head;
        put_layer(&t, layer, i, is_last ? "z" : arena_string(a, "x%d", i + 1), s);
    }
    if (has_head)
        text_printf(&t,
                    "  parameter %%head f32[%d,20]\n"
                    "  %%z f32[%d,20] = dot(%%x%d, %%head) eq=\"mk,kn->mn\"\n",
                    s.k, s.m, LAYERS);
    text_printf(&t, "  output model \"z\" %%z\n}\n");
    Graph *g = graph_parse(a, t.s, t.n, d);
    text_free(&t);
    return g;
}

// Gives all values names by which pins find them in the graph of every policy, and all nodes
// sources by which their repetitions are found.
static inline void name_all(Arena *a, Step *s)
{
    Graph *g = s->train;

    s->source = arena_array(a, Source, g->n_nodes);
    for (NodeId n = 1; n < g->n_nodes; n++) {
        s->source[n] = g->nodes[n].source ? *g->nodes[n].source : (Source){"node", ""};
        g->nodes[n].source = &s->source[n];
    }
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->producer || !value_of(g, v)->name)
            value_edit(g, v)->name = arena_string(a, "value%d", (int)v);
}

// A machine on which sharding pays, with links of any speed.
static inline Cluster draw_cluster(Arena *a, Dice *r, int ranks)
{
    double bandwidth = ONE_OF(r, 1e9, 3e9, 1e10), rate = ONE_OF(r, 1e9, 4e9, 2e10);
    Link *link = arena_array(a, Link, 2);
    bool has_levels = ranks == 4 && chance(r, 50);
    double beta = ONE_OF(r, 0.1, 0.3, 1, 3) / bandwidth;

    link[0] = (Link){.name = "near", .devices = has_levels ? 2 : ranks, .shared_by = 1};
    link[0].alpha = ONE_OF(r, 1e-6, 5e-6, 2e-5);
    link[0].beta = beta;
    link[0].overhead = chance(r, 50) ? beta / 4 : 0;
    link[1] = link[0];
    link[1].name = "far";
    link[1].devices = ranks;
    link[1].beta = 4 * beta;
    return (Cluster){.devices_per_host = ranks,
                     .threads = 1,
                     .memory = 1e12,
                     .bandwidth = bandwidth,
                     .read_bandwidth = bandwidth,
                     .launch = 1e-6,
                     .vector = rate,
                     .link = link,
                     .n_links = 1 + has_levels};
}

// Draws a step. Returns false if its layers don't become one class.
static inline bool draw_step(Arena *a, Dice *r, Step *s, Diag *d)
{
    static const char *const mesh[] = {"2", "3", "4", "2x2"};
    static const int ranks[] = {2, 3, 4, 4};
    // Predictions that take next to nothing: the bytes of a program are those of training.
    static const char predict[] = "graph \"joint\" {\n  input %x f32[2]\n"
                                  "  %z f32[2] = tanh(%x)\n  output model \"z\" %z\n}\n";
    const OptimizerOptions update = {.text = chance(r, 50) ? "sgd" : "sgd(momentum=0.9)"};
    int i = roll(r, COUNT(mesh));

    *s = (Step){.cluster = draw_cluster(a, r, ranks[i]), .mesh_text = mesh[i]};
    s->predict = graph_parse(a, predict, strlen(predict), d);
    s->train = draw_forward(a, r, &s->inner, d);
    bool ok = s->train && mesh_parse(a, &s->cluster, ranks[i], mesh[i], &s->mesh, d) &&
              loss_add(s->train, "mse(z, t)", d) && refine(s->train, d) && simplify(s->train, d) &&
              blocks(s->train, d) && autodiff(s->train, 1, d) &&
              optimizer_add(s->train, &update, d) && graph_verify(s->train, d);
    if (!ok)
        return false;
    name_all(a, s);
    return s->train->n_classes == 2 && s->train->classes[1].length == LAYERS;
}

#endif
