/*
 * test_machine: laws that hold on the running machine, for a port that could not be run where it
 * was written. It needs no library but libcamp and libcamp-states, and no privilege. It prints a
 * line for each law. A law of something that this system does not count is skipped, and says so.
 */
#include <camp/camp.h>
#include <camp/states.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1e9
#define CPUS_MAX 1024
#define THREADS_MAX 100000

static int failures;

static void law(bool holds, const char *what, double number)
{
    printf("%s %s: %g\n", holds ? "ok  " : "FAIL", what, number);
    failures += !holds;
}

static void skip(const char *what, const struct camp_error *error)
{
    printf("skip %s: %s\n", what, error->message);
}

/* Uses a CPU for half of a second, and sleeps for the other half. */
static void work(void)
{
    const clock_t end = clock() + CLOCKS_PER_SEC / 2;
    const struct timespec half = { 0, 500000000 };

    while (clock() < end)
        ;
    nanosleep(&half, NULL);
}

static void times_of_a_process_and_its_cpus(void)
{
    struct camp_task before, after;
    struct camp_cpu cpu_before, cpu_after;
    struct camp_process self;
    struct camp_error error;
    size_t cpus;
    double cpu_s, wall_s;

    if (camp_process_identify(NULL, (int32_t)getpid(), &self, sizeof self, &error) != CAMP_OK ||
        camp_process_read(NULL, &self, CAMP_TASK_ALL, &before, sizeof before, &error) != CAMP_OK ||
        camp_cpu_count(NULL, &cpus, &error) != CAMP_OK ||
        camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu_before, sizeof cpu_before, &error) != CAMP_OK) {
        law(false, error.message, 0);
        return;
    }
    work();
    camp_process_read(NULL, &self, CAMP_TASK_ALL, &after, sizeof after, &error);
    camp_cpu_read(NULL, CAMP_CPU_TOTAL, &cpu_after, sizeof cpu_after, &error);
    cpu_s = (double)(after.cpu_ns - before.cpu_ns) / NS_PER_S;
    law(cpu_s > 0.45 && cpu_s < 0.6, "s of CPU time that the process used (0.5)", cpu_s);
    law(after.time_ns > before.time_ns, "ns between the readings",
        (double)(after.time_ns - before.time_ns));
    law(after.resident_bytes > 100000, "resident bytes", (double)after.resident_bytes);
    law(after.voluntary_switches >= before.voluntary_switches, "voluntary switches",
        (double)after.voluntary_switches);
    /* On a system that measures all times of a CPU, they add up to the wall time. */
    wall_s = (double)(cpu_after.time_ns - cpu_before.time_ns) / NS_PER_S * (double)cpus;
    cpu_s =
        (double)(cpu_after.user_ns - cpu_before.user_ns + cpu_after.system_ns -
                 cpu_before.system_ns + cpu_after.idle_ns - cpu_before.idle_ns +
                 cpu_after.iowait_ns - cpu_before.iowait_ns + cpu_after.irq_ns - cpu_before.irq_ns +
                 cpu_after.softirq_ns - cpu_before.softirq_ns + cpu_after.steal_ns -
                 cpu_before.steal_ns + cpu_after.nice_ns - cpu_before.nice_ns) /
        NS_PER_S;
    law(cpu_s > 0.9 * wall_s && cpu_s < 1.1 * wall_s, "share of the CPUs' time in their states",
        cpu_s / wall_s);
}

static void memory_disks_and_networks(void)
{
    static struct camp_network networks[256];
    static struct camp_disk disks[1024];
    struct camp_memory memory;
    struct camp_error error;
    size_t count;

    if (camp_memory_read(NULL, CAMP_MEMORY_ALL, &memory, sizeof memory, &error) == CAMP_OK) {
        law(memory.total_bytes > memory.free_bytes && memory.free_bytes > 0,
            "share of memory that is free", (double)memory.free_bytes / (double)memory.total_bytes);
        law(memory.swap_free_bytes <= memory.swap_total_bytes, "MB of swap that are free",
            (double)memory.swap_free_bytes / 1e6);
    } else {
        skip("memory", &error);
    }
    if (camp_disk_read_all(NULL, CAMP_DISK_WHOLE, disks, sizeof disks[0], 1024, &count, &error) ==
        CAMP_OK)
        law(true, "disks", (double)count);
    else
        skip("disks", &error);
    if (camp_network_read_all(NULL, networks, sizeof networks[0], 256, &count, &error) == CAMP_OK)
        law(true, "networks", (double)count);
    else
        skip("networks", &error);
}

static uint64_t sum_of(const struct camp_thread_states *thread)
{
    uint64_t sum = 0;

    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        sum += thread->state_ns[i];
    return sum;
}

static void states_add_up_to_the_wall_time(void)
{
    struct camp_thread_states *threads = calloc(THREADS_MAX, sizeof *threads);
    struct camp_states *session;
    struct camp_error error;
    size_t count = 0, wrong = 0;
    int r = camp_states_open(&session, 0, &error);

    if (r != CAMP_OK || threads == NULL) {
        skip("microstates", &error);
        free(threads);
        return;
    }
    work();
    r = camp_states_threads(session, threads, sizeof *threads, THREADS_MAX, &count, &error);
    law(r == CAMP_OK && count > 0, "threads with microstates", (double)count);
    for (size_t i = 0; i < count; i++) {
        const double watched = (double)(threads[i].time_ns - threads[i].begin_ns);
        const double left = watched - (double)sum_of(&threads[i]);

        if (left > 0.01 * watched + 1e6 || left < -0.01 * watched - 1e6)
            wrong++;
        if (threads[i].pid == (int32_t)getpid())
            law(sum_of(&threads[i]) > 900000000, "s in the states of this thread (1)",
                (double)sum_of(&threads[i]) / NS_PER_S);
    }
    law(wrong == 0, "threads whose states miss more than 1 % of the wall time", (double)wrong);
    camp_states_close(session);
    free(threads);
}

int main(void)
{
    times_of_a_process_and_its_cpus();
    memory_disks_and_networks();
    states_add_up_to_the_wall_time();
    return failures == 0 ? 0 : 1;
}
