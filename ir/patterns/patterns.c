// The patterns pass: puts attention, rotary embeddings and norms, which exporters write in many
// forms, in one form each. It comes before autodiff.
#include "ir/patterns/match.h"

bool patterns(Graph *g, Diag *d)
{
    static Pattern *const in_order[] = {match_attention, match_rotary, match_norm};

    return patterns_apply(g, in_order, COUNT(in_order), d);
}
