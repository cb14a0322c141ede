// The rows of a plan's problem don't know how buffers pack, how long a copy lives that several
// nodes read, nor the transient bytes of communication. So a plan whose program fits may never be
// proposed, though it often differs in a single decision from one that was. This search moves from
// plan to plan by the bytes and the steps of their programs.
#include "compile/fit/local_search.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/search.h"

typedef struct LocalSearch {
    AlongPath *along;
    AlongPath trial;  // the same for moves: programs are packed briefly, and mistakes aren't told
    TiedValues tied;  // of the model
    int64_t work;     // what is left
    TriedIndices begun;  // programs whose moves were tried
    // The plan that is changed now, its program, and its graph at the index:
    ModelPlan *plan;
    int index;
    Tried tried;
    PlanResult x;         // its moves
    TiedValues at_index;  // of that graph
    bool has_to_fit;      // no program is better that doesn't
} LocalSearch;

// Counts moves. False: the search is to end.
static bool goes_on(LocalSearch *s, int n_moves)
{
    return budget_add(s->along->r->budget, BUDGET_moves, n_moves) && s->work > 0;
}

// ---- a changed plan ----

static ModelPlan *copy_plan(Arena *a, const Graph *g, const ModelPlan *p)
{
    ModelPlan *to = arena_array(a, ModelPlan, 1);

    *to = (ModelPlan){.mesh = p->mesh,
                      .storage_spec = arena_array(a, Spec, g->n_values),
                      .compute_spec = arena_array(a, Spec, 3 * (size_t)g->n_values),
                      .strategy = arena_array(a, Strategy, g->n_nodes)};
    memcpy(to->storage_spec, p->storage_spec, (size_t)g->n_values * sizeof *to->storage_spec);
    memcpy(to->compute_spec, p->compute_spec, 3 * (size_t)g->n_values * sizeof *to->compute_spec);
    memcpy(to->strategy, p->strategy, (size_t)g->n_nodes * sizeof *to->strategy);
    return to;
}

// The value that a move is about, in the graph at the index. A node's is its first output.
static ValueId value_of_move(const LocalSearch *s, const Pin *move)
{
    bool is_node = move->kind == PIN_STRATEGY;

    return is_node ? s->x.made.g->nodes[move->id].out[0] : move->id;
}

// The first of the model's tied values or nodes that a move is about.
static int32_t model_decision(const LocalSearch *s, const Pin *move)
{
    ValueId v = s->x.made.origin[value_of_move(s, move)];

    return move->kind == PIN_STRATEGY ? s->tied.node[value_of(s->along->train, v)->producer]
                                      : s->tied.value[v];
}

// The plan's decision of the move's kind about a value or node of the model.
static Spec *decision(const LocalSearch *s, const Pin *move, int32_t id)
{
    switch (move->kind) {
    case PIN_STRATEGY:
        return &s->plan->strategy[id];
    case PIN_STORAGE:
        return &s->plan->storage_spec[id];
    default:
        return &s->plan->compute_spec[3 * id + (int)move->phase];
    }
}

// Decides anew about all that is tied in the model to what the move is about: equal layers are
// sharded equally.
static void decide(LocalSearch *s, const Pin *move)
{
    const Graph *g = s->along->train;
    bool is_node = move->kind == PIN_STRATEGY;
    int32_t first = model_decision(s, move), n = is_node ? g->n_nodes : g->n_values;

    for (int32_t i = 1; i < n; i++)
        if ((is_node ? s->tied.node : s->tied.value)[i] == first)
            *decision(s, move, i) = move->spec;
}

