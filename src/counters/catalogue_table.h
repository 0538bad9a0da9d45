/*
 * All rows of the catalogue: one for each number that a function of camp.h, linux.h or system.h can
 * return. `camp get`, docs/counters.md and the tuples of the Python module show the numbers in the
 * order of these rows.
 *
 * The file catalogue_rows.c of each system includes this one once, so the library has only the
 * texts of its own system. tools/catalogue prints those of all systems.
 *
 * A new counter needs a field in a public header, code that reads it, and a row.
 */
#pragma once

#include "catalogue_machine.h"
#include "catalogue_system.h"
#include "catalogue_tasks.h"

#define PART(rows)                                                                                 \
    {                                                                                              \
        rows, sizeof(rows) / sizeof(rows)[0]                                                       \
    }

const struct catalogue_part camp_catalogue_parts[CATALOGUE_PARTS] = { PART(machine_rows),
                                                                      PART(task_rows),
                                                                      PART(system_rows) };
