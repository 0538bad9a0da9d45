/*
 * Parsers of the texts in /proc/PID: stat, schedstat, status, io, exe, cmdline. No function here
 * opens a file.
 *
 * Sources: proc(5); do_task_stat() and proc_task_name() of fs/proc/array.c; proc_pid_schedstat()
 * and do_io_accounting() of fs/proc/base.c; task_context_switch_counts().
 *
 * The name in stat is in brackets and is not escaped. It may contain blanks, brackets and newlines,
 * so it ends at the last ')'. The name in status is escaped. A number at the very end of a text is
 * rejected, because the text may be truncated within the number.
 */
#define _GNU_SOURCE 1 /* for memrchr() */

#include "process.h"

#include "../units.h"

/* Parses an unsigned number that is followed by a blank or a newline. */
static bool whole_number(struct cursor *text, uint64_t *ret)
{
    struct cursor here = *text;
    uint64_t value;

    if (!text_u64(&here, &value) || here.at == here.end)
        return false;
    if (*here.at != ' ' && *here.at != '\t' && *here.at != '\n')
        return false;
    *ret = value;
    *text = here;
    return true;
}

static bool parse_name(struct cursor *text, struct stat_line *ret)
{
    uint64_t pid;
    const char *last;

    if (!text_u64(text, &pid) || !text_prefix(text, " ("))
        return false;
    last = memrchr(text->at, ')', cursor_left(text));
    if (last == NULL)
        return false;
    memset(ret->name, 0, sizeof ret->name);
    camp_text_copy(ret->name, sizeof ret->name, cursor_of(text->at, (size_t)(last - text->at)));
    text->at = last + 1;
    if (cursor_left(text) < 3 || text->at[0] != ' ' || text->at[2] != ' ')
        return false;
    ret->state = text->at[1];
    text->at += 2;
    return (ret->state >= 'A' && ret->state <= 'Z') || (ret->state >= 'a' && ret->state <= 'z');
}

/* After the name, stat consists of words with one blank before each. cut_last_word() removes a word
 * that may be truncated, so a blank or a newline follows each word, and the parsers below need not
 * check for the end of the text at each byte. Inlining them saves 1 % of the time. */
#define IN_REGISTERS static inline __attribute__((always_inline))

static void cut_last_word(struct cursor *text)
{
    while (text->end > text->at && text->end[-1] != ' ' && text->end[-1] != '\n')
        text->end--;
}

IN_REGISTERS bool next_number(struct cursor *text, uint64_t *ret)
{
    const char *at = text->at;
    const char *first = at + 1;
    uint64_t value;
    unsigned digit;

    if (*at != ' ' || first == text->end)
        return false;
    at = first;
    value = (unsigned)(unsigned char)*at - '0';
    if (value > 9)
        return false;
    while ((digit = (unsigned)(unsigned char)*++at - '0') <= 9)
        value = value * 10 + digit;
    if (*at != ' ' && *at != '\n')
        return false;
    if (at - first <= 19)
        *ret = value;
    else if (!camp_text_long_u64(first, at, ret))
        return false;
    text->at = at;
    return true;
}

IN_REGISTERS bool next_pid(struct cursor *text, int32_t *ret)
{
    uint64_t value;

    if (!next_number(text, &value) || value > INT32_MAX)
        return false;
    *ret = (int32_t)value;
    return true;
}

/* Does not parse the words as numbers, because some are negative or very large. */
IN_REGISTERS bool skip_words(struct cursor *text, unsigned count)
{
    const char *at = text->at;

    for (; count > 0; count--) {
        if (*at != ' ' || ++at == text->end)
            return false;
        while (*at != ' ' && *at != '\n')
            at++;
    }
    text->at = at;
    return true;
}

/* Adds cutime and cstime. */
IN_REGISTERS bool children_ticks(struct cursor *text, uint64_t *ret)
{
    uint64_t user, system;

    return next_number(text, &user) && next_number(text, &system) &&
           !__builtin_add_overflow(user, system, ret);
}

