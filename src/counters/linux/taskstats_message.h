/* Parses a netlink message of taskstats. No function here makes a system call. */
#pragma once

#include <camp/linux.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Linux 6.14 and the first 6.15 have new fields in the middle of the struct, so the fields after
 * them cannot be read. Version 16 has the new fields at the end. */
#define TASKSTATS_VERSION_BROKEN 15

/* The message about the last of several threads of a process has two records: one of the thread and
 * one of the process. */
#define EXITS_PER_MESSAGE 2

/* True if the message has records of an exited task: its nlmsg_pid is 0, while that of an answer is
 * the id of the socket. A session that does not listen may get records, too: the kernel knows
 * listeners by the id of their socket (usually the pid), and its list may still have a closed
 * socket with the same id. */
bool camp_taskstats_is_notice(const void *bytes, size_t length);

/* The functions below parse the message at `bytes`, which must be aligned to 4 bytes. They return
 * CAMP_E_FORMAT for an unexpected message, and the CAMP_E_* of an error that the kernel sent. */

/* Parses the netlink family id of taskstats. Returns CAMP_E_NOTSUP if the kernel has no such
 * family. */
int camp_taskstats_family(const void *bytes, size_t length, uint16_t *ret_family,
                          struct camp_error *error);

/* Parses an answer about a process. *ret_sequence becomes the sequence number of the question.
 * ret->result becomes CAMP_E_GONE if the process does not exist. ret->pid is not changed. */
int camp_taskstats_answer(const void *bytes, size_t length, uint32_t *ret_sequence,
                          struct camp_taskstat *ret, uint16_t *ret_version,
                          struct camp_error *error);

/* Parses the one or two records of an exited task. The record of the thread comes first. tick_ns is
 * needed for at_most_ns. */
int camp_taskstats_exit(const void *bytes, size_t length, uint64_t tick_ns,
                        struct camp_task_exit *exits, size_t *ret_count, uint16_t *ret_version,
                        struct camp_error *error);

/* Returns CAMP_OK unless the message says that the kernel refuses to send records. */
int camp_taskstats_refusal(const void *bytes, size_t length, struct camp_error *error);

#define CPU_LIST_SIZE 4098 /* a file of /sys has up to a page, which is 4 KiB on most machines */

/* Reads the list of CPUs in a file like /sys/devices/system/cpu/possible, as the kernel takes it
 * from a listener. Returns CAMP_E_NOTSUP if the file is too long for `capacity`: a part of the list
 * would be only some of the CPUs. */
int camp_taskstats_cpus(const char *path, char *list, size_t capacity, struct camp_error *error);
