// The text of programs for abacuses: fused groups are the CPU's functions over rows.
#include "generator/cpu/group.h"
#include "generator/kernel_call.h"
#include "generator/target_text.h"

#define RT_FLAG(flag) flag,
static const char *const flags[] = {
#include "runtime/rt_flags.def"
    NULL};

static const char *const files[] = {"abacus_device", NULL};

const TargetText abacus_text = {.header = "rt_abacus.h",
                                .make_functions = make_functions,
                                .print_functions = finish_functions,
                                .print_group = print_group,
                                .print_kernel = print_kernel,
                                .device = "rt_abacus",
                                .group_type = {"RtRows", "RtSumRows"},
                                .flags = flags,
                                .extension = "OpenMP",
                                .library = {.name = "libm",
                                            .flag = "-lm",
                                            .source = "Debian: libc6-dev",
                                            .file = "abacus/abacus_device.c"},
                                .archive = "shardrt_abacus",
                                .folder = "abacus",
                                .files = files};
