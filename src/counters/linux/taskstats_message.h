/* Taskstats: from the bytes of one netlink message to structs. No system call is made here. */
#ifndef CAMP_COUNTERS_LINUX_TASKSTATS_MESSAGE_H
#define CAMP_COUNTERS_LINUX_TASKSTATS_MESSAGE_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Since this version (Linux 5.19) a record names its process (ac_tgid), and says whether it is the
 * last of it (AGROUP). */
#define TASKSTATS_VERSION_TGID 12

/* Linux 6.14 and the first 6.15 put new fields into the middle of the struct, which moved all that
 * followed; version 16 took them back to the end. */
#define TASKSTATS_VERSION_BROKEN 15

/* One message of the kernel may hold records of one thread, and of the process it was the last of.
 */
#define EXITS_PER_MESSAGE 2

/* Whether the kernel sent this unasked: a record of a task that ended. An answer bears the number
 * of the socket that asked. The kernel keeps a listener that did not say goodbye, and sends records
 * to whatever socket gets its number (the process' id) next. */
bool camp_taskstats_is_notice(const void *bytes, size_t length);

/* Each of these takes the message at `bytes`, which must be aligned to 4 bytes. CAMP_E_FORMAT:
 * it is not such a message. CAMP_E_PERM, CAMP_E_GONE, ...: the kernel answered so. */

/* The answer to "which number has the family TASKSTATS?". CAMP_E_NOTSUP: it has none here. */
int camp_taskstats_family(const void *bytes, size_t length, uint16_t *ret_family,
                          struct camp_error *error);

/* The answer to a question about a process. *ret_sequence: of the question. The answer "no such
 * process" is CAMP_OK, with ret->result CAMP_E_GONE. ret->pid is left alone. */
int camp_taskstats_answer(const void *bytes, size_t length, uint32_t *ret_sequence,
                          struct camp_taskstat *ret, uint16_t *ret_version,
                          struct camp_error *error);

/* The record or records of a task that ended, into exits[EXITS_PER_MESSAGE]: the thread first.
 * tick_ns: how old measured_ns can be. */
int camp_taskstats_exit(const void *bytes, size_t length, uint64_t tick_ns,
                        struct camp_task_exit *exits, size_t *ret_count, uint16_t *ret_version,
                        struct camp_error *error);

/* CAMP_OK when this is not the kernel's refusal to let us listen. */
int camp_taskstats_refusal(const void *bytes, size_t length, struct camp_error *error);

#endif
