/*
 * Measures how much slower the processes of a server get when camp reads their wait events. Two
 * processes pass a byte back and forth. They do so without a session, while a session watches other
 * processes, and while a session watches these two processes.
 *
 *   backends CPU ROUND_TRIPS ROUNDS
 *
 * Prints {"rows": [{"nothing", "others", "watched", "by_statement", "lengths", "others_by_blocker",
 * "by_blocker", "locks"}, ...], "open_ms"}. `nothing` is the CPU time of a context switch with its
 * wakeup in ns, without a session. The others are the additional ns, compared with the mean of the
 * blocks without a session before and after. With `by_statement` the session also divides the times
 * by statement, with `lengths` it counts how long each sleep lasts, with `by_blocker` it notes
 * which task ends a wait for a lock; in `locks` each wait is one. `open_ms` is the CPU time to open
 * a session.
 */
#include "microstates/backends.h"
#include "switching.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENT_READ 0x06000000u
#define LOCK 0x03000004u

/* Both processes have these variables at the same addresses, like the processes of a server. The
 * event itself is in shared memory, so that this program can change it. */
static uint32_t *volatile event_pointer;
static struct entry {
    uint64_t statement;
    int32_t activity;
} entry = { 4711, 1 };
static struct entry *volatile entry_pointer = &entry;

static int there[2], back[2], orders[2], results[2];
static pid_t other, player;

/* Runs in the first process. For each order it makes `count` round trips, and then writes the CPU
 * time of both processes for one switch. */
static void play(size_t count)
{
    clockid_t others_clock;
    char order;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (clock_getcpuclockid(other, &others_clock) != 0)
        _exit(1);
    while (read(orders[0], &order, 1) == 1) {
        uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + clock_ns(others_clock);
        double ns;

        if (round_trips(there[1], back[0], count) != 0)
            _exit(1);
        ns = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) + clock_ns(others_clock) - before) /
             (2 * (double)count);
        if (write(results[1], &ns, sizeof ns) != sizeof ns)
            _exit(1);
    }
    _exit(0);
}

static int start_both(size_t count)
{
    if (pipe(there) != 0 || pipe(back) != 0 || pipe(orders) != 0 || pipe(results) != 0)
        return -1;
    other = fork();
    if (other == 0)
        answer(there[0], back[1]);
    player = fork();
    if (player == 0)
        play(count);
    return other > 0 && player > 0 ? 0 : -1;
}

static double block(void)
{
    double ns = -1;

    if (write(orders[1], "", 1) != 1 || read(results[0], &ns, sizeof ns) != sizeof ns)
        exit(1);
    return ns;
}

static double open_ms;

/* How a block is measured: without the parent's children, only other processes are watched. */
struct mode {
    const char *name;
    bool others, by_statement, lengths, by_blocker;
    uint32_t event;
};

static const struct mode modes[] = {
    { "others", true, false, false, false, CLIENT_READ },
    { "watched", false, false, false, false, CLIENT_READ },
    { "by_statement", false, true, false, false, CLIENT_READ },
    { "lengths", false, false, true, false, CLIENT_READ },
    { "others_by_blocker", true, false, false, true, CLIENT_READ },
    { "by_blocker", false, false, false, true, CLIENT_READ },
    { "locks", false, false, false, true, LOCK },
};

/* Measures a block while a session watches processes. */
static double watched_block(const struct mode *mode)
{
    const struct backends_place place = {
        .parent = mode->others ? 1 << 30 : getpid(),
        .event_pointer = (uint64_t)(uintptr_t)&event_pointer,
        .activity_pointer = (uint64_t)(uintptr_t)&entry_pointer,
        .activity_offset = offsetof(struct entry, activity),
        .statement_offset = mode->by_statement ? offsetof(struct entry, statement) : 0,
        .by_statement = mode->by_statement,
        .lengths = mode->lengths,
        .by_blocker = mode->by_blocker,
    };
    uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct backends *backends;
    struct camp_error error;
    double ns;

    if (backends_open(&backends, &place, &error) != CAMP_OK) {
        fprintf(stderr, "backends: %s\n", error.message);
        exit(1);
    }
    open_ms = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / 1e6;
    *event_pointer = mode->event;
    ns = block();
    backends_close(backends);
    usleep(30000); /* the kernel detaches programs a little later */
    return ns;
}

static void *shared_event(void)
{
    void *memory =
        mmap(NULL, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

int main(int argc, char **argv)
{
    double nothing;
    size_t rounds;

    if (argc < 4) {
        fprintf(stderr, "backends: which CPU, how many round trips, how many rounds?\n");
        return 2;
    }
    event_pointer = shared_event();
    if (event_pointer == NULL || pin(strtoul(argv[1], NULL, 10)) != 0 ||
        start_both(strtoul(argv[2], NULL, 10)) != 0) {
        perror("backends");
        return 1;
    }
    rounds = strtoul(argv[3], NULL, 10);
    block();
    nothing = block();
    printf("{\"rows\": [");
    for (size_t i = 0; i < rounds; i++) {
        printf("%s{\"nothing\": %.2f", i == 0 ? "" : ", ", nothing);
        for (size_t j = 0; j < sizeof modes / sizeof *modes; j++) {
            const double ns = watched_block(&modes[j]), after = block();

            printf(", \"%s\": %.2f", modes[j].name, ns - (nothing + after) / 2);
            nothing = after;
        }
        printf("}");
    }
    printf("], \"open_ms\": %.2f}\n", open_ms);
    kill(player, SIGKILL);
    kill(other, SIGKILL);
    while (wait(NULL) > 0)
        continue;
    return 0;
}
