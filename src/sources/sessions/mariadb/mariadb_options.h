/*
 * Parses the text after "mariadb:", which says where the server is and which user connects. The
 * text must not contain a password. A password belongs in an option file ([client] or [camp] of
 * ~/.my.cnf, or defaults-file=) or in the environment (MARIADB_PWD or MYSQL_PWD).
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>

enum mariadb_option {
    MARIADB_OPTION_HOST,
    MARIADB_OPTION_PORT,
    MARIADB_OPTION_USER,
    MARIADB_OPTION_SOCKET,
    MARIADB_OPTION_DATABASE,
    MARIADB_OPTION_DEFAULTS_FILE,
    MARIADB_OPTION_VERIFY, /* "yes" (or missing), "no" */
    MARIADB_OPTION_COUNT
};

#define MARIADB_VALUE_SIZE 256

/* values[] is indexed by enum mariadb_option. A missing option is "": its value comes from an
 * option file, or is the default of libmariadb. */
struct mariadb_options {
    char values[MARIADB_OPTION_COUNT][MARIADB_VALUE_SIZE];
    bool is_mysql; /* the server may be MySQL: "mysql:" instead of "mariadb:"; set by the caller */
};

/* Parses words KEY=VALUE (host port user socket database defaults-file
 * verify), the path of a socket, or
 * the part of a URI after "mariadb:" (//USER@HOST:PORT/DATABASE). An empty text is valid. Returns
 * CAMP_OK or CAMP_E_INVALID; the message says what is wrong, and quotes no value, because a value
 * may be a password. */
int mariadb_options_parse(const char *text, struct mariadb_options *ret, struct camp_error *error);

/* Writes the options as titles show them: "user@host:port", "user@/socket" or "default". */
void mariadb_options_show(const struct mariadb_options *options, char *ret, size_t size);

/* Writes a text for --from with the same options: "mariadb:host=db1 user=camp", or
 * "mysql:...". Writes "" if a
 * value cannot be a word of it. */
void mariadb_options_from(const struct mariadb_options *options, char *ret, size_t size);
