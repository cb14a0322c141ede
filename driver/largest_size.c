// Finds the largest size of a dim with which a program fits, by compiling with some of its sizes.
#include "driver/largest_size.h"

typedef struct Trial {
    int64_t size;
    int64_t bytes;  // of the arena; 0: with this size there is no program
    bool fits;
} Trial;

// Sizes are first + step * i. With micro-batches only their multiples may compile.
typedef struct Search {
    Arena *a;
    const Options *o;
    int64_t first, step, n;
    Trial *trial;  // sorted by size
    int n_trials, cap_trials;
    Diag *d;
} Search;

// ---- one size ----

static Strings bound_to(Arena *a, const Options *o, int64_t size)
{
    Strings bind = {0};

    for (int i = 0; i < o->request.bind.n; i++)
        *arena_push(a, bind.s, bind.n, bind.cap) = o->request.bind.s[i];
    *arena_push(a, bind.s, bind.n, bind.cap) = arena_string(a, "%s=%" PRId64, o->range.dim, size);
    return bind;
}

// Compiles with that size. Messages go to `said`.
static Trial compile_with(const Search *s, int64_t size, Text *said)
{
    Arena *a = arena_new();
    CompileRequest r = s->o->request;
    Diag d = {.file = s->d->file, .to = said};
    Trial t = {.size = size};
    Compiled made;

    r.bind = bound_to(a, s->o, size);
    if (compile_try(a, &r, &made, &t.fits, &d))
        t.bytes = made.program->arena_bytes;
    t.fits = t.fits && t.bytes <= r.memory;
    arena_free(a);
    return t;
}

static Trial try_size(Search *s, int64_t size)
{
    Text said = {0};
    int at = 0;

    while (at < s->n_trials && s->trial[at].size < size)
        at++;
    if (at < s->n_trials && s->trial[at].size == size)
        return s->trial[at];
    Trial t = compile_with(s, size, &said);
    text_free(&said);
    arena_push(s->a, s->trial, s->n_trials, s->cap_trials);
    for (int i = s->n_trials - 1; i > at; i--)
        s->trial[i] = s->trial[i - 1];
    return s->trial[at] = t;
}

static bool fits(Search *s, int64_t i) { return try_size(s, s->first + s->step * i).fits; }

// ---- many sizes ----

// Finds the first size that compiles, and the step to the next one. False, with the compiler's
// messages, if none of the first ones compiles. Several ranks or micro-batches may need more than
// the range begins with.
static bool find_steps(Search *s)
{
    const DimRange *r = &s->o->range;
    int64_t i = 0, last = r->last - r->first,
            tries = s->o->request.accumulate + s->o->request.ranks;
    Text said = {0};

    while (i < tries && i <= last && !try_size(s, r->first + i).bytes)
        i++;
    if (i == tries || i > last) {
        compile_with(s, r->first, &said);
        fprintf(stderr, "%s", said.s ? said.s : "");
        diag_note(s->d, "that is with %s=%" PRId64, r->dim, r->first);
        text_free(&said);
        return false;
    }
    s->first = r->first + i;
    bool is_next = i == last || s->o->request.accumulate == 1 || try_size(s, s->first + 1).bytes;
    s->step = is_next ? 1 : s->o->request.accumulate;
    s->n = (r->last - s->first) / s->step + 1;
    return true;
}

// Finds the largest i between the one that fits and the one that doesn't, if larger sizes need
// more bytes.
static int64_t bisect(Search *s, int64_t low, int64_t high)
{
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (fits(s, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

// The largest i that fits; -1: none does. Packings of buffers and choices of plans may make a
// larger size need fewer bytes. So sizes after the one found are tried too, and the search goes on
// from one that fits.
static int64_t find_largest(Search *s)
{
    enum { NEIGHBOURS = 4 };
    int64_t best = -1, low = -1;

    if (fits(s, s->n - 1))
        return s->n - 1;
    do {
        best = bisect(s, low, s->n - 1);
        low = -1;
        for (int64_t i = best + 2; i <= best + 1 + NEIGHBOURS && i < s->n; i++)
            low = fits(s, i) ? i : low;
    } while (low > best);
    return best;
}

// ---- output ----

static void print_trials(const Search *s)
{
    Arena *a = s->a;
    Columns c = {.arena = a, .n_columns = 4};

    columns_add_row(&c, (const char *[]){printable_text(a, s->o->range.dim), "arena", "", "fits"});
    for (int i = 0; i < s->n_trials; i++) {
        const Trial *t = &s->trial[i];
        bool is_there = t->bytes > 0;
        columns_add_row(&c, (const char *[]){arena_string(a, "%" PRId64, t->size),
                                             is_there ? arena_string(a, "%" PRId64, t->bytes) : "-",
                                             is_there ? bytes_text(a, (double)t->bytes) : "-",
                                             t->fits    ? "yes"
                                             : is_there ? "no"
                                                        : "can't be compiled"});
    }
    columns_print(&c);
}

static bool write_trials(const Search *s)
{
    Text t = {0};

    text_printf(&t, "size,bytes,fits\r\n");
    for (int i = 0; i < s->n_trials; i++) {
        const Trial *x = &s->trial[i];
        text_printf(&t, "%" PRId64 ",", x->size);
        if (x->bytes)
            text_printf(&t, "%" PRId64, x->bytes);
        text_printf(&t, ",%d\r\n", x->fits);
    }
    bool ok = out_write(s->o->csv, t.s, t.n, s->d);
    text_free(&t);
    return ok;
}

static int say_infeasible(const Search *s)
{
    const DimRange *r = &s->o->range;
    const Trial *least = &s->trial[0];

    for (int i = 1; i < s->n_trials; i++)
        if (s->trial[i].bytes && (!least->bytes || s->trial[i].bytes < least->bytes))
            least = &s->trial[i];
    diag_error(s->d,
               "nothing from %s=%" PRId64 " to %" PRId64 " fits in %" PRId64 " bytes: %s=%" PRId64
               " takes %" PRId64 " bytes",
               r->dim, r->first, r->last, s->o->request.memory, r->dim, least->size, least->bytes);
    return EXIT_INFEASIBLE;
}

int largest_size(Arena *a, const Options *o, Diag *d)
{
    Search s = {.a = a, .o = o, .d = d};

    if (!find_steps(&s))
        return EXIT_USER;
    int64_t best = find_largest(&s);
    print_trials(&s);
    if (o->csv && !write_trials(&s))
        return EXIT_USER;
    if (best < 0)
        return say_infeasible(&s);
    Trial t = try_size(&s, s.first + s.step * best);
    printf("%-13s %s=%" PRId64 ": %s of %s\n", "largest", printable_text(a, o->range.dim), t.size,
           bytes_text(a, (double)t.bytes), bytes_text(a, (double)o->request.memory));
    return 0;
}
