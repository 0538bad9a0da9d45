/*
 * A child that carries out commands. After each command it reports its own counters and sleeps.
 * When the next command wakes it, it reports its counters again. Counters that the test reads while
 * the child sleeps must be between these two reports, without any tolerance.
 */
#pragma once

#include "clocks.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct counters {
    uint64_t cpu_ns;
    uint64_t minor_faults;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
};

struct command {
    char action; /* a letter that act() knows */
    uint32_t amount;
    char name[16];
};

struct child {
    pid_t pid;
    int commands;
    int answers;
    struct camp_process process;
};

static struct counters own_counters(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (struct counters){
        .cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID),
        .minor_faults = (uint64_t)usage.ru_minflt,
        .voluntary_switches = (uint64_t)usage.ru_nvcsw,
        .involuntary_switches = (uint64_t)usage.ru_nivcsw,
    };
}

static int thread_pipe[2]; /* In the child: a byte in this pipe ends a waiting thread. */
/* In the child: a thread writes to this pipe after it used its CPU time. */
static int ready_pipe[2];
static pid_t thread_tid; /* in the child: the waiting thread */

static void *burn_and_wait(void *ms)
{
    char byte = 0;

    thread_tid = gettid();
    burn(CLOCK_THREAD_CPUTIME_ID, *(uint32_t *)ms * (uint64_t)NS_PER_MS);
    if (write(ready_pipe[1], &byte, 1) == 1 && read(thread_pipe[0], &byte, 1) < 0)
        return ms;
    return NULL;
}

static void start_thread(uint32_t ms, pthread_t *thread)
{
    char byte;

    if (pthread_create(thread, NULL, burn_and_wait, &ms) != 0 || read(ready_pipe[0], &byte, 1) != 1)
        _exit(1);
}

/* pthread_join() may return before the thread has left its process. Then the process still counts
 * the thread. */
static void end_thread(pthread_t thread)
{
    if (write(thread_pipe[1], "", 1) != 1 || pthread_join(thread, NULL) != 0)
        _exit(1);
    while (syscall(SYS_tgkill, getpid(), thread_tid, 0) == 0)
        usleep(100);
}

static void touch_pages(uint32_t pages)
{
    size_t page = (size_t)getpagesize();
    char *memory =
        mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        memory[i * page] = 1;
}

static void write_file(uint32_t bytes)
{
    char path[] = "/var/tmp/camp-test-XXXXXX", block[4096] = { 1 };
    int file = mkstemp(path);

    unlink(path);
    for (uint32_t done = 0; done < bytes; done += sizeof block) {
        if (write(file, block, sizeof block) != sizeof block)
            _exit(1);
    }
    fsync(file);
    close(file);
}

static void act(const struct command *command)
{
    static pthread_t thread;

    switch (command->action) {
    case 'b':
        burn(CLOCK_THREAD_CPUTIME_ID, (uint64_t)command->amount * NS_PER_MS);
        break;
    case 't':
        start_thread(command->amount, &thread);
        break;
    case 'e':
        end_thread(thread);
        break;
    case 'm':
        touch_pages(command->amount);
        break;
    case 's':
        for (uint32_t i = 0; i < command->amount; i++)
            usleep(1000);
        break;
    case 'n':
        prctl(PR_SET_NAME, command->name);
        break;
    case 'w':
        write_file(command->amount);
        break;
    case 'f': /* The parent must kill the child. */
        for (;;)
            getppid();
    case 'q':
        _exit(0);
    default:
        break;
    }
}

static void obey(int commands, int answers)
{
    struct command command;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pipe(thread_pipe) != 0 || pipe(ready_pipe) != 0)
        _exit(1);
    while (read(commands, &command, sizeof command) == sizeof command) {
        struct counters own = own_counters();

        if (write(answers, &own, sizeof own) != sizeof own)
            _exit(1);
        act(&command);
        own = own_counters();
        if (write(answers, &own, sizeof own) != sizeof own)
            _exit(1);
    }
    _exit(0);
}

static struct child start_child(void)
{
    struct child child;
    int commands[2], answers[2];

    assert_int_equal(pipe(commands), 0);
    assert_int_equal(pipe(answers), 0);
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        close(commands[1]);
        obey(commands[0], answers[1]);
    }
    close(commands[0]);
    close(answers[1]);
    child.commands = commands[1];
    child.answers = answers[0];
    assert_int_equal(
        camp_process_identify(NULL, child.pid, &child.process, sizeof child.process, NULL),
        CAMP_OK);
    return child;
}

static void end_child(struct child *child)
{
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    close(child->commands);
    close(child->answers);
}

/* Sends a command. If `woken` is not NULL, it gets the counters that the child read when the
 * command woke it. */
static void command_child(const struct child *child, struct command command, struct counters *woken)
{
    struct counters own;

    assert_int_equal(write(child->commands, &command, sizeof command), sizeof command);
    assert_int_equal(read(child->answers, &own, sizeof own), sizeof own);
    if (woken != NULL)
        *woken = own;
}

/* Reads the child when it is in this state. */
static struct camp_task read_in_state(const struct child *child, char state)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    struct camp_task task;

    do {
        assert_int_equal(
            camp_process_read(NULL, &child->process, CAMP_TASK_ALL, &task, sizeof task, NULL),
            CAMP_OK);
        /* The child may have fallen asleep during the first read, so it is read again. */
        if (task.state == state)
            assert_int_equal(
                camp_process_read(NULL, &child->process, CAMP_TASK_ALL, &task, sizeof task, NULL),
                CAMP_OK);
        if (task.state == state)
            return task;
    } while (wait_on(began_ns));
    fail_msg("the child did not come to state %c", state);
    return task;
}

/* The child's own counters before it fell asleep and after it woke up, and the counters read
 * between them. */
struct sandwich {
    struct counters before;
    struct camp_task read;
    struct counters after;
};

static struct sandwich read_asleep(const struct child *child, struct command command)
{
    struct sandwich sandwich;

    command_child(child, command, NULL);
    assert_int_equal(read(child->answers, &sandwich.before, sizeof sandwich.before),
                     sizeof sandwich.before);
    sandwich.read = read_in_state(child, 'S');
    command_child(child, (struct command){ .action = '.' }, &sandwich.after);
    assert_int_equal(read(child->answers, &(struct counters){ 0 }, sizeof(struct counters)),
                     sizeof(struct counters));
    read_in_state(child, 'S');
    return sandwich;
}

static void assert_between(const char *what, uint64_t before, uint64_t read, uint64_t after)
{
    print_message("%s: %llu, from %llu to %llu\n", what, (unsigned long long)read,
                  (unsigned long long)before, (unsigned long long)after);
    if (read < before || read > after)
        fail_msg("%s: read %llu, which is not from %llu to %llu", what, (unsigned long long)read,
                 (unsigned long long)before, (unsigned long long)after);
}
