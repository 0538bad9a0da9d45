#include "top_workloads.h"

#include "program/command.h"
#include "sources/machine/file_text.h"
#include "sources/machine/process_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAXIMUM (1024 * 1024)

int top_workloads_read(struct top_workloads *ret, const char *path)
{
    struct rule_fault fault;
    char *text = malloc(FILE_SIZE_MAXIMUM + 1);
    ssize_t length = text != NULL ? file_text(path, text, FILE_SIZE_MAXIMUM + 1) : -1;
    int r;

    *ret = (struct top_workloads){ 0 };
    if (length < 0 || length > FILE_SIZE_MAXIMUM) {
        free(text);
        return complain(STATUS_FAILURE, "--workload %s: %s", path,
                        length < 0 ? strerror(errno) : "the file is longer than 1 MB");
    }
    r = workloads_parse(&ret->rules, text, (size_t)length, &fault);
    free(text);
    if (r == CAMP_E_FORMAT)
        return complain(STATUS_FAILURE, "%s:%zu: %s", path, fault.line, fault.message);
    if (r == CAMP_OK && ret->rules.count == 0)
        return complain(STATUS_FAILURE, "--workload %s: the file has no rule; see --help", path);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain(STATUS_FAILURE, "out of memory");
}

void top_workloads_release(struct top_workloads *workloads)
{
    workloads_release(&workloads->rules);
    free(workloads->members);
    free(workloads->numbers);
    *workloads = (struct top_workloads){ 0 };
}

static size_t apply_rules(const struct workloads *rules, struct user_names *users,
                          const struct entity *process)
{
    char line[PROCESS_LINE_SIZE] = "";

    if (workloads_need_lines(rules))
        process_line(process->pid, (process->flags & (ENTITY_KERNEL | ENTITY_ENDED)) == 0,
                     process->name, line);
    return workloads_match(rules, process->name, user_names_get(users, process->uid), line);
}

static bool is_unchanged(const struct workload_member *member, const struct entity *process,
                         bool same_frame)
{
    return member->pid == process->pid && member->uid == process->uid &&
           strcmp(member->name, process->name) == 0 &&
           (same_frame || (process->flags & ENTITY_NEW) == 0);
}

static int compare_threads(const void *a, const void *b, void *context)
{
    const struct frame *threads = context;

    return entity_compare_by_process(&threads->entities[*(const size_t *)a],
                                     &threads->entities[*(const size_t *)b]);
}

/* Fills `ret` with a member for each process, and returns their number. A member keeps its workload
 * if the process has not changed. Threads and members are both ordered by pid, so one pass is
 * enough. */
static size_t find_members(struct top_workloads *workloads, struct user_names *users,
                           const struct frame *threads, const size_t *order,
                           struct workload_member *ret)
{
    const bool same_frame = workloads->frame_ns == threads->end_ns;
    size_t before = 0, count = 0;

    for (size_t i = 0; i < threads->entity_count; i++) {
        const struct entity *thread = &threads->entities[order[i]];

        if (count == 0 || ret[count - 1].pid != thread->pid) {
            struct workload_member *member = &ret[count++];

            while (before < workloads->count && workloads->members[before].pid < thread->pid)
                before++;
            member->pid = thread->pid;
            member->uid = thread->uid;
            memcpy(member->name, thread->name, sizeof member->name);
            member->workload = before < workloads->count &&
                                       is_unchanged(&workloads->members[before], thread, same_frame)
                                   ? workloads->members[before].workload
                                   : apply_rules(&workloads->rules, users, thread);
        }
        workloads->numbers[order[i]] = (int64_t)ret[count - 1].workload;
    }
    return count;
}

int top_workloads_find(struct top_workloads *workloads, struct user_names *users,
                       const struct frame *threads)
{
    const size_t count = threads->entity_count;
    struct workload_member *members = calloc(count + 1, sizeof *members);
    size_t *order = calloc(count + 1, sizeof *order);
    int r = CAMP_E_NOMEM;

    free(workloads->numbers);
    workloads->numbers = calloc(count + 1, sizeof *workloads->numbers);
    if (members != NULL && order != NULL && workloads->numbers != NULL) {
        for (size_t i = 0; i < count; i++)
            order[i] = i;
        qsort_r(order, count, sizeof *order, compare_threads, (void *)threads);
        workloads->count = find_members(workloads, users, threads, order, members);
        free(workloads->members);
        workloads->members = members;
        workloads->frame_ns = threads->end_ns;
        members = NULL;
        r = CAMP_OK;
    }
    free(members);
    free(order);
    return r;
}
