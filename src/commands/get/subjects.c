#include "subjects.h"

#include "ledger/array.h"
#include "listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void subjects_release(struct subjects *subjects)
{
    for (size_t i = 0; i < subjects->count; i++)
        free(subjects->items[i].failure);
    free(subjects->items);
    *subjects = (struct subjects){ .source = subjects->source };
}

/* Adds it, unless one of its label is among the first `compared`. */
static bool add(struct subjects *subjects, const struct subject *subject, size_t compared,
                size_t *ret_index)
{
    for (size_t i = 0; i < compared; i++) {
        if (strcmp(subjects->items[i].label, subject->label) != 0)
            continue;
        *ret_index = i;
        return true;
    }
    if (!ARRAY_RESERVE(subjects->items, subjects->capacity, subjects->count + 1))
        return false;
    *ret_index = subjects->count;
    subjects->items[subjects->count++] = *subject;
    return true;
}

bool subjects_add(struct subjects *subjects, const struct subject *subject, size_t *ret_index)
{
    size_t index;

    return add(subjects, subject, subjects->count, ret_index != NULL ? ret_index : &index);
}

static void label_process(struct subject *subject)
{
    snprintf(subject->label, sizeof subject->label, "process.%" PRId32 "@%" PRIu64,
             subject->process.pid, subject->process.start);
}

void subject_of_process(struct subject *ret, const struct camp_process *process)
{
    *ret = (struct subject){ .kind = CAMP_KIND_PROCESS, .process = *process };
    label_process(ret);
}

static void label_thread(struct subject *subject)
{
    snprintf(subject->label, sizeof subject->label, "thread.%" PRId32 ".%" PRId32 "@%" PRIu64,
             subject->thread.pid, subject->thread.tid, subject->thread.start);
}

static void label_device(struct subject *subject)
{
    snprintf(subject->label, sizeof subject->label, "%s.%s", camp_kind_name(subject->kind),
             subject->device);
}

/* Element i of what `list` gave, as a subject. */
static void take(struct subject *subject, const void *array, size_t i)
{
    switch (subject->kind) {
    case CAMP_KIND_CPU:
        subject->cpu = ((const int32_t *)array)[i];
        snprintf(subject->label, sizeof subject->label, "cpu.%" PRId32, subject->cpu);
        break;
    case CAMP_KIND_NETWORK:
        memcpy(subject->device, ((const struct camp_network *)array)[i].name, CAMP_NAME_SIZE);
        label_device(subject);
        break;
    case CAMP_KIND_DISK:
    case CAMP_KIND_PARTITION:
        memcpy(subject->device, ((const struct camp_disk *)array)[i].name, CAMP_NAME_SIZE);
        label_device(subject);
        break;
    case CAMP_KIND_PROCESS:
        subject->process = ((const struct camp_process *)array)[i];
        label_process(subject);
        break;
    case CAMP_KIND_THREAD:
        subject->thread = ((const struct camp_thread *)array)[i];
        label_thread(subject);
        break;
    case CAMP_KIND_MEMORY:
    case CAMP_KIND_KERNEL:
        break;
    }
}

static int list_into(struct subjects *subjects, enum camp_kind kind, fill_function *fill,
                     const struct listing *listing, size_t size, struct camp_error *error)
{
    size_t before = subjects->count;
    size_t count = 0;
    void *array;
    int result = list_grow(fill, listing, size, &array, &count, error);

    for (size_t i = 0; result >= 0 && i < count; i++) {
        struct subject subject = { .kind = kind };
        size_t index;

        take(&subject, array, i);
        if (!add(subjects, &subject, before, &index))
            result = library_fail_memory(error);
    }
    free(array);
    return result;
}

int subjects_list_threads(struct subjects *subjects, const struct camp_process *process,
                          struct camp_error *error)
{
    const struct listing listing = { .source = subjects->source, .process = process };

