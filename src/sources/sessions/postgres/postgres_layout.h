/*
 * Where a PostgreSQL server (14 and later) has in its memory what each backend does.
 *
 * Each backend has two pointers, at the same addresses as in all others: my_wait_event_info, to the
 * 32 bits of what it waits for (class in the top byte; 0: it does not wait), and MyBEEntry, to its
 * entry in the table behind pg_stat_activity, with st_state. Where st_state lies in an entry, and
 * which number is which state, differs between versions and builds: it is found by looking at
 * connections whose state is known.
 *
 * After a crash the postmaster starts its backends anew, with the same addresses of these pointers;
 * a server that was restarted has others.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LAYOUT_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LAYOUT_H

#include <camp/camp.h>

#include <stddef.h>

enum postgres_activity {
    POSTGRES_IDLE,
    POSTGRES_ACTIVE,
    POSTGRES_IN_TRANSACTION,         /* idle in transaction */
    POSTGRES_IN_TRANSACTION_ABORTED, /* idle in transaction (aborted) */
    POSTGRES_ACTIVITIES,             /* how many there are; also: any other */
};

struct postgres_layout {
    int32_t pid;              /* whose memory it is of: the postmaster's */
    uint64_t low, high;       /* the executable in memory: what lies in it is each process's own */
    uint64_t event_pointer;   /* address of my_wait_event_info */
    uint64_t entry_pointer;   /* address of MyBEEntry */
    uint32_t pid_offset;      /* of st_procpid in an entry */
    uint32_t activity_offset; /* of st_state; both are of use once `activities_known` */
    uint32_t activities_known;
    uint32_t code[POSTGRES_ACTIVITIES]; /* numbers of st_state */
};

/* The variables, by the executable of the process; one that was replaced or deleted since is read
 * all the same. CAMP_E_GONE; CAMP_E_PERM: the message says what to do; CAMP_E_NOTSUP: it is no such
 * server. */
int postgres_layout_find(struct postgres_layout *ret, int32_t postmaster, struct camp_error *error);

/* A connection of our own, and what it does, until we have looked. */
struct postgres_known {
    int32_t pid;
    enum postgres_activity activity;
};

#define POSTGRES_ENTRY_SIZE 512 /* of some 400 in versions 14 to 17, st_state at about 230 */

/* Learns where st_state is, of entries[count] of POSTGRES_ENTRY_SIZE bytes each, those of
 * known[count] at the moment when each did what is said, among them at least one of each of the
 * four activities. CAMP_E_FORMAT: no layout, or more than one, tells them apart. */
int postgres_layout_resolve(struct postgres_layout *layout, const struct postgres_known *known,
                            const unsigned char *entries, size_t count, struct camp_error *error);

/* The entry of a backend as it is now. As postgres_layout_find(). */
int postgres_layout_read_entry(const struct postgres_layout *layout, int32_t pid,
                               unsigned char ret[POSTGRES_ENTRY_SIZE], struct camp_error *error);

enum postgres_activity postgres_layout_activity(const struct postgres_layout *layout,
                                                uint32_t code);

#endif
