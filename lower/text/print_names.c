// The words of program texts, and the names of values in them.
#include "lower/text/text.h"

const char *const set_names[] = {"train", "predict"};
const char *const buffer_kind_names[] = {"local", "persistent", "workspace", "pools"};
const char *const reshard_names[] = {"all_gather",     "slice",   "all_to_all", "all_reduce",
                                     "reduce_scatter", "permute", "mask"};
const char *const pool_names[] = {
    [POOL_NONE] = "none",       [POOL_HANDED] = "handed",     [POOL_SAVED] = "saved",
    [POOL_SCRATCH] = "scratch", [POOL_GRADIENT] = "gradient", [POOL_BACK_SCRATCH] = "back_scratch",
    [POOL_KEPT] = "kept",
};
const char *const item_kind_names[] = {"group", "kernel",   "copy", "fill", "loop",
                                       "end",   "gradient", "pad",  "wait", "none"};
const char *const loop_names[] = {"layer", "outer", "outer2", "outer3"};
const char *const phase_words[] = {"forward", "backward", "update"};

void print_value_name(const Printer *r, ValueId v)
{
    text_printf(r->t, " ");
    text_name(r->t, r->name[v]);
}
