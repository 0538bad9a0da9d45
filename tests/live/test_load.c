/*
 * The truth of each load agrees with the kernel's own witness, which it does not read itself:
 * getrusage, schedstat, taskstats, /proc/self/io, /proc/net/dev, smaps_rollup.
 */
#include "commands/command.h"
#include "commands/load.h"
#include "counters/units.h"
#include "cpu_steal.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t ns_of_timeval(struct timeval time)
{
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * NS_PER_US;
}

static uint64_t usage_ns(int who)
{
    struct rusage usage;

    assert_int_equal(getrusage(who, &usage), 0);
    return ns_of_timeval(usage.ru_utime) + ns_of_timeval(usage.ru_stime);
}

/* One read of a file of /proc: its text, and how long it is. */
static size_t read_once(const char *path, char *text, size_t capacity)
{
    int file = open(path, O_RDONLY);
    ssize_t length;

    assert_true(file >= 0);
    length = read(file, text, capacity - 1);
    close(file);
    assert_true(length >= 0);
    text[length] = '\0';
    return (size_t)length;
}

static uint64_t number_after(const char *text, const char *key)
{
    const char *found = strstr(text, key);

    assert_non_null(found);
    return strtoull(found + strlen(key), NULL, 10);
}

static uint64_t run_delay_ns(void)
{
    char text[128];
    unsigned long long on_cpu, delay;

    read_once("/proc/self/schedstat", text, sizeof text);
    assert_int_equal(sscanf(text, "%llu %llu", &on_cpu, &delay), 2);
    return delay;
}

/* ------------------------------------------------------------------------------- CPU -- */

static void own_clock_of_a_cpu_load_is_what_getrusage_says(void **state)
{
    const struct load_cpu_plan plan = { 40, LOAD_ANY_PHASE, 0, -1, 600 * NS_PER_MS };
    struct load_cpu_truth truth;
    uint64_t steal = steal_ns(), before = usage_ns(RUSAGE_SELF), witness;

    (void)state;
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_SELF) - before;
    assert_true(truth.own_ns > 0);
    assert_at_least("getrusage", witness, truth.own_ns, 2 * NS_PER_US);
    assert_at_most("getrusage", witness, truth.own_ns, 5 * NS_PER_MS + stolen_since(steal));
}

/* What it did not use of its share, it waited for a CPU. */
static void share_of_a_cpu_load_is_kept_but_for_run_delay(void **state)
{
    const struct load_cpu_plan plan = { 30, LOAD_ANY_PHASE, 0, -1, 1000 * NS_PER_MS };
    struct load_cpu_truth truth;
    uint64_t steal = steal_ns(), delay = run_delay_ns(), share, stolen;

    (void)state;
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    delay = run_delay_ns() - delay;
    stolen = stolen_since(steal);
    share = truth.wall_ns / 100 * 30;
    assert_at_least("wall time", truth.wall_ns, plan.duration_ns, 0);
    assert_at_most("own clock", truth.own_ns, share, 10 * NS_PER_MS + stolen);
    assert_at_least("own clock and run delay", truth.own_ns + delay, share,
                    20 * NS_PER_MS + stolen);
    assert_in_range(truth.cycles, 50, UINT64_MAX);
}

/* Sampled and measured time of this process over a phased load, by taskstats: both hold the search
 * for the tick as well. */
static void watch_once(const struct load_cpu_plan *plan, struct camp_taskstat *ret,
                       struct load_cpu_truth *ret_truth)
{
    struct camp_taskstats session = CAMP_TASKSTATS_NONE;
    struct camp_taskstat before;
    struct camp_error error;
    uint64_t steal = steal_ns(), known_ns, room_ns;
    int32_t pid = getpid();

    if (camp_taskstats_open(&session, &error) != CAMP_OK) {
        print_message("SKIPPED: %s\n", error.message);
        skip();
    }
    assert_int_equal(camp_taskstats_read(&session, &pid, 1, &before, sizeof before, NULL), CAMP_OK);
    assert_int_equal(load_cpu(plan, ret_truth, NULL), CAMP_OK);
    assert_int_equal(camp_taskstats_read(&session, &pid, 1, ret, sizeof *ret, NULL), CAMP_OK);
    camp_taskstats_close(&session);
    ret->measured_ns -= before.measured_ns;
    ret->sampled_ns -= before.sampled_ns;
    print_message("own clock %.3f%%, ms: own %.1f + search %.1f, measured %.1f, sampled %.1f; "
                  "missed %llu, cycles %llu%s\n",
                  ret_truth->percent, (double)ret_truth->own_ns / NS_PER_MS,
                  (double)ret_truth->search_ns / NS_PER_MS, (double)ret->measured_ns / NS_PER_MS,
                  (double)ret->sampled_ns / NS_PER_MS, (unsigned long long)ret_truth->missed,
                  (unsigned long long)ret_truth->cycles, ret_truth->realtime ? ", realtime" : "");
    /* The kernel's total of a running task may be a tick old. */
    known_ns = ret_truth->own_ns + ret_truth->search_ns;
    room_ns = known_ns / 100 + ret_truth->tick_ns + stolen_since(steal);
    assert_at_least("measured", ret->measured_ns, known_ns, room_ns);
    assert_at_most("measured", ret->measured_ns, known_ns, room_ns);
}