    return list_into(subjects, CAMP_KIND_THREAD, fill_threads, &listing, sizeof(struct camp_thread),
                     error);
}

int subjects_list_named(struct subjects *subjects, const char *executable, struct camp_error *error)
{
    const struct listing listing = { .source = subjects->source, .executable = executable };
    size_t before = subjects->count;
    int result = list_into(subjects, CAMP_KIND_PROCESS, fill_processes, &listing,
                           sizeof(struct camp_process), error);

    if (result >= 0 && subjects->count == before)
        return library_fail(error, CAMP_E_GONE, "there is no process of an executable named '%s'",
                            executable);
    return result;
}

static int list_all_threads(struct subjects *subjects, struct camp_error *error)
{
    const struct listing listing = { .source = subjects->source };
    struct camp_process *processes;
    size_t count = 0;
    void *array;
    int result = list_grow(fill_processes, &listing, sizeof *processes, &array, &count, error);

    processes = array;
    for (size_t i = 0; result >= 0 && i < count; i++) {
        result = subjects_list_threads(subjects, &processes[i], error);
        if (result == CAMP_E_GONE) /* it ended meanwhile: it is not in the list then */
            result = CAMP_OK;
    }
    free(array);
    return result;
}

static int list_one(struct subjects *subjects, enum camp_kind kind, struct camp_error *error)
{
    struct subject subject = { .kind = kind };
    size_t index;

    snprintf(subject.label, sizeof subject.label, "%s", camp_kind_name(kind));
    return subjects_add(subjects, &subject, &index) ? CAMP_OK : library_fail_memory(error);
}

int subjects_list(struct subjects *subjects, enum camp_kind kind, struct camp_error *error)
{
    struct listing listing = { .source = subjects->source };

    switch (kind) {
    case CAMP_KIND_CPU:
        return list_into(subjects, kind, fill_cpu_ids, &listing, sizeof(int32_t), error);
    case CAMP_KIND_NETWORK:
        return list_into(subjects, kind, fill_networks, &listing, sizeof(struct camp_network),
                         error);
    case CAMP_KIND_DISK:
    case CAMP_KIND_PARTITION:
        listing.disk_kind = kind == CAMP_KIND_DISK ? CAMP_DISK_WHOLE : CAMP_DISK_PARTITION;
        return list_into(subjects, kind, fill_disks, &listing, sizeof(struct camp_disk), error);
    case CAMP_KIND_PROCESS:
        return list_into(subjects, kind, fill_processes, &listing, sizeof(struct camp_process),
                         error);
    case CAMP_KIND_THREAD:
        return list_all_threads(subjects, error);
    case CAMP_KIND_MEMORY:
    case CAMP_KIND_KERNEL:
        return list_one(subjects, kind, error);
    }
    return CAMP_E_INVALID;
}

/* "1234" or "1234@5678"; without the second half *ret_start is not written. */
static bool parse_identifier(const char *text, int32_t *ret_id, uint64_t *ret_start,
                             bool *ret_exact)
{
    unsigned long long number = 0;
    size_t digits = strspn(text, "0123456789");

    *ret_exact = false;
    if (digits == 0 || digits > 10)
        return false;
    number = strtoull(text, NULL, 10);
    if (number > INT32_MAX)
        return false;
    *ret_id = (int32_t)number;
    if (text[digits] == '\0')
        return true;
    text += digits + 1;
    digits = strspn(text, "0123456789");
    if (text[-1] != '@' || digits == 0 || digits > 19 || text[digits] != '\0')
        return false;
    *ret_start = strtoull(text, NULL, 10);
    *ret_exact = true;
    return true;
}

int process_named(const struct camp_source *source, const char *name, struct camp_process *ret,
                  struct camp_error *error)
{
    struct camp_process asked = { 0 };
    bool exact;
    int result;

