/* LOAD_SLEEP_LOCK sleeps in futex(2), LOAD_SLEEP_PIPE in read(2) of a pipe. */
#include "load/load_alarm.h"

#include "counters/error.h"
#include "program/command.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

int load_alarm_open(struct load_alarm *ret, enum load_sleep_kind kind, struct camp_error *error)
{
    *ret = (struct load_alarm){ .kind = kind, .of_system.ends = { -1, -1 } };
    if (kind == LOAD_SLEEP_PIPE && pipe2(ret->of_system.ends, O_CLOEXEC) != 0)
        return camp_fail_errno(error, errno, "a pipe");
    return CAMP_OK;
}

void load_alarm_close(struct load_alarm *alarm)
{
    for (int i = 0; i < 2; i++)
        if (alarm->of_system.ends[i] >= 0)
            close(alarm->of_system.ends[i]);
}

void load_alarm_wait(struct load_alarm *alarm, uint32_t wakes)
{
    char byte;

    if (alarm->kind == LOAD_SLEEP_LOCK)
        while (atomic_load(&alarm->wakes) == wakes && !stop_requested)
            syscall(SYS_futex, &alarm->wakes, FUTEX_WAIT_PRIVATE, wakes, NULL, NULL, 0);
    else
        while (read(alarm->of_system.ends[0], &byte, 1) < 0 && errno == EINTR && !stop_requested)
            continue;
}

void load_alarm_wake(struct load_alarm *alarm)
{
    atomic_fetch_add(&alarm->wakes, 1);
    if (alarm->kind == LOAD_SLEEP_LOCK)
        syscall(SYS_futex, &alarm->wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    else
        while (write(alarm->of_system.ends[1], "", 1) < 0 && errno == EINTR)
            continue;
}