/* Where others have the CPU for long, the load says that it missed its places: then once more, and
 * when it was never left alone nothing can be said. */
static void watch_phased(const struct load_cpu_plan *plan, struct camp_taskstat *ret,
                         struct load_cpu_truth *ret_truth)
{
    for (unsigned attempt = 0; attempt < 5; attempt++) {
        watch_once(plan, ret, ret_truth);
        if (ret_truth->missed * 5 <= ret_truth->cycles)
            return;
    }
    print_message("skipped, not passed: others kept the load from its places in 5 of 5 tries "
                  "(%llu of %llu missed in the last)\n",
                  (unsigned long long)ret_truth->missed, (unsigned long long)ret_truth->cycles);
    skip();
}

static void load_between_ticks_is_measured_and_hardly_sampled(void **state)
{
    const struct load_cpu_plan plan = { 80, LOAD_BETWEEN_TICKS, 0, -1, 2ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct camp_taskstat seen;

    (void)state;
    watch_phased(&plan, &seen, &truth);
    assert_at_most("sampled", seen.sampled_ns, truth.own_ns / 5 + truth.search_ns, 0);
}

static void load_across_ticks_is_sampled_far_above_measured(void **state)
{
    const struct load_cpu_plan plan = { 5, LOAD_ACROSS_TICKS, 0, -1, 2ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct camp_taskstat seen;

    (void)state;
    watch_phased(&plan, &seen, &truth);
    assert_at_least("sampled", seen.sampled_ns, 5 * truth.own_ns + truth.search_ns, 0);
}

static void process_is_as_before_after_a_phased_load(void **state)
{
    const struct load_cpu_plan plan = { 20, LOAD_BETWEEN_TICKS, 0, -1, 100 * NS_PER_MS };
    struct load_cpu_truth truth;
    cpu_set_t before, after;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(load_cpu(&plan, &truth, NULL), CAMP_OK);
    assert_true(truth.cpu >= 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

/* ------------------------------------------------------------------------------ Fork -- */

/* RUSAGE_CHILDREN keeps the sum in ns (cutime + cstime), each part cut to 1 us when read. */
static void clocks_of_ended_children_add_up_to_rusage_children(void **state)
{
    const struct load_fork_plan plan = { 200, NS_PER_MS, 500 * NS_PER_MS };
    struct load_fork_truth truth;
    uint64_t steal = steal_ns(), before = usage_ns(RUSAGE_CHILDREN), witness;

    (void)state;
    assert_int_equal(load_fork(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_CHILDREN) - before;
    assert_in_range(truth.children, 1, 100);
    assert_int_equal(truth.unreported, 0);
    assert_at_least("own clocks", truth.own_ns, truth.children * plan.burn_ns, 0);
    assert_at_least("whole clocks", truth.whole_ns, truth.own_ns + 1, 0);
    assert_at_least("getrusage", witness, truth.whole_ns, 4 * NS_PER_US);
    assert_at_most("getrusage", witness, truth.whole_ns, truth.whole_ns / 50 + stolen_since(steal));
}

/* ---------------------------------------------------------------------------- Memory -- */

struct witness {
    uint64_t resident_bytes;
    uint64_t steps;
};

static uint64_t resident_now(void)
{
    char text[4096];

    read_once("/proc/self/smaps_rollup", text, sizeof text);
    return number_after(text, "Rss:") * BYTES_PER_KIB;
}

static bool see_step(void *context, const struct load_step *step)
{
    struct witness *witness = context;
    uint64_t resident = resident_now();

    assert_in_range(resident, witness->resident_bytes + step->bytes,
                    witness->resident_bytes + step->bytes + 256 * BYTES_PER_KIB);
    assert_int_equal(step->minor_faults, step->touched_pages);
    assert_int_equal(step->resident_bytes, step->bytes);
    witness->resident_bytes = resident;
    witness->steps++;
    return true;
}

static void each_step_of_memory_is_resident_and_one_fault_a_page(void **state)
{
    static struct load_memory_truth truth;
    struct witness witness = { 0 };
    const struct load_memory_plan plan = {
        .step_bytes = 976 * BYTES_PER_KIB, .steps = 5, .each_step = see_step, .context = &witness
    };

    (void)state;
    memset(&truth, 1, sizeof truth); /* so that its own pages are there before */
    resident_now();
    witness.resident_bytes = resident_now();
    assert_int_equal(load_memory(&plan, &truth, NULL), CAMP_OK);
    assert_int_equal(witness.steps, 5);
    assert_int_equal(truth.bytes, 5 * 976 * BYTES_PER_KIB);
    assert_int_equal(truth.minor_faults, truth.pages);
    assert_in_range(resident_now(), 0, witness.resident_bytes - 4 * 976 * BYTES_PER_KIB);
}

/* --------------------------------------------------------------------------- Network -- */

struct interface {
    uint64_t received_bytes, received_packets, sent_bytes, sent_packets;
};

static void read_lo(struct interface *ret)
{
    char text[8192], *line;
    unsigned long long in_bytes, in_packets, out_bytes, out_packets;

    read_once("/proc/thread-self/net/dev", text, sizeof text);
    line = strstr(text, "lo:");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "lo: %llu %llu %*u %*u %*u %*u %*u %*u %llu %llu", &in_bytes,
                            &in_packets, &out_bytes, &out_packets),
                     4);
    *ret = (struct interface){ in_bytes, in_packets, out_bytes, out_packets };
}

/* In a namespace of its own, where nobody else sends. Exits with the number of the broken law. */
static int count_alone(void)
{
    const struct load_net_plan plan = { 10000, 32, "127.0.0.1", -1, -1 };
    struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
    struct load_net_truth truth;
    struct interface before, after;
    int control = socket(AF_INET, SOCK_DGRAM, 0);

    if (control < 0 || ioctl(control, SIOCSIFFLAGS, &lo) != 0)
        return 2;
    read_lo(&before);
    if (load_net(&plan, &truth, NULL) != CAMP_OK)
        return 3;
    read_lo(&after);
    if (truth.sent_packets != 10000 || truth.received_packets != 10000 || truth.lost_packets != 0)
        return 4;
    if (truth.sent_bytes != 320000 || truth.received_bytes != 320000)
        return 5;
    if (after.sent_packets - before.sent_packets != truth.sent_packets ||
        after.received_packets - before.received_packets != truth.received_packets)
        return 6;
    if (after.sent_bytes - before.sent_bytes !=
        truth.sent_bytes + truth.sent_packets * truth.header_bytes)
        return 7;
    return 0;
}

static void packets_and_bytes_are_those_of_the_loopback_interface(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
            _exit(77);
        _exit(count_alone());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("SKIPPED: no network namespace can be made here (CAP_SYS_ADMIN)\n");
        skip();
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ------------------------------------------------------------------------------- I/O -- */

/* Reading the witness is itself one read, of *ret_length bytes, after what it says. */
static void read_io(char *text, size_t capacity, size_t *ret_length)
{
    *ret_length = read_once("/proc/thread-self/io", text, capacity);
}

static void run_io(bool write)
{
    const struct load_io_plan plan = { NULL, 1000000, 4096, false, write };
    const char *const calls = write ? "syscw: " : "syscr: ";
    const char *const bytes = write ? "wchar: " : "rchar: ";
    struct load_io_truth truth;
    char before[512], after[512];
    size_t length, ignored;

    read_io(before, sizeof before, &length);
    assert_int_equal(load_io(&plan, &truth, NULL), CAMP_OK);
    read_io(after, sizeof after, &ignored);
    if (write)
        length = 0;
    assert_int_equal(truth.bytes, 1000000);
    assert_int_equal(truth.operations, 245);
    assert_int_equal(truth.prepared_bytes, write ? 0 : 1000000);
    assert_int_equal(number_after(after, calls) - number_after(before, calls),
                     truth.operations + (write ? 0 : 1));
    assert_int_equal(number_after(after, bytes) - number_after(before, bytes),
                     truth.bytes + length);
    assert_in_range(truth.call_ns, 1, truth.wall_ns);
    assert_in_range(truth.longest_ns, 0, truth.call_ns);
}

static void reads_are_those_of_proc_self_io(void **state)
{
    (void)state;
    run_io(false);
}

static void writes_are_those_of_proc_self_io(void **state)
{
    (void)state;
    run_io(true);
}

/* --------------------------------------------------------------------------- Threads -- */

static void clocks_of_threads_add_up_to_the_process(void **state)
{
    const struct load_threads_plan plan = { 4, 5, 500 * NS_PER_MS };
    static struct load_threads_truth truth;
    uint64_t steal = steal_ns(), before = usage_ns(RUSAGE_SELF), witness, stolen, sum = 0;

    (void)state;
    assert_int_equal(load_threads(&plan, &truth, NULL), CAMP_OK);
    witness = usage_ns(RUSAGE_SELF) - before;
    stolen = stolen_since(steal);
    assert_int_equal(truth.threads, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(truth.each[i].tid > 0 && truth.each[i].own_ns > 0);
        assert_true(i == 0 || truth.each[i].tid != truth.each[i - 1].tid);
        assert_at_most("a thread", truth.each[i].own_ns, truth.each[i].wall_ns / 20,
                       5 * NS_PER_MS + stolen);
        sum += truth.each[i].own_ns;
    }
    assert_int_equal(sum, truth.threads_ns);
    assert_at_most("all threads", truth.threads_ns, truth.own_ns, 0);
    assert_at_most("own clock", truth.own_ns, truth.threads_ns, 20 * NS_PER_MS + stolen);
    assert_at_least("getrusage", witness, truth.own_ns, 2 * NS_PER_US);
    assert_at_most("getrusage", witness, truth.own_ns, 10 * NS_PER_MS + stolen);
}

/* A zombie runs no more, and still has its clock. */
static bool runs(pid_t pid)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* ----------------------------------------------------------- In a process of its own -- */

/* The watched process' clock, read by its parent, has gone as far as the load says, and little
 * further: the search for the tick, fork and exit. */
static void stopped_load_tells_the_truth_so_far(void **state)
{
    const struct load_cpu_plan plan = { 50, LOAD_ANY_PHASE, 0, -1, 3600ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct load_process process;
    uint64_t steal = steal_ns(), clock_ns;
    clockid_t clock;

    (void)state;
    assert_int_equal(load_begin(&process, load_cpu_run, &plan, sizeof truth, NULL), CAMP_OK);
    assert_int_equal(clock_getcpuclockid(process.pid, &clock), 0);
    sleep_until(now_ns(CLOCK_MONOTONIC) + 300 * NS_PER_MS);
    assert_true(runs(process.pid));
    kill(process.pid, SIGTERM);
    while (runs(process.pid))
        sleep_until(now_ns(CLOCK_MONOTONIC) + NS_PER_MS);
    clock_ns = now_ns(clock);
    assert_int_equal(load_end(&process, true, &truth, sizeof truth, NULL), CAMP_OK);
    assert_at_most("wall time", truth.wall_ns, 3600ull * NS_PER_S - 1, 0);
    assert_true(truth.own_ns > 0);
    assert_at_most("own clock", truth.own_ns, clock_ns, 0);
    assert_at_most("clock of the process", clock_ns, truth.own_ns,
                   20 * NS_PER_MS + stolen_since(steal));
}

static void killed_load_is_gone_not_zero(void **state)
{
    const struct load_cpu_plan plan = { 10, LOAD_ANY_PHASE, 0, -1, 60ull * NS_PER_S };
    struct load_cpu_truth truth;
    struct load_process process;

    (void)state;
    assert_int_equal(load_begin(&process, load_cpu_run, &plan, sizeof truth, NULL), CAMP_OK);
    kill(process.pid, SIGKILL);
    assert_int_equal(load_end(&process, false, &truth, sizeof truth, NULL), CAMP_E_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_clock_of_a_cpu_load_is_what_getrusage_says),
        cmocka_unit_test(share_of_a_cpu_load_is_kept_but_for_run_delay),
        cmocka_unit_test(load_between_ticks_is_measured_and_hardly_sampled),
        cmocka_unit_test(load_across_ticks_is_sampled_far_above_measured),
        cmocka_unit_test(process_is_as_before_after_a_phased_load),
        cmocka_unit_test(clocks_of_ended_children_add_up_to_rusage_children),
        cmocka_unit_test(each_step_of_memory_is_resident_and_one_fault_a_page),
        cmocka_unit_test(packets_and_bytes_are_those_of_the_loopback_interface),
        cmocka_unit_test(reads_are_those_of_proc_self_io),
        cmocka_unit_test(writes_are_those_of_proc_self_io),
        cmocka_unit_test(clocks_of_threads_add_up_to_the_process),
        cmocka_unit_test(stopped_load_tells_the_truth_so_far),
        cmocka_unit_test(killed_load_is_gone_not_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
