/*
 * Taskstats reports the sampled and the measured CPU time of a process in one message. It also
 * sends a record of each task that exits. Both arrive over a generic netlink socket.
 *
 * Theory. cpu_run_virtual_total is sum_exec_runtime, which the kernel measures at each context
 * switch and tick. While a task runs on another CPU, the value is up to one tick old.
 * cpu_run_real_total is utime + stime, which are charged at ticks, so it is sampled. (It is
 * measured on CPUs with nohz_full and on architectures with native accounting.) Since Linux 5.14
 * both times and the run delay are always filled. In earlier kernels they are zero after a boot
 * with nodelayacct; opening a session then fails with CAMP_E_NOTSUP.
 *
 * The answer about a process is the sum over its living and exited threads, but context switches
 * are of living threads only. For a zombie that had one thread, the kernel answers zeros. cpu_count
 * is 0 only for such a zombie, because any other process has run.
 *
 * When send(2) returns, all answers are already in the socket. So one send(2) carries many
 * questions, and one recvmmsg(2) receives the answers.
 *
 * taskstats_exit() sends the record of an exiting task before the kernel frees the task. The times
 * in the record end at the task's last tick or context switch; later CPU time is in no record. Camp
 * listens on every possible CPU, so CPUs that come online later are included.
 *
 * Source: kernel/taskstats.c, Documentation/accounting/taskstats.rst.
 */
#define _GNU_SOURCE 1 /* for recvmmsg() */

#include "taskstats_message.h"
#include "taskstats_socket.h"

#include "../clock.h"
#include "../error.h"
#include "file.h"
#include "netlink_message.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

/* In Linux 7.2 an answer has 744 bytes, and a message with two records has twice as many. */
#define ANSWER_SIZE 1280
#define RECORD_SIZE 2560
#define ANSWERS_AT_ONCE MESSAGES_AT_ONCE
#define RECORDS_AT_ONCE 16u
#define QUESTION_SIZE 28 /* bytes: two headers and one 32-bit attribute */

/* Holds about 13,000 records: a record of 600 bytes occupies 1280 to 2304 bytes of a socket buffer.
 * The kernel allocates the buffer only as it fills. */
#define LISTENER_BUFFER_BYTES (16 << 20)

/* Bits of camp_taskstats.listening. */
enum listening {
    NOT_LISTENING = 0,
    LISTENING = 1,
    /* The first record of the next message was already returned to the caller; the second did not
     * fit. */
    FIRST_RETURNED = 2,
    SOME_CPUS_RARELY_TICK = 4
};

/* The other bits are the pid of the process that made the session listen: pids have 22 bits. */
#define LISTENER_AT 3

/* On nohz_full CPUs, the kernel updates the running task about once a second, and warns if this
 * takes longer than 3 s (sched_tick_remote() in kernel/sched/core.c, since Linux 4.17). */
#define RARE_TICK_NS (3 * NS_PER_S)

static int resolve_family(struct camp_taskstats *taskstats, struct camp_error *error)
{
    _Alignas(8) char buffer[4096];
    struct nlmsghdr *question =
        camp_taskstats_begin(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, ++taskstats->sequence);
    ssize_t got;
    int result;

    camp_netlink_put_text(question, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
    result = camp_taskstats_send(taskstats->descriptor, buffer, question->nlmsg_len, error);
    if (result < 0)
        return result;
    do
        got = camp_taskstats_receive(taskstats->descriptor, buffer, sizeof buffer, 0);
    while (got >= 0 && camp_taskstats_is_notice(buffer, (size_t)got));
    if (got < 0)
        return camp_fail_errno(error, errno, "the list of netlink families");
    return camp_taskstats_family(buffer, (size_t)got, &taskstats->family, error);
}

/* Reads the taskstats of this process. The kernel checks the capabilities, and reports its version
 * of taskstats, only when it is asked about a process. */
static int try_out(struct camp_taskstats *taskstats, struct camp_error *error)
{
    int32_t own = (int32_t)getpid();
    struct camp_taskstat task;
    int result = camp_taskstats_read(taskstats, &own, 1, &task, sizeof task, error);

    if (result < 0)
        return result;
    if (taskstats->version == TASKSTATS_VERSION_BROKEN)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "taskstats version 15 (Linux 6.14) has its fields in other places; "
                         "use a kernel with a later stable update");
    if (task.result != CAMP_OK || task.runs == 0)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "taskstats does not count on this kernel; boot it without nodelayacct");
    return CAMP_OK;
}

