/* camp top: how numbers, names and CPUs are shown, which rows, and where cgroups are mounted. */
#include "commands/top/top_cpus.h"
#include "commands/top/top_fields.h"
#include "commands/top/top_prstat.h"
#include "commands/top/top_rows.h"
#include "commands/top/top_workloads.h"
#include "sources/machine/cgroup_paths.h"
#include "sources/machine/user_names.h"
#include "sources/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_percent(int64_t part, uint64_t whole, const char *expected)
{
    char buffer[TOP_PERCENT_SIZE], text[32];
    const struct cell cell = top_percent(part, whole, buffer);

    if (cell.kind == CELL_TEXT)
        snprintf(text, sizeof text, "%s", cell.text);
    else if (cell.kind == CELL_REAL)
        snprintf(text, sizeof text, "%.1f", cell.real);
    else if (cell.kind == CELL_INTEGER)
        snprintf(text, sizeof text, "%d", (int)cell.integer);
    else
        snprintf(text, sizeof text, "-");
    assert_string_equal(text, expected);
}

static void any_percentage_fits_into_four_columns(void **state)
{
    (void)state;
    check_percent(0, 1000000, "0.0");
    check_percent(3000, 1000000, "0.3");
    check_percent(999400, 1000000, "99.9");
    check_percent(999600, 1000000, "100");
    check_percent(99994000, 1000000, "9999");
    check_percent(100000000, 1000000, "10k");
    check_percent(9990000000, 1000000, "999k");
    check_percent(-500000, 1000000, "-50.0");
    check_percent(5, 0, "-");
}

