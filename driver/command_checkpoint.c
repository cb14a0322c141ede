// shardcc checkpoint: lists the checkpoints of a trainer, verifies them, and exports weights.
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "driver/export_model.h"
#include "driver/internal.h"
#include "report/report.h"
#include "runtime/rt_checkpoint.h"

typedef struct Request {
    const char *word[2];  // what to do, and the folder
    const char *output;
    const char *onnx;  // the model to copy; NULL: export the weights alone
    Strings bind, shape, tie;
    int step;  // 0: any
    bool best;
} Request;

#define AT(field) offsetof(Request, field)

static const OptionDef options[] = {
    {"-o", "FILE", &option_text, AT(output),
     "where `export` writes the weights (safetensors), or the model with them"},
    {"--onnx", "MODEL.onnx", &option_text, AT(onnx),
     "export a copy of the model with the checkpoint's weights instead of its own"},
    {"--bind", "DIM=N", &option_texts, AT(bind),
     "the size of a named dim of the model, as for the compiler (1)", .check = check_bind},
    {"--shape", "INPUT=N,N", &option_texts, AT(shape),
     "the shape of an input of the model, as for the compiler", .check = check_shape},
    {"--tie", "A=B", &option_texts, AT(tie), "initializer B of the model is A, as for the compiler",
     .check = check_tie},
    {"--step", "N", &option_count, AT(step),
     "only the checkpoint after step N (all; of export the last one)", .max = INT_MAX},
    {"--best", NULL, &option_flag, AT(best),
     "export the checkpoint with the least loss of an evaluation (the trainer's --keep-best)"},
    {"--help", NULL, &option_help, 0, "print this text"},
};

static const Command command = {
    "shardcc checkpoint ls|verify FOLDER [--step N]\n"
    "shardcc checkpoint export FOLDER -o FILE.safetensors [--step N | --best]\n"
    "shardcc checkpoint export FOLDER --onnx MODEL.onnx -o FILE.onnx [--step N | --best]\n"
    "shardcc checkpoint export FILE.safetensors --onnx MODEL.onnx -o FILE.onnx\n\n"
    "Looks at the checkpoints that a trainer has written into the folder of --checkpoint. "
    "`export`\n"
    "also takes a file of weights, as --save writes it.\n"
    "`verify` and `export` compare all bytes with the checksums in the manifest, and look for\n"
    "numbers that are NaN or infinite.\n\n",
    options,
    COUNT(options),
    "folder",
    2,
    AT(word),
    "0 fine, 2 wrong options, 1 any other error: a checkpoint is damaged, say"};

// ---- ls, verify ----

