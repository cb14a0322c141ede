// Local search: one choice, what each alternative would cost beside it, and the bytes it holds.
#ifndef SHARDCC_SOLVER_SEARCH_H
#define SHARDCC_SOLVER_SEARCH_H

#include "solver/internal.h"

// ---- profile.c ----
typedef struct Profile {
    int n;  // slots, up to a power of two
    int64_t *most, *added;
} Profile;

Profile profile_new(int n_slots, Arena *a);
void profile_add(Profile *p, int first, int last, int64_t bytes);  // first < last
int profile_fullest(const Profile *p);
static inline int64_t profile_peak(const Profile *p) { return p->most[1]; }

// ---- search_state.c ----
typedef struct Search {
    const FloatProblem *f;
    int *choice;
    double *given;  // by alternative: its cost with its neighbours as they are chosen
    double cost;    // of the choice, forbidden costs as the field has them
    Profile profile;
    int64_t limit;

    double *price, *sum,
        *byte_cost;  // prices of a byte by slot; what alternatives' bytes cost at them

    int n_undo, cap_undo;  // the changes since search_mark, oldest first
    struct Change {
        int node, before;
    } * undo;
    bool is_marked;

    Arena *arena;
    uint64_t random;
    int64_t work, work_limit;
    const Deadline *deadline;
    struct Tree *tree;
} Search;

Search *search_new(const FloatProblem *f, uint64_t seed, Arena *a);
uint64_t search_random(Search *s, uint64_t below);
bool search_goes_on(const Search *s);
void search_start(Search *s, const int *choice);  // takes this choice, whole
void search_set(Search *s, int node, int k);
// Changes from here on can be taken back. One mark at a time.
void search_mark(Search *s);
void search_undo(Search *s);
// Holds what alternative k of the node does instead of what it holds now; its cost isn't counted.
void search_swap_bytes(Search *s, int node, int k);
bool search_fits(Search *s, int node, int k);  // with k, is nothing above the limit or the peak?
void search_price(Search *s, const double *price);

int search_node(Search *s);  // at random

// ---- search_start.c ----
// A dual's prices, by slot.
void search_dual_prices(const FloatProblem *f, const Dual *d, double *price);
// The choice to which a dual's messages and the search's prices lead, node by node from the last:
// each takes what is cheapest beside the nodes after it, as the messages judge those before. (An
// ascent ends with a sweep forward: its messages to later nodes say all of the earlier ones.)
void search_round_dual(Search *s, const Dual *d, int *choice);
// Large trees at the prices alone, until each node has had this many turns.
void search_relax(Search *s, double visits, double scale);

// ---- search_move.c ----
// Takes the best alternative of the node that is cheaper and fits.
bool search_improve_node(Search *s, int node);
// The same for all nodes, until there is none.
bool search_descend(Search *s);
// Gives up bytes at the fullest time where it costs least, until all is within the limit.
bool search_repair(Search *s);

// ---- search_tree.c ----
struct Tree *tree_new(const FloatProblem *f, Arena *a);
typedef struct TreeMove {
    int root, size;  // it is grown at random from there, up to that many nodes
    double scale;    // of the prices
    int forced;      // the alternative that the root has to take; -1: any
    bool is_kept;    // it is left as it was unless it fits and is not dearer
} TreeMove;

// Takes the best choice for nodes that form a tree, all at once. The number of nodes in it.
int search_tree(Search *s, TreeMove b);

// ---- search.c ----
// Changes a part at a loss, mends what that does to the rest, and takes it back if it was no gain.
bool search_kick(Search *s);

#endif
