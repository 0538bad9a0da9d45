/*
 * The addresses at which a PostgreSQL server (14 and later) stores what each backend does.
 *
 * Each backend has two pointers, at the same addresses in all backends. my_wait_event_info points
 * to the 32 bits of the backend's wait event; the upper byte is the class, and 0 means no wait.
 * MyBEEntry points to the backend's entry in the table behind pg_stat_activity. The member st_state
 * of an entry is the activity.
 *
 * The offset of st_state and the numbers of the activities differ between versions and builds. camp
 * finds them by reading the entries of its own connections, whose activity it knows. Only three
 * activities are reached without an error, which the server would write into its log. The others
 * follow from the order of the activities, which is the same in all versions (enum BackendState in
 * the server's src/include/utils/backend_status.h), and are compared with what SQL reports.
 *
 * After a crash the postmaster starts new backends with the same addresses. A restarted server has
 * other addresses.
 */
#pragma once

#include <camp/camp.h>

#include <signal.h>
#include <stddef.h>

/* The rows of a session's database and user in pg_database and pg_authid. */
struct postgres_numbers {
    uint32_t database, user;
};

/* In the server's order. */
enum postgres_activity {
    POSTGRES_IDLE,
    POSTGRES_ACTIVE,
    POSTGRES_IN_TRANSACTION,
    POSTGRES_FASTPATH, /* a function that the client calls without a statement */
    POSTGRES_IN_TRANSACTION_ABORTED,
    POSTGRES_DISABLED,   /* unknown, because track_activities is off */
    POSTGRES_ACTIVITIES, /* number of activities; also the value for any other activity */
};

/* The activities that camp puts its own connection into are those before this one. */
#define POSTGRES_PROBED POSTGRES_FASTPATH

struct postgres_layout {
    int32_t pid; /* the postmaster */
    /* address range of the executable; this memory is private to each process */
    uint64_t low, high;
    uint64_t event_pointer;   /* address of my_wait_event_info */
    uint64_t entry_pointer;   /* address of MyBEEntry */
    uint32_t pid_offset;      /* offset of st_procpid in an entry */
    uint32_t activity_offset; /* offset of st_state in an entry; valid if activities_known */
    uint32_t activities_known;
    /* Offsets of st_databaseid, which st_userid follows, and of st_appname in an entry; 0 if they
     * are unknown. Then sessions that SQL did not see have no names. */
    uint32_t numbers_offset, application_offset;
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
 * activities before POSTGRES_PROBED must occur at least once, and no other. CAMP_E_FORMAT if no
 * offset or more than one offset fits. */
int postgres_layout_resolve(struct postgres_layout *layout, const struct postgres_known *known,
                            const unsigned char *entries, size_t count, struct camp_error *error);

/* Fills numbers_offset and application_offset from the entry of a backend, whose database, user and
 * application are known. Leaves them 0 if no offset or more than one offset fits. */
void postgres_layout_resolve_names(struct postgres_layout *layout,
                                   const struct postgres_numbers *numbers, const char *application,
                                   const unsigned char entry[POSTGRES_ENTRY_SIZE]);

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

/* Adds an observation: st_state of a backend was `code` right after SQL had reported the activity.
 * Corrects the code of an activity that was not probed. */
void postgres_layout_confirm(struct postgres_layout *layout, enum postgres_activity activity,
                             uint32_t code);

/* Connects, goes through the probed activities twice, and calls postgres_layout_resolve() with the
 * entries of this connection. Then adds the names of all databases and roles, unless the
 * argument is NULL, and calls postgres_layout_resolve_names(). No statement fails, so the server
 * logs none. Takes some 0.2 s, at most 3 s. CAMP_E_FORMAT if no offset fits, CAMP_E_IO if the
 * connection failed, or a failure of postgres_layout_read_entry(). */
struct postgres_names;
int postgres_layout_probe(struct postgres_layout *layout, struct postgres_names *databases,
                          struct postgres_names *roles, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error);
