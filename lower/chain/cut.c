// Cuts the units of a training function into stages.
//
// A cut is a position k such that no value is read both before and after k. The backward part is
// cut where it has read everything made after k and nothing made before k, except what is handed on
// at the cut. Between iterations of a staged class there is a cut in any case: what prevents this
// is kept outside of the stages.
#include <limits.h>

#include "base/search.h"
#include "lower/chain/chain.h"

enum { MAX_STAGES = 1024 };

typedef struct Cutter {
    Chain *x;
    bool *is_cut;  // by unit: is there a cut before it?
    int *back;     // by unit: the cut of the backward part that belongs to it
    bool has_changed;
} Cutter;

static void unstage(Cutter *c, int32_t cls)
{
    c->x->cls[cls].forward = -1;
    c->has_changed = true;
}

// Is the cut before unit k between iterations of a staged class?
static bool is_loop_cut(const Chain *x, int k)
{
    return k < x->n_forward && x->unit[k].cls && x->unit[k].cls == x->unit[k - 1].cls;
}

// The use of instance j, from -1, of a buffer.
static const Use *use_of(const Chain *x, int buffer, int j)
{
    return &x->use[x->first_use[buffer] + j + 1];
}

// Lets units (first, last] begin no stage.
static void join_units(Cutter *c, int first, int last)
{
    Chain *x = c->x;

    for (int k = first + 1; k <= last && k < x->n_forward; k++)
        if (is_loop_cut(x, k))
            unstage(c, x->unit[k].cls);
        else
            x->is_joined[x->unit[k].begin] = true;
}

// Do the iterations of a class share bytes of the buffer?
static bool shares_bytes(const Chain *x, int buffer)
{
    const Storage *st = &x->s->storage[x->p->buffers[buffer].value];

    return !st->step || st->ring;
}

// Keeps a buffer outside of the stages. If iterations share its bytes they can't be called in any
// order, and none of them without what made the value that they begin with.
static void keep(Cutter *c, int buffer)
{
    Chain *x = c->x;
    const Buffer *b = &x->p->buffers[buffer];
    int32_t cls = staged_class_of(x, b);
    const Use *u = use_of(x, buffer, -1);

    c->has_changed = true;
    if (cls && shares_bytes(x, buffer)) {
        unstage(c, cls);
        return;
    }
    x->is_kept[buffer] = true;
    if (value_block(x->g, b->value).cls && shares_bytes(x, buffer) && !u->is_made_back)
        join_units(c, u->first_write, u->last_write);
}

static void forbid(Cutter *c, int buffer, int first, int last)
{
    for (int k = first; k <= last && k <= c->x->n_forward && !c->x->is_kept[buffer]; k++) {
        if (is_loop_cut(c->x, k))
            keep(c, buffer);
        c->is_cut[k] = false;
    }
}

// Calls `visit` for all uses of buffers that aren't kept.
static void for_uses(Cutter *c, void (*visit)(Cutter *c, int buffer, int instance, const Use *u))
{
    Chain *x = c->x;

    for (int i = 1; i < x->p->n_buffers; i++)
        for (int j = -1; !x->is_kept[i] && j + 1 < instances_of(x, &x->p->buffers[i]); j++)
            if (use_of(x, i, j)->first_write >= 0)
                visit(c, i, j, use_of(x, i, j));
            else if (use_of(x, i, j)->first_back >= 0)
                keep(c, i);
}

static void forbid_by_use(Cutter *c, int buffer, int instance, const Use *u)
{
    if (u->is_made_back)
        return;
    if (u->last_write >= c->x->n_forward || u->last_read - u->last_write > MAX_STAGE_SPAN) {
        keep(c, buffer);
        return;
    }
    forbid(c, buffer, u->first_write + 1, u->last_write);
    if (u->last_read > u->last_write)
        forbid(c, buffer, u->first_read + 1, u->last_read);
}

// ---- the backward part ----

