/*
 * Resolves where a server's memory keeps the activity of a connection: a connection of camp's own
 * goes through all activities twice.
 */
#pragma once

#include "postgres_layout.h"

#include <signal.h>

/* Fills the activities of a layout that postgres_layout_find() has found. Takes some 0.2 s, 2 s at
 * most. CAMP_E_FORMAT: no offset fits; CAMP_E_IO: the second connection failed; or as
 * postgres_layout_read_entry(). */
int postgres_layout_probe(struct postgres_layout *layout, const char *conninfo,
                          const volatile sig_atomic_t *stop, struct camp_error *error);
