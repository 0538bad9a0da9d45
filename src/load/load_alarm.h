/* A thread that sleeps in a system call, until another thread wakes it. */
#pragma once

#include "load.h"

#include <stdatomic.h>

struct load_alarm {
    enum load_sleep_kind kind; /* not LOAD_SLEEP_TIMER */
    _Atomic uint32_t wakes;    /* number of wakeups; also the futex */
    union {
        int ends[2];    /* of the pipe on Linux */
        void *words[4]; /* on Windows: a lock, its condition, and the ends of a pipe */
    } of_system;
};

int load_alarm_open(struct load_alarm *ret, enum load_sleep_kind kind, struct camp_error *error);
void load_alarm_close(struct load_alarm *alarm);

/* Sleeps until there are more wakeups than `wakes`, or until a stop is requested. */
void load_alarm_wait(struct load_alarm *alarm, uint32_t wakes);

void load_alarm_wake(struct load_alarm *alarm);
