/* Tests the two definitions of I/O wait of a CPU, and which disk a thread waited for. One reader
 * runs on one CPU. Other threads may read too, so the waits of all threads are included. */
#include "disk_file.h"

#include <stdbool.h>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#define READS 200u
#define CPUS 1024u
#define IDLE_US 50000u

struct reader {
    int file;
    size_t cpu;
    struct stretch own;
};

static void read_alone(void *truth)
{
    struct reader *self = truth;

    stay_on(self->cpu);
    begin_stretch(&self->own);
    read_blocks(self->file, READS);
    end_stretch(&self->own);
}

static struct reader *make_reader(void)
{
    struct reader *reader = shared_memory(sizeof *reader);

    reader->file = file_on_disk("", 1);
    reader->cpu = last_cpu();
    return reader;
}

static void release_reader(struct reader *reader)
{
    close(reader->file);
    munmap(reader, sizeof *reader);
}

/* Asserts that the reader's wait for its disk is at least the wait by its own clocks. */
static void assert_read(const struct reader *reader, const struct camp_thread_states *last,
                        uint64_t stolen_ns)
{
    assert_at_least("disk", last->state_ns[CAMP_STATE_DISK], 1, 0);
    assert_at_least("disk", last->state_ns[CAMP_STATE_DISK], least_asleep_ns(&reader->own),
                    tolerance_of(last) + stolen_ns);
}

struct sight {
    struct camp_cpu_states cpus[CPUS];
    size_t count;
    uint64_t disk_ns; /* sum over all living threads */
};

static void see_threads(struct camp_states *session, struct sight *sight)
{
    struct threads threads = read_threads(session);

    sight->disk_ns = 0;
    for (size_t i = 0; i < threads.count; i++)
        sight->disk_ns += threads.of[i].state_ns[CAMP_STATE_DISK];
    free(threads.of);
}

static void see_cpus(struct camp_states *session, struct sight *sight)
{
    assert_int_equal(
        camp_states_cpus(session, sight->cpus, sizeof sight->cpus[0], CPUS, &sight->count, NULL),
        CAMP_OK);
}

/* Returns the growth of a CPU's times between two readings. */
static struct camp_cpu_states since(const struct sight *before, const struct sight *now, size_t at)
{
    struct camp_cpu_states cpu = now->cpus[at];

    for (size_t i = 0; i < before->count; i++) {
        const struct camp_cpu_states *then = &before->cpus[i];

        if (then->cpu != cpu.cpu)
            continue;
        cpu.busy_ns -= then->busy_ns;
        cpu.idle_ns -= then->idle_ns;
        cpu.irq_ns -= then->irq_ns;
        cpu.softirq_ns -= then->softirq_ns;
        cpu.any_wait_ns -= then->any_wait_ns;
        cpu.own_wait_ns -= then->own_wait_ns;
    }
    return cpu;
}

/* While a thread waits for a disk, each CPU is idle or in use. CPUs and threads are accounted with
 * separate clock readings, so the start and end of a wait may differ by the time of a switch. */
static void assert_waits(const struct camp_cpu_states *cpu, bool has_reader, uint64_t reader_ns,
                         uint64_t reader_cpu_ns, uint64_t others_ns, uint64_t tolerance)
{
    const uint64_t used = cpu->busy_ns + cpu->irq_ns + cpu->softirq_ns;

    print_message("cpu%d: any %.3f ms, own %.3f, in use %.3f%s\n", cpu->cpu,
                  (double)cpu->any_wait_ns / 1e6, (double)cpu->own_wait_ns / 1e6,
                  (double)used / 1e6, has_reader ? ": the reader's" : "");
    assert_at_most("any, of idle", cpu->any_wait_ns, cpu->idle_ns, 0);
    assert_at_most("own, of any", cpu->own_wait_ns, cpu->any_wait_ns, tolerance);
    assert_at_least("any and use", cpu->any_wait_ns + used, reader_ns, tolerance);
    assert_at_most("any", cpu->any_wait_ns, reader_ns + others_ns, tolerance);
    if (!has_reader) {
        assert_at_most("own of another CPU", cpu->own_wait_ns, others_ns, tolerance);
        return;
    }
    assert_at_least("own and use", cpu->own_wait_ns + used, reader_ns + reader_cpu_ns, tolerance);
    assert_at_most("own", cpu->own_wait_ns, reader_ns + others_ns, tolerance);
}

