// Prints what the user learns about a compilation.
#include "report/report.h"

#include <stdio.h>

// "12 parameters", "3.5 k parameters"; "12 FLOP", "3.5 kFLOP".
static void print_count(double n, const char *what)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    int u = 0;

    for (; n >= 1000 && u < COUNT(units) - 1; u++)
        n /= 1000;
    printf(u ? "%.1f %s%s" : "%.0f %s%s", n, units[u], what + (u == 0 && *what == ' '));
}

static void print_layers(const Graph *g)
{
    for (int c = 1; c < g->n_classes; c++) {
        int n = 0;
        for (NodeId i = 1; i < g->n_nodes; i++)
            n += g->nodes[i].block.cls == c && g->nodes[i].block.iter == 0 &&
                 g->nodes[i].phase == FORWARD;
        if (n)
            printf(", %d layers of %d operators", g->classes[c].length, n);
    }
}

// Says which products read halves, if any does.
static void print_precision(const Graph *g)
{
    Precision p = precision_of(g);

    if (!p.narrow)
        return;
    printf("%-13s %s: ", "precision", dtype_name((DType)p.half));
    if (p.narrow == p.products)
        printf("all products");
    else
        printf("%d of %d products", p.narrow, p.products);
    printf("; parameters, states, gradients f32");
    if (output_of_role(g, OUTPUT_LOSS_SCALE))
        printf("; the loss is scaled");
    printf("\n");
}

void report_model(const char *file, const Graph *g)
{
    double parameters = 0;

    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->kind == VALUE_PARAMETER)
            parameters += (double)value_count(value_of(g, v));
    printf("%-13s ", file);
    print_count(parameters, " parameters");
    print_layers(g);
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        Value own = *x;
        Text t = {0};
        if (x->kind != VALUE_INPUT)
            continue;
        if (x->own_rank >= 0) {
            own.rank = x->own_rank;
            for (int i = 0; i < own.rank; i++)
                own.dim[i] = x->own_dim[i];
        }
        value_print_type(&own, &t);
        Text name = {0};
        text_quote(&name, x->name);
        printf(", %.*s %s", (int)name.n - 2, name.s + 1, t.s);
        text_free(&name);
        text_free(&t);
    }
    printf("\n");
    print_precision(g);
}

void report_program(Arena *a, const Program *p)
{
    const Set *s = &p->set[p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT];
    PlanFile f = {0};
    Text parts = {0};

    plan_make_memory(a, &f, p);
    print_memory_parts(a, &f, &parts);
    printf("%-13s ", s->g->training ? "step" : "forward");
    print_count(s->flops, "FLOP");
    printf("; arena %s, %s wasted\n", bytes_text(a, (double)f.bytes),
           bytes_text(a, (double)(p->arena_bytes - p->bound)));
    printf("%-13s %s\n", "peak", parts.s);
    text_free(&parts);
}

void report_again(Arena *a, const Graph *g, const RecomputePolicy *p)
{
    PlanKeep *keep;
    int n = p->n_runs ? plan_keep_make(a, g, p, &keep) : 0;

    for (int i = 0; i < n; i++)
        printf("%-13s %s\n", i ? "" : "again", plan_keep_text(a, &keep[i]));
}

void report_stages(const Program *p)
{
    const Set *s = &p->set[SET_TRAIN];

    for (int i = 0; s->g && i < s->n_functions; i++) {
        const Calls *x = s->functions[i].calls;
        int n = 0;
        for (int k = 0, last = -1; x && k < x->n_calls; k++) {
            bool is_back = x->part[x->call[k].part].is_backward;
            int stage = is_back ? -1 : call_stage(x, &x->call[k]);
            n += stage >= 0 && stage != last;
            last = stage;
        }
        if (x)
            printf("%-13s %d, which run forward %d times\n", "stages", x->n_stages, n);
    }
}

void report_accumulate(int micro_batches)
{
    printf("%-13s %d micro-batch%s a step\n", "accumulate", micro_batches,
           micro_batches > 1 ? "es" : "");
}

char *plan_line(Arena *a, const Program *p)
{
    const Sharded *s = p->set[SET_PREDICT].sharded;
    const char *ranks = "1 rank";
    Text mesh = {0};

    if (s) {
        mesh_print(&s->plan->mesh, &mesh);
        ranks = arena_string(a, "%d ranks as %s", mesh_ranks(&s->plan->mesh), mesh.s);
        text_free(&mesh);
    }
    return arena_string(a, "%s, arena %" PRId64 " bytes, bound %" PRId64, ranks, p->arena_bytes,
                        p->bound);
}
