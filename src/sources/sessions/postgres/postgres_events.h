/*
 * The names of PostgreSQL's wait events. In memory an event is a number: its upper byte is the
 * class, the rest is of the server's version. SQL has the names. Who reads both of the same backend
 * at the same moment learns which is which; nothing is known of a version beforehand but the
 * classes.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_EVENTS_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_EVENTS_H

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTGRES_EVENT_SIZE 64

struct postgres_event {
    uint32_t number;
    uint32_t votes; /* for the name, less those for others since it has it */
    char name[POSTGRES_EVENT_SIZE];
};

struct postgres_events {
    struct postgres_event *events; /* [count], ascending by number; owned */
    size_t count, capacity;
};

/* All zero knows no event. */
void postgres_events_release(struct postgres_events *events);

/* A backend had this number before and after SQL told this class and event of it. A moment may
 * still lie between, so the name that was told most often wins. Numbers of another class than was
 * told are passed over. CAMP_OK or CAMP_E_NOMEM. */
int postgres_events_add(struct postgres_events *events, uint32_t number, const char *class,
                        const char *event);

/* "Lock"; "none" of 0; "unknown" where there is no such class. */
const char *postgres_event_class(uint32_t number);

/* "transactionid"; one that was not learned yet by its number, "0x03000004", in `buffer`; "none" of
 * 0; "others" of all of a class together (BACKEND_EVENT_REST). The name may move with the next one
 * that is learned. */
const char *postgres_event_name(const struct postgres_events *events, uint32_t number,
                                char buffer[POSTGRES_EVENT_SIZE]);

#endif
