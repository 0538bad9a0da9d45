/*
 * Parses taskstats messages: generic netlink attributes around a struct taskstats.
 *
 * Sources: kernel/taskstats.c (mk_reply, taskstats_exit), kernel/delayacct.c (delayacct_add_tsk),
 * kernel/tsacct.c (bacct_add_tsk).
 *
 * New kernels append fields to the struct. It has 328 bytes in version 8, 560 bytes in Linux 6.18
 * and 688 bytes in Linux 7.2. So its length is taken from the attribute, not from sizeof. The
 * struct in the message is aligned to 4 bytes, not 8, so it is copied before its fields are read.
 *
 * When a task exits, the kernel sends one of these messages:
 * - If its process never had a second thread: AGGR_PID with the flag AGROUP in ac_flag.
 * - If other threads of its process still live: AGGR_PID without AGROUP, also for the leader.
 * - If it is the last of several threads of its process: AGGR_PID with AGROUP, and AGGR_TGID.
 *
 * AGGR_TGID has the sums over all threads, but only of CPU times and delays. Before taskstats
 * version 12 there is no AGROUP, so the first and the second message look the same.
 */
#include "taskstats_message.h"

#include "../error.h"
#include "../text.h"
#include "../units.h"
#include "file.h"
#include "netlink_message.h"

#include <errno.h>
#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <string.h>

#ifndef AGROUP
#define AGROUP 0x20
#endif

/* Fields after nivcsw are optional. */
#define NEEDED_LENGTH (offsetof(struct taskstats, nivcsw) + sizeof(__u64))

/* A 32-bit program and a 64-bit kernel use the same layout. */
_Static_assert(offsetof(struct taskstats, nivcsw) == 280, "the layout of the kernel");

static int malformed(struct camp_error *error, const char *what)
{
    return camp_fail(error, CAMP_E_FORMAT, 0, "taskstats: %s; please report it with uname -a",
                     what);
}

static int check_message(const struct nlmsghdr *message, size_t length, struct camp_error *error)
{
    if (length < sizeof *message || message->nlmsg_len < sizeof *message ||
        message->nlmsg_len > length)
        return malformed(error, "a truncated message");
    return CAMP_OK;
}

/* Returns the errno of an error message, 0 for an acknowledgement, and -1 for any other message. */
static int errno_of_message(const struct nlmsghdr *message)
{
    struct nlmsgerr answer;

    if (message->nlmsg_type != NLMSG_ERROR ||
        camp_netlink_payload_length(message) < sizeof answer.error)
        return -1;
    memcpy(&answer.error, camp_netlink_payload(message), sizeof answer.error);
    return answer.error <= 0 && answer.error > -4096 ? -answer.error : -1;
}

static int refused(int system_error, const char *what, struct camp_error *error)
{
    if (system_error == EPERM)
        return camp_fail(error, CAMP_E_PERM, EPERM,
                         "taskstats needs CAP_NET_ADMIN in the initial "
                         "namespaces" CAMP_ADVICE_PRIVILEGE);
    return camp_fail_errno(error, system_error, what);
}

static bool has_attributes(const struct nlmsghdr *message)
{
    return camp_netlink_payload_length(message) >= sizeof(struct genlmsghdr);
}

static struct camp_netlink_attributes attributes_of(const struct nlmsghdr *message)
{
    return camp_netlink_attributes(message, sizeof(struct genlmsghdr));
}

int camp_taskstats_family(const void *bytes, size_t length, uint16_t *ret_family,
                          struct camp_error *error)
{
    const struct nlmsghdr *message = bytes;
    const struct nlattr *attribute;
    struct camp_netlink_attributes rest;
    int system_error;
    int result = check_message(message, length, error);

    if (result < 0)
        return result;
    system_error = errno_of_message(message);
    if (system_error == ENOENT)
        return camp_fail(error, CAMP_E_NOTSUP, ENOENT,
                         "this kernel, or this network namespace, has no taskstats; build it with "
                         "CONFIG_TASKSTATS, or run in the initial namespace");
    if (system_error > 0)
        return refused(system_error, "taskstats", error);
    if (message->nlmsg_type != GENL_ID_CTRL || !has_attributes(message))
        return malformed(error, "an answer that names no family");
    rest = attributes_of(message);
    while ((attribute = camp_netlink_next(&rest)) != NULL) {
        if (camp_netlink_type(attribute) != CTRL_ATTR_FAMILY_ID)
            continue;
        if (camp_netlink_value_length(attribute) < sizeof(uint16_t))
            break;
        memcpy(ret_family, camp_netlink_value(attribute), sizeof *ret_family);
        return CAMP_OK;
    }
    return malformed(error, "an answer that names no family");
}

