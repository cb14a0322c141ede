// The state and the moves of local search: one choice, the cost that each alternative would have
// with the rest of it, and the bytes that it holds.
#ifndef SHARDCC_SOLVER_SEARCH_H
#define SHARDCC_SOLVER_SEARCH_H

#include "solver/assign/internal.h"

// ---- profile.c ----
typedef struct Profile {
    int n;  // number of slots, rounded up to a power of two
    int64_t *most, *added;
} Profile;

Profile profile_new(Arena *a, int n_slots);
void profile_add(Profile *p, int first, int last, int64_t bytes);  // first < last
int profile_fullest(const Profile *p);
static inline int64_t profile_peak(const Profile *p) { return p->most[1]; }

// ---- search_state.c ----
typedef struct Search {
    const FloatProblem *f;
    int *choice;
    double *given;  // by alternative: its cost with its neighbours' choices
    double cost;    // of the choice; forbidden costs count as f->forbidden
    Profile profile;
    int64_t limit;

    // Prices of a byte by slot, their prefix sums, and the cost of each alternative's bytes.
    double *price, *sum, *byte_cost;

    int n_undo, cap_undo;  // changes since search_mark, oldest first
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

Search *search_new(Arena *a, const FloatProblem *f, uint64_t seed);
uint64_t search_random(Search *s, uint64_t below);
bool search_goes_on(const Search *s);
void search_start(Search *s, const int *choice);  // starts from this choice
void search_set(Search *s, int node, int k);
// search_undo takes back all changes since search_mark. There is one mark at a time.
void search_mark(Search *s);
void search_undo(Search *s);
// Replaces the node's bytes by those of its alternative k. The cost stays as it is.
void search_swap_bytes(Search *s, int node, int k);
// Would the peak with alternative k stay within the limit, or else not rise?
bool search_fits(Search *s, int node, int k);
void search_price(Search *s, const double *price);

int search_node(Search *s);  // a random node

// ---- search_start.c ----
// Writes a dual's prices by slot.
void search_dual_prices(const FloatProblem *f, const Dual *d, double *price);
// Writes the choice that a dual's messages and the search's prices lead to. Visits the nodes from
// the last to the first. Each takes its cheapest alternative, given the choices of the nodes after
// it and the messages of the nodes before it. (An ascent ends with a forward sweep: its messages to
// later nodes carry all costs of the earlier ones.)
void search_round_dual(Search *s, const Dual *d, int *choice);
// Moves large trees at the prices alone, until each node was in about `visits` of them.
void search_relax(Search *s, double visits, double scale);

// ---- search_move.c ----
// Takes the node's cheapest alternative that fits, if it is cheaper. True if it changed.
bool search_improve_node(Search *s, int node);
// Improves all nodes until none can be improved. True if any changed.
bool search_descend(Search *s);
// Frees bytes at the fullest time where that costs least, until the peak is within the limit. False
// if it can't.
bool search_repair(Search *s);

// ---- search_tree.c ----
struct Tree *tree_new(Arena *a, const FloatProblem *f);
typedef struct TreeMove {
    int root, size;  // grows at random from root, up to `size` nodes
    double scale;    // factor of the prices
    int forced;      // the alternative that the root must take; -1: any
    bool is_kept;    // the move is undone unless it fits and isn't dearer
} TreeMove;

// Grows a tree and takes the best joint choice of all its nodes. Returns how many nodes it has.
int search_tree(Search *s, TreeMove b);

// ---- search.c ----
// Moves a tree even at a loss, repairs and improves the rest, and undoes it all unless the cost is
// no higher. True: the cost is lower.
bool search_kick(Search *s);

#endif