// Finds for each cut the cut of the backward part, and forbids cuts that have none.
static void find_back(Cutter *c)
{
    const Chain *x = c->x;
    int n = x->n_forward;
    // By unit: the last backward unit that reads what is made from there on, and the first that
    // reads what is neither made nor handed on from there on.
    int *last = arena_array(x->arena, int, n + 2), *first = arena_array(x->arena, int, n + 2);

    for (int k = 0; k <= n; k++) {
        last[k] = n - 1;
        first[k] = INT_MAX;
    }
    for (int i = 0; i < x->n_uses; i++) {
        const Use *u = &x->use[i];
        bool is_state = u->first_write < 0 && u->first_read >= 0 && u->first_back >= 0;
        if (is_state && u->first_back < first[u->first_read + 1])
            first[u->first_read + 1] = u->first_back;
        if (u->first_write < 0 || u->is_made_back || u->last_back < 0)
            continue;
        int end = u->last_read > u->last_write ? u->last_read : u->last_write;
        last[u->last_write] =
            u->last_back > last[u->last_write] ? u->last_back : last[u->last_write];
        if (end + 1 <= n && u->first_back < first[end + 1])
            first[end + 1] = u->first_back;
    }
    for (int k = n - 1; k >= 0; k--)
        last[k] = last[k + 1] > last[k] ? last[k + 1] : last[k];
    for (int k = 1; k <= n; k++)
        first[k] = first[k - 1] < first[k] ? first[k - 1] : first[k];
    for (int k = n, least = n; k > 0; k--) {
        if (last[k] >= first[k] && c->is_cut[k]) {
            c->is_cut[k] = false;
            if (is_loop_cut(x, k))
                unstage(c, x->unit[k].cls);
        }
        if (!c->is_cut[k])
            continue;
        bool is_loop = first[k] < x->n_units && x->unit[first[k]].cls;
        c->back[k] = is_loop ? first[k] : last[k] + 1;
        c->back[k] = c->back[k] > least ? c->back[k] : least;
        least = c->back[k];
    }
}

// An initial value of a loop is in the slot of the stage next to the loop's first stage, and is
// made in one of the two.
static void forbid_before_loop(Cutter *c, int buffer, int instance, const Use *u)
{
    const Chain *x = c->x;
    int32_t cls = staged_class_of(x, &x->p->buffers[buffer]);

    if (!cls || (instance >= 0 && instance < x->g->classes[cls].length))
        return;
    int loop = u->is_made_back ? x->cls[cls].first_backward : x->cls[cls].first_forward;
    int next_cut = 0;  // the cut next to the loop
    for (int k = 1; k <= x->n_forward; k++) {
        int at = u->is_made_back ? c->back[k] : k;
        if (!c->is_cut[k] || at <= u->first_write || at > loop)
            continue;
        int needless = u->is_made_back && next_cut ? k : next_cut;
        next_cut = needless == k ? next_cut : k;
        if (needless) {
            c->is_cut[needless] = false;
            if (is_loop_cut(x, needless))
                unstage(c, cls);
        }
    }
}

// ---- worth ----

static int64_t instance_bytes_of(const Chain *x, int buffer)
{
    return stored_bytes(x->s, x->p->buffers[buffer].value);
}

// Drops cuts outside of loops at which more bytes are handed on than the stage before would save.
static void drop_needless(Cutter *c)
{
    const Chain *x = c->x;
    int n = x->n_forward;
    int64_t *handed = arena_array(x->arena, int64_t, n + 2), since = 0;
    int64_t *saved = arena_array(x->arena, int64_t, n + 2);

    for (int i = 1; i < x->p->n_buffers; i++)
        for (int j = -1; !x->is_kept[i] && j + 1 < instances_of(x, &x->p->buffers[i]); j++) {
            const Use *u = use_of(x, i, j);
            if (u->first_write < 0 || u->is_made_back)
                continue;
            if (u->last_read > u->last_write) {
                handed[u->last_write + 1] += instance_bytes_of(x, i);
                handed[u->last_read < n ? u->last_read + 1 : n + 1] -= instance_bytes_of(x, i);
            }
            if (u->last_back >= 0)
                saved[u->last_write] += instance_bytes_of(x, i);
        }
    for (int k = 1; k <= n; k++) {
        handed[k] += handed[k - 1];
        since += saved[k - 1];
        if (!c->is_cut[k])
            continue;
        bool is_next_to_loop = k == n || x->unit[k].cls || x->unit[k - 1].cls;
        if (!is_next_to_loop && since < 2 * handed[k])
            c->is_cut[k] = false;
        else
            since = 0;
    }
}

