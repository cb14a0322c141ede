// program_check finds what is wrong: programs are changed in one place at random, and those that
// then compute something else must not pass. The programs are right before: training steps of the
// cases on one rank, and of tiny models on several. `mutant_test N` tries N mutants of each.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lower/machines.h"
#include "tests/lower/models.h"
#include "tests/lower/plans.h"
#include "tests/lower/programs.h"

// ---- mutations ----

// A mutation changes one thing of the set and returns true, or finds nothing to change.
typedef bool (*Mutation)(Program *p, Set *s, Dice *d);

static Item *pick_item(Set *s, Dice *d, int kinds)
{
    for (int tries = 0; tries < 50; tries++) {
        Item *it = &s->items[roll(d, s->n_items)];
        if (kinds >> it->kind & 1)
            return it;
    }
    return NULL;
}

enum {
    WORKS = 1 << ITEM_GROUP | 1 << ITEM_KERNEL | 1 << ITEM_COPY,
    PLACES = WORKS | 1 << ITEM_FILL | 1 << ITEM_GRADIENT | 1 << ITEM_PAD,
};

static Operand *pick_operand(Set *s, Dice *d, Item **it)
{
    *it = pick_item(s, d, PLACES);
    if (!*it || !((*it)->n_in + (*it)->n_out))
        return NULL;
    Operand *o = &(*it)->operands[roll(d, (*it)->n_in + (*it)->n_out)];
    return o->base ? o : NULL;
}

static bool is_same_type(const Graph *g, ValueId a, ValueId b)
{
    const Value *x = value_of(g, a), *y = value_of(g, b);

    return x->dtype == y->dtype && x->rank == y->rank &&
           !memcmp(x->dim, y->dim, sizeof *x->dim * (size_t)x->rank);
}

static bool change_slot(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);
    Storage *x = o ? &s->storage[o->base] : NULL;

    (void)p;
    if (!x || (!x->step && !x->ring))
        return false;
    if (x->ring)
        x->ring += x->ring > 1 && roll(d, 2) ? -1 : 1;
    else
        x->offset += roll(d, 2) ? x->step : -x->step;
    return true;
}

static bool change_iteration(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);

    (void)p;
    if (!o || !it->region || !s->storage[o->base].step)
        return false;
    o->delta += roll(d, 2) ? 1 : -1;
    return true;
}

// The place of another value of the same type.
static bool change_place(Program *p, Set *s, Dice *d)
{
    Item *it, *other;
    Operand *o = pick_operand(s, d, &it), *x = pick_operand(s, d, &other);

    (void)p;
    if (!o || !x || o->base == x->base || !is_same_type(s->g, o->value, x->value) ||
        value_of(s->g, o->base)->dtype != value_of(s->g, x->base)->dtype)
        return false;
    Operand was = *o;
    *o = *x;
    o->value = was.value;
    return true;
}

// A number of the text where the value is read from memory.
static bool change_literal(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, 1 << ITEM_GROUP | 1 << ITEM_FILL);
    int at = 0;
    double x;

    (void)p;
    if (it && it->kind == ITEM_FILL) {
        it->fill += 1;
        return true;
    }
    for (int i = 0; it && i < it->n_nodes; i++)
        for (int k = 0; k < s->g->nodes[it->nodes[i]].n_in; k++, at++)
            if (it->source[at] >= 0 && value_splat(s->g, s->g->nodes[it->nodes[i]].in[k], &x)) {
                it->source[at] = SOURCE_SPLAT;
                return true;
            }
    return false;
}

// The node of another iteration, whose numbers are in the text then.
static bool change_node(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, 1 << ITEM_KERNEL);
    const Node *n = it ? &s->g->nodes[it->nodes[0]] : NULL;

    (void)p;
    if (!n || !it->region || n->block.cls != it->cls)
        return false;
    for (NodeId k = 1; k < s->g->n_nodes; k++) {
        Block b = s->g->nodes[k].block;
        if (b.cls == n->block.cls && b.pos == n->block.pos && b.iter == n->block.iter + 1) {
            it->nodes[0] = k;
            return true;
        }
    }
    return false;
}

static bool drop(Program *p, Set *s, Dice *d, int kinds)
{
    Item *it = pick_item(s, d, kinds);

    (void)p;
    if (it)
        it->kind = ITEM_NONE;
    return it;
}

static bool drop_copy(Program *p, Set *s, Dice *d) { return drop(p, s, d, 1 << ITEM_COPY); }
static bool drop_item(Program *p, Set *s, Dice *d)
{
    return drop(p, s, d, PLACES | 1 << ITEM_WAIT);
}
static bool drop_pad(Program *p, Set *s, Dice *d) { return drop(p, s, d, 1 << ITEM_PAD); }
static bool drop_wait(Program *p, Set *s, Dice *d) { return drop(p, s, d, 1 << ITEM_WAIT); }

static bool swap_operands(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, WORKS);

    (void)p;
    if (!it || it->n_in < 2)
        return false;
    Operand *a = &it->operands[roll(d, it->n_in)], *b = &it->operands[roll(d, it->n_in)], was = *a;
    if (a == b || !a->base || !b->base || !is_same_type(s->g, a->value, b->value) ||
        value_of(s->g, a->base)->dtype != value_of(s->g, b->base)->dtype)
        return false;
    *a = *b;
    *b = was;
    return true;
}

