// Judges random nets, and shrinks the recipes of those whose programs are wrong.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/nets/hunt.h"

static const char usage[] =
    "nets [--count N] [--seed S] [--first I] [--ranks N [--processes]] [--fast] [--no-shrink] "
    "[--recipe TEXT]\n"
    "     [--wide] [--varied] [--halves] [--cc TEXT] [--state FILE]\n"
    "Judges random nets I to I + N - 1 of seed S. --fast: their programs aren't compiled.\n"
    "--ranks: their programs of 2 to N ranks; --processes: compiled, a process for each rank.\n"
    "--recipe: that net alone, and its text.\n"
    "--wide: one dim of each is longer than vectors and warps.\n"
    "--varied: options by parameter, more outputs, summed and tied parameters, masks.\n"
    "--halves: their products compute in bf16 or f16; ranks may add gradients up in bf16.\n"
    "--cc: the compiler, " QUICK_CC " if none is given.\n"
    "--state: what is done stands there after every 40 nets; the same command goes on from it.\n";

typedef struct Ask {
    int64_t count, first;
    uint64_t seed;
    Hunt hunt;
    bool keeps, is_wide, is_varied, is_half;  // keeps: no shrinking
    const char *recipe, *state;
} Ask;

static bool read_options(int argc, char **argv, Ask *a)
{
    bool is_compiled = false;

    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--fast"))
            a->hunt.is_whole = false;
        else if (!strcmp(argv[i], "--processes"))
            is_compiled = true;
        else if (!strcmp(argv[i], "--no-shrink"))
            a->keeps = true;
        else if (!strcmp(argv[i], "--wide"))
            a->is_wide = true;
        else if (!strcmp(argv[i], "--varied"))
            a->is_varied = true;
        else if (!strcmp(argv[i], "--halves"))
            a->is_half = true;
        else if (!next)
            return false;
        else if (!strcmp(argv[i], "--count"))
            a->count = atoll(argv[++i]);
        else if (!strcmp(argv[i], "--seed"))
            a->seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--first"))
            a->first = atoll(argv[++i]);
        else if (!strcmp(argv[i], "--ranks")) {
            a->hunt.ranks = atoi(argv[++i]);
            a->hunt.is_whole = false;
        } else if (!strcmp(argv[i], "--cc"))
            a->hunt.cc = argv[++i];
        else if (!strcmp(argv[i], "--state"))
            a->state = argv[++i];
        else if (!strcmp(argv[i], "--recipe"))
            a->recipe = argv[++i];
        else
            return false;
    }
    a->hunt.is_whole = a->hunt.is_whole || is_compiled;
    return true;
}

static void print_graph(const Recipe *r)
{
    Arena *a = arena_new();
    Diag d = {.file = "net"};
    Text t = {0};
    Graph *g = net_graph(a, r, true, &d);

    if (g)
        graph_print(g, &t);
    printf("  --loss '%s' --optimizer '%s' --clip-norm %g --accumulate %d%s, again %d\n%s",
           recipe_loss(r), recipe_optimizer(r), recipe_clip(r), recipe_accumulate(r),
           r->plain ? " --no-fuse" : "", r->again, t.n ? t.s : "");
    text_free(&t);
    arena_free(a);
}

static void print_find(const Ask *a, int64_t number, const Recipe *r, Verdict v)
{
    Recipe small = *r;
    Text t = {0};

    printf("%" PRId64 ": %s: %s\n", number, outcome_names[v.outcome], v.what);
    fflush(stdout);
    if (!a->keeps) {
        small = recipe_shrink(r, &a->hunt, &v);
        printf("  shrunk: %s\n", v.what);
    }
    recipe_print(&small, &t);
    printf("  --recipe '%s'\n", t.s);
    if (!a->keeps)
        print_graph(&small);
    text_free(&t);
    fflush(stdout);
}

typedef struct Tally {
    int64_t done, outcome[N_OUTCOMES], compared, skipped, loops, chains;
    double slowest;  // processor seconds of passes, planning and lowering, the better of two tries
    int64_t slowest_of;
} Tally;

// The time of a net that is slower than all before; it is tried once more.
static void note_time(const Ask *a, int64_t number, const Recipe *r, double seconds, Tally *t)
{
    Verdict again = {0};

    if (seconds <= t->slowest)
        return;
    hunt_one(&a->hunt, r, &again);
    seconds = again.seconds > 0 && again.seconds < seconds ? again.seconds : seconds;
    if (seconds > t->slowest) {
        t->slowest = seconds;
        t->slowest_of = number;
    }
}

// ---- sittings ----

