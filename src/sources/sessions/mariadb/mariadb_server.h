/* The facts of a MariaDB server after connecting: rights, instruments, machine. */
#pragma once

#include "mariadb_client.h"

struct mariadb_server {
    bool has_process;     /* the right PROCESS: other users' sessions are visible */
    unsigned instruments; /* INSTRUMENTS_IDLE ...; 0: none, or not permitted */
    uint64_t lost;        /* conditions, sessions, ... that did not fit into performance_schema */
    int32_t pid;          /* of a server on this machine with a thread per session; 0: otherwise */
    int32_t own_tid;      /* the thread that serves camp, if pid is known */
    char without_pid[96]; /* why pid is unknown */
};

/* Reads the facts, until `until_ns`. CAMP_OK, REMOTE_PENDING, or as mariadb_client_ask(). */
int mariadb_server_read(struct mariadb_client *client, uint64_t until_ns,
                        struct mariadb_server *ret, struct camp_error *error);
