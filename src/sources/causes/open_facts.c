/*
 * The sleeps that have not ended, for a source whose idle threads are not visited one by one: it
 * knows how many idle threads of a process are in a state. The calls of the threads of these
 * processes are read from /proc, and each thread gets the time of a thread that its call fits.
 *
 * Of the watched group all sleeps are read. Of other groups, those for file locks: a process that
 * waits for one is in /proc/locks, behind the lock. A sleep in futex(2) or semop(2) is often one
 * for work: it is kept if its owner is known, and if it lasted through the interval. Processes that
 * are known to sleep for work are not read again until one of their threads runs.
 */
#include "cause_objects.h"
#include "ends/file_locks.h"
#include "ends/lock_owner.h"
#include "ledger/array.h"
#include "microstates/calls.h"
#include "open_chain.h"
#include "open_sleeps.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAITERS_MOST 256

static size_t read_waiters(int32_t *ret, const char *folder)
{
    char path[256];
    FILE *file;
    size_t count;

    snprintf(path, sizeof path, "%s/locks", folder);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    count = file_lock_waiters(file, ret, WAITERS_MOST);
    fclose(file);
    return count;
}

static bool has_pid(const int32_t *pids, size_t count, int32_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (pids[i] == pid)
            return true;
    }
    return false;
}

/* The sleeps of one interval. */
struct reading_open {
    struct causes *causes;
    struct open_sleeps *sleeps;
    uint32_t subject;
    const char *folder;
    int32_t waiters[WAITERS_MOST];
    size_t waiter_count, read; /* `read`: threads whose call was read */
    bool failed;
    /* What is left of CAUSE_NOT_ENDED, and how much of it is of threads that slept through. */
    uint64_t left_ns[CAUSE_GROUPS][CAMP_STATE_COUNT], whole_ns[CAUSE_GROUPS][CAMP_STATE_COUNT];
};

/* Of processes that wait for no file lock, a sleep in the state lock may be for a futex or a
 * semaphore whose owner is known, if it lasted through the interval. */
static bool is_wanted(const struct reading_open *reading, const struct open_sleep *sleep)
{
    return sleep->group < CAUSE_GROUPS && sleep->state < CAMP_STATE_COUNT &&
           (sleep->group == reading->subject ||
            (sleep->state == CAMP_STATE_LOCK && sleep->is_whole) ||
            has_pid(reading->waiters, reading->waiter_count, sleep->pid));
}

/* Adds up the times, and keeps the sleeps that are wanted. */
static void choose(struct reading_open *reading)
{
    const struct cause_list *rows = &reading->causes->rows;
    struct open_sleeps *sleeps = reading->sleeps;
    size_t left = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct cause *row = &rows->items[i];

        if (row->kind == CAUSE_NOT_ENDED)
            reading->left_ns[row->group % CAUSE_GROUPS][row->state] += row->wait_ns;
    }
    for (size_t i = 0; i < sleeps->count; i++) {
        struct open_sleep sleep = sleeps->items[i];

        if (sleep.is_whole && sleep.group < CAUSE_GROUPS && sleep.state < CAMP_STATE_COUNT)
            reading->whole_ns[sleep.group][sleep.state] += sleep.most_ns;
        sleep.threads = sleep.threads > 0 ? sleep.threads : 1;
        sleep.sleep_ns = sleep.most_ns; /* what no thread has got yet */
        if (is_wanted(reading, &sleep))
            sleeps->items[left++] = sleep;
    }
    sleeps->count = left;
}

/* Returns how much of the time of a sleep has not ended, and subtracts it from what is left. */
static uint64_t take(struct reading_open *reading, const struct open_sleep *sleep, uint64_t time_ns)
{
    uint64_t *left_ns = &reading->left_ns[sleep->group][sleep->state];
    uint64_t *whole_ns = &reading->whole_ns[sleep->group][sleep->state];
    const uint64_t kept_ns = sleep->is_whole ? 0 : *whole_ns;
    const uint64_t most_ns = *left_ns > kept_ns ? *left_ns - kept_ns : 0;
    const uint64_t taken_ns = time_ns < most_ns ? time_ns : most_ns;

    *left_ns -= taken_ns;
    if (sleep->is_whole)
        *whole_ns -= time_ns < *whole_ns ? time_ns : *whole_ns;
    return taken_ns;
}

