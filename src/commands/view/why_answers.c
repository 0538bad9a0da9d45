#include "why_answers.h"

#include "program/command.h"
#include "views/format.h"
#include "views/memory_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 8 /* rows of each cause, as camp why shows them */

void why_answers_release(struct why_answers *answers)
{
    for (size_t i = 0; i < WHY_ANSWER_COUNT; i++)
        free(answers->records[i]);
    free(answers->groups);
    *answers = (struct why_answers){ 0 };
}

static size_t index_of(uint32_t group)
{
    return group == WHY_ALL ? WHY_ANSWER_COUNT - 1 : group;
}

static const char *kind_of(const struct camp_states_group *group)
{
    switch (group->kind) {
    case CAMP_GROUP_OTHER:
        return "other";
    case CAMP_GROUP_KERNEL:
        return "kernel";
    case CAMP_GROUP_OUTSIDE:
        return "outside";
    case CAMP_GROUP_PROCESS:
        return "process";
    default:
        return "name";
    }
}

static void put_group(FILE *stream, const struct causes *causes,
                      const struct camp_states_group *group)
{
    const uint32_t number = group->number;
    char name[CAUSE_NAME_SIZE];

    cause_group_name(name, group);
    fprintf(stream, "{\"number\":%" PRIu32 ",\"kind\":\"%s\",\"name\":", number, kind_of(group));
    json_text(stream, name);
    fprintf(stream, ",\"threads\":%" PRIu64 "}", causes->threads[number]);
}

static bool fill_groups(struct why_answers *ret, const struct causes *causes)
{
    const char *before = "";
    struct memory_text text;

    if (!memory_text_open(&text))
        return false;
    putc('[', text.stream);
    for (size_t i = 0; i < causes->group_count; i++) {
        if (causes->groups[i].number >= CAUSE_GROUPS)
            continue;
        fputs(before, text.stream);
        put_group(text.stream, causes, &causes->groups[i]);
        before = ",";
    }
    putc(']', text.stream);
    if (!memory_text_close(&text))
        return false;
    ret->groups = text.text;
    return true;
}

static bool fill_record(struct why_answers *ret, const struct causes *causes, uint32_t subject,
                        struct why_record *record)
{
    struct why_interval interval = { .causes = causes, .subject = subject, .most = ROWS };
    char time[TIME_TEXT_SIZE], name[CAUSE_NAME_SIZE] = "all threads";
    struct view_options options = { 0 };
    struct memory_text text;

    time_text(time, sizeof time, causes->wall_clock_ns);
    interval.time = time;
    if (subject != WHY_ALL)
        cause_who(name, causes, CAMP_CAUSE_GROUP, subject, "");
    interval.name = name;
    if (why_record_fill(record, &interval) != CAMP_OK || !memory_text_open(&text))
        return false;
    options.stream = text.stream;
    json_view.record(&options, &record->document.record, 0);
    if (!memory_text_close(&text))
        return false;
    ret->records[index_of(subject)] = text.text;
    return true;
}

int why_answers_fill(struct why_answers *ret, const struct causes *causes,
                     struct why_record *record)
{
    bool done = fill_groups(ret, causes) && fill_record(ret, causes, WHY_ALL, record);

    for (size_t i = 0; i < causes->group_count && done; i++) {
        const uint32_t number = causes->groups[i].number;

        if (number < CAUSE_GROUPS && ret->records[number] == NULL)
            done = fill_record(ret, causes, number, record);
    }
    if (done)
        return CAMP_OK;
    why_answers_release(ret);
    return CAMP_E_NOMEM;
}

static void put_text(struct bytes *out, const char *text)
{
    bytes_put(out, text, strlen(text));
}

bool why_answers_put(const struct why_answers *answers, uint32_t group, uint64_t interval_ns,
                     struct bytes *out)
{
    const bool is_number = group < CAUSE_GROUPS || group == WHY_ALL;
    const char *record = is_number ? answers->records[index_of(group)] : NULL;
    char start[64];

    if (!is_number || (answers->groups != NULL && record == NULL))
        return false;
    snprintf(start, sizeof start, "{\"interval_ms\":%.15g,\"groups\":", (double)interval_ns / 1e6);
    put_text(out, start);
    put_text(out, answers->groups != NULL ? answers->groups : "[]");
    put_text(out, ",\"why\":");
    put_text(out, record != NULL ? record : "null");
    put_text(out, "}\n");
    return true;
}
