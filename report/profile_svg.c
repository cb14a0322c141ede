// Draws the bytes over a step as a stacked area chart of categories: an SVG that browsers show.
#include <math.h>
#include <string.h>

#include "report/profile.h"

// In pixels.
enum { WIDTH = 1000, HEIGHT = 540, LEFT = 80, RIGHT = 800, TOP = 50, BOTTOM = 460, SWATCH = 12 };

// From the bottom to the top: the longer bytes are in use, the lower they lie. Colours are apart
// for colour-blind people too: Okabe and Ito's, and greys.
static const struct {
    MemoryKind kind;
    const char *colour;
} layers[] = {
    {MEMORY_PARAMETERS, "#0072b2"}, {MEMORY_HALF_COPIES, "#004166"},
    {MEMORY_OPTIMIZER, "#56b4e9"},  {MEMORY_ACCUMULATORS, "#cc79a7"},
    {MEMORY_CONSTANTS, "#666666"},  {MEMORY_GRADIENTS, "#d55e00"},
    {MEMORY_SAVED, "#009e73"},      {MEMORY_ACTIVATIONS, "#f0e442"},
    {MEMORY_COPIES, "#e69f00"},     {MEMORY_WORKSPACE, "#bbbbbb"},
};

typedef struct Chart {
    const Profile *f;
    Text *t;
    int64_t top;  // bytes at the upper end
} Chart;

static void put_escaped(Text *t, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '&':
            text_printf(t, "&amp;");
            break;
        case '<':
            text_printf(t, "&lt;");
            break;
        case '>':
            text_printf(t, "&gt;");
            break;
        case '"':
            text_printf(t, "&quot;");
            break;
        default:
            text_put(t, s, 1);
        }
}

// Prints a text; `anchor` is start, middle or end.
static void put_label(const Chart *c, double x, double y, const char *anchor, const char *s)
{
    text_printf(c->t, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    put_escaped(c->t, s);
    text_printf(c->t, "</text>\n");
}

static double x_of(const Chart *c, int item)
{
    return LEFT + (double)(RIGHT - LEFT) * item / (c->f->s->n_items ? c->f->s->n_items : 1);
}

static double y_of(const Chart *c, int64_t bytes)
{
    return BOTTOM - (double)(BOTTOM - TOP) * (double)bytes / (double)c->top;
}

// ---- areas ----

// The bytes of layers [0, n) while an item runs.
static int64_t stacked(const Chart *c, int item, int n)
{
    int64_t sum = 0;

    for (int k = 0; k < n; k++)
        sum += c->f->moment[item].bytes[layers[k].kind];
    return sum;
}

// Draws the upper edge of layers [0, n) from left to right, or from right to left. A step is drawn
// where the bytes change.
static void put_edge(const Chart *c, int n, bool is_back)
{
    int items = c->f->s->n_items;

    for (int k = 0; k < items; k++) {
        int i = is_back ? items - 1 - k : k, next = is_back ? i - 1 : i + 1;
        int64_t bytes = stacked(c, i, n);
        if (!k)
            text_printf(c->t, " %.1f,%.1f", x_of(c, is_back ? i + 1 : i), y_of(c, bytes));
        if (k + 1 < items && stacked(c, next, n) == bytes)
            continue;
        double x = x_of(c, is_back ? i : i + 1);
        text_printf(c->t, " %.1f,%.1f", x, y_of(c, bytes));
        if (k + 1 < items)
            text_printf(c->t, " %.1f,%.1f", x, y_of(c, stacked(c, next, n)));
    }
}

static bool is_drawn(const Chart *c, int layer)
{
    for (int i = 0; i < c->f->s->n_items; i++)
        if (c->f->moment[i].bytes[layers[layer].kind])
            return true;
    return false;
}

static void put_areas(const Chart *c)
{
    for (int k = 0; k < COUNT(layers); k++) {
        if (!is_drawn(c, k))
            continue;
        text_printf(c->t, "<polygon fill=\"%s\" points=\"", layers[k].colour);
        put_edge(c, k + 1, false);
        put_edge(c, k, true);
        text_printf(c->t, "\"><title>%s</title></polygon>\n", memory_kind_names[layers[k].kind]);
    }
}

// ---- axes ----

// A power of two such that at most eight of them make the height.
static int64_t tick_bytes(int64_t most)
{
    int64_t step = 1;

    while (most / step > 8)
        step *= 2;
    return step;
}

static void put_bytes_axis(const Chart *c)
{
    int64_t step = tick_bytes(c->f->p->arena_bytes);

    for (int64_t at = 0; at <= c->top; at += step) {
        text_printf(c->t,
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
                    LEFT, y_of(c, at), RIGHT, y_of(c, at));
        put_label(c, LEFT - 6, y_of(c, at) + 4, "end", bytes_text(c->f->arena, (double)at));
    }
}

// Marks the first item of each phase.
static void put_phases(const Chart *c)
{
    const char *seen[8];
    int n = 0;

    for (int i = 0; i < c->f->s->n_items; i++) {
        const char *phase = profile_phase(c->f, &c->f->s->items[i]);
        int k = 0;
        while (k < n && strcmp(seen[k], phase))
            k++;
        if (!c->f->times[i] || k < n || n == COUNT(seen))
            continue;
        seen[n++] = phase;
        text_printf(c->t,
                    "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#000000\"/>\n",
                    x_of(c, i), BOTTOM, x_of(c, i), BOTTOM + 8);
        put_label(c, x_of(c, i) + 3, BOTTOM + 16, "start", phase);
    }
}

// Shows which items are in the loop of a block, and the block's name if it fits.
static void put_loops(const Chart *c)
{
    enum { LETTER_WIDTH = 7 };
    const Set *s = c->f->s;

    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        if (it->kind != ITEM_LOOP)
            continue;
        double x = x_of(c, i), end = x_of(c, it->loop.end + 1);
        const char *name = it->cls ? profile_block(c->f, it) : "loop";
        text_printf(c->t,
                    "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"4\" fill=\"#888888\"/>\n", x,
                    BOTTOM + 22, end - x);
        if (end - x >= LETTER_WIDTH * (double)strlen(name))
            put_label(c, (x + end) / 2, BOTTOM + 39, "middle", name);
        i = it->loop.end;
    }
}

