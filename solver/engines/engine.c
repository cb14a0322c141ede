// The engine's side of the socket: reads commands until the other side is gone.
#include "solver/engines/engine.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void relax(const Text *body, int n_columns, int n_rows)
{
    size_t at = 0;
    int64_t iterations;
    Text t = {0};

    memcpy(&iterations, wire_take(body, &at, sizeof iterations), sizeof iterations);
    Relaxed r = library_relax(iterations);
    int64_t head[2] = {r.status, r.iterations};
    text_put(&t, (const char *)head, sizeof head);
    text_put(&t, (const char *)&r.objective, sizeof r.objective);
    text_put(&t, (const char *)r.x, (size_t)n_columns * sizeof *r.x);
    text_put(&t, (const char *)r.dual, (size_t)n_rows * sizeof *r.dual);
    engine_say(WIRE_RELAXED, &t);
}

static void branch(const Text *body)
{
    size_t at = 0;
    double head[2];
    int64_t nodes;
    Text t = {0};

    memcpy(head, wire_take(body, &at, sizeof head), sizeof head);
    memcpy(&nodes, wire_take(body, &at, sizeof nodes), sizeof nodes);
    Branched b = library_branch(head[0], head[1], nodes);
    int64_t status = b.status;
    text_put(&t, (const char *)&status, sizeof status);
    text_put(&t, (const char *)&b.bound, sizeof b.bound);
    engine_say(WIRE_BRANCHED, &t);
}

static void bounds(const Text *body)
{
    size_t at = 0;
    int64_t n;

    memcpy(&n, wire_take(body, &at, sizeof n), sizeof n);
    for (int64_t i = 0; i < n; i++) {
        double line[3];
        memcpy(line, wire_take(body, &at, sizeof line), sizeof line);
        library_bounds((int)line[0], line[1], line[2]);
    }
}

int main(void)
{
    Text body = {0};
    int kind, n_columns = 0, n_rows = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while ((kind = wire_receive(STDIN_FILENO, &body, NULL)) != 0) {
        size_t at = 0;
        Lines lines;
        if (kind == WIRE_COLUMNS || kind == WIRE_ROWS)
            lines = wire_take_lines(&body, &at);
        if (kind == WIRE_CLEAR) {
            library_clear();
            n_columns = n_rows = 0;
        } else if (kind == WIRE_COLUMNS) {
            library_columns(&lines);
            n_columns += lines.n;
        } else if (kind == WIRE_ROWS) {
            library_rows(&lines);
            n_rows += lines.n;
        } else if (kind == WIRE_BOUNDS) {
            bounds(&body);
        } else if (kind == WIRE_RELAX) {
            relax(&body, n_columns, n_rows);
        } else if (kind == WIRE_BRANCH) {
            branch(&body);
        }
    }
    text_free(&body);
    return 0;
}
