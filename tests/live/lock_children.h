/* For tests of the ends of waits for locks: children that wait as the backends of a database server
 * do, for a latch, which is a signal that a signalfd reads, or for a semaphore; and children that
 * release them. */
#pragma once

#include "backends_children.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>

#define LOCK 0x03000004u
#define LWLOCK 0x01000003u
#define ACTIVE 2
#define MANY 200u

/* What the children of a test share. */
static struct scene {
    volatile int waits[MANY]; /* The wait with this number is about to begin. */
    volatile int may_release;
    volatile int may_wait;
    volatile int alarms;
    pid_t waiter, second;
    sem_t semaphore;
} * scene;

static inline struct backends_place place_by_blocker(void)
{
    struct backends_place place = place_of_this_test();

    place.by_blocker = 1;
    return place;
}

static inline char state_of(pid_t pid)
{
    char path[64], line[512] = "";
    const char *end;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    end = strrchr(line, ')');
    return end != NULL ? end[2] : '\0';
}

static inline void await(const volatile int *flag)
{
    while (*flag == 0)
        usleep(200);
}

/* Waits until a child sleeps in its wait with this number. */
static inline void await_wait(pid_t pid, size_t number)
{
    await(&scene->waits[number]);
    while (state_of(pid) != 'S')
        usleep(200);
}

/* A wait ends when the backend runs again. A reading before that reports it as one that lasts. */
static inline void await_exit(pid_t pid)
{
    while (state_of(pid) != 'Z')
        usleep(200);
}

static inline void count_alarm(int signal)
{
    (void)signal;
    scene->alarms++;
}

/* Returns an epoll instance in which a latch of this process is. */
static inline int open_latch(int *ret_signals)
{
    struct epoll_event interest = { .events = EPOLLIN };
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    sigset_t urgent;

    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    sigprocmask(SIG_BLOCK, &urgent, NULL);
    *ret_signals = signalfd(-1, &urgent, SFD_CLOEXEC | SFD_NONBLOCK);
    if (epoll < 0 || *ret_signals < 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, *ret_signals, &interest) != 0)
        _exit(1);
    return epoll;
}

/* Waits until another process sets the latch, or an alarm comes if it `gives_up`. */
static inline void wait_for_latch(uint32_t of_event, size_t number, bool gives_up)
{
    struct signalfd_siginfo info;
    struct epoll_event ready;
    int signals, epoll = open_latch(&signals), count;

    entry.activity = ACTIVE;
    event = of_event;
    scene->waits[number] = 1;
    do
        count = epoll_wait(epoll, &ready, 1, -1);
    while (count < 0 && !gives_up);
    event = 0;
    if (count == 1 && read(signals, &info, sizeof info) != sizeof info)
        _exit(1);
    close(signals);
    close(epoll);
}

static inline void wait_once(void *truth)
{
    (void)truth;
    wait_for_latch(LOCK, 0, false);
}

static inline void wait_for_a_semaphore(void *truth)
{
    (void)truth;
    entry.activity = ACTIVE;
    event = LWLOCK;
    scene->waits[0] = 1;
    while (sem_wait(&scene->semaphore) != 0)
        continue;
    event = 0;
}

static inline void release_latch(void *truth)
{
    (void)truth;
    await(&scene->may_release);
    if (kill(scene->waiter, SIGURG) != 0)
        _exit(1);
}

static inline void release_semaphore(void *truth)
{
    (void)truth;
    await(&scene->may_release);
    sem_post(&scene->semaphore);
}
