// Changes single decisions of plans and looks what their programs then take (local search).
#ifndef SHARDCC_LOCAL_SEARCH_H
#define SHARDCC_LOCAL_SEARCH_H

#include "compile/fit/along_path.h"

// Changes plans that were considered, and considers the results. First come plans that would be
// faster than the best one and miss the memory by the least, then the best one itself. They are
// taken at the index where each was tried.
void local_search(AlongPath *s);

// Does the search take part? Not for large graphs, nor if a preset is given.
bool local_search_takes_part(const AlongPath *s);

#endif
