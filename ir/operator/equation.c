// Reads and checks einsum texts, "bmk,bkn->bmn", and walks over indices by letter.
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "ir/operator/contract.h"

// Copies the letters at `s` to `dims`. Returns the text after them; NULL if there are too many.
static const char *letters_copy(const char *s, char *dims)
{
    int n = 0;

    for (; isalpha((unsigned char)*s); s++) {
        if (n == MAX_RANK)
            return NULL;
        dims[n++] = *s;
    }
    dims[n] = 0;
    return s;
}

static bool equation_split(const char *text, int n_in, Equation *e)
{
    const char *s = text;

    memset(e, 0, sizeof *e);
    for (int i = 0; i < n_in; i++) {
        const char *mark = i + 1 < n_in ? "," : "->";

        s = letters_copy(s, e->dims[i]);
        if (!s || strncmp(s, mark, strlen(mark)) != 0)
            return false;
        s += strlen(mark);
    }
    s = letters_copy(s, e->dims[n_in]);
    e->n = n_in + 1;
    return s && *s == 0;
}

void equation_read(const char *text, int n_in, Equation *e)
{
    bool ok = equation_split(text, n_in, e);

    assert(ok);
    (void)ok;
}

bool letters_check(const Graph *g, const Node *n, const char *dims, Diag *d)
{
    for (const char *s = dims; *s; s++)
        if (strchr(s + 1, *s))
            return node_error(g, n, d, "dim '%c' occurs twice in \"%s\"", *s, dims);
    return true;
}

bool letters_bind(const Graph *g, const Node *n, const char *dims, const Value *v, int64_t *size,
                  Diag *d)
{
    if ((int)strlen(dims) != v->rank)
        return node_error(g, n, d, "\"%s\" names %d dims of an operand of rank %d", dims,
                          (int)strlen(dims), v->rank);
    for (int i = 0; i < v->rank; i++) {
        int64_t *s = &size[(int)dims[i]];

        if (*s >= 0 && *s != v->dim[i])
            return node_error(g, n, d, "dim '%c' differs: %" PRId64 " and %" PRId64, dims[i], *s,
                              v->dim[i]);
        *s = v->dim[i];
    }
    return true;
}

static int letters_count(const int64_t *size)
{
    int count = 0;

    for (int c = 0; c < N_LETTERS; c++)
        count += size[c] >= 0;
    return count;
}

bool equation_infer(const Graph *g, const Node *n, const char *text, int n_in, Equation *e,
                    int64_t *size, Diag *d)
{
    if (!text || !equation_split(text, n_in, e))
        return node_error(g, n, d, "eq=\"%s\" is not of the form \"%s\"", text ? text : "",
                          n_in == 2 ? "bmk,bkn->bmn" : "bse,bte,btf->bsf");
    for (int c = 0; c < N_LETTERS; c++)
        size[c] = -1;
    for (int i = 0; i < e->n; i++)
        if (!letters_check(g, n, e->dims[i], d))
            return false;
    for (int i = 0; i < n_in; i++)
        if (!letters_bind(g, n, e->dims[i], in(g, n, i), size, d))
            return false;
    for (const char *s = e->dims[n_in]; *s; s++)
        if (size[(int)*s] < 0)
            return node_error(g, n, d, "dim '%c' of the result is in no operand", *s);
    if (letters_count(size) > MAX_FACTORS)
        return node_error(g, n, d, "eq=\"%s\" has more than %d dims", text, MAX_FACTORS);
    return true;
}

void letters_dims(const char *dims, const int64_t *size, int64_t *dim)
{
    for (int i = 0; dims[i]; i++)
        dim[i] = size[(int)dims[i]];
}

void letters_sizes(const char *dims, const Tensor *t, int64_t *size)
{
    for (int i = 0; dims[i]; i++)
        size[(int)dims[i]] = t->dim[i];
}

bool letters_begin(int64_t *index, const char *letters, const int64_t *size)
{
    for (const char *s = letters; *s; s++) {
        index[(int)*s] = 0;
        if (size[(int)*s] == 0)
            return false;
    }
    return true;
}

bool letters_next(int64_t *index, const char *letters, const int64_t *size)
{
    for (int i = (int)strlen(letters) - 1; i >= 0; i--) {
        int c = letters[i];

        if (++index[c] < size[c])
            return true;
        index[c] = 0;
    }
    return false;
}

int64_t letters_stride(char letter, const char *dims, const Tensor *t)
{
    int64_t stride = 1;

    for (int i = t->rank - 1; i >= 0; stride *= t->dim[i--])
        if (dims[i] == letter)
            return stride;
    return 0;
}

int64_t letters_at(const int64_t *index, const char *dims, const Tensor *t)
{
    int64_t at = 0;

    for (int i = 0; i < t->rank; i++)
        at = at * t->dim[i] + index[(int)dims[i]];
    return at;
}

// How two tensors are walked through along some letters: the last one in strides.
typedef struct Strides {
    char outer[MAX_RANK + 1];  // all letters but the last
    int64_t count, u_step, v_step;
} Strides;

static Strides strides_along(const char *letters, const int64_t *size, const char *u_dims,
                             const Tensor *u, const char *v_dims, const Tensor *v)
{
    int n = (int)strlen(letters);
    Strides x = {.count = 1};

    if (n) {
        char last = letters[n - 1];
        memcpy(x.outer, letters, (size_t)n - 1);
        x.count = size[(int)last];
        x.u_step = letters_stride(last, u_dims, u);
        x.v_step = letters_stride(last, v_dims, v);
    }
    return x;
}

double letters_dot(int64_t *index, const char *letters, const int64_t *size, const char *u_dims,
                   const Tensor *u, const char *v_dims, const Tensor *v)
{
    Strides x = strides_along(letters, size, u_dims, u, v_dims, v);
    double sum = 0;

    if (!letters_begin(index, letters, size))
        return 0;
    do {
        const double *a = u->f + letters_at(index, u_dims, u);
        const double *b = v->f + letters_at(index, v_dims, v);
        for (int64_t i = 0; i < x.count; i++)
            sum += a[i * x.u_step] * b[i * x.v_step];
    } while (letters_next(index, x.outer, size));
    return sum;
}

void letters_add(int64_t *index, const char *letters, const int64_t *size, double factor,
                 const char *u_dims, const Tensor *u, const char *v_dims, Tensor *v)
{
    Strides x = strides_along(letters, size, u_dims, u, v_dims, v);

    if (!letters_begin(index, letters, size))
        return;
    do {
        const double *a = u->f + letters_at(index, u_dims, u);
        double *b = v->f + letters_at(index, v_dims, v);
        for (int64_t i = 0; i < x.count; i++)
            b[i * x.v_step] += factor * a[i * x.u_step];
    } while (letters_next(index, x.outer, size));
}
