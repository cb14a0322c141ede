// Opens NVIDIA's libraries when the program starts.
#ifndef SHARDCC_RT_OPEN_LIBRARY_H
#define SHARDCC_RT_OPEN_LIBRARY_H

#include <stddef.h>

// A function of a library, and where its address belongs in a table of them.
typedef struct RtLibraryFunction {
    const char *name;
    size_t at;
} RtLibraryFunction;
#define RT_LIBRARY_FUNCTION(table, name)                                                           \
    {                                                                                              \
#name, offsetof(table, name)                                                               \
    }

// Opens a file: that of the folder `libraries`, else that of the toolkit which the program was
// built with, else the one that the system's loader finds; and fills the table. It stays open until
// the program ends. Returns false, and dlerror says why.
bool rt_open_library(const char *libraries, const char *file, const RtLibraryFunction *f, int n,
                     void *table);

#endif