int camp_taskstats_refusal(const void *bytes, size_t length, struct camp_error *error)
{
    const struct nlmsghdr *message = bytes;
    int system_error;
    int result = check_message(message, length, error);

    if (result < 0)
        return result;
    system_error = errno_of_message(message);
    if (system_error == EINVAL)
        return camp_fail(error, CAMP_E_PERM, EINVAL,
                         "records of tasks that end are for the initial pid and user namespace "
                         "only; run camp outside of the container");
    return system_error <= 0 ? CAMP_OK : refused(system_error, "listening to taskstats", error);
}

struct aggregate {
    uint32_t id;
    size_t length; /* bytes of `stats` in the message; 0 if the message has none */
    struct taskstats stats;
};

static bool read_aggregate(const struct nlattr *nest, struct aggregate *ret)
{
    struct camp_netlink_attributes rest = camp_netlink_nested(nest);
    const struct nlattr *attribute;
    bool has_id = false;

    *ret = (struct aggregate){ 0 };
    while ((attribute = camp_netlink_next(&rest)) != NULL) {
        uint16_t type = camp_netlink_type(attribute);
        size_t length = camp_netlink_value_length(attribute);

        if ((type == TASKSTATS_TYPE_PID || type == TASKSTATS_TYPE_TGID) &&
            length >= sizeof(uint32_t)) {
            memcpy(&ret->id, camp_netlink_value(attribute), sizeof ret->id);
            has_id = true;
        } else if (type == TASKSTATS_TYPE_STATS) {
            size_t known = length < sizeof ret->stats ? length : sizeof ret->stats;

            memcpy(&ret->stats, camp_netlink_value(attribute), known);
            ret->length = length;
        }
    }
    return has_id && ret->length >= NEEDED_LENGTH;
}

/* A message has AGGR_PID (for *thread), AGGR_TGID (for *process) or both. If one is missing, its
 * length becomes 0. */
static int read_aggregates(const struct nlmsghdr *message, struct aggregate *thread,
                           struct aggregate *process, struct camp_error *error)
{
    const struct nlattr *nest;
    struct camp_netlink_attributes rest;

    thread->length = 0;
    process->length = 0;
    if (message->nlmsg_type < NLMSG_MIN_TYPE || !has_attributes(message))
        return malformed(error, "a message without statistics");
    rest = attributes_of(message);
    while ((nest = camp_netlink_next(&rest)) != NULL) {
        uint16_t type = camp_netlink_type(nest);

        if (type == TASKSTATS_TYPE_AGGR_PID && !read_aggregate(nest, thread))
            return malformed(error, "statistics that are too short");
        if (type == TASKSTATS_TYPE_AGGR_TGID && !read_aggregate(nest, process))
            return malformed(error, "statistics that are too short");
    }
    if (thread->length == 0 && process->length == 0)
        return malformed(error, "a message without statistics");
    return CAMP_OK;
}

bool camp_taskstats_is_notice(const void *bytes, size_t length)
{
    const struct nlmsghdr *message = bytes;

    return length >= sizeof *message && message->nlmsg_pid == 0;
}

int camp_taskstats_answer(const void *bytes, size_t length, uint32_t *ret_sequence,
                          struct camp_taskstat *ret, uint16_t *ret_version,
                          struct camp_error *error)
{
    const struct nlmsghdr *message = bytes;
    struct aggregate thread, process;
    const struct taskstats *stats = &process.stats;
    int system_error;
    int result = check_message(message, length, error);

    if (result < 0)
        return result;
    *ret_sequence = message->nlmsg_seq;
    system_error = errno_of_message(message);
    if (system_error == ESRCH) {
        *ret = (struct camp_taskstat){ .pid = ret->pid, .result = CAMP_E_GONE };
        return CAMP_OK;
    }
    if (system_error > 0)
        return refused(system_error, "taskstats", error);
    result = read_aggregates(message, &thread, &process, error);
    if (result < 0)
        return result;
    if (process.length == 0)
        return malformed(error, "an answer about a thread to a question about a process");
    ret->result = CAMP_OK;
    ret->measured_ns = stats->cpu_run_virtual_total;
    ret->sampled_ns = stats->cpu_run_real_total;
    ret->run_delay_ns = stats->cpu_delay_total;
    ret->runs = stats->cpu_count;
    ret->voluntary_switches = stats->nvcsw;
    ret->involuntary_switches = stats->nivcsw;
    *ret_version = stats->version;
    return CAMP_OK;
}

static bool reaches(const struct aggregate *aggregate, size_t end)
{
    return aggregate->length >= end;
}

#define HAS(aggregate, field)                                                                      \
    reaches(aggregate, offsetof(struct taskstats, field) + sizeof(((struct taskstats *)0)->field))

