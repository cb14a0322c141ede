// Draws recipes from a seed, prints and parses their text, and gives their loss and optimizer.
#include "tests/nets/net.h"

#include <stdlib.h>
#include <string.h>

static const char *const losses[] = {
    "mse(y, t)",
    "l1(y, t)",
    "bce_with_logits(y, t)",
    "cross_entropy(y, t)",
    "cross_entropy(y, t, ignore_index=1)",
    "cross_entropy(y, t, label_smoothing=0.1)",
    "y",
};

static const char *const optimizers[] = {
    "sgd(lr=0.5)",
    "sgd(lr=0.5, momentum=0.9, weight_decay=0.1)",
    "sgd(lr=0.5, momentum=0.9, nesterov=true)",
    "adam(lr=0.3, weight_decay=0.05)",
    "adamw(lr=0.3, weight_decay=0.1)",
    "adagrad(lr=0.5)",
    "lamb(lr=0.5, weight_decay=0.1)",
    "rmsprop(lr=0.1, alpha=0.9)",
};

const char *recipe_loss(const Recipe *r) { return losses[r->loss % COUNT(losses)]; }

const char *recipe_optimizer(const Recipe *r)
{
    return optimizers[r->optimizer % COUNT(optimizers)];
}

// Globs that match parameters of some layers of a block, of one block, of all.
static const char *const globs[] = {"b1.*",        "*.bias",          "b*.0.*",
                                    "b2.*.weight", "b0.0.0.0.weight", "*.scale"};

static const char *glob_of(int number)
{
    return number ? globs[(number - 1) % COUNT(globs)] : NULL;
}

const char *recipe_no_decay(const Recipe *r) { return glob_of(r->no_decay); }

const char *recipe_freeze(const Recipe *r) { return glob_of(r->freeze); }

DType recipe_precision(const Recipe *r)
{
    static const DType types[] = {F32, BF16, F16};

    return types[r->half % COUNT(types)];
}

DType recipe_reduce(const Recipe *r) { return r->half_sum % 2 ? BF16 : DT_NONE; }

double recipe_clip(const Recipe *r) { return r->clip % 3 == 1 ? 0.5 : r->clip % 3 == 2 ? 1e6 : 0; }

int recipe_accumulate(const Recipe *r) { return 1 + r->accumulate % 3; }

// ---- drawing ----

// Draws a number in [0, n); splitmix64 (Steele, Lea and Flood 2014).
static int roll(uint64_t *s, int n)
{
    *s += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *s;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int)(((x ^ x >> 31) >> 33) % (uint64_t)n);
}

static void draw_dims(Recipe *r, uint64_t *s)
{
    static const int ranks[] = {2, 2, 3, 3, 3, 4, 4, 4, 5};
    int most = 9;

    r->rank = ranks[roll(s, COUNT(ranks))];
    r->is_last = r->rank == 2   ? 1
                 : r->rank == 3 ? roll(s, 3) > 0
                 : r->rank == 4 ? roll(s, 5) == 0
                                : 0;
    most = r->rank == 2 ? 9 : r->rank == 3 ? 7 : r->rank == 4 ? 6 : 3;
    for (int i = 0; i < r->rank; i++)
        r->dim[i] = roll(s, 8) ? 2 + roll(s, most - 1) : 1;
    int features = r->is_last ? r->rank - 1 : 1;
    if (roll(s, 2))
        r->dim[features] = 2 * (1 + roll(s, 4));
    r->dim[0] = 1 + roll(s, 4);
    if (roll(s, 8) == 0 && r->rank == 2)
        r->dim[0] = 16;
}

void recipe_widen(Recipe *r)
{
    static const int64_t sizes[] = {17,  24,  31,  33,  48,  64,  65,  100,
                                    127, 129, 200, 257, 300, 520, 1030};
    enum { MAX_ELEMENTS = 1500, SHORT = 8 };  // weights and attention grow with the size's square
    uint64_t s = hash_bytes(&r->numbers, sizeof r->numbers, 2);
    int features = r->is_last ? r->rank - 1 : 1, wide = roll(&s, r->rank);
    bool is_short = wide == features || r->rank > 3;
    int64_t all = 1;

    r->dim[wide] = sizes[roll(&s, is_short ? SHORT : COUNT(sizes))];
    for (int i = 0; i < r->rank; i++)
        all *= r->dim[i];
    for (int i = 0; i < r->rank && all > MAX_ELEMENTS; i++)
        if (i != wide && r->dim[i] > 2) {
            all = all / r->dim[i] * 2;
            r->dim[i] = 2;
        }
}

