// shardcc pack: packs buffers with live ranges into as few bytes as it can, or within a limit.
#include "driver/internal.h"
#include "packer/packer.h"

// How much work the search does where no time limit is given: a second or less without a capacity,
// a minute with one.
static const int64_t effort_to_shrink = INT64_C(1) << 28, effort_to_fit = INT64_C(1) << 34;

typedef struct Request {
    const char *input, *output;
    int64_t capacity;
    double time_limit;
} Request;

#define AT(field) offsetof(Request, field)

static const OptionDef options[] = {
    {"-o", "FILE.csv", &option_text, AT(output), "where to write the buffers with their offsets"},
    {"--capacity", "BYTES", &option_bytes, AT(capacity),
     "the bytes that there are (as few as possible)"},
    {"--time-limit", "SECONDS", &option_number, AT(time_limit),
     "when to stop the search (0: after a fixed amount of work, a minute or so with "
     "--capacity, a second without)"},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc pack BUFFERS.csv [-o PACKED.csv] [--capacity BYTES] [--time-limit SECONDS]\n\n"
    "Gives every buffer an offset, so that buffers that are live at the same time share no byte.\n"
    "The file has the columns id, lower, upper, size: a buffer of `size` bytes is live at the\n"
    "times t with lower <= t < upper. docs/packing.md says how.\n\n",
    options,
    COUNT(options),
    "file of buffers",
    1,
    AT(input),
    "0 packed, 4 no packing within the capacity was found, 2 wrong options, 1 any other error"};

static void print_packing(const BufferTable *t, const Packing *x)
{
    printf("%-13s %d, at most %" PRId64 " bytes live together\n", "buffers", t->n,
           pack_bound(t->buffer, t->n));
    printf("%-13s %" PRId64 " bytes, bound %" PRId64 ": ", "packed", x->bytes, x->bound);
    if (x->bytes == x->bound)
        printf("no packing is smaller\n");
    else
        printf("%.2f %% above it\n", 100 * (double)(x->bytes - x->bound) / (double)x->bound);
}

static void report_too_large(const Packing *x, int64_t capacity, Diag *d)
{
    if (x->bound > capacity)
        diag_error(d,
                   "no packing fits in %" PRId64 " bytes: every one needs at least %" PRId64
                   " (found: %" PRId64 ")",
                   capacity, x->bound, x->bytes);
    else
        diag_error(d,
                   "no packing in %" PRId64 " bytes was found: the smallest one needs %" PRId64
                   ", none less than %" PRId64,
                   capacity, x->bytes, x->bound);
}

static int pack_it(Arena *a, const Request *r, const BufferTable *t, Diag *d)
{
    int64_t effort = r->capacity ? effort_to_fit : effort_to_shrink;
    const PackOptions o = {.capacity = r->capacity,
                           .effort = r->time_limit > 0 ? 0 : effort,
                           .time_limit = r->time_limit};
    Packing x = pack(a, t->buffer, t->n, &o);
    Text text = {0};

    if (r->capacity && x.bytes > r->capacity) {
        report_too_large(&x, r->capacity, d);
        return EXIT_INFEASIBLE;
    }
    print_packing(t, &x);
    if (!r->output)
        return 0;
    buffer_table_print(t, x.offset, &text);
    bool ok = out_write(r->output, text.s, text.n, d);
    text_free(&text);
    if (ok)
        printf("%-13s %s\n", "wrote", r->output);
    return ok ? 0 : EXIT_USER;
}

int pack_command(Arena *a, int argc, char **argv)
{
    Request r = {0};
    Diag d = {.file = "shardcc"};
    BufferTable t;
    BlockedSignals h;
    int status = 0;

    if (!command_read(a, &command, argc, argv, &r, &status))
        return status;
    if (!r.input) {
        complain(&status, "no file of buffers given; --help tells more");
        return status;
    }
    const Strings written = {.s = &r.output, .n = r.output ? 1 : 0};
    if (r.output && (!output_is_writable(a, r.output, &d) ||
                     !out_spares(&written, r.input, "the file of buffers", &d)))
        return EXIT_USER;
    d.file = base_name(r.input);
    if (!buffer_table_read(a, r.input, &t, &d))
        return EXIT_USER;
    // From here on Ctrl-C only ends the search: the best packing so far is still written.
    signals_block(&h);
    return pack_it(a, &r, &t, &d);
}
