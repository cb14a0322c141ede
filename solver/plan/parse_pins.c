// Reads pins. --pin GLOB=SPEC fixes the storage spec of the values whose names match; --pin
// GLOB=STRATEGY fixes the strategy of the nodes that make them.
#include "solver/plan/parse_pins.h"

#include <string.h>

#include "analyzer/sharding/plan_file.h"

typedef struct Pinning {
    Arena *a;
    const Graph *g;
    const Mesh *m;
    const char *option;  // GLOB=TEXT
    const char *glob, *text;
    const char **name;  // by ValueId
    const TiedValues *tied;
    bool *is_pinned;  // by 2 · ValueId (its spec) + 1 (its node's strategy): pinned by this option
    Pin *pin;
    int n, cap;
    Diag *d;
} Pinning;

static bool in_option(const Pinning *p, bool ok)
{
    if (!ok)
        diag_note(p->d, "in  --pin '%s'", p->option);
    return ok;
}

static bool pin_value(Pinning *p, ValueId v)
{
    Pin pin = {.kind = PIN_STORAGE, .id = p->tied->value[v]};
    bool *is_pinned = &p->is_pinned[2 * pin.id];

    if (*is_pinned)
        return true;
    if (!spec_parse(p->m, value_of(p->g, v), p->text, &pin.spec, p->d))
        return false;
    *arena_push(p->a, p->pin, p->n, p->cap) = pin;
    return *is_pinned = true;
}

static bool pin_node(Pinning *p, NodeId n)
{
    Pin pin = {.kind = PIN_STRATEGY, .id = p->tied->node[n]};
    bool *is_pinned = &p->is_pinned[2 * p->g->nodes[pin.id].out[0] + 1];
    Rule r;

    if (*is_pinned)
        return true;
    node_rule(p->a, p->g, &p->g->nodes[pin.id], &r);
    if (!strategy_parse(&r, p->m, p->text, &pin.spec, p->d))
        return false;
    *arena_push(p->a, p->pin, p->n, p->cap) = pin;
    return *is_pinned = true;
}

static bool no_such_name(const Pinning *p)
{
    const char *nearest = nearest_name(p->glob, p->name + 1, p->g->n_values - 1);

    diag_error(p->d,
               nearest ? "--pin: no value is named '%s' (did you mean '%s'?)"
                       : "--pin: no value is named '%s'",
               p->glob, nearest);
    return false;
}

static bool read_pin(Pinning *p)
{
    const char *equals = strrchr(p->option, '=');
    bool is_spec = equals[1] == '[', found = false;

    p->glob = arena_copy(p->a, p->option, (size_t)(equals - p->option));
    p->text = equals + 1;
    p->is_pinned = arena_array(p->a, bool, 2 * (size_t)p->g->n_values);
    for (ValueId v = 1; v < p->g->n_values; v++) {
        NodeId n = value_of(p->g, v)->producer;
        if (!glob_match(p->glob, p->name[v]) || !(is_spec || n))
            continue;
        found = true;
        if (!in_option(p, is_spec ? pin_value(p, v) : pin_node(p, n)))
            return false;
    }
    return found || no_such_name(p);
}

int pins_read(Arena *a, const char *const *option, int n, const Graph *g, const Mesh *m, Pin **pin,
              Diag *d)
{
    TiedValues tied = tied_find(a, g);
    Pinning p = {.a = a, .g = g, .m = m, .name = graph_names(a, g), .tied = &tied, .d = d};

    for (int i = 0; i < n; i++) {
        p.option = option[i];
        if (!read_pin(&p))
            return -1;
    }
    *pin = p.pin;
    return p.n;
}
