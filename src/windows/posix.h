/*
 * Functions of POSIX.1-2008 and of glibc that mingw-w64 lacks, with their names and their behaviour
 * as far as camp uses them. The build includes this file before each file of the commands.
 */
#pragma once

#define _POSIX_THREAD_SAFE_FUNCTIONS 200809L /* localtime_r() and the like */

#include <fcntl.h>
#include <io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

char *strndup(const char *text, size_t size);
char *stpcpy(char *target, const char *text);
void qsort_r(void *elements, size_t count, size_t size,
             int (*compare)(const void *, const void *, void *), void *context);
void *memmem(const void *text, size_t length, const void *wanted, size_t wanted_length);
time_t timegm(struct tm *utc);

/* For %Z writes the difference to UTC, such as "UTC+01:00": the C library has the name of the time
 * zone in the language of the user, and not in UTF-8. `time` is a local time. */
size_t windows_strftime(char *ret, size_t size, const char *format, const struct tm *time);
int windows_gethostname(char *ret, size_t size); /* without sockets, which need to be started */
ssize_t windows_read(int descriptor, void *ret, size_t size);

/* Fails also if an earlier write to the stream has failed, with the errno of Linux: fflush() of the
 * C library fails only once, and with EINVAL for a pipe whose reader has closed it. */
int windows_fflush(FILE *stream);

/* Only for CLOCK_MONOTONIC and an absolute time. Returns EINTR as soon as a stop was requested
 * (signals.c), because no signal of Windows interrupts a sleep. */
int windows_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                            struct timespec *unused);

/* For _SC_CLK_TCK returns how many clock ticks one second has: sampled times are multiples of a
 * tick. */
long sysconf(int name);

#ifdef __cplusplus
}
#endif

#define PATH_SEPARATORS "/\\:"
#define clock_nanosleep windows_clock_nanosleep
#define fflush windows_fflush
#define gethostname windows_gethostname
#define read windows_read
#define strftime(ret, size, format, time) windows_strftime(ret, size, format, time)
#define putc_unlocked putc
#define O_CLOEXEC _O_NOINHERIT
#define _SC_CLK_TCK 0
#define _SC_PAGESIZE 1
#define _SC_NPROCESSORS_ONLN 2

/* The macros of mingw-w64 convert to float in a branch that is not taken, which gcc reports. */
#undef isnan
#undef isfinite
#undef isinf
#define isnan(x) __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
