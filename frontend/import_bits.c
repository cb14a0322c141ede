// Imports operators on the bits of integers.
#include "frontend/internal.h"

static ValueId number(Graph *g, ValueId like, double v) { return scalar_like(g, like, v); }

// Brings both operands to one shape. Returns false after an error: they must be integers.
static bool read_pair(Op *o, ValueId *a, ValueId *b)
{
    if (!dtype_is_int(arg_value(o, 0)->dtype) || arg_value(o, 0)->dtype != arg_value(o, 1)->dtype)
        return op_error(o, "two operands of one type of integers are expected");
    *a = arg(o, 0);
    *b = arg(o, 1);
    broadcast_pair(o, a, b);
    return *a && *b;
}

static void import_and(Op *o)
{
    ValueId a, b;

    if (read_pair(o, &a, &b))
        give(o, 0, make_bit_and(o->g, a, b));
}

// a + b has the bits of both twice.
static void import_or(Op *o)
{
    ValueId a, b;

    if (read_pair(o, &a, &b))
        give(o, 0, make_sub(o->g, make_add(o->g, a, b), make_bit_and(o->g, a, b)));
}

static void import_xor(Op *o)
{
    Graph *g = o->g;
    ValueId a, b;

    if (!read_pair(o, &a, &b))
        return;
    ValueId both = make_bit_and(g, a, b);
    give(o, 0, make_sub(g, make_sub(g, make_add(g, a, b), both), both));
}

// -1 - x, also where integers have no sign: their sums wrap.
static ValueId complement(Graph *g, ValueId x)
{
    return make_sub(g, make_neg(g, x), number(g, x, 1));
}

static void import_not(Op *o)
{
    if (!dtype_is_int(arg_value(o, 0)->dtype))
        op_error(o, "an operand of integers is expected");
    else
        give(o, 0, complement(o->g, arg(o, 0)));
}

// Integers of 64 bits without a sign: after a shift by one, the copies of the highest bit are
// removed.
static ValueId shift_u64(Graph *g, ValueId a, ValueId b)
{
    ValueId zero = number(g, b, 0), one = number(g, a, 1);
    ValueId low = complement(g, make_shift_left(g, one, number(g, a, 63)));
    ValueId half = make_bit_and(g, make_shift_right(g, a, one), low);
    ValueId more = make_shift_right(g, half, make_sub(g, b, one));

    return make_select(g, make_eq(g, b, zero), a, more);
}

// A shift by less than 0, or by the width or more, moves all bits out.
static void import_shift(Op *o)
{
    Graph *g = o->g;
    const char *direction = attr_text(o, "direction", "");
    bool is_left = !strcmp(direction, "LEFT");
    ValueId a, b;

    if (!is_left && strcmp(direction, "RIGHT")) {
        op_error(o, "direction '%.50s' is unknown, expected LEFT or RIGHT", direction);
        return;
    }
    if (!read_pair(o, &a, &b))
        return;
    bool is_u64 = value_of(g, a)->dtype == U64;
    give(o, 0,
         is_left  ? make_shift_left(g, a, b)
         : is_u64 ? shift_u64(g, a, b)
                  : make_shift_right(g, a, b));
}

const OpImporter import_bits[] = {
    {"BitShift", 2, 2, .import = import_shift, .attrs = "direction", .since = 11,
     .no_gradient = "none: integers"},
    {"BitwiseAnd", 2, 2, .import = import_and, .since = 18, .no_gradient = "none: integers"},
    {"BitwiseNot", 1, 1, .import = import_not, .since = 18, .no_gradient = "none: integers"},
    {"BitwiseOr", 2, 2, .import = import_or, .since = 18, .no_gradient = "none: integers"},
    {"BitwiseXor", 2, 2, .import = import_xor, .since = 18, .no_gradient = "none: integers"},
    {0},
};
