// Reads the functions of a program and their items.
#include <string.h>

#include "lower/text/text.h"

enum { MAX_ITEMS = 1 << 22, MAX_SLOTS = 1 << 16, MAX_SKEW = 31, MAX_ITERATIONS = 1 << 15 };

// ---- operands ----

// Reads operands before "->", and those after it.
static bool parse_operands(Parser *p, Item *it)
{
    int n = 0, cap = 0, *count = &it->n_in;

    while (p->lex->kind == TOKEN_NAME || lexer_is_word(p->lex, "_") ||
           lexer_is_sign(p->lex, "->")) {
        if (lexer_skip_sign(p->lex, "->")) {
            if (count == &it->n_out)
                return lexer_unexpected(p->lex, "an operand");
            count = &it->n_out;
            continue;
        }
        if (!parse_operand(p, it, arena_push(p->p->arena, it->operands, n, cap)))
            return false;
        ++*count;
    }
    return true;
}

static bool check_operands(Parser *p, const Item *it, int n_in, int n_out)
{
    if (it->n_in != n_in || it->n_out != n_out)
        return lexer_error(p->lex, "%d operands and %d results expected, not %d and %d", n_in,
                           n_out, it->n_in, it->n_out);
    for (int k = 0; k < n_in + n_out; k++)
        if (!it->operands[k].base)
            return lexer_error(p->lex, "an operand is missing");
    return true;
}

// ---- kernels ----

static bool parse_slot(Parser *p, Item *it)
{
    int64_t slot, n = 1;

    if (!parse_between(p, 0, MAX_SLOTS, &slot))
        return false;
    if (lexer_skip_sign(p->lex, "+") &&
        (!lexer_word(p->lex, "layer") || !lexer_word(p->lex, "mod") ||
         !parse_between(p, 2, MAX_SLOTS, &n)))
        return false;
    if (n > 1 && !p->depth)
        return lexer_error(p->lex, "there is no loop");
    it->call.slot = (int)slot + 1;
    it->call.n_slots = (int)n;
    p->p->n_slots = p->p->n_slots < slot + n ? (int)(slot + n) : p->p->n_slots;
    return true;
}

static bool same_type(const Value *a, const Value *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, sizeof *a->dim * (size_t)a->rank);
}

// Finds the node of a kernel by its first result, and compares its operands with those of the item.
static bool find_node(Parser *p, Item *it, const char *op)
{
    const Graph *g = p->s->g;
    const Operand *first = it->n_out ? &it->operands[it->n_in] : NULL;
    NodeId id = first && first->base ? value_of(g, first->value)->producer : 0;
    const Node *n = &g->nodes[id];

    if (!id || strcmp(n->op->name, op) || !n->op->kernel || n->n_in != it->n_in ||
        n->n_out != it->n_out || (it->call.slot && !n->op->exchange))
        return lexer_error(p->lex, "its first result is no result of such a %s", op);
    for (int k = 0; k < n->n_in + n->n_out; k++) {
        ValueId want = nth_operand(n, k), has = it->operands[k].value;
        if (!want != !has || (want && !same_type(value_of(g, want), value_of(g, has))) ||
            (k >= n->n_in && want != has))
            return lexer_error(p->lex, "operand %d isn't like that of its node", k);
    }
    it->nodes = arena_array(p->p->arena, NodeId, 1);
    it->nodes[0] = id;
    it->n_nodes = 1;
    return true;
}

// Makes the request for the kernel, and compares it with the text.
static bool parse_request(Parser *p, Item *it)
{
    const Graph *g = p->s->g;
    const Node *n = &g->nodes[it->nodes[0]];
    const Sharded *s = p->s->sharded;
    int count = n->n_in + n->n_out;
    int64_t(*stride)[MAX_RANK] = arena_alloc(p->p->arena, (size_t)count, sizeof *stride);
    Kernel k = {.want = arena_alloc(p->p->arena, (size_t)count, sizeof *stride),
                .whole = s ? s->node[it->nodes[0]].size : NULL,
                .cut = split_factors(s, it->nodes[0])};
    Text t = {0};

    for (int i = 0; i < count; i++)
        memcpy(stride[i], it->operands[i].stride, sizeof stride[i]);
    node_kernel(g, n, (const int64_t(*)[MAX_RANK])stride, &k);
    if (!k.def || k.copies)
        return lexer_error(p->lex, "no kernel of %s takes operands that lie so", n->op->name);
    if (!target_takes(p->p->target, g, n, &k, p->lex->d))
        return false;
    kernel_settle(&k, it->region && n->block.cls == it->cls ? n->block.iter : -1);
    kernel_print_text(&k, &t);
    bool ok = lexer_expect(p->lex, t.s);
    text_free(&t);
    it->call.kernel = k;
    it->call.workspace = target_workspace(p->p->target, &k);
    return ok;
}

