// Finds which named sizes the numbers of a kernel's request are made of. The request is made a
// second time, with a prime instead of each named size: a number's prime factors are then the
// sizes that it is a product of. Equal sizes are told apart, as their primes differ.
#include <string.h>

#include "generator/kernel_sizes.h"
#include "generator/sizes.h"

enum { MAX_SYMBOLS = 16 };

static const int64_t primes[MAX_SYMBOLS] = {211, 223, 227, 229, 233, 239, 241, 251,
                                            257, 263, 269, 271, 277, 281, 283, 293};

// A named size, or the part of it that a rank has.
typedef struct Symbol {
    int name;
    int64_t parts, size;
} Symbol;

struct KernelSizes {
    Gen *g;
    const Kernel *k;
    Kernel symbolic;  // the request by primes
    Symbol symbol[MAX_SYMBOLS];
    int n;
};

// The prime instead of a dim; a dim without a name keeps its size.
static int64_t symbol_of(KernelSizes *s, ValueId v, int i)
{
    int64_t size = value_of(s->g->s->g, v)->dim[i], parts;
    int name = named_dim(s->g, v, i, &parts), k = 0;

    if (!name)
        return size;
    while (k < s->n && (s->symbol[k].name != name || s->symbol[k].parts != parts))
        k++;
    if (k == MAX_SYMBOLS)
        return size;
    s->symbol[k] = (Symbol){name, parts, size};
    s->n += k == s->n;
    return primes[k];
}

// Sets the dims of a value in the graph of primes. False: it has too many elements there.
static bool set_dims(KernelSizes *s, ValueId v)
{
    const Value *real = value_of(s->g->s->g, v);
    int64_t count = 1;

    for (int i = 0; i < real->rank; i++) {
        int64_t dim = symbol_of(s, v, i);
        value_edit(s->g->symbolic, v)->dim[i] = dim;
        if (dim > 0 && count > INT64_MAX / 4096 / dim)
            return false;
        count *= dim > 0 ? dim : 1;
    }
    return true;
}

static void restore_dims(const KernelSizes *s, ValueId v)
{
    const Value *real = value_of(s->g->s->g, v);

    memcpy(value_edit(s->g->symbolic, v)->dim, real->dim, sizeof real->dim);
}

// A stride of a view by primes: it is the number of elements after a dim of the base. False: it is
// none.
static bool symbolic_stride(KernelSizes *s, ValueId base, int64_t *stride)
{
    const Value *real = value_of(s->g->s->g, base);
    int64_t n = 1, by_primes = 1;

    for (int i = real->rank - 1; i >= 0; i--) {
        if (n == *stride) {
            *stride = by_primes;
            return true;
        }
        n *= real->dim[i];
        by_primes *= symbol_of(s, base, i);
    }
    return !*stride;
}

// The same, where it is the number of elements within dim i of the view.
static bool symbolic_inner(KernelSizes *s, const Operand *o, int i, int64_t *stride)
{
    const Value *view = value_of(s->g->s->g, o->value);
    uint32_t inner;

    if (!find_inner(view->rank, view->dim, o->stride, i, &inner))
        return false;
    *stride = 1;
    for (int k = 0; k < view->rank; k++)
        *stride *= inner >> k & 1 ? symbol_of(s, o->value, k) : 1;
    return true;
}

// Sets the strides of operand k by primes.
static bool set_strides(KernelSizes *s, const Operand *o, int64_t *stride)
{
    int rank = value_of(s->g->s->g, o->value)->rank;

    memcpy(stride, o->stride, sizeof o->stride);
    for (int i = 0; i < rank; i++)
        if (!symbolic_stride(s, o->base, &stride[i]) && !symbolic_inner(s, o, i, &stride[i]))
            return false;
    return true;
}

// A copy of the set's graph, whose dims may be others. Programs without kernels need none.
static Graph *copy_graph(const Gen *g)
{
    const Graph *from = g->s->g;
    Graph *to = arena_array(g->arena, Graph, 1);

    *to = *from;
    to->values = arena_array(g->arena, Value, from->n_values);
    memcpy(to->values, from->values, sizeof *to->values * (size_t)from->n_values);
    return to;
}

const KernelSizes *find_kernel_sizes(Gen *g, const Item *it)
{
    const Graph *graph = g->s->g;
    const Node *n = &graph->nodes[it->nodes[0]];
    int count = n->n_in + n->n_out;
    int64_t(*stride)[MAX_RANK] = arena_alloc(g->arena, (size_t)count, sizeof *stride);
    KernelSizes *s = arena_array(g->arena, KernelSizes, 1);
    bool ok = true;

    g->symbolic = g->symbolic ? g->symbolic : copy_graph(g);
    *s = (KernelSizes){.g = g, .k = &it->call.kernel};
    s->symbolic = (Kernel){.want = arena_alloc(g->arena, (size_t)count, sizeof *stride),
                           .whole = s->k->whole,
                           .cut = s->k->cut};
    for (int i = 0; i < count; i++)
        if (it->operands[i].base)
            ok = ok && set_dims(s, nth_operand(n, i)) && set_dims(s, it->operands[i].base) &&
                 set_strides(s, &it->operands[i], stride[i]);
    if (ok)
        node_kernel(g->symbolic, n, (const int64_t(*)[MAX_RANK])stride, &s->symbolic);
    for (int i = 0; i < count; i++)
        if (it->operands[i].base) {
            restore_dims(s, nth_operand(n, i));
            restore_dims(s, it->operands[i].base);
        }
    return ok && s->symbolic.def == s->k->def ? s : NULL;
}

// "3 * HEADS * HEAD_SIZE"; NULL: the number isn't such a product.
static char *product_text(const KernelSizes *s, int64_t by_primes, int64_t x)
{
    int64_t product = by_primes;
    int power[MAX_SYMBOLS] = {0};
    const char *text = "";

    for (int i = 0; i < s->n && by_primes > 0; i++)
        for (; by_primes % primes[i] == 0; by_primes /= primes[i], power[i]++)
            product = product / primes[i] * s->symbol[i].size;
    if (product == by_primes || product != x)
        return NULL;
    for (int i = 0; i < s->n; i++)
        for (; power[i]; power[i]--) {
            const Symbol *y = &s->symbol[i];
            const char *parts =
                y->parts > 1 ? arena_string(s->g->arena, " / %" PRId64, y->parts) : "";
            text = arena_string(s->g->arena, "%s%s%s%s", text, *text ? " * " : "",
                                size_text(s->g, y->name), parts);
        }
    return by_primes > 1 ? arena_string(s->g->arena, "%" PRId64 " * %s", by_primes, text)
                         : arena_string(s->g->arena, "%s", text);
}

void print_kernel_size(const KernelSizes *s, size_t at, int64_t x, Text *t)
{
    int64_t by_primes = x;

    if (s)
        memcpy(&by_primes, (const char *)&s->symbolic.params + at, sizeof by_primes);
    const char *text = s ? product_text(s, by_primes, x) : NULL;
    if (text)
        text_printf(t, "%s", text);
    else
        text_printf(t, "%" PRId64, x);
}
