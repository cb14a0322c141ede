// Presets, known rules to shard a training step: which roles each axis of a mesh may split.
#include <ctype.h>
#include <string.h>

#include "solver/plan/build_problem.h"

// The role in a model of a factor of a node or a dim of a spec.
typedef enum Role {
    ROLE_BATCH = 1,       // the first dim of the graph's inputs
    ROLE_SEQUENCE = 2,    // the other dims of the graph's inputs
    ROLE_HEAD = 4,        // a further dim of all operands of a product without weights
    ROLE_FEATURE = 8,     // all else: a weight's dims, free or contracted
    ROLE_PARAMETER = 16,  // any dim of the storage spec of a parameter or buffer
    ROLE_GRADIENT = 32,   // the same of a gradient
    ROLE_STATE = 64,      // the same of the optimizer's state, and all dims in the update
} Role;

enum {
    ROLES_WEIGHT = ROLE_PARAMETER | ROLE_GRADIENT | ROLE_STATE,
    ROLES_ROWS = ROLE_BATCH | ROLE_SEQUENCE | ROLES_WEIGHT,
    ROLES_COLUMNS = ROLE_HEAD | ROLE_FEATURE | ROLES_WEIGHT,
};

// The roles of each axis, from slow to fast. If n_axes is 0, the first entry's roles hold for all
// axes. The axes from `first_equal` on must have equal sizes.
static const struct {
    const char *name;
    int n_axes, first_equal;
    unsigned roles[MAX_AXES];
} presets[] = {
    {"ddp", 0, 0, {ROLE_BATCH}},
    // Rajbhandari et al. 2020, sections 5.1 to 5.3; the third stage is known as FSDP.
    {"zero1", 0, 0, {ROLE_BATCH | ROLE_STATE}},
    {"zero2", 0, 0, {ROLE_BATCH | ROLE_STATE | ROLE_GRADIENT}},
    {"fsdp", 0, 0, {ROLE_BATCH | ROLES_WEIGHT}},
    // Shoeybi et al. 2019; with sequence parallelism, Korthikanti et al. 2022.
    {"megatron", 0, 0, {ROLES_COLUMNS}},
    {"megatron-sp", 0, 0, {ROLES_COLUMNS | ROLE_SEQUENCE}},
    {"ulysses", 0, 0, {ROLE_SEQUENCE | ROLE_HEAD | ROLES_WEIGHT}},  // Jacobs et al. 2023
    {"2d", 2, 0, {ROLES_ROWS, ROLES_COLUMNS}},                      // Optimus: Xu et al. 2021
    {"2.5d", 3, 1, {ROLE_BATCH, ROLES_ROWS, ROLES_COLUMNS}},        // Wang et al. 2021
    {"3d", 3, 0, {ROLES_ROWS, ROLES_COLUMNS, ROLES_COLUMNS}},       // Bian et al. 2021
};

enum { N_PRESETS = sizeof presets / sizeof *presets };

// ---- text ----

static bool wrong(const char *text, const char *what, Diag *d)
{
    diag_error(d, "preset '%.200s': %s", text, what);
    return false;
}

static int name_find(const char *name, size_t n)
{
    for (int i = 0; i < N_PRESETS; i++)
        if (strlen(presets[i].name) == n && !memcmp(presets[i].name, name, n))
            return i;
    return -1;
}

bool preset_parse(const char *text, Preset *p, Diag *d)
{
    static const char known[] = "expected ddp, zero1, zero2, fsdp, megatron, megatron-sp, ulysses, "
                                "2d, 2.5d, 3d, or several with sizes such as ddp=2,megatron=4";
    const char *at = text;

    for (*p = (Preset){0};; at++) {
        size_t n = strcspn(at, "=,");
        PresetPart part = {.preset = name_find(at, n)};
        if (part.preset < 0)
            return wrong(text, known, d);
        if (p->n == MAX_AXES)
            return wrong(text, "expected at most 4 presets", d);
        at += n;
        bool has_size = *at == '=';
        for (at += has_size; has_size && isdigit((unsigned char)*at); at++)
            part.size = part.size < 1 << 20 ? 10 * part.size + (*at - '0') : part.size;
        if ((has_size || p->n || *at == ',') && part.size < 2)
            return wrong(text, "expected a size of at least 2 after each name", d);
        p->part[p->n++] = part;
        if (*at != ',')
            break;
    }
    return !*at || wrong(text, known, d);
}