bool camp_stat_parse(struct cursor text, struct stat_line *ret)
{
    if (!parse_name(&text, ret))
        return false;
    cut_last_word(&text); /* leaves at least the blank after the state */
    return next_pid(&text, &ret->parent) &&
           skip_words(&text, 5) && /* skips pgrp, session, tty_nr, tpgid, flags */
           next_number(&text, &ret->minor_faults) &&
           skip_words(&text, 1) && /* skips cminflt: the minor faults of children */
           next_number(&text, &ret->major_faults) && skip_words(&text, 1) &&
           next_number(&text, &ret->user_ticks) && next_number(&text, &ret->system_ticks) &&
           children_ticks(&text, &ret->children_ticks) &&
           skip_words(&text, 2) && /* skips priority, nice */
           next_number(&text, &ret->threads) && skip_words(&text, 1) &&
           next_number(&text, &ret->start) && next_number(&text, &ret->virtual_bytes) &&
           next_number(&text, &ret->resident_pages);
}

bool camp_schedstat_parse(struct cursor text, struct schedstat_line *ret)
{
    return whole_number(&text, &ret->run_ns) && whole_number(&text, &ret->run_delay_ns) &&
           whole_number(&text, &ret->runs);
}

static bool number_of_key(struct cursor text, const char *key, uint64_t *ret)
{
    struct cursor line;

    while (text_line(&text, &line)) {
        /* includes the newline, without which whole_number() would reject the number */
        struct cursor rest = { line.at, text.at };

        if (text_prefix(&rest, key))
            return whole_number(&rest, ret);
    }
    return false;
}

bool camp_status_parse(struct cursor text, struct status_switches *ret)
{
    return number_of_key(text, "voluntary_ctxt_switches:", &ret->voluntary) &&
           number_of_key(text, "nonvoluntary_ctxt_switches:", &ret->involuntary);
}

bool camp_status_group(struct cursor text, int32_t *ret_pid)
{
    uint64_t value;

    if (!number_of_key(text, "Tgid:", &value) || value > INT32_MAX)
        return false;
    *ret_pid = (int32_t)value;
    return true;
}

bool camp_io_parse(struct cursor text, struct io_bytes *ret)
{
    return number_of_key(text, "read_bytes:", &ret->read) &&
           number_of_key(text, "write_bytes:", &ret->written);
}

bool camp_status_user(struct cursor text, uint64_t *ret_user_id)
{
    struct cursor line;
    uint64_t real;

    while (text_line(&text, &line)) {
        if (text_prefix(&line, "Uid:"))
            return text_u64(&line, &real) && text_u64(&line, ret_user_id) &&
                   *ret_user_id <= UINT32_MAX && cursor_left(&line) > 0;
    }
    return false;
}

bool camp_smaps_parse(struct cursor text, uint64_t *ret_kib)
{
    struct cursor line;

    while (text_line(&text, &line)) {
        if (text_prefix(&line, "Pss:"))
            return text_u64(&line, ret_kib) && text_prefix(&line, " kB") &&
                   cursor_left(&line) == 0 && *ret_kib <= UINT64_MAX / BYTES_PER_KIB;
    }
    return false;
}

bool camp_cgroup_parse(struct cursor text, struct cursor *ret_path)
{
    struct cursor line;

    while (text_line(&text, &line)) {
        if (text_prefix(&line, "0::")) {
            *ret_path = line;
            return cursor_left(&line) > 0;
        }
    }
    return false;
}

bool camp_executable_is(struct cursor path, const char *name)
{
    static const char deleted[] = " (deleted)";
    const size_t length = sizeof deleted - 1;

    if (camp_path_is(path, name))
        return true;
    if (cursor_left(&path) < length || memcmp(path.end - length, deleted, length) != 0)
        return false;
    path.end -= length;
    return camp_path_is(path, name);
}
