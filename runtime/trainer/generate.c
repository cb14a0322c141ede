// Generates text token by token. The context is in row 0 of the batch, and the logits at its last
// token give the next one. Positions after it hold zeros, which a causal model doesn't see.
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/rt_philox.h"
#include "runtime/trainer/trainer.h"
#include "runtime/trainer/watch.h"

// See shuffle.c.
static const int64_t SAMPLE_STREAM = -3;

typedef struct Text {
    RtRun *run;
    const RtTensor *input, *logits;
    bool is_bytes;
    int64_t window, vocabulary;
    int64_t *token;  // the last `window` of them
    int64_t n;
    double *weight;  // by token of the vocabulary: its probability, not normalized
    char *buffer;    // see rt_collect
} Text;

static bool find_tensors(Text *x)
{
    const RtModel *m = x->run->model;

    for (int i = 0; i < m->n_predict; i++) {
        const RtTensor *t = &m->predict[i];
        if (!x->input && rt_is_tokens(t) && !t->is_for_loss)
            x->input = t;
    }
    for (int i = 0; i < m->n_predict && x->input; i++) {
        const RtTensor *t = &m->predict[i];
        if (!x->logits && t->role == RT_OUTPUT && t->rank == 3 && rt_type_is_float(t->type) &&
            t->dim[0] == x->input->dim[0] && t->dim[1] == x->input->dim[1] && t->dim[2] > 0)
            x->logits = t;
    }
    if (!x->logits || x->input->dim[0] < 1 || x->input->dim[1] < 1)
        return rt_error(m, "--generate: it takes a model with an input of tokens [batch, time] and "
                           "an output [batch, time, vocabulary]");
    x->window = x->input->dim[1];
    x->vocabulary = x->logits->dim[2];
    if (x->input->bound && x->input->bound < x->vocabulary)  // logits above it belong to no token
        x->vocabulary = x->input->bound;
    x->is_bytes = x->vocabulary <= 256;
    return true;
}

// Appends a token; drops the oldest if the window is full.
static void push(Text *x, int64_t token)
{
    if (x->n < x->window) {
        x->token[x->n++] = token;
        return;
    }
    for (int64_t i = 1; i < x->window; i++)
        x->token[i - 1] = x->token[i];
    x->token[x->window - 1] = token;
}

static void print_token(const Text *x, int64_t token)
{
    if (x->run->rank > 0)
        return;
    if (x->is_bytes)
        putchar((int)token);
    else
        printf("%lld ", (long long)token);
    fflush(stdout);
}

static bool read_prompt(Text *x, const char *prompt)
{
    const RtModel *m = x->run->model;

    while (*prompt) {
        char *end = (char *)prompt + 1;
        long long token = (unsigned char)*prompt;

        if (!x->is_bytes) {
            if (isspace((unsigned char)*prompt)) {
                prompt++;
                continue;
            }
            errno = 0;
            token = strtoll(prompt, &end, 10);
            if (end == prompt || errno)
                return rt_error(m,
                                "--prompt: '%.40s' is not the number of a token: this model's "
                                "vocabulary isn't bytes",
                                prompt);
        }
        if (token < 0 || token >= x->vocabulary)
            return rt_error(m, "--prompt: token %lld is not below the vocabulary's %lld", token,
                            (long long)x->vocabulary);
        push(x, token);
        print_token(x, token);
        prompt = end;
    }
    return true;
}

// Draws token number i from the softmax of logits / temperature; temperature 0 takes the most
// likely.
static int64_t choose(Text *x, const char *logits, int64_t i)
{
    double temperature = x->run->o.temperature, total = 0;
    int64_t best = 0, bytes = rt_element_bytes(x->logits);

    for (int64_t v = 0; v < x->vocabulary; v++) {
        x->weight[v] = rt_get(x->logits->type, logits + v * bytes);
        if (x->weight[v] > x->weight[best])
            best = v;
    }
    if (temperature == 0)
        return best;
    double most = x->weight[best];
    for (int64_t v = 0; v < x->vocabulary; v++)
        total += x->weight[v] = exp((x->weight[v] - most) / temperature);
    double left = total * rt_uniform(x->run->o.seed, SAMPLE_STREAM, 0, 0, i);
    for (int64_t v = 0; v < x->vocabulary; v++) {
        left -= x->weight[v];
        if (left < 0)
            return v;
    }
    return best;
}

// Writes the tokens to the first row of the input, as far as it is in this rank's shard.
static void copy_tokens_in(const Text *x)
{
    enum { CHUNK = 64 };
    RtRun *run = x->run;
    int64_t at = rt_tensor_at(x->input, 0), bytes = rt_element_bytes(x->input), chunk[CHUNK];

    for (int k = 0; k < run->model->n_predict; k++)  // zeros for the other rows and for the loss
        if (run->model->predict[k].role == RT_INPUT)
            rt_fill_tensor(&run->rt, run->model, &run->model->predict[k], 0);
    for (RtRuns r = rt_runs(run->model, x->input, run->rt.shard); rt_runs_next(&r);)
        for (int64_t i = 0, n; i < r.count && r.whole + i < x->n; i += n) {
            n = r.count - i < x->n - r.whole - i ? r.count - i : x->n - r.whole - i;
            n = n < CHUNK ? n : CHUNK;
            rt_convert(x->input->type, chunk, RT_I64, x->token + r.whole + i, n);
            run->rt.device->copy_in(&run->rt, at + (r.own + i) * bytes, chunk, n * bytes);
        }
}

// Rank 0 chooses the token for all ranks.
static int64_t next_token(Text *x, int64_t i)
{
    RtRun *run = x->run;
    int64_t row = x->logits->dim[2], token = 0;

    rt_watch_begin(run->rt.watch, RT_FORWARD);
    copy_tokens_in(x);
    run->rt.device->run(&run->rt, run->model->forward);
    rt_collect(&run->rt, run->model, x->logits, (x->n - 1) * row, row, x->buffer);
    if (run->rank == 0)
        token = choose(x, x->buffer, i);
    return rt_comm_max(run->rt.comm, token);
}

bool rt_generate(RtRun *run)
{
    Text x = {.run = run};
    const char *prompt = run->o.prompt;

    if (!find_tensors(&x))
        return false;
    x.token = rt_alloc((size_t)x.window, sizeof *x.token);
    x.weight = rt_alloc((size_t)x.vocabulary, sizeof *x.weight);
    x.buffer = rt_alloc(2 * (size_t)x.logits->dim[2], (size_t)rt_element_bytes(x.logits));
    rt_set_hypers(run, 0, 0, 0);
    // The context can't be empty. A newline is a good beginning of a text.
    bool ok = read_prompt(&x, prompt ? prompt : x.is_bytes && x.vocabulary > '\n' ? "\n" : "");
    if (ok && x.n == 0)
        push(&x, 0);
    for (int64_t i = 0; i < run->o.generate && rt_agree(run, ok) && !run->interrupted; i++) {
        int64_t token = next_token(&x, i);

        push(&x, token);
        print_token(&x, token);
        ok = rt_watch_end(run->rt.watch);
    }
    if (ok && run->rank == 0)
        putchar('\n');
    free(x.token);
    free(x.weight);
    free(x.buffer);
    return ok;
}
