// Judges many nets, each in a process of its own that may crash, and compiles their programs.
#include "tests/nets/hunt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/rt_model.h"

bool subject_of(const Recipe *r, Arena *a, Subject *s, Diag *d)
{
    *s = (Subject){.train = net_graph(r, true, a, d),
                   .predict = net_graph(r, false, a, d),
                   .loss = recipe_loss(r),
                   .optimizer = recipe_optimizer(r),
                   .clip = recipe_clip(r),
                   .accumulate = recipe_accumulate(r),
                   .plain = r->plain,
                   .again = r->again,
                   .numbers = r->numbers};
    if (!s->train || !s->predict)
        return false;
    const Value *y = value_of(s->train, s->train->outputs[0].value);
    s->classes = y->rank ? y->dim[y->rank - 1] : 0;
    return true;
}

// Compares messages without their numbers and names.
bool verdict_is_alike(const Verdict *a, const Verdict *b)
{
    const char *x = a->what, *y = b->what;

    if (a->outcome != b->outcome)
        return false;
    if (a->outcome != REFUSED && a->outcome != WRONG_CHECK)
        return true;
    x = strrchr(x, ':');
    y = strrchr(y, ':');
    return x && y ? !strncmp(x, y, 12) : !x && !y;
}

// ---- one net in one process ----

static void judge_here(const Recipe *r, const Task *t, Verdict *v)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "net", .to = &said};
    Subject s;

    if (subject_of(r, a, &s, &d))
        judge(&s, t, v);
    else
        verdict_wrong(v, NO_NET, "%.*s", said.n ? (int)strcspn(said.s, "\n") : 0,
                      said.n ? said.s : "");
    text_free(&said);
    arena_free(a);
}

typedef struct Job {
    const Hunt *h;
    const Recipe *r;
    int n;
    Verdict *v;  // shared by the processes
} Job;

static const char *path_of(const Hunt *h, int i, const char *end, char *to)
{
    snprintf(to, 256, "%s/net%d%s", h->dir, i, end);
    return to;
}

// Judges net i's items, and writes its C text if programs are compiled.
static void first_look(const Job *j, int i)
{
    char path[256], name[32];
    Text c = {0};
    Diag d = {.file = "net"};

    snprintf(name, sizeof name, "net%d", i);
    Task t = {.name = name, .c = j->h->is_whole ? &c : NULL, .ranks = j->h->ranks};

    judge_here(&j->r[i], &t, &j->v[i]);
    if (j->h->is_whole && !j->v[i].outcome)
        out_write(path_of(j->h, i, ".c", path), c.s, c.n, &d);
    text_free(&c);
}

// Judges the compiled program of net i.
static void second_look(const Job *j, int i)
{
    char path[256], name[32];
    void *handle = dlopen(path_of(j->h, 0, ".so", path), RTLD_NOW);

    snprintf(name, sizeof name, "net%d", i);
    const RtModel *(*model)(void) = handle ? (const RtModel *(*)(void))dlsym(handle, name) : NULL;
    if (!model) {
        verdict_wrong(&j->v[i], CRASHED, "%s", handle ? "no such net" : dlerror());
        return;
    }
    judge_here(&j->r[i], &(Task){.name = name, .model = model(), .is_fast = true}, &j->v[i]);
}

// Calls `look` for all nets that are right so far, in other processes. Where one crashes, the next
// process continues with the following net.
static void look_at_all(const Job *j, void (*look)(const Job *j, int i))
{
    volatile int *at =
        mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    for (*at = 0; *at < j->n; (*at)++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            if (!getenv("NETS_LOUD"))
                freopen("/dev/null", "w", stderr);
            for (; *at < j->n; (*at)++) {
                alarm(120);  // for each net: sanitized programs are slow
                if (!j->v[*at].outcome)
                    look(j, *at);
            }
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status && *at < j->n)
            verdict_wrong(&j->v[*at], CRASHED, "signal %d, status %d", WTERMSIG(status),
                          WEXITSTATUS(status));
    }
    munmap((void *)at, sizeof *at);
}

// ---- compiled programs ----

static bool compile(const Job *j)
{
    Text t = {0};
    int n = 0;

    text_printf(&t,
                "%s -std=c11 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math "
                "-fopenmp-simd -Iruntime -Drt_gradient=nets_gradient -shared -fPIC -o %s/net0.so",
                j->h->cc, j->h->dir);
    for (int i = 0; i < j->n; i++)
        if (!j->v[i].outcome) {
            text_printf(&t, " %s/net%d.c", j->h->dir, i);
            n++;
        }
    bool ok = !n || !system(t.s);
    text_free(&t);
    return ok;
}

static void remove_all(const Job *j)
{
    char path[256];

    for (int i = 0; i < j->n; i++)
        unlink(path_of(j->h, i, ".c", path));
    unlink(path_of(j->h, 0, ".so", path));
}

void hunt_many(const Hunt *h, const Recipe *r, int n, Verdict *v)
{
    size_t bytes = sizeof *v * (size_t)n;
    Job j = {h, r, n, mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};

    look_at_all(&j, first_look);
    if (h->is_whole) {
        if (compile(&j))
            look_at_all(&j, second_look);
        else
            for (int i = 0; i < n; i++)
                verdict_wrong(&j.v[i], WRONG_C, "it doesn't compile, or its neighbours don't");
        remove_all(&j);
    }
    memcpy(v, j.v, bytes);
    munmap(j.v, bytes);
}

void hunt_one(const Hunt *h, const Recipe *r, Verdict *v) { hunt_many(h, r, 1, v); }
