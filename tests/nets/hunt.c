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

bool subject_of(Arena *a, const Recipe *r, Subject *s, Diag *d)
{
    *s = (Subject){.train = net_graph(a, r, true, d),
                   .predict = net_graph(a, r, false, d),
                   .loss = recipe_loss(r),
                   .optimizer = recipe_optimizer(r),
                   .no_decay = recipe_no_decay(r),
                   .clip = recipe_clip(r),
                   .accumulate = recipe_accumulate(r),
                   .plain = r->plain,
                   .again = r->again,
                   .numbers = r->numbers,
                   .data = r->data,
                   .precision = recipe_precision(r),
                   .reduce = recipe_reduce(r)};
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

    if (subject_of(a, r, &s, &d))
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

// Judges net i's items, and writes its program's texts if programs are compiled.
static void first_look(const Job *j, int i)
{
    ProgramTexts t = {{0}, {0}};
    char path[256];
    Diag d = {.file = "net"};

    judge_here(&j->r[i], &(Task){.texts = j->h->is_whole ? &t : NULL, .ranks = j->h->ranks},
               &j->v[i]);
    if (j->h->is_whole && !j->v[i].outcome) {
        out_write(path_of(j->h, i, ".c", path), t.c.s, t.c.n, &d);
        if (t.kernels.n)
            out_write(path_of(j->h, i, ".cu", path), t.kernels.s, t.kernels.n, &d);
    }
    texts_free(&t);
}

// Judges the compiled program of net i.
static void second_look(const Job *j, int i)
{
    char path[256];
    void *handle = dlopen(path_of(j->h, i, ".c.so", path), RTLD_LAZY);
    const RtModel *(*model)(void) =
        handle ? (const RtModel *(*)(void))dlsym(handle, "the_model") : NULL;

    if (model)
        judge_here(&j->r[i], &(Task){.model = model(), .is_fast = true, .ranks = j->h->ranks},
                   &j->v[i]);
    else
        verdict_wrong(&j->v[i], WRONG_C, "it doesn't compile: %s", dlerror());
}

// Calls `look` for all nets that are right so far, each in a process of its own.
static void look_at_all(const Job *j, void (*look)(const Job *j, int i))
{
    for (int i = 0; i < j->n; i++) {
        int status = 0;
        if (j->v[i].outcome)
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            if (!getenv("NETS_LOUD"))
                freopen("/dev/null", "w", stderr);
            alarm(120);  // sanitized programs are slow
            look(j, i);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status)
            verdict_wrong(&j->v[i], CRASHED, "signal %d, status %d", WTERMSIG(status),
                          WEXITSTATUS(status));
    }
}

// ---- compiled programs ----

// Compiles all programs of the folder, several at a time. One that doesn't compile is missing
// afterwards.
static void compile(const Job *j)
{
    Text t = {0};

    text_printf(&t,
                "export NETS_CC='%s'; find %s -name '*.c' | sed 's/[.]c$//' | "
                "xargs -P $(nproc) -I FILE sh -c '%s'",
                j->h->cc, j->h->dir, nets_target.compile);
    if (system(t.s) == -1)
        perror("sh");
    text_free(&t);
}

static void remove_all(const Job *j)
{
    static const char *const ends[] = {".c", ".cu", ".o", ".cu.so", ".c.so"};
    char path[256];

    for (int i = 0; i < j->n; i++)
        for (int k = 0; k < COUNT(ends); k++)
            unlink(path_of(j->h, i, ends[k], path));
}

void hunt_many(const Hunt *h, const Recipe *r, int n, Verdict *v)
{
    size_t bytes = sizeof *v * (size_t)n;
    Job j = {h, r, n, mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};

    look_at_all(&j, first_look);
    if (h->is_whole) {
        compile(&j);
        look_at_all(&j, second_look);
        remove_all(&j);
    }
    memcpy(v, j.v, bytes);
    munmap(j.v, bytes);
}

void hunt_one(const Hunt *h, const Recipe *r, Verdict *v) { hunt_many(h, r, 1, v); }