/* Adds the sleep of `threads` threads, of which `call` has the call and its argument. */
static void add(struct reading_open *reading, struct open_sleep *sleep, uint32_t threads,
                struct camp_call_sleeps call)
{
    struct causes *causes = reading->causes;
    const uint64_t time_ns = sleep->sleep_ns / sleep->threads * threads +
                             (threads == sleep->threads ? sleep->sleep_ns % sleep->threads : 0);
    const struct open_fact fact = { .group = sleep->group, .state_ns = time_ns };

    call.pid = sleep->pid;
    call.state = sleep->state;
    call.count = threads;
    call.sleep_ns = take(reading, sleep, time_ns);
    sleep->sleep_ns -= time_ns;
    sleep->threads -= threads;
    for (size_t i = 0; i < causes->open_calls.count; i++) {
        struct camp_call_sleeps *has = &causes->open_calls.items[i];

        if (has->pid == call.pid && has->call == call.call && has->state == call.state &&
            has->argument == call.argument) {
            has->sleep_ns += call.sleep_ns;
            has->count += call.count;
            causes->open_facts[i].state_ns += time_ns;
            return;
        }
    }
    if (call.sleep_ns > 0)
        reading->failed |= !open_call_add(causes, &causes->open_calls.capacity, &call, &fact);
}

/* Returns the sleep of a process, sleeps[count], that is of a thread in a call of `state`. NULL if
 * there is none. */
