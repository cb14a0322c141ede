// Says what an engine finds, to the solver on the other side of the socket.
#include "solver/engines/engine.h"

#include <unistd.h>

void engine_say(WireKind kind, Text *t)
{
    if (!wire_send(STDIN_FILENO, kind, t))
        _exit(1);  // the solver is gone
    text_free(t);
}

void engine_point(double objective, const double *x, int n)
{
    Text t = {0};

    text_put(&t, (const char *)&objective, sizeof objective);
    text_put(&t, (const char *)x, (size_t)n * sizeof *x);
    engine_say(WIRE_POINT, &t);
}

void engine_bound(double bound)
{
    Text t = {0};

    text_put(&t, (const char *)&bound, sizeof bound);
    engine_say(WIRE_BOUND, &t);
}