static uint64_t disk_of(const struct threads *ended, pid_t but)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ended->count; i++)
        sum += ended->of[i].pid != but ? ended->of[i].state_ns[CAMP_STATE_DISK] : 0;
    return sum;
}

static void own_wait_ns_counts_a_disk_wait_on_one_cpu_but_any_wait_ns_on_all_cpus(void **state)
{
    static struct sight before, now;
    struct camp_states *session = open_states_or_skip(0);
    struct reader *reader = make_reader();
    struct threads ended = { 0 };
    struct camp_thread_states last;
    uint64_t steal = steal_ns(), others_ns, tolerance;
    pid_t child;

    (void)state;
    /* The waits of other threads are read before and after those of the CPUs: they bound them. */
    see_threads(session, &before);
    see_cpus(session, &before);
    child = start(read_alone, reader);
    reap_well(child);
    last = last_of(session, &ended, child);
    usleep(IDLE_US); /* In this time the CPU is idle and no thread waits. */
    see_cpus(session, &now);
    see_threads(session, &now);
    add_exited(session, &ended);
    others_ns = now.disk_ns - (before.disk_ns < now.disk_ns ? before.disk_ns : now.disk_ns) +
                disk_of(&ended, child);
    print_message("the reader waited %.3f ms, others %.3f\n",
                  (double)last.state_ns[CAMP_STATE_DISK] / 1e6, (double)others_ns / 1e6);
    assert_read(reader, &last, stolen_since(steal));
    tolerance = tolerance_of(&last) + stolen_since(steal);
    for (size_t i = 0; i < now.count; i++) {
        struct camp_cpu_states cpu = since(&before, &now, i);

        assert_waits(&cpu, (size_t)cpu.cpu == reader->cpu, last.state_ns[CAMP_STATE_DISK],
                     on_cpu_ns(&last), others_ns, tolerance);
    }
    release_reader(reader);
    free(ended.of);
    close_states(session);
}

#define WAITS 16384u

static void assert_is_disk_of(int file, const struct camp_disk_wait *wait)
{
    struct stat status;
    char path[64];

    snprintf(path, sizeof path, "/sys/dev/block/%u:%u", wait->major, wait->minor);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(fstat(file, &status), 0);
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u", major(status.st_dev), minor(status.st_dev));
    if (access(path, F_OK) != 0)
        return; /* The file system is not on a disk device. */
    assert_int_equal(wait->major, major(status.st_dev));
    assert_int_equal(wait->minor, minor(status.st_dev));
}

static void a_disk_wait_is_reported_with_its_disk(void **state)
{
    static struct camp_disk_wait waits[WAITS];
    struct camp_states *session = open_states_or_skip(CAMP_STATES_DISKS);
    struct reader *reader = make_reader();
    struct threads ended = { 0 };
    struct camp_thread_states last;
    uint64_t steal = steal_ns(), told_ns = 0, named_ns = 0, outside_ns;
    pid_t child = start(read_alone, reader);
    size_t count;

    (void)state;
    reap_well(child);
    last = last_of(session, &ended, child);
    assert_int_equal(camp_states_disk_waits(session, waits, sizeof waits[0], WAITS, &count, NULL),
                     CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        if (waits[i].tid != child || waits[i].start_ns != last.start_ns)
            continue;
        assert_int_equal(waits[i].pid, child);
        assert_string_equal(waits[i].name, last.name);
        told_ns += waits[i].wait_ns;
        if (waits[i].major == 0)
            continue; /* Another thread requested the page, so the disk is unknown. */
        assert_is_disk_of(reader->file, &waits[i]);
        named_ns += waits[i].wait_ns;
    }
    assert_read(reader, &last, stolen_since(steal));
    assert_int_equal(told_ns, last.state_ns[CAMP_STATE_DISK]);
    /* Between its clock readings, the reader waits only for its own requests, so their disk is
     * known. */
    outside_ns = last.time_ns - last.start_ns - reader->own.wall_ns;
    assert_at_least("of a disk with a name", named_ns, told_ns, outside_ns);
    release_reader(reader);
    free(ended.of);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_wait_ns_counts_a_disk_wait_on_one_cpu_but_any_wait_ns_on_all_cpus),
        cmocka_unit_test(a_disk_wait_is_reported_with_its_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