static struct open_sleep *find_sleep(struct open_sleep *sleeps, size_t count, int32_t tid,
                                     uint32_t state)
{
    for (size_t i = 0; i < count; i++) {
        if (sleeps[i].tid == tid && sleeps[i].threads > 0)
            return &sleeps[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (sleeps[i].tid == 0 && sleeps[i].threads > 0 && sleeps[i].state == state)
            return &sleeps[i];
    }
    return count == 1 && sleeps->tid == 0 && sleeps->threads == 1 ? sleeps : NULL;
}

/* Returns whether a sleep in a call is for the lock of a file, or for another lock whose owner is
 * known. */
static bool is_blocked(const struct reading_open *reading, const struct open_sleep *sleep,
                       const struct lock_wait *wait, uint32_t state)
{
    struct lock_owner owner;

    if (sleep->state != CAMP_STATE_LOCK || state != CAMP_STATE_LOCK)
        return false;
    return camp_call_argument(wait->call) == CALL_DESCRIPTOR ||
           (sleep->is_whole && lock_owner_find(&owner, wait, reading->folder));
}

/* Returns whether the thread sleeps in a call for no lock whose owner may be known. */
static bool read_thread(struct reading_open *reading, struct open_process *process, int32_t tid)
{
    struct lock_wait wait = { .pid = process->pid };
    struct camp_call_sleeps call = { .pid = process->pid };
    struct open_sleep *sleep;
    uint32_t state;

    if (!open_call_read_all(wait.pid, tid, reading->folder, &wait.call, wait.arguments))
        return false;
    call.call = wait.call;
    call.argument = camp_call_argument(call.call) != CALL_OTHER ? wait.arguments[0] : 0;
    state = open_call_state(&call, reading->folder);
    sleep = find_sleep(&reading->sleeps->items[process->first], process->count, tid, state);
    if (sleep == NULL)
        return false;
    if (sleep->group == reading->subject || is_blocked(reading, sleep, &wait, state))
        add(reading, sleep, 1, call);
    else if (unowned_note(&reading->causes->unowned, sleep, call.call, state))
        process->unowned++;
    return wait.call >= 0 && !lock_owner_may_appear(&wait) &&
           (state != CAMP_STATE_LOCK || camp_call_argument(wait.call) != CALL_DESCRIPTOR);
}

/* Reads the calls of the threads of one process. */
static void read_process(struct reading_open *reading, struct open_process *process)
{
    struct open_sleep *sleeps = &reading->sleeps->items[process->first];
    uint32_t threads = 0, without_lock = 0;
    char path[256];
    const struct dirent *entry;
    DIR *directory;

    process->unowned = 0;
    snprintf(path, sizeof path, "%s/%" PRId32 "/task", reading->folder, process->pid);
    directory = opendir(path);
    while (directory != NULL && reading->read < OPEN_SLEEPS_READ &&
           (entry = readdir(directory)) != NULL) {
        const int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

        threads += tid > 0;
        reading->read += tid > 0;
        without_lock += tid > 0 && read_thread(reading, process, tid);
    }
    if (directory != NULL)
        closedir(directory);
    process->known = OPEN_READ;
    if (threads > 0 && without_lock == threads && threads == process->threads)
        process->known = OPEN_WITHOUT_LOCK;
    for (size_t i = 0; i < process->count; i++) {
        if (sleeps[i].group == reading->subject && sleeps[i].threads > 0)
            add(reading, &sleeps[i], sleeps[i].threads,
                (struct camp_call_sleeps){ .call = CALL_UNKNOWN });
    }
}

/* What is left of the time of the subject is of threads that were not noted. */
static void add_rest(struct reading_open *reading)
{
    struct causes *causes = reading->causes;

    for (uint32_t state = 0; reading->subject < CAUSE_GROUPS && state < CAMP_STATE_COUNT; state++) {
        const struct camp_call_sleeps rest = { .call = CALL_UNKNOWN,
                                               .state = state,
                                               .sleep_ns =
                                                   reading->left_ns[reading->subject][state] };
        const struct open_fact fact = { .group = reading->subject };

        if (rest.sleep_ns > 0)
            reading->failed |= !open_call_add(causes, &causes->open_calls.capacity, &rest, &fact);
    }
}

/* Returns whether a process is read before others: it is the subject, or waits for the lock of a
 * file. */
static bool is_first(const struct reading_open *reading, const struct open_process *process)
{
    bool first = has_pid(reading->waiters, reading->waiter_count, process->pid);

    for (size_t i = 0; i < process->count; i++)
        first |= reading->sleeps->items[process->first + i].group == reading->subject;
    return first;
}

/* Reads processes, the newest first, because those of the system started first and wait for work:
 * those that were never read (OPEN_UNREAD), or those that were or are new. Reads at most `most`
 * threads in all. */
static void read_others(struct reading_open *reading, bool unread, size_t most)
{
    for (size_t i = reading->sleeps->process_count; i-- > 0 && reading->read < most;) {
        struct open_process *process = &reading->sleeps->processes[i];

        if (process->known != OPEN_WITHOUT_LOCK && (process->known == OPEN_UNREAD) == unread &&
            !is_first(reading, process))
            read_process(reading, process);
    }
}

static void read_processes(struct reading_open *reading)
{
    struct open_process *processes = reading->sleeps->processes;

    for (size_t i = 0; i < reading->sleeps->process_count; i++) {
        if (is_first(reading, &processes[i]))
            read_process(reading, &processes[i]);
        else if (processes[i].known == OPEN_WITHOUT_LOCK)
            unowned_note_again(&reading->causes->unowned, reading->sleeps, &processes[i]);
    }
    read_others(reading, false, OPEN_SLEEPS_READ - OPEN_SLEEPS_LATE);
    read_others(reading, true, reading->read + OPEN_SLEEPS_LATE);
}

static void name_all(struct causes *causes, struct cause_objects *objects, const char *folder)
{
    if (causes->unowned.threads > 0)
        open_process_name(causes->unowned.who, causes->unowned.most_pid, folder);
    cause_objects_find(objects, causes->open_calls.items, causes->open_calls.count, folder);
    for (size_t i = 0; i < causes->open_calls.count; i++) {
        const struct camp_call_sleeps *call = &causes->open_calls.items[i];
        struct open_fact *fact = &causes->open_facts[i];

        open_process_name(fact->who, call->pid, folder);
        cause_call_name(fact->names.call, call->call);
        cause_object_name(fact->names.object, call, folder);
        snprintf(fact->other_end, sizeof fact->other_end, "%s",
                 cause_objects_peer(objects, fact->names.object, call->pid));
        fact->holder = cause_objects_holder(objects, fact->names.object, call->pid);
    }
}

/* Returns the time of all open sleeps of a group for the object of one of them. */
static uint64_t time_for_object(const struct causes *causes, size_t at)
{
    const struct open_fact *fact = &causes->open_facts[at];
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < causes->open_calls.count; i++) {
        const struct open_fact *other = &causes->open_facts[i];

        if (other->group == fact->group &&
            causes->open_calls.items[i].state == causes->open_calls.items[at].state &&
            strcmp(other->names.call, fact->names.call) == 0 &&
            strcmp(other->names.object, fact->names.object) == 0)
            sum_ns += causes->open_calls.items[i].sleep_ns;
    }
    return sum_ns;
}

