// Tells in which pool each buffer of a stage lies, and where in the slots of that pool.
#include "base/search.h"
#include "lower/chain/chain.h"

// ---- which pool ----

static Pool pool_of_use(const Chain *x, const Use *u)
{
    int s = x->stage[u->first_write];
    bool is_read_back = u->last_back >= 0;

    if (u->is_made_back)
        return is_read_back && x->stage[u->last_back] != s ? POOL_GRADIENT : POOL_BACK_SCRATCH;
    bool is_handed = (u->last_read >= 0 && x->stage[u->last_read] != s) ||
                     (is_read_back && x->stage[u->first_back] != s);
    bool is_read_later = is_read_back || u->last_read >= x->n_forward;
    return is_handed ? POOL_HANDED : is_read_later ? POOL_SAVED : POOL_SCRATCH;
}

// Workspaces are scratch of the parts whose items use them.
static void find_workers(Chain *x)
{
    x->worker = arena_array(x->arena, int, x->p->n_buffers);
    for (int i = 0; i < x->p->n_buffers; i++)
        x->worker[i] = -1;
    for (int u = x->n_units - 1; u >= 0; u--)
        for (int i = x->unit[u].begin; i < x->unit[u].end; i++) {
            int32_t b = x->s->items[i].workspace_buffer;
            if (!b || item_slot(&x->s->items[i]))
                continue;
            x->worker[b] = u;
            x->pool[b] = u < x->n_forward ? POOL_SCRATCH : POOL_BACK_SCRATCH;
        }
}

void chain_find_pools(Chain *x)
{
    x->pool = arena_array(x->arena, Pool, x->p->n_buffers);
    find_workers(x);
    for (int i = 1; i < x->p->n_buffers; i++)
        for (int j = 0; !x->is_kept[i] && j < instances_of(x, &x->p->buffers[i]); j++) {
            const Use *u = &x->use[x->first_use[i] + j];
            Pool pool = u->first_write >= 0 ? pool_of_use(x, u) : POOL_NONE;
            if (pool && (!x->pool[i] || pool < x->pool[i]))
                x->pool[i] = pool;
        }
}

bool chain_may_overwrite(const Chain *x, int32_t from)
{
    bool is_scratch = x->pool[from] == POOL_SCRATCH || x->pool[from] == POOL_BACK_SCRATCH;

    return is_scratch || x->p->buffers[from].kind == BUFFER_PERSISTENT;
}

void chain_overwrite(Chain *x, int32_t from, int32_t to)
{
    x->is_kept[from] |= x->is_kept[to];
    x->pool[from] = x->pool[to];
}

// ---- offsets in slots ----

typedef struct Slotting {
    Chain *x;
    int64_t *end[N_POOLS];  // by stage: the bytes that are taken
} Slotting;

// Takes bytes of the slots of stages [low, high], at the same offset in all of them.
static int64_t take(Slotting *t, Pool pool, int low, int high, int64_t bytes)
{
    int64_t at = 0;

    for (int i = low; i <= high; i++)
        at = t->end[pool][i] > at ? t->end[pool][i] : at;
    for (int i = low; i <= high; i++)
        t->end[pool][i] = at + bytes;
    return at;
}

// The staged class in whose slots the buffer lies; 0: it is of one stage.
static int32_t class_of(const Chain *x, int buffer)
{
    return x->worker[buffer] >= 0 ? x->unit[x->worker[buffer]].cls
                                  : staged_class_of(x, &x->p->buffers[buffer]);
}

// The stages in whose slots the buffer has a part.
static void find_stages(const Chain *x, int buffer, int *low, int *high)
{
    const Buffer *b = &x->p->buffers[buffer];
    int32_t cls = class_of(x, buffer);

    if (x->worker[buffer] >= 0) {
        int first = x->stage[x->worker[buffer]], n = cls ? x->g->classes[cls].length : 1;
        bool is_forward = x->worker[buffer] < x->n_forward;
        *low = is_forward ? first : first - (n - 1);
        *high = is_forward ? first + (n - 1) : first;
        return;
    }
    *low = x->n_stages;
    *high = -1;
    for (int j = 0; j < instances_of(x, b); j++) {
        const Use *u = &x->use[x->first_use[buffer] + j];
        if (u->first_write < 0)
            continue;
        int s =
            cls ? x->cls[cls].stage + x->cls[cls].stage_step * (j - 1) : x->stage[u->first_write];
        *low = s < *low ? s : *low;
        *high = s > *high ? s : *high;
    }
}

// Puts the values of a buffer into the slots of its pool.
static void put(Chain *x, int buffer, int64_t offset)
{
    Buffer *b = &x->p->buffers[buffer];
    int32_t cls = class_of(x, buffer);
    int low, high;

    find_stages(x, buffer, &low, &high);
    b->pool = x->pool[buffer];
    b->offset = offset;
    b->first = -1;
    b->last = 0;
    b->stage = cls ? x->cls[cls].stage : low;
    b->stage_step = cls ? x->cls[cls].stage_step : 0;
    if (!cls || x->worker[buffer] >= 0)
        return;
    b->n_instances = 1;
    b->bytes = buffer_bytes(stored_bytes(x->s, b->value), 1);
    for (int pass = 0; pass < 2;
         pass++)  // initial values first: their offset follows from that of the class
        for (ValueId v = 1; v < x->g->n_values; v++) {
            Storage *st = &x->s->storage[v];
            bool is_own = value_block(x->g, v).cls == cls;
            if (st->buffer != buffer || is_own != pass)
                continue;
            const Operand o = {.base = v};
            int instance = is_own ? 0 : chain_instance(x, NULL, &o);
            *st = (Storage){.buffer = buffer, .row = st->row, .instance = instance};
        }
}

