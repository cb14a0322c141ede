// Shrinks a recipe to a small one whose program has the same fault: greedily, change by
// change.
#include "tests/nets/hunt.h"

#include <string.h>

// How many changes of the whole recipe and of its layers there are.
enum { WHOLE = 18, LAYERS = MAX_LAYERS * (MAX_BLOCKS + 1) * (4 + 2 * N_ARGS) };

// ---- changes: each changes `r`, and returns whether that gives another recipe ----

static bool drop_block(Recipe *r, int b)
{
    if (b >= r->n_blocks || r->n_blocks < 2)
        return false;
    for (int k = b; k + 1 < r->n_blocks; k++) {
        memcpy(r->layer[k], r->layer[k + 1], sizeof r->layer[k]);
        r->like[k] = r->like[k + 1] > b    ? r->like[k + 1] - 1
                     : r->like[k + 1] == b ? k
                                           : r->like[k + 1];
    }
    r->n_blocks--;
    return true;
}

static bool drop_layer(Recipe *r, int l)
{
    if (l >= r->n_layers)
        return false;
    for (int b = 0; b < r->n_blocks; b++)
        for (int k = l; k + 1 < r->n_layers; k++)
            r->layer[b][k] = r->layer[b][k + 1];
    r->shared = (r->shared & ((1 << l) - 1)) | (r->shared >> (l + 1) << l);
    r->n_layers--;
    return true;
}

static bool set(int *x, int to)
{
    bool is_new = *x != to;

    *x = to;
    return is_new;
}

static bool simpler_whole(Recipe *r, int k)
{
    int *const field[] = {&r->accumulate, &r->clip,    &r->optimizer, &r->loss,   &r->plain,
                          &r->again,      &r->head,    &r->stem,      &r->shared, &r->topology,
                          &r->no_decay,   &r->freeze,  &r->more,      &r->tied,   &r->data,
                          &r->half,       &r->half_sum};
    bool is_new = false;

    _Static_assert(WHOLE == COUNT(field) + 1, "a change for each field, and one for the blocks");
    if (k < COUNT(field))
        return set(field[k], 0);
    for (int b = 0; b < MAX_BLOCKS && k == COUNT(field); b++)
        is_new |= set(&r->like[b], b);
    return is_new;
}

static bool smaller_dim(Recipe *r, int k)
{
    int axis = k / 3;
    int64_t to[] = {1, r->dim[axis % 5] / 2, r->dim[axis % 5] - 1};

    if (axis >= r->rank || to[k % 3] < 1 || to[k % 3] >= r->dim[axis])
        return false;
    r->dim[axis] = to[k % 3];
    return true;
}

static bool smaller_rank(Recipe *r, int k)
{
    if (k || r->rank < 3)
        return false;
    r->rank--;
    r->is_last |= r->rank == 2;
    return true;
}

// Simplifies a layer of one block, or of all blocks.
static bool simpler_layer(Recipe *r, int k)
{
    int l = k % MAX_LAYERS, b = k / MAX_LAYERS % (MAX_BLOCKS + 1) - 1;
    int how = k / MAX_LAYERS / (MAX_BLOCKS + 1);
    bool is_new = false;

    if (l >= r->n_layers || b >= r->n_blocks)
        return false;
    for (int i = b < 0 ? 0 : b; i < (b < 0 ? r->n_blocks : b + 1); i++) {
        Layer *x = &r->layer[i][l], was = *x;
        if (how == 0 && b > 0)
            *x = r->layer[0][l];
        if (how == 1)
            x->kind = KIND_NONE;
        if (how == 2 && x->kind > KIND_linear)
            *x = (Layer){KIND_linear, {0}};
        if (how == 3 && x->kind > KIND_act)
            *x = (Layer){KIND_act, {0}};
        if (how >= 4 && how < 4 + 2 * N_ARGS)
            x->arg[how / 2 - 2] = how % 2 ? x->arg[how / 2 - 2] % 12 : 0;
        is_new |= memcmp(x, &was, sizeof was) != 0;
    }
    return is_new;
}

bool recipe_simpler(const Recipe *from, int k, Recipe *r)
{
    static const struct {
        int n;
        bool (*change)(Recipe *r, int k);
    } changes[] = {{MAX_BLOCKS, drop_block}, {MAX_LAYERS, drop_layer}, {WHOLE, simpler_whole},
                   {1, smaller_rank},        {15, smaller_dim},        {LAYERS, simpler_layer}};

    for (int i = 0; i < COUNT(changes); k -= changes[i++].n) {
        *r = *from;
        if (k < changes[i].n)
            return changes[i].change(r, k) && memcmp(r, from, sizeof *r);
    }
    return false;
}

int recipe_changes(void) { return MAX_BLOCKS + MAX_LAYERS + WHOLE + 1 + 15 + LAYERS; }

// A layer can become that of the first block and then a simpler one again and again. The rounds
// are bounded for that reason.
Recipe recipe_shrink(const Recipe *r, const Hunt *h, Verdict *v)
{
    enum { MAX_ROUNDS = 3 };
    Recipe best = *r, next;
    bool is_better = true;

    for (int round = 0; is_better && round < MAX_ROUNDS; round++) {
        is_better = false;
        for (int k = 0; k < recipe_changes(); k++) {
            Verdict is = {0};
            if (!recipe_simpler(&best, k, &next))
                continue;
            hunt_one(h, &next, &is);
            if (!verdict_is_alike(&is, v))
                continue;
            best = next;
            *v = is;
            is_better = true;
            k--;  // the same change may apply again
        }
    }
    return best;
}
