/* The trees of processes in tests/fixtures/process/. */
#pragma once

#include "counters/linux/process.h"

#include <camp/camp.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline const struct camp_source *tree(const char *name)
{
    static struct camp_source source;
    static char folder[512];
    const char *fixtures = getenv("CAMP_FIXTURES");

    assert_non_null(fixtures);
    snprintf(folder, sizeof folder, "%s/process/%s", fixtures, name);
    source.proc = folder;
    return &source;
}

static inline struct camp_task read_task(const char *name, int32_t pid, uint32_t wanted)
{
    const struct camp_source *source = tree(name);
    struct camp_process process;
    struct camp_task task;

    assert_int_equal(camp_process_identify(source, pid, &process, sizeof process, NULL), CAMP_OK);
    assert_int_equal(camp_process_read(source, &process, wanted, &task, sizeof task, NULL),
                     CAMP_OK);
    return task;
}
