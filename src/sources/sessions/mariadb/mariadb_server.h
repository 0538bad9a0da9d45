/* What is to be known of a MariaDB server once it is connected: rights, instruments, where it is.
 */
#ifndef CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_SERVER_H
#define CAMP_SOURCES_SESSIONS_MARIADB_MARIADB_SERVER_H

#include "mariadb_client.h"

struct mariadb_server {
    bool has_process;     /* the right PROCESS: without it other users' sessions are hidden */
    unsigned instruments; /* INSTRUMENTS_IDLE ...; 0: none, or not permitted */
    uint64_t lost;        /* conditions, sessions, ... that performance_schema had no room for */
    int32_t pid;          /* of the server on this machine, each session a thread; 0: elsewhere */
    int32_t own_tid;      /* the thread that serves us, when pid is known */
    char without_pid[96]; /* why it is not known */
};

/* Asks, until `until_ns`. CAMP_OK, MARIADB_PENDING, or as mariadb_client_ask(). */
int mariadb_server_learn(struct mariadb_client *client, uint64_t until_ns,
                         struct mariadb_server *ret, struct camp_error *error);

#endif
