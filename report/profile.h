// How tables, files and drawings of a profile name what is in a program.
#ifndef SHARDCC_REPORT_PROFILE_H
#define SHARDCC_REPORT_PROFILE_H

#include "report/report.h"

// All names are printable ASCII: other bytes are written \xHH.

// The module, or the optimizer and its parameter, that an item works for: "h.{}.mlp.act".
const char *profile_item_name(const Profile *f, const Item *it);
// "add mul", "copy", "wait for all_gather".
const char *profile_operators(const Profile *f, const Item *it);
// "forward", "backward", "backward again", "update" or "prediction".
const char *profile_phase(const Profile *f, const Item *it);
// "transformer.h (x12)" or "outside blocks".
const char *profile_block(const Profile *f, const Item *it);
// "h.{}.mlp.fc.weight", "gradient of h.{}.mlp.fc.weight", "h.{}.mlp: mul", "workspace of h.{}.mlp".
const char *profile_buffer_name(const Profile *f, int32_t buffer);

// The work of a statement in a step.
typedef struct StatementWork {
    double flops, read, written, sent, seconds;
} StatementWork;

StatementWork profile_work(const Profile *f, int item);

// Prints the bytes in use over the step, and what holds them at the peak.
void profile_print_memory(const Profile *f);

#endif
