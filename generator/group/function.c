// Names and comments of fused groups' functions. The model's names are untrusted: they are reduced
// to lower-case letters, digits and underscores, and end in a phase, so that they are neither words
// of C nor names of its library.
#include <ctype.h>
#include <string.h>

#include "generator/group/function.h"
#include "generator/group/group.h"
#include "ir/facts.h"

const Node *last_node(const Body *b)
{
    return &b->g->s->g->nodes[b->it->nodes[b->it->n_nodes - 1]];
}

enum { NAME_ROOM = 32, MODULE_ROOM = 40, ORIGIN_ROOM = 20, MODULES_SHOWN = 2 };

// ---- parts of names ----

// Turns "LayerNorm-2" into "layer_norm_2". "": nothing of it can be in a name.
static const char *identifier(Arena *a, const char *s)
{
    Text t = {0};

    for (char before = 0; *s && t.n < NAME_ROOM; before = *s++) {
        bool is_word = isupper((unsigned char)*s) && islower((unsigned char)before);
        bool is_plain = isalnum((unsigned char)*s);
        if ((is_word || !is_plain) && t.n && t.s[t.n - 1] != '_')
            text_printf(&t, "_");
        if (is_plain)
            text_printf(&t, "%c", tolower((unsigned char)*s));
    }
    size_t n = t.n;
    while (n && t.s[n - 1] == '_')
        n--;
    const char *name = arena_copy(a, t.n ? t.s : "", n);
    text_free(&t);
    return name;
}

// The last part of a path that is more than a number, with the numbers after it: "layer3.{}.bn1"
// gives "bn1", "layer3.{}.downsample.1" gives "downsample.1".
static const char *last_part(const char *path)
{
    const char *from = path + strlen(path);

    while (from > path && !isalpha((unsigned char)*from))
        do
            from--;
        while (from > path && !strchr("./", from[-1]));
    return from;
}

// A name without the numbers at its end.
static const char *unnumbered(Arena *a, const char *name)
{
    size_t n = strlen(name);

    while (n && strchr("_0123456789", name[n - 1]))
        n--;
    return arena_copy(a, name, n);
}

// The name that two names share: "ln" of "ln1" and "ln2", "norm" of "q_norm" and "k_norm". NULL:
// nothing.
static const char *shared_name(Arena *a, const char *x, const char *y)
{
    x = unnumbered(a, x), y = unnumbered(a, y);
    if (strcmp(x, y)) {
        x = strrchr(x, '_'), y = strrchr(y, '_');
        if (!x || !y || strcmp(x, y))
            return NULL;
        x++;
    }
    return strlen(x) > 1 ? x : NULL;
}

static bool is_optimizer(const char *name)
{
#define OPTIMIZER(x) !strcmp(name, #x) ||
    return
#include "ir/optimizers.def"
        false;
}

// ---- what is known of a group ----

// The operator that costs most; of several the last.
static const char *main_operator(const Body *b)
{
    const OpDef *most = last_node(b)->op;

    for (int i = b->it->n_nodes - 1; i >= 0; i--) {
        const OpDef *op = b->g->s->g->nodes[b->it->nodes[i]].op;
        most = op->flops > most->flops ? op : most;
    }
    return most->name;
}

static const char *operators_text(const Body *b)
{
    const char *s = "";

    for (int i = 0; i < b->it->n_nodes; i++) {
        const char *name = b->g->s->g->nodes[b->it->nodes[i]].op->name;
        if (!has_word(s, name))
            s = arena_string(b->g->arena, "%s%s%s", s, *s ? " " : "", name);
    }
    return s;
}

static const char *walk_text(const Body *b)
{
    const Walk *w = b->w;
    int64_t rows = 1, columns = 1;

    for (int d = 0; d < w->rank; d++)
        *(d < w->rows && (w->rank > 1 || b->it->group.has_rows) ? &rows : &columns) *= w->dim[d];
    if (rows == 1)
        return columns == 1 ? "one number"
                            : arena_string(b->g->arena, "%" PRId64 " elements", columns);
    return arena_string(b->g->arena, "%" PRId64 " rows of %" PRId64 "%s", rows, columns,
                        b->it->group.has_columns ? ", with sums of columns" : "");
}

