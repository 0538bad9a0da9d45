/*
 * The names of PostgreSQL's wait events. In memory an event is a number. The upper byte of the
 * number is the class; the lower bytes depend on the server's version. SQL reports names. To find
 * the name of a number, camp reads the event in a backend's memory right after SQL has reported the
 * event of this backend. Until SQL has reported it, a lock has the name that it has in the source
 * of this version, as far as that is known.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTGRES_EVENT_SIZE 64

/* Class and event of a session whose process is stopped by a signal or a tracer. The server does
 * not know that, and still reports the previous event. */
#define POSTGRES_STOPPED "stopped"

struct postgres_event {
    uint32_t number;
    uint32_t votes; /* votes for `name`, minus the votes for other names */
    char name[POSTGRES_EVENT_SIZE];
};

struct postgres_events {
    struct postgres_event *events; /* [count], in ascending order of numbers */
    size_t count, capacity;
    int version; /* of the server, such as 150018; 0: unknown */
};

/* Frees the events. An all-zero struct has no events. */
void postgres_events_release(struct postgres_events *events);

/* Adds an observation: a backend's memory had `number` when SQL reported `class` and `event`. The
 * event may have changed in between, so the most frequent name wins. If the number is not of this
 * class, the observation is ignored. CAMP_OK or CAMP_E_NOMEM. */
int postgres_events_add(struct postgres_events *events, uint32_t number, const char *class,
                        const char *event);

/* Returns the class of an event, such as "Lock". Returns "none" for event 0 and "unknown" for an
 * unknown class. */
const char *postgres_event_class(uint32_t number);

/* Returns the name of an event, such as "transactionid". Returns "none" for event 0, and "others"
 * for a number that stands for several events of a class (BACKEND_EVENT_REST). An event without a
 * known name is written to `buffer` as a number, such as "0x03000004". The result is valid until
 * the next postgres_events_add(). */
const char *postgres_event_name(const struct postgres_events *events, uint32_t number,
                                char buffer[POSTGRES_EVENT_SIZE]);
