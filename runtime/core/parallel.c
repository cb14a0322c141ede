// Shares work among threads of the host.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/core/core.h"

typedef struct Part {
    RtWork work;
    void *context;
    int64_t first, last;
} Part;

static void *run(void *part)
{
    const Part *p = part;

    p->work(p->context, p->first, p->last);
    return NULL;
}

void rt_parallel(int threads, int64_t n, RtWork work, void *context)
{
    Part *part = rt_alloc((size_t)threads, sizeof *part);
    pthread_t *thread = rt_alloc((size_t)threads, sizeof *thread);
    int started = 1;

    for (int i = 0; i < threads; i++)
        part[i] = (Part){work, context, n * i / threads, n * (i + 1) / threads};
    while (started < threads && !pthread_create(&thread[started], NULL, run, &part[started]))
        started++;
    run(&part[0]);
    for (int i = started; i < threads; i++)
        run(&part[i]);
    for (int i = 1; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    free(part);
}

enum { PAGE = 4096, HUGE_PAGE = 512 * PAGE };

static void back(void *memory, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        *((volatile char *)memory + i * PAGE) = 0;
}

void *rt_alloc_large(int threads, size_t bytes)
{
    size_t all = (bytes / HUGE_PAGE + 1) * HUGE_PAGE;
    void *p = aligned_alloc(HUGE_PAGE, all);

    if (p) {
        madvise(p, all, MADV_HUGEPAGE);
        rt_parallel(threads, (int64_t)(all / PAGE), back, p);
    }
    return p;
}
