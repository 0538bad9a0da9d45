/*
 * The text after "mariadb:": where the server is, and the user. It must not have a password, which
 * belongs in an option file ([client], [camp] of ~/.my.cnf, or defaults-file=), or in the
 * environment (MARIADB_PWD or MYSQL_PWD).
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

/* The values of the options. "": not given, so the value is that of an option file, or libmariadb's
 * default. */
struct mariadb_options {
    char values[MARIADB_OPTION_COUNT][MARIADB_VALUE_SIZE];
};

/* `text` is "", words KEY=VALUE (host port user socket database defaults-file), the path of a
 * socket, or the part of a URI after "mariadb:" (//USER@HOST:PORT/DATABASE). CAMP_OK;
 * CAMP_E_INVALID: the message says what is wrong and quotes no value, which may be a password. */
int mariadb_options_parse(const char *text, struct mariadb_options *ret, struct camp_error *error);

/* Writes the options to ret[size] as titles show them: "user@host:port", "user@/socket" or
 * "default". */
void mariadb_options_show(const struct mariadb_options *options, char *ret, size_t size);
