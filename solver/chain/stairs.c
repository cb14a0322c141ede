// The dynamic program on exact functions of the memory. They are stairs, whose points are kept as
// long as they are few. With one point each it finds the least memory.
#include "solver/chain/internal.h"

// The most points that are looked at before the exact functions are given up: about 50 ms.
enum { MAX_POINTS = 1 << 22 };

typedef struct Filler {
    ChainTable *t;
    int cap;
    int64_t n_points;  // that were looked at
    Stair sum, best, least;
    Arena *a;  // of the three stairs
} Filler;

// Adds a point to the right of the others. Returns false if there is no need of more.
static bool put_point(Filler *f, Stair *s, int64_t memory, double time)
{
    StairPoint *end = s->n ? &s->point[s->n - 1] : NULL;

    if (end && time >= end->time)
        return true;
    if (end && memory == end->memory) {
        end->time = time;
        return true;
    }
    if (s->n == f->cap || (s->n && memory > f->t->most))
        return false;
    *arena_push(f->a, s->point, s->n, s->cap) = (StairPoint){memory, time};
    return true;
}

// Sets `sum` to the time that the choice gives at every memory.
static void add_stairs(Filler *f, const Choice *c)
{
    const Stair *x = &f->t->stair[c->rest], *y = &f->t->stair[c->before];
    int i = 0, j = 0;
    int64_t memory = larger(c->need, larger(x->point[0].memory + c->held, y->point[0].memory));

    f->sum.n = 0;
    for (;;) {
        while (i + 1 < x->n && x->point[i + 1].memory + c->held <= memory)
            i++;
        while (j + 1 < y->n && y->point[j + 1].memory <= memory)
            j++;
        f->n_points++;
        if (!put_point(f, &f->sum, memory, c->time + x->point[i].time + y->point[j].time))
            return;
        int64_t next_x = i + 1 < x->n ? x->point[i + 1].memory + c->held : INT64_MAX,
                next_y = j + 1 < y->n ? y->point[j + 1].memory : INT64_MAX;
        memory = next_x < next_y ? next_x : next_y;
        if (memory == INT64_MAX)
            return;
    }
}

// Sets `best` to the least of it and `sum`.
static void take_least(Filler *f)
{
    const Stair *x = &f->best, *y = &f->sum;
    int i = 0, j = 0;

    f->least.n = 0;
    while (i < x->n || j < y->n) {
        f->n_points++;
        bool is_x = j == y->n || (i < x->n && x->point[i].memory <= y->point[j].memory);
        const StairPoint *p = is_x ? &x->point[i++] : &y->point[j++];
        if (!put_point(f, &f->least, p->memory, p->time))
            break;
    }
    Stair least = f->least;
    f->least = f->best;
    f->best = least;
}

static void fill_row(Arena *a, Filler *f, int row, Choice *choice)
{
    Subchain c = f->t->subchain[row];
    int n = list_choices(f->t, c.first, c.last, choice);
    Stair *to = &f->t->stair[row];

    f->best.n = 0;
    for (int i = 0; i < n; i++) {
        add_stairs(f, &choice[i]);
        take_least(f);
    }
    *to = (Stair){arena_array(a, StairPoint, f->best.n), f->best.n, f->best.n};
    for (int i = 0; i < to->n; i++)
        to->point[i] = f->best.point[i];
}

bool fill_stairs(Arena *a, ChainTable *t, int cap)
{
    Filler f = {t, cap, .a = arena_new()};
    Choice *choice = arena_array(f.a, Choice, t->p->n_stages + MAX_STAGE_POLICIES);
    int row = 1;

    t->stair = arena_array(a, Stair, t->n_rows);
    t->stair[0] = (Stair){arena_array(a, StairPoint, 1), 1, 1};
    for (; row < t->n_rows && (cap == 1 || f.n_points < MAX_POINTS); row++)
        fill_row(a, &f, row, choice);
    arena_free(f.a);
    return row == t->n_rows;
}
