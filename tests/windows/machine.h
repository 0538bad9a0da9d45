/* What the tests on Windows share. */
#pragma once

#include <camp/camp.h>

#include <winsock2.h>

#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline bool is_wine(void)
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != NULL;
}

/* Tests beside a file of the host can run on Wine only, which shows the host's root as Z:. */
static inline void need_wine(void)
{
    if (is_wine())
        return;
    printf("the host's /proc can be read on Wine only\n");
    skip();
}

/* Opens a file below the host's /proc. */
static inline FILE *open_of_host(const char *name)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "Z:\\proc\\%s", name);
    file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

static volatile uint64_t sink;

static inline uint64_t clock_ms(void)
{
    LARGE_INTEGER ticks, hz;

    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&hz);
    return (uint64_t)(ticks.QuadPart / (hz.QuadPart / 1000));
}

/* Keeps one CPU busy. GetTickCount64() has steps of 16 ms, so the time could be up to one step too
 * short. */
static inline void burn_ms(unsigned ms)
{
    const uint64_t end = clock_ms() + ms + 1;

    while (clock_ms() < end)
        for (int i = 0; i < 10000; i++)
            sink += (uint64_t)i;
}

static inline struct camp_process own_process(void)
{
    struct camp_process process;

    assert_int_equal(
        camp_process_identify(NULL, (int32_t)GetCurrentProcessId(), &process, sizeof process, NULL),
        CAMP_OK);
    return process;
}
