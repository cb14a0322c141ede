// Helpers of OpDef.split, which builds a node over split dims.
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/contract.h"

bool refined_equal(const Refined *x, const Refined *y)
{
    return x->rank == y->rank && memcmp(x->dim, y->dim, sizeof *x->dim * (size_t)x->rank) == 0;
}

int split_dims(const Refined *v, int n, const int64_t *dims, int64_t *split)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        for (int k = v->first[dims[i]]; k < v->first[dims[i] + 1]; k++)
            split[count++] = k;
    return count;
}

// The atoms of an equation's letter and their letters; n < 0: the letter isn't seen yet.
typedef struct Letter {
    int n;
    int64_t size[MAX_RANK];
    char as[MAX_RANK];
} Letter;

typedef struct Alphabet {
    bool is_used[N_LETTERS];
    int next;
} Alphabet;

// A letter that no operand uses; 0: there is none left.
static char letter_new(Alphabet *a)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    while (all[a->next] && a->is_used[(int)all[a->next]])
        a->next++;
    return all[a->next] ? all[a->next++] : 0;
}

// Gives letters to the n atoms of `c` when `c` is first seen. False if `c` had other atoms before,
// or if no letters are left.
static bool letter_split(Letter *l, char c, int n, const int64_t *size, Alphabet *a)
{
    if (l->n >= 0)
        return l->n == n && memcmp(l->size, size, sizeof *size * (size_t)n) == 0;
    l->n = n;
    for (int i = 0; i < n; i++) {
        l->size[i] = size[i];
        l->as[i] = n == 1 ? c : letter_new(a);
        if (!l->as[i])
            return false;
    }
    return true;
}

bool split_letters(const Split *s, int n, const char *const *dims, const int *operand,
                   char (*text)[MAX_RANK + 1])
{
    Letter letter[N_LETTERS];
    Alphabet a = {0};

    for (int c = 0; c < N_LETTERS; c++)
        letter[c].n = -1;
    for (int i = 0; i < n; i++)
        for (const char *c = dims[i]; *c; c++)
            a.is_used[(int)*c] = true;
    for (int i = 0; i < n; i++) {
        const Refined *v = &s->operand[operand[i]];

        for (int k = 0; dims[i][k]; k++) {
            Letter *l = &letter[(int)dims[i][k]];
            int count = v->first[k + 1] - v->first[k];

            if (!letter_split(l, dims[i][k], count, v->dim + v->first[k], &a))
                return false;
            memcpy(text[i] + v->first[k], l->as, (size_t)count);
        }
        text[i][v->rank] = 0;
    }
    return true;
}

ValueId split_reduce(Graph *g, const Node *n, const Split *s)
{
    int64_t axes[MAX_RANK];
    int count = split_dims(&s->operand[0], n->attr[0].n, n->attr[0].v, axes);
    Attr attr[MAX_ATTRS];

    memcpy(attr, n->attr, sizeof attr);
    attr[0] = (Attr){.n = count, .v = axes};
    return count ? graph_node(g, n->op, 1, s->in, attr) : s->in[0];
}
