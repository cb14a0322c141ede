// Tables of options: reading command lines, help, and the words of options in files.
#ifndef SHARDCC_DRIVER_INTERNAL_H
#define SHARDCC_DRIVER_INTERNAL_H

#include "driver/driver.h"

typedef struct OptionDef OptionDef;

// How the value of an option is read, and how it is written again. `field` is the option's in the
// command's struct.
typedef struct OptionType {
    // On a mistake it reports it, sets `*status` to EXIT_OPTION and returns false.
    bool (*read)(Arena *a, const OptionDef *o, const char *s, void *field, int *status);
    // Appends the words that give the field this value; none if it is the default.
    void (*words)(Arena *a, const OptionDef *o, const void *field, Strings *to);
    size_t size;  // of the field
} OptionType;

extern const OptionType option_flag;    // bool; the option takes no value
extern const OptionType option_text;    // const char *; not empty
extern const OptionType option_file;    // option_text that is repeated without its folders
extern const OptionType option_source;  // option_file that is given once, or a folder
extern const OptionType option_texts;   // Strings: the option may be given several times
extern const OptionType option_count;   // int from 1 to OptionDef.most
extern const OptionType option_number;  // double ≥ 0; 0 is the default
extern const OptionType option_bytes;   // int64_t: a number and B, KiB, MiB, GiB, TiB or nothing
extern const OptionType option_help;    // prints the command's help; no field
// Those of compilations and plans: compile_option_types.c.
extern const OptionType option_init;       // double: normal(STD)
extern const OptionType option_precision;  // DType: F32, BF16 or F16
extern const OptionType option_reduce;     // DType: F32 or BF16
extern const OptionType option_emit;       // Options.emit
extern const OptionType option_by;         // ProfileBy
extern const OptionType option_ranks;      // request.ranks and Options.fewer: 8,6,4
extern const OptionType option_target;     // const Target *
extern const OptionType option_transport;  // const RtTransportRow *
extern const OptionType option_version;    // prints the version; no field

// Appends an option and its value.
void option_put(Arena *a, const OptionDef *o, const char *value, Strings *to);

// Which texts repeat an option.
typedef enum OptionUse {
    USE_HERE,     // none
    USE_GRAPH,    // it determines the graphs: plan files and the head of the C text
    USE_PROGRAM,  // it determines the program: the head of the C text
} OptionUse;

// An option of a command. A heading of the help has no type.
struct OptionDef {
    const char *name;
    const char *value;  // its value's name in the help; NULL: it takes none
    const OptionType *type;
    size_t offset;  // of its field
    const char *help;
    // For texts: does the value have the right form?
    bool (*check)(const char *s, int *status);
    int max;            // for option_count
    int absent;         // for option_count: the field's value if the option isn't given
    const char *word;   // for option_count: means 0; NULL: nothing does
    const char *needs;  // the option without which this one does nothing; NULL: none
    int enough;         // for counts that others need: the least that they do with
    OptionUse use;
    int commands;          // the commands of a shared table that have it, as bits; 0: all
    const Target *target;  // whose programs have it; NULL: all
    bool is_of_text;       // it also applies to a program's text, which has passed all passes
};

// A command: its usage, its options, and the files that its other words name.
typedef struct Command {
    const char *usage;
    const OptionDef *options;
    int n_options;
    const char *file;      // what a file is, for messages: "plan"
    int max_files;         // 0: it takes none
    size_t files;          // offset of their field: const char *[max_files], empty at the start
    const char *statuses;  // the exit statuses, for the help; NULL: 0, 1 and 2 only
    int bit;               // its own in OptionDef.commands
} Command;

static inline bool option_is_of(const OptionDef *o, const Command *c)
{
    return !o->commands || o->commands & c->bit;
}

// Reads argv[1 …] into `to`, the struct with the options' fields. Returns false, with the exit
// status in `*status`, if there is nothing (more) to do.
bool command_read(Arena *a, const Command *c, int argc, char **argv, void *to, int *status);

// Reports a mistake, sets `*status` to EXIT_OPTION and returns false.
bool complain(int *status, const char *fmt, ...) PRINTF(2, 3);

// Reads a decimal number up to `most`. `*end` is the text after it.
bool read_whole(const char *s, const char **end, int64_t most, int64_t *n);

// Does the value have the form that the option takes?
bool check_loss(const char *s, int *status);
bool check_loss_scale(const char *s, int *status);
bool check_optimizer(const char *s, int *status);
bool check_bind(const char *s, int *status);           // DIM=N
bool check_bind_or_range(const char *s, int *status);  // DIM=N or DIM=A..B
bool check_shape(const char *s, int *status);          // INPUT=N,N
bool check_padding(const char *s, int *status);        // GLOB=K
bool check_pin(const char *s, int *status);            // GLOB=SPEC
bool check_tie(const char *s, int *status);            // A=B
bool check_mesh(const char *s, int *status);
bool check_preset(const char *s, int *status);
bool check_pass(const char *s, int *status);
bool check_recompute(const char *s, int *status);  // none, full, chain, BLOCK=N, with commas
bool has_safe_letters(const char *s);              // only letters, digits and -_.+
bool check_march(const char *s, int *status);
bool check_gpus(const char *s, int *status);  // sm_80,sm_90
bool check_launcher(const char *s, int *status);

// The commands that share the table of options (options.c).
extern const Command compile_options, plan_options, profile_options;
// Reads options from the words of another command line, as a plan's file holds them.
bool options_of_words(Arena *a, const char *const *words, int n, Options *o, int *status);
// The option of that name that determines the graphs; NULL if there is none.
const OptionDef *option_of_graph(const char *name);
// Returns an option that doesn't apply to a program's text; NULL if none is given.
const char *option_of_passes(Arena *a, const Options *o);
// Returns an option of the command that is given and belongs to another target than the chosen one;
// NULL: none. `fields`: the struct with the options' fields.
const OptionDef *option_of_other_target(Arena *a, const Command *c, const void *fields,
                                        const Target *chosen);
// Copies all options that determine the graphs.
void options_copy_graph(Options *to, const Options *from);

// Reads DIM=A..B with 1 <= A <= B. False: the text isn't of this form.
bool range_read(Arena *a, const char *s, DimRange *to);

// Moves the range that a --bind gives, if one does, to o->range, and checks what goes with it.
bool range_take(Arena *a, Options *o, int *status);

// Are the options consistent? check_graph checks only those that determine the graph.
bool check_graph(Arena *a, const Command *c, const Options *o, int *status);
bool check_fewer(const Options *o, int *status);  // do they go with several numbers of --ranks?
bool check_together(Arena *a, const Command *c, const Options *o, int *status);
bool check_target(Arena *a, const Options *o, int *status);  // does what is asked of it go with it?

#endif