static void the_mount_of_cgroup2_is_found_and_unescaped(void **state)
{
    char *mount;

    (void)state;
    mount = cgroup_mount_of_line(
        "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    assert_string_equal(mount, "/sys/fs/cgroup");
    free(mount);
    mount = cgroup_mount_of_line("1 2 0:3 / /a\\040b\\134\\9 rw - cgroup2 none rw\n");
    assert_string_equal(mount, "/a b\\\\9");
    free(mount);
    assert_null(cgroup_mount_of_line("11 32 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw\n"));
    assert_null(cgroup_mount_of_line(""));
    mount = cgroup_mount_of_line(" - cgroup2 ");
    assert_string_equal(mount, "");
    free(mount);
}

static void a_user_is_a_name_or_a_number(void **state)
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

static const struct column columns[THREADS_COLUMN_COUNT];
static const struct schema schema = { "made-up", columns, THREADS_COLUMN_COUNT, CAMP_STATE_COUNT };

static void check_prstat(const struct frame *frame, struct top_selection *selection,
                         enum top_group group, const char *expected)
{
    char line[160];

    selection->group = group;
    prstat_line(line, sizeof line, frame, 0, selection, frame->entities[0].name);
    assert_string_equal(line, expected);
}

/* As prstat -mL of Solaris prints them: 3 columns each, and a blank. */
static void a_line_is_prstat_s_column_for_column(void **state)
{
    struct user_names users = { 0 };
    struct top_selection selection = { .users = &users };
    struct frame frame;
    struct entity *entity;
    uint64_t *values;

    (void)state;
    frame_init(&frame, &schema);
    entity = frame_add(&frame);
    assert_non_null(entity);
    entity->id = 1235;
    entity->pid = 1234;
    entity->count = 3;
    strcpy(entity->name, "java");
    frame.elapsed_ns[0] = 1000;
    values = frame_values(&frame, 0);
    values[CAMP_STATE_USER] = 94;
    values[CAMP_STATE_SYSTEM] = 1;
    values[CAMP_STATE_IRQ] = 1;
    values[CAMP_STATE_KERNEL_FAULT] = 99;
    values[CAMP_STATE_LOCK] = 100;
    values[CAMP_STATE_DISK] = 200;
    values[CAMP_STATE_TIMER] = 505;
    values[THREADS_VOLUNTARY_SWITCHES] = 999;
    values[THREADS_INVOLUNTARY_SWITCHES] = 1000;
    values[THREADS_SYSTEM_CALLS] = 150000;
    values[THREADS_SIGNALS] = 2500000;
    assert_string_equal(prstat_heading(&selection, false),
                        "   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG "
                        "PROCESS/LWPID");
    check_prstat(&frame, &selection, TOP_THREAD,
                 "  1234 root     9.4 0.2   - 0.0 9.9  10  70 0.0 999  1K .1M  2M java/1235");
    check_prstat(&frame, &selection, TOP_PROCESS,
                 "  1234 root     9.4 0.2   - 0.0 9.9  10  70 0.0 999  1K .1M  2M java/3");
    check_prstat(&frame, &selection, TOP_COMMAND,
                 "     - -        9.4 0.2   - 0.0 9.9  10  70 0.0 999  1K .1M  2M java/3");
    frame_release(&frame);
    user_names_release(&users);
}

/* The total, then CPUs of which the last is the busiest. */
static void make_cpus(struct frame *frame, const struct schema *cpus, size_t count)
{
    frame_init(frame, cpus);
    for (size_t i = 0; i <= count; i++) {
        struct entity *entity = frame_add(frame);

        assert_non_null(entity);
        entity->id = i == 0 ? CAMP_CPU_TOTAL : (int64_t)i - 1;
        entity->count = i == 0 ? (uint32_t)count : 1;
        frame->elapsed_ns[i] = i == 0 ? 1000 * count : 1000;
        frame_values(frame, i)[CPUS_STATES_USER] = i;
        frame_values(frame, i)[CPUS_STATES_IDLE] = frame->elapsed_ns[i] - i;
        frame_values(frame, i)[CPUS_STATES_STEAL] = frame->elapsed_ns[i] / 4;
    }
}

static void of_many_cpus_the_total_and_the_busiest_are_shown(void **state)
{
    static struct column made_up[CPUS_STATES_COLUMN_COUNT];
    static const struct schema cpus = { "cpus", made_up, CPUS_STATES_COLUMN_COUNT,
                                        CPUS_STATES_ANY_WAIT };
    struct top_cpus shown = { 0 };
    struct frame frame;
    struct table table;

    (void)state;
    for (size_t i = 0; i < CPUS_STATES_COLUMN_COUNT; i++)
        made_up[i].name = "x_ns";
    make_cpus(&frame, &cpus, 4);
    assert_int_equal(top_cpus_fill(&shown, &frame, true, &table), CAMP_OK);
    assert_int_equal(table.row_count, 4);
    assert_int_equal(table.cells[0].integer, 0); /* in their order */
    assert_string_equal(table.fields[3].title, "usr%");
    assert_true(table.cells[3].real > 0.09 && table.cells[3].real < 0.11);
    assert_string_equal(table.fields[7].title, "idle%");
    assert_true(table.cells[7].real > 99.89 && table.cells[7].real < 99.91);
    assert_string_equal(table.fields[9].title, "stl%");
    assert_true(table.cells[9].real == 25);
    frame_release(&frame);
    make_cpus(&frame, &cpus, 64);
    assert_int_equal(top_cpus_fill(&shown, &frame, true, &table), CAMP_OK);
    assert_int_equal(table.row_count, 4);
    assert_string_equal(table.cells[1].text, "all 64");
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(table.cells[i * table.field_count + 1].integer, 64 - i);
    assert_int_equal(top_cpus_fill(&shown, &frame, false, &table), CAMP_OK);
    assert_int_equal(table.row_count, 64);
    assert_int_equal(table.cells[63 * table.field_count].integer, 63);
    frame_release(&frame);
    top_cpus_release(&shown);
}

/* So many processes that live, and so many of other names that ended. */
static void check_cut(size_t living, size_t ended, size_t top, size_t expected_living,
                      size_t expected_ended)
{
    struct user_names users = { 0 };
    const struct top_selection selection = {
        .group = TOP_PROCESS, .for_text = true, .top = top, .sort = TOP_SORT_CPU, .users = &users
    };
    struct top_rows rows = { 0 };
    struct frame frame;

    frame_init(&frame, &schema);
    for (size_t i = 0; i < living + ended; i++) {
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        entity->id = entity->pid = (int32_t)i + 1;
        entity->flags = i < living ? ENTITY_KERNEL : ENTITY_KERNEL | ENTITY_ENDED;
        snprintf(entity->name, sizeof entity->name, "p%zu", i);
        frame_values(&frame, i)[CAMP_STATE_USER] = i;
    }
    assert_int_equal(top_rows_fill(&rows, &frame, &selection), CAMP_OK);
    assert_int_equal(rows.count, 0); /* of the kernel, which was not asked for */
    for (size_t i = 0; i < living + ended; i++)
        frame.entities[i].flags &= (uint32_t)~ENTITY_KERNEL;
    assert_int_equal(top_rows_fill(&rows, &frame, &selection), CAMP_OK);
    assert_int_equal(rows.living, expected_living);
    assert_int_equal(rows.count, expected_living + expected_ended);
    for (size_t i = 0; i < rows.count; i++) {
        const size_t number =
            i < rows.living ? living - 1 - i : living + ended - 1 - i + rows.living;
        char name[32];

        snprintf(name, sizeof name, "p%zu", number);
        assert_string_equal(rows.groups.entities[rows.order[i]].name, name);
    }
    frame_release(&frame);
    top_rows_release(&rows);
}

static void exited_rows_come_last_and_get_a_quarter_of_the_space(void **state)
{
    (void)state;
    check_cut(30, 10, 0, 30, 10);
    check_cut(3, 2, 20, 3, 2);
    check_cut(30, 0, 20, 20, 0);
    check_cut(30, 2, 20, 18, 2);
    check_cut(30, 10, 20, 15, 5);
    check_cut(4, 30, 20, 4, 16);
    check_cut(2, 2, 1, 1, 0);
    check_cut(0, 5, 3, 0, 3);
}

/* A thread of a process that this machine does not have: its command line is its name. */
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

static void a_reused_pid_is_read_again(void **state)
{
    static const char rules[] = "a line=^a$\nb name=^b$ user=^root$\n";
    struct top_workloads workloads = { 0 };
    struct user_names users = { 0 };
    struct rule_fault fault;
    struct frame frame;

    (void)state;
    assert_int_equal(workloads_parse(&workloads.rules, rules, strlen(rules), &fault), CAMP_OK);
    frame_init(&frame, &schema);
    add_thread(&frame, 8, 7, "a"); /* its thread, which is not asked */
    add_thread(&frame, 7, 7, "b");
    add_thread(&frame, 3, 3, "a");
    frame.end_ns = 1;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.count, 2);
    assert_int_equal(workloads.numbers[0], 1);
    assert_int_equal(workloads.numbers[1], 1);
    assert_int_equal(workloads.numbers[2], 0);
    /* It is remembered: that the rules are others by now is not seen. */
    workloads.members[0].workload = 77;
    frame.end_ns = 2;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.numbers[2], 77);
    /* Another user, another program, another process of that number. */
    frame.entities[1].uid = 4000000000u;
    strcpy(frame.entities[2].name, "b");
    frame.end_ns = 3;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.numbers[0], 2);
    assert_int_equal(workloads.numbers[2], 1);
    workloads.members[0].workload = 77;
    frame.entities[2].flags = ENTITY_NEW;
    assert_int_equal(top_workloads_find(&workloads, &users, &frame), CAMP_OK);
    assert_int_equal(workloads.numbers[2], 77); /* the same interval once more */
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
        cmocka_unit_test(any_percentage_fits_into_four_columns),
        cmocka_unit_test(the_mount_of_cgroup2_is_found_and_unescaped),
        cmocka_unit_test(a_user_is_a_name_or_a_number),
        cmocka_unit_test(a_line_is_prstat_s_column_for_column),
        cmocka_unit_test(a_reused_pid_is_read_again),
        cmocka_unit_test(of_many_cpus_the_total_and_the_busiest_are_shown),
        cmocka_unit_test(exited_rows_come_last_and_get_a_quarter_of_the_space),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
