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
}

static double mib(int64_t bytes) { return (double)bytes / (1 << 20); }

// The most bytes that gradients take at once. With early updates each gradient is dropped when it
// has been used.
static int64_t gradient_bytes(const Program *p, const Set *s)
{
    bool *is_one = arena_array(p->arena, bool, p->n_buffers);

    for (int i = 0; i < s->g->n_outputs; i++)
        if (s->g->outputs[i].role == OUTPUT_GRADIENT)
            is_one[s->storage[s->g->outputs[i].value].buffer] = true;
    return program_peak_bytes(p, (int)(s - p->set), is_one, NULL);
}

void report_program(const Program *p)
{
    int set = p->set[SET_TRAIN].g ? SET_TRAIN : SET_PREDICT, fullest;
    const Set *s = &p->set[set];
    int64_t by[N_VALUE_KINDS] = {0}, persistent = 0, workspace = 0;
    int64_t gradients = gradient_bytes(p, s);

    program_peak_bytes(p, set, NULL, &fullest);
    for (int i = 1; i < p->n_buffers; i++) {
        const Buffer *b = &p->buffers[i];
        if (b->kind == BUFFER_WORKSPACE && buffer_is_live(b, set, fullest))
            workspace += b->bytes;
        if (b->kind != BUFFER_PERSISTENT)
            continue;
        by[buffer_value(p, b)->kind] += b->bytes;
        persistent += b->bytes;
    }
    int64_t other_bytes = p->arena_bytes - persistent - workspace - gradients;
    printf("%-13s ", set == SET_TRAIN ? "step" : "forward");
    print_count(s->flops, "FLOP");
    printf("; arena %.1f MiB, %.1f wasted: parameters %.1f, gradients %.1f, optimizer %.1f, "
           "activations %.1f, workspace %.1f\n",
           mib(p->arena_bytes), mib(p->arena_bytes - p->bound),
           mib(by[VALUE_PARAMETER] + by[VALUE_BUFFER]), mib(gradients), mib(by[VALUE_STATE]),
           mib(other_bytes > 0 ? other_bytes : 0), mib(workspace));
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
