/* Parser: src/sources/sessions/postgres/postgres_memory.c */
/* Parser: src/sources/sessions/postgres/postgres_layout.c */
/* Parser: src/sources/sessions/postgres/postgres_events.c */
/* Reads any bytes as the memory of a program that looks like a PostgreSQL server: as entries of its
 * backend table, and as its pointers. The fuzzer reads its own memory like that of a server. */
#include "sources/sessions/postgres/postgres_events.h"
#include "sources/sessions/postgres/postgres_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The offsets must be within an entry, and the codes must distinguish the activities. */
static void check_place(const struct postgres_layout *place)
{
    if (place->activity_offset + sizeof(uint32_t) > POSTGRES_ENTRY_SIZE ||
        place->pid_offset + sizeof(uint32_t) > POSTGRES_ENTRY_SIZE)
        abort();
    for (int a = 0; a < POSTGRES_ACTIVITIES; a++) {
        if (postgres_layout_activity(place, place->code[a]) != (enum postgres_activity)a)
            abort();
    }
}

static void resolve(const uint8_t *data, size_t size, struct postgres_layout *place)
{
    const size_t count = size / POSTGRES_ENTRY_SIZE < 8 ? size / POSTGRES_ENTRY_SIZE : 8;
    unsigned char *entries =
        /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
        malloc(count * POSTGRES_ENTRY_SIZE + 1);
    struct postgres_known known[8];

    if (entries == NULL)
        abort();
    memcpy(entries, data, count * POSTGRES_ENTRY_SIZE);
    for (size_t i = 0; i < count; i++) {
        memcpy(&known[i].pid, entries + i * POSTGRES_ENTRY_SIZE, sizeof known[i].pid);
        known[i].activity = (enum postgres_activity)(i % POSTGRES_PROBED);
    }
    if (postgres_layout_resolve(place, known, entries, count, NULL) == CAMP_OK) {
        check_place(place);
        postgres_layout_confirm(place, POSTGRES_IN_TRANSACTION_ABORTED, data[size - 1]);
        for (int a = 0; a < POSTGRES_PROBED; a++) {
            if (postgres_layout_activity(place, place->code[a]) != (enum postgres_activity)a)
                abort();
        }
    }
    free(entries);
}

/* The backends are read twice, because the second read uses the addresses that the first read
 * resolved. */
static void read_backends(const struct postgres_layout *place)
{
    struct postgres_backend backends[] = { { .pid = 0 },
                                           { .pid = getpid() },
                                           { .pid = INT32_MAX } };
    char name[POSTGRES_EVENT_SIZE];
    struct postgres_events events = { 0 };

    for (int i = 0; i < 2; i++)
        postgres_memory_read(place, backends, 3, NULL);
    if (backends[0].known || backends[2].known)
        abort();
    if (backends[1].known && (postgres_event_class(backends[1].event)[0] == '\0' ||
                              postgres_event_name(&events, backends[1].event, name)[0] == '\0'))
        abort();
    postgres_events_release(&events);
}

/* Each 5 bytes are an event's number in memory, and the name that SQL reported at that time. */
static void name_events(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "relation", "tuple", "DataFileRead", "" };
    struct postgres_events events = { 0 };
    char name[POSTGRES_EVENT_SIZE];
    uint32_t number;

    for (; size >= 5; data += 5, size -= 5) {
        memcpy(&number, data, sizeof number);
        if (postgres_events_add(&events, number, postgres_event_class(number),
                                names[data[4] % 4]) != CAMP_OK ||
            strlen(postgres_event_name(&events, number, name)) >= sizeof name)
            abort();
    }
    for (size_t i = 1; i < events.count; i++) {
        if (events.events[i].number <= events.events[i - 1].number)
            abort();
    }
    postgres_events_release(&events);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t words[64];
    struct postgres_layout place = { .pid = getpid() };

    resolve(data, size, &place);
    name_events(data, size);
    memset(words, 0, sizeof words);
    memcpy(words, data, size < sizeof words ? size : sizeof words);
    if (words[0] % 2 != 0) /* Some pointers are valid addresses. */
        words[1] = (uint64_t)(uintptr_t)&words[2 + words[1] % 32];
    if (words[0] % 4 > 1)
        words[2] = (uint64_t)(uintptr_t)&words[4 + words[2] % 32];
    place.event_pointer = (uint64_t)(uintptr_t)&words[1];
    place.entry_pointer = (uint64_t)(uintptr_t)&words[2];
    place.pid_offset = 8;
    place.activities_known = 1;
    words[words[3] % 64] = (uint64_t)getpid();
    read_backends(&place);
    return 0;
}