static void fill_times(struct camp_task_exit *exit, const struct taskstats *stats)
{
    exit->measured_ns = stats->cpu_run_virtual_total;
    exit->sampled_ns = stats->cpu_run_real_total;
    exit->run_delay_ns = stats->cpu_delay_total;
}

/* An upper limit of the task's CPU time: the measured time plus one tick, but no more than its
 * lifetime minus its time in the run queue. */
static uint64_t at_most(const struct camp_task_exit *exit, uint64_t tick_ns)
{
    uint64_t most = exit->measured_ns + tick_ns;

    if (exit->elapsed_ns >= exit->run_delay_ns && exit->elapsed_ns - exit->run_delay_ns < most)
        most = exit->elapsed_ns - exit->run_delay_ns;
    return most > exit->measured_ns ? most : exit->measured_ns;
}

static void fill_task(struct camp_task_exit *exit, const struct aggregate *task, uint64_t tick_ns)
{
    const struct taskstats *stats = &task->stats;
    struct cursor name = cursor_of(stats->ac_comm, strnlen(stats->ac_comm, sizeof stats->ac_comm));

    *exit = (struct camp_task_exit){
        .tid = (int32_t)task->id,
        .parent = (int32_t)stats->ac_ppid,
        .user_id = stats->ac_uid,
        .exit_code = stats->ac_exitcode,
        .elapsed_ns = stats->ac_etime * NS_PER_US,
        .voluntary_switches = stats->nvcsw,
        .began_s = HAS(task, ac_btime64) ? stats->ac_btime64 : stats->ac_btime,
    };
    fill_times(exit, stats);
    exit->at_most_ns = at_most(exit, tick_ns);
    camp_text_copy(exit->name, sizeof exit->name, name);
}

/* Turns *exit from the record of the last thread into the record of its process. For the process,
 * the kernel sends only CPU times and delays, and in newer versions its age (ac_tgetime), from
 * which its start is calculated. */
static void fill_process(struct camp_task_exit *exit, const struct aggregate *process,
                         const struct aggregate *last_thread)
{
    const struct taskstats *stats = &last_thread->stats;
    uint64_t unseen_ns = exit->at_most_ns - exit->measured_ns;

    fill_times(exit, &process->stats);
    exit->at_most_ns = exit->measured_ns + unseen_ns;
    exit->tid = exit->pid;
    exit->is_process = 1;
    if (HAS(last_thread, ac_tgetime) && stats->ac_tgetime >= stats->ac_etime) {
        exit->began_s -= (stats->ac_tgetime - stats->ac_etime) / (NS_PER_S / NS_PER_US);
        exit->elapsed_ns = stats->ac_tgetime * NS_PER_US;
    }
}

int camp_taskstats_exit(const void *bytes, size_t length, uint64_t tick_ns,
                        struct camp_task_exit *exits, size_t *ret_count, uint16_t *ret_version,
                        struct camp_error *error)
{
    const struct nlmsghdr *message = bytes;
    struct aggregate task, process;
    int result = check_message(message, length, error);

    if (result == CAMP_OK)
        result = read_aggregates(message, &task, &process, error);
    if (result < 0)
        return result;
    if (task.length == 0)
        return malformed(error, "a process' record without that of its last thread");
    fill_task(&exits[0], &task, tick_ns);
    if (process.length != 0) {
        exits[0].pid = (int32_t)process.id;
        exits[0].known = CAMP_TASK_EXIT_PROCESS;
        exits[1] = exits[0];
        fill_process(&exits[1], &process, &task);
    } else if (task.stats.version >= CAMP_TASKSTATS_WITH_PROCESSES && HAS(&task, ac_tgid)) {
        exits[0].pid = (int32_t)task.stats.ac_tgid;
        exits[0].known = CAMP_TASK_EXIT_PROCESS;
        exits[0].is_process = (task.stats.ac_flag & AGROUP) != 0;
    }
    *ret_count = process.length != 0 ? 2 : 1;
    *ret_version = task.stats.version;
    return CAMP_OK;
}

int camp_taskstats_cpus(const char *path, char *list, size_t capacity, struct camp_error *error)
{
    size_t length;
    int result = camp_read_file_once(path, list, capacity - 1, &length, error);

    if (result < 0)
        return result;
    if (length == capacity - 1)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "%s has over %zu bytes: exit records of so many separate CPUs cannot be "
                         "requested",
                         path, capacity - 2);
    while (length > 0 && (list[length - 1] == '\n' || list[length - 1] == '\0'))
        length--;
    list[length] = '\0';
    return length > 0 ? CAMP_OK : camp_fail(error, CAMP_E_FORMAT, 0, "%s is empty", path);
}