    if (!parse_identifier(name, &asked.pid, &asked.start, &exact) || asked.pid == 0)
        return library_fail(error, CAMP_E_INVALID,
                            "'%s' is not a process: give a PID, PID@START or name:EXECUTABLE",
                            name);
    result = camp_process_identify(source, asked.pid, ret, sizeof *ret, error);
    if (result == CAMP_E_GONE)
        return library_fail(error, CAMP_E_GONE, "there is no process %" PRId32 " now", asked.pid);
    if (result < 0)
        return result;
    if (exact && ret->start != asked.start)
        return library_fail(error, CAMP_E_GONE,
                            "process %s has ended: pid %" PRId32 " belongs to another now, %" PRId32
                            "@%" PRIu64,
                            name, ret->pid, ret->pid, ret->start);
    return CAMP_OK;
}

/* "PID.TID": which of the process's living threads it is. */
static int thread_named(const struct camp_source *source, const char *name, struct camp_thread *ret,
                        struct camp_error *error)
{
    const char *dot = strrchr(name, '.');
    struct subjects threads = { .source = source };
    struct camp_process process;
    char process_name[CAMP_NAME_SIZE];
    uint64_t start = 0;
    int32_t tid = 0;
    bool exact;
    int result;

    if (dot == NULL || (size_t)(dot - name) >= sizeof process_name ||
        !parse_identifier(dot + 1, &tid, &start, &exact))
        return library_fail(error, CAMP_E_INVALID,
                            "'%s' is not a thread: give PID.TID, or PID.* for all", name);
    snprintf(process_name, sizeof process_name, "%.*s", (int)(dot - name), name);
    result = process_named(source, process_name, &process, error);
    if (result >= 0)
        result = subjects_list_threads(&threads, &process, error);
    if (result < 0)
        goto out;
    result = library_fail(error, CAMP_E_GONE, "process %" PRId32 " has no thread %s now",
                          process.pid, dot + 1);
    for (size_t i = 0; i < threads.count; i++) {
        if (threads.items[i].thread.tid != tid || (exact && threads.items[i].thread.start != start))
            continue;
        *ret = threads.items[i].thread;
        result = CAMP_OK;
    }
out:
    subjects_release(&threads);
    return result;
}

static int cpu_named(const char *name, int32_t *ret, struct camp_error *error)
{
    uint64_t none;
    bool exact;

    if (name[0] == '\0' || strcmp(name, "total") == 0) {
        *ret = CAMP_CPU_TOTAL;
        return CAMP_OK;
    }
    if (!parse_identifier(name, ret, &none, &exact) || exact)
        return library_fail(error, CAMP_E_INVALID,
                            "'%s' is not a CPU: give its number, or * for each CPU", name);
    return CAMP_OK;
}

int subject_named(const struct camp_source *source, enum camp_kind kind, const char *name,
                  struct subject *ret, struct camp_error *error)
{
    int result = CAMP_OK;

    *ret = (struct subject){ .kind = kind };
    snprintf(ret->label, sizeof ret->label, "%s%s%s", camp_kind_name(kind),
             name[0] != '\0' ? "." : "", name);
    switch (kind) {
    case CAMP_KIND_CPU:
        result = cpu_named(name, &ret->cpu, error);
        break;
    case CAMP_KIND_NETWORK:
    case CAMP_KIND_DISK:
    case CAMP_KIND_PARTITION:
        if (strlen(name) >= sizeof ret->device)
            return library_fail(error, CAMP_E_GONE, "there is no %s '%s'", camp_kind_name(kind),
                                name);
        memcpy(ret->device, name, strlen(name) + 1);
        break;
    case CAMP_KIND_PROCESS:
        result = process_named(source, name, &ret->process, error);
        break;
    case CAMP_KIND_THREAD:
        result = thread_named(source, name, &ret->thread, error);
        break;
    case CAMP_KIND_MEMORY:
    case CAMP_KIND_KERNEL:
        break;
    }
    return result;
}
