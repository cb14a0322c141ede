// The one piece of memory that a model works in.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/internal.h"

static int by_start(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (x[0] > y[0]) - (x[0] < y[0]);
}

// Lists what must not be filled with NaN between two steps.
static void list_kept(RtArena *a, const RtModel *m)
{
    unsigned kept =
        1u << RT_PARAMETER | 1u << RT_BUFFER | 1u << RT_STATE | 1u << RT_CONSTANT | 1u << RT_HYPER;
    RtEntries e = rt_entries(m->tensors, m->n_tensors, kept, a->base);

    a->kept = rt_alloc((size_t)e.n, sizeof *a->kept);
    a->n_kept = e.n;
    for (int i = 0; i < e.n; i++) {
        a->kept[i][0] = (char *)e.item[i].data - a->base;
        a->kept[i][1] = a->kept[i][0] + e.item[i].bytes;
    }
    qsort(a->kept, (size_t)e.n, sizeof *a->kept, by_start);
    rt_entries_free(&e);
}

bool rt_arena_open(RtArena *a, const RtModel *m, bool is_checked)
{
    size_t bytes = m->arena_bytes > 0 ? (size_t)m->arena_bytes : 1;

    *a = (RtArena){.bytes = m->arena_bytes, .is_checked = is_checked};
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return rt_error(m, "no memory for the arena of %.1f MiB: %s", (double)bytes / (1 << 20),
                        strerror(errno));
    // Fewer misses of the address cache; no harm where the system declines.
    madvise(p, bytes, MADV_HUGEPAGE);
    a->base = p;
    if (is_checked)
        list_kept(a, m);
    return true;
}

void rt_arena_close(RtArena *a)
{
    if (a->base)
        munmap(a->base, a->bytes > 0 ? (size_t)a->bytes : 1);
    free(a->kept);
    *a = (RtArena){0};
}

// Bytes of all ones are NaN in every float, and -1 or the largest number in the others.
void rt_arena_poison(RtArena *a)
{
    int64_t at = 0;

    if (!a->is_checked)
        return;
    for (int i = 0; i < a->n_kept; i++) {
        if (a->kept[i][0] > at)
            memset(a->base + at, 0xff, (size_t)(a->kept[i][0] - at));
        at = a->kept[i][1] > at ? a->kept[i][1] : at;
    }
    memset(a->base + at, 0xff, (size_t)(a->bytes - at));
}

// The tensor that ends last before `offset`: the likeliest to have run over.
static void neighbour(const RtModel *m, int64_t offset, char *to, size_t room)
{
    const struct {
        const RtTensor *t;
        int n;
    } sets[] = {{m->tensors, m->n_tensors}, {m->train, m->n_train}, {m->predict, m->n_predict}};
    int64_t best = -1;

    to[0] = 0;
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < sets[s].n; i++) {
            const RtTensor *t = &sets[s].t[i];
            int64_t end = t->offset + (rt_layers(t) - 1) * t->step + rt_bytes(t);

            if (end <= offset && end > best) {
                best = end;
                rt_tensor_print(t, to, room);
            }
        }
}

// The first byte of [from, from + n) that was written; -1 if none was.
static int64_t first_written(const RtArena *a, int64_t from, int64_t n)
{
    for (int64_t i = from; i < from + n && i < a->bytes; i++)
        if ((unsigned char)a->base[i] != 0xff)
            return i;
    return -1;
}

bool rt_arena_check(const RtArena *a, const RtModel *m)
{
    for (int i = 0; i < m->n_tensors && a->is_checked; i++) {
        const RtTensor *t = &m->tensors[i];
        int64_t end = t->offset + (rt_layers(t) - 1) * t->step + rt_bytes(t);
        int64_t at = first_written(a, (end + 63) / 64 * 64, m->redzone);
        char name[200];

        if (at < 0)
            continue;
        neighbour(m, at, name, sizeof name);
        return rt_error(m,
                        "arena: byte %lld, which belongs to nothing, was written; "
                        "the tensor before it: %s",
                        (long long)at, name[0] ? name : "none");
    }
    return true;
}