static int64_t bytes_in_slot(const Chain *x, int buffer)
{
    const Buffer *b = &x->p->buffers[buffer];

    return staged_class_of(x, b) ? buffer_bytes(stored_bytes(x->s, b->value), 1) : b->bytes;
}

static bool is_scratch(Pool p) { return p == POOL_SCRATCH || p == POOL_BACK_SCRATCH; }

// Packs the scratch buffers of a class, or of a stage's other items (cls 0), by their live ranges.
static void pack_scratch(Slotting *t, Pool pool, int32_t cls, int stage)
{
    Chain *x = t->x;
    int n = 0, low, high, first = x->n_stages, last = -1;
    int *buffer = arena_array(x->arena, int, x->p->n_buffers);
    LiveBuffer *live = arena_array(x->arena, LiveBuffer, x->p->n_buffers);

    for (int i = 1; i < x->p->n_buffers; i++) {
        const Buffer *b = &x->p->buffers[i];
        if (x->pool[i] != pool || class_of(x, i) != cls)
            continue;
        find_stages(x, i, &low, &high);
        if (!cls && low != stage)
            continue;
        first = low < first ? low : first;
        last = high > last ? high : last;
        live[n] =
            (LiveBuffer){.lower = b->first, .upper = b->last + 1, .bytes = bytes_in_slot(x, i)};
        buffer[n++] = i;
    }
    if (!n)
        return;
    Packing packing =
        pack(x->arena, live, n, &(PackOptions){.effort = POOL_PACKING_EFFORT, .budget = x->budget});
    int64_t at = take(t, pool, first, last, packing.bytes);
    for (int i = 0; i < n; i++)
        put(x, buffer[i], at + packing.offset[i]);
}

// Puts the buffers that outlive their part one after the other. Those of staged classes come first,
// as they have one offset in many slots.
static void pack_lasting(Slotting *t, bool is_staged)
{
    Chain *x = t->x;
    int low, high;

    for (int i = 1; i < x->p->n_buffers; i++) {
        bool is_one = x->pool[i] && !is_scratch(x->pool[i]) && !x->p->buffers[i].pool;
        if (!is_one || (staged_class_of(x, &x->p->buffers[i]) != 0) != is_staged)
            continue;
        find_stages(x, i, &low, &high);
        put(x, i, take(t, x->pool[i], low, high, bytes_in_slot(x, i)));
    }
}

// ---- work ----

static const char *name_of(const Chain *x, int stage)
{
    for (int u = x->cut[stage]; u < x->cut[stage + 1]; u++) {
        const Unit *unit = &x->unit[u];
        if (unit->cls)
            return arena_string(x->p->arena, "%s.%d", class_key(x->p->arena, x->g, unit->cls),
                                unit->iteration);
    }
    return arena_string(x->p->arena, "stage%d", stage);
}

static double seconds_of(const Chain *x, const Unit *u, const Cluster *c)
{
    double seconds = 0, times = 1;

    for (int i = u->begin; i < u->end; i++) {
        const Item *it = &x->s->items[i];
        if (it->kind == ITEM_LOOP && !u->cls)
            times *= loop_length(x->g, it);
        if (it->kind == ITEM_END && !u->cls)
            times = 1;
        Work w = item_work(x->p, x->s, it);
        seconds += times * busy_seconds(&w, c);
    }
    return seconds;
}

static void add_seconds(const Chain *x, const Cluster *c, ProgramChain *to)
{
    for (int u = 0; u < x->n_units; u++) {
        StageWork *s = &to->stage[x->stage[u]];
        *(u < x->n_forward ? &s->forward_seconds : &s->backward_seconds) +=
            seconds_of(x, &x->unit[u], c);
    }
}

ProgramChain *chain_fill_slots(Chain *x, const Cluster *c)
{
    Slotting t = {.x = x};
    ProgramChain *to = arena_array(x->p->arena, ProgramChain, 1);

    for (Pool pool = POOL_NONE; pool < N_POOLS; pool++)
        t.end[pool] = arena_array(x->arena, int64_t, x->n_stages);
    to->n_stages = x->n_stages;
    to->stage = arena_array(x->p->arena, StageWork, x->n_stages);
    add_seconds(x, c, to);
    pack_lasting(&t, true);
    pack_lasting(&t, false);
    for (Pool pool = POOL_SCRATCH; pool < N_POOLS; pool += POOL_BACK_SCRATCH - POOL_SCRATCH) {
        for (int32_t k = 1; k < x->g->n_classes; k++)
            if (x->cls[k].forward >= 0)
                pack_scratch(&t, pool, k, 0);
        for (int s = 0; s < x->n_stages; s++)
            pack_scratch(&t, pool, 0, s);
    }
    for (int s = 0; s < x->n_stages; s++) {
        to->stage[s].name = name_of(x, s);
        for (Pool pool = POOL_NONE; pool < N_POOLS; pool++)
            to->stage[s].bytes[pool] = t.end[pool][s];
    }
    return to;
}
