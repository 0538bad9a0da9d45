/*
 * Lists of processes and threads, in ascending order of their ids.
 *
 * The kernel lists processes and threads in the order of its tables, so each is inserted at its
 * place. readdir(3) is the only way to list them; it allocates memory, which closedir(3) frees.
 *
 * A process is identified by its start time in ns (psinfo). The inode number of /proc/PID is that
 * of a slot of the kernel's table, which a later process may have, so the token of struct camp_pid
 * is the start time, too. Thread ids start at 1 in each process; the start time of a thread has a
 * resolution of 1 s.
 */
#include "process.h"

#include "../error.h"
#include "../text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the path of an executable; a longer one is compared by its start, and does not match. */
#define EXECUTABLE_SIZE 1024

/* Sets *ret to a name that is a whole number, as those of processes and threads are. */
static bool number_of(const char *name, int32_t *ret)
{
    char *end;
    long number;

    if (name[0] < '0' || name[0] > '9')
        return false;
    errno = 0;
    number = strtol(name, &end, 10);
    if (errno != 0 || *end != '\0' || number > INT32_MAX)
        return false;
    *ret = (int32_t)number;
    return true;
}

/* What is done with each number in a folder. Of the errors, CAMP_E_GONE (it has exited, or is not
 * wanted) and CAMP_E_PERM (it is hidden) only leave it out. */
struct listing {
    const struct camp_source *source;
    int32_t pid;      /* of the threads */
    const char *name; /* of the wanted processes; NULL means all */
    struct camp_output *array;
};

typedef int (*list_number)(const struct listing *listing, int32_t number, struct camp_error *error);

static int list_numbers(const char *path, const struct listing *listing, list_number add,
                        struct camp_error *error)
{
    DIR *folder = opendir(path);
    int r = CAMP_OK;

    if (folder == NULL)
        return camp_fail_errno(error, errno, path);
    for (;;) {
        const struct dirent *entry;
        int32_t number;

        errno = 0;
        entry = readdir(folder);
        if (entry == NULL) {
            r = errno != 0 ? camp_fail_errno(error, errno, path) : CAMP_OK;
            break;
        }
        r = number_of(entry->d_name, &number) ? add(listing, number, error) : CAMP_OK;
        if (r < 0 && r != CAMP_E_GONE && r != CAMP_E_PERM)
            break;
    }
    closedir(folder);
    return r;
}

static int add_pid(const struct listing *listing, int32_t pid, struct camp_error *error)
{
    struct camp_pid entry = { .pid = pid };
    psinfo_t psinfo;
    int r = camp_psinfo_read(listing->source, pid, &psinfo, error);

    if (r != CAMP_OK)
        return r;
    entry.token = camp_proc_ns(psinfo.pr_start);
    camp_output_insert(listing->array, &(struct camp_element){ &entry, sizeof entry,
                                                               offsetof(struct camp_pid, pid) });
    return CAMP_OK;
}

int camp_pid_list(const struct camp_source *source, struct camp_pid *pids, size_t size,
                  size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { pids, size, capacity, 0 };
    const struct listing listing = { .source = source, .array = &array };
    int r = camp_output_check("pids", pids, size, sizeof(int32_t), capacity, ret_count, error);

    if (r == CAMP_OK)
        r = list_numbers(camp_proc(source), &listing, add_pid, error);
    return r == CAMP_OK ? camp_output_end(&array, "processes", ret_count, error) : r;
}

/* The start of the arguments, each with a NUL after it. A system without the file argv has at least
 * psargs, the first 79 bytes of the arguments, with blanks between them. */
static struct cursor read_arguments(const struct camp_source *source, const psinfo_t *psinfo,
                                    char text[EXECUTABLE_SIZE])
{
    char path[PATH_SIZE];
    size_t length;

    if (camp_proc_path(path, source, psinfo->pr_pid, 0, "argv", NULL) == CAMP_OK &&
        camp_proc_read(path, text, EXECUTABLE_SIZE, &length, NULL) == CAMP_OK)
        return cursor_of(text, length);
    length = strlen(psinfo->pr_psargs);
    memcpy(text, psinfo->pr_psargs, length);
    for (char *blank = text; (blank = memchr(blank, ' ', length - (size_t)(blank - text))) != NULL;)
        *blank = '\0';
    return cursor_of(text, length);
}

/* Only the owner of a process may read the link path/a.out. Otherwise the name of psinfo, which is
 * that of the file, decides: it has up to 15 bytes, so that the arguments must confirm a longer
 * one. */
static bool is_called(const struct camp_source *source, const psinfo_t *psinfo, const char *name)
{
    const bool has_name = camp_process_name_is(psinfo->pr_fname, name);
    char path[PATH_SIZE], text[EXECUTABLE_SIZE];
    struct cursor arguments;
    ssize_t length = -1;

    if (camp_proc_path(path, source, psinfo->pr_pid, 0, "path/a.out", NULL) == CAMP_OK)
        length = readlink(path, text, sizeof text);
    if (length > 0 ? camp_path_is(cursor_of(text, (size_t)length), name)
                   : strcmp(psinfo->pr_fname, name) == 0)
        return true;
    arguments = read_arguments(source, psinfo, text);
    return camp_invoked_as(arguments, name) || (has_name && camp_interprets(arguments, name));
}

