/* LOAD_SLEEP_LOCK sleeps for a condition variable, LOAD_SLEEP_PIPE in ReadFile() of a pipe. No
 * signal interrupts them, so the thread that wakes the sleeper also ends a sleep when a stop is
 * requested.
 */
#include "load/load_alarm.h"
#include "load_system.h"

#include "program/command.h"

#define READING 2 /* index of the handles in `words` */
#define WRITING 3

static SRWLOCK *lock_of(struct load_alarm *alarm)
{
    return (SRWLOCK *)&alarm->of_system.words[0];
}

static CONDITION_VARIABLE *condition_of(struct load_alarm *alarm)
{
    return (CONDITION_VARIABLE *)&alarm->of_system.words[1];
}

int load_alarm_open(struct load_alarm *ret, enum load_sleep_kind kind, struct camp_error *error)
{
    *ret = (struct load_alarm){ .kind = kind };
    InitializeSRWLock(lock_of(ret));
    InitializeConditionVariable(condition_of(ret));
    if (kind == LOAD_SLEEP_PIPE &&
        !CreatePipe(&ret->of_system.words[READING], &ret->of_system.words[WRITING], NULL, 0))
        return windows_failed(error, GetLastError(), "a pipe");
    return CAMP_OK;
}

void load_alarm_close(struct load_alarm *alarm)
{
    if (alarm->kind != LOAD_SLEEP_PIPE)
        return;
    CloseHandle(alarm->of_system.words[READING]);
    CloseHandle(alarm->of_system.words[WRITING]);
}

void load_alarm_wait(struct load_alarm *alarm, uint32_t wakes)
{
    DWORD length;
    char byte;

    if (alarm->kind == LOAD_SLEEP_PIPE) {
        ReadFile(alarm->of_system.words[READING], &byte, 1, &length, NULL);
        return;
    }
    AcquireSRWLockExclusive(lock_of(alarm));
    while (atomic_load(&alarm->wakes) == wakes)
        SleepConditionVariableSRW(condition_of(alarm), lock_of(alarm), INFINITE, 0);
    ReleaseSRWLockExclusive(lock_of(alarm));
}

void load_alarm_wake(struct load_alarm *alarm)
{
    DWORD length;

    if (alarm->kind == LOAD_SLEEP_PIPE) {
        atomic_fetch_add(&alarm->wakes, 1);
        WriteFile(alarm->of_system.words[WRITING], "", 1, &length, NULL);
        return;
    }
    AcquireSRWLockExclusive(lock_of(alarm));
    atomic_fetch_add(&alarm->wakes, 1);
    ReleaseSRWLockExclusive(lock_of(alarm));
    WakeConditionVariable(condition_of(alarm));
}
