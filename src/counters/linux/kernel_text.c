#include "kernel_text.h"

#include <stddef.h>

static const struct {
    const char *name;
    size_t offset;
} config_words[] = {
    { "TICK_CPU_ACCOUNTING", offsetof(struct kernel_config, tick_accounting) },
    { "VIRT_CPU_ACCOUNTING_GEN", offsetof(struct kernel_config, gen_accounting) },
    { "VIRT_CPU_ACCOUNTING_NATIVE", offsetof(struct kernel_config, native_accounting) },
    { "CONTEXT_TRACKING_USER_FORCE", offsetof(struct kernel_config, user_tracking_forced) },
    { "CONTEXT_TRACKING_FORCE", offsetof(struct kernel_config, user_tracking_forced) },
    { "IRQ_TIME_ACCOUNTING", offsetof(struct kernel_config, irq_time) },
    { "NO_HZ_COMMON", offsetof(struct kernel_config, tickless) },
    { "TASKSTATS", offsetof(struct kernel_config, taskstats) },
    { "TASK_DELAY_ACCT", offsetof(struct kernel_config, delay_accounting) },
};

void camp_kernel_config_line(struct kernel_config *config, struct cursor line)
{
    bool negated = text_prefix(&line, "# ");
    struct cursor rest;

    if (!text_prefix(&line, "CONFIG_"))
        return;
    for (size_t i = 0; i < sizeof config_words / sizeof config_words[0]; i++) {
        int8_t *answer = (int8_t *)((char *)config + config_words[i].offset);

        rest = line;
        if (!text_prefix(&rest, config_words[i].name))
            continue;
        if (negated && text_prefix(&rest, " is not set"))
            *answer = ANSWER_NO;
        else if (!negated && text_prefix(&rest, "=y"))
            *answer = ANSWER_YES;
    }
}

static bool same(struct cursor word, const char *text)
{
    return cursor_left(&word) == strlen(text) && text_prefix(&word, text);
}

bool camp_kernel_has_word(struct cursor line, const char *word)
{
    struct cursor found;

    while (camp_text_word(&line, &found)) {
        if (found.at < found.end && found.end[-1] == '\n')
            found.end--;
        if (same(found, word))
            return true;
    }
    return false;
}

/* In mountinfo, the type of the file system is the word after "-". A path cannot contain the word
 * "-", because blanks in paths are written in octal. */
int camp_kernel_cgroup_of_mount(struct cursor line)
{
    struct cursor word;

    while (camp_text_word(&line, &word)) {
        if (!same(word, "-"))
            continue;
        if (!camp_text_word(&line, &word))
            return 0;
        return same(word, "cgroup") ? 1 : same(word, "cgroup2") ? 2 : 0;
    }
    return 0;
}

/* The line is "  .nohz           : 1", or before Linux 6.9 "  .nohz_mode      : 2". The number 0
 * means that the tick never stops. */
int camp_kernel_tickless_line(struct cursor line)
{
    struct cursor word;
    uint64_t mode;

    if (!camp_text_word(&line, &word) || (!same(word, ".nohz") && !same(word, ".nohz_mode")))
        return ANSWER_UNKNOWN;
    if (!camp_text_word(&line, &word) || !same(word, ":") || !text_u64(&line, &mode))
        return ANSWER_UNKNOWN;
    return mode != 0 ? ANSWER_YES : ANSWER_NO;
}

static int hexadecimal_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return -1;
}

bool camp_kernel_capabilities_line(struct cursor line, uint64_t *ret)
{
    struct cursor word;
    uint64_t value = 0;

    if (!text_prefix(&line, "CapEff:") || !camp_text_word(&line, &word) || cursor_left(&word) > 16)
        return false;
    for (; word.at < word.end; word.at++) {
        int digit = hexadecimal_digit(*word.at);

        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    *ret = value;
    return true;
}

bool camp_kernel_cpu_list(struct cursor text, char *ret, size_t capacity)
{
    while (text.at < text.end && (text.end[-1] == '\n' || text.end[-1] == ' '))
        text.end--;
    if (same(text, "(null)"))
        text.end = text.at;
    for (const char *byte = text.at; byte < text.end; byte++)
        if ((*byte < '0' || *byte > '9') && *byte != '-' && *byte != ',')
            return false;
    camp_text_copy(ret, capacity, text);
    if (cursor_left(&text) >= capacity)
        memcpy(ret + capacity - 4, "...", 4);
    return true;
}

bool camp_kernel_at_least(const char *release, uint64_t major, uint64_t minor)
{
    struct cursor text = cursor_of(release, strlen(release));
    uint64_t here_major, here_minor;

    if (!text_u64(&text, &here_major) || !text_prefix(&text, ".") || !text_u64(&text, &here_minor))
        return false;
    return here_major > major || (here_major == major && here_minor >= minor);
}
