// Judges nets by the thousand. Each is judged in a process of its own, so that a crash is a find
// like any other.
#ifndef SHARDCC_TESTS_NETS_HUNT_H
#define SHARDCC_TESTS_NETS_HUNT_H

#include "tests/nets/judge.h"
#include "tests/nets/net.h"

typedef struct Hunt {
    bool is_whole;    // also compile the programs and run them
    int ranks;        // 0: one rank; else up to that many ranks, by plans of all kinds
    const char *dir;  // folder of the compiled programs
    const char *cc;
} Hunt;

#define QUICK_CC "tests/quick_cc"

bool subject_of(Arena *a, const Recipe *r, Subject *s, Diag *d);

void hunt_one(const Hunt *h, const Recipe *r, Verdict *v);
// Judges n nets. It starts fewer compiler processes than n calls of hunt_one.
void hunt_many(const Hunt *h, const Recipe *r, int n, Verdict *v);

// Have both the same fault, as far as their messages tell?
bool verdict_is_alike(const Verdict *a, const Verdict *b);

int recipe_changes(void);
// Makes change `k` to `from` and gives the result in `r`; false: the change doesn't apply.
bool recipe_simpler(const Recipe *from, int k, Recipe *r);
Recipe recipe_shrink(const Recipe *r, const Hunt *h, Verdict *v);

#endif
