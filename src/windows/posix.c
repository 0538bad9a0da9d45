#include "windows.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>

#undef fflush

char *strndup(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);
    char *ret = malloc(length + 1);

    if (ret == NULL)
        return NULL;
    memcpy(ret, text, length);
    ret[length] = '\0';
    return ret;
}

char *stpcpy(char *target, const char *text)
{
    const size_t length = strlen(text);

    memcpy(target, text, length + 1);
    return target + length;
}

void *memmem(const void *text, size_t length, const void *wanted, size_t wanted_length)
{
    const char *bytes = text;

    for (size_t i = 0; i + wanted_length <= length; i++) {
        if (memcmp(bytes + i, wanted, wanted_length) == 0)
            return (void *)(uintptr_t)(bytes + i);
    }
    return NULL;
}

struct order {
    int (*compare)(const void *, const void *, void *);
    void *context;
};

/* qsort_s() passes its context first. */
static int compare_by(void *order, const void *a, const void *b)
{
    const struct order *by = order;

    return by->compare(a, b, by->context);
}

void qsort_r(void *elements, size_t count, size_t size,
             int (*compare)(const void *, const void *, void *), void *context)
{
    struct order order = { compare, context };

    /* qsort_s() takes NULL for an error, also without elements. */
    if (count > 1)
        qsort_s(elements, count, size, compare_by, &order);
}

time_t timegm(struct tm *utc)
{
    return _mkgmtime(utc);
}

/* The C library does not convert times before 1970. */
static void offset_text(char *ret, size_t size, const struct tm *time)
{
    struct tm local = *time, utc = *time;
    const time_t as_utc = _mkgmtime(&utc), as_local = mktime(&local);
    const int minutes = (int)((as_utc - as_local) / 60);

    if (as_utc < 0 || as_local < 0)
        snprintf(ret, size, "local");
    else
        snprintf(ret, size, minutes == 0 ? "UTC" : "UTC%c%02d:%02d", minutes < 0 ? '-' : '+',
                 abs(minutes) / 60, abs(minutes) % 60);
}

size_t windows_strftime(char *ret, size_t size, const char *format, const struct tm *time)
{
    const char *zone = strstr(format, "%Z");
    char with_offset[128], offset[16];

    if (zone == NULL)
        return (strftime)(ret, size, format, time);
    offset_text(offset, sizeof offset, time);
    snprintf(with_offset, sizeof with_offset, "%.*s%s%s", (int)(zone - format), format, offset,
             zone + 2);
    return (strftime)(ret, size, with_offset, time);
}

int windows_gethostname(char *ret, size_t size)
{
    wchar_t name[256];
    DWORD length = sizeof name / sizeof name[0];

    if (size > INT_MAX || !GetComputerNameExW(ComputerNameDnsHostname, name, &length) ||
        WideCharToMultiByte(CP_UTF8, 0, name, -1, ret, (int)size, NULL, NULL) == 0) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

/* Unlike _read(), takes a size_t. */
ssize_t windows_read(int descriptor, void *ret, size_t size)
{
    return _read(descriptor, ret, size < INT_MAX ? (unsigned)size : INT_MAX);
}

/* Returns errno for the last failed call of the C library, which keeps the error of the system. */
static int errno_of_system(void)
{
    switch (_doserrno) {
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED:
        return EPIPE;
    case ERROR_DISK_FULL:
        return ENOSPC;
    default:
        return EIO;
    }
}

int windows_fflush(FILE *stream)
{
    const int result = fflush(stream);

    if (stream == NULL || !ferror(stream))
        return result;
    errno = errno_of_system();
    return EOF;
}

static long ticks_per_second(void)
{
    DWORD adjustment, increment;
    BOOL is_disabled;

    /* The increment is the length of a tick in units of 100 ns. */
    if (!GetSystemTimeAdjustment(&adjustment, &increment, &is_disabled) || increment == 0)
        return -1;
    return (long)((10000000 + increment / 2) / increment);
}

long sysconf(int name)
{
    SYSTEM_INFO system;

    if (name == _SC_CLK_TCK)
        return ticks_per_second();
    GetSystemInfo(&system);
    return name == _SC_PAGESIZE ? (long)system.dwPageSize
                                : (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}
