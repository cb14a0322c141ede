// The constants of the searches over plans and programs: one table, search.def. Limits of what is
// read, stored or counted are where they are checked; the solver of assignment problems has
// constants of its own (solver/assign/).
#ifndef SHARDCC_SEARCH_H
#define SHARDCC_SEARCH_H

#define SHARE(name, value, unit, tunes)
enum {
#define NUMBER(name, value, unit, tunes) name = (value),
#include "base/search.def"
#undef NUMBER
};
#undef SHARE

#define NUMBER(name, value, unit, tunes)
#define SHARE(name, value, unit, tunes) static const double name = value;
#include "base/search.def"
#undef NUMBER
#undef SHARE

#endif
