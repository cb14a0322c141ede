// Makes the calls that a schedule of runs needs, and packs their slots.
#include "base/search.h"
#include "lower/chain/chain.h"

// ---- items that run once ----

static bool is_in_forward_part(const Chain *x, int item)
{
    return item < x->unit[x->n_forward - 1].end && item >= x->f->begin;
}

static bool writes_state(const Chain *x, const Item *it)
{
    for (int k = it->n_in; k < it->n_in + it->n_out; k++)
        if (x->p->buffers[x->s->storage[it->operands[k].base].buffer].kind == BUFFER_PERSISTENT)
            return true;
    return false;
}

// Who reads a value: nobody; items of one stage that only serve changes of states, as the stage's
// number; others.
enum { NONE = -1, OTHERS = INT32_MAX };

// By item: its stage; NONE in loops whose iterations are stages.
static int *stages_of_items(const Chain *x)
{
    int *stage = arena_array(x->arena, int, x->s->n_items);

    for (int i = 0; i < x->s->n_items; i++)
        stage[i] = NONE;
    for (int u = 0; u < x->n_units; u++)
        for (int i = x->unit[u].begin; i < x->unit[u].end && !x->unit[u].cls; i++)
            stage[i] = x->stage[u];
    return stage;
}

static void note_reads(const Item *it, int stage, int *reader)
{
    int is = it->is_once && stage != NONE ? stage : OTHERS;

    for (int k = 0; k < it->n_in; k++) {
        int *of = &reader[it->operands[k].base];
        *of = *of == NONE || *of == is ? is : OTHERS;
    }
}

// Does the item change a state, or, outside of loops, only make values for items of its stage that
// do? `reader` knows the later items.
static bool serves_states(const Chain *x, const Item *it, int stage, const int *reader)
{
    if (it->kind == ITEM_LOOP || it->kind == ITEM_END)
        return false;
    bool all = it->n_out > 0 && !it->region && stage != NONE;
    for (int k = it->n_in; k < it->n_in + it->n_out; k++)
        all &= reader[it->operands[k].base] == stage;
    return all || writes_state(x, it);
}

// May the item's values be missing when it is skipped?
static bool can_be_once(const Chain *x, const Item *it, int stage, const int *reader)
{
    for (int k = it->n_in; k < it->n_in + it->n_out; k++) {
        ValueId base = it->operands[k].base;
        bool is_state = x->p->buffers[x->s->storage[base].buffer].kind == BUFFER_PERSISTENT;
        if (!is_state && reader[base] != NONE && (stage == NONE || reader[base] != stage))
            return false;
    }
    return true;
}

bool chain_find_once(Chain *x)
{
    int *reader = arena_array(x->arena, int, x->g->n_values), *stage = stages_of_items(x);
    int end = x->f->begin;

    for (ValueId v = 0; v < x->g->n_values; v++)
        reader[v] = NONE;
    while (end < x->f->end && is_in_forward_part(x, end))
        end++;
    for (int i = x->f->end - 1; i >= x->f->begin; i--) {
        Item *it = &x->s->items[i];
        it->is_once = i < end && serves_states(x, it, stage[i], reader);
        note_reads(it, stage[i], reader);
    }
    for (int i = x->f->begin; i < end; i++)
        if (x->s->items[i].is_once && !can_be_once(x, &x->s->items[i], stage[i], reader))
            return node_error(x->g, item_node(x->g, &x->s->items[i]), x->d,
                              "it changes a state of the model and makes another value, so its "
                              "stage can't run again");
    return true;
}

// ---- parts ----

// Finds the parts that units [first, last) of one stage are, as numbers in `part_of`, by unit.
static void add_parts(Chain *x, Calls *to, int first, int last, bool is_backward, int *part_of,
                      int *cap)
{
    for (int u = first; u < last; u++) {
        const Unit *unit = &x->unit[u];
        bool joins = !unit->cls && u > first && !x->unit[u - 1].cls;
        if (joins) {
            part_of[u] = part_of[u - 1];
            to->part[part_of[u]].end = unit->end;
            continue;
        }
        int known = 0;
        while (unit->cls && known < to->n_parts && to->part[known].begin != unit->begin)
            known++;
        part_of[u] = unit->cls ? known : to->n_parts;
        if (part_of[u] < to->n_parts)
            continue;
        const StagedClass *c = &x->cls[unit->cls];
        *arena_push(x->p->arena, to->part, to->n_parts, *cap) =
            (CallPart){.begin = unit->begin,
                       .end = unit->end,
                       .stage = unit->cls ? c->stage : x->stage[u],
                       .is_loop = unit->cls != 0,
                       .is_backward = is_backward,
                       .stage_step = unit->cls ? c->stage_step : 0};
    }
}

// The units of a stage's forward or backward part.
static void units_of(const Chain *x, int stage, bool is_backward, int *first, int *last)
{
    *first = is_backward ? x->back[stage] : x->cut[stage];
    *last = !is_backward ? x->cut[stage + 1] : stage ? x->back[stage - 1] : x->n_units;
}

