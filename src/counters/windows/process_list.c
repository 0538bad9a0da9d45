/* Lists of processes and threads, in ascending order of their numbers. */
#include "shared.h"

#include <stdlib.h>

#define LONGEST_PATH 1024 /* units of UTF-16 */

int camp_check_list(const struct camp_source *source, const char *name, const void *first,
                    size_t size, size_t least, size_t capacity, const size_t *ret_count,
                    struct camp_error *error)
{
    int r = camp_this_machine_only(source, error);

    return r < 0 ? r : camp_output_check(name, first, size, least, capacity, ret_count, error);
}

struct camp_process camp_identity_of(const struct native_process *process)
{
    return (struct camp_process){ .pid = (int32_t)id_of(process->process),
                                  .start = (uint64_t)process->create_time };
}

/* The moment of creation is in the table anyway, so it is the token. */
int camp_pid_list(const struct camp_source *source, struct camp_pid *pids, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { pids, size, capacity, 0 };
    struct process_table table;
    int r =
        camp_check_list(source, "pids", pids, size, sizeof(int32_t), capacity, ret_count, error);

    if (r < 0)
        return r;
    r = camp_table_open(&table, error);
    for (size_t i = 0; r == CAMP_OK && i < table.count; i++) {
        const struct camp_process process = camp_identity_of(table.processes[i]);
        const struct camp_pid pid = { .pid = process.pid, .token = process.start };

        camp_output_add(&output, &pid, sizeof pid);
    }
    camp_table_close(&table);
    return r < 0 ? r : camp_output_end(&output, "processes", ret_count, error);
}

int camp_process_identify(const struct camp_source *source, int32_t pid, struct camp_process *ret,
                          size_t size, struct camp_error *error)
{
    const struct native_process *found = NULL;
    struct camp_process process;
    struct process_table table;
    int r = camp_this_machine_only(source, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, ret) || camp_is_outside(error, pid, 1, INT32_MAX))
        return CAMP_E_INVALID;
    r = camp_table_open(&table, error);
    if (r == CAMP_OK)
        found = camp_table_find(&table, pid);
    if (found != NULL)
        process = camp_identity_of(found);
    camp_table_close(&table);
    if (r < 0)
        return r;
    if (found == NULL)
        return camp_fail(error, CAMP_E_GONE, 0, "there is no process %d; list them again",
                         (int)pid);
    camp_hand_out(ret, size, &process, sizeof process);
    return CAMP_OK;
}

/* As in all of Windows, the case of a file name does not matter. */
static bool is_called(const struct native_process *process, const WCHAR *name)
{
    return name == NULL || CompareStringOrdinal(process->image_name.Buffer,
                                                process->image_name.Length / (int)sizeof(WCHAR),
                                                name, -1, TRUE) == CSTR_EQUAL;
}

/* Lists all processes, or those whose executable has this name. */
static int list(const WCHAR *name, struct camp_output *output, size_t *ret_count,
                struct camp_error *error)
{
    struct process_table table;
    int r = camp_table_open(&table, error);

    for (size_t i = 0; r == CAMP_OK && i < table.count; i++) {
        const struct camp_process process = camp_identity_of(table.processes[i]);

        if (is_called(table.processes[i], name))
            camp_output_add(output, &process, sizeof process);
    }
    camp_table_close(&table);
    return r < 0 ? r : camp_output_end(output, "processes", ret_count, error);
}

int camp_process_list(const struct camp_source *source, struct camp_process *processes, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { processes, size, capacity, 0 };
    int r = camp_check_list(source, "processes", processes, size, sizeof(int32_t), capacity,
                            ret_count, error);

    return r < 0 ? r : list(NULL, &output, ret_count, error);
}

int camp_process_find(const struct camp_source *source, const char *name,
                      struct camp_process *processes, size_t size, size_t capacity,
                      size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { processes, size, capacity, 0 };
    WCHAR executable[LONGEST_PATH];
    int r = camp_check_list(source, "processes", processes, size, sizeof(int32_t), capacity,
                            ret_count, error);

    if (r < 0)
        return r;
    if (camp_is_null(error, name))
        return CAMP_E_INVALID;
    if (name[0] == '\0' || !camp_utf16_of(name, executable, LONGEST_PATH))
        return camp_fail(error, CAMP_E_INVALID, 0,
                         "an executable has a name in UTF-8 that is not empty: pass that");
    return list(executable, &output, ret_count, error);
}

static int order_by_tid(const void *one, const void *other)
{
    uint32_t a = id_of(((const struct native_thread *)one)->thread);
    uint32_t b = id_of(((const struct native_thread *)other)->thread);

    return (a > b) - (a < b);
}

/* The table is a copy, so its threads can be put in order in their place. */
static void list_threads(const struct native_process *process, struct camp_output *output)
{
    struct native_thread *threads = (struct native_thread *)process->thread;

    qsort(threads, process->threads, sizeof *threads, order_by_tid);
    for (uint32_t i = 0; i < process->threads; i++) {
        const struct camp_thread thread = { .pid = (int32_t)id_of(process->process),
                                            .tid = (int32_t)id_of(threads[i].thread),
                                            .start = (uint64_t)threads[i].create_time };

        camp_output_add(output, &thread, sizeof thread);
    }
}

int camp_thread_list(const struct camp_source *source, const struct camp_process *process,
                     struct camp_thread *threads, size_t size, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    struct camp_output output = { threads, size, capacity, 0 };
    const struct native_process *found = NULL;
    struct process_table table;
    int r = camp_check_list(source, "threads", threads, size, 2 * sizeof(int32_t), capacity,
                            ret_count, error);

    if (r == CAMP_OK &&
        (camp_is_null(error, process) || camp_is_outside(error, process->pid, 1, INT32_MAX)))
        r = CAMP_E_INVALID;
    if (r < 0)
        return r;
    r = camp_table_open(&table, error);
    if (r == CAMP_OK) {
        found = camp_table_expect(&table, process, error);
        r = found == NULL ? CAMP_E_GONE : CAMP_OK;
    }
    if (r == CAMP_OK)
        list_threads(found, &output);
    camp_table_close(&table);
    return r < 0 ? r : camp_output_end(&output, "threads", ret_count, error);
}
