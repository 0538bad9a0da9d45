/*
 * Starts many sleeping processes, for measurements of scans of the process table.
 *
 *   crowd [-w] COUNT
 *
 * With -w, each process wakes ten times a second, so that all processes change in an interval.
 *
 * Prints the number of processes when they exist, waits until its input ends, and then ends all
 * processes.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void live(int waking)
{
    const struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1) /* the parent exited before prctl() */
        _exit(0);
    for (;;) {
        if (waking)
            nanosleep(&nap, NULL);
        else
            pause();
    }
}

/* Returns the number of processes, because the system may allow fewer than `count`. */
static size_t start(pid_t *pids, size_t count, int waking)
{
    for (size_t i = 0; i < count; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            live(waking);
        if (pids[i] < 0)
            return i;
    }
    return count;
}

int main(int argc, char **argv)
{
    int waking = argc > 1 && strcmp(argv[1], "-w") == 0;
    size_t count = argc > 1 + waking ? strtoul(argv[1 + waking], NULL, 10) : 0;
    pid_t *pids = calloc(count, sizeof *pids);
    char byte;

    if (count == 0 || !pids) {
        fprintf(stderr, "crowd: how many?\n");
        free(pids);
        return 2;
    }
    count = start(pids, count, waking);
    printf("%zu\n", count);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    for (size_t i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
    for (size_t i = 0; i < count; i++)
        waitpid(pids[i], NULL, 0);
    free(pids);
    return 0;
}