static bool change_stride(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);
    int rank = o ? value_of(s->g, o->value)->rank : 0;

    (void)p;
    if (!rank)
        return false;
    o->stride[roll(d, rank)] += roll(d, 2) ? 1 : -1;
    return true;
}

static bool change_order(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);
    int rank = o ? value_of(s->g, o->value)->rank : 0;

    (void)p;
    if (rank < 2)
        return false;
    int64_t *a = &o->stride[roll(d, rank)], *b = &o->stride[roll(d, rank)], was = *a;
    *a = *b;
    *b = was;
    return a != b;
}

static bool change_offset(Program *p, Set *s, Dice *d)
{
    Item *it;
    Operand *o = pick_operand(s, d, &it);

    (void)p;
    if (!o)
        return false;
    *(roll(d, 4) ? &o->offset : &o->step) += roll(d, 2) ? 1 : -1;
    return true;
}

// A buffer over another one.
static bool move_buffer(Program *p, Set *s, Dice *d)
{
    Buffer *a = &p->buffers[roll(d, p->n_buffers)], *b = &p->buffers[roll(d, p->n_buffers)];

    (void)s;
    if (!a->bytes || !b->bytes || a == b || a->offset == b->offset)
        return false;
    a->offset = b->offset;
    return true;
}

// An item before one that stands ahead of it, in the same loop.
static bool move_item(Program *p, Set *s, Dice *d)
{
    int to = roll(d, s->n_items), from = to + 1 + roll(d, 3);

    (void)p;
    for (int i = to; i <= from; i++)
        if (i >= s->n_items || s->items[i].kind == ITEM_LOOP || s->items[i].kind == ITEM_END)
            return false;
    Item was = s->items[from];
    memmove(&s->items[to + 1], &s->items[to], sizeof was * (size_t)(from - to));
    s->items[to] = was;
    return true;
}

static bool turn_loop(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, 1 << ITEM_LOOP);

    (void)p;
    if (it)
        it->is_reverse = !it->is_reverse;
    return it;
}

static bool delay_item(Program *p, Set *s, Dice *d)
{
    Item *it = pick_item(s, d, PLACES | 1 << ITEM_WAIT);

    (void)p;
    if (!it || !it->region || it->late >= s->items[it->region].late)
        return false;
    it->late++;
    return true;
}

static const struct {
    const char *name;
    Mutation change;
} mutations[] = {{"slot", change_slot},
                 {"iteration", change_iteration},
                 {"another value's place", change_place},
                 {"literal", change_literal},
                 {"another iteration's node", change_node},
                 {"missing copy", drop_copy},
                 {"missing item", drop_item},
                 {"missing padding", drop_pad},
                 {"missing wait", drop_wait},
                 {"swapped operands", swap_operands},
                 {"stride", change_stride},
                 {"order of dims", change_order},
                 {"offset", change_offset},
                 {"overlapping buffers", move_buffer},
                 {"order of items", move_item},
                 {"direction of a loop", turn_loop},
                 {"late item", delay_item}};

// ---- what programs compute ----

typedef struct Outcome {
    uint64_t hash;
    bool is_lost;
} Outcome;

// What goes out and what lives on, of one rank.
static void add_ends(const Machine *m, uint64_t *hash)
{
    const Graph *g = m->s->g;

    for (int i = 0; i < g->n_outputs + g->n_carries; i++) {
        bool is_out = i < g->n_outputs;
        ValueId v = is_out ? g->outputs[i].value : g->carries[i - g->n_outputs].in;
        Address a;
        if ((is_out && g->outputs[i].role == OUTPUT_GRADIENT) || !value_address(m->p, m->s, v, &a))
            continue;
        Operand o = whole(m, v);
        *hash = hash_value(m, &o, 0, *hash);
    }
}

// A program that can be run, again and again.
typedef struct Subject {
    const char *name;
    Program *p;
    Graph *g;       // one rank
    Tensor *value;  // one rank: of what has no producer
    Sharded *s;     // several
    const Model *model;
} Subject;

static Outcome run_alone(const Subject *x, Arena *a)
{
    Outcome o = {0};
    Machine m = {.p = x->p, .s = &x->p->set[SET_TRAIN], .is_lost = &o.is_lost, .shown = &o.hash};

    (void)a;
    prepare(&m, x->value);
    run_items(&m, 0, m.s->n_items);
    add_ends(&m, &o.hash);
    arena_free(m.scratch);
    free(m.bytes);
    return o;
}

static void run_crowd(const Subject *x, bool is_late, Outcome *o, Arena *a)
{
    Machines all = machines_new(x->s, a);

    all.is_late = is_late;
    machines_start(&all, x->p, x->model->value);
    for (int r = 0; r < all.crowd.n; r++) {
        all.m[r].is_lost = &o->is_lost;
        all.m[r].shown = &o->hash;
    }
    run_program(&all);
    for (int r = 0; r < all.crowd.n; r++)
        add_ends(&all.m[r], &o->hash);
    machines_end(&all);
}

