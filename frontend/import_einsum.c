// Imports Einsum: operands are joined from the left to the right, each pair by a dot. A letter that
// an operand has twice is its diagonal.
#include <ctype.h>

#include "frontend/internal.h"

enum { LETTERS = 128 };

// An operand, or the product of those so far, with a letter for each dim.
typedef struct Term {
    ValueId v;
    char letters[MAX_RANK + 1];
} Term;

typedef struct Einsum {
    int n;
    Term *term;
    char out[MAX_RANK + 1];
    char dots[MAX_RANK];  // letters of the dims that "..." means, from the last one on
    int n_dots;           // the most of them that an operand has
    int count[LETTERS];   // how many dims of operands have the letter
    int left[LETTERS];    // how many operands that aren't joined yet have the letter
    int64_t size[LETTERS];
} Einsum;

static const char *const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static bool add_letter(Op *o, char *to, char letter)
{
    size_t n = strlen(to);

    if (n == MAX_RANK)
        return op_error(o, "its equation needs more than %d dims", MAX_RANK);
    to[n] = letter;
    to[n + 1] = 0;
    return true;
}

// Letters that the equation leaves free name the dims of "...".
static void name_dots(Einsum *e, const char *text)
{
    int n = 0;

    for (const char *c = alphabet; *c && n < MAX_RANK; c++)
        if (!strchr(text, *c))
            e->dots[n++] = *c;
    e->n_dots = 0;
}

// Reads one side of a ',' up to `end`; `dots` is the number of dims of "...".
static bool read_side(Op *o, const Einsum *e, const char *s, const char *end, int dots, char *to)
{
    for (; s < end; s++) {
        if (*s == ' ')
            continue;
        if (isalpha((unsigned char)*s)) {
            if (!add_letter(o, to, *s))
                return false;
            continue;
        }
        if (end - s < 3 || memcmp(s, "...", 3) || dots < 0)
            return op_error(o,
                            "equation '%.200s' is not supported: expected letters, '...' once "
                            "in an operand, ',' and '->'",
                            attr_text(o, "equation", ""));
        for (int i = dots; i-- > 0;)
            if (!e->dots[i] || !add_letter(o, to, e->dots[i]))
                return e->dots[i] ? false : op_error(o, "its equation has too many letters");
        s += 2;
        dots = -1;
    }
    return true;
}

static int count_letters(const char *s, const char *end)
{
    int n = 0;

    for (; s < end; s++)
        n += isalpha((unsigned char)*s) != 0;
    return n;
}

static bool read_operand(Op *o, Einsum *e, int i, const char *s, const char *end)
{
    Term *t = &e->term[i];
    const Value *v = arg_value(o, i);
    int rank = v->rank, named = count_letters(s, end), dots = rank - named;

    t->v = arg(o, i);
    if (memchr(s, '.', (size_t)(end - s)) && dots > e->n_dots)
        e->n_dots = dots;
    if (!read_side(o, e, s, end, dots < 0 ? 0 : dots, t->letters))
        return false;
    if ((int)strlen(t->letters) != rank)
        return op_error(o, "operand %d has rank %d, its equation says %.*s", i, rank,
                        (int)(end - s < 50 ? end - s : 50), s);
    for (int k = 0; k < rank; k++) {
        int c = t->letters[k];
        int64_t n = v->dim[k];
        if (e->count[c]++ && n != e->size[c] && n != 1 && e->size[c] != 1)
            return op_error(o, "letter '%c' is %" PRId64 " and %" PRId64, c, e->size[c], n);
        if (e->count[c] == 1 || e->size[c] == 1)
            e->size[c] = n;
    }
    return true;
}

// Without "->" the result has the dims of "...", then all letters that occur once, in their order.
static bool imply_result(Op *o, Einsum *e)
{
    for (int i = e->n_dots; i-- > 0;)
        if (!add_letter(o, e->out, e->dots[i]))
            return false;
    for (int c = 'A'; c <= 'z'; c++)
        if (e->count[c] == 1 && !strchr(e->out, c) && !add_letter(o, e->out, (char)c))
            return false;
    return true;
}