// Gives what the nodes of a move read the compute specs that they need for it: with the strategy
// alone a copy may be made another time that other nodes share. False: they have them.
static bool decide_inputs(LocalSearch *s, const Pin *move)
{
    const Graph *g = s->along->train;
    const TiedValues *tied = &s->tied;
    Spec *compute = s->plan->compute_spec;
    NodeId first = model_decision(s, move);
    bool is_changed = false;
    Rule r;

    node_rule(s->along->a, g, &g->nodes[first], &r);
    for (int i = 0; i < g->nodes[first].n_in; i++) {
        ValueId v = g->nodes[first].in[i] ? tied->value[tied_input_value(g, tied, first, i)] : 0;
        int at = 3 * v + (int)g->nodes[first].phase;
        Spec need = strategy_spec(&r, &move->spec, i);
        is_changed |= v && !spec_equal(&compute[at], &need);
        compute[at] = v ? need : compute[at];
    }
    for (int at = 3; at < 3 * g->n_values; at++)
        compute[at] = compute[3 * tied->value[at / 3] + at % 3];
    return is_changed;
}

// Gives the value of a move this compute spec in all phases.
static void decide_compute(LocalSearch *s, const Pin *move, const Spec *spec)
{
    for (int k = 0; k < 3; k++)
        decide(s, &(Pin){.kind = PIN_COMPUTE, .id = move->id, .phase = (Phase)k, .spec = *spec});
}

// ---- moves at an index ----

static bool fits(const LocalSearch *s, const Tried *x) { return x->bytes <= s->along->memory; }

// A program that doesn't fit becomes better with fewer bytes, as long as its step would be shorter
// than the best one. Then it becomes better with a shorter step.
static bool is_better(const LocalSearch *s, const Tried *x)
{
    if (fits(s, &s->tried))
        return fits(s, x) && x->seconds < s->tried.seconds;
    return x->bytes < s->tried.bytes && along_path_gains(s->along, x->seconds) &&
           (fits(s, x) || !s->has_to_fit);
}

// Where only some of equal layers run again at the index, they are tied values of their own. Is the
// move about the part with the model's first layer?
static bool is_of_first(const LocalSearch *s, const Pin *move)
{
    const Graph *g = s->x.made.g;
    bool is_node = move->kind == PIN_STRATEGY;
    int32_t first = model_decision(s, move);

    for (ValueId v = 1; v < g->n_values; v++) {
        ValueId x = s->x.made.origin[v];
        NodeId n = value_of(g, v)->producer;
        if (is_node && n && s->at_index.node[n] == move->id &&
            value_of(s->along->train, x)->producer == first)
            return true;
        if (!is_node && s->at_index.value[v] == move->id && x == first)
            return true;
    }
    return false;
}

// Could the move make the program better? A node that runs again has the decisions of the one that
// it repeats, except compute specs. Once a plan fits, only the best alternatives of each decision
// count, and as long as this one doesn't, only those that don't cost more than there is to win.
static bool is_worth(const LocalSearch *s, const PlanMove *m)
{
    const Candidate *best = &s->along->best;
    const Pin *to = &m->to;
    bool is_repeated = to->kind != PIN_COMPUTE && s->x.made.is_again[value_of_move(s, to)];
    bool is_lost = best->is_found && !fits(s, &s->tried) &&
                   1e-12 * (double)m->cost > best->tried.seconds - s->tried.seconds;

    return !is_repeated && !is_lost && (!best->is_found || m->rank < FEW_ALTERNATIVES) &&
           is_of_first(s, to) && !spec_equal(decision(s, to, model_decision(s, to)), &to->spec);
}

// Goes back to the plan before unless the changed one has a better program.
static bool keep_if_better(LocalSearch *s, ModelPlan *before)
{
    Tried x = along_path_try(&s->trial, s->plan, s->index);

    s->work -= s->along->train->n_nodes;
    s->trial.d->errors = 0;
    if (!is_better(s, &x)) {
        s->plan = before;
        return false;
    }
    s->tried = x;
    return true;
}