static Outcome run(const Subject *x)
{
    Arena *a = arena_new();
    Outcome o = {0};

    if (x->s) {
        run_crowd(x, false, &o, a);
        run_crowd(x, true, &o, a);
    } else {
        o = run_alone(x, a);
    }
    arena_free(a);
    return o;
}

static bool passes(const Subject *x)
{
    int ranks = x->s ? mesh_ranks(&x->s->plan->mesh) : 1;
    bool ok = true;

    for (int r = 0; r < ranks && ok; r++)
        ok = set_check(x->p, SET_TRAIN, r, NULL);
    return ok;
}

// ---- mutants ----

static struct {
    int tried, differ, missed, found;  // found: whether they differ or not
} counts[COUNT(mutations)];

typedef Subject (*Maker)(Arena *a, int i, uint64_t dice);

// Program i with one change; `k` says which.
static void try_mutant(Maker make, int i, int k, uint64_t dice, const Outcome *right)
{
    Arena *a = arena_new();
    Subject x = make(a, i, 1);
    Dice d = {dice};
    bool is_changed = false;

    for (int tries = 0; !is_changed && tries < 20; tries++)
        is_changed = mutations[k].change(x.p, &x.p->set[SET_TRAIN], &d);
    if (is_changed) {
        Outcome o = run(&x);
        bool differs = o.is_lost || o.hash != right->hash, is_found = !passes(&x);
        counts[k].tried++;
        counts[k].differ += differs;
        counts[k].found += is_found;
        counts[k].missed += differs && !is_found;
        if (differs && !is_found)
            printf("# missed: %s, program %d, dice %" PRIu64 ": %s\n", x.name, i, dice,
                   mutations[k].name);
    }
    arena_free(a);
}

static void try_program(Maker make, int i, int mutants, Dice *d)
{
    Arena *a = arena_new();
    Subject x = make(a, i, 1);
    Outcome right = run(&x);

    if (right.is_lost || !passes(&x))
        fail_msg("%s: a good program is refused", x.name);
    for (int n = 0; n < mutants; n++)
        try_mutant(make, i, roll(d, COUNT(mutations)), d->state, &right);
    arena_free(a);
}

static Subject make_case(Arena *a, int i, uint64_t dice)
{
    Diag *d = arena_array(a, Diag, 1);
    LowerOptions lo = {.fuse = i % 3 > 0, .accumulate = cases[i].accumulate};
    Subject x = {.name = cases[i].name};

    (void)dice;
    d->file = x.name;
    x.g = training(i, i % 2, a, d);
    Tensor *value = evaluate(x.g, a);
    int n_values = x.g->n_values;
    x.p = lower(a, x.g, NULL, &lo, d);
    assert_non_null(x.p);
    x.value = arena_array(a, Tensor, x.g->n_values);
    memcpy(x.value, value, sizeof *value * (size_t)n_values);
    return x;
}

static Model split_models[COUNT(models)];

static Subject make_split(Arena *a, int i, uint64_t dice)
{
    Diag *diag = arena_array(a, Diag, 1);
    int at = i % 4;
    Dice d = {dice + (uint64_t)i};
    const Cluster cluster = {.bandwidth = 1e6, .reading = 1e6, .vector = 1e6};
    Subject x = {.name = models[i].name, .model = &split_models[i]};

    if (!split_models[i].g)
        split_models[i] = model_new(i);
    diag->file = x.name;
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    Seen *seen = arena_array(a, Seen, x.model->g->n_nodes);
    Plan *plan = arena_array(a, Plan, 1);
    *plan = roll_plan(x.model->g, &mesh, &d, a, seen, 0, NULL);
    x.s = bucket(a, partition(a, x.model->g, plan, diag));
    LowerOptions o = {.fuse = true, .accumulate = 1, .sharded = {x.s}, .cluster = &cluster};
    x.p = lower(a, x.s->g, NULL, &o, diag);
    assert_non_null(x.p);
    return x;
}

static int asked_mutants;

static void test_mutants(void **state)
{
    static const char *const split[] = {"regress", "mlp", "cnn", "gpt_dropout", "lstm"};
    int differ = 0, missed = 0;
    Dice d = {77};

    (void)state;
    for (int i = 0; i < COUNT(cases); i++)
        try_program(make_case, i, asked_mutants, &d);
    for (int i = 0; i < COUNT(models); i++)
        for (int k = 0; k < COUNT(split); k++)
            if (!strcmp(models[i].name, split[k]))
                try_program(make_split, i, asked_mutants / 2, &d);
    for (int k = 0; k < COUNT(mutations); k++) {
        printf("# %-24s %4d tried, %4d differ, %4d found, %d missed\n", mutations[k].name,
               counts[k].tried, counts[k].differ, counts[k].found, counts[k].missed);
        differ += counts[k].differ;
        missed += counts[k].missed;
    }
    printf("# %d mutants compute something else\n", differ);
    assert_int_equal(missed, 0);
    assert_true(differ >= 500);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};

    asked_mutants = argc > 1 ? atoi(argv[1]) : 80;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