static void put_items_axis(const Chart *c)
{
    int last = c->f->s->n_items ? c->f->s->n_items - 1 : 0;

    put_phases(c);
    put_loops(c);
    put_label(c, (LEFT + RIGHT) / 2.0, BOTTOM + 62, "middle",
              arena_string(c->f->arena, "items 0 to %d, in the order of execution", last));
}

static int fullest_item(const Profile *f)
{
    int at = 0;

    for (int i = 0; i < f->s->n_items; i++)
        if (f->moment[i].bytes[MEMORY_GAPS] < f->moment[at].bytes[MEMORY_GAPS])
            at = i;
    return at;
}

static void put_legend(const Chart *c)
{
    Arena *a = c->f->arena;
    int at = fullest_item(c->f), y = TOP + 10;
    const MemoryMoment *m = &c->f->moment[at];

    put_label(c, RIGHT + 20, y, "start", arena_string(a, "peak, at item %d", at));
    for (int k = COUNT(layers) - 1; k >= 0; k--) {
        if (!is_drawn(c, k))
            continue;
        y += 22;
        text_printf(c->t, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n",
                    RIGHT + 20, y - SWATCH + 2, SWATCH, SWATCH, layers[k].colour);
        put_label(c, RIGHT + 40, y, "start",
                  arena_string(a, "%s %s", memory_kind_names[layers[k].kind],
                               bytes_text(a, (double)m->bytes[layers[k].kind])));
    }
    put_label(c, RIGHT + 20, y + 30, "start",
              arena_string(a, "arena %s", bytes_text(a, (double)c->f->p->arena_bytes)));
    text_printf(c->t,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#000000\" "
                "stroke-dasharray=\"4 3\"/>\n",
                (x_of(c, at) + x_of(c, at + 1)) / 2, TOP, (x_of(c, at) + x_of(c, at + 1)) / 2,
                BOTTOM);
}

void profile_svg(const Profile *f, const char *name, Text *t)
{
    Chart c = {f, t, f->p->arena_bytes > 0 ? f->p->arena_bytes : 1};
    const char *what = f->s->g->training ? "a step" : "a prediction";
    const char *title =
        arena_string(f->arena, "%s: bytes in use over %s", printable_text(f->arena, name), what);

    text_printf(t,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n<title>",
                WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_escaped(t, title);
    text_printf(t, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH,
                HEIGHT);
    text_printf(t, "<g font-size=\"16\">\n");
    put_label(&c, LEFT, TOP - 20, "start", title);
    text_printf(t, "</g>\n");
    put_bytes_axis(&c);
    put_areas(&c);
    put_items_axis(&c);
    put_legend(&c);
    text_printf(t, "</svg>\n");
}
