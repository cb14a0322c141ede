// Tries options that need less memory: twice the micro-batches, and one rank more. What doesn't
// compile so is passed over: a batch that can't be split, a cluster without another device. The
// figures are those of programs that were made.
#include "driver/suggest.h"

// A trial of other options.
typedef struct Trial {
    Arena *a;
    Options o;
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
    t->o.request.mesh = mesh_text(t->a, m);
    if (!is_only)
        t->words = arena_string(t->a, "%s --mesh %s", t->words, t->o.request.mesh);
}

// The ranks keep the mesh of the smallest plan.
static bool double_micro_batches(Trial *t, const Program *refused)
{
    const Sharded *s = refused->set[SET_PREDICT].sharded;
    const Mesh *mesh;

    t->o.request.accumulate *= 2;
    t->words = arena_string(t->a, "--accumulate %d", t->o.request.accumulate);
    if (s && !t->o.request.mesh)
        take_mesh(t, &s->plan->mesh,
                  mesh_shapes(t->a, t->o.request.cluster, t->o.request.ranks, &mesh, &t->d) == 1);
    return t->o.request.accumulate <= MAX_ACCUMULATE;
}

// Finds a mesh of a number of ranks, with as few axes as there can be: it is the fastest to search.
static bool find_mesh(Trial *t)
{
    const Mesh *mesh, *least;
    int n = mesh_shapes(t->a, t->o.request.cluster, t->o.request.ranks, &mesh, &t->d);

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

    if (!t->o.request.mesh || !mesh_read(t->a, t->o.request.mesh, &m, &t->d)) {
        t->o.request.ranks = t->o.request.ranks ? t->o.request.ranks + 1 : 2;
        t->words = arena_string(t->a, "--ranks %d", t->o.request.ranks);
        return t->o.request.ranks <= MAX_MESH_RANKS &&
               open_cluster(t->a, &t->o, t->o.request.ranks) && find_mesh(t);
    }
    m.size[0]++;
    t->o.request.ranks = mesh_ranks(&m);
    t->words = arena_string(t->a, "--ranks %d", t->o.request.ranks);
    take_mesh(t, &m, false);
    return t->o.request.ranks <= MAX_MESH_RANKS && open_cluster(t->a, &t->o, t->o.request.ranks);
}

// The bytes of a rank that a program on the mesh may take. 0: nothing limits it.
static int64_t memory_of(const CompileRequest *r, const Mesh *m)
{
    if (r->memory || !r->cluster)
        return r->memory;
    ExchangeMemory e = exchange_memory_of(r->target, r->cluster);
    return mesh_memory_left(m, &e, (int64_t)r->cluster->memory);
}

static void say(Trial *t, const Compiled *refused, Diag *d)
{
    int64_t bytes;
    Compiled m;

    if (compile_graphs(t->a, &t->o.request, &m, &t->d) ||
        !compile_small(t->a, &t->o.request, refused->index, &m, &t->d))
        return;
    bytes = m.program->arena_bytes;
    if (bytes < refused->program->arena_bytes)
        diag_note(d, "with %s it would take %" PRId64 " bytes (%s), %s", t->words, bytes,
                  bytes_text(t->a, (double)bytes),
                  bytes <= memory_of(&t->o.request, &m.plan.planned.plan.mesh) ? "which fits"
                                                                               : "still too much");
}

void suggest_options(const Options *o, const Compiled *refused, Diag *d)
{
    bool may_split =
        refused->train && !o->is_accumulate_chosen && !has_batch_statistics(refused->train);

    for (int i = 0; i < 2 && !o->request.plan; i++) {
        Text said = {0};
        Trial t = {.a = arena_new(), .o = *o, .d = {.file = d->file, .to = &said}};
        if (i ? !request_runs_chain(&o->request) && add_rank(&t)
              : may_split && double_micro_batches(&t, refused->program))
            say(&t, refused, d);
        text_free(&said);
        arena_free(t.a);
    }
}
