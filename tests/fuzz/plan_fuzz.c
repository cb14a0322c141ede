// Fuzzes plan files: any bytes are refused with messages, or are printed as an equivalent text.
// The plan is then read for a small graph, which refuses it or gets a valid plan.
#include <stdlib.h>
#include <string.h>

#include "analyzer/sharding/plan_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] = "graph \"two\" training {\n"
                           "  class 1 \"h\" 2\n"
                           "  input %x f32[4,6]\n"
                           "  parameter %h.0.w f32[6,6] block 1.0.0\n"
                           "  parameter %h.1.w f32[6,6] block 1.1.0\n"
                           "  parameter %u f32[6,2,3] own [6,6]\n"
                           "  %a f32[4,6] = dot(%x, %h.0.w) eq=\"mk,kn->mn\" block 1.0.0\n"
                           "  %c f32[4,6] = dot(%a, %h.1.w) eq=\"mk,kn->mn\" block 1.1.0\n"
                           "  %y f32[4,2,3] = dot(%c, %u) eq=\"mk,kab->mab\"\n"
                           "  %g f32[6,2,3] = dot(%c, %y) eq=\"mk,mab->kab\" backward\n"
                           "  %v f32[6,2,3] = sub(%u, %g) update\n"
                           "  output gradient \"u\" %g\n"
                           "  carry step %u %v\n}\n";

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void look(Arena *a, const PlanFile *f, Diag *d)
{
    Text t = {0}, again = {0};
    PlanFile copy;

    plan_file_print(f, &t);
    promise(plan_file_parse(a, t.s, t.n, &copy, d));
    plan_file_print(&copy, &again);
    promise(!strcmp(t.s, again.s));
    text_free(&t);
    text_free(&again);
}

// Reads the plan for the small graph, with the hashes corrected.
static void fit(Arena *a, PlanFile *f, Diag *d)
{
    Graph *g = graph_parse(a, text, strlen(text), d);
    PlanPins pins;
    Cluster c;
    Plan p;

    promise(g && cluster_open(a, "h100x8", 8, &c, NULL));
    f->model_hash = graph_hash(g);
    f->cluster_hash = cluster_hash(&c);
    bool ok = plan_file_check(f, g, &c, d) && plan_file_read(a, f, g, &c, &p, &pins, d);
    promise(d->errors == 0 ? ok : !ok);
    promise(!ok || pins.n_values || pins.n_nodes || plan_check(g, &p, d));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    PlanFile f;

    bool ok = plan_file_parse(a, (const char *)data, size, &f, &d);
    promise(d.errors == !ok);
    if (ok) {
        look(a, &f, &d);
        fit(a, &f, &d);
    }
    text_free(&messages);
    arena_free(a);
    return 0;
}
