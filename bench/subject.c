#include "subject.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct subject subject;

static void sleep_for_ever(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

/* Copies the first name in the folder that fits and does not start with '.'. Copies "" if there is
 * no such name. */
static void first_name(const char *folder, char *name, size_t size)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;

    name[0] = '\0';
    if (!directory)
        return;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= size)
            continue;
        strcpy(name, entry->d_name);
        break;
    }
    closedir(directory);
}

int subject_start(void)
{
    pid_t pid = fork();

    if (pid == 0)
        sleep_for_ever();
    if (pid < 0)
        return -1;
    subject.pid = pid;
    for (size_t i = 0; i < BATCH; i++)
        subject.batch[i] = pid;
    snprintf(subject.stat_path, sizeof subject.stat_path, "/proc/%d/stat", pid);
    snprintf(subject.thread_stat_path, sizeof subject.thread_stat_path, "/proc/%d/task/%d/stat",
             pid, pid);
    snprintf(subject.thread_schedstat_path, sizeof subject.thread_schedstat_path,
             "/proc/%d/task/%d/schedstat", pid, pid);
    snprintf(subject.interface, sizeof subject.interface, "lo");
    first_name("/sys/block", subject.disk, sizeof subject.disk);
    snprintf(subject.disk_path, sizeof subject.disk_path, "/sys/block/%s/stat", subject.disk);
    return 0;
}

void subject_stop(void)
{
    if (subject.pid <= 0)
        return;
    kill(subject.pid, SIGKILL);
    waitpid(subject.pid, NULL, 0);
    subject.pid = 0;
}