static Layer draw_layer(uint64_t *s)
{
    // The layers that most nets have are drawn more often.
    static const Kind often[] = {KIND_linear, KIND_linear, KIND_conv,   KIND_conv, KIND_norm,
                                 KIND_norm,   KIND_act,    KIND_act,    KIND_mlp,  KIND_scale,
                                 KIND_gate,   KIND_attend, KIND_reduce, KIND_pool};
    Layer l;

    l.kind = roll(s, 2) ? (int)often[roll(s, COUNT(often))] : 1 + roll(s, KIND_masked - 1);
    for (int i = 0; i < N_ARGS; i++)
        l.arg[i] = roll(s, 48);
    return l;
}

static void draw_layers(Recipe *r, uint64_t *s)
{
    Layer proto[2][MAX_LAYERS];
    bool has_product[2] = {false, false};

    for (int k = 0; k < 2; k++)
        for (int l = 0; l < r->n_layers; l++) {
            proto[k][l] = draw_layer(s);
            int kind = proto[k][l].kind;
            has_product[k] |= kind == KIND_linear || kind == KIND_conv || kind == KIND_mlp ||
                              kind == KIND_gate || kind == KIND_attend || kind == KIND_separable;
        }
    // Blocks without a product form no class.
    for (int k = 0; k < 2; k++)
        if (!has_product[k] && roll(s, 4))
            proto[k][roll(s, r->n_layers)].kind = r->is_last ? KIND_linear : KIND_conv;
    for (int b = 0; b < r->n_blocks; b++)
        memcpy(r->layer[b], proto[b >= r->n_first], sizeof r->layer[b]);
}

// Makes a few layers differ by block in one number, or removes a layer from the last block.
static void draw_differences(Recipe *r, uint64_t *s)
{
    int count = roll(s, 3) ? roll(s, 4) : 0;

    for (int k = 0; k < count; k++) {
        int l = roll(s, r->n_layers), at = roll(s, N_ARGS), how = roll(s, 8);
        for (int b = 0; b < r->n_blocks; b++) {
            if (how < 5)  // another number in each block
                r->layer[b][l].arg[at] += b * (1 + roll(s, 2));
            else if (how < 7 && b == r->n_blocks / 2)
                r->layer[b][l].arg[at] += 1;
            else if (how == 7 && b == r->n_blocks - 1)
                r->layer[b][l].kind = KIND_NONE;
        }
    }
}

Recipe recipe_draw(uint64_t seed)
{
    uint64_t s = hash_bytes(&seed, sizeof seed, 1);
    Recipe r = {.numbers = seed};

    draw_dims(&r, &s);
    r.stem = roll(&s, 8);
    r.topology = roll(&s, 3) == 0 ? CHAIN : roll(&s, N_TOPOLOGIES);
    r.head = roll(&s, 4);
    r.n_blocks = 1 + roll(&s, MAX_BLOCKS);
    if (r.n_blocks < 3 && roll(&s, 2))
        r.n_blocks = 3 + roll(&s, 2);
    r.n_layers = 1 + roll(&s, roll(&s, 3) ? 4 : MAX_LAYERS);
    r.n_first = roll(&s, 5) ? r.n_blocks : roll(&s, r.n_blocks);
    draw_layers(&r, &s);
    draw_differences(&r, &s);
    for (int l = 0; l < r.n_layers; l++)
        r.shared |= (roll(&s, 10) == 0) << l;
    for (int b = 0; b < MAX_BLOCKS; b++)
        r.like[b] = b;
    if (roll(&s, 8) == 0)  // modules that are used twice
        for (int b = 1; b < r.n_blocks; b++)
            r.like[b] = roll(&s, 2) ? r.like[b - 1] : b;
    r.loss = roll(&s, COUNT(losses));
    r.optimizer = roll(&s, COUNT(optimizers));
    r.clip = roll(&s, 3);
    r.accumulate = roll(&s, 4) ? 0 : 1 + roll(&s, 2);
    r.plain = roll(&s, 12) == 0;
    r.again = roll(&s, 2) ? roll(&s, 4) : 0;
    r.data = roll(&s, 3) ? 0 : 1 + roll(&s, N_DATA_KINDS - 1);
    return r;
}

void recipe_vary(Recipe *r)
{
    uint64_t s = hash_bytes(&r->numbers, sizeof r->numbers, 3);
    int l = roll(&s, r->n_layers);
    Layer x = {roll(&s, 2) ? KIND_masked : KIND_summed, {0}};

    for (int i = 0; i < N_ARGS; i++)
        x.arg[i] = roll(&s, 48);
    for (int b = 0, is_new = roll(&s, 3); b < r->n_blocks && is_new; b++)
        if (r->layer[b][l].kind)
            r->layer[b][l] = x;
    r->no_decay = roll(&s, 3) ? 1 + roll(&s, COUNT(globs)) : 0;
    r->freeze = roll(&s, 3) ? 0 : 1 + roll(&s, COUNT(globs));
    r->more = roll(&s, 2) ? 0 : 1 + roll(&s, 3);
    r->tied = roll(&s, 2);
}