int camp_taskstats_open(struct camp_taskstats *taskstats, struct camp_error *error)
{
    struct camp_taskstats opened = CAMP_TASKSTATS_NONE;
    int result;

    if (camp_is_null(error, taskstats))
        return CAMP_E_INVALID;
    result = camp_taskstats_connect(&opened.descriptor, error);
    if (result == CAMP_OK)
        result = resolve_family(&opened, error);
    if (result == CAMP_OK)
        result = try_out(&opened, error);
    if (result < 0)
        camp_taskstats_close(&opened);
    else
        *taskstats = opened;
    return result;
}

/* No acknowledgement is requested, because records could arrive before the acknowledgement. */
static int send_cpus(struct camp_taskstats *taskstats, uint16_t attribute, struct camp_error *error)
{
    _Alignas(8) char buffer[2 * CPU_LIST_SIZE];
    char cpus[CPU_LIST_SIZE];
    struct nlmsghdr *request;
    int result = camp_taskstats_cpus("/sys/devices/system/cpu/possible", cpus, sizeof cpus, error);

    if (result < 0)
        return result;
    request =
        camp_taskstats_begin(buffer, taskstats->family, TASKSTATS_CMD_GET, ++taskstats->sequence);
    camp_netlink_put_text(request, attribute, cpus);
    return camp_taskstats_send(taskstats->descriptor, buffer, request->nlmsg_len, error);
}

void camp_taskstats_close(struct camp_taskstats *taskstats)
{
    if (taskstats == NULL || taskstats->descriptor < 0)
        return;
    /* The child of fork(2) shares the socket, and must not end the listening of its parent. */
    if (taskstats->listening >> LISTENER_AT == (uint32_t)getpid())
        (void)send_cpus(taskstats, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK, NULL);
    close(taskstats->descriptor);
    *taskstats = (struct camp_taskstats)CAMP_TASKSTATS_NONE;
}

static size_t put_questions(const struct camp_taskstats *taskstats, const int32_t *pids,
                            size_t count, char *buffer, uint32_t first_sequence)
{
    size_t length = 0;

    for (size_t i = 0; i < count; i++) {
        struct nlmsghdr *question = camp_taskstats_begin(
            buffer + length, taskstats->family, TASKSTATS_CMD_GET, first_sequence + (uint32_t)i);

        camp_netlink_put_u32(question, TASKSTATS_CMD_ATTR_TGID, (uint32_t)pids[i]);
        length += question->nlmsg_len;
    }
    return length;
}

/* Receives some answers to `count` questions, whose numbers start at first_sequence. The answer to
 * question number `sequence` is stored in tasks[sequence - first_sequence]. */
static int take_answers(struct camp_taskstats *taskstats, uint32_t first_sequence, size_t count,
                        struct camp_taskstat *tasks, size_t *ret_taken, struct camp_error *error)
{
    _Alignas(8) char buffer[ANSWERS_AT_ONCE * ANSWER_SIZE];
    size_t lengths[ANSWERS_AT_ONCE];
    int got =
        camp_taskstats_receive_many(taskstats->descriptor, buffer, ANSWER_SIZE, count, lengths);

    if (got < 0)
        return camp_fail_errno(error, errno, "taskstats' answers");
    for (int i = 0; i < got; i++) {
        struct camp_taskstat task = { 0 };
        uint32_t sequence = first_sequence - 1;
        const char *message = buffer + (size_t)i * ANSWER_SIZE;
        int result;

        if (camp_taskstats_is_notice(message, lengths[i]))
            continue;
        result = camp_taskstats_answer(message, lengths[i], &sequence, &task, &taskstats->version,
                                       error);

        if (result < 0)
            return result;
        if (sequence - first_sequence >= count)
            continue; /* an answer to an earlier call, which failed */
        task.pid = tasks[sequence - first_sequence].pid;
        tasks[sequence - first_sequence] = task;
        ++*ret_taken;
    }
    return CAMP_OK;
}

static int ask(struct camp_taskstats *taskstats, const int32_t *pids, size_t count,
               struct camp_taskstat *tasks, struct camp_error *error)
{
    _Alignas(8) char questions[ANSWERS_AT_ONCE * QUESTION_SIZE];
    uint32_t first_sequence = taskstats->sequence + 1;
    size_t length = put_questions(taskstats, pids, count, questions, first_sequence);
    size_t taken = 0;
    int result;

