/*
 * The text after "mariadb:": where the server is, and the user. It has no password: that belongs to
 * an option file ([client], [camp] of ~/.my.cnf, or defaults-file=), or to MARIADB_PWD or MYSQL_PWD
 * of the environment.
 */
#pragma once

#include <camp/camp.h>

enum mariadb_option {
    MARIADB_OPTION_HOST,
    MARIADB_OPTION_PORT,
    MARIADB_OPTION_USER,
    MARIADB_OPTION_SOCKET,
    MARIADB_OPTION_DATABASE,
    MARIADB_OPTION_DEFAULTS_FILE,
    MARIADB_OPTION_COUNT
};

#define MARIADB_VALUE_SIZE 256

/* "": not given; an option file may have it, libmariadb has defaults. */
struct mariadb_options {
    char values[MARIADB_OPTION_COUNT][MARIADB_VALUE_SIZE];
};

/* `text` is "", words KEY=VALUE (host port user socket database defaults-file), the path of a
 * socket, or the part of a URI after "mariadb:" (//USER@HOST:PORT/DATABASE). CAMP_OK;
 * CAMP_E_INVALID: the message says what is wrong and quotes no value, which may be a password. */
int mariadb_options_parse(const char *text, struct mariadb_options *ret, struct camp_error *error);

/* ret[size]: "user@host:port", "user@/socket" or "default": for titles. */
void mariadb_options_show(const struct mariadb_options *options, char *ret, size_t size);
