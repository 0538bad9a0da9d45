/*
 * Starts many sleeping processes or threads, for measurements of scans of the process table.
 *
 *   crowd [-t] [-w] COUNT
 *
 * With -t, the sleepers are threads of a few processes. With -w, each wakes ten times a second, so
 * that all change in an interval.
 *
 * Prints the number of sleepers when they exist. Then each line of its input is a number N: the
 * first N sleepers wake up once, and the number is printed when they sleep again. When the input
 * ends, all processes are ended.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_OF_PROCESS 10000 /* a process may have 65,530 mappings, two for each stack */
#define STACK_BYTES 16384

/* In memory that all processes share. */
struct sleeper {
    atomic_uint asked, woken;
};

static struct sleeper *sleepers;
static bool waking;

static void *live(void *argument)
{
    const struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };
    struct sleeper *self = argument;
    unsigned seen = 0, asked;

    for (;;) {
        syscall(SYS_futex, &self->asked, FUTEX_WAIT, seen, waking ? &nap : NULL, NULL, 0);
        asked = atomic_load(&self->asked);
        if (asked != seen) {
            seen = asked;
            atomic_store(&self->woken, seen);
        }
    }
    return NULL;
}

/* Runs `threads` sleepers in this process. */
static void live_all(struct sleeper *first, size_t threads)
{
    pthread_attr_t attributes;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1) /* the parent exited before prctl() */
        _exit(0);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (size_t i = 1; i < threads; i++) {
        pthread_t thread;

        if (pthread_create(&thread, &attributes, live, first + i) != 0)
            _exit(1);
    }
    live(first);
}

/* Returns the number of sleepers, because the system may allow fewer than `count`. */
static size_t start(pid_t *pids, size_t *ret_processes, size_t count, size_t threads)
{
    size_t started = 0;

    for (*ret_processes = 0; started < count; (*ret_processes)++) {
        const size_t here = count - started < threads ? count - started : threads;
        const pid_t pid = fork();

        if (pid == 0)
            live_all(sleepers + started, here);
        if (pid < 0)
            break;
        pids[*ret_processes] = pid;
        started += here;
    }
    return started;
}

static void wake(size_t count)
{
    const struct timespec moment = { .tv_nsec = 100 * 1000 };

    for (size_t i = 0; i < count; i++) {
        atomic_fetch_add(&sleepers[i].asked, 1);
        syscall(SYS_futex, &sleepers[i].asked, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    for (size_t i = 0; i < count; i++) {
        while (atomic_load(&sleepers[i].woken) != atomic_load(&sleepers[i].asked)) {
            nanosleep(&moment, NULL);
            if (waitpid(-1, NULL, WNOHANG) > 0) {
                fprintf(stderr, "crowd: a process could not start all its threads\n");
                exit(1);
            }
        }
    }
}

static void obey(size_t count)
{
    char line[32];

    printf("%zu\n", count);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t wanted = strtoul(line, NULL, 10);

        wake(wanted < count ? wanted : count);
        printf("%zu\n", wanted);
        fflush(stdout);
    }
}

static int fail_usage(void)
{
    fprintf(stderr, "crowd: how many? crowd [-t] [-w] COUNT\n");
    return 2;
}

int main(int argc, char **argv)
{
    size_t threads = 1, count, processes;
    pid_t *pids;
    int option;

    while ((option = getopt(argc, argv, "tw")) != -1) {
        if (option == 't')
            threads = THREADS_OF_PROCESS;
        else if (option == 'w')
            waking = true;
        else
            return fail_usage();
    }
    count = optind < argc ? strtoul(argv[optind], NULL, 10) : 0;
    if (count == 0)
        return fail_usage();
    pids = calloc(count, sizeof *pids);
    sleepers = mmap(NULL, count * sizeof *sleepers, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pids == NULL || sleepers == MAP_FAILED) {
        fprintf(stderr, "crowd: no memory\n");
        return 1;
    }
    count = start(pids, &processes, count, threads);
    wake(count); /* then all threads exist, and sleep */
    obey(count);
    for (size_t i = 0; i < processes; i++)
        kill(pids[i], SIGKILL);
    for (size_t i = 0; i < processes; i++)
        waitpid(pids[i], NULL, 0);
    free(pids);
    return 0;
}
