// shardcc: reads the command line and compiles.
#include "driver/driver.h"

int main(int argc, char **argv)
{
    Arena *a = arena_new();
    Options o;
    int status = 0;

    if (options_read(a, argc, argv, &o, &status))
        status = compile(a, &o);
    arena_free(a);
    return status;
}
