/*
 * What a server's memory says of a connection's activity, activities_known by a connection of our
 * own that goes through all of them, twice: what tells them apart both times is where it stands.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LAYOUT_PROBE_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LAYOUT_PROBE_H

#include "postgres_layout.h"

#include <signal.h>

/* `layout` was found (postgres_layout_find()). Takes some 0.2 s, 2 s at most. CAMP_E_FORMAT: the
 * activities cannot be told apart; CAMP_E_IO: there is no second connection to be had; or as
 * postgres_layout_read_entry(). */
int postgres_layout_probe(struct postgres_layout *layout, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error);

#endif
