/* Parsers of texts about the kernel, such as its configuration. No function here opens a file. */
#pragma once

#include "../text.h"

#include <stdbool.h>
#include <stdint.h>

/* ANSWER_YES or ANSWER_NO for an option of the configuration, ANSWER_UNKNOWN if it was not found.
 */
enum answer { ANSWER_UNKNOWN = -1, ANSWER_NO = 0, ANSWER_YES = 1 };

struct kernel_config {
    int8_t tick_accounting;
    int8_t gen_accounting;
    int8_t native_accounting;
    int8_t user_tracking_forced; /* CONTEXT_TRACKING_USER_FORCE, with which all CPUs are measured */
    int8_t irq_time;
    int8_t tickless;
    int8_t taskstats;
    int8_t delay_accounting;
};

#define KERNEL_CONFIG_UNKNOWN                                                                      \
    {                                                                                              \
        -1, -1, -1, -1, -1, -1, -1, -1                                                             \
    }

/* Parses a line of the configuration: "CONFIG_X=y" or "# CONFIG_X is not set". */
void camp_kernel_config_line(struct kernel_config *config, struct cursor line);

bool camp_kernel_has_word(struct cursor line, const char *word);

/* Parses a line of mountinfo. Returns 1 for a cgroup mount, 2 for a cgroup2 mount and 0 for any
 * other mount. */
int camp_kernel_cgroup_of_mount(struct cursor line);

/* Parses a line of timer_list. Returns whether the tick of a CPU may stop, or ANSWER_UNKNOWN if the
 * line is about something else. */
int camp_kernel_tickless_line(struct cursor line);

/* Parses the line "CapEff:" of /proc/PID/status, a hexadecimal number. Returns false for any other
 * line. */
bool camp_kernel_capabilities_line(struct cursor line, uint64_t *ret);

/* Copies a list of CPUs such as "1-3,5" to ret[capacity], without its newline. The kernel's
 * "(null)" becomes "". A list that does not fit is truncated and ends in "...". Returns false if
 * the text is not a list. */
bool camp_kernel_cpu_list(struct cursor text, char *ret, size_t capacity);

/* True if a release such as "6.18.44-x" is at least major.minor. */
bool camp_kernel_at_least(const char *release, uint64_t major, uint64_t minor);