    for (size_t i = 0; i < count; i++)
        tasks[i] = (struct camp_taskstat){ .pid = pids[i], .result = CAMP_E_IO };
    taskstats->sequence += (uint32_t)count;
    result = camp_taskstats_send(taskstats->descriptor, questions, length, error);
    while (result == CAMP_OK && taken < count)
        result = take_answers(taskstats, first_sequence, count, tasks, &taken, error);
    return result;
}

int camp_taskstats_read(struct camp_taskstats *taskstats, const int32_t *pids, size_t count,
                        struct camp_taskstat *tasks, size_t size, struct camp_error *error)
{
    struct camp_taskstat batch[ANSWERS_AT_ONCE];
    size_t done = 0;

    if (camp_is_null(error, taskstats) || (count > 0 && camp_is_null(error, pids, tasks)))
        return CAMP_E_INVALID;
    if (count > 0 && size == 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "size must be larger than 0");
    if (taskstats->descriptor < 0 || taskstats->listening != NOT_LISTENING)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "not a taskstats session for questions; open one that does not listen");
    while (done < count) {
        size_t now = count - done < ANSWERS_AT_ONCE ? count - done : ANSWERS_AT_ONCE;
        int result = ask(taskstats, pids + done, now, batch, error);

        if (result < 0)
            return result;
        for (size_t i = 0; i < now; i++)
            camp_hand_out((char *)tasks + (done + i) * size, size, &batch[i], sizeof batch[i]);
        done += now;
    }
    return CAMP_OK;
}

