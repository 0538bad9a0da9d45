/* Parsers of texts about the kernel: its configuration, command line, mounts. No file is read here.
 */
#pragma once

#include "../text.h"

#include <stdbool.h>
#include <stdint.h>

/* A word of the configuration: not seen, "is not set", "=y". */
enum answer { ANSWER_UNKNOWN = -1, ANSWER_NO = 0, ANSWER_YES = 1 };

struct kernel_config {
    int8_t tick_accounting;
    int8_t gen_accounting;
    int8_t native_accounting;
    int8_t user_tracking_forced; /* CONTEXT_TRACKING_USER_FORCE: GEN measures on every CPU */
    int8_t irq_time;
    int8_t tickless;
    int8_t taskstats;
    int8_t delay_accounting;
};

#define KERNEL_CONFIG_UNKNOWN                                                                      \
    {                                                                                              \
        -1, -1, -1, -1, -1, -1, -1, -1                                                             \
    }

/* Takes one line of a .config: "CONFIG_X=y" or "# CONFIG_X is not set". */
void camp_kernel_config_line(struct kernel_config *config, struct cursor line);

/* Is `word` one of the blank-separated words of the command line? */
bool camp_kernel_has_word(struct cursor line, const char *word);

/* Parses a line of mountinfo. Returns 1 for a cgroup mount, 2 for a cgroup2 mount, 0 for another.
 */
int camp_kernel_cgroup_of_mount(struct cursor line);

/* Parses a line of timer_list. ANSWER_YES: a CPU's tick may stop; ANSWER_NO: it may not;
 * ANSWER_UNKNOWN: any other line. */
int camp_kernel_tickless_line(struct cursor line);

/* Parses the line "CapEff:" of status, with its hexadecimal number. False: any other line. */
bool camp_kernel_capabilities_line(struct cursor line, uint64_t *ret);

/* Copies a list of CPUs ("1-3,5") that ends in a newline into ret[capacity]; empty for "" and
 * "(null)", which the kernel writes for none. A list that does not fit ends in "...". False: not a
 * list. */
bool camp_kernel_cpu_list(struct cursor text, char *ret, size_t capacity);

/* Whether "6.18.44-x" is at least major.minor. */
bool camp_kernel_at_least(const char *release, uint64_t major, uint64_t minor);
