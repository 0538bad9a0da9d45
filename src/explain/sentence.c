/* The texts of a finding: its sentence, and the command that shows more. */
#include "judge.h"

#include "counters/units.h"
#include "ledger/array.h"
#include "ledger/characters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void figure_text(char ret[FIGURE_SIZE], double value, enum figure_unit unit)
{
    switch (unit) {
    case FIGURE_TIME:
        if (value <= 0)
            snprintf(ret, FIGURE_SIZE, "0 s");
        else if (value >= 0.9995)
            snprintf(ret, FIGURE_SIZE, "%.2f s", value);
        else if (value >= 0.001)
            snprintf(ret, FIGURE_SIZE, "%.*f ms", value >= 0.1 ? 0 : 1, value * 1e3);
        else
            snprintf(ret, FIGURE_SIZE, "%.1f us", value * 1e6);
        return;
    case FIGURE_PERCENT:
        snprintf(ret, FIGURE_SIZE, "%.1f %%", value * 100);
        return;
    case FIGURE_RATE:
        snprintf(ret, FIGURE_SIZE, "%.0f", value);
        return;
    case FIGURE_COUNT:
    case FIGURE_NONE:
        snprintf(ret, FIGURE_SIZE, "%.0f", value);
        return;
    }
}

#define OF_PART " of the processes of --pid"
#define SEVERAL_THREADS 1.5 /* so many threads on average are not one */
#define OPERAND_SIZE ((size_t)CAMP_STATES_NAME_SIZE * 4 + 8) /* quoted for a shell */

struct text {
    char *bytes;
    size_t size, length;
    bool is_cut;
};

