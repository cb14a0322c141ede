// Changes single decisions of plans and looks what their programs then take (local search).
#ifndef SHARDCC_LOCAL_SEARCH_H
#define SHARDCC_LOCAL_SEARCH_H

#include "compile/fit/along_path.h"

// Changes the plans that were considered: first those that miss the memory by the least at an index
// where they would be faster than the best one, and then the best one. Plans that come of it are
// considered too.
void local_search(AlongPath *s);

// Does the search take part? Not for large graphs, nor if a preset is given.
bool local_search_takes_part(const AlongPath *s);

#endif
