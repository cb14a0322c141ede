// Reads the values of options. On a mistake a function reports it, sets `*status` to EXIT_OPTION
// and returns false.
#ifndef SHARDCC_DRIVER_INTERNAL_H
#define SHARDCC_DRIVER_INTERNAL_H

#include "driver/driver.h"

// An option of a command. A heading of the help has no name.
typedef struct OptionDef {
    const char *name;
    int id;
    const char *value;  // name of its value in the help; NULL: it takes none
    const char *help;
    int of;  // which of the commands that share a table have it, as bits; 0: all
} OptionDef;

enum { OPTION_HELP = -1 };  // the id of --help

// A command: its usage, its options, and the functions that take those and other words.
typedef struct Command {
    const char *usage;
    const OptionDef *options;
    int n_options;
    bool (*set)(Arena *a, void *to, int id, const char *value, int *status);
    bool (*word)(void *to, const char *word, int *status);
    const char *statuses;  // the exit statuses, for the help; NULL: 0, 1 and 2 only
    int is;                // its bit in OptionDef.of
} Command;

static inline bool option_is_of(const OptionDef *o, const Command *c)
{
    return !o->of || o->of & c->is;
}

// Reads argv[1 …] into `to`. Returns false, with the exit status in `*status`, if there is nothing
// (more) to do.
bool command_read(const Command *c, Arena *a, int argc, char **argv, void *to, int *status);

bool complain(int *status, const char *fmt, ...) PRINTF(2, 3);

bool read_number(const char *name, const char *s, double low, double *x, int *status);
// Reads a whole number from 1 to `most`.
bool read_count(const char *name, const char *s, int most, int *k, int *status);
// Reads bytes: a number followed by B, KiB, MiB, GiB, TiB or nothing.
bool read_bytes(const char *name, const char *s, int64_t *bytes, int *status);
bool read_init(const char *s, double *std, int *status);
bool read_emit(const char *s, Emit *e, int *status);
bool read_march(const char *s, const char **march, int *status);

// Does the value have the form that the option takes?
bool check_loss(const char *s, int *status);
bool check_optimizer(const char *s, int *status);
bool check_bind(const char *s, int *status);     // DIM=N
bool check_shape(const char *s, int *status);    // INPUT=N,N
bool check_padding(const char *s, int *status);  // GLOB=K
bool check_pin(const char *s, int *status);      // GLOB=SPEC
bool check_mesh(const char *s, int *status);
bool check_preset(const char *s, int *status);
bool check_pass(const char *s, int *status);

// Reads options from the words of another command line, as a plan's file holds them.
bool options_of_words(Arena *a, const char *const *words, int n, Options *o, int *status);

// Are the options consistent? check_graph checks only those that determine the graph.
bool check_graph(const Options *o, int *status);
bool check_together(Arena *a, const Options *o, int *status);

#endif