// ---- moves ----

static bool finish_copy(Parser *p, const Item *it)
{
    if (!check_operands(p, it, 1, 1))
        return false;
    return value_of(p->s->g, it->operands[0].value)->dtype ==
               value_of(p->s->g, it->operands[1].value)->dtype ||
           lexer_error(p->lex, "a copy changes no type");
}

// Reads " %v factor 2 axis 1:", the node whose padding is set, and along which factor and mesh
// axis.
static bool parse_pad(Parser *p, Item *it)
{
    int64_t factor, axis;

    it->nodes = arena_array(p->p->arena, NodeId, 1);
    it->n_nodes = 1;
    if (!parse_node_name(p, &it->nodes[0]))
        return false;
    int factors = p->s->sharded ? p->s->sharded->node[it->nodes[0]].n_factors : 0;
    if (!lexer_word(p->lex, "factor") || !parse_between(p, 0, factors - 1, &factor) ||
        !lexer_word(p->lex, "axis") || !parse_between(p, 0, MAX_RANK - 1, &axis))
        return false;
    it->pad.factor = (int)factor;
    it->pad.axis = (int)axis;
    return lexer_sign(p->lex, ":");
}

static bool finish_pad(Parser *p, Item *it)
{
    const Graph *g = p->s->g;
    Arena *a = arena_new();
    Rule r;

    if (!check_operands(p, it, 1, 0)) {
        arena_free(a);
        return false;
    }
    const Value *v = value_of(g, it->operands[0].value);
    it->rank = v->rank;
    memcpy(it->dim, v->dim, sizeof it->dim);
    node_rule(a, g, &g->nodes[it->nodes[0]], &r);
    FactorKind kind = r.kind[it->pad.factor];
    it->pad.op = kind == FACTOR_MAX ? RT_MAX : kind == FACTOR_MIN ? RT_MIN : RT_SUM;
    arena_free(a);
    return it->pad.axis < it->rank || lexer_error(p->lex, "it has no dim %d", it->pad.axis);
}

static bool finish_gradient(Parser *p, const Item *it)
{
    return check_operands(p, it, 1, 0) && (value_of(p->s->g, it->operands[0].value)->producer ||
                                           lexer_error(p->lex, "no node makes this gradient"));
}

// ---- loops ----

static Item *loop_around(const Parser *p, int k) { return &p->s->items[p->loop[k]]; }

// Reads "x 3": the length of the class, a part of it in a loop, or any number without a class.
static bool parse_length(Parser *p, Item *it)
{
    int64_t n, whole = it->cls ? p->s->g->classes[it->cls].length : MAX_ITERATIONS, all;

    if (!lexer_word(p->lex, "x") || !parse_between(p, it->cls && !p->depth ? whole : 1, whole, &n))
        return false;
    it->loop.length = it->cls && n == whole ? 0 : (int)n;
    all = n;
    for (int k = 0; k < p->depth; k++)
        all *= loop_length(p->s->g, loop_around(p, k));
    if ((p->depth || !it->cls) && all > MAX_ITERATIONS)
        return lexer_error(p->lex, "loops of more than %d iterations together", MAX_ITERATIONS);
    if (!it->cls || !it->loop.length)
        return true;
    const Item *outer = loop_around(p, 0);
    int64_t most = outer->cls ? p->s->g->classes[outer->cls].length : outer->loop.length;
    return n * most <= whole ||
           lexer_error(p->lex, "%" PRId64 " x %" PRId64 " iterations, but the class has %" PRId64,
                       most, n, whole);
}

// Reads "class 1 x 3", "of copies class 1 x 3" or "x 3".
static bool parse_iterations(Parser *p, Item *it)
{
    int64_t cls = 0;
    bool is_of_copies = lexer_skip_word(p->lex, "of");

    if (is_of_copies && !lexer_word(p->lex, "copies"))
        return false;
    if (is_of_copies || lexer_is_word(p->lex, "class")) {
        if (!lexer_word(p->lex, "class") || !parse_between(p, 1, p->s->g->n_classes - 1, &cls))
            return false;
        it->region = is_of_copies ? 0 : ++p->n_region;
    }
    it->cls = (int32_t)cls;
    for (int k = 0; cls && k < p->depth; k++)
        if (loop_around(p, k)->cls == cls)
            return lexer_error(p->lex, "a loop over class %d is around it already", it->cls);
    return parse_length(p, it);
}

