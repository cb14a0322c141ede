// Prints the trainer's text: head, offsets, functions, tables, main.
#include <string.h>

#include "analyzer/sharding/plan_file.h"
#include "generator/offset_names.h"
#include "generator/sizes.h"
#include "generator/target_text.h"
#include "runtime/rt_workspace.h"

// Prints the options as comment lines, broken before an option.
static void print_options(const char *s, Text *t)
{
    int column = 5;

    text_printf(t, "//  ");
    while (*s) {
        const char *next = strstr(s + 1, " --");
        size_t n = next ? (size_t)(next - s) : strlen(s);
        if (column + (int)n > COLUMNS && column > 5) {
            text_printf(t, "\n//     ");
            column = 8;
        }
        text_printf(t, "%s%.*s", *s == ' ' ? "" : " ", (int)n, s);
        column += (int)n;
        s += n;
    }
    text_printf(t, "\n");
}

static void print_origin(const Gen *g, Text *t)
{
    text_printf(t, "// Made by shardcc. Changes here are lost when it is made again.\n");
    print_options(g->o->options, t);
    text_printf(t, "//   plan: %s\n//\n", g->o->plan);
}

static void print_head(const Gen *g, Text *t)
{
    const char *fused = g->target->kernels_head ? "" : "fused functions, ";

    print_origin(g, t);
    text_printf(t,
                "// micro is forward and backward of one micro-batch, reduce completes the "
                "gradients, update is the\n// optimizer, forward only predicts. They come "
                "first, after the names of offsets in memory;\n// %sthe "
                "tables of tensors and the live ranges of buffers follow.\n",
                fused);
    text_printf(t, "#include <math.h>\n#include <stddef.h>\n\n#include \"%s\"\n\n",
                g->target->header);
}

// Declares a list of names, separated by commas.
static void print_names(const Gen *g, const char *type, const Text *names, Text *t)
{
    if (names->n && type)
        print_wrapped(t, 0, arena_string(g->arena, "static %s%s;", type, names->s + 1));
}

static void put(Text *t, const Text *part) { text_put(t, part->s ? part->s : "", part->n); }

static void print_kernel_numbers(const Gen *g, Text *t)
{
    List l = {.t = t, .indent = 4, .between = ",", .end = ""};

    for (int i = 0; i < g->n_kernels; i++) {
        if (!i) {
            text_printf(t, "// Kernels that init prepares, each after the first result that it "
                           "makes.\nenum {");
            l.column = (int)strlen("enum {");
        }
        list_add(&l, 0, g->kernel[i]);
    }
    if (g->n_kernels)
        text_printf(t, l.column + (int)strlen(" };") > COLUMNS ? "\n};\n" : " };\n");
}

// Declares the offsets, and the fused functions, which come below their callers.
static void print_declarations(Gen *g, Text *t)
{
    generate_sizes(g, t);
    text_printf(
        t, "// Offsets of values in the arena, in bytes from its start `m`; where layers repeat, "
           "of layer 0.\n// OUT is the result of a module, D_ a gradient, D_ and IN the "
           "gradient of its input. RECOMPUTED_\n// is made again in the backward part. "
           "F_ is for forward alone. Values that aren't needed together\n// share bytes.\n");
    generate_offsets(g, t);
    print_kernel_numbers(g, t);
    text_printf(t, "\n");
    for (int i = 0; i < 2; i++)
        print_names(g, g->target->group_type[i], g->group_names[i], t);
    put(t, g->operands);
    text_printf(t, "\n");
}

// The output that finds labels out of range; NULL: the loss has no labels.
static const Output *find_bad_label(const Program *p)
{
    for (int i = 0; i < N_SETS; i++)
        for (int k = 0; p->set[i].g && k < p->set[i].g->n_outputs; k++)
            if (p->set[i].g->outputs[k].role == OUTPUT_BAD_LABEL)
                return &p->set[i].g->outputs[k];
    return NULL;
}

static int count_functions(const Program *p, Timing timing, const char **name)
{
    int n = 0;

    for (int i = 0; i < N_SETS; i++)
        for (int k = 0; k < p->set[i].n_functions; k++)
            if (p->set[i].functions[k].timing == timing) {
                *name = p->set[i].functions[k].name;
                n++;
            }
    return n;
}

