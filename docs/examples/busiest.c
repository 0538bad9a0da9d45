/*
 * busiest [SECONDS [COUNT]]: the processes that used the most CPU time in an interval.
 *
 * A process that started in the interval counts with all its time. One that exited in it is not
 * listed: only the kernel knows its last times (see camp_taskstats_exits()).
 */
#include <camp/camp.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define PROCESSES 32768

struct reading {
    struct camp_process process;
    struct camp_task task;
    double percent;
};

static struct camp_process processes[PROCESSES];

/* Reads all processes, ascending by pid. Returns their number, or an error. */
static long read_all(struct reading *ret, struct camp_error *error)
{
    size_t count, i;
    long read = 0;
    int result = camp_process_list(NULL, processes, sizeof processes[0], PROCESSES, &count, error);

    for (i = 0; result == CAMP_OK && i < count; i++) {
        ret[read].process = processes[i];
        result = camp_process_read(NULL, &processes[i], CAMP_TASK_CPU | CAMP_TASK_NAME,
                                   &ret[read].task, sizeof ret[read].task, error);
        if (result == CAMP_OK && (ret[read].task.known & CAMP_TASK_CPU) != 0)
            read++;
        if (result == CAMP_E_GONE || result == CAMP_E_PERM)
            result = CAMP_OK; /* it exited since the list was made, or is hidden */
    }
    if (result == CAMP_OK && read == 0)
        sprintf(error->message, "the CPU time of processes is unknown here");
    return result < 0 ? result : read;
}

/* Prints the name of a task. It may have any bytes, even those that control a terminal. */
static void print_name(const char *name)
{
    for (; *name != '\0'; name++)
        putchar(isprint((unsigned char)*name) ? *name : '?');
    putchar('\n');
}

static int by_percent(const void *left, const void *right)
{
    const struct reading *a = left, *b = right;

    return (a->percent < b->percent) - (a->percent > b->percent);
}

static void print_busiest(const struct reading *before, long first, struct reading *after,
                          long second, long wanted)
{
    long i, j = 0;

    for (i = 0; i < second; i++) {
        const struct camp_task *task = &after[i].task;
        uint64_t cpu_ns = 0, elapsed_ns = task->time_ns - before[0].task.time_ns;

        while (j < first && before[j].process.pid < after[i].process.pid)
            j++;
        /* A pid alone is not enough: a process that exited may have had it. */
        if (j < first && before[j].process.pid == after[i].process.pid &&
            before[j].process.start == after[i].process.start) {
            cpu_ns = before[j].task.cpu_ns;
            elapsed_ns = task->time_ns - before[j].task.time_ns;
        }
        if (task->cpu_ns > cpu_ns && elapsed_ns > 0)
            after[i].percent = 100.0 * (double)(task->cpu_ns - cpu_ns) / (double)elapsed_ns;
    }
    qsort(after, (size_t)second, sizeof after[0], by_percent);
    printf("%8s %7s name\n", "pid", "cpu%");
    for (i = 0; i < second && i < wanted; i++) {
        printf("%8d %7.1f ", (int)after[i].process.pid, after[i].percent);
        print_name(after[i].task.name);
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    long wanted = argc > 2 ? atol(argv[2]) : 10, first, second;
    struct reading *before = calloc(PROCESSES, sizeof *before);
    struct reading *after = calloc(PROCESSES, sizeof *after);
    struct camp_error error = { 0 };
    struct camp_utilisation all;
    int status = 1;

    if (argc > 3 || !(seconds >= 0.01 && seconds <= 3600) || wanted < 1) {
        fprintf(stderr, "usage: busiest [SECONDS [COUNT]]\n");
        status = 2;
    } else if (before == NULL || after == NULL) {
        fprintf(stderr, "busiest: no memory is left\n");
    } else if ((first = read_all(before, &error)) <= 0 ||
               camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, (unsigned)(seconds * 1000), NULL, NULL,
                                    &all, sizeof all, &error) < 0 || /* waits */
               (second = read_all(after, &error)) <= 0) {
        fprintf(stderr, "busiest: %s\n", error.message);
    } else {
        print_busiest(before, first, after, second, wanted);
        status = 0;
    }
    free(before);
    free(after);
    return status;
}
