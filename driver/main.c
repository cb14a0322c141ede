// Finds the command of shardcc's command line, and runs it.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "driver/driver.h"
#include "runtime/rt_file.h"

// The commands. A command line whose first word is none of these names compiles.
static const struct {
    const char *name;
    int (*run)(Arena *a, int argc, char **argv);
} commands[] = {
    {"chain", chain_command}, {"check", check_command}, {"checkpoint", checkpoint_command},
    {"detect", detect},       {"diff", diff},           {"inspect", inspect},
    {"pack", pack_command},   {"plan", plan_command},   {"profile", profile_command},
    {"run", run_command},     {"solve", solve_command},
};

static int run(Arena *a, int argc, char **argv)
{
    for (int i = 0; i < COUNT(commands); i++)
        if (argc > 1 && !strcmp(argv[1], commands[i].name))
            return commands[i].run(a, argc - 1, argv + 1);
    return compile(a, argc, argv);
}

// By default malloc gives the last megabyte that is freed back to the system, whose pages are then
// faulted in again by the next arena: a search that makes many small programs spent half of its
// time there.
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
}

static void end_without_memory(void)
{
    fprintf(stderr, "shardcc: error: out of memory\n");
    _exit(EXIT_USER);
}

// Is the stack large enough? A search of gpt2's plans takes 120 KiB.
static bool has_stack(void)
{
    enum { MIN_STACK_BYTES = 1 << 20, DEFAULT_STACK_BYTES = 1 << 23 };
    struct rlimit r;

    if (getrlimit(RLIMIT_STACK, &r) || r.rlim_cur >= MIN_STACK_BYTES)
        return true;
    r.rlim_cur = r.rlim_max < DEFAULT_STACK_BYTES ? r.rlim_max : DEFAULT_STACK_BYTES;
    if (r.rlim_cur < MIN_STACK_BYTES || setrlimit(RLIMIT_STACK, &r)) {
        fprintf(
            stderr,
            "shardcc: error: the limit of the stack is %llu KiB, %d are needed: see ulimit -s\n",
            (unsigned long long)r.rlim_max >> 10, MIN_STACK_BYTES >> 10);
        return false;
    }
#ifdef __GLIBC__
    pthread_attr_t threads;
    pthread_attr_init(&threads);
    pthread_attr_setstacksize(&threads, r.rlim_cur);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
#endif
    return true;
}

int main(int argc, char **argv)
{
    rt_open_streams();
    if (!has_stack())
        return EXIT_USER;
    on_lack_of_memory = end_without_memory;
    keep_memory();
    Arena *a = arena_new();

    signal(SIGXFSZ, SIG_IGN);  // a file at the size limit is then a write error, like a full disk
    int status = run(a, argc, argv);
    arena_free(a);
    if ((fflush(stdout) || ferror(stdout)) && !status) {
        fprintf(stderr, "shardcc: error: cannot write to stdout: %s\n", strerror(errno));
        status = EXIT_USER;
    }
    return status;
}
