// The text of programs for CPUs, and how they are built.
#include "generator/cpu/group.h"
#include "generator/group/function.h"
#include "generator/kernel_call.h"
#include "generator/target_text.h"

#define RT_FLAG(flag) flag,
static const char *const flags[] = {
#include "runtime/rt_flags.def"
    NULL};

static const char *const files[] = {"kernel",      "copy",      "rows", "cpu_device",
                                    "cpu_threads", "cpu_share", NULL};

const TargetText cpu_text = {.header = "rt.h",
                             .make_functions = make_functions,
                             .print_functions = finish_functions,
                             .print_group = print_group,
                             .print_kernel = print_kernel,
                             .device = "rt_cpu",
                             .group_type = {"RtRows", "RtSumRows"},
                             .main_begin = "rt_limit_spinning(argv);",
                             .flags = flags,
                             .extension = "OpenMP",
                             .library = {.name = "oneDNN",
                                         .flag = "-ldnnl",
                                         .source = "Debian: libdnnl-dev",
                                         .file = "cpu/onednn.c"},
                             .archive = "shardrt_cpu",
                             .folder = "cpu",
                             .files = files};
