// Masks of attention that may hide all keys of a row.
#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/nets/net.h"

static ValueId number(Net *n, ValueId like, double c) { return scalar_like(n->g, like, c); }

// An input of whole numbers, 0 where samples are padded, over axis 2 or 3 of the scores.
static ValueId shown(Net *n, ValueId s, int axis)
{
    Graph *g = n->g;
    Value v = *value_of(g, s);
    int64_t dim[] = {v.dim[0], v.dim[axis]}, dims[] = {0, axis};
    const char *name = arena_string(g->arena, "mask%d", (int)dim[1]);
    ValueId x = 0;

    for (ValueId i = 1; i < g->n_values && !x; i++)
        if (g->values[i].name && !strcmp(g->values[i].name, name))
            x = i;
    x = x ? x : graph_value(g, VALUE_INPUT, name, I64, 2, dim);
    x = make_broadcast(g, x, v.rank, v.dim, dims);
    return make_lt(g, number(n, x, 0), x);
}

// Where a query sees a key.
static ValueId seen(Net *n, ValueId s, int which, int variant)
{
    Graph *g = n->g;
    Value v = *value_of(g, s);
    ValueId row = make_iota(g, I64, v.rank, v.dim, 2), column = make_iota(g, I64, v.rank, v.dim, 3);
    ValueId head = make_iota(g, I64, v.rank, v.dim, 1), two = number(n, row, 2);

    switch (which % 8) {
    case 0:
        return shown(n, s, 3);
    case 1:
        return shown(n, s, 2);
    case 2:
        return make_and(g, shown(n, s, 2), shown(n, s, 3));
    case 3:  // a strict triangle: the first row sees nothing
        return make_lt(g, column, row);
    case 4:  // causal, padded on the left
        return make_and(g, make_le(g, column, row),
                        make_le(g, number(n, column, 1 + variant % 2), column));
    case 5:  // keys ahead
        return make_lt(g, make_add(g, row, number(n, row, variant % 2)), column);
    case 6:  // earlier ones of the same segment
        return make_and(g, make_lt(g, column, row),
                        make_eq(g, make_div(g, column, two), make_div(g, row, two)));
    default:  // the first head sees nothing, the others are causal
        return make_and(g, make_lt(g, number(n, head, 0), head), make_le(g, column, row));
    }
}

// Added numbers are -inf. Next to any other number, f32 and f64 differ in what is left of the
// score.
ValueId net_hide(Net *n, ValueId s, const int *arg)
{
    static const double lows[] = {-1e9, -(double)FLT_MAX, -1e4, -INFINITY};
    Graph *g = n->g;
    double low = lows[arg[1] % 4];
    ValueId keep = seen(n, s, arg[0], arg[1]), other;

    switch (arg[1] / 4 % 4) {
    case 1:  // added
        return make_add(g, s, make_select(g, keep, number(n, s, 0), number(n, s, -INFINITY)));
    case 2:  // added, by arithmetic
        return make_add(g, s, make_log(g, make_cast(g, keep, F32)));
    case 3:  // one after the other
        other = seen(n, s, arg[0] / 8, arg[1]);
        s = make_select(g, keep, s, number(n, s, low));
        return make_select(g, other, s, number(n, s, low));
    default:
        return make_select(g, keep, s, number(n, s, low));
    }
}

ValueId net_guard(Net *n, ValueId w, const int *arg)
{
    bool adds = arg[1] / 4 % 4 == 1 || arg[1] / 4 % 4 == 2;

    return adds || arg[1] % 4 == 3 ? make_select(n->g, make_is_nan(n->g, w), number(n, w, 0), w)
                                   : w;
}