// A model has one function of each timing. Where the program has several, one that calls them in
// their order is added.
static void print_callers(const Gen *g, Text *t)
{
    const char *name;

    for (Timing timing = 0; timing < N_TIMINGS; timing++) {
        if (count_functions(g->p, timing, &name) < 2)
            continue;
        text_printf(t, "static void every_%s(Rt *rt, char *m)\n{\n", timing_name(timing));
        for (int i = 0; i < N_SETS; i++)
            for (int k = 0; k < g->p->set[i].n_functions; k++)
                if (g->p->set[i].functions[k].timing == timing)
                    text_printf(t, "    %s(rt, m);\n", g->p->set[i].functions[k].name);
        text_printf(t, "}\n\n");
    }
}

static void print_calls(const Program *p, Text *t)
{
    const char *name = NULL;

    for (Timing timing = 0; timing < N_TIMINGS; timing++) {
        int n = count_functions(p, timing, &name);
        if (n)
            text_printf(t, "    .%s = %s%s,\n", timing_name(timing), n > 1 ? "every_" : "",
                        n > 1 ? timing_name(timing) : name);
    }
}

// The most bytes that a call takes in memory of the host: its operands, each at a multiple of 64,
// and its messages.
static int64_t exchange_bytes(const Program *p)
{
    int64_t most = 0;

    for (int k = 0; k < N_SETS; k++)
        for (int i = 0; i < p->set[k].n_items; i++) {
            const Set *s = &p->set[k];
            const Item *it = &s->items[i];
            if (it->kind != ITEM_KERNEL || !s->g->nodes[it->nodes[0]].op->exchange)
                continue;
            int64_t bytes =
                rt_exchange_workspace(&it->call.kernel.params.exchange, it->call.kernel.ranks);
            for (int j = 0; j < it->n_in + it->n_out; j++)
                bytes += (value_bytes(value_of(s->g, it->operands[j].value)) + 63) / 64 * 64;
            most = bytes > most ? bytes : most;
        }
    return most;
}

// The names of the repeated blocks, which RT_AT counts from 1.
static void print_blocks(const Gen *g, Text *t)
{
    const Graph *train = g->p->set[SET_TRAIN].g;

    if (!train || train->n_classes < 2)
        return;
    text_printf(t, "    .blocks = (const char *const[]){");
    for (int c = 1; c < train->n_classes; c++) {
        text_printf(t, "%s", c > 1 ? ",\n        " : "");
        print_string(t, printable_text(g->arena, class_key(g->arena, train, c)), 8);
    }
    text_printf(t, "},\n");
}

// `identity`: a hash of the text that computes.
static void print_model(const Gen *g, uint64_t identity, Text *t)
{
    const Program *p = g->p;
    const Graph *train = p->set[SET_TRAIN].g;

    if (g->target->image)
        text_printf(t, "%s\n", g->target->image);
    text_printf(t, "static const RtModel model = {\n    .name = ");
    print_string(t, g->o->name, 12);
    text_printf(t, ",\n    .options = ");
    print_string(t, g->o->options, 15);
    text_printf(t, ",\n    .plan = ");
    print_string(t, g->o->plan, 12);
    if (p->plan_hash)
        text_printf(t, ",\n    .plan_hash = 0x%016" PRIx64, p->plan_hash);
    text_printf(t, ",\n    .arena_bytes = %" PRId64 ",\n", p->arena_bytes);
    if (p->n_slots)
        text_printf(t, "    .slots = %d,\n", p->n_slots);
    if (g->target->collectives.table && g->o->transport)
        text_printf(t, "    .exchange_bytes = %" PRId64 ",\n", exchange_bytes(p));
    text_printf(
        t,
        "    .n_kernels = %d,\n    .threads = %d,\n    .accumulate = %d,\n    .init_std = %.9g,\n",
        g->n_kernels, p->target->threads, p->accumulate, g->o->init_std);
    text_printf(t, "    .flops = %.17g,\n    .vocabulary = %" PRId64 ",\n",
                p->set[train ? SET_TRAIN : SET_PREDICT].flops, g->o->vocabulary);
    DType half = (DType)precision_of(p->set[train ? SET_TRAIN : SET_PREDICT].g).half;
    if (half)
        text_printf(t, "    .precision = \"%s\",\n", dtype_name(half));
    if (g->o->peak > 0)
        text_printf(t, "    .peak = %.9g,\n", g->o->peak);
    const Output *bad_label = find_bad_label(p);
    if (bad_label)
        text_printf(t, "    .ignores = true,\n    .ignored_label = %" PRId64 ",\n",
                    bad_label->ignored);
    print_mesh(g, t);
    print_blocks(g, t);
    text_printf(t, "    .device = &%s,\n", g->target->device);
    if (g->target->image)
        text_printf(t, "    .kernels = rt_kernels,\n    .kernels_for = \"%s\",\n", g->o->gpus);
    text_printf(t, "    .redzone = %d,\n    .live_ranges = live_ranges,\n", REDZONE);
    if (p->tensors.n)
        text_printf(t, "    .tensors = tensors,\n"
                       "    .n_tensors = sizeof tensors / sizeof *tensors,\n");
    if (train)
        text_printf(t, "    .train = train_tensors,\n"
                       "    .n_train = sizeof train_tensors / sizeof *train_tensors,\n");
    if (p->set[SET_PREDICT].g)
        text_printf(t, "    .predict = predict_tensors,\n"
                       "    .n_predict = sizeof predict_tensors / sizeof *predict_tensors,\n");
    text_printf(t, "    .init = init,\n");
    print_calls(p, t);
    text_printf(t, "    .identity = 0x%016" PRIx64 ",\n", identity);
    text_printf(t, "};\n\nint main(int argc, char **argv)\n{\n");
    if (g->target->main_begin)
        text_printf(t, "    %s\n", g->target->main_begin);
    text_printf(t, "    return rt_main(&model, argc, argv);\n}\n");
}