// A loop around others has no skew, as each of its iterations runs them as a whole, nor has a loop
// over a part of its class.
static bool parse_loop_skew(Parser *p, Item *it)
{
    int64_t skew = 0;

    if (lexer_skip_word(p->lex, "skew") &&
        !parse_between(p, 1, it->loop.length ? 0 : MAX_SKEW, &skew))
        return false;
    it->loop.skew = (int)skew;
    return true;
}

// Reads "class 1 x 3 backward again 1 reverse part 1 skew 2".
static bool parse_loop(Parser *p, Item *it)
{
    int64_t again = 0, part = 0;

    if (p->depth == MAX_LOOPS)
        return lexer_error(p->lex, "more than %d loops in each other", MAX_LOOPS);
    if (p->depth && loop_around(p, 0)->loop.skew)
        return lexer_error(p->lex, "a loop in a loop with skew");
    it->phase = FORWARD;
    it->region = 0;
    if (!parse_iterations(p, it))
        return false;
    for (Phase phase = BACKWARD; phase <= UPDATE; phase++)
        if (lexer_skip_word(p->lex, phase_words[phase]))
            it->phase = phase;
    if (lexer_skip_word(p->lex, "again") && !parse_between(p, 1, INT16_MAX, &again))
        return false;
    it->loop.is_reverse = lexer_skip_word(p->lex, "reverse");
    if (lexer_skip_word(p->lex, "part") && !parse_between(p, 1, INT16_MAX, &part))
        return false;
    it->loop.again = (int)again;
    it->loop.fission_part = (int)part;
    memmove(p->loop + 1, p->loop, sizeof *p->loop * (MAX_LOOPS - 1));
    p->loop[0] = p->s->n_items - 1;
    p->depth++;
    return parse_loop_skew(p, it);
}

static bool end_loop(Parser *p, Item *end)
{
    if (!p->depth)
        return lexer_error(p->lex, "no loop ends here");
    Item *loop = loop_around(p, 0);
    loop->loop.end = (int)(end - p->s->items);
    memmove(p->loop, p->loop + 1, sizeof *p->loop * (MAX_LOOPS - 1));
    p->depth--;
    int last = end[-1].skew;
    return last == loop->loop.skew ||
           lexer_error(p->lex, "the last item's skew is %d, but that of the loop %d", last,
                       loop->loop.skew);
}

// The items of a loop are in the order of their skews. A needless one has that of the item before.
static bool parse_skew(Parser *p, Item *it)
{
    int before = p->depth ? it[-1].skew : 0, most = p->depth ? loop_around(p, 0)->loop.skew : 0;
    int64_t skew = it->kind == ITEM_NONE ? before : 0;

    if (lexer_skip_word(p->lex, "skew") && !parse_between(p, 1, most, &skew))
        return false;
    it->skew = (int)skew;
    it->is_once = lexer_skip_word(p->lex, "once");
    return skew >= before || lexer_error(p->lex, "its skew is less than that of the item before");
}

// ---- items ----

// Reads what only items of that kind have, before the operands. `op` gets a kernel's operator.
static bool parse_kind(Parser *p, Item *it, bool has_slot, const char **op)
{
    switch (it->kind) {
    case ITEM_GROUP:
        return parse_group(p, it);
    case ITEM_KERNEL:
    case ITEM_WAIT:
        if (has_slot && !parse_slot(p, it))
            return false;
        if (p->lex->kind != TOKEN_WORD)
            return lexer_unexpected(p->lex, "an operator");
        *op = arena_string(p->p->arena, "%s", p->lex->text);
        lexer_next(p->lex);
        return true;
    case ITEM_COPY:
        return parse_dims(p, it);
    case ITEM_FILL:
        return lexer_float(p->lex, &it->fill.value);
    case ITEM_PAD:
        return parse_pad(p, it);
    case ITEM_LOOP:
    case ITEM_END:
    case ITEM_GRADIENT:
    case ITEM_NONE:
        break;
    }
    return true;
}

static bool finish_kind(Parser *p, Item *it, const char *op)
{
    switch (it->kind) {
    case ITEM_GROUP:
        return finish_group_text(p, it);
    case ITEM_KERNEL:
        return find_node(p, it, op) && parse_request(p, it);
    case ITEM_WAIT:
        return find_node(p, it, op);
    case ITEM_COPY:
        return finish_copy(p, it);
    case ITEM_FILL:
        return check_operands(p, it, 0, 1);
    case ITEM_PAD:
        return finish_pad(p, it);
    case ITEM_GRADIENT:
        return finish_gradient(p, it);
    case ITEM_LOOP:
    case ITEM_END:
    case ITEM_NONE:
        break;
    }
    return check_operands(p, it, 0, 0);
}