// Is it the first move to this compute spec of the value, in any phase?
static bool is_new_spec(const LocalSearch *s, ValueId v, int at)
{
    const PlanMove *move = s->x.planned.move;

    for (int i = 0; i < at; i++)
        if (move[i].to.kind == PIN_COMPUTE && move[i].to.id == v &&
            spec_equal(&move[i].to.spec, &move[at].to.spec))
            return false;
    return move[at].to.kind == PIN_COMPUTE && move[at].to.id == v;
}

// Makes a move if the program becomes better: alone, or together with the compute specs of what the
// node reads or of the value.
static bool try_move(LocalSearch *s, const PlanMove *m)
{
    const Graph *g = s->along->train;
    ModelPlan *before = s->plan, *moved = s->plan = copy_plan(s->along->a, g, before);

    decide(s, &m->to);
    if (keep_if_better(s, before))
        return true;
    s->plan = copy_plan(s->along->a, g, moved);
    if (m->to.kind == PIN_STRATEGY && decide_inputs(s, &m->to) && keep_if_better(s, before))
        return true;
    for (int i = 0; m->to.kind == PIN_STORAGE && i < s->x.planned.n_moves; i++) {
        if (!is_new_spec(s, m->to.id, i))
            continue;
        s->plan = copy_plan(s->along->a, g, moved);
        decide_compute(s, &m->to, &s->x.planned.move[i].to.spec);
        if (keep_if_better(s, before))
            return true;
    }
    s->plan = before;
    return false;
}

// Lists the moves of a plan in its graph at an index.
static bool list_moves(LocalSearch *s, const ModelPlan *plan, const TriedIndex *p)
{
    Arena *a = s->along->a;
    PlanRequest r = *s->along->r;

    *arena_push(a, s->begun.index, s->begun.n, s->begun.cap) = *p;
    r.recompute = keep_path_at(a, s->along->path, p->at);
    r.given = plan;
    r.memory = ENOUGH_BYTES;
    const Proposal moves = {.skips_presets = true};
    CompileStatus status = propose_plan(a, &r, &moves, s->along->c, s->along->train,
                                        s->along->predict, &s->x, s->trial.d);
    s->trial.d->errors = 0;
    if (status != COMPILE_DONE)
        return false;
    s->plan = copy_plan(a, s->along->train, plan);
    s->index = p->at;
    s->tried = p->tried;
    s->at_index = tied_find(a, s->x.made.g);
    return true;
}

// Considers the changed plan all along the path.
static void consider(LocalSearch *s)
{
    along_path_consider(s->along, s->plan, s->index);
    s->work -= (int64_t)s->along->before.n * s->along->train->n_nodes;
}

// Makes moves as long as they make the program better, until it fits.
static bool make_moves(LocalSearch *s)
{
    bool did_fit = fits(s, &s->tried), is_changed = false;

    for (int i = 0, since = 0; since < s->x.planned.n_moves && goes_on(s, 1); i++, since++) {
        const PlanMove *m = &s->x.planned.move[i % s->x.planned.n_moves];
        if (!is_worth(s, m) || !try_move(s, m))
            continue;
        is_changed = true;
        since = -1;
        if (!did_fit && fits(s, &s->tried))
            break;
    }
    return is_changed;
}

// Considers all better plans that fit and are a single move away.
static void make_single_moves(LocalSearch *s, const ModelPlan *plan, const Tried *tried)
{
    s->has_to_fit = true;
    for (int i = 0; i < s->x.planned.n_moves && goes_on(s, 1); i++) {
        const PlanMove *m = &s->x.planned.move[i];
        s->plan = copy_plan(s->along->a, s->along->train, plan);
        s->tried = *tried;
        if (is_worth(s, m) && try_move(s, m))
            consider(s);
    }
    s->has_to_fit = false;
}

// Considers plans to which moves lead. If several moves made a plan fit, one of them alone may have
// made a better one fit.
static void improve(LocalSearch *s, const ModelPlan *plan, const TriedIndex *p)
{
    if (!list_moves(s, plan, p) || !make_moves(s))
        return;
    consider(s);
    if (fits(s, &s->tried) && !fits(s, &p->tried))
        make_single_moves(s, plan, &p->tried);
}