static int *find_parts(Chain *x, Calls *to)
{
    int *part_of = arena_array(x->arena, int, x->n_units), cap = 0, first, last;

    for (int back = 0; back < 2; back++)
        for (int s = 0; s < x->n_stages; s++) {
            units_of(x, s, back, &first, &last);
            add_parts(x, to, first, last, back, part_of, &cap);
        }
    return part_of;
}

static void add_calls(Chain *x, Calls *to, const StageRun *run, const int *part_of,
                      const int64_t *at, int *cap)
{
    int first, last;

    units_of(x, run->stage, run->is_backward, &first, &last);
    for (int u = first; u < last; u++) {
        if (u > first && part_of[u] == part_of[u - 1] && !x->unit[u].cls)
            continue;
        Call *c = arena_push(x->p->arena, to->call, to->n_calls, *cap);
        *c = (Call){.part = part_of[u],
                    .iteration = x->unit[u].cls ? x->unit[u].iteration : 0,
                    .is_last = run->is_last};
        for (int i = 0; i < (run->is_backward ? 2 : 3); i++)
            c->at[i] = at[i];
    }
}

// ---- slots ----

// The last run that needs a slot made by run `at`, in a pool.
static int last_need(const StageRun *run, int n, int at, Pool pool)
{
    int stage = run[at].stage, last = at;
    bool is_lasting =
        pool == POOL_HANDED || pool == POOL_GRADIENT || (pool == POOL_SAVED && run[at].is_last);

    for (int i = at + 1; i < n && is_lasting; i++) {
        const StageRun *r = &run[i];
        bool is_own_back = r->stage == stage && r->is_backward;
        bool is_next = r->stage == stage + 1 && pool == POOL_HANDED;
        if (r->stage == stage && !r->is_backward)  // made anew
            break;
        if (is_next || (is_own_back && pool != POOL_GRADIENT) ||
            (pool == POOL_GRADIENT && r->stage == stage - 1 && r->is_backward))
            last = i;
    }
    return last;
}

// Finds between which runs kept buffers are in use; adds them to what is packed, and gives by
// buffer its number there, or -1.
static int *add_kept(Chain *x, const StageRun *run, int n_runs, LiveBuffer *live, int *n)
{
    int *number = arena_array(x->arena, int, x->p->n_buffers), first, last;

    for (int i = 0; i < x->p->n_buffers; i++)
        number[i] = -1;
    for (int r = 0; r < n_runs; r++) {
        units_of(x, run[r].stage, run[r].is_backward, &first, &last);
        for (int i = first < last ? x->unit[first].begin : 0;
             i < (first < last ? x->unit[last - 1].end : 0); i++)
            for (int k = 0; k < x->s->items[i].n_in + x->s->items[i].n_out; k++) {
                int32_t b = x->s->storage[x->s->items[i].operands[k].base].buffer;
                if (x->pool[b] != POOL_KEPT)
                    continue;
                if (number[b] < 0) {
                    number[b] = *n;
                    live[(*n)++] = (LiveBuffer){.lower = r, .bytes = x->p->buffers[b].bytes};
                }
                live[number[b]].upper = r + 1;
            }
    }
    return number;
}

int64_t chain_set_calls(Chain *x, const StageRun *run, int n_runs, Calls *to)
{
    int *part_of, cap = 0, n = 0;
    LiveBuffer *live =
        arena_array(x->arena, LiveBuffer, 3 * (size_t)n_runs + (size_t)x->p->n_buffers);
    int *slot_of = arena_array(x->arena, int, 3 * (size_t)n_runs);

    *to = (Calls){.n_stages = x->n_stages};
    part_of = find_parts(x, to);
    for (int i = 0; i < n_runs; i++)
        for (int k = 0; k < 3; k++) {
            if (k == 2 && run[i].is_backward) {
                slot_of[3 * i + k] = -1;
                continue;
            }
            Pool pool = (Pool)((run[i].is_backward ? POOL_GRADIENT : POOL_HANDED) + k);
            int64_t bytes = x->work->stage[run[i].stage].bytes[pool];
            slot_of[3 * i + k] = bytes ? n : -1;
            if (bytes)
                live[n++] = (LiveBuffer){
                    .lower = i, .upper = last_need(run, n_runs, i, pool) + 1, .bytes = bytes};
        }
    const int *kept = add_kept(x, run, n_runs, live, &n);
    Packing packing =
        pack(x->arena, live, n, &(PackOptions){.effort = PACKING_EFFORT, .budget = x->budget});
    for (int i = 0; i < x->p->n_buffers; i++)
        if (kept[i] >= 0)
            x->p->buffers[i].offset = packing.offset[kept[i]];
    for (int i = 0; i < n_runs; i++) {
        int64_t at[3] = {0};
        for (int k = 0; k < 3; k++)
            at[k] = slot_of[3 * i + k] >= 0 ? packing.offset[slot_of[3 * i + k]] : 0;
        add_calls(x, to, &run[i], part_of, at, &cap);
    }
    return packing.bytes;
}
