#include "values.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000.0

bool values_init(struct values *ret, const struct query *query)
{
    *ret = (struct values){ .query = query };
    ret->told_counters = calloc(counter_count, sizeof *ret->told_counters);
    ret->told_subjects = calloc(query->subjects.count + 1, sizeof *ret->told_subjects);
    return ret->told_counters != NULL && ret->told_subjects != NULL;
}

void values_release(struct values *values)
{
    free(values->told_counters);
    free(values->told_subjects);
    values->told_counters = values->told_subjects = NULL;
}

/* -------------------------------------------------------------- What is missing -- */

/* Counts a value that is unknown; `told` remembers whether its reason was said. */
static void miss(struct values *values, bool *told, int status, const char *reason)
{
    values->missing++;
    if (values->status == STATUS_OK)
        values->status = status;
    if (!*told)
        complain(status, "%s", reason);
    *told = true;
}

static int status_of(int result)
{
    return result == CAMP_E_PERM ? STATUS_PRIVILEGE : STATUS_FAILURE;
}

static void miss_subject(struct values *values, const struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    const char *message = subject->error.message[0] != '\0' ? subject->error.message
                                                            : camp_result_name(subject->now.result);
    char reason[2 * CAMP_ERROR_SIZE + LABEL_SIZE];

    snprintf(reason, sizeof reason, "%s: %s", subject->label, message);
    miss(values, &values->told_subjects[row->subject], status_of(subject->now.result), reason);
}

static void miss_counter(struct values *values, const struct row *row)
{
    const struct counter *counter = row->counter;
    const struct subject *subject = &values->query->subjects.items[row->subject];
    bool *told = &values->told_counters[counter - counters];
    char reason[2 * CAMP_ERROR_SIZE + LABEL_SIZE];

    if (subject->taskstats_error.code < 0 &&
        counter->known_offset == offsetof(struct reading, taskstat_known)) {
        miss(values, told, status_of(subject->taskstats_error.code),
             subject->taskstats_error.message);
        return;
    }
    snprintf(reason, sizeof reason, "%s.%s is unknown: %s%s%s%s", subject->label, counter->name,
             counter->capability != NULL || counter->needs != NULL ? "it takes " : "",
             counter->capability != NULL ? counter->capability : "",
             counter->capability != NULL && counter->needs != NULL ? ", and " : "",
             counter->needs != NULL        ? counter->needs
             : counter->capability == NULL ? "this system does not say it"
                                           : " for another user's process");
    miss(values, told, counter->capability != NULL ? STATUS_PRIVILEGE : STATUS_PARTIAL, reason);
}

static void miss_rate(struct values *values, const struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    char reason[LABEL_SIZE + 128];

    snprintf(reason, sizeof reason, "%s.%s went backwards in the interval: its growth is unknown",
             subject->label, row->counter->name);
    miss(values, &values->told_counters[row->counter - counters], STATUS_PARTIAL, reason);
}

/* ------------------------------------------------------------------------ Values -- */

static uint64_t natural_of(const struct counter *counter, const struct reading *reading)
{
    uint64_t value;

    memcpy(&value, (const char *)reading + counter->offset, sizeof value);
    return value;
}

static struct cell raw_cell(struct row *row, const struct reading *reading)
{
    const char *at = (const char *)reading + row->counter->offset;
    uint32_t natural;
    int32_t integer;
    double real;

    switch (row->counter->type) {
    case VALUE_U64:
        return cell_natural(natural_of(row->counter, reading));
    case VALUE_U32:
        memcpy(&natural, at, sizeof natural);
        return cell_natural(natural);
    case VALUE_REAL:
        memcpy(&real, at, sizeof real);
        return cell_real(real);
    case VALUE_CHARACTER:
        row->character[0] = *at;
        return cell_text(row->character);
    case VALUE_TEXT:
        return cell_text(row->counter->kinds == KIND_KERNEL && *at == '\0' ? "none" : at);
    case VALUE_I32:
    case VALUE_FLAG:
    case VALUE_ACCOUNTING:
        break;
    }
    memcpy(&integer, at, sizeof integer);
    if (row->counter->type == VALUE_FLAG)
        return cell_text(integer != 0 ? "yes" : "no");
    return row->counter->type == VALUE_ACCOUNTING ? cell_text(accounting_name(integer))
                                                  : cell_integer(integer);
}

/* An interface or disk that came back counts from zero again. Nothing else does: what went
 * backwards there (iowait, or the sum over living threads when one ended) has no known growth. */
static bool may_be_reset(enum counter_kind kind)
{
    return (kind & (KIND_NETWORK | KIND_DISK | KIND_PARTITION)) != 0;
}

static struct cell rate_cell(struct values *values, const struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    double rate = 0;
    int result = counter_rate(row->counter, natural_of(row->counter, &subject->before),
                              natural_of(row->counter, &subject->now),
                              subject->now.time_ns - subject->before.time_ns, &rate);

    if (result < 0 || (result == CAMP_RESET && !may_be_reset(subject->kind))) {
        miss_rate(values, row);
        return cell_unknown();
    }
    values->had++;
    return cell_real(row->counter->nature == NATURE_SHARE ? 100 * rate / NS_PER_S : rate);
}

struct cell value_cell(struct values *values, struct row *row)
{
    const struct subject *subject = &values->query->subjects.items[row->subject];
    bool is_rate = row->counter->nature == NATURE_SHARE ||
                   (values->query->rate && row->counter->nature == NATURE_COUNTER);
    bool two = is_rate || row->counter->nature == NATURE_UTILISATION;

    if (subject->now.result < 0 || (two && subject->before.result < 0)) {
        miss_subject(values, row);
        return cell_unknown();
    }
    if (!counter_is_known(row->counter, subject->kind, &subject->now) ||
        (is_rate && !counter_is_known(row->counter, subject->kind, &subject->before))) {
        miss_counter(values, row);
        return cell_unknown();
    }
    if (is_rate)
        return rate_cell(values, row);
    values->had++;
    return raw_cell(row, &subject->now);
}