static bool read_equation(Op *o, Einsum *e)
{
    const char *text = attr_text(o, "equation", ""), *arrow = strstr(text, "->"), *s = text;
    const char *end = arrow ? arrow : text + strlen(text);
    int n = 1;

    for (const char *c = text; c < end; c++)
        n += *c == ',';
    *e = (Einsum){.n = n, .term = arena_array(o->x->scratch, Term, o->n_in + 1)};
    if (n != o->n_in)
        return op_error(o, "its equation has %d operands, not %d", n, o->n_in);
    name_dots(e, text);
    for (int i = 0; i < n; i++) {
        const char *comma = memchr(s, ',', (size_t)(end - s)), *stop = comma ? comma : end;
        if (!read_operand(o, e, i, s, stop))
            return false;
        s = stop + 1;
    }
    if (!arrow)
        return imply_result(o, e);
    if (!read_side(o, e, arrow + 2, text + strlen(text), e->n_dots, e->out))
        return false;
    for (const char *c = e->out; *c; c++)
        if (!e->count[(int)*c] || strchr(c + 1, *c))
            return op_error(o, "its result has the letter '%c' %s", *c,
                            e->count[(int)*c] ? "twice" : "that no operand has");
    return true;
}

// ---- one operand ----

// Makes dims i < k, which have one letter, the last dim: its element j is element (j, j) of both.
static void take_diagonal(Graph *g, Term *t, int i, int k)
{
    Dims d = dims_of(g, t->v), flat = {0};
    int64_t perm[MAX_RANK], n = d.dim[i];
    char letter = t->letters[i];
    int m = 0;

    for (int j = 0; j < d.rank; j++) {
        if (j == i || j == k)
            continue;
        flat.dim[m] = d.dim[j];
        t->letters[m] = t->letters[j];
        perm[m++] = j;
    }
    perm[m] = i;
    perm[m + 1] = k;
    flat.dim[m] = n * n;
    flat.rank = m + 1;
    t->letters[m] = letter;
    t->letters[m + 1] = 0;
    ValueId v = reshape_to(g, transpose_to(g, t->v, perm), &flat);
    t->v = slice_axis(g, v, m, 0, n, n + 1);
}

static bool take_diagonals(Op *o, Term *t)
{
    for (int i = 0; t->letters[i]; i++) {
        char *again = strchr(t->letters + i + 1, t->letters[i]);
        if (!again)
            continue;
        const Value *v = value_of(o->g, t->v);
        int k = (int)(again - t->letters);
        if (v->dim[i] != v->dim[k])
            return op_error(o, "letter '%c' is %" PRId64 " and %" PRId64, *again, v->dim[i],
                            v->dim[k]);
        take_diagonal(o->g, t, i, k);
        if (!t->v)
            return false;
        i = -1;
    }
    return true;
}

// Drops dims of 1 that are repeated: dot repeats an operand along letters that it lacks.
static void drop_repeated(Graph *g, const Einsum *e, Term *t)
{
    Dims d = dims_of(g, t->v), kept = {0};

    for (int i = 0; i < d.rank; i++) {
        if (d.dim[i] == 1 && e->size[(int)t->letters[i]] != 1)
            continue;
        t->letters[kept.rank] = t->letters[i];
        kept.dim[kept.rank++] = d.dim[i];
    }
    t->letters[kept.rank] = 0;
    t->v = reshape_to(g, t->v, &kept);
}

// ---- joining ----

// Is the letter in the result, or in an operand that isn't joined yet?
static bool is_wanted(const Einsum *e, char letter)
{
    return e->left[(int)letter] || strchr(e->out, letter);
}

// Takes an operand out of those that aren't joined yet.
static void take_operand(Einsum *e, int i)
{
    for (const char *c = e->term[i].letters; *c; c++)
        e->left[(int)*c]--;
}

