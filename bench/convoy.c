/*
 * A lock convoy, for docs/why.md: processes that share one lock.
 *
 *   convoy FILE SECONDS
 *
 * Four processes with the name "order" take the lock, compute for 0.2 ms, release it, and sleep for
 * 0.1 ms. One with the name "journal" takes the same lock, writes 4 MB to FILE and waits until
 * they are on the disk (fdatasync(2)), releases the lock, and sleeps for 0.1 ms. So the orders wait
 * for the journal, which waits for the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ORDERS 4
#define COMPUTE_NS 200000
#define PAUSE_NS 100000
#define WRITE_BYTES (4 * 1024 * 1024)

static pthread_mutex_t *lock; /* in memory that all processes share */

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_for_a_moment(void)
{
    const struct timespec length = { .tv_nsec = PAUSE_NS };

    nanosleep(&length, NULL);
}

static void order(void)
{
    for (;;) {
        uint64_t end;

        pthread_mutex_lock(lock);
        end = now_ns(CLOCK_THREAD_CPUTIME_ID) + COMPUTE_NS;
        while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
        }
        pthread_mutex_unlock(lock);
        pause_for_a_moment();
    }
}

static void journal(const char *path)
{
    static char data[WRITE_BYTES];
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0) {
        fprintf(stderr, "convoy: %s: %s\n", path, strerror(errno));
        _exit(1);
    }
    for (;;) {
        pthread_mutex_lock(lock);
        if (pwrite(file, data, sizeof data, 0) < 0 || fdatasync(file) < 0)
            _exit(1);
        pthread_mutex_unlock(lock);
        pause_for_a_moment();
    }
}

static pid_t start(const char *name, const char *path)
{
    const pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    if (path != NULL)
        journal(path);
    order();
    _exit(1);
}

static pthread_mutex_t *shared_lock(void)
{
    pthread_mutex_t *ret =
        mmap(NULL, sizeof *ret, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;

    if (ret == MAP_FAILED)
        return NULL;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(ret, &attributes);
    return ret;
}

int main(int argc, char **argv)
{
    pid_t pids[ORDERS + 1];

    lock = shared_lock();
    if (argc != 3 || lock == NULL) {
        fputs("convoy FILE SECONDS\n", stderr);
        return 2;
    }
    for (int i = 0; i < ORDERS; i++)
        pids[i] = start("order", NULL);
    pids[ORDERS] = start("journal", argv[1]);
    sleep((unsigned)atoi(argv[2]));
    for (int i = 0; i <= ORDERS; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    return 0;
}
