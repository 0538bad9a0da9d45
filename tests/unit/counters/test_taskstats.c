/* Parses messages of taskstats, valid and broken ones. */
#include "counters/linux/netlink_message.h"
#include "counters/linux/taskstats_message.h"
#include "counters/linux/taskstats_socket.h"

#include <camp/linux.h>

#include <errno.h>
#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef AGROUP
#define AGROUP 0x20
#endif

#define MS 1000000ull
#define TICK (4 * MS)
#define STATS_LENGTH 560 /* length in Linux 6.18, which may exceed sizeof(struct taskstats) */
#define OLD_LENGTH 328   /* length in taskstats version 8 */

struct message {
    _Alignas(8) char bytes[4096];
    size_t length;
};

static void put(struct message *message, const void *bytes, size_t length)
{
    memcpy(message->bytes + message->length, bytes, length);
    message->length += (length + 3) / 4 * 4;
}

static struct message begin(uint16_t type, uint32_t port)
{
    struct message message = { .length = 0 };
    struct nlmsghdr header = { .nlmsg_type = type, .nlmsg_seq = 7, .nlmsg_pid = port };

    put(&message, &header, sizeof header);
    return message;
}

/* memcpy(), because the bytes may not be accessed as a struct (aliasing). */
static void claim_length(struct message *message, uint32_t length)
{
    memcpy(message->bytes + offsetof(struct nlmsghdr, nlmsg_len), &length, sizeof length);
}

static void finish(struct message *message)
{
    claim_length(message, (uint32_t)message->length);
}

static void put_attribute(struct message *message, uint16_t type, const void *bytes, size_t length)
{
    struct nlattr attribute = { .nla_len = (uint16_t)(sizeof(struct nlattr) + length),
                                .nla_type = type };

    put(message, &attribute, sizeof attribute);
    put(message, bytes, length);
}

static void put_aggregate(struct message *message, bool process, uint32_t id,
                          const struct taskstats *stats, size_t length)
{
    char long_stats[1024] = { 0 };
    struct nlattr nest = {
        .nla_len = (uint16_t)(sizeof(struct nlattr) + 8 + sizeof(struct nlattr) + length),
        .nla_type = process ? TASKSTATS_TYPE_AGGR_TGID : TASKSTATS_TYPE_AGGR_PID,
    };

    memcpy(long_stats, stats, sizeof *stats < length ? sizeof *stats : length);
    put(message, &nest, sizeof nest);
    put_attribute(message, process ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID, &id, sizeof id);
    put_attribute(message, TASKSTATS_TYPE_STATS, long_stats, length);
}

static struct message begin_stats(uint32_t port)
{
    struct message message = begin(31, port);
    struct genlmsghdr header = { .cmd = TASKSTATS_CMD_NEW };

    put(&message, &header, sizeof header);
    return message;
}

static struct message error_message(int error)
{
    struct message message = begin(NLMSG_ERROR, 99);
    struct nlmsgerr answer = { .error = error };

    put(&message, &answer, sizeof answer);
    finish(&message);
    return message;
}

/* The statistics of a thread of process 40. It lived for 10 ms and waited for a CPU for 1 ms. */
static struct taskstats thread_stats(bool last)
{
    return (struct taskstats){
        .version = 16,
        .ac_flag = last ? AGROUP : 0,
        .cpu_count = 3,
        .cpu_delay_total = 1 * MS,
        .cpu_run_real_total = 4 * MS,
        .cpu_run_virtual_total = 6 * MS,
        .ac_comm = "a) b\nc",
        .ac_uid = 1000,
        .ac_pid = 41,
        .ac_ppid = 12,
        .ac_exitcode = 256,
        .ac_etime = 10000,
        .ac_btime64 = 1700000000,
        .nvcsw = 2,
        .ac_tgid = 40,
        .ac_tgetime = 3010000,
    };
}