static void enlarge_buffer(int descriptor)
{
    const int bytes = LISTENER_BUFFER_BYTES;

    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/* The kernel answers only if it refuses to register the socket. The first message is read with
 * MSG_PEEK, because it may be a record, which must stay in the socket. */
static int register_listener(struct camp_taskstats *taskstats, struct camp_error *error)
{
    _Alignas(8) char buffer[RECORD_SIZE];
    ssize_t got;
    int result = send_cpus(taskstats, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, error);

    if (result < 0)
        return result;
    got = camp_taskstats_receive(taskstats->descriptor, buffer, sizeof buffer, MSG_PEEK);
    return got < 0 ? CAMP_OK : camp_taskstats_refusal(buffer, (size_t)got, error);
}

static bool has_nohz_full_cpus(void)
{
    char list[CAMP_NAME_SIZE];
    size_t length = 0;

    /* A kernel without such CPUs shows an empty line or "(null)". */
    return camp_read_file_once("/sys/devices/system/cpu/nohz_full", list, sizeof list, &length,
                               NULL) == CAMP_OK &&
           length > 0 && list[0] >= '0' && list[0] <= '9';
}

int camp_taskstats_listen(struct camp_taskstats *taskstats, struct camp_error *error)
{
    int result;

    if (camp_is_null(error, taskstats))
        return CAMP_E_INVALID;
    if (taskstats->descriptor < 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "taskstats is not open: open it first");
    if (taskstats->listening != NOT_LISTENING)
        return CAMP_OK;
    enlarge_buffer(taskstats->descriptor);
    result = register_listener(taskstats, error);
    if (result == CAMP_OK)
        taskstats->listening = LISTENING | (has_nohz_full_cpus() ? SOME_CPUS_RARELY_TICK : 0) |
                               (uint32_t)getpid() << LISTENER_AT;
    return result;
}

/* Linux before 4.12 does not report the number of dropped messages, so each overflow counts as one
 * dropped message. */
static void count_overruns(struct camp_taskstats *taskstats, bool is_overflow)
{
    uint32_t information[SK_MEMINFO_VARS] = { 0 };
    socklen_t length = sizeof information;

    if (getsockopt(taskstats->descriptor, SOL_SOCKET, SO_MEMINFO, information, &length) == 0 &&
        length > SK_MEMINFO_DROPS * sizeof information[0])
        /* The kernel counts in 32 bits, so the difference is calculated in 32 bits. */
        taskstats->overruns += information[SK_MEMINFO_DROPS] - (uint32_t)taskstats->overruns;
    else if (is_overflow)
        taskstats->overruns++;
}

/* Called if no message was received. Returns 1 to receive again after an overflow, 0 if no message
 * waits, and a negative result after a failure. */
static int after_no_message(struct camp_taskstats *taskstats, struct camp_error *error)
{
    if (errno == EAGAIN)
        return 0;
    if (errno != ENOBUFS)
        return camp_fail_errno(error, errno, "taskstats' records");
    count_overruns(taskstats, true);
    return 1;
}

/* Returns the longest time between two ticks of a running task. The kernel updates
 * CLOCK_MONOTONIC_COARSE at each tick, so its resolution is the length of a tick. */
static uint64_t tick_ns(const struct camp_taskstats *taskstats)
{
    struct timespec tick;

    if ((taskstats->listening & SOME_CPUS_RARELY_TICK) != 0)
        return RARE_TICK_NS;
    return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? ns_of_timespec(tick) : 0;
}

/* Copies the records of a message, except a first record that was already returned. */
static int put_message(struct camp_taskstats *taskstats, const void *bytes, size_t length,
                       struct camp_output *output, struct camp_error *error)
{
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    size_t first = (taskstats->listening & FIRST_RETURNED) != 0 ? 1 : 0;
    size_t count;
    int result = camp_taskstats_exit(bytes, length, tick_ns(taskstats), exits, &count,
                                     &taskstats->version, error);

    taskstats->listening &= ~(uint32_t)FIRST_RETURNED;
    if (result < 0)
        return result;
    for (size_t i = first; i < count && output->count < output->capacity; i++)
        camp_output_add(output, &exits[i], sizeof exits[i]);
    return CAMP_OK;
}

/* Receives as many messages as there is space for, with two records each, in one system call. */
static int take_many(struct camp_taskstats *taskstats, struct camp_output *output,
                     struct camp_error *error)
{
    _Alignas(8) char buffer[RECORDS_AT_ONCE * RECORD_SIZE];
    size_t lengths[RECORDS_AT_ONCE];
    size_t room = (output->capacity - output->count) / EXITS_PER_MESSAGE;
    int got = camp_taskstats_receive_many(taskstats->descriptor, buffer, RECORD_SIZE,
                                          room < RECORDS_AT_ONCE ? room : RECORDS_AT_ONCE, lengths);
    int result = CAMP_OK;

    if (got < 0)
        return after_no_message(taskstats, error);
    for (int i = 0; i < got; i++) {
        int one = put_message(taskstats, buffer + (size_t)i * RECORD_SIZE, lengths[i], output,
                              result < 0 ? NULL : error);

        result = result < 0 ? result : one;
    }
    return result < 0 ? result : got > 0;
}

/* Receives a message if there is space for one record only. If the message has two records, the
 * first is returned, and the message stays in the socket for the next call. */
static int take_last(struct camp_taskstats *taskstats, struct camp_output *output,
                     struct camp_error *error)
{
    _Alignas(8) char buffer[RECORD_SIZE];
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    uint16_t version;
    size_t count;
    ssize_t got = camp_taskstats_receive(taskstats->descriptor, buffer, sizeof buffer, MSG_PEEK);

    if (got < 0)
        return after_no_message(taskstats, error);
    if ((taskstats->listening & FIRST_RETURNED) == 0 &&
        camp_taskstats_exit(buffer, (size_t)got, tick_ns(taskstats), exits, &count, &version,
                            NULL) == CAMP_OK &&
        count > 1) {
        camp_output_add(output, &exits[0], sizeof exits[0]);
        taskstats->listening |= FIRST_RETURNED;
        return 1;
    }
    got = camp_taskstats_receive(taskstats->descriptor, buffer, sizeof buffer, 0);
    if (got < 0)
        return after_no_message(taskstats, error);
    return put_message(taskstats, buffer, (size_t)got, output, error) < 0 ? CAMP_E_FORMAT : 1;
}

int camp_taskstats_exits(struct camp_taskstats *taskstats, struct camp_task_exit *exits,
                         size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { exits, size, capacity, 0 };
    int more = 1;

    if (camp_is_null(error, taskstats, exits, ret_count))
        return CAMP_E_INVALID;
    if (taskstats->descriptor < 0 || taskstats->listening == NOT_LISTENING)
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "this taskstats session does not listen: make it listen first");
    if (size == 0 || capacity == 0)
        return camp_fail(error, CAMP_E_INVALID, 0, "size and capacity must be larger than 0");
    while (more > 0 && output.count < capacity) {
        if (capacity - output.count < EXITS_PER_MESSAGE)
            more = take_last(taskstats, &output, error);
        else
            more = take_many(taskstats, &output, error);
    }
    count_overruns(taskstats, false);
    *ret_count = output.count;
    return more < 0 ? more : CAMP_OK;
}
