// Prints --help and --info.
#include <stdio.h>
#include <string.h>

#include "runtime/collectives.h"
#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/trainer/run_report.h"
#include "runtime/trainer/trainer_options.h"

enum { INDENT = 26, WIDTH = 96 };

// Prints `text` in lines that begin at column INDENT.
static void print_wrapped(const char *text)
{
    int column = INDENT;

    while (*text) {
        int word = (int)strcspn(text, " ");

        if (column > INDENT && column + 1 + word > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        }
        column += printf("%s%.*s", column > INDENT ? " " : "", word, text);
        text += word;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_option(const char *name, const char *value, const char *text)
{
    int n = printf("  %s%s%s", name, value ? " " : "", value ? value : "");

    if (n >= INDENT - 1)
        printf("\n%*s", INDENT, "");
    else
        printf("%*s", INDENT - n, "");
    print_wrapped(text);
}

void rt_help(const RtModel *m)
{
    char name[64], text[64];

    if (m->transport)
        printf("%s%s%d ", m->transport->launcher ? m->transport->launcher : m->name,
               m->transport->launcher ? " -n " : " --spawn ", rt_mesh_ranks(&m->mesh));
    printf("%s OPTIONS\n\n", m->name);
    for (int i = 0; i < rt_n_options; i++)
        if (rt_has_option(m, &rt_options[i]))
            print_option(rt_options[i].name, rt_options[i].value, rt_options[i].help);
    printf("\nThe optimizer's numbers:\n");
    for (int i = 0; i < m->n_tensors; i++) {
        if (!rt_is_option(&m->tensors[i]))
            continue;
        rt_option_name(&m->tensors[i], name, sizeof name);
        snprintf(text, sizeof text, "(%g)", m->tensors[i].fill);
        print_option(name, "X", text);
    }
    printf(
        "\nExit status: 0 done, 2 wrong options, 1 any other error, 130 after Ctrl-C. Ctrl-C\n"
        "finishes the step and writes the file of --save; a second Ctrl-C ends it immediately.\n");
}

static double mebibytes(int64_t bytes) { return (double)bytes / (1 << 20); }

// Elements of all tensors of that role.
static int64_t total(const RtModel *m, RtRole role)
{
    int64_t n = 0;

    for (int i = 0; i < m->n_tensors; i++)
        if (m->tensors[i].role == role)
            n += rt_whole_count(&m->tensors[i]) * rt_layers(&m->tensors[i]);
    return n;
}

static void print_set(const char *what, const RtTensor *t, int n, RtRole role)
{
    char text[512], clean[600];

    for (int i = 0; i < n; i++)
        if (t[i].role == role) {
            rt_tensor_print(&t[i], text, sizeof text);
            rt_printable(clean, sizeof clean, text);
            printf("  %-12s%s\n", what, clean);
        }
}

static void print_ranks(const RtModel *model)
{
    const RtMesh *m = &model->mesh;

    if (rt_mesh_ranks(m) == 1)
        return;
    printf("ranks       %d (", rt_mesh_ranks(m));
    for (int a = 0; a < m->n_axes; a++)
        printf("%s%s=%d", a ? ", " : "", m->name[a], m->size[a]);
    printf("), which talk by %s\n", model->transport->name);
}

// Prints the devices that this machine has for the program.
static void print_devices(const RtModel *m, const char *libraries)
{
    RtDevices found = {0};
    char text[256];

    if (m->device->list) {
        m->device->list(&found);
        printf("devices     %d, %s\ndriver      %s\n", found.n, found.name, found.driver);
    }
    if (m->collectives && m->collectives->find) {
        m->collectives->find(libraries, text, sizeof text);
        printf("exchanges   %s\n", text);
    }
}

void rt_info(const RtModel *m, const char *libraries)
{
    RtEntries e = rt_entries(m->tensors, m->n_tensors, 1u << RT_PARAMETER | 1u << RT_BUFFER);
    char shape[200], name[300];

    printf("%s  %s\n", m->name, m->options ? m->options : "");
    if (m->plan)
        printf("plan        %s\n", m->plan);
    print_ranks(m);
    printf("arena       %.1f MiB\n", mebibytes(m->arena_bytes));
    printf("step        %.4g GFLOP, %d micro-batch%s\n", m->flops * 1e-9, m->accumulate,
           m->accumulate == 1 ? "" : "es");
    print_devices(m, libraries);
    printf("parameters  %lld numbers, buffers %lld, optimizer %lld\n",
           (long long)total(m, RT_PARAMETER), (long long)total(m, RT_BUFFER),
           (long long)total(m, RT_STATE));
    printf("%s\n", m->micro ? "training" : "cannot train: compiled without a loss");
    print_set("input", m->train, m->n_train, RT_INPUT);
    printf("forward only\n");
    print_set("input", m->predict, m->n_predict, RT_INPUT);
    print_set("output", m->predict, m->n_predict, RT_OUTPUT);
    printf("weights\n");
    for (int i = 0; i < e.n; i++) {
        rt_stored_print(shape, sizeof shape, &e.item[i]);
        rt_printable(name, sizeof name, e.item[i].name);
        printf("  %s %s\n", name, shape);
    }
    rt_entries_free(&e);
}
