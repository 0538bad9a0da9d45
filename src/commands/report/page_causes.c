#include "page_causes.h"

#include "counters/error.h"
#include "sources/causes/cause_names.h"
#include "sources/causes/causes.h"
#include "views/format.h"
#include "views/memory_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICES "/sys/kernel/irq"
#define PROCESSES "/proc"
#define DEVICES_MOST 64         /* camp measures 24; further ones of a recording have no name */
#define ON_CPU CAUSE_KIND_COUNT /* the kind of a row that is time on a CPU */

/* A comma before each element but the first. */
static const char *comma(bool *is_first)
{
    const char *ret = *is_first ? "" : ",";

    *is_first = false;
    return ret;
}

void page_causes_words(char ret[PAGE_CAUSES_WORDS])
{
    FILE *stream = fmemopen(ret, PAGE_CAUSES_WORDS, "w");
    bool is_first = true;

    ret[0] = '\0';
    if (stream == NULL)
        return;
    fputs("{\"states\":[", stream);
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        fprintf(stream, "%s\"%s\"", comma(&is_first), camp_state_name(i));
    fputs("],\"kinds\":[", stream);
    for (uint32_t i = 0; i < CAUSE_KIND_COUNT; i++)
        fprintf(stream, "\"%s\",", cause_kind_key(i));
    fputs("\"on_cpu\"]}", stream);
    fclose(stream);
}

/* [number, kind, pid, threads, reduced_ns, name] */
static void put_groups(FILE *stream, const struct causes *causes)
{
    bool is_first = true;

    for (size_t i = 0; i < causes->group_count; i++) {
        const struct camp_states_group *group = &causes->groups[i];

        if (group->number >= CAUSE_GROUPS)
            continue;
        fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 ",%" PRId32 ",%" PRIu64 ",%" PRIu64 ",",
                comma(&is_first), group->number, group->kind, group->pid,
                causes->threads[group->number], causes->reduced_ns[group->number]);
        json_text(stream, group->name);
        putc(']', stream);
    }
}

/* [group, state, kind, who, ns] */
static void put_rows(FILE *stream, const struct causes *causes)
{
    bool is_first = true;

    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            if (!causes_is_wait(state) && causes->state_ns[group][state] > 0)
                fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 ",%d,0,%" PRIu64 "]", comma(&is_first),
                        group, state, ON_CPU, causes->state_ns[group][state]);
        }
    }
    for (size_t i = 0; i < causes->rows.count; i++) {
        const struct cause *row = &causes->rows.items[i];

        fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 "]",
                comma(&is_first), row->group, row->state, row->kind, row->id, row->wait_ns);
    }
}

/* [number, name] of the devices that are causes */
static void put_devices(FILE *stream, const struct causes *causes)
{
    uint32_t known[DEVICES_MOST];
    size_t count = 0;

    for (size_t i = 0; i < causes->rows.count && count < DEVICES_MOST; i++) {
        const struct cause *row = &causes->rows.items[i];
        char name[CAUSE_NAME_SIZE];
        size_t at = 0;

        while (at < count && known[at] != row->id)
            at++;
        if (row->kind != CAMP_CAUSE_DEVICE || at < count)
            continue;
        known[count++] = row->id;
        cause_who(name, causes, CAMP_CAUSE_DEVICE, row->id, DEVICES);
        fprintf(stream, "%s[%" PRIu32 ",", at > 0 ? "," : "", row->id);
        json_text(stream, name);
        putc(']', stream);
    }
}

/* [group, state, longest_ns, [bucket, count, ...]] */
static void put_lengths(FILE *stream, const struct causes *causes)
{
    bool is_first = true;

    for (uint32_t group = 0; group < CAUSE_GROUPS; group++) {
        for (uint32_t state = 0; state < CAMP_STATE_COUNT; state++) {
            const struct wait_lengths *lengths = &causes->lengths[group][state];
            bool is_first_count = true;

            if (lengths->count == 0)
                continue;
            fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",[", comma(&is_first), group,
                    state, lengths->longest_ns);
            for (int i = 0; i < CAMP_WAIT_BUCKETS; i++) {
                if (lengths->counts[i] > 0)
                    fprintf(stream, "%s%d,%" PRIu64, comma(&is_first_count), i, lengths->counts[i]);
            }
            fputs("]]", stream);
        }
    }
}

/* [pid, state, ns, count, call, object] */
static void put_calls(FILE *stream, const struct causes *causes)
{
    for (size_t i = 0; i < causes->calls.count; i++) {
        const struct camp_call_sleeps *sleeps = &causes->calls.items[i];
        struct call_name names;

        cause_call_names(&names, causes, i, PROCESSES);
        fprintf(stream, "%s[%" PRId32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",", i > 0 ? "," : "",
                sleeps->pid, sleeps->state, sleeps->sleep_ns, sleeps->count);
        json_text(stream, names.call);
        putc(',', stream);
        json_text(stream, names.object);
        putc(']', stream);
    }
}

static void put_causes(FILE *stream, const struct causes *causes)
{
    fprintf(stream, "{\"unseen\":%" PRIu64 ",\"groups\":[", causes->unseen);
    put_groups(stream, causes);
    fputs("],\"rows\":[", stream);
    put_rows(stream, causes);
    fputs("],\"devices\":[", stream);
    put_devices(stream, causes);
    fputs("],\"lengths\":[", stream);
    put_lengths(stream, causes);
    fputs("],\"calls\":[", stream);
    put_calls(stream, causes);
    fputs("]}", stream);
}

static void put_fault(FILE *stream, const char *fault)
{
    fputs("{\"error\":", stream);
    json_text(stream, fault);
    putc('}', stream);
}

int page_causes_read(struct bytes *ret, struct source *source)
{
    struct camp_error error = { 0 };
    const struct causes *causes = NULL;
    struct memory_text text;
    const int r = source_causes(source, &causes, &error);

    bytes_clear(ret);
    if (r == CAMP_E_NOMEM || (r >= 0 && causes == NULL))
        return r == CAMP_E_NOMEM ? r : CAMP_OK;
    if (!memory_text_open(&text))
        return CAMP_E_NOMEM;
    if (r < 0)
        put_fault(text.stream, error.message);
    else
        put_causes(text.stream, causes);
    if (memory_text_close(&text))
        bytes_put(ret, text.text, text.size);
    free(text.text);
    return ret->size > 0 && !ret->failed ? CAMP_OK : CAMP_E_NOMEM;
}
