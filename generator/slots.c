// Prints where the slots of a stage lie that runs several times.
#include "generator/internal.h"

const char *pool_name(Pool pool)
{
    static const char *const names[N_POOLS] = {
        [POOL_HANDED] = "handed",
        [POOL_SAVED] = "saved",
        [POOL_SCRATCH] = "scratch",
        [POOL_GRADIENT] = "gradient",
        [POOL_BACK_SCRATCH] = "back_scratch",
    };

    return names[pool];
}

char *slot_address(Gen *g, Pool pool, int stage, int step)
{
    if (!step)
        return arena_string(g->arena, "%s[%d]", pool_name(pool), stage);
    const char *layer = loop_index(g, 0);
    if (step > 0 && stage < 0)
        return arena_string(g->arena, "%s[%s - %d]", pool_name(pool), layer, -stage);
    if (step > 0)
        return stage ? arena_string(g->arena, "%s[%s + %d]", pool_name(pool), layer, stage)
                     : arena_string(g->arena, "%s[%s]", pool_name(pool), layer);
    return arena_string(g->arena, "%s[%d - %s]", pool_name(pool), stage, layer);
}