static int read_exit(const struct message *message, struct camp_task_exit *exits, size_t *ret_count)
{
    uint16_t version;

    return camp_taskstats_exit(message->bytes, message->length, TICK, exits, ret_count, &version,
                               NULL);
}

static struct message exit_message(bool last, const struct taskstats *whole, size_t length)
{
    struct message message = begin_stats(0);
    struct taskstats stats = thread_stats(last);

    put_aggregate(&message, false, 41, &stats, length);
    if (whole != NULL)
        put_aggregate(&message, true, 40, whole, length);
    finish(&message);
    return message;
}

static void a_taskstats_answer_is_read_with_its_sequence_number(void **state)
{
    struct message message = begin_stats(99);
    struct taskstats stats = thread_stats(false);
    struct camp_taskstat task = { 0 };
    uint32_t sequence = 0;
    uint16_t version = 0;

    (void)state;
    put_aggregate(&message, true, 40, &stats, STATS_LENGTH);
    finish(&message);
    assert_false(camp_taskstats_is_notice(message.bytes, message.length));
    assert_int_equal(
        camp_taskstats_answer(message.bytes, message.length, &sequence, &task, &version, NULL),
        CAMP_OK);
    assert_int_equal(sequence, 7);
    assert_int_equal(version, 16);
    assert_int_equal(task.measured_ns, 6 * MS);
    assert_int_equal(task.sampled_ns, 4 * MS);
    assert_int_equal(task.run_delay_ns, 1 * MS);
    assert_int_equal(task.runs, 3);
    assert_int_equal(task.voluntary_switches, 2);
}

static void taskstats_reports_a_missing_process_as_gone(void **state)
{
    struct message message = error_message(-ESRCH);
    struct camp_taskstat task = { .pid = 5, .measured_ns = 1 };
    uint32_t sequence = 0;
    uint16_t version = 0;

    (void)state;
    assert_int_equal(
        camp_taskstats_answer(message.bytes, message.length, &sequence, &task, &version, NULL),
        CAMP_OK);
    assert_int_equal(task.result, CAMP_E_GONE);
    assert_int_equal(task.measured_ns, 0);
    assert_int_equal(sequence, 7);
}

static void without_permission_the_taskstats_error_names_the_missing_capability(void **state)
{
    struct message message = error_message(-EPERM);
    struct camp_taskstat task;
    struct camp_error error;
    uint32_t sequence;
    uint16_t version;

    (void)state;
    assert_int_equal(
        camp_taskstats_answer(message.bytes, message.length, &sequence, &task, &version, &error),
        CAMP_E_PERM);
    assert_non_null(strstr(error.message, "CAP_NET_ADMIN"));
    assert_int_equal(camp_taskstats_refusal(message.bytes, message.length, &error), CAMP_E_PERM);
}

static void a_kernel_without_taskstats_is_reported_as_not_supported(void **state)
{
    struct message message = error_message(-ENOENT);
    uint16_t family;

    (void)state;
    assert_int_equal(camp_taskstats_family(message.bytes, message.length, &family, NULL),
                     CAMP_E_NOTSUP);
}