static bool read_state(const Ask *a, Tally *t)
{
    FILE *f = a->state ? fopen(a->state, "r") : NULL;
    bool ok = true;

    if (!f)
        return true;
    ok = fscanf(f, "%" SCNd64, &t->done) == 1;
    for (int i = 0; i < N_OUTCOMES && ok; i++)
        ok = fscanf(f, "%" SCNd64, &t->outcome[i]) == 1;
    ok = ok && fscanf(f, "%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64 "%lf%" SCNd64, &t->compared,
                      &t->skipped, &t->loops, &t->chains, &t->slowest, &t->slowest_of) == 6;
    fclose(f);
    return ok;
}

static void write_state(const Ask *a, const Tally *t)
{
    char path[512];
    FILE *f;

    if (!a->state || snprintf(path, sizeof path, "%s.new", a->state) >= (int)sizeof path ||
        !(f = fopen(path, "w")))
        return;
    fprintf(f, "%" PRId64, t->done);
    for (int i = 0; i < N_OUTCOMES; i++)
        fprintf(f, " %" PRId64, t->outcome[i]);
    fprintf(f, "\n%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %.3f %" PRId64 "\n", t->compared,
            t->skipped, t->loops, t->chains, t->slowest, t->slowest_of);
    if (!fclose(f))
        rename(path, a->state);
}

// ---- nets ----

static void judge_batch(const Ask *a, int64_t from, int n, Tally *t)
{
    Recipe *r = calloc((size_t)n, sizeof *r);
    Verdict *v = calloc((size_t)n, sizeof *v);

    for (int i = 0; i < n; i++) {
        r[i] = recipe_draw(a->seed * UINT64_C(1000000007) + (uint64_t)(from + i));
        if (a->is_wide)
            recipe_widen(&r[i]);
        if (a->is_varied)
            recipe_vary(&r[i]);
        if (a->is_half)
            recipe_halve(&r[i]);
    }
    hunt_many(&a->hunt, r, n, v);
    for (int i = 0; i < n; i++) {
        t->outcome[v[i].outcome]++;
        t->compared += v[i].compared;
        t->skipped += v[i].skipped;
        t->loops += v[i].classes > 0;
        t->chains += v[i].stages;
        note_time(a, from + i, &r[i], v[i].seconds, t);
        if (v[i].outcome > NO_NET)
            print_find(a, from + i, &r[i], v[i]);
    }
    t->done += n;
    write_state(a, t);
    free(r);
    free(v);
}

static void print_tally(const Tally *t)
{
    for (int i = 0; i < N_OUTCOMES; i++)
        printf("%s%s: %" PRId64, i ? ", " : "", outcome_names[i], t->outcome[i]);
    printf("\n%" PRId64 " gradients compared with differences, %" PRId64
           " skipped at kinks; %" PRId64 " programs with loops, %" PRId64 " chains\n",
           t->compared, t->skipped, t->loops, t->chains);
    if (t->slowest > 0)
        printf("slowest: net %" PRId64
               ", %.2f s of the processor for passes, planning and lowering\n",
               t->slowest_of, t->slowest);
}

static int judge_recipe(const Ask *a)
{
    Recipe r;
    Verdict v = {0};

    if (!recipe_parse(a->recipe, &r)) {
        fprintf(stderr, "nets: not a recipe: %s\n", a->recipe);
        return 2;
    }
    print_graph(&r);
    hunt_one(&a->hunt, &r, &v);
    printf("%s: %s\n", outcome_names[v.outcome], v.what);
    return v.outcome > NO_NET;
}

int main(int argc, char **argv)
{
    enum { BATCH = 40 };
    char dir[] = "/tmp/nets.XXXXXX";
    Ask a = {.count = 100, .seed = 1, .hunt = {.is_whole = true, .dir = dir, .cc = QUICK_CC}};
    Tally t = {0};
    int status = 0;

    if (!read_options(argc, argv, &a)) {
        fputs(usage, stderr);
        return 2;
    }
    if (!mkdtemp(dir))
        return 1;
    if (a.recipe) {
        status = judge_recipe(&a);
    } else {
        if (!read_state(&a, &t)) {
            fprintf(stderr, "nets: %s is no state\n", a.state);
            return 2;
        }
        for (int64_t i = t.done; i < a.count; i += BATCH)
            judge_batch(&a, a.first + i, (int)(a.count - i < BATCH ? a.count - i : BATCH), &t);
        print_tally(&t);
        for (int i = NO_NET + 1; i < N_OUTCOMES; i++)
            status |= t.outcome[i] > 0;
    }
    rmdir(dir);
    return status;
}