void preset_print(const Preset *p, Text *t)
{
    for (int i = 0; i < p->n; i++) {
        text_printf(t, "%s%s", i ? "," : "", presets[p->part[i].preset].name);
        if (p->part[i].size)
            text_printf(t, "=%d", p->part[i].size);
    }
}

// ---- meshes ----

// Writes the roles of the axes that the part covers, from `axis` on. Returns how many it covers; 0:
// it doesn't fit.
static int part_roles(const PresetPart *part, const Mesh *m, int axis, unsigned *roles)
{
    int n = presets[part->preset].n_axes, first = presets[part->preset].first_equal, last = axis;

    for (int64_t size = 1; last < m->n_axes && (!part->size || size < part->size); last++)
        size *= m->size[last];
    int64_t size = 1;
    for (int a = axis; a < last; a++) {
        size *= m->size[a];
        roles[a] = presets[part->preset].roles[n ? (a - axis) % MAX_AXES : 0];
        if (n && a - axis >= first && m->size[a] != m->size[axis + first])
            return 0;
    }
    return (part->size && size != part->size) || (n && last - axis != n) ? 0 : last - axis;
}

bool preset_fits(const Preset *p, const Mesh *m, unsigned axes[MAX_AXES])
{
    int axis = 0;

    for (int i = 0; i < p->n; i++) {
        int n = part_roles(&p->part[i], m, axis, axes);
        if (!n)
            return false;
        axis += n;
    }
    return axis == m->n_axes;
}

// ---- roles ----

// Classes of dims that are split together, since they belong to one factor of a node (union-find).
typedef struct Dims {
    const PlanProblem *q;
    const Graph *g;
    int *of;         // by MAX_RANK · first tied value + dim: the next of its class
    unsigned *role;  // by root of a class: ROLE_BATCH, ROLE_SEQUENCE or 0
} Dims;

static int class_of(const Dims *x, int at)
{
    while (x->of[at] != at)
        at = x->of[at] = x->of[x->of[at]];
    return at;
}

static int dim_at(const Dims *x, ValueId v, int dim)
{
    return MAX_RANK * x->q->tied.value[v] + dim;
}

static void join_dims(Dims *x, NodeId n)
{
    const Rule *r = &x->q->rule[n];
    int first[MAX_FACTORS];

    memset(first, -1, sizeof first);
    for (int i = 0; i < r->n_in + r->n_out; i++) {
        ValueId v = nth_operand(&x->g->nodes[n], i);
        for (int k = 0; v && k < value_of(x->g, v)->rank; k++) {
            int f = r->dim[i][k], at = class_of(x, dim_at(x, v, k));
            first[f] = first[f] < 0 ? at : class_of(x, first[f]);
            x->of[at] = first[f];
        }
    }
}

static Dims dims_find(Arena *a, const PlanProblem *q, const Graph *g)
{
    size_t n = (size_t)MAX_RANK * (size_t)g->n_values;
    Dims x = {q, g, arena_array(a, int, n), arena_array(a, unsigned, n)};

    for (size_t i = 0; i < n; i++)
        x.of[i] = (int)i;
    for (NodeId k = 1; k < g->n_nodes; k++)
        if (q->tied.node[k] == k)
            join_dims(&x, k);
    for (ValueId v = 1; v < g->n_values; v++)
        for (int k = 0; k < value_of(g, v)->rank && value_of(g, v)->kind == VALUE_INPUT; k++)
            x.role[class_of(&x, dim_at(&x, v, k))] |= k ? ROLE_SEQUENCE : ROLE_BATCH;
    return x;
}