/* Returns the longest open sleep of a group for the object that its threads sleep for longest, if
 * the other end is a process; otherwise its longest one. SIZE_MAX if the sleeps for the object are
 * a small part of the group's time. */
static size_t first_of_chain(const struct causes *causes, uint32_t group)
{
    size_t found = SIZE_MAX, any = SIZE_MAX;
    uint64_t most_ns = group < CAUSE_GROUPS ? causes_total_ns(causes, group) / 8 : UINT64_MAX;

    for (size_t i = 0; group < CAUSE_GROUPS && i < causes->open_calls.count; i++) {
        uint64_t time_ns;

        if (causes->open_facts[i].group != group)
            continue;
        if (any == SIZE_MAX && causes->open_calls.items[i].sleep_ns > most_ns)
            any = i;
        if (causes->open_facts[i].holder == 0)
            continue;
        time_ns = time_for_object(causes, i);
        if (time_ns <= most_ns)
            continue;
        most_ns = time_ns;
        found = i;
    }
    return found != SIZE_MAX ? found : any;
}

/* Adds the steps of the chain that starts at the open sleeps of the subject. */
static bool add_steps(struct causes *causes, uint32_t subject, struct cause_objects *objects,
                      const char *folder)
{
    struct open_step steps[OPEN_CHAIN_MAX];
    const size_t first = first_of_chain(causes, subject);
    size_t count = 0;

    if (first != SIZE_MAX)
        count = open_chain(steps, &causes->open_calls.items[first], objects, folder);
    for (size_t i = 1; i < count; i++) {
        const int32_t next = i + 1 < count ? steps[i + 1].pid : 0;
        struct camp_call_sleeps call = steps[i].call;
        struct open_fact fact = {
            .group = CAUSE_GROUPS, .does = steps[i].does, .names = steps[i].names, .holder = next
        };

        if (i == 1)
            causes->open_facts[first].holder = steps[i].pid;
        memcpy(fact.other_end, steps[i].other_end, sizeof fact.other_end);
        memcpy(fact.who, steps[i].who, sizeof fact.who);
        call.pid = steps[i].pid;
        call.sleep_ns = 0;
        call.count = steps[i].threads;
        if (steps[i].does != OPEN_CIRCLE &&
            !open_call_add(causes, &causes->open_calls.capacity, &call, &fact))
            return false;
    }
    return true;
}

bool open_facts_fill(struct causes *causes, struct open_sleeps *sleeps, uint32_t subject,
                     struct cause_objects *objects, const char *folder)
{
    struct reading_open reading = {
        .causes = causes, .sleeps = sleeps, .subject = subject, .folder = folder
    };

    causes->open_calls.count = 0;
    causes->unowned = (struct unowned_waits){ 0 };
    causes->has_open_facts = true;
    if (sleeps->count > 0)
        reading.waiter_count = read_waiters(reading.waiters, folder);
    choose(&reading);
    if (!open_sleeps_sort(sleeps))
        return false;
    read_processes(&reading);
    add_rest(&reading);
    if (reading.failed)
        return false;
    open_calls_sort(causes);
    name_all(causes, objects, folder);
    return add_steps(causes, subject, objects, folder);
}