static const char *time_of(Arena *a, const char *folder, int64_t step)
{
    char path[PATH_MAX], text[32];
    struct stat st;
    struct tm tm;

    if (!rt_checkpoint_path(path, folder, step, RT_MANIFEST_FILE) || stat(path, &st) ||
        !localtime_r(&st.st_mtime, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
        return "?";
    return arena_string(a, "%s", text);
}

static int64_t bytes_of(const RtManifest *m)
{
    int64_t bytes = 0;

    for (int i = 0; i < m->n; i++)
        bytes = m->file[i].bytes <= INT64_MAX - bytes ? bytes + m->file[i].bytes : INT64_MAX;
    return bytes;
}

// The best checkpoint, as the last readable manifest says.
static RtBest find_best(const char *folder)
{
    char path[PATH_MAX];
    RtManifest m;
    RtFileError e;

    for (int64_t step = INT64_MAX; (step = rt_checkpoint_before(folder, step)) >= 0;)
        if (rt_checkpoint_path(path, folder, step, RT_MANIFEST_FILE) &&
            rt_manifest_read(&m, path, &e)) {
            RtBest best = m.best;
            rt_manifest_free(&m);
            return best;
        }
    return (RtBest){0};
}

// Adds the row of a checkpoint. Returns false if it isn't whole, as far as was looked.
static bool add_row(Arena *a, Columns *c, const char *folder, int64_t step, const RtBest *best,
                    bool verifies)
{
    char path[PATH_MAX], program[4 * RT_MANIFEST_PROGRAM];
    RtManifest m = {0};
    RtFileError e;
    bool ok = verifies ? rt_checkpoint_verify(folder, step, &m, &e)
                       : rt_checkpoint_path(path, folder, step, RT_MANIFEST_FILE) &&
                             rt_manifest_read(&m, path, &e);

    columns_add(c, arena_string(a, "%" PRId64, step));
    columns_add(c, time_of(a, folder, step));
    columns_add(c, bytes_text(a, (double)bytes_of(&m)));
    rt_printable(program, sizeof program, m.n ? m.program : "-");
    columns_add(c, arena_string(a, "%s", program));
    bool is_best = best->is_known && best->step == step;
    columns_add(c, is_best ? arena_string(a, "eval loss %.6g", best->loss) : "");
    columns_add(c, !ok ? arena_string(a, "%s", e.text) : verifies ? "whole" : "");
    rt_manifest_free(&m);
    return ok;
}

static int none_there(const Request *r, Diag *d)
{
    if (r->step)
        diag_error(d, "there is no checkpoint of step %d", r->step);
    else
        diag_error(d, "there is no checkpoint");
    return EXIT_USER;
}

// The last checkpoint before `before` that was asked for; -1: there is none.
static int64_t next_step(const Request *r, int64_t before)
{
    int64_t most = r->step ? (int64_t)r->step + 1 : before;
    int64_t step = rt_checkpoint_before(r->word[1], most < before ? most : before);

    return r->step && step != r->step ? -1 : step;
}

static int list(Arena *a, const Request *r, bool verifies, Diag *d)
{
    static const char *const head[] = {"step", "written", "bytes", "program", "best", ""};
    RtBest best = find_best(r->word[1]);
    Columns c = {.arena = a, .n_columns = COUNT(head)};
    int n = 0, n_bad = 0;

    columns_add_row(&c, head);
    for (int64_t step = INT64_MAX; (step = next_step(r, step)) >= 0; n++)
        n_bad += !add_row(a, &c, r->word[1], step, &best, verifies);
    if (!n)
        return none_there(r, d);
    columns_print(&c);
    return n_bad ? EXIT_USER : 0;
}

// ---- export ----

static bool copy_file(const char *from, const char *to, RtFileError *e)
{
    RtMap map;

    if (!rt_map(&map, from, e))
        return false;
    bool ok = rt_out_whole(to, map.data, map.size, e) && rt_map_check(&map, e);
    rt_unmap(&map);
    return ok;
}

// The step of the checkpoint to export; -1 after an error.
static int64_t exported_step(const Request *r, Diag *d)
{
    RtBest best = r->best ? find_best(r->word[1]) : (RtBest){0};
    int64_t step = r->best ? best.step : next_step(r, INT64_MAX);

    if (r->best && !best.is_known)
        diag_error(d, "no checkpoint is known as the best: trainers mark it with --keep-best");
    else if (r->best && !rt_checkpoint_is_there(r->word[1], step))
        diag_error(d, "there is no checkpoint of step %" PRId64 ", which was the best", step);
    else if (step < 0)
        none_there(r, d);
    else
        return step;
    return -1;
}

static int export_weights(Arena *a, const Request *r, const char *path, int64_t step, Diag *d)
{
    RtFileError e;

    if (!output_is_writable(a, r->output, d))
        return EXIT_USER;
    if (!copy_file(path, r->output, &e)) {
        d->file = base_name(r->output);
        diag_error(d, "%s", e.text);
        return EXIT_USER;
    }
    printf("wrote %s, the weights after step %" PRId64 "\n", r->output, step);
    return 0;
}

// `step` is -1 if the weights are no checkpoint's.
static int export_copy(Arena *a, const Request *r, const char *path, int64_t step, Diag *d)
{
    ExportModel o = {.model = r->onnx,
                     .bind = r->bind,
                     .shape = r->shape,
                     .tie = r->tie,
                     .weights = path,
                     .output = r->output};
    bool has_data = false;

    if (!export_model(a, &o, &has_data, d))
        return EXIT_USER;
    printf("wrote %s%s%s%s, the model with the weights ", r->output, has_data ? " and " : "",
           has_data ? r->output : "", has_data ? ".data" : "");
    if (step >= 0)
        printf("after step %" PRId64 "\n", step);
    else
        printf("of %s\n", base_name(path));
    return 0;
}

// Is it a file of weights, and no folder of checkpoints?
static bool is_file(const char *path)
{
    struct stat st;

    return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static int export(Arena *a, const Request *r, Diag *d)
{
    char path[PATH_MAX];
    int64_t step = exported_step(r, d);
    RtManifest m;
    RtFileError e;

    if (step < 0)
        return EXIT_USER;
    bool ok = rt_checkpoint_verify(r->word[1], step, &m, &e);
    rt_manifest_free(&m);
    if (!ok) {
        diag_error(d, "the checkpoint of step %" PRId64 " isn't whole: %s", step, e.text);
        return EXIT_USER;
    }
    (void)rt_checkpoint_path(path, r->word[1], step, RT_WEIGHTS_FILE);  // its bytes were read
    return r->onnx ? export_copy(a, r, path, step, d) : export_weights(a, r, path, step, d);
}

int checkpoint_command(Arena *a, int argc, char **argv)
{
    Request r = {0};
    Diag d = {.file = "shardcc"};
    int status = 0;

    if (!command_read(a, &command, argc, argv, &r, &status))
        return status;
    const char *what = r.word[0];
    bool exports = what && !strcmp(what, "export"), verifies = what && !strcmp(what, "verify");
    if (!what || (!exports && !verifies && strcmp(what, "ls")))
        complain(&status, "'%s': say ls, verify or export; --help tells more", what ? what : "");
    else if (!r.word[1])
        complain(&status, "no folder of checkpoints given; --help tells more");
    else if (exports != (r.output != NULL))
        complain(&status, exports ? "export needs -o FILE" : "-o is for export alone");
    else if (r.onnx && !exports)
        complain(&status, "--onnx is for export alone");
    else if ((r.bind.n || r.shape.n || r.tie.n) && !r.onnx)
        complain(&status, "%s needs --onnx", r.bind.n ? "--bind" : r.shape.n ? "--shape" : "--tie");
    else if (r.best && (!exports || r.step))
        complain(&status,
                 r.step ? "--best and --step: say one of them" : "--best is for export alone");
    else if (exports && is_file(r.word[1]) && (!r.onnx || r.step || r.best))
        complain(&status, "'%s' is no folder of checkpoints: %s", r.word[1],
                 r.onnx ? "--step and --best don't apply" : "export needs --onnx");
    if (status)
        return status;
    d.file = r.word[1];
    if (exports && is_file(r.word[1]))
        return export_copy(a, &r, r.word[1], -1, &d);
    return exports ? export(a, &r, &d) : list(a, &r, verifies, &d);
}
