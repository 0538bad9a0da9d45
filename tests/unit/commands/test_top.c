/* Tests how camp top shows names and lines of prstat, and how it finds the mount point of
 * cgroups. */
#include "commands/top/top_pea.h"
#include "commands/top/top_prstat.h"
#include "commands/top/top_workloads.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/source.h"
#include "sources/user_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns the mount point of cgroup2, which the caller frees; NULL if there is none. */
static char *mount_in(const char *mounts)
{
    FILE *file = fmemopen((void *)mounts, strlen(mounts), "r");
    char *mount;

    assert_non_null(file);
    mount = cgroup_mount_of(file);
    fclose(file);
    return mount;
}

static void the_mount_point_of_cgroup2_is_found_and_unescaped(void **state)
{
    char *mount;

    (void)state;
    mount = mount_in("proc /proc proc rw 0 0\n"
                     "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nsdelegate 0 0\n");
    assert_string_equal(mount, "/sys/fs/cgroup");
    free(mount);
    mount = mount_in("none /a\\040b\\134\\9 cgroup2 rw 0 0\n");
    assert_string_equal(mount, "/a b\\\\9");
    free(mount);
    assert_null(mount_in("cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n"));
    assert_null(mount_in("\n"));
    assert_null(mount_in("cgroup2\n"));
}

static void a_user_without_a_name_is_shown_as_a_number(void **state)
{
    struct user_names users = { 0 };

    (void)state;
    assert_string_equal(user_names_get(&users, 4000000001u), "4000000001");
    assert_string_equal(user_names_get(&users, 0), "root");
    assert_string_equal(user_names_get(&users, 4000000000u), "4000000000");
    assert_ptr_equal(user_names_get(&users, 0), user_names_get(&users, 0));
    assert_int_equal(users.count, 3);
    user_names_release(&users);
}

static void check_prstat(const struct frame *frame, struct user_names *users, enum group_key key,
                         const char *expected)
{
    char line[160];

    prstat_line(line, sizeof line, frame, 0, key, users, frame->entities[0].name);
    assert_string_equal(line, expected);
}

/* Fills the frame with one thread of which all times and counts have different texts. */
static void make_thread(struct frame *frame, const struct schema *schema)
{
    static const struct {
        size_t column;
        uint64_t value;
    } known[] = {
        { CAMP_STATE_USER, 94 },
        { CAMP_STATE_SYSTEM, 1 },
        { CAMP_STATE_IRQ, 1 },
        { CAMP_STATE_DATA_FAULT, 99 },
        { CAMP_STATE_LOCK, 100 },
        { CAMP_STATE_DISK, 200 },
        { CAMP_STATE_TIMER, 505 },
        { THREADS_VOLUNTARY_SWITCHES, 999 },
        { THREADS_INVOLUNTARY_SWITCHES, 1000 },
        { THREADS_SYSTEM_CALLS, 150000 },
        { THREADS_SIGNALS, 2500000 },
    };
    struct entity *entity;

    frame_init(frame, schema);
    entity = frame_add(frame);
    assert_non_null(entity);
    entity->id = 1235;
    entity->pid = 1234;
    entity->count = 3;
    strcpy(entity->name, "java");
    frame->elapsed_ns[0] = 1000;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (threads_have(schema, known[i].column))
            frame_values(frame, 0)[threads_column(schema, known[i].column)] = known[i].value;
    }
}

/* Like in prstat -mL of Solaris, a number has three characters and a blank. */
static void a_line_of_camp_top_has_the_columns_of_prstat(void **state)
{
    struct user_names users = { 0 };
    struct frame frame;

    (void)state;
    make_thread(&frame, &threads_schema);
    frame_values(&frame, 0)[CAMP_STATE_TRAP] = 21;
    frame_values(&frame, 0)[CAMP_STATE_DATA_FAULT] = 40;
    frame_values(&frame, 0)[CAMP_STATE_KERNEL_FAULT] = 59;
    assert_string_equal(prstat_heading(GROUP_THREAD, false),
                        "   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG "
                        "PROCESS/LWPID");
    check_prstat(&frame, &users, GROUP_THREAD,
                 "  1234 root     9.4 0.2 2.1 0.0 9.9  10  70 0.0 999  1K .1M  2M java/1235");
    check_prstat(&frame, &users, GROUP_PROCESS,
                 "  1234 root     9.4 0.2 2.1 0.0 9.9  10  70 0.0 999  1K .1M  2M java/3");
    check_prstat(&frame, &users, GROUP_NAME,
                 "     - -        9.4 0.2 2.1 0.0 9.9  10  70 0.0 999  1K .1M  2M java/3");
    frame_release(&frame);
    user_names_release(&users);
}

static void assert_pea(const struct pea *pea, const struct frame *frame, enum group_key key,
                       const char *expected)
{
    struct user_names users = { 0 };
    char line[160];

    pea_line(line, sizeof line, pea, frame, 0, key, &users, frame->entities[0].name);
    assert_string_equal(line, expected);
    user_names_release(&users);
}

