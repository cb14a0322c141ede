// The devices that a program finds on this host, as its --info says: the program has the libraries
// of its devices, the probe hasn't.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/probe/probe.h"

// In the new process, which ends with the probe.
static void become_program(const char *program, const char *libraries, int out)
{
    char *const words[] = {(char *)program, "--info", *libraries ? "--libraries" : NULL,
                           (char *)libraries, NULL};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    execvp(program, words);
    _exit(127);
}

// Takes a line such as "devices     2, NVIDIA H200".
static void take_line(char *line, HostDevices *to)
{
    const struct {
        const char *name;
        char *text;
    } lines[] = {{"devices ", to->devices}, {"driver ", to->driver}, {"exchanges ", to->exchanges}};

    line[strcspn(line, "\n")] = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t n = strlen(lines[i].name);
        if (strncmp(line, lines[i].name, n) == 0)
            snprintf(lines[i].text, MAX_DEVICE_TEXT, "%s", line + n + strspn(line + n, " "));
    }
}

void host_devices_find(const char *program, const char *libraries, HostDevices *to)
{
    int fd[2];
    char line[4096];

    *to = (HostDevices){0};
    if (!*program || pipe(fd))
        return;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        become_program(program, libraries, fd[1]);
    close(fd[1]);
    FILE *f = fdopen(fd[0], "r");
    while (process > 0 && f && fgets(line, sizeof line, f))
        take_line(line, to);
    if (f)
        fclose(f);
    if (process > 0)
        waitpid(process, NULL, 0);
}