// The role of a dim that comes from the graph's inputs: ROLE_BATCH, ROLE_SEQUENCE or 0.
static unsigned dim_role(const Dims *x, ValueId v, int dim)
{
    unsigned role = x->role[class_of(x, dim_at(x, v, dim))];

    return role & ROLE_BATCH ? ROLE_BATCH : role;
}

static bool has_data(const Dims *x, ValueId v)
{
    for (int k = 0; k < value_of(x->g, v)->rank; k++)
        if (dim_role(x, v, k))
            return true;
    return false;
}

// The roles in which an axis may split a dim of a value's storage spec.
static unsigned storage_role(const Dims *x, ValueId v, int dim)
{
    const Value *y = value_of(x->g, v);

    if (y->kind == VALUE_PARAMETER || y->kind == VALUE_BUFFER)
        return ROLE_PARAMETER;
    if (y->kind == VALUE_STATE)
        return ROLE_STATE;
    if (has_data(x, v))
        return dim_role(x, v, dim) ? dim_role(x, v, dim) : ROLE_HEAD | ROLE_FEATURE;
    return y->producer && producer(x->g, v)->phase == UPDATE ? ROLE_STATE : ROLE_GRADIENT;
}

// The roles in which an axis may split a dim of a value's compute spec in a phase.
static unsigned compute_role(const Dims *x, ValueId v, int dim, Phase phase)
{
    if (has_data(x, v))
        return dim_role(x, v, dim) ? dim_role(x, v, dim) : ROLE_HEAD | ROLE_FEATURE;
    return phase == UPDATE ? ROLE_STATE : ROLES_WEIGHT | ROLE_FEATURE;
}

// Is the factor a dim of all operands of a product?
static bool is_head(const Dims *x, NodeId n, int f)
{
    const Rule *r = &x->q->rule[n];

    for (int i = 0; i < r->n_in + r->n_out; i++) {
        bool is_there = !nth_operand(&x->g->nodes[n], i);
        for (int k = 0; k < MAX_RANK; k++)
            is_there |= r->dim[i][k] == f;
        if (!is_there)
            return false;
    }
    return x->g->nodes[n].op->is_product;
}

// The roles in which an axis may split a factor of a node.
static unsigned factor_role(const Dims *x, NodeId n, int f)
{
    const Rule *r = &x->q->rule[n];
    bool is_data = false;

    for (int i = 0; i < r->n_in + r->n_out; i++) {
        ValueId v = nth_operand(&x->g->nodes[n], i);
        for (int k = 0; v && k < value_of(x->g, v)->rank; k++)
            if (r->dim[i][k] == f && dim_role(x, v, k))
                return dim_role(x, v, k);
        is_data |= v && has_data(x, v);
    }
    if (is_data)
        return is_head(x, n, f) ? ROLE_HEAD : ROLE_FEATURE;
    return x->g->nodes[n].phase == UPDATE ? ROLE_STATE : ROLES_WEIGHT | ROLE_FEATURE;
}

unsigned *preset_roles(Arena *a, const PlanProblem *q, const Graph *g)
{
    unsigned *role = arena_array(a, unsigned, (size_t)MAX_FACTORS *(size_t)q->n_variables);
    Arena *scratch = arena_new();
    Dims x = dims_find(scratch, q, g);

    for (int i = 0; i < q->n_variables; i++) {
        const Variable *v = &q->variable[i];
        int n = v->kind == VARIABLE_NODE ? q->rule[v->id].n_factors : value_of(g, v->id)->rank;
        for (int k = 0; k < n; k++)
            role[MAX_FACTORS * i + k] = v->kind == VARIABLE_NODE ? factor_role(&x, v->id, k)
                                        : v->kind == VARIABLE_STORAGE
                                            ? storage_role(&x, v->id, k)
                                            : compute_role(&x, v->id, k, v->phase);
    }
    arena_free(scratch);
    return role;
}

