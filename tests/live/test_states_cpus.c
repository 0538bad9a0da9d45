/* Tests that a reading of a CPU is consistent while the CPU switches. */
#include "states_session.h"

#include <arpa/inet.h>
#include <time.h>

#define CPUS_MAX 64
/* Without a sequence number in the BPF program, one of 10,000 readings was inconsistent. */
#define READINGS 100000

/* Passes a byte back and forth with another process on the same CPU, which switches all the
 * time. */
static void hand_to_and_fro(void *unused)
{
    int there[2], back[2];
    char byte = 0;

    (void)unused;
    stay_on(last_cpu());
    if (pipe(there) != 0 || pipe(back) != 0)
        _exit(1);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {
        }
        _exit(1);
    }
    while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1) {
    }
}

static uint64_t told_ns(const struct camp_cpu_states *cpu)
{
    return cpu->busy_ns + cpu->idle_ns + cpu->irq_ns + cpu->softirq_ns;
}

static void the_states_of_a_cpu_add_up_in_every_reading(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct camp_cpu_states first[CPUS_MAX], now[CPUS_MAX];
    pid_t child = start(hand_to_and_fro, NULL);
    size_t count, again;

    (void)state;
    switch_on_every_cpu(session);
    assert_int_equal(camp_states_cpus(session, first, sizeof first[0], CPUS_MAX, &count, NULL),
                     CAMP_OK);
    for (int i = 0; i < READINGS; i++) {
        assert_int_equal(camp_states_cpus(session, now, sizeof now[0], CPUS_MAX, &again, NULL),
                         CAMP_OK);
        assert_int_equal(again, count);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(told_ns(&now[k]) - told_ns(&first[k]),
                             now[k].time_ns - first[k].time_ns);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close_states(session);
}

/* Sends datagrams to this machine. Each datagram causes a softirq, which runs with interrupts
 * enabled. */
static void send_to_itself(void *unused)
{
    const struct sockaddr_in nobody = { .sin_family = AF_INET,
                                        .sin_port = htons(9),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int descriptor = socket(AF_INET, SOCK_DGRAM, 0);

    (void)unused;
    stay_on(last_cpu());
    while (descriptor >= 0)
        sendto(descriptor, "", 1, 0, (const struct sockaddr *)&nobody, sizeof nobody);
}

/* Causes a timer interrupt about every 50 us. */
static void wake_often(void *unused)
{
    (void)unused;
    stay_on(last_cpu());
    prctl(PR_SET_TIMERSLACK, 1);
    for (;;)
        usleep(20);
}

/* An interrupt may come while the end of a softirq is accounted. Then the softirq must not be
 * accounted as if it had lasted since boot. */
static void an_interrupt_at_the_end_of_a_softirq_is_accounted_once(void **state)
{
    struct camp_states *session = open_states_or_skip(0);
    struct camp_cpu_states first[CPUS_MAX], now[CPUS_MAX];
    const pid_t sender = start(send_to_itself, NULL), sleeper = start(wake_often, NULL);
    size_t count, again;

    (void)state;
    switch_on_every_cpu(session);
    assert_int_equal(camp_states_cpus(session, first, sizeof first[0], CPUS_MAX, &count, NULL),
                     CAMP_OK);
    sleep(3);
    assert_int_equal(camp_states_cpus(session, now, sizeof now[0], CPUS_MAX, &again, NULL),
                     CAMP_OK);
    assert_int_equal(again, count);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(told_ns(&now[k]) - told_ns(&first[k]), now[k].time_ns - first[k].time_ns);
    assert_true(now[count - 1].softirq_ns > first[count - 1].softirq_ns);
    kill(sender, SIGKILL);
    kill(sleeper, SIGKILL);
    waitpid(sender, NULL, 0);
    waitpid(sleeper, NULL, 0);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_states_of_a_cpu_add_up_in_every_reading),
        cmocka_unit_test(an_interrupt_at_the_end_of_a_softirq_is_accounted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
