/*
 * What a server's memory says of a connection's activity, learned by a connection of our own that
 * goes through all of them, twice: what tells them apart both times is where it stands.
 */
#ifndef CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LEARN_H
#define CAMP_SOURCES_SESSIONS_POSTGRES_POSTGRES_LEARN_H

#include "postgres_place.h"

#include <signal.h>

/* `place` was found (postgres_place_find()). Takes some 0.2 s, 2 s at most. CAMP_E_FORMAT: the
 * activities cannot be told apart; CAMP_E_IO: there is no second connection to be had; or as
 * postgres_place_entry(). */
int postgres_learn(struct postgres_place *place, const char *conninfo,
                   const volatile sig_atomic_t *stop, struct camp_error *error);

#endif