// The activation that a group computes, "gelu"; NULL: none.
static const char *activation(const Body *b)
{
    for (int i = b->it->n_nodes - 1; i >= 0; i--) {
        const char *role = b->g->role[b->g->set][b->g->s->g->nodes[b->it->nodes[i]].out[0]];
        if (role && role_is_of_module(role))
            return identifier(b->g->arena, role);
    }
    return NULL;
}

// Does the group add a bias, and nothing more?
static bool is_bias(const Body *b)
{
    for (int k = 0; k < b->it->n_in && b->it->n_nodes == 1; k++)
        if (!strcmp(b->name[k], "bias"))
            return b->it->n_in == 2;
    return false;
}

// The module in a name. Nodes of a block that are in none of its modules are told apart by their
// main operator; those of no module have the ONNX node's name, "node_add_3".
static const char *base_text(const Body *b, const char *module)
{
    Arena *a = b->g->arena;
    const Node *n = last_node(b);
    const char *scope = n->source ? n->source->scope : NULL;
    size_t length = strlen(module);

    if (n->phase == UPDATE && n->source && n->source->name)
        return identifier(a, n->source->name);
    if (length > 2 && !strcmp(module + length - 2, "{}"))
        return activation(b)
                   ? activation(b)
                   : arena_string(a, "%s_%s", identifier(a, last_part(module)), main_operator(b));
    const char *name = identifier(a, last_part(module));
    if (is_bias(b) && *name)
        return arena_string(a, "%s_bias", name);
    if (!scope || !*scope)
        name = unnumbered(a, name + (strncmp(name, "node_", 5) ? 0 : 5));
    return *name ? name : main_operator(b);
}

// The phase of most nodes, of an update's last node: groups also make again what they read.
static Phase phase_of(const Body *b)
{
    int n[UPDATE + 1] = {0};

    for (int i = 0; i < b->it->n_nodes; i++)
        n[b->g->s->g->nodes[b->it->nodes[i]].phase]++;
    return last_node(b)->phase == UPDATE ? UPDATE : n[FORWARD] > n[BACKWARD] ? FORWARD : BACKWARD;
}

static const char *ending_text(const Body *b)
{
    static const char *const norms[] = {"grad_norm", "clip_norm", "accumulate"};
    const Node *n = last_node(b);
    const char *name = n->source && n->source->name ? n->source->name : "";

    if (phase_of(b) == BACKWARD)
        return "_backward";
    if (phase_of(b) == FORWARD)
        return b->g->set == SET_PREDICT ? "_predict" : "_forward";
    for (int i = 0; i < COUNT(norms); i++)
        if (!strcmp(name, norms[i]))
            return "";
    if (!is_optimizer(name))
        return "_update";
    return n->source->scope && *n->source->scope ? "" : "_scalars";
}

// The origin of a value: the module of its node, or its own name if no node makes it. Without the
// module of the group, if it is in that. Constants often have no name.
static const char *origin_text(const Body *b, ValueId v, const char *module)
{
    const Value *x = value_of(b->g->s->g, v);
    const char *name = x->kind == VALUE_CONSTANT ? "constant" : x->name;
    const Node made = {.source = &(Source){.name = name, .scope = ""}, .block = x->block};
    const char *s = node_label(b->g, x->producer ? producer(b->g->s->g, v) : &made, ORIGIN_ROOM);
    size_t n = strlen(module);

    if (strncmp(s, module, n) || (s[n] && s[n] != '.'))
        return s;
    return s + n + (s[n] == '.');
}

static OperandNote note_of(const Body *b, int k, const char *module)
{
    OperandNote note = {.name = b->name[k],
                        .origin = origin_text(b, b->it->operands[k].base, module)};

    if (!strcmp(note.origin, note.name))
        note.origin = "";
    return note;
}

