// shardcc: reads the command line and compiles.
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "driver/driver.h"

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Options o;
    int status = 0;

    signal(SIGCHLD, SIG_DFL);  // whoever started us may not have wanted to hear of its children
    signal(SIGXFSZ, SIG_IGN);  // a file at the limit is an error of write, like a full disk
    if (options_read(a, argc, argv, &o, &status))
        status = compile(a, &o);
    arena_free(a);
    if (fflush(stdout) && !status) {
        fprintf(stderr, "shardcc: error: cannot write to stdout: %s\n", strerror(errno));
        status = EXIT_USER;
    }
    return status;
}