// ---- stages ----

static void number_stages(Cutter *c)
{
    Chain *x = c->x;
    int n = 0;

    x->stage = arena_array(x->arena, int, x->n_units + 1);
    x->cut = arena_array(x->arena, int, x->n_forward + 2);
    x->back = arena_array(x->arena, int, x->n_forward + 2);
    for (int k = 0; k <= x->n_forward; k++) {
        if (k && c->is_cut[k]) {
            x->back[n++] = c->back[k];
            x->cut[n] = k;
        }
        x->stage[k] = n;
    }
    x->back[n] = x->n_forward;
    x->n_stages = n + 1;
    x->cut[x->n_stages] = x->n_forward;
    for (int u = x->n_forward; u < x->n_units; u++) {
        while (n > 0 && u >= x->back[n - 1])
            n--;
        x->stage[u] = n;
    }
}

// Does each iteration of the class have a stage of its own, in order, forward and backward?
static bool is_in_order(const Chain *x, const StagedClass *c, int length)
{
    for (int i = 0; i < length; i++) {
        bool is_down = c->stage_step < 0;
        int stage = c->stage + i * c->stage_step;
        if (x->stage[c->first_forward + (is_down ? length - 1 - i : i)] != stage ||
            x->stage[c->first_backward + (is_down ? i : length - 1 - i)] != stage)
            return false;
    }
    return true;
}

static void check_classes(Cutter *c)
{
    Chain *x = c->x;

    for (int32_t k = 1; k < x->g->n_classes; k++) {
        StagedClass *s = &x->cls[k];
        int length = x->g->classes[k].length;
        if (s->forward < 0)
            continue;
        s->stage_step = x->s->items[s->forward].loop.is_reverse ? -1 : 1;
        s->stage = x->stage[s->first_forward + (s->stage_step < 0 ? length - 1 : 0)];
        if (!is_in_order(x, s, length))
            unstage(c, k);
    }
}

// Is an initial value of a loop made in the stage in whose slot it lies, or in the loop's first?
static bool is_initial_in_its_stage(const Chain *x, int32_t cls, int instance, const Use *u)
{
    const StagedClass *s = &x->cls[cls];
    int slot = s->stage + s->stage_step * instance;
    int made = x->stage[u->first_write];

    return slot >= 0 && slot < x->n_stages &&
           (made == slot || made == slot + (u->is_made_back ? -1 : 1));
}

// Joins the stages between a loop and the unit that reads, beyond the next stage, what the loop
// made last: it lies in bytes that iterations share.
static void join(Cutter *c, int from, int to, bool is_backward)
{
    Chain *x = c->x;
    int next_cut = 0;  // the cut next to the loop

    for (int k = 1; k <= x->n_forward; k++) {
        int at = is_backward ? c->back[k] : k;
        if (!c->is_cut[k] || at <= from || at > to)
            continue;
        int needless = is_backward || !next_cut ? next_cut : k;
        next_cut = needless == k ? next_cut : k;
        if (needless && is_loop_cut(x, needless))
            unstage(c, x->unit[needless].cls);
        else if (needless)
            x->is_joined[x->unit[needless].begin] = c->has_changed = true;
    }
}

