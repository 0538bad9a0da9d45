/* Calls with wrong arguments, which every system refuses, and calls without an array, which count.
 * The tests of each system include it. */
#pragma once

#include "reading_calls.h"

#include <camp/catalogue.h>

#include <string.h>

/* The error of the last call below. */
static struct camp_error refusal;

#define EXPECT_REFUSAL(call, words)                                                                \
    do {                                                                                           \
        refusal = (struct camp_error){ 0 };                                                        \
        assert_int_equal(call, CAMP_E_INVALID);                                                    \
        assert_int_equal(refusal.code, CAMP_E_INVALID);                                            \
        assert_non_null(strstr(refusal.message, words));                                           \
    } while (0)

/* The message of a call with a NULL pointer names this argument. */
#define EXPECT_NULL_REFUSED(argument, call)                                                        \
    EXPECT_REFUSAL(call, "the argument " argument " must not be NULL")

static inline void expect_arguments_that_are_null_to_be_named(void)
{
    struct camp_reader reader = { { 0 } };
    struct camp_task task;
    struct camp_task_utilisation utilisation;
    struct camp_network network;
    struct camp_disk disk;
    uint64_t number;
    char text[8];

    EXPECT_NULL_REFUSED("ret_count", camp_cpu_count(NULL, NULL, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_cpu_list(NULL, NULL, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("ids", camp_cpu_list(NULL, NULL, 1, &count, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_cpu_read(NULL, 0, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_cpu_read_all(NULL, NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED(
        "cpus", camp_cpu_read_all(NULL, NULL, sizeof(struct camp_cpu), 1, &count, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_memory_read(NULL, 0, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("name", camp_network_read(NULL, NULL, &network, sizeof network, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_network_read(NULL, "lo", NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_network_read_all(NULL, NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("networks",
                        camp_network_read_all(NULL, NULL, sizeof network, 1, &count, &refusal));
    EXPECT_NULL_REFUSED("name", camp_disk_read(NULL, NULL, &disk, sizeof disk, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_disk_read(NULL, "sda", NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_disk_read_all(NULL, 0, NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("disks",
                        camp_disk_read_all(NULL, 0, NULL, sizeof disk, 1, &count, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_pid_list(NULL, NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("pids",
                        camp_pid_list(NULL, NULL, sizeof(struct camp_pid), 1, &count, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_process_identify(NULL, 1, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_process_list(NULL, NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("processes", camp_process_list(NULL, NULL, sizeof(struct camp_process), 1,
                                                       &count, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_process_find(NULL, "sh", NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("name", camp_process_find(NULL, NULL, NULL, sizeof(struct camp_process), 0,
                                                  &count, &refusal));
    EXPECT_NULL_REFUSED("process", camp_process_read(NULL, NULL, 0, &task, sizeof task, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_process_read(NULL, &asked_process, 0, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("ret_count", camp_process_read_all(NULL, 0, NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("usages",
                        camp_process_read_all(NULL, 0, NULL, sizeof(struct camp_process_usage), 1,
                                              &count, &refusal));
    EXPECT_NULL_REFUSED("ret_count",
                        camp_thread_list(NULL, &asked_process, NULL, 0, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("process", camp_thread_list(NULL, NULL, NULL, sizeof(struct camp_thread), 0,
                                                    &count, &refusal));
    EXPECT_NULL_REFUSED("thread", camp_thread_read(NULL, NULL, 0, &task, sizeof task, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_thread_read(NULL, &asked_thread, 0, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("process", camp_process_cpu_ns(NULL, NULL, &number, &refusal));
    EXPECT_NULL_REFUSED("ret_ns", camp_process_cpu_ns(NULL, &asked_process, NULL, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_kernel_read(NULL, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_open_cpus(NULL, NULL, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_open_memory(NULL, NULL, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_open_networks(NULL, NULL, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_open_disks(NULL, NULL, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_open_process(NULL, NULL, &asked_process, &refusal));
    EXPECT_NULL_REFUSED("process", camp_reader_open_process(&reader, NULL, NULL, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_cpus(NULL, NULL, 0, 0, &count, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_process(NULL, &task, sizeof task, &refusal));
    EXPECT_NULL_REFUSED("reader", camp_reader_process_cpu_ns(NULL, &number, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_system_read(NULL, 0, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("ret_hz", camp_cpu_frequency_hz(NULL, 0, NULL, &refusal));
    EXPECT_NULL_REFUSED("process", camp_process_text(NULL, NULL, CAMP_TEXT_EXECUTABLE, text,
                                                     sizeof text, &count, &refusal));
    EXPECT_NULL_REFUSED("buffer", camp_process_text(NULL, &asked_process, CAMP_TEXT_EXECUTABLE,
                                                    NULL, 1, &count, &refusal));
    EXPECT_NULL_REFUSED("ret_length", camp_process_text(NULL, &asked_process, CAMP_TEXT_EXECUTABLE,
                                                        text, sizeof text, NULL, &refusal));
    EXPECT_NULL_REFUSED("process", camp_process_utilisation(NULL, NULL, 1, NULL, &utilisation,
                                                            sizeof utilisation, &refusal));
    EXPECT_NULL_REFUSED("ret",
                        camp_process_utilisation(NULL, &asked_process, 1, NULL, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("ret", camp_cpu_utilisation(NULL, 0, 1, NULL, NULL, NULL, 0, &refusal));
    EXPECT_NULL_REFUSED("counters", camp_catalogue_read(NULL, 1, 1, &count, &refusal));
    assert_int_equal(camp_pid_cpu_ns(1, NULL), CAMP_E_INVALID);
}

static inline void expect_numbers_out_of_range_to_be_named(void)
{
    struct camp_process no_process = { .pid = -1 };
    struct camp_thread no_thread = { .pid = PID, .tid = -1 };
    struct camp_cpu cpu;
    struct camp_task task;

    EXPECT_REFUSAL(camp_cpu_read(NULL, -2, &cpu, sizeof cpu, &refusal), "cpu is -2");
    EXPECT_REFUSAL(camp_disk_read_all(NULL, 9, NULL, 0, 0, &count, &refusal), "kind is 9");
    EXPECT_REFUSAL(camp_process_read(NULL, &no_process, 0, &task, sizeof task, &refusal),
                   "process->pid is -1");
    EXPECT_REFUSAL(camp_thread_read(NULL, &no_thread, 0, &task, sizeof task, &refusal),
                   "thread->tid is -1");
    EXPECT_REFUSAL(camp_pid_list(NULL, NULL, 1, 0, &count, &refusal), "the argument size is 1");
}

/* The result of a call without an array says whether there is something to read. */
#define EXPECT_COUNT(call)                                                                         \
    do {                                                                                           \
        int r;                                                                                     \
        count = SIZE_MAX;                                                                          \
        refusal = (struct camp_error){ 0 };                                                        \
        r = call;                                                                                  \
        assert_true(count < SIZE_MAX);                                                             \
        assert_int_equal(r, count == 0 ? CAMP_OK : CAMP_E_SPACE);                                  \
        assert_int_equal(refusal.code, r);                                                         \
    } while (0)

/* `pid` is that of a living process, whose executable the caller may read. */
static inline void expect_calls_without_space_to_count(int32_t pid)
{
    struct camp_process process;

    assert_int_equal(camp_process_identify(NULL, pid, &process, sizeof process, NULL), CAMP_OK);
    EXPECT_COUNT(camp_cpu_list(NULL, NULL, 0, &count, &refusal));
    EXPECT_COUNT(camp_cpu_read_all(NULL, NULL, sizeof(struct camp_cpu), 0, &count, &refusal));
    EXPECT_COUNT(
        camp_network_read_all(NULL, NULL, sizeof(struct camp_network), 0, &count, &refusal));
    EXPECT_COUNT(camp_disk_read_all(NULL, CAMP_DISK_ANY, NULL, sizeof(struct camp_disk), 0, &count,
                                    &refusal));
    EXPECT_COUNT(camp_pid_list(NULL, NULL, sizeof(struct camp_pid), 0, &count, &refusal));
    EXPECT_COUNT(camp_process_list(NULL, NULL, sizeof process, 0, &count, &refusal));
    EXPECT_COUNT(
        camp_process_find(NULL, "no such program", NULL, sizeof process, 0, &count, &refusal));
    EXPECT_COUNT(camp_process_read_all(NULL, 0, NULL, sizeof(struct camp_process_usage), 0, &count,
                                       &refusal));
    EXPECT_COUNT(
        camp_thread_list(NULL, &process, NULL, sizeof(struct camp_thread), 0, &count, &refusal));
    EXPECT_COUNT(
        camp_process_text(NULL, &process, CAMP_TEXT_EXECUTABLE, NULL, 0, &count, &refusal));
    EXPECT_COUNT(camp_catalogue_read(NULL, sizeof(struct camp_counter), 0, &count, &refusal));
}
