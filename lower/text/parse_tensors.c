// Reads the tables of tensors. Whether their entries are those of the sets is for the check.
#include "lower/text/text.h"

// Reads one layer: its name, which an output has in addition to its value's, and the value.
static bool parse_layer(Parser *p, RtRole role, ValueId *v, const char **name)
{
    if (role >= RT_OUTPUT && !lexer_text(p->lex, name))
        return false;
    if (!parse_value_name(p, v))
        return false;
    const char *own = value_of(p->s->g, *v)->name;
    if (role < RT_OUTPUT)
        *name = own ? own : "";
    return true;
}

// Reads "train gradient "h.0.w" %v44 "h.1.w" %v37" after the word "tensor"; an input that no output
// of the model depends on is followed by "loss".
static bool parse_tensor(Parser *p)
{
    Arena *a = p->p->arena;
    TensorEntry e = {0};
    int n_names = 0, cap = 0, cap_names = 0;

    e.set = parse_one_of(p, set_names, N_SETS, "'train' or 'predict'");
    if (e.set < 0)
        return false;
    enter_set(p, e.set);
    if (!p->s->g)
        return lexer_error(p->lex, "the program has no graph '%s'", set_names[e.set]);
    int role = parse_one_of(p, tensor_role_names, RT_BAD_SIZES + 1, "a role of tensors");
    if (role < 0)
        return false;
    e.role = (RtRole)role;
    do {
        ValueId *v = arena_push(a, e.value, e.n, cap);
        const char **name = arena_push(a, e.name, n_names, cap_names);
        if (!parse_layer(p, e.role, v, name))
            return false;
    } while (p->lex->kind == (e.role >= RT_OUTPUT ? TOKEN_TEXT : TOKEN_NAME));
    e.is_for_loss = e.role == RT_INPUT && lexer_skip_word(p->lex, "loss");
    TensorTable *to = e.role < RT_INPUT ? &p->p->tensors : &p->s->tensors;
    *arena_push(a, to->entry, to->n, to->cap) = e;
    return lexer_line(p->lex);
}

bool parse_tensors(Parser *p)
{
    while (lexer_skip_word(p->lex, "tensor"))
        if (!parse_tensor(p))
            return false;
    return true;
}
