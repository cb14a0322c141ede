// Recognises dense elements: all equal, arithmetic progressions, and band masks of two numbers.
#include "ir/passes/fold/fold.h"

#include <math.h>
#include <string.h>

static const double EXACT = 9007199254740992.0;  // 2^53: doubles below it hold integers exactly

static double element(const Tensor *t, int64_t i) { return t->f ? t->f[i] : (double)t->i[i]; }

// Have a and b the same bits? 0 and -0 have not; a NaN and itself have.
static bool same_number(double a, double b) { return !memcmp(&a, &b, sizeof a); }

static bool is_whole(double x) { return x == floor(x) && fabs(x) < EXACT; }

static bool fit_splat(const Tensor *t, int64_t count, Fact *y)
{
    for (int64_t i = 1; i < count; i++)
        if (t->f ? !same_number(t->f[i], t->f[0]) : t->i[i] != t->i[0])
            return false;
    *y = (Fact){.value.c = element(t, 0)};
    return t->f || fabs(y->value.c) < EXACT;
}

static bool fit_affine(const Tensor *t, int64_t count, Fact *y)
{
    int64_t index[MAX_RANK] = {0}, step = 1;

    *y = (Fact){.value.c = element(t, 0)};
    if (!is_whole(y->value.c))
        return false;
    for (int i = t->rank - 1; i >= 0; step *= t->dim[i--])
        if (t->dim[i] > 1) {
            y->value.a[i] = element(t, step) - y->value.c;
            if (!is_whole(y->value.a[i]))
                return false;
        }
    for (int64_t k = 0; k < count; k++, index_next(index, t->rank, t->dim)) {
        double x = y->value.c;
        for (int i = 0; i < t->rank; i++)
            x += y->value.a[i] * (double)index[i];
        if (x != element(t, k) || fabs(x) >= EXACT)
            return false;
    }
    return true;
}

// Does t consist of exactly two numbers? Then *yes is the larger one.
static bool two_numbers(const Tensor *t, int64_t count, double *yes, double *no)
{
    *yes = *no = element(t, 0);
    for (int64_t i = 1; i < count; i++) {
        double x = element(t, i);
        if (isnan(x) || (x != *yes && x != *no && *yes != *no))
            return false;
        if (x != *yes && x != *no)
            *(x > *yes ? yes : no) = x;
    }
    return !isnan(*yes) && *yes != *no && (t->f || (is_whole(*yes) && is_whole(*no)));
}

// Sets the predicates of the band of the last two dims that holds every `yes`: i + high - j ≥ 0 and
// j - i - low ≥ 0. The first row that each of them cuts gives high and low; is_band then checks all
// elements.
static void read_band(const Tensor *t, double yes, Fact *y)
{
    int64_t rows = t->dim[t->rank - 2], columns = t->dim[t->rank - 1];
    bool has_high = false, has_low = false;
    double high = 0, low = 0;

    for (int64_t i = 0; i < rows; i++) {
        int64_t first = 0, last = columns - 1;
        while (first < columns && element(t, i * columns + first) != yes)
            first++;
        while (last >= first && element(t, i * columns + last) != yes)
            last--;
        if (first == columns)
            continue;
        if (last < columns - 1 && !has_high)
            high = (double)(last - i);
        has_high |= last < columns - 1;
        if (first > 0 && !has_low)
            low = (double)(first - i);
        has_low |= first > 0;
    }
    Affine *p = y->predicate;
    if (has_high) {
        p[y->n_predicates].c = high;
        p[y->n_predicates].a[t->rank - 2] = 1;
        p[y->n_predicates++].a[t->rank - 1] = -1;
    }
    if (has_low) {
        p[y->n_predicates].c = -low;
        p[y->n_predicates].a[t->rank - 2] = -1;
        p[y->n_predicates++].a[t->rank - 1] = 1;
    }
}

static bool is_band(const Tensor *t, int64_t count, const Fact *y)
{
    int64_t index[MAX_RANK] = {0};

    for (int64_t k = 0; k < count; k++, index_next(index, t->rank, t->dim)) {
        bool inside = true;
        for (int p = 0; p < y->n_predicates; p++) {
            double x = y->predicate[p].c;
            for (int i = t->rank - 2; i < t->rank; i++)
                x += y->predicate[p].a[i] * (double)index[i];
            inside &= x >= 0;
        }
        if (element(t, k) != (inside ? y->value.c : y->other))
            return false;
    }
    return true;
}

static bool fit_band(const Tensor *t, int64_t count, Fact *y)
{
    double a, b;

    if (t->rank < 2 || t->dim[t->rank - 2] < 2 || t->dim[t->rank - 1] < 2 ||
        !two_numbers(t, count, &a, &b))
        return false;
    for (int k = 0; k < 2; k++) {
        *y = (Fact){.value.c = k ? b : a, .other = k ? a : b};
        read_band(t, y->value.c, y);
        if (y->n_predicates && is_band(t, count, y))
            return true;
    }
    return false;
}

const Fact *fact_fit(Arena *a, const Tensor *t)
{
    int64_t count = tensor_count(t);
    Fact y;

    if (!count || !(fit_splat(t, count, &y) || fit_affine(t, count, &y) || fit_band(t, count, &y)))
        return NULL;
    if (y.n_predicates == 1 && t->dtype == BOOL && y.other == 1) {  // not (x ≥ 0) is -x - 1 ≥ 0
        Affine p = y.predicate[0];
        for (int i = 0; i < t->rank; i++)
            y.predicate[0].a[i] = 0 - p.a[i];
        y.predicate[0].c = -p.c - 1;
        y.value.c = 1;
        y.other = 0;
    }
    Fact *fact = arena_array(a, Fact, 1);
    *fact = y;
    return fact;
}
