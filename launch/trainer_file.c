// Reads the --info of trainers, and looks for trainers in the folders of others.
#include "launch/trainer_file.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"

enum { MAX_DIGITS = 5, MAX_TRAINER_RANKS = 99999 };  // of a number of ranks

// ---- what a trainer says ----

// The number after a text; 0 if the text isn't there.
static double number_after(const char *text, const char *before)
{
    const char *at = strstr(text, before);
    double x = at ? strtod(at + strlen(before), NULL) : 0;

    return isfinite(x) && x > 0 ? x : 0;
}

// Parameters, buffers and states have 4 bytes a number, and 8 in models of f64.
static double state_bytes(const char *info)
{
    double numbers = number_after(info, "\nparameters  ") +
                     number_after(info, " numbers, buffers ") + number_after(info, ", optimizer ");

    return numbers * (strstr(info, " f64") ? 8 : 4);
}

// "ranks       4 (x0=4), which talk by tcp"
static const RtTransportRow *find_transport(const char *info)
{
    static const char before[] = ", which talk by ";
    const char *at = strstr(info, before);
    char name[32];

    return at && sscanf(at + strlen(before), "%31s", name) == 1 ? rt_transport_find(name) : NULL;
}

bool trainer_file_read(Arena *a, const char *path, TrainerFile *to, Diag *d)
{
    char *const info[] = {(char *)path, "--info", NULL};
    Text t = {0};
    int status;

    *to = (TrainerFile){.path = path, .ranks = 1};
    if (!launch_read(info, &t, &status, d))
        return false;
    bool ok = !status && t.s && strstr(t.s, "\narena ");
    double ranks = ok ? number_after(t.s, "\nranks ") : 0;
    if (!ok)
        diag_error(d, "'%s' is no trainer: it doesn't know --info", path);
    else {
        to->ranks = ranks >= 1 && ranks <= MAX_TRAINER_RANKS ? (int)ranks : 1;
        to->transport = find_transport(t.s);
        to->can_spawn = to->transport && to->transport->can_spawn;
        to->arena = number_after(t.s, "\narena ") * (1 << 20);
        to->state = state_bytes(t.s);
    }
    text_free(&t);
    return ok;
}

const char *trainer_option(char *const *argv, const char *name)
{
    size_t n = strlen(name);

    for (int i = 1; argv[i]; i++) {
        if (!strcmp(argv[i], name))
            return argv[i + 1] ? argv[i + 1] : "";
        if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
            return argv[i] + n + 1;
    }
    return NULL;
}

// ---- trainers in the same folder ----

// The number at the end of a name NAME.6; 0: there is none, or another name precedes it.
static int ranks_suffix(const char *file, const char *name, size_t n)
{
    const char *digits = file + n + 1;

    if (strncmp(file, name, n) || file[n] != '.' || *digits == '0' || !*digits ||
        strlen(digits) > MAX_DIGITS || digits[strspn(digits, "0123456789")])
        return 0;
    return atoi(digits);
}

// The length of the name that all programs of a list share: of "gpt2.6", if it is for 6 ranks,
// that of "gpt2".
static size_t shared_length(const TrainerFile *given)
{
    const char *name = base_name(given->path), *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : 0;

    return n && ranks_suffix(name, name, n) == given->ranks ? n : strlen(name);
}

// The most ranks, but no more than `most`, of which there is a program; 0: there is none.
static int find_ranks(Arena *a, const char *folder, const char *name, size_t n, int most)
{
    DIR *dir = opendir(folder);
    int best = 0;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        int ranks = ranks_suffix(e->d_name, name, n);
        if (ranks > best && ranks <= most &&
            !access(arena_string(a, "%s/%s", folder, e->d_name), X_OK))
            best = ranks;
    }
    if (dir)
        closedir(dir);
    return best;
}

bool trainer_file_fit(Arena *a, const TrainerFile *given, int slots, TrainerFile *to, Diag *d)
{
    const char *name = base_name(given->path), *folder = folder_name(a, given->path);
    size_t n = shared_length(given);

    if (given->ranks <= slots) {
        *to = *given;
        return true;
    }
    int ranks = strchr(given->path, '/') ? find_ranks(a, folder, name, n, slots) : 0;
    if (!ranks) {
        diag_error(d, "no program next to '%s' fits the %d slot%s left", given->path, slots,
                   slots == 1 ? "" : "s");
        return false;
    }
    if (!trainer_file_read(a, arena_string(a, "%s/%.*s.%d", folder, (int)n, name, ranks), to, d))
        return false;
    if (to->ranks != ranks)
        diag_error(d, "'%s' is for %d ranks, not for %d", to->path, to->ranks, ranks);
    return to->ranks == ranks;
}
