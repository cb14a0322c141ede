// Lowered programs of several ranks compute what one rank does: all ranks run side by side, each on
// an arena of its own that starts full of NaN, chunk by chunk and with their padding, under random
// plans of the tiny models' training steps. `machines_test N` tries N plans of each model. What
// goes on beside computation is done once where it starts and once where it is waited for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/lower/interpret.h"
#include "tests/lower/models.h"
#include "tests/lower/plans.h"
#include "tests/lower/ranks.h"

typedef struct Machines {
    Machine *m;
    Crowd crowd;   // the values that were asked for
    bool is_late;  // exchanges that go on beside others read and write as late as may be
} Machines;

// ---- memory ----

// The piece of `v`, or of a copy of it, that lies in the rank's room for a chunk.
static Tensor load_piece(const Machine *m, ValueId v, const Operand *o, int layer)
{
    int64_t dim[MAX_RANK];

    sharded_dims(m->s->sharded, v, m->rank, dim);
    return load(m, o, layer, value_of(m->s->g, v)->rank, dim);
}

static void machine_start(Machine *m, const Crowd *c, const Tensor *whole_value)
{
    const Graph *g = m->s->g;

    m->bytes = malloc((size_t)m->p->arena_bytes + 1);
    memset(m->bytes, 0xff, (size_t)m->p->arena_bytes);
    m->scratch = arena_new();
    for (ValueId v = 1; v < c->s->n_values; v++) {
        Address at;
        if (value_of(g, v)->producer || !value_address(m->p, m->s, v, &at))
            continue;
        Tensor t = cut_piece(c, v, m->rank, &whole_value[c->s->value[v].of]);
        Operand o = whole(m, v);
        store(m, &o, 0, &t);
    }
}

// ---- running ----

static void run_exchange(const Machines *x, const Item *it, int layer)
{
    const Node *n = &x->crowd.s->g->nodes[it->nodes[0]];
    int *rank = arena_array(x->crowd.arena, int, x->crowd.n);

    for (int first = 0; first < x->crowd.n; first++) {
        int count = find_group(&x->crowd, n, first, rank);
        Tensor *in_ = arena_array(x->m[0].scratch, Tensor, count + 1);
        Tensor *out_ = arena_array(x->m[0].scratch, Tensor, count + 1);
        for (int k = 0; k < count; k++) {
            in_[k] = load_piece(&x->m[rank[k]], n->in[0], &it->operands[0], layer);
            out_[k] = piece_new(&x->crowd, n->out[0], rank[k]);
        }
        if (count)
            n->op->exchange(n, count, in_, out_);
        for (int k = 0; k < count; k++) {
            tensor_round(&out_[k]);
            store(&x->m[rank[k]], &it->operands[1], layer, &out_[k]);
        }
    }
}

// From its start to its end nobody may read what it makes: that is NaN until then.
static void spoil(const Machines *x, const Item *it, int layer)
{
    const Value *y = value_of(x->crowd.s->g, it->operands[1].value);

    for (int r = 0; r < x->crowd.n; r++)
        memset(x->m[r].bytes + place_at(&x->m[r], &it->operands[1], layer), 0xff,
               (size_t)value_bytes(y));
}

static void run_on_all(const Machines *x, const Item *it, int layer)
{
    const Graph *g = x->crowd.s->g;
    bool is_exchange = it->kind == ITEM_KERNEL && g->nodes[it->nodes[0]].op->exchange;

    if (it->slot && x->is_late && is_exchange) {
        spoil(x, it, layer);
        return;
    }
    if (is_exchange || (it->kind == ITEM_WAIT && x->is_late)) {
        run_exchange(x, it, layer);
        return;
    }
    for (int r = 0; r < x->crowd.n; r++)
        run_item(&x->m[r], it, layer);
}

static void run_program(Machines *x)
{
    const Set *s = x->m[0].s;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        int length = it->kind == ITEM_LOOP ? s->g->classes[it->cls].length : 0;
        for (int turn = 0; length && turn < length + it->late; turn++)
            for (int j = i + 1; j < it->match; j++) {
                int layer = item_layer(it, length, &s->items[j], turn);
                if (layer >= 0)
                    run_on_all(x, &s->items[j], layer);
            }
        if (length)
            i = it->match;
        else
            run_on_all(x, it, 0);
        for (int r = 0; r < x->crowd.n; r++) {
            arena_free(x->m[r].scratch);
            x->m[r].scratch = arena_new();
        }
    }
}

// ---- comparing ----