static void append(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length >= text->size) {
        text->is_cut = true;
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

struct placeholder {
    const char *name; /* with its braces */
    const char *text;
};

/* Copies a template. Each placeholder is replaced by its text, in which further placeholders have
 * no meaning. */
static void expand(struct text *ret, const char *template, const struct placeholder *list,
                   size_t count)
{
    while (*template != '\0') {
        size_t i = 0;

        while (i < count && strncmp(template, list[i].name, strlen(list[i].name)) != 0)
            i++;
        if (i < count)
            append(ret, list[i].text, strlen(list[i].text));
        else
            append(ret, template, 1);
        template += i < count ? strlen(list[i].name) : 1;
    }
}

void waited_text(char ret[WAITED_SIZE], uint64_t time_ns, uint64_t total_ns, double seconds)
{
    const double threads = seconds > 0 ? (double)total_ns / NS_PER_S / seconds : 0;
    char rate[FIGURE_SIZE], share[FIGURE_SIZE];

    figure_text(rate, seconds > 0 ? (double)time_ns / NS_PER_S / seconds : 0, FIGURE_TIME);
    figure_text(share, total_ns > 0 ? (double)time_ns / (double)total_ns : 0, FIGURE_PERCENT);
    if (threads < SEVERAL_THREADS)
        snprintf(ret, WAITED_SIZE, "%s a second, %s of its time", rate, share);
    else
        snprintf(ret, WAITED_SIZE, "%s a second, %s of the time of its %.0f threads", rate, share,
                 threads);
}

void sentence_text(char ret[SENTENCE_SIZE], const struct judgement *judgement)
{
    const struct finding *finding = &judgement->finding;
    const struct finding_cause *cause = &finding->cause;
    char value[FIGURE_SIZE], lost[FIGURE_SIZE], second[FIGURE_SIZE], number[FIGURE_SIZE];
    char waited[WAITED_SIZE];
    const bool is_one = finding->count == 1;
    const struct placeholder list[] = {
        { "{who}", finding->who[0] != '\0' ? finding->who : "(unnamed)" },
        { "{other}", finding->other },
        { "{clause}", finding->clause },
        { "{of}", judgement->is_part ? OF_PART : "" },
        { "{of_others}", judgement->is_part ? OF_PART : " of other processes" },
        { "{s}", is_one ? "" : "s" },
        { "{were}", is_one ? "was" : "were" },
        { "{value}", value },
        { "{lost}", lost },
        { "{second}", second },
        { "{count}", number },
        { "{waiter}", cause->waiter[0] != '\0' ? cause->waiter : "(unnamed)" },
        { "{by}", cause->by },
        { "{chain}", cause->chain },
        { "{waited}", waited },
        { "{in}", camp_state_name((int)cause->state) },
    };
    struct text text = { ret, SENTENCE_SIZE, 0, false };

    figure_text(value, finding->value, judgement->rule->unit);
    figure_text(lost, finding->lost_s, FIGURE_TIME);
    figure_text(second, finding->second, judgement->rule->second_unit);
    snprintf(number, sizeof number, "%" PRIu64, finding->count);
    waited_text(waited, cause->wait_ns, cause->total_ns, cause->explained_s);
    ret[0] = '\0';
    expand(&text,
           judgement->is_of_sessions && judgement->rule->sentence_of_sessions != NULL
               ? judgement->rule->sentence_of_sessions
               : judgement->rule->sentence,
           list, ARRAY_COUNT(list));
    if (cause->waiter[0] != '\0' && judgement->rule->cause_sentence != NULL)
        expand(&text, judgement->rule->cause_sentence, list, ARRAY_COUNT(list));
}

/* The characters that have no meaning for a shell, wherever they stand. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%="

static bool is_shown(const char *argument)
{
    size_t length;

    for (; *argument != '\0'; argument += length) {
        length = utf8_length(argument);
        if (length == 0 || !is_printable(argument, length))
            return false;
    }
    return true;
}

bool shell_append(char *command, size_t size, const char *argument)
{
    const size_t before = strlen(command);
    const bool is_plain = argument[0] != '\0' && argument[strspn(argument, PLAIN)] == '\0';
    struct text text = { command, size, before, !is_shown(argument) };

    append(&text, " ", 1);
    if (is_plain) {
        append(&text, argument, strlen(argument));
    } else {
        append(&text, "'", 1);
        for (; *argument != '\0'; argument++)
            append(&text, *argument == '\'' ? "'\\''" : argument, *argument == '\'' ? 4 : 1);
        append(&text, "'", 1);
    }
    if (text.is_cut)
        command[before] = '\0';
    return !text.is_cut;
}

/* Writes an operand of camp why, with a blank before it. Returns false if it cannot be shown. */
static bool operand_text(char ret[OPERAND_SIZE], const char *operand)
{
    ret[0] = '\0';
    if (operand[0] == '\0')
        return true;
    return (operand[0] != '-' || shell_append(ret, OPERAND_SIZE, "--")) &&
           shell_append(ret, OPERAND_SIZE, operand);
}

void command_text(char ret[COMMAND_SIZE], const struct judgement *judgement,
                  enum evidence_kind kind, const char *from)
{
    char pid[32] = "", waiter[OPERAND_SIZE], sum[OPERAND_SIZE];
    const struct placeholder list[] = {
        { "{pid}", pid }, { "{from}", from }, { "{waiter}", waiter }, { "{sum}", sum }
    };
    struct text text = { ret, COMMAND_SIZE, 0, false };
    const struct rule *rule = judgement->rule;

    if (judgement->finding.pid > 0)
        snprintf(pid, sizeof pid, " --pid %" PRId32, judgement->finding.pid);
    ret[0] = '\0';
    if (!operand_text(waiter, judgement->finding.cause.operand) ||
        !operand_text(sum, judgement->finding.sum_operand))
        return;
    if (judgement->finding.has_blockers && rule->command_of_blockers != NULL)
        expand(&text, rule->command_of_blockers, list, ARRAY_COUNT(list));
    else if (kind == EVIDENCE_CHECK)
        expand(&text, "camp check{from}{pid}", list, ARRAY_COUNT(list));
    else
        expand(&text, from[0] == '\0' ? rule->command : rule->command_from, list,
               ARRAY_COUNT(list));
    if (text.is_cut)
        ret[0] = '\0';
}

void cause_command_text(char ret[COMMAND_SIZE], const struct judgement *judgement, const char *from)
{
    const struct finding_cause *cause = &judgement->finding.cause;
    char waiter[OPERAND_SIZE];
    const struct placeholder list[] = { { "{from}", from }, { "{waiter}", waiter } };
    struct text text = { ret, COMMAND_SIZE, 0, false };

    ret[0] = '\0';
    if (cause->operand[0] == '\0' || !operand_text(waiter, cause->operand))
        return;
    expand(&text, "camp why{from}{waiter}", list, ARRAY_COUNT(list));
    if (text.is_cut)
        ret[0] = '\0';
}
