/* A PostgreSQL source without a server: registered sessions and their accounts. */
#pragma once

#include "sources/sessions/postgres/postgres_inside.h"

#include "../tree.h"
#include "counters/clock.h"

#include <string.h>
#include <unistd.h>

#define MS 1000000u
#define START_NS (1000 * (uint64_t)NS_PER_S)
#define LOCK 0x03000004u
#define CLIENT_READ 0x06000000u
#define ACTIVE 3u
#define PID 5000000 /* above the kernel's largest pid */

static struct postgres_source source;

/* Opens a source with an interval of 1 s. Its last snapshot by SQL contains no session. */
static void open_source(enum postgres_tier tier)
{
    const struct session_plan plan = {
        .name = "postgres",
        .has_reported = tier != POSTGRES_SQL,
        .has_sampled = tier == POSTGRES_MEMORY || tier == POSTGRES_GATED,
        .rules_text = session_rules_postgres,
        .label_names = postgres_label_names,
        .has_lengths = tier == POSTGRES_BPF,
        .label_count = POSTGRES_LABELS,
    };

    source = (struct postgres_source){ .tier = tier };
    source.layout.activities_known = 1;
    for (uint32_t i = 0; i < POSTGRES_ACTIVITIES; i++)
        source.layout.code[i] = 2 + i; /* ACTIVE is 3. */
    source.registry.is_local = tier != POSTGRES_SQL;
    source.registry.snapshot_ns = START_NS + NS_PER_S;
    source.registry.own_pids[0] = 9;
    assert_int_equal(session_frame_init(&source.sessions, &plan, NULL), CAMP_OK);
    session_frame_begin(&source.sessions, START_NS, START_NS + NS_PER_S, 0);
    sampled_times_init(&source.sampler.times, NS_PER_S);
    assert_int_equal(postgres_events_add(&source.events, LOCK, "Lock", "tuple"), CAMP_OK);
}

static void close_source(void)
{
    backend_accounts_release(&source.accounts);
    postgres_registry_release(&source.registry);
    postgres_events_release(&source.events);
    session_frame_release(&source.sessions);
    sampled_times_release(&source.sampler.times);
    postgres_parts_release(&source.parts);
    postgres_statements_release(&source.texts);
    postgres_lengths_release(&source.lengths);
    free(source.times);
    free(source.statements);
    free(source.names);
}

/* Converts nanoseconds since boot to microseconds since 1970. */
static int64_t wall_us(uint64_t boot_ns)
{
    return (int64_t)((source_clock_ns(CLOCK_REALTIME) - source_clock_ns(CLOCK_BOOTTIME) + boot_ns) /
                     1000);
}

/* Registers a session as if a snapshot by SQL had contained it. */
static void register_process(int32_t pid, int64_t start_us, const char *type, const char *user)
{
    struct postgres_session session = { .pid = pid,
                                        .start_us = start_us,
                                        .kind = { { "none", "none", "active", type } },
                                        .user = user,
                                        .database = "",
                                        .application = "",
                                        .client = "",
                                        .query = "" };
    const struct postgres_snapshot look = { .is_whole = true,
                                            .asked_ns = source.registry.snapshot_ns,
                                            .answered_ns = source.registry.snapshot_ns,
                                            .server_us = start_us,
                                            .sessions = &session,
                                            .count = 1,
                                            .own_pid = 9 };

    assert_int_equal(postgres_registry_update(&source.registry, &look), CAMP_OK);
}

/* Returns an account with 100 ms on a CPU, 200 ms in the run queue and 300 ms waiting for a lock.
 */
static struct backend_account account(int32_t pid, uint32_t flags)
{
    return (struct backend_account){ .pid = pid,
                                     .flags = flags,
                                     .start_ns = NS_PER_S,
                                     .begin_ns = START_NS + 400 * MS,
                                     .time_ns = START_NS + 1000 * MS,
                                     .cpu_ns = 100 * MS,
                                     .run_queue_ns = 200 * MS,
                                     .wait_count = 1,
                                     .waits = { { LOCK, ACTIVE, 300 * MS, 1 } } };
}

static inline void fill(const struct backend_account *accounts, size_t count)
{
    const struct frame *frame = &source.sessions.frame;

    session_frame_begin(&source.sessions, frame->start_ns, frame->end_ns, 0);
    assert_int_equal(backend_accounts_replace(&source.accounts, accounts, count), CAMP_OK);
    assert_int_equal(postgres_rows_of_accounts(&source), CAMP_OK);
}

static size_t row_count(void)
{
    return source.sessions.frame.entity_count;
}

static const struct entity *row_at(size_t row)
{
    assert_true(row < row_count());
    return &source.sessions.frame.entities[row];
}

static inline const char *statement_at(size_t row)
{
    return labels_value(row_at(row)->labels, POSTGRES_LABEL_STATEMENT);
}

/* Asserts that the rows are of one session, and that each adds up to its own time. */
static inline void assert_parts(uint64_t elapsed_ms)
{
    uint64_t elapsed_ns = 0;

    for (size_t i = 0; i < row_count(); i++) {
        assert_int_equal((row_at(i)->flags & ENTITY_PART) != 0, i > 0);
        assert_string_equal(labels_value(row_at(i)->labels, 0), "bob");
        elapsed_ns += source.sessions.frame.elapsed_ns[i];
    }
    assert_int_equal(frame_size(&source.sessions.frame), 1);
    assert_int_equal(elapsed_ns, elapsed_ms * MS);
}

static inline uint64_t value_ms(size_t row, const char *column)
{
    const struct schema *schema = &source.sessions.schema;

    for (size_t i = 0; i < schema->column_count; i++) {
        if (strcmp(schema->columns[i].name, column) == 0)
            return frame_values(&source.sessions.frame, row)[i] / MS;
    }
    fail_msg("there is no column %s", column);
    return 0;
}