static int add_process(const struct listing *listing, int32_t pid, struct camp_error *error)
{
    struct camp_process process = { .pid = pid };
    psinfo_t psinfo;
    int r = camp_psinfo_read(listing->source, pid, &psinfo, error);

    if (r != CAMP_OK)
        return r;
    if (listing->name != NULL && !is_called(listing->source, &psinfo, listing->name))
        return CAMP_E_GONE;
    process.start = camp_proc_ns(psinfo.pr_start);
    camp_output_insert(
        listing->array,
        &(struct camp_element){ &process, sizeof process, offsetof(struct camp_process, pid) });
    return CAMP_OK;
}

static int add_usage(const struct listing *listing, int32_t pid, struct camp_error *error)
{
    struct camp_process_usage usage;
    int r = camp_process_read_any(listing->source, pid, &usage, error);

    if (r == CAMP_OK)
        camp_output_insert(listing->array, &(struct camp_element){
                                               &usage, sizeof usage,
                                               offsetof(struct camp_process_usage, process.pid) });
    return r;
}

int camp_process_list(const struct camp_source *source, struct camp_process *processes, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { processes, size, capacity, 0 };
    const struct listing listing = { .source = source, .array = &array };
    int r = camp_output_check("processes", processes, size, sizeof(int32_t), capacity, ret_count,
                              error);

    if (r == CAMP_OK)
        r = list_numbers(camp_proc(source), &listing, add_process, error);
    return r == CAMP_OK ? camp_output_end(&array, "processes", ret_count, error) : r;
}

int camp_process_find(const struct camp_source *source, const char *name,
                      struct camp_process *processes, size_t size, size_t capacity,
                      size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { processes, size, capacity, 0 };
    const struct listing listing = { .source = source, .name = name, .array = &array };
    int r = camp_output_check("processes", processes, size, sizeof(int32_t), capacity, ret_count,
                              error);

    if (r == CAMP_OK && camp_is_empty_name(error, name))
        r = CAMP_E_INVALID;
    if (r == CAMP_OK)
        r = list_numbers(camp_proc(source), &listing, add_process, error);
    return r == CAMP_OK ? camp_output_end(&array, "processes", ret_count, error) : r;
}

int camp_process_read_all(const struct camp_source *source, uint32_t wanted,
                          struct camp_process_usage *usages, size_t size, size_t capacity,
                          size_t *ret_count, struct camp_error *error)
{
    struct camp_output array = { usages, size, capacity, 0 };
    const struct listing listing = { .source = source, .array = &array };
    int r = camp_output_check("usages", usages, size, sizeof(struct camp_process), capacity,
                              ret_count, error);

    (void)wanted; /* the two files have all fields */
    if (r == CAMP_OK)
        r = list_numbers(camp_proc(source), &listing, add_usage, error);
    return r == CAMP_OK ? camp_output_end(&array, "processes", ret_count, error) : r;
}

int camp_process_identify(const struct camp_source *source, int32_t pid, struct camp_process *ret,
                          size_t size, struct camp_error *error)
{
    struct camp_process process = { .pid = pid };
    psinfo_t psinfo;
    int r;

    if (camp_is_null(error, ret) || camp_is_outside(error, pid, 0, INT32_MAX))
        return CAMP_E_INVALID;
    r = camp_psinfo_read(source, pid, &psinfo, error);
    if (r != CAMP_OK)
        return r;
    process.start = camp_proc_ns(psinfo.pr_start);
    camp_hand_out(ret, size, &process, sizeof process);
    return CAMP_OK;
}

/* A thread that has exited, but was not joined, is a zombie, and is left out. */
static int add_thread(const struct listing *listing, int32_t tid, struct camp_error *error)
{
    struct camp_thread thread = { .pid = listing->pid, .tid = tid };
    lwpsinfo_t lwpsinfo;
    int r = camp_lwpsinfo_read(listing->source, listing->pid, tid, &lwpsinfo, error);

    if (r != CAMP_OK)
        return r;
    if (lwpsinfo.pr_sname == 'Z')
        return CAMP_E_GONE;
    thread.start = camp_proc_ns(lwpsinfo.pr_start);
    camp_output_insert(listing->array, &(struct camp_element){ &thread, sizeof thread,
                                                               offsetof(struct camp_thread, tid) });
    return CAMP_OK;
}

int camp_thread_list(const struct camp_source *source, const struct camp_process *process,
                     struct camp_thread *threads, size_t size, size_t capacity, size_t *ret_count,
                     struct camp_error *error)
{
    struct camp_output array = { threads, size, capacity, 0 };
    struct listing listing = { .source = source, .array = &array };
    char path[PATH_SIZE];
    psinfo_t psinfo;
    int r = camp_output_check("threads", threads, size, 2 * sizeof(int32_t), capacity, ret_count,
                              error);

    if (r == CAMP_OK &&
        (camp_is_null(error, process) || camp_is_outside(error, process->pid, 0, INT32_MAX)))
        r = CAMP_E_INVALID;
    if (r == CAMP_OK)
        r = camp_proc_path(path, source, process->pid, 0, "lwp", error);
    if (r != CAMP_OK)
        return r;
    listing.pid = process->pid;
    r = list_numbers(path, &listing, add_thread, error);
    /* If the process is still the expected one after the list was made, the list is its own. */
    if (r == CAMP_OK)
        r = camp_psinfo_expect(source, process, &psinfo, error);
    return r == CAMP_OK ? camp_output_end(&array, "threads", ret_count, error) : r;
}
