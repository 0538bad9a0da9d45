#include "process_selection.h"

#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int selection_numbers(struct process_selection *processes)
{
    const struct text_list *texts = &processes->texts;

    if (texts->count > PIDS_MAXIMUM)
        return complain(STATUS_USAGE, "at most %d times --pid", PIDS_MAXIMUM);
    for (size_t i = 0; i < texts->count; i++) {
        char *rest;
        const long long pid = strtoll(texts->texts[i], &rest, 10);

        if (*texts->texts[i] == '\0' || *rest != '\0' || pid < 1 || pid > INT32_MAX)
            return complain(
                STATUS_USAGE,
                "--pid %s: takes the number of one process; give --pid again for another",
                texts->texts[i]);
        processes->pids[i] = (int32_t)pid;
    }
    processes->count = texts->count;
    return OPTIONS_GO_ON;
}

int32_t pid_or_name(const char *text)
{
    long long pid;

    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return 0;
    errno = 0;
    pid = strtoll(text, NULL, 10);
    return errno != 0 || pid < 1 || pid > INT32_MAX ? NO_PID : (int32_t)pid;
}

/* Returns the process of a thread, or 0. */
static int32_t process_of_thread(int32_t tid)
{
    char path[64], line[128];
    int32_t pid = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%" PRId32 "/status", tid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (pid == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "Tgid:", 5) == 0)
            pid = (int32_t)strtol(line + 5, NULL, 10);
    }
    fclose(file);
    return pid != tid ? pid : 0;
}

int complain_of_missing_process(int32_t pid)
{
    const int32_t process = process_of_thread(pid);

    if (process > 0)
        return complain(STATUS_FAILURE,
                        "there is no process %" PRId32 ": it is a thread of the process %" PRId32,
                        pid, process);
    return complain(STATUS_FAILURE, "there is no process %" PRId32 " now; see camp list processes",
                    pid);
}

/* Returns whether a process has a thread with a name. */
static bool has_thread_named(int32_t pid, const char *name)
{
    char path[64], file_path[64 + 256 + 8], comm[64];
    const struct dirent *entry;
    bool found = false;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%" PRId32 "/task", pid);
    folder = opendir(path);
    while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
        FILE *file;

        snprintf(file_path, sizeof file_path, "%s/%s/comm", path, entry->d_name);
        file = fopen(file_path, "re");
        if (file == NULL)
            continue;
        if (fgets(comm, sizeof comm, file) != NULL) {
            comm[strcspn(comm, "\n")] = '\0';
            found = strcmp(comm, name) == 0;
        }
        fclose(file);
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

int32_t process_of_thread_named(const char *name)
{
    const struct dirent *entry;
    int32_t found = 0;
    DIR *folder = opendir("/proc");

    while (folder != NULL && found == 0 && (entry = readdir(folder)) != NULL) {
        const int32_t pid = pid_or_name(entry->d_name);

        if (pid > 0 && has_thread_named(pid, name))
            found = pid;
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

int complain_of_thread_name(const char *name, int32_t pid)
{
    return complain(STATUS_FAILURE,
                    "no process has the name %s: it is of a thread of the process %" PRId32, name,
                    pid);
}

int selection_processes(struct process_selection *processes)
{
    int status = selection_numbers(processes);

    for (size_t i = 0; status == OPTIONS_GO_ON && i < processes->count; i++) {
        if (camp_process_identify(NULL, processes->pids[i], &processes->watched[i],
                                  sizeof processes->watched[i], NULL) != CAMP_OK)
            status = complain_of_missing_process(processes->pids[i]);
    }
    return status;
}

void selection_see(struct process_selection *processes, int64_t pid)
{
    for (size_t i = 0; i < processes->count; i++)
        processes->seen[i] |= processes->pids[i] == pid;
}

int selection_complain_of_missing(const struct process_selection *processes, const char *source)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (!processes->seen[i])
            return complain(STATUS_FAILURE, "--pid %d: no process of this number is in %s",
                            processes->pids[i], source);
    }
    return OPTIONS_GO_ON;
}

bool process_has_ended(const struct camp_process *process)
{
    struct camp_task task = { 0 };

    return camp_process_read(NULL, process, CAMP_TASK_STATE | CAMP_TASK_THREADS, &task, sizeof task,
                             NULL) == CAMP_E_GONE ||
           (task.state == 'Z' && task.threads <= 1);
}

int complain_of_unseen_process(int32_t pid)
{
    return complain(STATUS_FAILURE,
                    "process %d exists, but the kernel does not show its threads to camp: it "
                    "belongs to another PID namespace, or is hidden",
                    pid);
}

int selection_complain_of_unseen(const struct process_selection *processes, int32_t pid)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->pids[i] == pid && process_has_ended(&processes->watched[i]))
            return complain(STATUS_FAILURE, "process %d ended before the first interval", pid);
    }
    return complain_of_unseen_process(pid);
}

int32_t selection_unseen(const struct process_selection *processes)
{
    bool any_seen = processes->count == 0;

    for (size_t i = 0; i < processes->count; i++) {
        if (!processes->seen[i] && processes->pids[i] != NO_PID &&
            !process_has_ended(&processes->watched[i]))
            return processes->pids[i];
        any_seen |= processes->seen[i];
    }
    return any_seen ? NO_PID : processes->pids[0];
}

bool selection_all_ended(struct process_selection *processes)
{
    size_t ended = 0;

    for (size_t i = 0; i < processes->count; i++) {
        if (processes->pids[i] != NO_PID && process_has_ended(&processes->watched[i]))
            processes->pids[i] = NO_PID;
        ended += processes->pids[i] == NO_PID;
    }
    return processes->count > 0 && ended == processes->count;
}

void selection_processes_release(struct process_selection *processes)
{
    text_list_release(&processes->texts);
}

int pattern_compile(const char *option, const char *text, regex_t *ret, const regex_t **ret_used)
{
    char message[256];
    int r;

    *ret_used = NULL;
    if (text == NULL)
        return OPTIONS_GO_ON;
    r = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
    if (r != 0) {
        regerror(r, ret, message, sizeof message);
        return complain(STATUS_USAGE, "--%s %s: is no regular expression: %s", option, text,
                        message);
    }
    *ret_used = ret;
    return OPTIONS_GO_ON;
}
