// Tries options that need less memory: twice the micro-batches, and one rank more. What doesn't
// compile so is passed over: a batch that can't be split, a cluster without another device. The
// figures are those of programs that were made.
#include "driver/suggest.h"

// A trial of other options.
typedef struct Trial {
    Arena *a;
    Options o;
    Cluster c;
    const char *words;  // the options that differ
    Diag d;
} Trial;

static const char *mesh_text(Arena *a, const Mesh *m)
{
    Text t = {0};

    mesh_print(m, &t);
    const char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

// Gives the trial a mesh, and names it if the ranks can form another one too.
static void take_mesh(Trial *t, const Mesh *m, bool is_only)
{
    t->o.mesh = mesh_text(t->a, m);
    if (!is_only)
        t->words = arena_string(t->a, "%s --mesh %s", t->words, t->o.mesh);
}

// The ranks keep the mesh of the smallest plan.
static bool double_micro_batches(Trial *t, const Program *refused)
{
    const Sharded *s = refused->set[SET_PREDICT].sharded;
    const Mesh *mesh;

    t->o.accumulate *= 2;
    t->words = arena_string(t->a, "--accumulate %d", t->o.accumulate);
    if (s && !t->o.mesh)
        take_mesh(t, &s->plan->mesh, mesh_shapes(t->a, &t->c, t->o.ranks, &mesh, &t->d) == 1);
    return t->o.accumulate <= MAX_ACCUMULATE;
}

// Finds a mesh of a number of ranks, with as few axes as there can be: it is the fastest to search.
static bool find_mesh(Trial *t)
{
    const Mesh *mesh, *least;
    int n = mesh_shapes(t->a, &t->c, t->o.ranks, &mesh, &t->d);

    least = mesh;
    for (int i = 1; i < n; i++)
        least = mesh[i].n_axes < least->n_axes ? &mesh[i] : least;
    if (n)
        take_mesh(t, least, n == 1);
    return n;
}

// Adds a rank. If the ranks' mesh is given, its first axis grows.
static bool add_rank(Trial *t)
{
    Mesh m;

    if (!t->o.mesh || !mesh_read(t->a, t->o.mesh, &m, &t->d)) {
        t->o.ranks = t->o.ranks ? t->o.ranks + 1 : 2;
        t->words = arena_string(t->a, "--ranks %d", t->o.ranks);
        return t->o.ranks <= MAX_MESH_RANKS && open_cluster(t->a, &t->o, &t->c) && find_mesh(t);
    }
    m.size[0]++;
    t->o.ranks = mesh_ranks(&m);
    t->words = arena_string(t->a, "--ranks %d", t->o.ranks);
    take_mesh(t, &m, false);
    return t->o.ranks <= MAX_MESH_RANKS && open_cluster(t->a, &t->o, &t->c);
}

static void say(Trial *t, const Made *refused, Diag *d)
{
    int64_t memory = t->o.memory ? t->o.memory : (int64_t)t->c.memory, bytes;
    Graphs g;
    Made m;

    if (!passes_run(t->a, &t->o, &g, &t->d) ||
        !make_small(t->a, &t->o, &t->c, &g, refused->place, &m, &t->d))
        return;
    bytes = m.program->arena_bytes;
    if (bytes < refused->program->arena_bytes)
        diag_note(d, "with %s it would take %" PRId64 " bytes (%s), %s", t->words, bytes,
                  bytes_text(t->a, (double)bytes),
                  bytes <= memory ? "which fits" : "still too much");
}

void suggest_options(const Options *o, const Graphs *g, const Made *refused, Diag *d)
{
    bool may_split = g->train && !o->is_accumulate_chosen && !has_batch_statistics(g->train);

    for (int i = 0; i < 2 && !o->plan; i++) {
        Text said = {0};
        Trial t = {.a = arena_new(), .o = *o, .d = {.file = d->file, .to = &said}};
        bool is_ready = !needs_cluster(o) || open_cluster(t.a, o, &t.c);
        if (is_ready && (i ? !runs_chain(o) && add_rank(&t)
                           : may_split && double_micro_batches(&t, refused->program)))
            say(&t, refused, d);
        text_free(&said);
        arena_free(t.a);
    }
}
