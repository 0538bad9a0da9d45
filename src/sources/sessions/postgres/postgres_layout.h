/*
 * The addresses at which a PostgreSQL server (14 and later) stores what each backend does.
 *
 * Each backend has two pointers, at the same addresses in all backends. my_wait_event_info points
 * to the 32 bits of the backend's wait event; the upper byte is the class, and 0 means no wait.
 * MyBEEntry points to the backend's entry in the table behind pg_stat_activity. The member st_state
 * of an entry is the activity.
 *
 * The offset of st_state and the numbers of the activities differ between versions and builds. camp
 * finds them by reading the entries of its own connections, whose activity it knows.
 *
 * After a crash the postmaster starts new backends with the same addresses. A restarted server has
 * other addresses.
 */
#pragma once

#include <camp/camp.h>

#include <signal.h>
#include <stddef.h>

enum postgres_activity {
    POSTGRES_IDLE,
    POSTGRES_ACTIVE,
    POSTGRES_IN_TRANSACTION,
    POSTGRES_IN_TRANSACTION_ABORTED,
    POSTGRES_ACTIVITIES, /* number of activities; also the value for any other activity */
};

struct postgres_layout {
    int32_t pid; /* the postmaster */
    /* address range of the executable; this memory is private to each process */
    uint64_t low, high;
    uint64_t event_pointer;   /* address of my_wait_event_info */
    uint64_t entry_pointer;   /* address of MyBEEntry */
    uint32_t pid_offset;      /* offset of st_procpid in an entry */
    uint32_t activity_offset; /* offset of st_state in an entry; valid if activities_known */
    uint32_t activities_known;
    uint32_t code[POSTGRES_ACTIVITIES]; /* value of st_state for each activity */
    uint32_t statement_offset;          /* offset of st_query_id in an entry; 0 if unknown */
};

/* Fills pid, low, high, event_pointer and entry_pointer from the executable of the process.
 * CAMP_E_GONE if the process has ended. CAMP_E_PERM if /proc may not be read; the message says what
 * to do. CAMP_E_NOTSUP if the process is no PostgreSQL server of version 14 or later. */
int postgres_layout_find(struct postgres_layout *ret, int32_t postmaster, struct camp_error *error);

/* One of camp's own connections, and its activity when its entry was read. */
struct postgres_known {
    int32_t pid;
    enum postgres_activity activity;
};

/* An entry has some 400 bytes in versions 14 to 17, with st_state at about 230. */
#define POSTGRES_ENTRY_SIZE 512

/* Fills activity_offset, pid_offset and code[] from entries[count], each of POSTGRES_ENTRY_SIZE
 * bytes. Entry i was read while connection known[i] had the activity known[i].activity. Each of the
 * four activities must occur at least once. CAMP_E_FORMAT if no offset or more than one offset
 * fits. */
int postgres_layout_resolve(struct postgres_layout *layout, const struct postgres_known *known,
                            const unsigned char *entries, size_t count, struct camp_error *error);

/* Reads the current entry of a backend. Errors are those of process_memory_read(). */
int postgres_layout_read_entry(const struct postgres_layout *layout, int32_t pid,
                               unsigned char ret[POSTGRES_ENTRY_SIZE], struct camp_error *error);

/* Fills statement_offset from the entry of a backend whose statement has this id, by SQL. An id has
 * 64 bits, so nothing else in an entry has its value. CAMP_E_FORMAT if no offset or more than one
 * offset fits. */
int postgres_layout_find_statement(struct postgres_layout *layout,
                                   const unsigned char entry[POSTGRES_ENTRY_SIZE], int64_t id,
                                   struct camp_error *error);

enum postgres_activity postgres_layout_activity(const struct postgres_layout *layout,
                                                uint32_t code);

/* Connects, goes through all activities twice, and calls postgres_layout_resolve() with the entries
 * of this connection. Takes some 0.2 s, at most 2 s. CAMP_E_FORMAT if no offset fits, CAMP_E_IO if
 * the connection failed, or a failure of postgres_layout_read_entry(). */
int postgres_layout_probe(struct postgres_layout *layout, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error);
