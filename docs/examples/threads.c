/*
 * threads PID [SECONDS]: the CPU time of each thread of a process in an interval, and how long it
 * waited for a CPU.
 */
#include <camp/camp.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8192
#define WANTED (CAMP_TASK_CPU | CAMP_TASK_RUN_DELAY | CAMP_TASK_STATE | CAMP_TASK_NAME)

static struct camp_thread threads[THREADS];
static struct camp_task before[THREADS];

/* Prints the name of a task. It may have any bytes, even those that control a terminal. */
static void print_name(const char *name)
{
    for (; *name != '\0'; name++)
        putchar(isprint((unsigned char)*name) ? *name : '?');
    putchar('\n');
}

static void print_percent(uint32_t known, uint64_t first, uint64_t second, uint64_t elapsed_ns)
{
    if (known == 0 || elapsed_ns == 0)
        printf(" %8s", "unknown");
    else
        printf(" %8.1f",
               second > first ? 100 * (double)(second - first) / (double)elapsed_ns : 0.0);
}

static void print_thread(const struct camp_thread *thread, const struct camp_task *first)
{
    struct camp_task second;
    uint64_t elapsed_ns;
    uint32_t known;

    /* A thread that has exited is left out. So is one that could not be read before. */
    if (first->known == 0 ||
        camp_thread_read(NULL, thread, WANTED, &second, sizeof second, NULL) < 0)
        return;
    known = first->known & second.known;
    elapsed_ns = second.time_ns - first->time_ns;
    printf("%8d %c", (int)thread->tid, (known & CAMP_TASK_STATE) != 0 ? second.state : '?');
    print_percent(known & CAMP_TASK_CPU, first->cpu_ns, second.cpu_ns, elapsed_ns);
    print_percent(known & CAMP_TASK_RUN_DELAY, first->run_delay_ns, second.run_delay_ns,
                  elapsed_ns);
    putchar(' ');
    print_name(second.name);
}

int main(int argc, char **argv)
{
    double seconds = argc > 2 ? atof(argv[2]) : 1;
    struct camp_error error = { 0 };
    struct camp_utilisation all;
    struct camp_process process;
    size_t count = 0, i;
    int result;

    if (argc < 2 || argc > 3 || !(seconds >= 0.01 && seconds <= 3600)) {
        fprintf(stderr, "usage: threads PID [SECONDS]\n");
        return 2;
    }
    result = camp_process_identify(NULL, (int32_t)atol(argv[1]), &process, sizeof process, &error);
    if (result == CAMP_OK)
        result =
            camp_thread_list(NULL, &process, threads, sizeof threads[0], THREADS, &count, &error);
    for (i = 0; result == CAMP_OK && i < count; i++)
        if (camp_thread_read(NULL, &threads[i], WANTED, &before[i], sizeof before[i], NULL) < 0)
            before[i].known = 0;
    if (result == CAMP_OK) /* waits */
        result = camp_cpu_utilisation(NULL, CAMP_CPU_TOTAL, (unsigned)(seconds * 1000), NULL, NULL,
                                      &all, sizeof all, &error);
    if (result < 0) {
        fprintf(stderr, "threads: %s\n", error.message);
        return 1;
    }
    printf("%8s s %8s %8s name\n", "tid", "cpu%", "waits%");
    for (i = 0; i < count; i++)
        print_thread(&threads[i], &before[i]);
    return 0;
}
