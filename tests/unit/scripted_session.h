/*
 * A session of microstates that a test plays. The functions below replace those of libcamp-states
 * that a registry of threads calls. The test lists the threads that live, and the exits; this
 * session finds out what happened since the last snapshot, as a real one does.
 *
 * A thread is listed by its tid, which must be less than SCRIPT_TIDS. It stays listed until the
 * test removes it.
 */
#pragma once

#include <camp/states.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCRIPT_TIDS 2048

/* What is known of a thread since the last snapshot. */
struct script_known {
    struct camp_thread_states reading;
    uint64_t until; /* the end of its accounted time */
    uint32_t note;
    bool is_known, has_ended;
};

struct script_exits {
    struct camp_thread_states *threads;
    size_t count, capacity;
};

static struct {
    struct camp_thread_states living[SCRIPT_TIDS]; /* tid 0: not listed */
    bool idle[SCRIPT_TIDS];                        /* did nothing since the last snapshot */
    struct script_known known[SCRIPT_TIDS];
    struct script_exits exits, exits_of_listing; /* the latter arrive during the next snapshot */
    uint64_t now;                                /* the time of the next snapshot */
    int result;                                  /* of the next snapshot; then CAMP_OK again */
    size_t told;                                 /* calls of the visitor, but for idle() */
} script;

static void script_release(void)
{
    free(script.exits.threads);
    free(script.exits_of_listing.threads);
    memset(&script, 0, sizeof script);
}

static void script_list(struct camp_thread_states thread)
{
    assert_true(thread.tid > 0 && thread.tid < SCRIPT_TIDS);
    script.living[thread.tid] = thread;
    script.idle[thread.tid] = false;
}

static void script_add_exit(struct script_exits *exits, struct camp_thread_states last)
{
    if (exits->count == exits->capacity) {
        exits->capacity = exits->capacity * 2 + 16;
        exits->threads = realloc(exits->threads, exits->capacity * sizeof last);
        assert_non_null(exits->threads);
    }
    last.flags |= CAMP_THREAD_ENDED;
    exits->threads[exits->count++] = last;
}

static bool script_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    return a->pid == b->pid && a->begin_ns == b->begin_ns;
}

/* Returns the last reading, which includes the waits that were accounted. */
static const struct camp_thread_states *script_reading(struct script_known *known)
{
    struct camp_thread_states *reading = &known->reading;

    reading->state_ns[reading->state] += known->until - reading->time_ns;
    reading->time_ns = known->until;
    return reading;
}

static void script_tell_exits(const struct camp_states_visitor *visitor)
{
    for (size_t i = 0; i < script.exits.count; i++) {
        const struct camp_thread_states *last = &script.exits.threads[i];
        struct script_known *known = &script.known[last->tid];
        const bool is_known = (last->flags & CAMP_THREAD_TOTAL) == 0 && known->is_known &&
                              !known->has_ended && script_is_same(&known->reading, last);

        visitor->ended(visitor->context, is_known ? script_reading(known) : NULL, last,
                       is_known ? known->note : 0);
        known->has_ended |= is_known;
        script.told++;
    }
    script.exits.count = 0;
}

static void script_tell_missed(const struct camp_states_visitor *visitor,
                               struct script_known *known)
{
    if (!known->has_ended) {
        visitor->missed(visitor->context, script_reading(known), known->note);
        script.told++;
    }
    *known = (struct script_known){ .is_known = false };
}

static void script_tell_wait(const struct camp_states_visitor *visitor, struct script_known *known)
{
    const struct camp_states_wait wait = {
        .thread = script_reading(known),
        .note = &known->note,
        .elapsed_ns = script.now - known->until,
        .state = known->reading.state,
        .is_first = known->reading.tid == known->reading.pid,
    };

    if (visitor->waited != NULL) {
        visitor->waited(visitor->context, &wait);
        script.told++;
    }
    known->until = script.now;
}

static void script_tell_seen(const struct camp_states_visitor *visitor, struct script_known *known,
                             const struct camp_thread_states *now)
{
    if (known->is_known && !script_is_same(&known->reading, now))
        script_tell_missed(visitor, known);
    visitor->seen(visitor->context, known->is_known ? script_reading(known) : NULL, now,
                  &known->note);
    script.told++;
    known->reading = *now;
    known->until = now->time_ns;
    known->is_known = true;
    known->has_ended = false;
}

/* The linker replaces the functions of libcamp-states by these (--wrap). */
int __wrap_camp_states_visit_exits(struct camp_states *session,
                                   const struct camp_states_visitor *visitor, size_t size,
                                   struct camp_error *error);
int __wrap_camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                             size_t size, struct camp_error *error);

int __wrap_camp_states_visit_exits(struct camp_states *session,
                                   const struct camp_states_visitor *visitor, size_t size,
                                   struct camp_error *error)
{
    (void)session;
    (void)error;
    assert_int_equal(size, sizeof *visitor);
    script_tell_exits(visitor);
    return CAMP_OK;
}

int __wrap_camp_states_visit(struct camp_states *session, const struct camp_states_visitor *visitor,
                             size_t size, struct camp_error *error)
{
    const int r = script.result;

    __wrap_camp_states_visit_exits(session, visitor, size, error);
    script.result = CAMP_OK;
    for (int tid = 1; tid < SCRIPT_TIDS && r == CAMP_OK; tid++) {
        struct script_known *known = &script.known[tid];
        const struct camp_thread_states *now = &script.living[tid];

        if (now->tid == 0 && known->is_known)
            script_tell_missed(visitor, known);
        else if (now->tid != 0 && known->is_known && script.idle[tid])
            script_tell_wait(visitor, known);
        else if (now->tid != 0)
            script_tell_seen(visitor, known, now);
    }
    if (r == CAMP_OK)
        visitor->idle(visitor->context, script.now);
    for (size_t i = 0; i < script.exits_of_listing.count; i++)
        script_add_exit(&script.exits, script.exits_of_listing.threads[i]);
    script.exits_of_listing.count = 0;
    return r;
}
