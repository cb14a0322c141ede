// Starts the ranks of a job by ssh: one command for each host, which starts that host's ranks and
// ends them together.
//
// A line of a shell goes to the remote host through ssh's stdin, not as ssh's words: so no process
// list shows it, it may have a secret, and the user's login shell needn't understand it.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch/internal.h"

// Variables that are handed on to the ranks; of those with a _ at the end, all that begin so.
static const char *const handed_on[] = {"CUDA_", "GOMP_", "LD_LIBRARY_PATH",
                                        "NCCL_", "OMP_",  "SHARDCC_"};

// Ports for the ranks' rendezvous, below those that Linux gives to others (ip_local_port_range).
enum { FIRST_PORT = 12000, PORTS = 20000 };

// ---- the line of a shell ----

// 'a word', of which a shell takes each byte as it is.
static void put_quoted(Text *t, const char *word)
{
    text_put(t, "'", 1);
    for (; *word; word++)
        text_put(t, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    text_put(t, "'", 1);
}

// Is a variable, "NAME=value", handed on? Only names that a shell takes are.
static bool is_handed_on(const char *variable)
{
    size_t n = strcspn(variable, "=");

    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)variable[i]) && variable[i] != '_')
            return false;
    for (int i = 0; i < COUNT(handed_on); i++) {
        size_t least = strlen(handed_on[i]);
        bool is_prefix = handed_on[i][least - 1] == '_';
        if (!strncmp(variable, handed_on[i], least) && (is_prefix || n == least))
            return true;
    }
    return false;
}

static void put_environment(Text *t)
{
    for (char **variable = environ; *variable; variable++) {
        const char *value = strchr(*variable, '=');
        if (!value || !is_handed_on(*variable))
            continue;
        text_printf(t, "export %.*s=", (int)(value - *variable), *variable);
        put_quoted(t, value + 1);
        text_printf(t, "; ");
    }
}

// The braces make a line that is cut short a mistake of syntax, of which a shell runs nothing.
static const char *shell_line(Arena *a, const Strings *words)
{
    char *folder = get_current_dir_name();
    Text t = {0};

    text_printf(&t, "{ cd ");
    put_quoted(&t, folder ? folder : "/");
    free(folder);
    text_printf(&t, " || exit 1; ");
    put_environment(&t);
    text_printf(&t, "exec");
    for (int i = 0; i < words->n; i++) {
        text_printf(&t, " ");
        put_quoted(&t, words->s[i]);
    }
    text_printf(&t, "; }");
    const char *line = arena_copy(a, t.s, t.n);
    text_free(&t);
    return line;
}

// ---- commands ----

// Another one for each start: a port that is taken is no obstacle to the next.
static int choose_port(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mix = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u + (uint64_t)getpid();
    return FIRST_PORT + (int)((mix >> 20) % PORTS);
}

static bool has_word(char *const *words, const char *name)
{
    size_t n = strlen(name);

    for (; *words; words++)
        if (!strncmp(*words, name, n) && (!(*words)[n] || (*words)[n] == '='))
            return true;
    return false;
}

// The words of the program that starts `n` ranks from number `first` on.
static Strings rank_words(Arena *a, const LaunchJob *j, int first, int n, const char *master)
{
    Strings w = {0};

    for (char *const *word = j->program; *word; word++)
        add_word(a, &w, *word);
    add_word(a, &w, "--stdin-signals");
    if (j->ranks < 2)
        return w;
    const char *const own[] = {"--spawn", arena_string(a, "%d", n),
                               "--rank",  arena_string(a, "%d", first),
                               "--size",  arena_string(a, "%d", j->ranks)};
    for (int i = 0; i < COUNT(own); i++)
        add_word(a, &w, own[i]);
    if (!has_word(j->program, "--master")) {
        add_word(a, &w, "--master");
        add_word(a, &w, master);
    }
    return w;
}

// Passwords can't be asked for: several commands would ask. A host that is cut off is noticed after
// a minute.
static LaunchCommand command_of(Arena *a, const char *host, int number, const Strings *words)
{
    const char *line = shell_line(a, words);
    Strings w = {0};
    const char *const own[] = {
        "ssh",
        "-T",
        "-x",
        "-o",
        "BatchMode=yes",
        "-o",
        "ServerAliveInterval=20",
        host,
        arena_string(a, "exec /bin/sh -c 'eval \"$(head -c %zu)\"'", strlen(line)),
        NULL};

    for (int i = 0; i < COUNT(own); i++)
        add_word(a, &w, own[i]);
    return (LaunchCommand){.words = (char *const *)w.s, .input = line, .host = number};
}

static int all_slots(const Hosts *h)
{
    int slots = 0;

    for (int i = 0; i < h->n; i++)
        slots += host_slots(&h->host[i]);
    return slots;
}

bool launch_by_ssh(Arena *a, const LaunchJob *j, Launch *to, Diag *d)
{
    const Hosts *h = j->hosts;
    int slots = all_slots(h), first = 0;

    if (!h->n)
        diag_error(d, "--launcher ssh needs --hosts");
    else if (j->ranks > 1 && !j->can_spawn)
        diag_error(d,
                   "--launcher ssh: mpirun or srun start the ranks of '%s'; --transport tcp "
                   "compiles a program that needs neither",
                   *j->program);
    else if (j->ranks > slots)
        diag_error(d, "'%s' has %d ranks, the hosts have slots for %d", *j->program, j->ranks,
                   slots);
    if (!h->n || (j->ranks > 1 && !j->can_spawn) || j->ranks > slots)
        return false;
    const char *master = arena_string(a, "%s:%d", h->host[0].name, choose_port());
    to->command = arena_array(a, LaunchCommand, h->n);
    for (int i = 0; i < h->n && first < j->ranks; i++) {
        int left = j->ranks - first, n = host_slots(&h->host[i]);
        n = n < left ? n : left;
        Strings words = rank_words(a, j, first, n, master);
        to->command[to->n++] = command_of(a, h->host[i].name, i, &words);
        first += n;
    }
    return true;
}