// Selects the set to print. False if the program doesn't have it.
static bool select_set(Gen *g, int set)
{
    g->set = set;
    g->s = &g->p->set[set];
    if (g->s->g) {
        g->symbolic = NULL;
        g->expr = arena_array(g->arena, const char *, g->s->g->n_nodes);
    }
    return g->s->g;
}

static void print_program(Gen *g, Text *t)
{
    print_head(g, t);
    size_t head = t->n;
    print_declarations(g, t);
    put(t, g->bodies);
    if (!g->target->kernels_head)
        put(t, g->groups);
    text_printf(t, "static void init(Rt *rt)\n{\n%s%s}\n\n", g->init->n ? "" : "    (void)rt;\n",
                g->init->s ? g->init->s : "");
    print_callers(g, t);
    generate_cuts(g, t);
    put(t, g->tables);
    put(t, g->live_ranges);
    uint64_t identity = hash_bytes(g->groups->s, g->groups->n, 0);
    print_model(g, hash_bytes(t->s + head, t->n - head, identity), t);
}

static void print_kernels(Gen *g, Text *t)
{
    if (!g->target->kernels_head)
        return;
    print_origin(g, t);
    text_printf(t, "%s", g->target->kernels_head);
    put(t, g->groups);
}

enum { N_TEXTS = 8 };

void texts_free(ProgramTexts *t)
{
    text_free(&t->c);
    text_free(&t->kernels);
}

bool generate_check(const Program *p, const GenerateOptions *o, Diag *d)
{
    const TargetText *t = target_text(p->target);

    return !t->check_gpus || t->check_gpus(p, o->gpus, d);
}

void generate_texts(const Program *p, const GenerateOptions *o, ProgramTexts *t)
{
    Text part[N_TEXTS] = {{0}};
    Gen g = {.p = p,
             .o = o,
             .target = target_text(p->target),
             .bodies = &part[0],
             .groups = &part[1],
             .init = &part[2],
             .tables = &part[3],
             .live_ranges = &part[4],
             .group_names = {&part[5], &part[6]},
             .operands = &part[7]};

    g.arena = g.offsets.arena = g.kernels.arena = g.functions.arena = arena_new();
    g.identifiers.known.arena = g.identifiers.ends.arena = g.identifiers.taken.arena = g.arena;
    find_offset_names(&g);
    for (int set = 0; set < N_SETS; set++)
        if (select_set(&g, set))
            g.target->make_functions(&g);
    g.target->print_functions(&g);
    for (int set = 0; set < N_SETS; set++)
        if (select_set(&g, set))
            generate_functions(&g);
    generate_tensors(&g);
    generate_live_ranges(&g);
    print_program(&g, &t->c);
    print_kernels(&g, &t->kernels);
    for (int i = 0; i < N_TEXTS; i++)
        text_free(&part[i]);
    arena_free(g.arena);
}
