// Executes a schedule on bytes and times, operation by operation, as chain.h says what they do.
#include "solver/chain/internal.h"

// The state of value i, and of what stage i saved.
typedef struct Live {
    bool value;       // it is live by itself
    bool checkpoint;  // it stays until the backward of stage i
    bool gradient;
    const StagePolicy *saved;
} Live;

typedef struct Replay {
    const ChainProblem *p;
    Live *live;
    int64_t bytes, peak;
    double time;
} Replay;

static bool is_live(const Replay *r, int i)
{
    return r->live[i].value || (i && r->live[i - 1].saved);
}

// Counts the bytes in use while an operation runs: its own and the bytes live before.
static void run(Replay *r, int64_t bytes, double time)
{
    r->peak = larger(r->peak, r->bytes + bytes);
    r->time += time;
}

static bool run_forward(Replay *r, int i, bool is_checkpoint)
{
    const ChainStage *s = &r->p->stage[i];
    Live *in = &r->live[i], *out = &r->live[i + 1];

    if (!is_live(r, i) || in->gradient || is_live(r, i + 1) || out->gradient)
        return false;
    if (!is_checkpoint && (!in->value || in->checkpoint))
        return false;
    run(r, s->output + s->forward_scratch, s->forward_time);
    out->value = true;
    r->bytes += s->output;
    in->checkpoint = is_checkpoint;
    if (!is_checkpoint) {
        in->value = false;
        r->bytes -= value_bytes(r->p, i);
    }
    return true;
}

static bool run_save(Replay *r, int i, int k)
{
    const ChainStage *s = &r->p->stage[i];

    if (!is_live(r, i) || r->live[i].gradient || is_live(r, i + 1) || k < 0 || k >= s->n_policies)
        return false;
    run(r, s->policy[k].saved + s->forward_scratch, s->policy[k].forward_time);
    r->live[i].checkpoint = true;
    r->live[i].saved = &s->policy[k];
    r->bytes += s->policy[k].saved;
    return true;
}

static bool run_backward(Replay *r, int i)
{
    const ChainStage *s = &r->p->stage[i];
    Live *in = &r->live[i], *out = &r->live[i + 1];
    bool is_loss = i == r->p->n_stages - 1;

    if (!in->saved || !is_live(r, i) || (!is_loss && !out->gradient))
        return false;
    run(r, s->backward_scratch + in->saved->more_scratch, in->saved->backward_time);
    r->bytes -= in->saved->saved + (is_loss ? 0 : s->output);
    r->bytes += value_bytes(r->p, i) - (in->value ? value_bytes(r->p, i) : 0);
    r->peak = larger(r->peak, r->bytes);
    *out = (Live){0};
    *in = (Live){.gradient = true};
    return true;
}

static bool run_op(Replay *r, const ChainOp *o)
{
    if (o->stage < 0 || o->stage >= r->p->n_stages)
        return false;
    switch (o->kind) {
    case CHAIN_FORWARD:
    case CHAIN_CHECKPOINT:
        return run_forward(r, o->stage, o->kind == CHAIN_CHECKPOINT);
    case CHAIN_SAVE:
        return run_save(r, o->stage, o->policy);
    case CHAIN_BACKWARD:
        return run_backward(r, o->stage);
    default:
        return false;
    }
}

bool chain_replay(Arena *a, const ChainProblem *p, ChainSchedule *s)
{
    Replay r = {p, arena_array(a, Live, p->n_stages + 1), p->input, p->input, 0};
    int64_t left = p->input;  // the gradient of value 0 is all that is live at the end

    r.live[0].value = true;
    for (int i = 0; i < s->n_ops; i++)
        if (!run_op(&r, &s->op[i]))
            return false;
    s->time = r.time;
    s->peak = r.peak;
    return r.live[0].gradient && r.bytes == left;
}