// Keeps what is read by other stages than its own and the next one.
static void keep_far(Cutter *c, int buffer, int instance, const Use *u)
{
    const Chain *x = c->x;
    int32_t cls = staged_class_of(x, &x->p->buffers[buffer]);
    bool is_initial = cls && (instance < 0 || instance >= x->g->classes[cls].length);
    int s = x->stage[u->first_write], step = u->is_made_back ? -1 : 1;
    const int read[] = {u->last_write, u->last_read, u->first_back, u->last_back};

    if (is_initial && !is_initial_in_its_stage(x, cls, instance, u)) {
        unstage(c, cls);
        return;
    }
    for (int i = 0; i < COUNT(read); i++) {
        if (read[i] < 0 || x->stage[read[i]] == s || (i && x->stage[read[i]] == s + step))
            continue;
        bool is_in_order = u->is_made_back || i == 1;
        if (i && is_in_order && cls && shares_bytes(x, buffer) && !x->unit[read[i]].cls)
            join(c, u->first_write, read[i], u->is_made_back);
        else
            keep(c, buffer);
        return;
    }
}

// Keeps a buffer with instances of both parts.
static void keep_mixed(Cutter *c, int buffer, int instance, const Use *u)
{
    const Chain *x = c->x;

    for (int j = -1; j < instance; j++) {
        const Use *v = use_of(x, buffer, j);
        if (v->first_write >= 0 && v->is_made_back != u->is_made_back && !x->is_kept[buffer])
            keep(c, buffer);
    }
}

static bool cut_once(Cutter *c)
{
    Chain *x = c->x;

    c->has_changed = false;
    chain_find_units(x);
    chain_find_uses(x);
    c->is_cut = arena_array(x->arena, bool, x->n_forward + 1);
    c->back = arena_array(x->arena, int, x->n_forward + 1);
    for (int k = 1; k <= x->n_forward; k++)
        c->is_cut[k] = (k < x->n_forward || x->turn > x->n_forward) &&
                       (is_loop_cut(x, k) || !x->is_joined[x->unit[k].begin]);
    for_uses(c, forbid_by_use);
    if (c->has_changed)
        return false;
    find_back(c);
    drop_needless(c);
    find_back(c);
    for_uses(c, forbid_before_loop);
    if (c->has_changed)
        return false;
    find_back(c);
    number_stages(c);
    check_classes(c);
    if (c->has_changed)
        return false;
    for_uses(c, keep_far);
    for_uses(c, keep_mixed);
    return !c->has_changed;
}

// By stage: the bytes that it makes.
static int64_t *bytes_made(const Chain *x)
{
    int64_t *made = arena_array(x->arena, int64_t, x->n_stages);

    for (int i = 1; i < x->p->n_buffers; i++)
        for (int j = -1; !x->is_kept[i] && j + 1 < instances_of(x, &x->p->buffers[i]); j++) {
            const Use *u = use_of(x, i, j);
            if (u->first_write >= 0)
                made[x->stage[u->first_write]] += instance_bytes_of(x, i);
        }
    return made;
}

// Moves the forward part of the last stage to its backward part, which follows it directly. If the
// stage before makes more bytes, it joins: while the last stage runs, there is no use in dropping
// what the one before saved.
static void join_last(Chain *x)
{
    const int64_t *made = bytes_made(x);
    int last = x->n_stages - 1;
    int64_t bytes = made[last];

    for (; last > 1 && !x->unit[x->cut[last] - 1].cls && bytes <= made[last - 1]; last--)
        bytes += made[last - 1];
    if (!last || (x->turn > x->n_forward && last == x->n_stages - 1))
        return;
    int turn = x->back[last - 1];
    x->turn_item = x->unit[x->cut[last]].begin;
    x->turn_end = turn < x->n_units ? x->unit[turn].begin : x->f->end;
}

bool chain_cut(Chain *x)
{
    Cutter c = {.x = x};

    x->turn_item = -1;
    while (!cut_once(&c))
        ;
    join_last(x);
    while (!cut_once(&c))
        ;
    if (x->n_stages > 1 && x->n_stages <= MAX_STAGES)
        return true;
    diag_error(x->d,
               x->n_stages > 1 ? "the model has %d stages, but a chain has at most %d"
                               : "the model is no chain of stages: nothing separates its parts",
               x->n_stages, MAX_STAGES);
    return false;
}
