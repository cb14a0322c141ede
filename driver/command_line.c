// Reads a command line by a table of options: one table for shardcc itself, one per subcommand.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/internal.h"

bool complain(int *status, const char *fmt, ...)
{
    Diag d = {.file = "shardcc"};
    va_list args;

    va_start(args, fmt);
    diag_verror(&d, fmt, args);
    va_end(args);
    *status = EXIT_OPTION;
    return false;
}

bool read_whole(const char *s, const char **end, int64_t most, int64_t *n)
{
    char *stop;

    errno = 0;
    *n = strtoll(s, &stop, 10);
    *end = stop;
    return *s >= '0' && *s <= '9' && !errno && *n <= most;
}

// Prints a text whose lines begin in column `left`. Lines break at its newlines, and between words
// where they would be too long.
static void print_wrapped(const char *s, int left)
{
    enum { MAX_COLUMNS = 100 };
    int column = left;

    while (*s) {
        int n = (int)strcspn(s, " \n");
        bool is_first = column == left, is_full = column + 1 + n > MAX_COLUMNS;
        if (!is_first && is_full)
            column = printf("\n%*s", left, "") - 1;
        else if (!is_first && n)
            column += printf(" ");
        column += printf("%.*s", n, s);
        s += n;
        if (*s == '\n')
            column = printf("\n%*s", left, "") - 1;
        s += *s != 0;
    }
    printf("\n");
}

static void print_help(const Command *c)
{
    printf("%s", c->usage);
    for (int i = 0; i < c->n_options; i++) {
        const OptionDef *o = &c->options[i];
        char left[40];
        if (!option_is_of(o, c))
            continue;
        if (!o->type) {
            printf("\n%s:\n", o->name);
            continue;
        }
        snprintf(left, sizeof left, "%s %s", o->name, o->value ? o->value : "");
        printf("  %-24s", left);
        print_wrapped(o->help, 26);
    }
    printf("\nExit status: %s.\n",
           c->statuses ? c->statuses : "0 done, 2 wrong options, 1 any other error");
}

static bool unknown(const Command *c, const char *word, int *status)
{
    enum { MAX_NAMES = 64 };
    const char *names[MAX_NAMES];
    int n = 0;

    for (int i = 0; i < c->n_options && n < MAX_NAMES; i++)
        if (c->options[i].type && option_is_of(&c->options[i], c))
            names[n++] = c->options[i].name;
    const char *nearest = nearest_name(word, names, n);
    if (nearest && word[1] && word[2])  // every other one-letter option would be near
        return complain(status, "unknown option '%s' (did you mean '%s'?)", word, nearest);
    return complain(status, "unknown option '%s'; --help lists them", word);
}

const OptionType option_help = {0};

static bool set(Arena *a, const Command *c, const OptionDef *o, const char *value, void *to,
                int *status)
{
    if (o->type != &option_help)
        return o->type->read(a, o, value, (char *)to + o->offset, status);
    print_help(c);
    *status = 0;
    return false;
}

// Reads `--name value` or `--name=value`; advances `*i`.
static bool read_one(Arena *a, const Command *c, int argc, char **argv, int *i, void *to,
                     int *status)
{
    const char *word = argv[*i], *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    char *name = equals ? arena_copy(a, word, (size_t)(equals - word)) : argv[*i];

    for (int k = 0; k < c->n_options; k++) {
        const OptionDef *o = &c->options[k];
        if (!o->type || !option_is_of(o, c) || strcmp(name, o->name))
            continue;
        if (!o->value && equals)
            return complain(status, "%s takes no value", name);
        if (!o->value)
            return set(a, c, o, NULL, to, status);
        if (!equals && *i + 1 >= argc)
            return complain(status, "%s needs a value: %s", name, o->value);
        return set(a, c, o, equals ? equals + 1 : argv[++*i], to, status);
    }
    return unknown(c, name, status);
}

// Takes a word that is no option: a file.
static bool take_file(const Command *c, const char *word, void *to, int *status)
{
    const char **file = (const char **)(void *)((char *)to + c->files);
    int n = 0;

    while (n < c->max_files && file[n])
        n++;
    if (n < c->max_files) {
        file[n] = word;
        return true;
    }
    if (n == 0)
        return complain(status, "expected no file, found '%s'", word);
    if (n == 1)
        return complain(status, "one %s at a time: '%s' and '%s'", c->file, file[0], word);
    return complain(status, "expected %d %ss, found one more: '%s'", n, c->file, word);
}

bool command_read(Arena *a, const Command *c, int argc, char **argv, void *to, int *status)
{
    for (int i = 1; i < argc; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1];
        if (is_option ? !read_one(a, c, argc, argv, &i, to, status)
                      : !take_file(c, argv[i], to, status))
            return false;
    }
    return true;
}