void recipe_halve(Recipe *r)
{
    uint64_t s = hash_bytes(&r->numbers, sizeof r->numbers, 5);

    r->half = 1 + roll(&s, 2);
    r->half_sum = roll(&s, 2);
}

// ---- text ----

void recipe_print(const Recipe *r, Text *t)
{
    text_printf(t, "numbers=%" PRIu64 " dims=", r->numbers);
    for (int i = 0; i < r->rank; i++)
        text_printf(t, "%s%" PRId64, i ? "," : "", r->dim[i]);
    text_printf(t,
                " last=%d stem=%d topology=%d head=%d shared=%d loss=%d optimizer=%d clip=%d "
                "accumulate=%d plain=%d again=%d no_decay=%d "
                "freeze=%d more=%d tied=%d data=%d half=%d half_sum=%d layers=%d",
                r->is_last, r->stem, r->topology, r->head, r->shared, r->loss, r->optimizer,
                r->clip, r->accumulate, r->plain, r->again, r->no_decay, r->freeze, r->more,
                r->tied, r->data, r->half, r->half_sum, r->n_layers);
    for (int b = 0; b < r->n_blocks; b++) {
        text_printf(t, " block=%d", r->like[b]);
        for (int l = 0; l < r->n_layers; l++) {
            const Layer *x = &r->layer[b][l];
            text_printf(t, " %s=%d,%d,%d,%d", kind_names[x->kind], x->arg[0], x->arg[1], x->arg[2],
                        x->arg[3]);
        }
    }
}

// Reads up to `most` numbers separated by commas; returns the text after them.
static const char *read_numbers(const char *s, int64_t *to, int most, int *n)
{
    for (*n = 0; *n < most; s++) {
        to[(*n)++] = strtoll(s, (char **)&s, 10);
        if (*s != ',')
            break;
    }
    return s;
}

static bool read_layer(Recipe *r, int *l, const char *word, size_t n, const int64_t *v)
{
    int b = r->n_blocks - 1;

    for (int k = 0; k < N_KINDS; k++) {
        if (strlen(kind_names[k]) != n || strncmp(kind_names[k], word, n))
            continue;
        if (b < 0 || *l >= MAX_LAYERS)
            return false;
        r->layer[b][*l].kind = k;
        for (int i = 0; i < N_ARGS; i++)
            r->layer[b][*l].arg[i] = (int)v[i];
        (*l)++;
        return true;
    }
    return false;
}

bool recipe_parse(const char *s, Recipe *r)
{
    struct {
        const char *name;
        int *to;
    } field[] = {
        {"last", &r->is_last},        {"stem", &r->stem},     {"topology", &r->topology},
        {"head", &r->head},           {"shared", &r->shared}, {"loss", &r->loss},
        {"optimizer", &r->optimizer}, {"clip", &r->clip},     {"accumulate", &r->accumulate},
        {"plain", &r->plain},         {"again", &r->again},   {"layers", &r->n_layers},
        {"no_decay", &r->no_decay},   {"freeze", &r->freeze}, {"more", &r->more},
        {"tied", &r->tied},           {"data", &r->data},     {"half", &r->half},
        {"half_sum", &r->half_sum}};
    int l = 0;

    *r = (Recipe){0};
    for (int b = 0; b < MAX_BLOCKS; b++)
        r->like[b] = b;
    while (*(s += strspn(s, " \n"))) {
        const char *word = s;
        size_t n = strcspn(s, "=");
        int64_t v[8] = {0};
        int count, k = 0;
        if (!s[n])
            return false;
        if (n == 7 && !strncmp(word, "numbers", 7)) {
            r->numbers = strtoull(s + n + 1, (char **)&s, 10);
            continue;
        }
        s = read_numbers(s + n + 1, v, 8, &count);
        while (k < COUNT(field) && (strlen(field[k].name) != n || strncmp(word, field[k].name, n)))
            k++;
        if (k < COUNT(field)) {
            *field[k].to = (int)v[0];
        } else if (n == 4 && !strncmp(word, "dims", 4)) {
            r->rank = count > 5 ? 0 : count;
            memcpy(r->dim, v, sizeof r->dim);
        } else if (n == 5 && !strncmp(word, "block", 5)) {
            if (r->n_blocks == MAX_BLOCKS)
                return false;
            r->like[r->n_blocks++] = (int)v[0];
            l = 0;
        } else if (!read_layer(r, &l, word, n, v)) {
            return false;
        }
    }
    r->n_first = r->n_blocks;
    return r->rank >= 2 && r->n_layers <= MAX_LAYERS;
}