// What lives on, and what goes out but for gradients, which updates may write over.
static void compare(Machines *x, const Model *m, uint64_t dice)
{
    const Graph *g = x->crowd.s->g;
    bool same = true;
    double most = largest_gradient(m);

    for (int i = 0; i < g->n_outputs + g->n_carries; i++) {
        bool is_out = i < g->n_outputs;
        ValueId v = is_out ? g->outputs[i].value : g->carries[i - g->n_outputs].in;
        ValueId w = is_out ? v : g->carries[i - g->n_outputs].out;
        const Tensor *want = &m->value[x->crowd.s->value[w].of];
        if (!want->f || (is_out && g->outputs[i].role == OUTPUT_GRADIENT) ||
            (!is_out && !m->is_smooth))
            continue;
        for (int r = 0; r < x->crowd.n; r++) {
            Operand o = whole(&x->m[r], v);
            x->crowd.value[r][v] = load_piece(&x->m[r], v, &o, 0);
        }
        Tensor got = join_pieces(&x->crowd, v, &same);
        double error = error_of(&got, want, is_out ? 0 : most);
        if (!(error <= 1e-5) || !same)
            fail_msg("%s on %d ranks, dice %" PRIu64 ": %s is off by %.2g%s", m->name, x->crowd.n,
                     dice, is_out ? g->outputs[i].name : value_of(g, v)->name, error,
                     same ? "" : "; ranks differ");
    }
}

static void run_and_compare(Machines *x, const Program *p, const Model *m, uint64_t dice)
{
    for (int r = 0; r < x->crowd.n; r++) {
        x->m[r] = (Machine){.p = p, .s = &p->set[SET_TRAIN], .rank = r};
        machine_start(&x->m[r], &x->crowd, m->value);
    }
    run_program(x);
    compare(x, m, dice);
    for (int r = 0; r < x->crowd.n; r++) {
        arena_free(x->m[r].scratch);
        free(x->m[r].bytes);
    }
}

// Of all programs, loops that have something late, or apart, and programs whose messages keep
// ranks busy.
static int slots, late, apart, slowed;

// Neither takes longer than both; and if messages keep the ranks from computing as long as they are
// under way, no longer than one after the other.
static void check_time(const Program *p, const Cluster *c, Mesh *mesh)
{
    Simulated t = program_simulate(p, SET_TRAIN, c);
    double most = t.compute + t.communication;

    assert_true(t.seconds <= most * (1 + 1e-9));
    assert_true(t.seconds >= fmax(t.compute, t.communication) * (1 - 1e-9));
    for (int a = 0; a < mesh->n_axes; a++)
        mesh->overhead[a] = mesh->beta[a];
    Simulated slow = program_simulate(p, SET_TRAIN, c);
    assert_true(slow.compute == t.compute && slow.communication == t.communication);
    assert_true(slow.seconds >= t.seconds * (1 - 1e-9) && slow.seconds <= most * (1 + 1e-9));
    slowed += slow.seconds > 1.01 * t.seconds;
}

static void check_plan(const Model *m, int at, Dice *d, Seen *seen)
{
    Arena *a = arena_new();
    // From machines that are slow beside their links to such as are done before anything comes.
    double rate = pow(10, 3 + roll(d, 8));
    Cluster cluster = {.bandwidth = rate, .reading = rate, .vector = rate};
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    uint64_t dice = d->state;
    Diag diag = {.file = m->name};
    Plan plan = roll_plan(m->g, &mesh, d, a, seen, 0, NULL);
    Sharded *s = bucket(a, partition(a, m->g, &plan, &diag));
    LowerOptions o = {.fuse = roll(d, 4) > 0,
                      .accumulate = 1,
                      .sharded = {s},
                      .cluster = &cluster,
                      .reach = roll(d, 3)};
    Program *p = lower(a, s->g, NULL, &o, &diag);

    assert_non_null(p);
    check_time(p, &cluster, &plan.mesh);
    Machines x = {.crowd = {.s = s, .mesh = &s->plan->mesh, .n = mesh_ranks(&mesh), .arena = a}};
    x.m = arena_array(a, Machine, x.crowd.n);
    x.crowd.value = arena_array(a, Tensor *, x.crowd.n);
    for (int r = 0; r < x.crowd.n; r++)
        x.crowd.value[r] = arena_array(a, Tensor, s->g->n_values);
    run_and_compare(&x, p, m, dice);
    x.is_late = true;
    run_and_compare(&x, p, m, dice);
    slots += p->n_slots;
    for (int i = 0; i < p->set[SET_TRAIN].n_items; i++) {
        const Item *it = &p->set[SET_TRAIN].items[i];
        late += it->kind == ITEM_LOOP && it->late;
        apart += it->kind == ITEM_LOOP && it->apart;
    }
    arena_free(a);
}

static Asked asked;

static void programs_of_models(void **state)
{
    for (int i = 0; i < COUNT(models); i++) {
        if (!is_asked(&asked, i))
            continue;
        Model m = model_new(i);
        Dice d = {101 + (uint64_t)i};
        Seen *seen = arena_array(m.arena, Seen, m.g->n_nodes);
        for (int k = 0; k < asked.plans; k++)
            check_plan(&m, (i + k) % COUNT(meshes), &d, seen);
        arena_free(m.arena);
    }
    assert_true(slots > asked.plans);
    assert_true(late > 0);
    assert_true(apart > 0);
    assert_true(slowed > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_of_models)};

    asked = asked_of(argc, argv);
    asked.plans = asked.plans ? asked.plans : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