static GroupFunction describe(const Body *b, const char *pointers, const SizedText *text)
{
    const Item *it = b->it;
    const char *module = item_label(b->g, it, MODULE_ROOM), *base = base_text(b, module);
    GroupFunction f = {.text = *text,
                       .pointers = pointers,
                       .base = base,
                       .first_base = base,
                       .ending = ending_text(b),
                       .has_columns = it->group.has_columns,
                       .main_operator = main_operator(b),
                       .operators = operators_text(b),
                       .walk = walk_text(b),
                       .n_notes = it->n_in};

    f.note = arena_array(b->g->arena, OperandNote, f.n_notes);
    for (int k = 0; k < f.n_notes; k++)
        f.note[k] = note_of(b, k, module);
    *arena_push(b->g->arena, f.module, f.n_modules, f.cap_modules) = module;
    return f;
}

// ---- functions ----

// Adds a group to a function that it shares.
static void share(Gen *g, GroupFunction *f, const GroupFunction *x)
{
    bool is_known = false;

    if (f->base)
        f->base = !strcmp(f->base, x->base) ? f->base : shared_name(g->arena, f->base, x->base);
    if (f->walk && strcmp(f->walk, x->walk))
        f->walk = NULL;
    for (int i = 0; i < f->n_modules; i++)
        is_known |= !strcmp(f->module[i], x->module[0]);
    if (!is_known)
        *arena_push(g->arena, f->module, f->n_modules, f->cap_modules) = x->module[0];
    if (f->n_notes != x->n_notes)
        f->n_notes = 0;
    for (int k = 0; k < f->n_notes; k++) {
        OperandNote *to = &f->note[k];
        const OperandNote *from = &x->note[k];
        if (to->origin && strcmp(to->origin, from->origin))
            to->origin = NULL;
    }
}

int add_function(const Body *b, const char *pointers, const char *text, int64_t least, int *variant)
{
    Gen *g = b->g;
    SizedText sized = sized_text(g->arena, text, least);
    const char *key = arena_string(g->arena, "%s\n%s", pointers, sized.text);
    int number = map_get(&g->functions, key);
    GroupFunction f = describe(b, pointers, &sized);

    *variant = 0;
    if (number) {
        GroupFunction *known = &g->function[number - 1];
        *variant = sized_text_add(g->arena, &known->text, sized.variant[0]);
        share(g, known, &f);
        return number - 1;
    }
    *arena_push(g->arena, g->function, g->n_groups, g->cap_groups) = f;
    map_set(&g->functions, key, g->n_groups);  // 1 + its index
    return g->n_groups - 1;
}

// Names of other functions, and beginnings that no name has.
static bool is_reserved(const char *name)
{
    return !isalpha((unsigned char)*name) || !strncmp(name, "rt_", 3) ||
           !strncmp(name, "every_", 6) ||
           (!strncmp(name, "block", 5) && isdigit((unsigned char)name[5]));
}

// Names a function. A second one of the same name has that of its first module, or is told apart by
// its main operator; others by numbers.
static void set_name(GroupFunction *f, Map *taken)
{
    const char *base = f->base ? f->base : f->main_operator;
    const char *ending = f->base || *f->ending ? f->ending : "_update";
    char *name = arena_string(taken->arena, "%s%s", base, ending);

    if (is_reserved(name)) {
        base = arena_string(taken->arena, "module_%s", base);
        name = arena_string(taken->arena, "%s%s", base, ending);
    }
    if (map_get(taken, name) && f->base && !is_reserved(f->first_base)) {
        base = f->first_base;
        name = arena_string(taken->arena, "%s%s", base, ending);
    }
    if (map_get(taken, name) && f->base)
        name = arena_string(taken->arena, "%s_%s%s", base, f->main_operator, ending);
    f->name = name;
    for (int i = 2; map_get(taken, f->name); i++)
        f->name = arena_string(taken->arena, "%s_%d", name, i);
    map_set(taken, f->name, 1);
}

// Appends a comment, broken at blanks. Tabs are blanks where it isn't broken.
static void print_comment(Text *t, const char *s)
{
    int column = 2;

    text_printf(t, "//");
    while (*s) {
        size_t n = strcspn(s, " ");
        if (column + 1 + (int)n > COLUMNS) {
            text_printf(t, "\n//  ");
            column = 4;
        }
        text_printf(t, " ");
        for (size_t i = 0; i < n; i++)
            text_printf(t, "%c", s[i] == '\t' ? ' ' : s[i]);
        column += 1 + (int)n;
        s += n + (s[n] == ' ');
    }
    text_printf(t, "\n");
}