// Sums over the letters that neither `other` nor the result nor an operand that isn't joined yet
// has.
static void sum_unread(Graph *g, const Einsum *e, Term *t, const char *other)
{
    int64_t axes[MAX_RANK];
    int n = 0, kept = 0;

    for (int i = 0; t->letters[i]; i++) {
        if (!strchr(other, t->letters[i]) && !is_wanted(e, t->letters[i]))
            axes[n++] = i;
        else
            t->letters[kept++] = t->letters[i];
    }
    t->letters[kept] = 0;
    t->v = n ? make_reduce_sum(g, t->v, n, axes) : t->v;
}

// The term with the dims that `letters` name, repeated along those that it lacks.
static ValueId spread(Graph *g, const Einsum *e, const Term *t, const char *letters)
{
    Dims d = {.rank = (int)strlen(letters)};
    int64_t perm[MAX_RANK], dims[MAX_RANK];
    int n = 0;

    for (int i = 0; i < d.rank; i++) {
        const char *at = strchr(t->letters, letters[i]);
        d.dim[i] = e->size[(int)letters[i]];
        if (!at)
            continue;
        perm[n] = at - t->letters;
        dims[n++] = i;
    }
    ValueId v = transpose_to(g, t->v, perm);
    return n == d.rank ? v : make_broadcast(g, v, d.rank, d.dim, dims);
}

// Multiplies integers as dot does floats: all products, and their sums over the letters that y
// lacks.
static ValueId multiply_ints(Op *o, const Einsum *e, const Term *a, const Term *b, const Term *y)
{
    char all[MAX_RANK + 1];
    int64_t axes[MAX_RANK];
    int n = 0;

    strcpy(all, y->letters);
    for (const Term *t = a; t; t = t == a ? b : NULL)
        for (const char *c = t->letters; *c; c++) {
            if (strchr(all, *c))
                continue;
            axes[n++] = (int64_t)strlen(all);
            if (!add_letter(o, all, *c))
                return 0;
        }
    ValueId v = spread(o->g, e, a, all);
    v = make_mul(o->g, v, spread(o->g, e, b, all));
    return n && v ? make_reduce_sum(o->g, v, n, axes) : v;
}

// Multiplies the product so far with operand i.
static bool join(Op *o, Einsum *e, Term *a, int i)
{
    Term *b = &e->term[i], y = {0};
    char eq[4 * MAX_RANK + 8];

    take_operand(e, i);
    sum_unread(o->g, e, a, b->letters);
    sum_unread(o->g, e, b, a->letters);
    if (i == e->n - 1) {
        strcpy(y.letters, e->out);
    } else {
        for (const char *c = a->letters; *c; c++)
            if (is_wanted(e, *c) && !add_letter(o, y.letters, *c))
                return false;
        for (const char *c = b->letters; *c; c++)
            if (is_wanted(e, *c) && !strchr(y.letters, *c) && !add_letter(o, y.letters, *c))
                return false;
    }
    snprintf(eq, sizeof eq, "%s,%s->%s", a->letters, b->letters, y.letters);
    y.v = dtype_is_float(value_of(o->g, a->v)->dtype) ? make_dot(o->g, a->v, b->v, eq)
                                                      : multiply_ints(o, e, a, b, &y);
    *a = y;
    return y.v != 0;
}

// The only operand's dims in the order of the result.
static ValueId reorder(Graph *g, const Einsum *e, Term *t)
{
    int64_t perm[MAX_RANK];

    sum_unread(g, e, t, "");
    for (int i = 0; e->out[i]; i++)
        perm[i] = strchr(t->letters, e->out[i]) - t->letters;
    return t->v ? transpose_to(g, t->v, perm) : 0;
}

void import_einsum(Op *o)
{
    Einsum e;

    if (!read_equation(o, &e))
        return;
    for (int i = 0; i < e.n; i++) {
        if (!take_diagonals(o, &e.term[i]))
            return;
        drop_repeated(o->g, &e, &e.term[i]);
        for (const char *c = e.term[i].letters; *c; c++)
            e.left[(int)*c]++;
    }
    take_operand(&e, 0);
    Term product = e.term[0];
    if (e.n == 1) {
        give(o, 0, reorder(o->g, &e, &product));
        return;
    }
    for (int i = 1; i < e.n; i++)
        if (!join(o, &e, &product, i))
            return;
    give(o, 0, product.v);
}
