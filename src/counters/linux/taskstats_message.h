/* Taskstats: parses the bytes of one netlink message into structs. No system call is made here. */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From this version on (Linux 5.19), a record has the id of the task's process (ac_tgid), and a
 * flag if the task was the last of the process (AGROUP). */
#define TASKSTATS_VERSION_TGID 12

/* Linux 6.14 and the first 6.15 put new fields into the middle of the struct, which moved all that
 * followed; version 16 took them back to the end. */
#define TASKSTATS_VERSION_BROKEN 15

/* One message of the kernel may hold the records of one thread and of the process whose last thread
 * it was. */
#define EXITS_PER_MESSAGE 2

/* Is it an unrequested message, the record of an exited task? An answer has the number of the
 * requesting socket. The kernel keeps a listener that did not deregister, and sends records to the
 * next socket with its number (the process's id). */
bool camp_taskstats_is_notice(const void *bytes, size_t length);

/* Each parses the message at `bytes`, which must be aligned to 4 bytes. CAMP_E_FORMAT: not such a
 * message. CAMP_E_PERM, CAMP_E_GONE, ...: the kernel's answer. */

/* Parses the answer to the query for the netlink family id of TASKSTATS. CAMP_E_NOTSUP: this kernel
 * has no such family. */
int camp_taskstats_family(const void *bytes, size_t length, uint16_t *ret_family,
                          struct camp_error *error);

/* Parses the answer to a question about a process. *ret_sequence: the sequence number of the
 * question. The answer "no such process" is CAMP_OK, with ret->result CAMP_E_GONE. ret->pid is not
 * changed. */
int camp_taskstats_answer(const void *bytes, size_t length, uint32_t *ret_sequence,
                          struct camp_taskstat *ret, uint16_t *ret_version,
                          struct camp_error *error);

/* Parses the record or records of an exited task into exits[EXITS_PER_MESSAGE], the thread first.
 * tick_ns: the possible age of measured_ns. */
int camp_taskstats_exit(const void *bytes, size_t length, uint64_t tick_ns,
                        struct camp_task_exit *exits, size_t *ret_count, uint16_t *ret_version,
                        struct camp_error *error);

/* CAMP_OK: the message is not the kernel's refusal to send records. */
int camp_taskstats_refusal(const void *bytes, size_t length, struct camp_error *error);
