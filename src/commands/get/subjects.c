#include "subjects.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "program/command.h"
#include "sources/machine/hidden.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void subjects_release(struct subjects *subjects)
{
    for (size_t i = 0; i < subjects->count; i++) {
        free(subjects->items[i].failure);
        extras_release(&subjects->items[i]);
    }
    free(subjects->items);
    *subjects = (struct subjects){ .source = subjects->source };
}

static int add(struct subjects *subjects, const struct subject *subject, size_t compared,
               size_t *ret_index, struct camp_error *error)
{
    for (size_t i = 0; i < compared; i++) {
        if (strcmp(subjects->items[i].label, subject->label) != 0)
            continue;
        *ret_index = i;
        return CAMP_OK;
    }
    if (!ARRAY_RESERVE(subjects->items, subjects->capacity, subjects->count + 1))
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory left; ask for less at a time");
    *ret_index = subjects->count;
    subjects->items[subjects->count++] = *subject;
    return CAMP_OK;
}

int subjects_add(struct subjects *subjects, const struct subject *subject, size_t *ret_index,
                 struct camp_error *error)
{
    size_t index;

    return add(subjects, subject, subjects->count, ret_index != NULL ? ret_index : &index, error);
}

size_t listing_element_size(enum camp_kind kind)
{
    return kind == CAMP_KIND_CPU       ? sizeof(struct camp_cpu)
           : kind == CAMP_KIND_NETWORK ? sizeof(struct camp_network)
           : kind == CAMP_KIND_PROCESS ? sizeof(struct camp_process)
           : kind == CAMP_KIND_THREAD  ? sizeof(struct camp_thread)
                                       : sizeof(struct camp_disk);
}

static int fill(const struct listing *listing, void *array, size_t capacity, size_t *ret_count,
                struct camp_error *error)
{
    const struct camp_source *source = listing->source;
    const size_t size = listing_element_size(listing->kind);

    switch (listing->kind) {
    case CAMP_KIND_CPU:
        return camp_cpu_read_all(source, array, size, capacity, ret_count, error);
    case CAMP_KIND_NETWORK:
        return camp_network_read_all(source, array, size, capacity, ret_count, error);
    case CAMP_KIND_DISK:
        return camp_disk_read_all(source, listing->physical ? CAMP_DISK_PHYSICAL : CAMP_DISK_WHOLE,
                                  array, size, capacity, ret_count, error);
    case CAMP_KIND_PARTITION:
        return camp_disk_read_all(source, CAMP_DISK_PARTITION, array, size, capacity, ret_count,
                                  error);
    case CAMP_KIND_PROCESS:
        return listing->executable != NULL
                   ? camp_process_find(source, listing->executable, array, size, capacity,
                                       ret_count, error)
                   : camp_process_list(source, array, size, capacity, ret_count, error);
    case CAMP_KIND_THREAD:
        return camp_thread_list(source, listing->process, array, size, capacity, ret_count, error);
    case CAMP_KIND_MEMORY:
    case CAMP_KIND_KERNEL:
    case CAMP_KIND_SYSTEM:
        break;
    }
    return CAMP_E_INVALID;
}

int listing_read(const struct listing *listing, void **ret, size_t *ret_count,
                 struct camp_error *error)
{
    size_t capacity = 64;

    *ret = NULL;
    for (int attempt = 0; attempt < 20; attempt++) {
        void *array = calloc(capacity, listing_element_size(listing->kind));
        int result;

        if (array == NULL)
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory left; ask for less at a time");
        *ret_count = 0;
        result = fill(listing, array, capacity, ret_count, error);
        if (result >= 0) {
            *ret = array;
            return CAMP_OK;
        }
        free(array);
        if (result != CAMP_E_SPACE)
            return result;
        /* There may be more elements at the next call. */
        capacity = *ret_count + *ret_count / 4 + 64;
    }
    return camp_fail(error, CAMP_E_SPACE, 0, "it grows faster than it can be listed; try again");
}

static void label(struct subject *subject)
{
    const char *kind = camp_kind_name(subject->kind);
    const struct camp_thread *thread = &subject->thread;
    const struct camp_process *process = &subject->process;

    if (subject->kind == CAMP_KIND_CPU)
        snprintf(subject->label, LABEL_SIZE, "%s.%" PRId32, kind, subject->cpu);
    else if (subject->kind == CAMP_KIND_PROCESS)
        snprintf(subject->label, LABEL_SIZE, "%s.%" PRId32 "@%" PRIu64, kind, process->pid,
                 process->start);
    else if (subject->kind == CAMP_KIND_THREAD)
        snprintf(subject->label, LABEL_SIZE, "%s.%" PRId32 ".%" PRId32 "@%" PRIu64, kind,
                 thread->pid, thread->tid, thread->start);
    else
        snprintf(subject->label, LABEL_SIZE, "%s.%s", kind, subject->device);
}

void subject_of_process(struct subject *ret, const struct camp_process *process)
{
    *ret = (struct subject){ .kind = CAMP_KIND_PROCESS, .process = *process };
    label(ret);
}

_Static_assert(offsetof(struct camp_cpu, cpu) == 0 && CAMP_NETWORK_NAME_SIZE >= CAMP_NAME_SIZE,
               "the struct of a CPU starts with its id, and every name fits");

