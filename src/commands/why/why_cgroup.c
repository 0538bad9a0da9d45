#include "why_cgroup.h"

#include "counters/error.h"
#include "program/command.h"
#include "program/privilege.h"
#include "program/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_SIZE (PATH_MAX + 100)
#define SUBJECTS "a process, a name, a cgroup, a container, a pod or a unit"

static int find_path(struct why_cgroup *cgroup)
{
    struct camp_error error = { 0 };
    int r;

    if (cgroup->path[0] != '/')
        return complain(STATUS_USAGE,
                        "'%s' is not the path of a cgroup: it starts with a slash, such as "
                        "/system.slice/cron.service",
                        cgroup->path);
    r = cgroup_folder_find(cgroup->path, &cgroup->folder, &error);
    snprintf(cgroup->name, sizeof cgroup->name, "%s", cgroup->path);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

/* Runs in a child: finds the cgroup, and writes CAMP_OK and the path of its directory, or an error
 * and its message. */
static void answer(int to, enum container_label label, const char *name)
{
    const struct sandbox sandbox = { .kind = SANDBOX_MACHINE, .containers = true };
    struct cgroup_folder folder = { 0 };
    struct camp_error error = { 0 };
    char text[ANSWER_SIZE];
    int r, length;

    privilege_give_up(PRIVILEGE_NOTHING);
    r = sandbox_enter(&sandbox, &error);
    if (r == CAMP_OK)
        r = cgroup_folder_find_label(label, name, &folder, &error);
    length = snprintf(text, sizeof text, "%d %s", r, r == CAMP_OK ? folder.path : error.message);
    if (length >= (int)sizeof text || write(to, text, (size_t)length) != length)
        _exit(1);
    _exit(0);
}

/* Reads the answer of the child, which ends then. Sets *status as waitpid(2) does, if the
 * system has kept it. Returns whether there is an answer. */
static bool read_answer(int from, pid_t child, char ret[ANSWER_SIZE], int *status)
{
    size_t length = 0;
    ssize_t got;

    do {
        got = read(from, ret + length, ANSWER_SIZE - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    ret[length] = '\0';
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        continue;
    return length > 0;
}

/* Returns OPTIONS_GO_ON if there is an answer, or an exit status after an error message. */
static int ask(enum container_label label, const char *name, char ret[ANSWER_SIZE])
{
    const char *kind = container_label_names[label];
    char how[40] = "";
    int ends[2] = { -1, -1 }, status = -1, cause;
    pid_t child = -1;
    bool done;

    if (pipe2(ends, O_CLOEXEC) == 0)
        child = fork();
    cause = errno;
    if (child == 0)
        answer(ends[1], label, name);
    if (ends[1] >= 0)
        close(ends[1]);
    done = child > 0 && read_answer(ends[0], child, ret, &status);
    if (ends[0] >= 0)
        close(ends[0]);
    if (done)
        return OPTIONS_GO_ON;
    if (child < 0)
        return complain(STATUS_FAILURE, "no process can be made that looks for the %s (%s)", kind,
                        strerror(cause));
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, ": signal %d ended it", WTERMSIG(status));
    else if (WIFEXITED(status))
        snprintf(how, sizeof how, ": its exit status is %d", WEXITSTATUS(status));
    return complain(STATUS_FAILURE, "the process that looks for the %s gave no answer%s", kind,
                    how);
}

static int find_label(struct why_cgroup *cgroup, enum container_label label)
{
    struct camp_error error = { 0 };
    char text[ANSWER_SIZE], *end;
    int status = ask(label, cgroup->labels[label], text);
    long r;

    if (status != OPTIONS_GO_ON)
        return status;
    r = strtol(text, &end, 10);
    if (r != CAMP_OK)
        snprintf(error.message, sizeof error.message, "%s", end + (*end == ' '));
    if (r != CAMP_OK)
        return complain_of((int)r, &error);
    snprintf(cgroup->name, sizeof cgroup->name, "%s %s", container_label_names[label],
             cgroup->labels[label]);
    r = cgroup_folder_find(end + (*end == ' '), &cgroup->folder, &error);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of((int)r, &error);
}

int why_cgroup_find(struct why_cgroup *cgroup, const char *operand)
{
    int count = (operand != NULL) + (cgroup->path != NULL), status = OPTIONS_GO_ON;

    for (int i = 0; i < WHY_LABELS; i++)
        count += cgroup->labels[i] != NULL;
    if (count > 1)
        return complain(STATUS_USAGE, "more than one subject: give " SUBJECTS
                                      "; INTERVAL and COUNT then go as --interval and --count");
    if (operand != NULL && operand[0] == '/')
        cgroup->path = operand;
    if (cgroup->path != NULL)
        return find_path(cgroup);
    for (int i = 0; i < WHY_LABELS && status == OPTIONS_GO_ON; i++)
        status = cgroup->labels[i] != NULL ? find_label(cgroup, (enum container_label)i) : status;
    return status;
}

uint32_t why_cgroup_options(const struct why_cgroup *cgroup, bool divides_by_cgroup)
{
    struct cgroup_folder root = { 0 };
    uint32_t options = divides_by_cgroup ? CAMP_STATES_BY_CGROUP : 0;
    bool is_v1 = cgroup->folder.is_v1;

    /* Without a subject, the hierarchy is that with the CPU controller. */
    if (cgroup->folder.path == NULL && divides_by_cgroup &&
        cgroup_folder_find_root(&root, NULL) == CAMP_OK)
        is_v1 = root.is_v1;
    cgroup_folder_release(&root);
    return options | (is_v1 ? CAMP_STATES_CPU_CGROUPS : 0);
}

int why_cgroup_watch(const struct why_cgroup *cgroup, struct causes_source *source,
                     struct camp_error *error)
{
    struct cgroup_folder root = { 0 };
    const char *mount = cgroup->folder.mount;
    int r = CAMP_OK;

    if (mount == NULL && cgroup_folder_find_root(&root, NULL) == CAMP_OK)
        mount = root.mount;
    if (mount != NULL && !causes_name_cgroups(source, mount))
        r = camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the names of cgroups");
    if (r == CAMP_OK && cgroup->folder.path != NULL)
        r = causes_watch_cgroup(source, cgroup->folder.path, cgroup->folder.id, cgroup->name,
                                error);
    cgroup_folder_release(&root);
    return r;
}

void why_cgroup_release(struct why_cgroup *cgroup)
{
    cgroup_folder_release(&cgroup->folder);
}
