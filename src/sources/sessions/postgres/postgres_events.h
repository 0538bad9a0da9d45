/*
 * The names of PostgreSQL's wait events. In memory an event is a number: its upper byte is the
 * class, the rest depends on the server's version. SQL reports the names. Reading number and name
 * of the same backend at the same moment resolves the number; only the classes are known
 * beforehand.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTGRES_EVENT_SIZE 64

struct postgres_event {
    uint32_t number;
    uint32_t votes; /* votes for the name, less those for other names since */
    char name[POSTGRES_EVENT_SIZE];
};

struct postgres_events {
    struct postgres_event *events; /* [count], ascending by number; owned */
    size_t count, capacity;
};

/* Frees the events. All zero: no event is known. */
void postgres_events_release(struct postgres_events *events);

/* Adds an observation: a backend had this number before and after SQL reported this class and
 * event. The backend may still have changed in between, so the most frequent name wins. A number of
 * another class is ignored. CAMP_OK or CAMP_E_NOMEM. */
int postgres_events_add(struct postgres_events *events, uint32_t number, const char *class,
                        const char *event);

/* Returns the class of an event, such as "Lock"; "none" for 0; "unknown" for an unknown class. */
const char *postgres_event_class(uint32_t number);

/* Returns the name of an event, such as "transactionid"; for an unresolved one its number,
 * "0x03000004", in `buffer`; "none" for 0; "others" for all further events of a class together
 * (BACKEND_EVENT_REST). Valid until the next postgres_events_add(). */
const char *postgres_event_name(const struct postgres_events *events, uint32_t number,
                                char buffer[POSTGRES_EVENT_SIZE]);
