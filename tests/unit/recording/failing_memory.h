/* Makes allocations of SQLite fail. Call fail_allocations() before SQLite is used. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

static sqlite3_mem_methods memory;
static size_t allocations, failing; /* allocation number `failing` fails; 0: none */

static bool is_failing(void)
{
    return ++allocations == failing;
}

static void *allocate(int size)
{
    return is_failing() ? NULL : memory.xMalloc(size);
}

static void *reallocate(void *block, int size)
{
    return is_failing() ? NULL : memory.xRealloc(block, size);
}

static void fail_allocations(void)
{
    sqlite3_mem_methods failing_memory;

    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory), SQLITE_OK);
    failing_memory = memory;
    failing_memory.xMalloc = allocate;
    failing_memory.xRealloc = reallocate;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing_memory), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
}
