/*
 * Compares what a load reports about memory, network and files with counts of the kernel that the
 * load does not read: smaps_rollup, /proc/net/dev and /proc/self/io.
 */
#include "counters/units.h"
#include "load/load.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
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
#include <unistd.h>

#include <cmocka.h>

/* Reads a file of /proc with one read(2), and returns its length. */
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

struct witness {
    uint64_t resident_bytes;
    uint64_t faults;
    uint64_t steps;
};

/* Returns the size of anonymous memory. Each of its pages takes one fault. */
static uint64_t resident_now(void)
{
    char text[4096];

    read_once("/proc/self/smaps_rollup", text, sizeof text);
    return number_after(text, "Anonymous:") * BYTES_PER_KIB;
}

static uint64_t faults_now(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_minflt;
}

static bool see_step(void *context, const struct load_step *step)
{
    struct witness *witness = context;
    uint64_t resident = resident_now(), faults = faults_now();
    /* faults of this process outside of the step */
    uint64_t others = faults - witness->faults - step->minor_faults;

    assert_in_range(resident, witness->resident_bytes + step->bytes,
                    witness->resident_bytes + step->bytes + others * (uint64_t)getpagesize());
    assert_int_equal(step->minor_faults, step->touched_pages);
    assert_int_equal(step->resident_bytes, step->bytes);
    witness->resident_bytes = resident;
    witness->faults = faults;
    witness->steps++;
    return true;
}

static void each_step_of_a_memory_load_is_resident_after_one_fault_per_page(void **state)
{
    static struct load_memory_truth truth;
    struct witness witness = { 0 };
    uint64_t before, faults;
    const struct load_memory_plan plan = {
        .step_bytes = 976 * BYTES_PER_KIB, .steps = 5, .each_step = see_step, .context = &witness
    };

    (void)state;
    memset(&truth, 1, sizeof truth); /* memset() makes the pages of `truth` resident. */
    resident_now();
    before = witness.resident_bytes = resident_now();
    faults = witness.faults = faults_now();
    assert_int_equal(load_memory(&plan, &truth, NULL), CAMP_OK);
    assert_int_equal(witness.steps, 5);
    assert_int_equal(truth.bytes, 5 * 976 * BYTES_PER_KIB);
    assert_int_equal(truth.minor_faults, truth.pages);
    /* The load has freed its memory. */
    assert_in_range(resident_now(), 0,
                    before +
                        (faults_now() - faults - truth.minor_faults) * (uint64_t)getpagesize());
}

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

/* Runs in a new network namespace, where nothing else sends. Returns the number of the failed
 * check, or 0. */
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

static void the_packets_that_a_network_load_reports_equal_the_count_of_the_interface(void **state)
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

/* Reads /proc/thread-self/io. This read itself has *ret_length bytes, which its text does not
 * include. */
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

static void the_reads_of_an_io_load_equal_the_counts_of_proc_self_io(void **state)
{
    (void)state;
    run_io(false);
}

static void the_writes_of_an_io_load_equal_the_counts_of_proc_self_io(void **state)
{
    (void)state;
    run_io(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_of_a_memory_load_is_resident_after_one_fault_per_page),
        cmocka_unit_test(the_packets_that_a_network_load_reports_equal_the_count_of_the_interface),
        cmocka_unit_test(the_reads_of_an_io_load_equal_the_counts_of_proc_self_io),
        cmocka_unit_test(the_writes_of_an_io_load_equal_the_counts_of_proc_self_io),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