// ---- the whole ----

// Equal bytes and seconds mean equal programs: plans are often proposed several times.
static bool is_begun(const LocalSearch *s, const TriedIndex *p)
{
    for (int i = 0; i < s->begun.n; i++) {
        const TriedIndex *x = &s->begun.index[i];
        if (x->at == p->at && x->tried.bytes == p->tried.bytes &&
            x->tried.seconds == p->tried.seconds)
            return true;
    }
    return false;
}

// Counts the programs at the index whose moves were tried.
static int count_begun(const LocalSearch *s, int at)
{
    int n = 0;

    for (int i = 0; i < s->begun.n; i++)
        n += s->begun.index[i].at == at;
    return n;
}

// Sets *to to a program that doesn't fit, would be faster than the best one, and whose moves
// weren't tried: the smallest one at the index with the fewest programs whose moves were. Sets
// *plan to its plan. False: there is none.
static bool pick_smallest(const LocalSearch *s, const ModelPlan **plan, TriedIndex *to)
{
    int fewest = INT_MAX;

    to->tried.bytes = INT64_MAX;
    for (int k = 0; k < s->along->n_considered; k++)
        for (int i = 0; i < s->along->considered[k].tried.n; i++) {
            const TriedIndex *p = &s->along->considered[k].tried.index[i];
            int n = count_begun(s, p->at);
            if (fits(s, &p->tried) || n > fewest ||
                (n == fewest && p->tried.bytes >= to->tried.bytes) ||
                !along_path_gains(s->along, p->tried.seconds) || is_begun(s, p))
                continue;
            *plan = s->along->considered[k].plan;
            *to = *p;
            fewest = n;
        }
    return to->tried.bytes < INT64_MAX;
}

// Sets *to to the best program and *plan to its plan. False: its moves were tried.
static bool pick_best(const LocalSearch *s, const ModelPlan **plan, TriedIndex *to)
{
    const Candidate *best = &s->along->best;

    if (!best->is_found)
        return false;
    *plan = best->plan;
    *to = (TriedIndex){best->index, best->tried};
    return !is_begun(s, to);
}

// Sets *to to the shortest program that fits with less overlap than it could have: if it takes
// fewer bytes, its step may become shorter than the best one. Sets *plan to its plan. False: there
// is none whose moves weren't tried.
static bool pick_cut(const LocalSearch *s, const ModelPlan **plan, TriedIndex *to)
{
    to->tried.seconds = INFINITY;
    for (int k = 0; k < s->along->n_considered; k++)
        for (int i = 0; i < s->along->considered[k].tried.n; i++) {
            const TriedIndex *p = &s->along->considered[k].tried.index[i];
            if (!fits(s, &p->tried) || !p->tried.is_cut || p->tried.seconds >= to->tried.seconds ||
                is_begun(s, p))
                continue;
            *plan = s->along->considered[k].plan;
            *to = *p;
        }
    return to->tried.seconds < INFINITY;
}

bool local_search_takes_part(const AlongPath *s)
{
    return LOCAL_SEARCH_WORK / s->train->n_nodes >= MIN_LOCAL_PROGRAMS && !s->r->preset;
}

void local_search(AlongPath *along)
{
    Text said = {0};
    Diag quiet = {.file = along->d->file, .to = &said};
    LocalSearch s = {.along = along,
                     .trial = *along,
                     .tied = tied_find(along->a, along->train),
                     .work = LOCAL_SEARCH_WORK};
    const ModelPlan *plan;
    TriedIndex p;

    s.trial.is_brief = true;
    s.trial.d = &quiet;
    while (goes_on(&s, s.x.planned.n_moves) && !along->d->errors &&
           (pick_best(&s, &plan, &p) || pick_smallest(&s, &plan, &p) || pick_cut(&s, &plan, &p)))
        improve(&s, plan, &p);
    text_free(&said);
}
