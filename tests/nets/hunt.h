// Nets by the thousand: each is judged in a process of its own, so that one that crashes is a find
// like any other.
#ifndef SHARDCC_TESTS_NETS_HUNT_H
#define SHARDCC_TESTS_NETS_HUNT_H

#include "tests/nets/judge.h"
#include "tests/nets/net.h"

typedef struct Hunt {
    bool is_whole;    // programs are compiled and run, too
    int ranks;        // 0: one rank; else of as many, by plans of all kinds
    const char *dir;  // where compiled programs are
    const char *cc;
} Hunt;

const char *hunt_compiler(void);  // the quickest there is

bool subject_of(const Recipe *r, Arena *a, Subject *s, Diag *d);

void hunt_one(const Hunt *h, const Recipe *r, Verdict *v);
// n nets; fewer processes of the compiler than one by one.
void hunt_many(const Hunt *h, const Recipe *r, int n, Verdict *v);

// Are both wrong in one way, as far as messages tell?
bool verdict_is_alike(const Verdict *a, const Verdict *b);

int recipe_changes(void);
// Change `k` of `from`; false: it doesn't apply.
bool recipe_simpler(const Recipe *from, int k, Recipe *r);
Recipe recipe_shrink(const Recipe *r, const Hunt *h, Verdict *v);

#endif
