// The contest's own example (google/iopddl, Apache License 2.0), in few lines.
#ifndef SHARDCC_TESTS_SOLVER_EXAMPLE_H
#define SHARDCC_TESTS_SOLVER_EXAMPLE_H

static const char example[] =
    "{\"problem\": {\n"
    "  \"name\": \"example\",\n"
    "  \"nodes\": {\n"
    "    \"intervals\": [[30, 70], [40, 70], [50, 120], [110, 140], [110, 150]],\n"
    "    \"costs\": [[15], [55, 65], [25, 45, 35], [85, 75], [95]],\n"
    "    \"usages\": [[10], [25, 25], [15, 20, 15], [10, 10], [15]]\n"
    "  },\n"
    "  \"edges\": {\n"
    "    \"nodes\": [[0, 1], [0, 2], [1, 3], [2, 4], [3, 4]],\n"
    "    \"costs\": [[30, 40], [50, 10, 40], [90, 10, 20, 80], [60, 20, 30], [70, 60]]\n"
    "  },\n"
    "  \"usage_limit\": 50\n"
    "}}\n";

enum {
    EXAMPLE_OPTIMUM = 445,  // the least cost
    EXAMPLE_MIN = 50        // the lowest peak of any choice
};

#endif
