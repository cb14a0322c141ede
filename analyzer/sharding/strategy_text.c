// Prints and reads strategies: "m:dp+tp linear:pp".
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sharding/sharding.h"

// ---- printing ----

static void print_axes(const Mesh *m, const Strategy *s, int at, Text *t)
{
    int axis[MAX_AXES], n = 0;

    for (int level = 0; level < MAX_AXES; level++)
        for (int a = 0; a < m->n_axes; a++)
            if (s->at[a] == at && s->level[a] == level)
                axis[n++] = a;
    mesh_print_axes(m, axis, n, t);
}

static bool has_axis(const Strategy *s, int at)
{
    return memchr(s->at, (unsigned char)at, sizeof s->at) != NULL;
}

void strategy_print(const Rule *r, const Mesh *m, const Strategy *s, Text *t)
{
    const char *before = "";

    for (int f = 0; f < r->n_factors; f++)
        if (has_axis(s, f)) {
            text_printf(t, "%s%c:", before, r->letter[f]);
            print_axes(m, s, f, t);
            before = " ";
        }
    if (has_axis(s, LINEAR_JOINT)) {
        text_printf(t, "%slinear:", before);
        print_axes(m, s, LINEAR_JOINT, t);
        before = " ";
    }
    for (int i = 0; i < 64; i++)
        if (has_axis(s, LINEAR_SINGLE + i)) {
            text_printf(t, "%slinear.%d:", before, i);
            print_axes(m, s, LINEAR_SINGLE + i, t);
            before = " ";
        }
    if (!*before)
        text_put(t, "-", 1);
}

// ---- parsing ----

typedef struct StrategyReader {
    const Rule *r;
    const Mesh *m;
    const char *text, *at;
    Strategy *s;
    Diag *d;
} StrategyReader;

static bool wrong(const StrategyReader *w, const char *what)
{
    diag_error(w->d, "strategy '%.200s': %s at byte %td", w->text, what, w->at - w->text);
    return false;
}

// Reads the text before ':': the letter of a factor, "linear" or "linear.1".
static bool read_factor(StrategyReader *w, int *at)
{
    static const char linear[] = "linear";
    char *end;

    if (*w->at && w->at[1] == ':') {
        for (*at = 0; *at < w->r->n_factors; ++*at)
            if (w->r->letter[*at] == *w->at) {
                w->at += 2;
                return true;
            }
        return wrong(w, "the rule has no such factor");
    }
    if (strncmp(w->at, linear, strlen(linear)))
        return wrong(w, "expected a factor or 'linear', and ':',");
    w->at += strlen(linear);
    *at = LINEAR_JOINT;
    if (*w->at == '.' && isdigit((unsigned char)w->at[1])) {
        long i = strtol(w->at + 1, &end, 10);
        if (i >= 64)
            return wrong(w, "there is no such input");
        *at = LINEAR_SINGLE + (int)i;
        w->at = end;
    }
    if (*w->at != ':')
        return wrong(w, "expected ':'");
    w->at++;
    return true;
}

static bool read_axes(StrategyReader *w, int at)
{
    bool is_factor = at >= 0 && at < LINEAR_SINGLE;

    for (int level = 0;; level++) {
        size_t n = strcspn(w->at, "+ ");
        int a = 0;
        while (a < w->m->n_axes && (strlen(w->m->name[a]) != n || memcmp(w->m->name[a], w->at, n)))
            a++;
        if (a == w->m->n_axes)
            return wrong(w, "the mesh has no such axis");
        if (w->s->at[a] != FACTOR_NONE)
            return wrong(w, "the axis occurs twice");
        w->s->at[a] = (int8_t)at;
        w->s->level[a] = (int8_t)(is_factor ? level : 0);
        w->at += n;
        if (*w->at != '+')
            return true;
        w->at++;
    }
}

bool strategy_parse(const Rule *r, const Mesh *m, const char *text, Strategy *s, Diag *d)
{
    StrategyReader w = {r, m, text, text, s, d};
    int at;

    *s = (Strategy){{FACTOR_NONE, FACTOR_NONE, FACTOR_NONE, FACTOR_NONE}, {0}};
    if (!strcmp(text, "-"))
        return true;
    for (;;) {
        if (!read_factor(&w, &at) || !read_axes(&w, at))
            return false;
        if (!*w.at)
            break;
        w.at++;
    }
    if (strategy_is_legal(r, m, s))
        return true;
    diag_error(d, "strategy '%.200s': the node can't be split like this", text);
    return false;
}
