/* A part of another source as a source of its own. Each function takes ownership of `whole`, which
 * is closed with *ret, and on failure. CAMP_OK or CAMP_E_NOMEM. */
#pragma once

#include "source.h"

/* The frames beside the source's frames: the CPUs in a snapshot of threads. `whole` must have such
 * a frame, also before its first one. */
int beside_source_open(struct source *whole, struct source **ret);

/* CPUs without the row of all CPUs together. A consumer that adds entities up, or shows each as one
 * of many, would count the total twice. */
int parts_source_open(struct source *whole, struct source **ret);
