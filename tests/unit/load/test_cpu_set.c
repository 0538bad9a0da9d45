/*
 * Tests CPUs above 1,023 on a simulated machine: the two functions below replace those of libc, and
 * behave like a kernel that supports 4,096 CPUs.
 */
#include "load/linux/cpu_set.h"
#include "load/load_tools.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FAKE_CPUS 4096
#define FAKE_SIZE (FAKE_CPUS / 8)

static const int online[] = { 0, 5, 63, 64, 1023, 1024, 1500, 4095 };

/* In words: the byte of a CPU depends on the byte order of the system. */
static cpu_set_t fake_affinity[FAKE_SIZE / sizeof(cpu_set_t)];
static int fake_errno;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    assert_int_equal(pid, 0);
    if (fake_errno != 0 || size < FAKE_SIZE) {
        errno = fake_errno != 0 ? fake_errno : EINVAL;
        return -1;
    }
    memset(set, 0, size);
    memcpy(set, fake_affinity, FAKE_SIZE);
    return 0;
}

/* Like the kernel, ignores CPUs that are not online, and bits beyond those that it knows. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    cpu_set_t allowed[FAKE_SIZE / sizeof(cpu_set_t)] = { 0 };

    assert_int_equal(pid, 0);
    for (size_t i = 0; i < sizeof online / sizeof online[0]; i++) {
        const size_t cpu = (size_t)online[i];

        if (CPU_ISSET_S(cpu, size, set))
            CPU_SET_S(cpu, sizeof allowed, allowed);
    }
    if (CPU_COUNT_S(sizeof allowed, allowed) == 0) {
        errno = EINVAL;
        return -1;
    }
    memcpy(fake_affinity, allowed, sizeof allowed);
    return 0;
}

static int allow_all(void **state)
{
    (void)state;
    memset(fake_affinity, 0, sizeof fake_affinity);
    for (size_t i = 0; i < sizeof online / sizeof online[0]; i++)
        CPU_SET_S((size_t)online[i], sizeof fake_affinity, fake_affinity);
    fake_errno = 0;
    return 0;
}

static void every_cpu_of_a_large_set_is_visited_in_order(void **state)
{
    struct cpu_set set;
    int cpu = -1;

    (void)state;
    assert_true(cpu_set_read(&set));
    for (size_t i = 0; i < sizeof online / sizeof online[0]; i++) {
        cpu = cpu_set_next(&set, cpu);
        assert_int_equal(cpu, online[i]);
    }
    assert_int_equal(cpu_set_next(&set, cpu), -1);
    cpu_set_release(&set);
    assert_int_equal(cpu_set_last(&set), -1);
}

static void a_load_finds_the_last_of_more_than_1024_cpus(void **state)
{
    (void)state;
    assert_int_equal(load_last_cpu(), 4095);
}

static void a_load_can_be_bound_to_a_cpu_above_1023_and_is_released_again(void **state)
{
    cpu_set_t before[FAKE_SIZE / sizeof(cpu_set_t)];
    struct camp_error error;
    struct cpu_set set;

    (void)state;
    memcpy(before, fake_affinity, sizeof before);
    assert_int_equal(load_place_set(1500, &error), CAMP_OK);
    assert_true(cpu_set_read(&set));
    assert_int_equal(cpu_set_next(&set, -1), 1500);
    assert_int_equal(cpu_set_last(&set), 1500);
    cpu_set_release(&set);
    load_place_restore();
    assert_memory_equal(fake_affinity, before, sizeof before);
}

static void a_cpu_that_the_machine_lacks_is_unavailable(void **state)
{
    static const int absent[] = { 1, 1025, 4096, 1 << 20, INT_MAX };
    struct camp_error error;

    (void)state;
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        assert_int_equal(load_place_set(absent[i], &error), CAMP_E_GONE);
        assert_non_null(strstr(error.message, "is unavailable"));
        load_place_restore();
    }
    assert_int_equal(load_last_cpu(), 4095);
}

static void unknown_cpus_are_no_cpus(void **state)
{
    struct cpu_set set;

    (void)state;
    fake_errno = EPERM;
    assert_false(cpu_set_read(&set));
    assert_null(set.bits);
    assert_int_equal(load_last_cpu(), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_cpu_of_a_large_set_is_visited_in_order, allow_all),
        cmocka_unit_test_setup(a_load_finds_the_last_of_more_than_1024_cpus, allow_all),
        cmocka_unit_test_setup(a_load_can_be_bound_to_a_cpu_above_1023_and_is_released_again,
                               allow_all),
        cmocka_unit_test_setup(a_cpu_that_the_machine_lacks_is_unavailable, allow_all),
        cmocka_unit_test_setup(unknown_cpus_are_no_cpus, allow_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
