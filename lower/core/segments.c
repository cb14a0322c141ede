// Finds segments: the points where iterations must stop. An iteration's nodes of a phase run in one
// go, unless some need a value from outside that depends on others of them: updates need the norm
// of all gradients.
#include "lower/internal.h"

static bool is_same_iteration(const Node *a, const Node *b)
{
    return a->block.cls == b->block.cls && a->block.iter == b->block.iter &&
           a->block.again == b->block.again && a->phase == b->phase;
}

// Finds the segments of the iteration whose nodes of a phase are in [first, last]. `depth` is
// scratch: for a node of the iteration, 1 + the number of segments before it; for other nodes, how
// many segments they need.
static void find_segments_of(Arena *a, const Graph *g, NodeId first, NodeId last, int *depth,
                             Segment **segment)
{
    Segment *now = NULL;
    int n_segments = 0;

    for (NodeId i = first; i <= last; i++) {
        const Node *n = &g->nodes[i];
        bool is_inside = is_same_iteration(n, &g->nodes[first]);
        int needs = 0;
        for (int k = 0; k < n->n_in; k++) {
            NodeId made = value_of(g, n->in[k])->producer;
            if (made < first || (is_inside && is_same_iteration(&g->nodes[made], n)))
                continue;
            needs = depth[made] > needs ? depth[made] : needs;
        }
        depth[i] = needs;
        if (!is_inside)
            continue;
        if (!now || needs >= n_segments) {
            now = arena_array(a, Segment, 1);
            now->first = i;
            n_segments = needs + 1;
        }
        now->last = i;
        segment[i] = now;
        depth[i] = n_segments;
    }
}

Segment **segments_find(Arena *a, const Graph *g)
{
    Segment **segment = arena_array(a, Segment *, g->n_nodes);
    NodeId **last = arena_array(a, NodeId *, g->n_classes);
    int *depth = arena_array(a, int, g->n_nodes);

    for (int c = 1; c < g->n_classes; c++)
        last[c] = arena_array(a, NodeId, 3 * (size_t)g->classes[c].length);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->block.cls)
            last[n->block.cls][3 * n->block.iter + (int)n->phase] = i;
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->block.cls && !segment[i])
            find_segments_of(a, g, i, last[n->block.cls][3 * n->block.iter + (int)n->phase], depth,
                             segment);
    }
    return segment;
}
