// The arena: small allocations share chunks, large ones have a chunk each.
//
// Small allocations are zeroed one by one, because much of a chunk may stay unused. A large one has
// its own chunk, so that a growing array can free its old one.
//
// Under the address sanitizer every allocation is followed by bytes that may not be read.
#include "base/base.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { GUARD = 16 };  // bytes after each allocation
#else
enum { GUARD = 0 };
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 16, MAX_CHUNK = 1 << 19, LARGE = 1 << 17 };  // bytes
// Bytes of an arena's first chunk. With its head it has 1024 bytes, a size that malloc caches: many
// arenas live for a moment only.
enum { FIRST_CHUNK = 992 };

typedef struct Chunk Chunk;
struct Chunk {
    Chunk *next, *prev;
    size_t used, size;
};

struct Arena {
    Chunk *small, *large;
    size_t next_size;
};

_Static_assert(sizeof(Chunk) % ALIGN == 0, "the bytes after a chunk's head are aligned");

void (*on_lack_of_memory)(void);

_Noreturn void lack_of_memory(void)
{
    if (on_lack_of_memory)
        on_lack_of_memory();
    abort();
}

static Chunk *chunk_put(Chunk **list, Chunk *c, size_t size)
{
    if (!c)
        lack_of_memory();
    *c = (Chunk){.next = *list, .size = size};
    if (*list)
        (*list)->prev = c;
    *list = c;
    return c;
}

Arena *arena_new(void)
{
    Arena *a = malloc(sizeof *a);

    if (!a)
        lack_of_memory();
    *a = (Arena){.next_size = FIRST_CHUNK};
    return a;
}

static void chunks_free(Chunk *c)
{
    while (c) {
        Chunk *next = c->next;
        free(c);
        c = next;
    }
}

void arena_free(Arena *a)
{
    if (!a)
        return;
    chunks_free(a->small);
    chunks_free(a->large);
    free(a);
}

static size_t bytes_taken(size_t count, size_t size)
{
    return (count * size + GUARD + ALIGN - 1) / ALIGN * ALIGN;
}

void *arena_alloc(Arena *a, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - ALIGN - GUARD) / size)
        lack_of_memory();
    size_t n = bytes_taken(count, size);
    if (n >= LARGE) {
        Chunk *large = n > SIZE_MAX - sizeof(Chunk) ? NULL : calloc(1, sizeof(Chunk) + n);
        large = chunk_put(&a->large, large, n);
        ASAN_POISON_MEMORY_REGION((char *)(large + 1) + count * size, n - count * size);
        return large + 1;
    }
    Chunk *c = a->small;
    if (!c || c->size - c->used < n) {
        while (a->next_size < n)
            a->next_size *= 2;
        c = chunk_put(&a->small, malloc(sizeof(Chunk) + a->next_size), a->next_size);
        ASAN_POISON_MEMORY_REGION(c + 1, c->size);
        if (a->next_size < MAX_CHUNK)
            a->next_size *= 2;
    }
    void *p = (char *)(c + 1) + c->used;
    c->used += n;
    ASAN_UNPOISON_MEMORY_REGION(p, count * size);
    return memset(p, 0, count * size);
}

void arena_drop(Arena *a, void *array, size_t count, size_t size)
{
    if (!array || bytes_taken(count, size) < LARGE)
        return;
    Chunk *c = (Chunk *)array - 1;
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        a->large = c->next;
    free(c);
}

void *arena_grow(Arena *a, void *array, int n, int *cap, size_t size)
{
    if (n < *cap)
        return array;
    if (*cap > INT_MAX / 2)
        lack_of_memory();
    int capacity = *cap ? 2 * *cap : 16;
    void *grown = arena_alloc(a, (size_t)capacity, size);
    if (n)
        memcpy(grown, array, (size_t)n * size);
    arena_drop(a, array, (size_t)*cap, size);
    *cap = capacity;
    return grown;
}

char *arena_copy(Arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1, 1);

    if (n)
        memcpy(copy, s, n);
    return copy;
}

char *arena_vstring(Arena *a, const char *fmt, va_list args)
{
    char mostly[128];
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(mostly, sizeof mostly, fmt, args);
    char *s = arena_alloc(a, n < 0 ? 1 : (size_t)n + 1, 1);
    if (n >= (int)sizeof mostly)
        vsnprintf(s, (size_t)n + 1, fmt, again);
    else if (n > 0)
        memcpy(s, mostly, (size_t)n);
    va_end(again);
    return s;
}

char *arena_string(Arena *a, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    char *s = arena_vstring(a, fmt, args);
    va_end(args);
    return s;
}