// "blocks.{}.ln1, ln: reduce_sum mul sub; 64 rows of 48". Of the modules so many are shown.
static void head_text(const GroupFunction *f, int shown, Text *t)
{
    for (int i = 0; i < f->n_modules && i < shown; i++) {
        const char *blank = strchr(f->module[i], ' ');  // after the optimizer
        text_printf(t, "%s%s", i ? ", " : "", i && blank ? blank + 1 : f->module[i]);
    }
    if (f->n_modules > shown)
        text_printf(t, " and %d more", f->n_modules - shown);
    text_printf(t, "%s%s%s%s", t->n ? ": " : "", f->operators, f->walk ? "; " : "",
                f->walk ? f->walk : "");
}

// "; x0 attn, x1 ln_1": the inputs that come from elsewhere, if from the same in all groups. Those
// that have a name say it themselves. The calls name all, so they are printed only where they fit
// on the line.
static void notes_text(const GroupFunction *f, Text *t)
{
    const char *between = "; ";

    for (int k = 0; k < f->n_notes; k++) {
        const OperandNote *x = &f->note[k];
        bool is_named = x->name[0] != 'x' || !isdigit((unsigned char)x->name[1]);
        if (is_named || !x->origin || !*x->origin || !has_word(f->text.text, x->name))
            continue;
        text_printf(t, "%s%s\t%s", between, x->name, x->origin);
        between = ", ";
    }
}

void print_function_head(const Gen *g, const GroupFunction *f, Text *t)
{
    Text head = {0}, notes = {0};

    for (int shown = MODULES_SHOWN; shown && (!head.n || strlen("// ") + head.n > COLUMNS);
         shown--) {
        text_free(&head);
        head_text(f, shown, &head);
    }
    notes_text(f, &notes);
    print_comment(t, strlen("// ") + head.n + notes.n <= COLUMNS && notes.n
                         ? arena_string(g->arena, "%s%s", head.s, notes.s)
                         : head.s);
    text_free(&head);
    text_free(&notes);
}

void name_functions(Gen *g)
{
    Map taken = {.arena = g->arena};

    for (int i = 0; i < g->n_groups; i++) {
        GroupFunction *f = &g->function[i];
        set_name(f, &taken);
        text_printf(g->group_names[f->has_columns], ", %s", f->name);
    }
}

// "int64_t o0, layer, n0;": the numbers among the operands; "": there are none.
static const char *numbers_text(const Gen *g, const GroupFunction *f)
{
    const char *s = "";

    for (int i = f->n_pointers; i < f->n_operands; i++)
        s = arena_string(g->arena, "%s%s %s", s, *s ? "," : "int64_t", f->operand_name[i]);
    return *s ? arena_string(g->arena, "%s;", s) : "";
}

// Prints a struct in one line or, if that is too long, with a line for each declaration.
static void print_struct(const Gen *g, const GroupFunction *f, Text *t)
{
    const char *numbers = numbers_text(g, f), *between = *f->pointers && *numbers ? " " : "";
    char *members = arena_string(g->arena, "%s%s%s", f->pointers, between, numbers);
    const char *line = arena_string(g->arena, "struct %s { %s };", f->name, members);

    if (strlen(line) <= COLUMNS) {
        text_printf(t, "%s\n", line);
        return;
    }
    text_printf(t, "struct %s {\n", f->name);
    for (char *from = members, *end; (end = strchr(from, ';')); from = end + 2) {
        print_wrapped(t, 4, arena_copy(g->arena, from, (size_t)(end + 1 - from)));
        if (!end[1])
            break;
    }
    text_printf(t, "};\n");
}

void print_structs(const Gen *g)
{
    if (g->n_groups)
        text_printf(g->operands, "// The operands of fused functions, by their names there.\n");
    for (int i = 0; i < g->n_groups; i++)
        print_struct(g, &g->function[i], g->operands);
}