// Reads "workspace 17", the number of a buffer.
static bool parse_workspace(Parser *p, Item *it)
{
    int64_t number;

    if (!lexer_skip_word(p->lex, "workspace"))
        return true;
    if (!parse_between(p, 1, p->p->n_buffers - 1, &number))
        return false;
    it->workspace_buffer = (int32_t)number;
    return p->p->buffers[number].kind == BUFFER_WORKSPACE ||
           lexer_error(p->lex, "buffer %" PRId64 " is no workspace", number);
}

static bool check_workspace(Parser *p, const Item *it)
{
    int64_t bytes = item_workspace(it);

    if (!bytes == !it->workspace_buffer)
        return true;
    return lexer_error(p->lex,
                       bytes ? "it needs a workspace of %" PRId64 " bytes"
                             : "it needs no workspace, but has one",
                       bytes);
}

static bool parse_item_kind(Parser *p, Item *it, bool *has_slot)
{
    bool is_start = lexer_skip_word(p->lex, "start");
    int kind = is_start
                   ? ITEM_KERNEL
                   : parse_one_of(p, item_kind_names, COUNT(item_kind_names), "a kind of item");

    if (kind < 0)
        return false;
    it->kind = (ItemKind)kind;
    *has_slot = is_start || kind == ITEM_WAIT;
    return true;
}

static bool parse_item(Parser *p)
{
    Set *s = p->s;
    const char *op = NULL;
    int64_t number;
    bool has_slot;

    if (!parse_between(p, s->n_items, s->n_items, &number))
        return false;
    if (number >= MAX_ITEMS)
        return lexer_error(p->lex, "more than %d items", MAX_ITEMS);
    Item *it = arena_push(p->p->arena, s->items, s->n_items, s->cap_items);
    *it = (Item){0};
    if (p->depth) {
        const Item *loop = loop_around(p, 0);
        it->cls = loop->cls;
        it->phase = loop->phase;
        it->region = loop->region;
    }
    if (!parse_item_kind(p, it, &has_slot))
        return false;
    if (it->kind == ITEM_LOOP)
        return parse_loop(p, it) && lexer_line(p->lex);
    if (it->kind == ITEM_END)
        return end_loop(p, it) && lexer_line(p->lex);
    return parse_kind(p, it, has_slot, &op) && parse_skew(p, it) && parse_workspace(p, it) &&
           parse_operands(p, it) && finish_kind(p, it, op) && check_workspace(p, it) &&
           lexer_line(p->lex);
}

// ---- functions ----

static int find_timing(const char *name)
{
    for (int i = 0; i < N_TIMINGS; i++)
        if (!strncmp(name, timing_name((Timing)i), strlen(timing_name((Timing)i))))
            return i;
    return -1;
}

// Reads "train micro" and the items of the function.
static bool parse_function(Parser *p)
{
    int set = parse_one_of(p, set_names, N_SETS, "'train' or 'predict'");

    if (set < 0)
        return false;
    p->set = set;
    p->s = &p->p->set[set];
    if (!p->s->g)
        return lexer_error(p->lex, "the program has no graph '%s'", set_names[set]);
    int timing = p->lex->kind == TOKEN_WORD ? find_timing(p->lex->text) : -1;
    if (timing < 0 || (timing == TIMING_FORWARD) != (set == SET_PREDICT))
        return lexer_unexpected(p->lex, "a function's name");
    const Function *before = p->s->n_functions ? &p->s->functions[p->s->n_functions - 1] : NULL;
    if (before && (int)before->timing > timing)
        return lexer_error(p->lex, "function %s must come before %s", p->lex->text, before->name);
    if (map_get(&p->functions, p->lex->text))
        return lexer_error(p->lex, "function %s is defined twice", p->lex->text);
    char *name = arena_string(p->p->arena, "%s", p->lex->text);
    map_set(&p->functions, name, 1);
    lexer_next(p->lex);
    if (!lexer_line(p->lex))
        return false;
    int begin = p->s->n_items;
    while (p->lex->kind == TOKEN_NUMBER)
        if (!parse_item(p))
            return false;
    if (p->depth)
        return lexer_error(p->lex, "the loop doesn't end");
    Function f = {.name = name, .timing = (Timing)timing, .begin = begin, .end = p->s->n_items};
    if (lexer_skip_word(p->lex, "calls") && !parse_calls(p, &f))
        return false;
    *arena_push(p->p->arena, p->s->functions, p->s->n_functions, p->s->cap_functions) = f;
    return true;
}

bool parse_functions(Parser *p)
{
    p->functions.arena = p->p->arena;
    while (p->lex->kind != TOKEN_END)
        if (!parse_function(p))
            return false;
    return true;
}
