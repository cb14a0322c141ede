// Finds the half copies of parameters in a split graph.
#include "ir/facts.h"
#include "lower/internal.h"

bool *sharded_half_copies(Arena *a, const Sharded *s)
{
    bool *serves = graph_half_copies(a, s->whole, NULL);
    bool *is_kept = arena_array(a, bool, s->n_values);

    for (ValueId v = 1; v < s->n_values; v++) {
        ValueId of = s->value[v].of;
        NodeId made = of ? value_of(s->whole, of)->producer : 0;
        is_kept[v] = serves[made] && dtype_is_half(value_of(s->g, v)->dtype) &&
                     spec_equal(&s->value[v].spec, &s->plan->storage_spec[of]);
    }
    return graph_half_copies(a, s->g, is_kept);
}
