/* Several --from options, each of which names a database server. */
#pragma once

#include "sources/from.h"

/* Checks that from->text and from->more name different servers of PostgreSQL or MariaDB, which
 * accept the options that are set in `from`. CAMP_E_INVALID; the message says what to do. */
int servers_from_check(const struct from *from, struct camp_error *error);

/* Does the same, then opens the servers: servers_source_open(). */
int servers_from_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error);