// Does the spec split only what the axes' roles allow? Axes that share a dim must do so in the
// mesh's order: presets know no other.
static bool is_allowed(const unsigned *role, const Spec *s, const unsigned *axes)
{
    for (int a = 0; a < MAX_AXES; a++) {
        int sharing = 0;
        if (s->at[a] < 0 || s->at[a] >= LINEAR_SINGLE)
            continue;
        for (int b = 0; b < a; b++)
            sharing += s->at[b] == s->at[a];
        if (!(axes[a] & role[s->at[a]]) || s->level[a] != sharing)
            return false;
    }
    return true;
}

// The roles that an axis should split in all products: the data, or else the weights.
static unsigned purpose_of(unsigned roles)
{
    if (roles & ROLE_BATCH)
        return roles & (ROLE_BATCH | ROLE_SEQUENCE);
    return roles & (ROLE_HEAD | (roles & ROLE_FEATURE ? ROLE_FEATURE : ROLE_SEQUENCE));
}

static bool splits(const unsigned *role, const Strategy *s, int axis, unsigned roles)
{
    int f = s->at[axis];

    return f >= 0 && f < LINEAR_SINGLE && role[f] & roles;
}

// Keeps only the strategies of a product that split it along the axis in one of the roles. False,
// keeping all, where there are none.
static bool demand(const Variable *v, const unsigned *role, int axis, unsigned roles, bool *mark)
{
    bool is_split = false;

    for (int k = 0; k < v->n; k++)
        is_split |= mark[k] && splits(role, &v->spec[k], axis, roles);
    for (int k = 0; k < v->n && is_split; k++)
        mark[k] &= splits(role, &v->spec[k], axis, roles);
    return is_split;
}

bool preset_apply(const PlanProblem *q, const unsigned *role, const unsigned axes[MAX_AXES],
                  bool *keep)
{
    for (int i = 0; i < q->n_variables; i++) {
        bool *mark = keep + q->problem.first[i];
        for (int k = 0; k < q->variable[i].n; k++)
            mark[k] &= is_allowed(role + MAX_FACTORS * i, &q->variable[i].spec[k], axes);
        if (!memchr(mark, true, (size_t)q->variable[i].n))
            return false;
    }
    return true;
}

int preset_demand(const PlanProblem *q, const Graph *g, const unsigned *role, const Mesh *m,
                  const unsigned axes[MAX_AXES], bool *keep)
{
    for (int a = 0; a < m->n_axes; a++) {
        bool is_split = false;
        for (int i = 0; i < q->n_variables; i++) {
            const Variable *v = &q->variable[i];
            if (v->kind == VARIABLE_NODE && g->nodes[v->id].op->is_product)
                is_split |= demand(v, role + MAX_FACTORS * i, a, purpose_of(axes[a]),
                                   keep + q->problem.first[i]);
        }
        if (!is_split)
            return a;
    }
    return -1;
}

// ---- the presets to try ----

// Presets to combine: one of `outer` for the first axes, one of `inner` for the last axis.
static const char *const outer[] = {"ddp", "zero1", "fsdp"}, *const inner[] = {"megatron",
                                                                               "megatron-sp"};

static void add_preset(const Mesh *m, Preset p, Preset *to, int *n)
{
    unsigned axes[MAX_AXES];

    if (preset_fits(&p, m, axes))
        to[(*n)++] = p;
}

int presets_of(const Mesh *m, bool is_first, Preset to[MAX_PRESETS])
{
    int n = 0;

    for (int i = 0; i < N_PRESETS; i++)
        if (is_first || presets[i].n_axes)
            add_preset(m, (Preset){1, {{i, 0}}}, to, &n);
    for (int i = 0; i < 6 && m->n_axes > 1; i++) {
        int last = m->size[m->n_axes - 1], x = name_find(outer[i % 3], strlen(outer[i % 3]));
        int y = name_find(inner[i / 3], strlen(inner[i / 3]));
        add_preset(m, (Preset){2, {{x, mesh_ranks(m) / last}, {y, last}}}, to, &n);
    }
    return n;
}
