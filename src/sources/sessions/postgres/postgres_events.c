#include "postgres_events.h"

#include "ledger/array.h"
#include "microstates/backends_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Indexed by the upper byte of an event, as in the server's src/include/utils/wait_event.h. */
static const char *const classes[] = {
    [0x01] = "LWLock", [0x03] = "Lock",           [0x04] = "BufferPin", [0x05] = "Activity",
    [0x06] = "Client", [0x07] = "Extension",      [0x08] = "IPC",       [0x09] = "Timeout",
    [0x0a] = "IO",     [0x0b] = "InjectionPoint",
};

const char *postgres_event_class(uint32_t number)
{
    const uint32_t class = number >> 24;

    if (number == 0)
        return "none";
    if (number == BACKEND_EVENT_STOPPED)
        return POSTGRES_STOPPED;
    return class < sizeof classes / sizeof classes[0] && classes[class] != NULL ? classes[class]
                                                                                : "unknown";
}

#define VOTES_OF_KNOWN 8

/* Since version 14: enum LockTagType of src/include/storage/lock.h. */
static const char *const locks[] = { "relation", "extend",        "frozenid",   "page",
                                     "tuple",    "transactionid", "virtualxid", "spectoken",
                                     "object",   "userlock",      "advisory" };

/* Locks of the server that last microseconds, so that SQL seldom reports them. The numbers are
 * those of version 15, and were found as all others, under load. */
static const char *const lwlocks[] = {
    [0x04] = "ProcArray",        [0x07] = "WALBufMapping", [0x08] = "WALWrite",
    [0x11] = "CheckpointerComm", [0x37] = "WALInsert",     [0x38] = "BufferContent",
    [0x3c] = "BufferMapping",    [0x3d] = "LockManager",
};

/* Returns the name that an event has in this version, or NULL. */
static const char *known_name(int version, uint32_t number)
{
    const uint32_t in_class = number & 0xffffff;

    if (version >= 140000 && number >> 24 == 0x03 && in_class < ARRAY_COUNT(locks))
        return locks[in_class];
    if (version / 10000 == 15 && number >> 24 == 0x01 && in_class < ARRAY_COUNT(lwlocks))
        return lwlocks[in_class];
    return NULL;
}

static int compare_numbers(const void *key, const void *element)
{
    const uint32_t number = *(const uint32_t *)key;
    const struct postgres_event *event = element;

    return number < event->number ? -1 : number > event->number;
}

static size_t position_of(const struct postgres_events *events, uint32_t number)
{
    return ARRAY_POSITION(&number, events->events, events->count, compare_numbers);
}

static bool is_at(const struct postgres_events *events, size_t position, uint32_t number)
{
    return position < events->count && events->events[position].number == number;
}

/* Counts a name by Boyer and Moore's majority vote: each vote for another name removes one vote. */
static void vote(struct postgres_event *event, const char *name)
{
    if (event->votes == 0)
        snprintf(event->name, sizeof event->name, "%s", name);
    if (strncmp(event->name, name, sizeof event->name - 1) == 0)
        event->votes += event->votes < UINT32_MAX;
    else
        event->votes--;
}

/* A later version may have other numbers, so SQL may outvote the known name. */
static void start_votes(struct postgres_event *event, const char *known)
{
    if (known == NULL)
        return;
    snprintf(event->name, sizeof event->name, "%s", known);
    event->votes = VOTES_OF_KNOWN;
}

int postgres_events_add(struct postgres_events *events, uint32_t number, const char *class,
                        const char *event)
{
    const size_t position = position_of(events, number);

    if (number == 0 || strcmp(postgres_event_class(number), class) != 0)
        return CAMP_OK;
    if (!is_at(events, position, number)) {
        if (!ARRAY_INSERT(events->events, events->count, events->capacity, position))
            return CAMP_E_NOMEM;
        events->events[position].number = number;
        start_votes(&events->events[position], known_name(events->version, number));
    }
    vote(&events->events[position], event);
    return CAMP_OK;
}

const char *postgres_event_name(const struct postgres_events *events, uint32_t number,
                                char buffer[POSTGRES_EVENT_SIZE])
{
    const size_t position = position_of(events, number);

    if (number == 0)
        return "none";
    if (number == BACKEND_EVENT_STOPPED)
        return POSTGRES_STOPPED;
    if (number != UINT32_MAX && (number & 0xffffff) == 0xffffff)
        return "others";
    if (is_at(events, position, number))
        return events->events[position].name;
    if (known_name(events->version, number) != NULL)
        return known_name(events->version, number);
    snprintf(buffer, POSTGRES_EVENT_SIZE, "0x%08" PRIx32, number);
    return buffer;
}

void postgres_events_release(struct postgres_events *events)
{
    free(events->events);
    *events = (struct postgres_events){ 0 };
}
