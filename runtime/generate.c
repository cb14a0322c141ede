// Text, token by token: the context stands in row 0 of the batch, and the logits behind its last
// token say what may follow. The tokens behind it are there, but a causal model doesn't see them.
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/internal.h"
#include "runtime/rt_philox.h"

// See shuffle.c.
static const int64_t SAMPLE_STREAM = -3;

typedef struct Text {
    RtRun *run;
    const RtTensor *input, *logits;
    bool is_bytes;
    int64_t window, vocabulary;
    int64_t *token;  // the last `window` of them
    int64_t n;
    double *weight;  // of each token of the vocabulary
} Text;

static bool find_tensors(Text *x)
{
    const RtModel *m = x->run->model;

    for (int i = 0; i < m->n_predict; i++) {
        const RtTensor *t = &m->predict[i];
        if (!x->input && rt_is_tokens(t) && (!m->labels || strcmp(t->name, m->labels) != 0))
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
    if (x->input->bound && x->input->bound < x->vocabulary)  // the last ones are nobody's
        x->vocabulary = x->input->bound;
    x->is_bytes = x->vocabulary <= 256;
    return true;
}

// Appends a token and forgets the oldest one that no longer fits.
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

// The i-th token drawn, from logits of any scale; the likeliest when cold.
static int64_t choose(Text *x, const char *logits, int64_t i)
{
    double temperature = x->run->o.temperature, total = 0;
    int64_t best = 0, bytes = rt_dtype_bytes(rt_type_name(x->logits->type));

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

static int64_t next_token(Text *x, int64_t i)
{
    RtRun *run = x->run;
    char *base = run->arena.base, *row = rt_place(x->input, 0, base);
    int64_t bytes = rt_bytes(x->input) / rt_count(x->input);
    int64_t row_bytes = rt_bytes(x->logits) / x->logits->dim[0] / x->window;

    rt_watch_begin(run->rt.watch, RT_FORWARD);
    for (int k = 0; k < run->model->n_predict; k++)  // the other rows, and labels
        if (run->model->predict[k].role == RT_INPUT)
            rt_fill_tensor(&run->model->predict[k], base, 0);
    for (int64_t k = 0; k < x->n; k++)
        rt_set_int(x->input->type, row + k * bytes, x->token[k]);
    run->model->forward(&run->rt, base);
    return choose(x, rt_place(x->logits, 0, base) + (x->n - 1) * row_bytes, i);
}

bool rt_generate(RtRun *run)
{
    Text x = {.run = run};
    const char *prompt = run->o.prompt;

    if (!find_tensors(&x))
        return false;
    x.token = rt_alloc((size_t)x.window, sizeof *x.token);
    x.weight = rt_alloc((size_t)x.vocabulary, sizeof *x.weight);
    rt_set_hypers(run, 0, 0, 0);
    // Something has to stand there: a new line begins a text, as well as anything does.
    bool ok = read_prompt(&x, prompt ? prompt : x.is_bytes && x.vocabulary > '\n' ? "\n" : "");
    if (ok && x.n == 0)
        push(&x, 0);
    for (int64_t i = 0; i < run->o.generate && ok && !rt_interrupted(); i++) {
        int64_t token = next_token(&x, i);

        push(&x, token);
        print_token(&x, token);
        ok = rt_watch_end(run->rt.watch);
    }
    if (ok)
        putchar('\n');
    free(x.token);
    free(x.weight);
    return ok;
}