static void a_line_of_camp_top_has_the_columns_of_pea(void **state)
{
    const uint32_t known =
        CAMP_TASK_VIRTUAL | CAMP_TASK_RESIDENT | CAMP_TASK_CHILDREN | CAMP_TASK_START;
    struct pea_process before[] = {
        { 1234, { .known = known, .start = 5, .time_ns = 1000000000, .children_ns = 10000000 } },
    };
    struct pea_process now[] = {
        { 1, { .known = known } },
        { 1234,
          { .known = known,
            .start = 5,
            .time_ns = 2000000000,
            .virtual_bytes = 9000,
            .resident_bytes = 12 << 20,
            .children_ns = 135000000 } },
    };
    const struct pea pea = { .before = { before, 1, 1 }, .now = { now, 2, 2 } };
    struct frame frame;

    (void)state;
    make_thread(&frame, &threads_schema);
    frame.end_ns = 1000;
    frame.entities[0].parent = 77;
    frame_values(&frame, 0)[CAMP_STATE_RUN_QUEUE] = 2500;
    frame_values(&frame, 0)[threads_column(&threads_schema, THREADS_READ_BYTES)] = 0;
    assert_pea(&pea, &frame, GROUP_PROCESS,
               "java               3    1234      77 root       9.4   0.2   250  12.5  9000   12M"
               "     0     0      0      0  150G  999M 1000M   0.0");
    /* Without an earlier reading of the same process, its children's time is unknown. */
    before[0].task.start = 4;
    assert_pea(&pea, &frame, GROUP_PROCESS,
               "java               3    1234      77 root       9.4   0.2   250     -  9000   12M"
               "     0     0      0      0  150G  999M 1000M   0.0");
    assert_pea(&pea, &frame, GROUP_NAME,
               "java               3       -       - -          9.4   0.2   250     -     -     -"
               "     0     0      0      0  150G  999M 1000M   0.0");
    frame.entities[0].flags = ENTITY_ENDED;
    assert_pea(&pea, &frame, GROUP_PROCESS,
               "java               3    1234      77 root       9.4   0.2   250     -     -     -"
               "     0     0      0      0  150G  999M 1000M   0.0");
    frame_release(&frame);
}

static void camp_top_shows_a_dash_for_states_that_were_not_measured(void **state)
{
    static const struct {
        uint64_t unmeasured;
        const char *line;
    } known[] = {
        { 1u << CAMP_STATE_TRAP,
          "  1234 root     9.4 0.2   - 0.0 9.9  10  70 0.0 999  1K .1M  2M java/1235" },
        { 1u << CAMP_STATE_TEXT_FAULT | 1u << CAMP_STATE_KERNEL_FAULT,
          "  1234 root     9.4 0.2 0.0   - 9.9  10  70 0.0 999  1K .1M  2M java/1235" },
        { 1u << CAMP_STATE_TEXT_FAULT | 1u << CAMP_STATE_KERNEL_FAULT | 1u << CAMP_STATE_TRAP,
          "  1234 root     9.4 0.2   -   - 9.9  10  70 0.0 999  1K .1M  2M java/1235" },
        { 1u << CAMP_STATE_SYSTEM | 1u << CAMP_STATE_TRAP | UINT64_C(1) << THREADS_SYSTEM_CALLS,
          "  1234 root     9.4   -   - 0.0 9.9  10  70 0.0 999  1K   -  2M java/1235" },
    };
    struct user_names users = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct threads_columns measured;
        struct frame frame;

        threads_columns_fill(&measured, known[i].unmeasured);
        make_thread(&frame, &measured.schema);
        check_prstat(&frame, &users, GROUP_THREAD, known[i].line);
        frame_release(&frame);
    }
    user_names_release(&users);
}

/* Adds a thread of a process that does not exist on this machine. Such a process has no command
 * line, so rules match its name instead. */
static struct entity *add_thread(struct frame *frame, int32_t number, int32_t process,
                                 const char *name)
{
    struct entity *entity = frame_add(frame);

    assert_non_null(entity);
    entity->id = 2000000000 + number;
    entity->pid = 2000000000 + process;
    strcpy(entity->name, name);
    return entity;
}

static void a_process_with_a_new_name_or_user_is_matched_to_a_workload_again(void **state)
{
    static const char rules[] = "a line=^a$\nb name=^b$ user=^root$\n";
    struct top_workloads workloads = { 0 };
    struct user_names users = { 0 };
    struct rule_fault fault;
    struct frame frame;

    (void)state;
    assert_int_equal(workloads_parse(&workloads.rules, rules, strlen(rules), &fault), CAMP_OK);
    frame_init(&frame, &threads_schema);
    add_thread(&frame, 8, 7, "a"); /* Another thread of process 7. Rules do not use its name. */
    add_thread(&frame, 7, 7, "b");
    add_thread(&frame, 3, 3, "a");
    frame.end_ns = 1;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.count, 2);
    assert_int_equal(workloads.numbers[0], 1);
    assert_int_equal(workloads.numbers[1], 1);
    assert_int_equal(workloads.numbers[2], 0);
    /* The workload of a process is cached. So the entry that is changed here is used in the next
     * interval. */
    workloads.members[0].workload = 77;
    frame.end_ns = 2;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.numbers[2], 77);
    /* The rules are applied again if the process has another user or name, or is new. */
    frame.entities[1].uid = 4000000000u;
    strcpy(frame.entities[2].name, "b");
    frame.end_ns = 3;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.numbers[0], 2);
    assert_int_equal(workloads.numbers[2], 1);
    workloads.members[0].workload = 77;
    frame.entities[2].flags = ENTITY_NEW;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    /* The frame has the same end_ns, so the cached entry is used. */
    assert_int_equal(workloads.numbers[2], 77);
    frame.end_ns = 4;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.numbers[2], 1);
    frame_release(&frame);
    top_workloads_release(&workloads);
    user_names_release(&users);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mount_point_of_cgroup2_is_found_and_unescaped),
        cmocka_unit_test(a_user_without_a_name_is_shown_as_a_number),
        cmocka_unit_test(a_line_of_camp_top_has_the_columns_of_prstat),
        cmocka_unit_test(a_line_of_camp_top_has_the_columns_of_pea),
        cmocka_unit_test(camp_top_shows_a_dash_for_states_that_were_not_measured),
        cmocka_unit_test(a_process_with_a_new_name_or_user_is_matched_to_a_workload_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