static void the_exit_of_a_process_with_one_thread_has_one_record(void **state)
{
    struct message message = begin_stats(0);
    struct taskstats stats = thread_stats(true);
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count;

    (void)state;
    stats.ac_tgid = 41;
    put_aggregate(&message, false, 41, &stats, STATS_LENGTH);
    finish(&message);
    assert_true(camp_taskstats_is_notice(message.bytes, message.length));
    assert_int_equal(read_exit(&message, exits, &count), CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(exits[0].known, CAMP_TASK_EXIT_PROCESS);
    assert_int_equal(exits[0].pid, 41);
    assert_int_equal(exits[0].is_process, 1);
    assert_int_equal(exits[0].parent, 12);
    assert_int_equal(exits[0].user_id, 1000);
    assert_int_equal(exits[0].exit_code, 256);
    assert_int_equal(exits[0].elapsed_ns, 10 * MS);
    assert_int_equal(exits[0].began_s, 1700000000);
    assert_string_equal(exits[0].name, "a) b\nc");
}

static void the_exit_of_a_thread_does_not_end_a_process_with_other_threads(void **state)
{
    struct message message = exit_message(false, NULL, STATS_LENGTH);
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count;

    (void)state;
    assert_int_equal(read_exit(&message, exits, &count), CAMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(exits[0].known, CAMP_TASK_EXIT_PROCESS);
    assert_int_equal(exits[0].pid, 40);
    assert_int_equal(exits[0].tid, 41);
    assert_int_equal(exits[0].is_process, 0);
}

static void the_exit_of_the_last_thread_reports_the_thread_and_its_process(void **state)
{
    struct taskstats whole = { .cpu_run_virtual_total = 50 * MS, .cpu_run_real_total = 48 * MS };
    struct message message = exit_message(true, &whole, STATS_LENGTH);
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count;

    (void)state;
    assert_int_equal(read_exit(&message, exits, &count), CAMP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(exits[0].is_process, 0);
    assert_int_equal(exits[0].pid, 40);
    assert_int_equal(exits[1].known, CAMP_TASK_EXIT_PROCESS);
    assert_int_equal(exits[1].is_process, 1);
    assert_int_equal(exits[1].pid, 40);
    assert_int_equal(exits[1].tid, 40);
    assert_int_equal(exits[1].measured_ns, 50 * MS);
    assert_int_equal(exits[1].sampled_ns, 48 * MS);
    assert_int_equal(exits[1].elapsed_ns, 3010 * MS);
    assert_int_equal(exits[1].began_s, 1700000000 - 3);
}

static void at_most_ns_is_the_smaller_of_the_lifetime_and_one_tick_more_than_measured(void **state)
{
    struct message message = begin_stats(0);
    struct taskstats stats = thread_stats(true);
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count;

    (void)state;
    put_aggregate(&message, false, 41, &stats, STATS_LENGTH);
    finish(&message);
    assert_int_equal(read_exit(&message, exits, &count), CAMP_OK);
    assert_int_equal(exits[0].at_most_ns, 9 * MS); /* lifetime without run_delay_ns */
    message = begin_stats(0);
    stats.ac_etime = 500000;
    put_aggregate(&message, false, 41, &stats, STATS_LENGTH);
    finish(&message);
    assert_int_equal(read_exit(&message, exits, &count), CAMP_OK);
    assert_int_equal(exits[0].at_most_ns, 6 * MS + TICK);
}

static void the_exit_record_of_an_old_kernel_lacks_the_pid_of_the_process(void **state)
{
    struct message message = begin_stats(0);
    struct taskstats stats = thread_stats(false);
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count;

    (void)state;
    stats.version = 8;
    stats.ac_btime = 1600000000;
    put_aggregate(&message, false, 41, &stats, OLD_LENGTH);
    finish(&message);
    assert_int_equal(read_exit(&message, exits, &count), CAMP_OK);
    assert_int_equal(exits[0].known, 0);
    assert_int_equal(exits[0].pid, 0);
    assert_int_equal(exits[0].is_process, 0);
    assert_int_equal(exits[0].began_s, 1600000000);
    assert_int_equal(exits[0].measured_ns, 6 * MS);
}

static void taskstats_that_are_too_short_are_a_format_error(void **state)
{
    struct message message = exit_message(true, NULL, offsetof(struct taskstats, nvcsw));
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count;

    (void)state;
    assert_int_equal(read_exit(&message, exits, &count), CAMP_E_FORMAT);
}

static void a_truncated_taskstats_message_is_a_format_error(void **state)
{
    struct taskstats whole = thread_stats(true);
    struct message message = exit_message(true, &whole, STATS_LENGTH);
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count, length = message.length;

    (void)state;
    for (message.length = 0; message.length < length; message.length++)
        assert_int_equal(read_exit(&message, exits, &count), CAMP_E_FORMAT);
    assert_int_equal(read_exit(&message, exits, &count), CAMP_OK);
}

static void a_taskstats_message_with_a_false_length_is_a_format_error(void **state)
{
    struct message message = exit_message(true, NULL, STATS_LENGTH);
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t count;

    (void)state;
    claim_length(&message, UINT32_MAX);
    assert_int_equal(read_exit(&message, exits, &count), CAMP_E_FORMAT);
}

static void a_question_has_no_bytes_of_the_memory_that_it_is_written_to(void **state)
{
    _Alignas(8) char buffer[256];
    struct nlmsghdr *question;

    (void)state;
    memset(buffer, 'x', sizeof buffer);
    question = camp_taskstats_begin(buffer, 16, 3, 1);
    camp_netlink_put_text(question, 2, "0-4");
    camp_netlink_put_text(question, 2, "0-24");
    assert_null(memchr(buffer, 'x', question->nlmsg_len));
    assert_int_equal(buffer[question->nlmsg_len], 'x');
}

/* Writes `length` bytes to a file, and reads it as a list of CPUs. */
static int read_cpus(const char *text, size_t length, char *list, size_t capacity,
                     struct camp_error *error)
{
    char path[] = "/tmp/camp-test-XXXXXX";
    const int descriptor = mkstemp(path);
    int r;

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, length), length);
    close(descriptor);
    r = camp_taskstats_cpus(path, list, capacity, error);
    unlink(path);
    return r;
}

static void the_list_of_cpus_is_read_whole_or_refused(void **state)
{
    char text[CPU_LIST_SIZE], list[CPU_LIST_SIZE], expected[CPU_LIST_SIZE] = "";
    size_t length = 0;
    struct camp_error error;

    (void)state;
    assert_int_equal(read_cpus("0-8191\n", 7, list, sizeof list, NULL), CAMP_OK);
    assert_string_equal(list, "0-8191");
    assert_int_equal(read_cpus("\n", 1, list, sizeof list, NULL), CAMP_E_FORMAT);
    while (length < 4090)
        length += (size_t)sprintf(text + length, "%zu,", 1000 + 2 * (length / 5));
    memcpy(expected, text, length - 1);
    text[length - 1] = '\n';
    assert_int_equal(read_cpus(text, length, list, sizeof list, NULL), CAMP_OK);
    assert_string_equal(list, expected);
    assert_int_equal(read_cpus(text, length, list, length, &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "exit records"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taskstats_answer_is_read_with_its_sequence_number),
        cmocka_unit_test(taskstats_reports_a_missing_process_as_gone),
        cmocka_unit_test(without_permission_the_taskstats_error_names_the_missing_capability),
        cmocka_unit_test(a_kernel_without_taskstats_is_reported_as_not_supported),
        cmocka_unit_test(the_exit_of_a_process_with_one_thread_has_one_record),
        cmocka_unit_test(the_exit_of_a_thread_does_not_end_a_process_with_other_threads),
        cmocka_unit_test(the_exit_of_the_last_thread_reports_the_thread_and_its_process),
        cmocka_unit_test(at_most_ns_is_the_smaller_of_the_lifetime_and_one_tick_more_than_measured),
        cmocka_unit_test(the_exit_record_of_an_old_kernel_lacks_the_pid_of_the_process),
        cmocka_unit_test(taskstats_that_are_too_short_are_a_format_error),
        cmocka_unit_test(a_truncated_taskstats_message_is_a_format_error),
        cmocka_unit_test(a_taskstats_message_with_a_false_length_is_a_format_error),
        cmocka_unit_test(a_question_has_no_bytes_of_the_memory_that_it_is_written_to),
        cmocka_unit_test(the_list_of_cpus_is_read_whole_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
