// shardcc: finds the command and runs it.
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "driver/driver.h"

// Compiling needs no word: a command's name comes first, or it is none.
static const struct {
    const char *name;
    int (*run)(Arena *a, int argc, char **argv);
} commands[] = {
    {"detect", detect},     {"diff", diff},           {"inspect", inspect},
    {"plan", plan_command}, {"solve", solve_command},
};

static int run(Arena *a, int argc, char **argv)
{
    for (int i = 0; i < COUNT(commands); i++)
        if (argc > 1 && !strcmp(argv[1], commands[i].name))
            return commands[i].run(a, argc - 1, argv + 1);
    return compile(a, argc, argv);
}

// Searches take again what they have just freed: what had gone back to the system would come page
// by page.
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
}

int main(int argc, char **argv)
{
    keep_memory();
    Arena *a = arena_new();

    signal(SIGXFSZ, SIG_IGN);  // a file at the limit is an error of write, like a full disk
    int status = run(a, argc, argv);
    arena_free(a);
    if (fflush(stdout) && !status) {
        fprintf(stderr, "shardcc: error: cannot write to stdout: %s\n", strerror(errno));
        status = EXIT_USER;
    }
    return status;
}
