/*
 * The addresses at which a PostgreSQL server (14 and later) stores what each backend does.
 *
 * Each backend has two pointers, at the same addresses in all backends: my_wait_event_info points
 * to the 32 bits of its wait event (class in the top byte; 0: no wait), and MyBEEntry to its entry
 * in the table behind pg_stat_activity, with st_state. The offset of st_state in an entry and the
 * numbers of the states differ between versions and builds: they are resolved from connections
 * whose state is known.
 *
 * After a crash the postmaster starts new backends with the same addresses of these pointers; a
 * restarted server has other addresses.
 */
#pragma once

#include <camp/camp.h>

#include <signal.h>
#include <stddef.h>

enum postgres_activity {
    POSTGRES_IDLE,
    POSTGRES_ACTIVE,
    POSTGRES_IN_TRANSACTION,         /* idle in transaction */
    POSTGRES_IN_TRANSACTION_ABORTED, /* idle in transaction (aborted) */
    POSTGRES_ACTIVITIES,             /* number of activities; also stands for any other activity */
};

struct postgres_layout {
    int32_t pid;            /* the process that the addresses belong to: the postmaster */
    uint64_t low, high;     /* the loaded executable: each process has its own copy of this range */
    uint64_t event_pointer; /* address of my_wait_event_info */
    uint64_t entry_pointer; /* address of MyBEEntry */
    uint32_t pid_offset;    /* offset of st_procpid in an entry */
    uint32_t activity_offset; /* offset of st_state; valid once `activities_known` */
    uint32_t activities_known;
    uint32_t code[POSTGRES_ACTIVITIES]; /* numbers of st_state */
};

/* Finds the variables through the executable of the process, even if it was replaced or deleted
 * since. CAMP_E_GONE; CAMP_E_PERM: the message says what to do; CAMP_E_NOTSUP: the process is no
 * such server. */
int postgres_layout_find(struct postgres_layout *ret, int32_t postmaster, struct camp_error *error);

/* One of camp's own connections, and its activity while its entry is read. */
struct postgres_known {
    int32_t pid;
    enum postgres_activity activity;
};

/* an entry has some 400 bytes in versions 14 to 17, with st_state at about 230 */
#define POSTGRES_ENTRY_SIZE 512

/* Resolves the offset of st_state and its numbers from entries[count], of POSTGRES_ENTRY_SIZE bytes
 * each. Entry i was read while connection known[i] had the activity known[i].activity; each of the
 * four activities occurs at least once. CAMP_E_FORMAT: no offset, or more than one, fits. */
int postgres_layout_resolve(struct postgres_layout *layout, const struct postgres_known *known,
                            const unsigned char *entries, size_t count, struct camp_error *error);

/* Reads the current entry of a backend. Fails as postgres_layout_find(). */
int postgres_layout_read_entry(const struct postgres_layout *layout, int32_t pid,
                               unsigned char ret[POSTGRES_ENTRY_SIZE], struct camp_error *error);

enum postgres_activity postgres_layout_activity(const struct postgres_layout *layout,
                                                uint32_t code);

/* Resolves the activities of a layout that postgres_layout_find() has found, by an own connection
 * that goes through all activities twice. Takes some 0.2 s, 2 s at most. CAMP_E_FORMAT: no offset
 * fits; CAMP_E_IO: the second connection failed; or as postgres_layout_read_entry(). */
int postgres_layout_probe(struct postgres_layout *layout, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error);