static void copy_identity(enum camp_kind kind, const char *element, struct subject *ret)
{
    if (kind == CAMP_KIND_CPU)
        memcpy(&ret->cpu, element, sizeof ret->cpu);
    else if (kind == CAMP_KIND_PROCESS)
        memcpy(&ret->process, element, sizeof ret->process);
    else if (kind == CAMP_KIND_THREAD)
        memcpy(&ret->thread, element, sizeof ret->thread);
    else
        snprintf(ret->device, sizeof ret->device, "%s", element + kind_words(kind)->name_at);
}

static int list_into(struct subjects *subjects, const struct listing *listing,
                     struct camp_error *error)
{
    const size_t size = listing_element_size(listing->kind), before = subjects->count;
    const size_t first = listing->kind == CAMP_KIND_CPU ? 1 : 0;
    size_t count = 0;
    void *array;
    int result = listing_read(listing, &array, &count, error);

    subjects->were_searched |= listing->kind == CAMP_KIND_PROCESS;
    for (size_t i = first; result >= 0 && i < count; i++) {
        struct subject subject = { .kind = listing->kind };
        size_t index;

        copy_identity(listing->kind, (const char *)array + i * size, &subject);
        label(&subject);
        result = add(subjects, &subject, before, &index, error);
    }
    free(array);
    return result;
}

int subjects_list_threads(struct subjects *subjects, const struct camp_process *process,
                          struct camp_error *error)
{
    return list_into(subjects,
                     &(struct listing){ subjects->source, CAMP_KIND_THREAD, .process = process },
                     error);
}

int subjects_list_physical_disks(struct subjects *subjects, struct camp_error *error)
{
    return list_into(
        subjects, &(struct listing){ subjects->source, CAMP_KIND_DISK, .physical = true }, error);
}

int subjects_list_named(struct subjects *subjects, const char *executable, struct camp_error *error)
{
    const struct listing listing = { subjects->source, CAMP_KIND_PROCESS,
                                     .executable = executable };
    size_t before = subjects->count;
    int result = list_into(subjects, &listing, error);

    if (result >= 0 && subjects->count == before)
        return camp_fail(error, CAMP_E_GONE, 0, "there is no process of a program named '%s'",
                         executable);
    return result;
}

static int list_all_threads(struct subjects *subjects, struct camp_error *error)
{
    const struct listing listing = { subjects->source, CAMP_KIND_PROCESS };
    size_t count = 0;
    void *array;
    int result = listing_read(&listing, &array, &count, error);

    subjects->were_searched = true;
    for (size_t i = 0; result >= 0 && i < count; i++) {
        result = subjects_list_threads(subjects, (const struct camp_process *)array + i, error);
        if (result == CAMP_E_GONE) /* The process exited after it was listed. */
            result = CAMP_OK;
    }
    free(array);
    return result;
}

int subjects_list(struct subjects *subjects, enum camp_kind kind, struct camp_error *error)
{
    struct subject only = { .kind = kind };

    if (kind_words(kind)->is_one) {
        snprintf(only.label, sizeof only.label, "%s", camp_kind_name(kind));
        return subjects_add(subjects, &only, NULL, error);
    }
    return kind == CAMP_KIND_THREAD
               ? list_all_threads(subjects, error)
               : list_into(subjects, &(struct listing){ subjects->source, kind }, error);
}

void subjects_note_hidden(const struct subjects *subjects)
{
    char note[HIDDEN_NOTE_SIZE];

    if (!subjects->were_searched || subjects->source != NULL)
        return;
    hidden_note(note);
    if (note[0] != '\0')
        complain(STATUS_OK, "%s", note);
}

/* Parses "1234" or "1234@5678". Without "@5678", *ret_exact is false and *ret_start is not set. */
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
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "'%s' is not a process: give a PID, PID@START or name:EXECUTABLE", name);
    result = camp_process_identify(source, asked.pid, ret, sizeof *ret, error);
    if (result == CAMP_E_GONE)
        return camp_fail(error, CAMP_E_GONE, 0, "there is no process %" PRId32 " now", asked.pid);
    if (result < 0)
        return result;
    if (exact && ret->start != asked.start)
        return camp_fail(error, CAMP_E_GONE, 0,
                         "process %s has ended: pid %" PRId32 " belongs to another now, %" PRId32
                         "@%" PRIu64,
                         name, ret->pid, ret->pid, ret->start);
    return CAMP_OK;
}

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
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "'%s' is not a thread: give PID.TID, or PID.* for all", name);
    snprintf(process_name, sizeof process_name, "%.*s", (int)(dot - name), name);
    result = process_named(source, process_name, &process, error);
    if (result >= 0)
        result = subjects_list_threads(&threads, &process, error);
    if (result < 0)
        goto out;
    result = camp_fail(error, CAMP_E_GONE, 0, "process %" PRId32 " has no thread %s now",
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
        return camp_fail(error, CAMP_E_INVALID, 0,
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
            return camp_fail(error, CAMP_E_GONE, 0, "there is no %s '%s'", camp_kind_name(kind),
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
    case CAMP_KIND_SYSTEM:
        break;
    }
    return result;
}
