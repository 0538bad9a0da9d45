/* Parses a netlink message of taskstats. No function here makes a system call. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Since this version (Linux 5.19), a record has the id of the task's process (ac_tgid) and the flag
 * AGROUP, which marks the last task of a process. */
#define TASKSTATS_VERSION_TGID 12

/* Linux 6.14 and the first 6.15 put new fields into the middle of the struct, so all later fields
 * moved. Version 16 has the new fields at the end again. */
#define TASKSTATS_VERSION_BROKEN 15

/* A message about the last thread of a process has two records: one of the thread and one of the
 * process. */
#define EXITS_PER_MESSAGE 2

/* True if the message is the record of an exited task. A record has nlmsg_pid 0, an answer has the
 * id of the requesting socket. Records may arrive without registration: a socket gets the pid of
 * its process as its id, and the kernel may still have a registration of an earlier socket with
 * this id. */
bool camp_taskstats_is_notice(const void *bytes, size_t length);

/* The functions below parse the message at `bytes`, which must be aligned to 4 bytes. Another kind
 * of message is CAMP_E_FORMAT. An error that the kernel sent is returned as its CAMP_E_*. */

/* Parses the netlink family id of taskstats. Returns CAMP_E_NOTSUP if the kernel has no such
 * family. */
int camp_taskstats_family(const void *bytes, size_t length, uint16_t *ret_family,
                          struct camp_error *error);

/* Parses an answer about a process. *ret_sequence becomes the sequence number of the question. If
 * the process does not exist, returns CAMP_OK with ret->result CAMP_E_GONE. ret->pid is not
 * changed. */
int camp_taskstats_answer(const void *bytes, size_t length, uint32_t *ret_sequence,
                          struct camp_taskstat *ret, uint16_t *ret_version,
                          struct camp_error *error);

/* Parses the one or two records of an exited task. The record of the thread comes first.
 * measured_ns may be too small by up to tick_ns. */
int camp_taskstats_exit(const void *bytes, size_t length, uint64_t tick_ns,
                        struct camp_task_exit *exits, size_t *ret_count, uint16_t *ret_version,
                        struct camp_error *error);

/* Returns CAMP_OK unless the message says that the kernel refuses to send records. */
int camp_taskstats_refusal(const void *bytes, size_t length, struct camp_error *error);
