// Reading the values of options. What is wrong is said, `*status` becomes EXIT_OPTION and the
// function returns false.
#ifndef SHARDCC_DRIVER_INTERNAL_H
#define SHARDCC_DRIVER_INTERNAL_H

#include "driver/driver.h"

// An option of a command. A heading of the help has no name.
typedef struct OptionDef {
    const char *name;
    int id;
    const char *value;  // what it takes; NULL: nothing
    const char *help;
    int of;  // where commands share a table: of which it is, as bits; 0: of all
} OptionDef;

enum { OPTION_HELP = -1 };  // the id of --help

// A command: how it is called, its options, and what is done with those and with other words.
typedef struct Command {
    const char *usage;
    const OptionDef *options;
    int n_options;
    bool (*set)(Arena *a, void *to, int id, const char *value, int *status);
    bool (*word)(void *to, const char *word, int *status);
    const char *statuses;  // what the exit status says; NULL: 0, 1 and 2 only
    int is;                // its bit in OptionDef.of
} Command;

static inline bool option_is_of(const OptionDef *o, const Command *c)
{
    return !o->of || o->of & c->is;
}

// Reads argv[1 …] into `to`. False, with the exit status in `*status`, when there is nothing (more)
// to do.
bool command_read(const Command *c, Arena *a, int argc, char **argv, void *to, int *status);

bool complain(int *status, const char *fmt, ...) PRINTF(2, 3);

bool read_number(const char *name, const char *s, double low, double *x, int *status);
// A whole number from 1 to `most`.
bool read_count(const char *name, const char *s, int most, int *k, int *status);
// Bytes: a number with B, KiB, MiB, GiB, TiB or nothing behind it.
bool read_bytes(const char *name, const char *s, int64_t *bytes, int *status);
bool read_init(const char *s, double *std, int *status);
bool read_emit(const char *s, Emit *e, int *status);
bool read_march(const char *s, const char **march, int *status);

// Is the value of the form that the option asks for?
bool check_loss(const char *s, int *status);
bool check_optimizer(const char *s, int *status);
bool check_bind(const char *s, int *status);     // DIM=N
bool check_shape(const char *s, int *status);    // INPUT=N,N
bool check_padding(const char *s, int *status);  // GLOB=K
bool check_pin(const char *s, int *status);      // GLOB=SPEC
bool check_mesh(const char *s, int *status);
bool check_preset(const char *s, int *status);
bool check_pass(const char *s, int *status);

// Options from words that another command line had.
bool options_of_words(Arena *a, const char *const *words, int n, Options *o, int *status);

// Do the options make sense together? check_graph: those from which the graph follows.
bool check_graph(const Options *o, int *status);
bool check_together(Arena *a, const Options *o, int *status);

#endif
