/* Tests the formats mpstat and vmstat of camp wait, and the counters of the system behind them. */
#include "synthetic_waits.h"

#include <unistd.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static struct cpu_interrupts cpus_before[] = { { 0, 1000, 100 }, { 1, 5000, 500 } };
static struct cpu_interrupts cpus_now[] = { { 0, 1900, 150 }, { 1, 6000, 800 } };
static struct camp_disk disks_before[] = {
    { .name = "vda", .known = CAMP_DISK_ALL, .time_ns = SECOND, .reads = 10, .writes = 10 },
};
static struct camp_disk disks_now[] = {
    { .name = "vda", .known = CAMP_DISK_ALL, .time_ns = 2 * SECOND, .reads = 30, .writes = 15 },
    { .name = "nvme0n1", .known = CAMP_DISK_ALL, .time_ns = 2 * SECOND },
};

/* What the system did in the second of make(). */
static void add_system(struct made *made)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    made->system.before = (struct system_reading){
        .system = { .known = CAMP_SYSTEM_ALL, .time_ns = SECOND, .faults = 50, .major_faults = 10 },
        .interrupts_ns = SECOND,
        .interrupts = { cpus_before, 2, 2 },
        .disks = disks_before,
        .disk_count = 1,
    };
    made->system.now = (struct system_reading){
        .system = { .known = CAMP_SYSTEM_ALL,
                    .time_ns = 2 * SECOND,
                    .context_switches = 2254,
                    .interrupts = 1900,
                    .faults = 663,
                    .major_faults = 13,
                    .paged_in_bytes = 19 * KIB,
                    .paged_out_bytes = 7 * KIB,
                    .reclaimed_bytes = 8 * KIB,
                    .scanned_bytes = 5 * page,
                    .running = 5,
                    .blocked = 3 },
        .memory = { .known = CAMP_MEMORY_ALL,
                    .available_bytes = 300 * MIB,
                    .free_bytes = 10 * MIB,
                    .swap_free_bytes = 100 * MIB },
        .interrupts_ns = 2 * SECOND,
        .interrupts = { cpus_now, 2, 2 },
        .disks = disks_now,
        .disk_count = 2,
    };
}

static void add_thread(struct made *made, uint64_t run_queue_ns, uint64_t disk_ns)
{
    struct entity *entity = frame_add(&made->threads);
    uint64_t *values;

    assert_non_null(entity);
    entity->id = entity->pid = (int32_t)made->threads.entity_count;
    values = frame_values(&made->threads, made->threads.entity_count - 1);
    values[threads_column(&threads_schema, CAMP_STATE_RUN_QUEUE)] = run_queue_ns;
    values[threads_column(&threads_schema, CAMP_STATE_DISK)] = disk_ns;
    values[threads_column(&threads_schema, THREADS_INVOLUNTARY_SWITCHES)] = 15;
    values[threads_column(&threads_schema, THREADS_SYSTEM_CALLS)] = 4000;
}

static void assert_output(const struct made *made, const struct view *view, uint64_t number,
                          const char *expected)
{
    struct view_options options = { 0 };
    char *text = NULL;
    size_t size = 0;

    options.stream = open_memstream(&text, &size);
    assert_int_equal(view->record(&options, &made->record.document.record, number), 0);
    fclose(options.stream);
    assert_string_equal(text, expected);
    free(text);
}

static void make_second(struct made *made)
{
    make(made);
    add_system(made);
    made->threads.start_ns = SECOND;
    made->threads.end_ns = 2 * SECOND;
    add_thread(made, 900 * MS, 0);
    add_thread(made, 300 * MS, 600 * MS);
    frame_values(&made->cpus, 1)[CPUS_STATES_SWITCHES] = 254;
    frame_values(&made->cpus, 2)[CPUS_STATES_SWITCHES] = 2000;
}

static void the_format_mpstat_has_the_columns_of_solaris(void **state)
{
    struct made made;

    (void)state;
    make_second(&made);
    fill(&made);
    assert_output(
        &made, &mpstat_view, 0,
        "CPU   minf mjf  xcal  intr ithr   csw  icsw migr smtx srw  syscl  usr sys  wt idl\n"
        "all    610   3   350  1900    -  2254    30    -    -   -   8000   15   0  30  55\n"
        "  0      -   -    50   900    -   254     -    -    -   -      -    0   0   0 100\n"
        "  1      -   -   300  1000    -  2000     -    -    -   -      -   30   0  60  10\n");
    release(&made);
}

static void the_format_vmstat_has_the_columns_of_solaris(void **state)
{
    struct made made;

    (void)state;
    make_second(&made);
    fill(&made);
    assert_output(&made, &vmstat_view, 0,
                  " kthr       memory               page                       disk                "
                  "faults          cpu\n"
                  " r b w     swap     free re     mf    pi    po   fr de   sr vda nvme0n1     in  "
                  "    sy     cs  us  sy  id\n"
                  " 1 1 -   409600   307200  -    610    19     7    8  -    5  25       -   1900  "
                  "  8000   2254  15   0  85\n");
    assert_output(&made, &vmstat_view, 1,
                  " 1 1 -   409600   307200  -    610    19     7    8  -    5  25       -   1900  "
                  "  8000   2254  15   0  85\n");
    release(&made);
}

static void without_microstates_queues_are_those_of_proc_stat(void **state)
{
    struct made made;

    (void)state;
    make_second(&made);
    made.tier = WAIT_KERNEL;
    frame_release(&made.cpus);
    frame_init(&made.cpus, &cpus_schema);
    for (int32_t cpu = 0; cpu < 2; cpu++) {
        frame_add(&made.cpus)->id = cpu;
        made.cpus.elapsed_ns[cpu] = SECOND;
        frame_values(&made.cpus, (size_t)cpu)[CPUS_IDLE] = 600 * MS;
        frame_values(&made.cpus, (size_t)cpu)[CPUS_IOWAIT] = 100 * MS;
        frame_values(&made.cpus, (size_t)cpu)[CPUS_SOFTIRQ] = 300 * MS;
    }
    fill(&made);
    assert_percent(&made, WAIT_SYSTEM, 0, "run_queue", 3); /* 5, of which 2 have a CPU */
    assert_percent(&made, WAIT_SYSTEM, 0, "blocked", 3);
    assert_int_equal(cell(&made, WAIT_SYSTEM, 0, "system_calls_per_s").kind, CELL_UNKNOWN);
    assert_int_equal(cell(&made, WAIT_SYSTEM, 0, "involuntary_switches_per_s").kind, CELL_UNKNOWN);
    assert_output(
        &made, &mpstat_view, 0,
        "CPU   minf mjf  xcal  intr ithr   csw  icsw migr smtx srw  syscl  usr sys  wt idl\n"
        "all    610   3   350  1900    -  2254     -    -    -   -      -    -   -   -   -\n"
        "  0      -   -    50   900    -     -     -    -    -   -      -    0  30  10  60\n"
        "  1      -   -   300  1000    -     -     -    -    -   -      -    0  30  10  60\n");
    release(&made);
}

static void what_the_system_does_not_count_is_a_dash(void **state)
{
    struct made made;

    (void)state;
    make(&made); /* no reading of the system has any known field */
    made.threads.end_ns = SECOND;
    made.no_calls = true;
    fill(&made);
    assert_output(
        &made, &mpstat_view, 0,
        "CPU   minf mjf  xcal  intr ithr   csw  icsw migr smtx srw  syscl  usr sys  wt idl\n"
        "all      -   -     -     -    -     -     0    -    -   -      -   15   0  30  55\n"
        "  0      -   -     -     -    -     0     -    -    -   -      -    0   0   0 100\n"
        "  1      -   -     -     -    -     0     -    -    -   -      -   30   0  60  10\n");
    assert_output(
        &made, &vmstat_view, 0,
        " kthr       memory               page                               faults          cpu\n"
        " r b w     swap     free re     mf    pi    po   fr de   sr     in      sy     cs  us  sy "
        " id\n"
        " 0 0 -        -        -  -      -     -     -    -  -    -      -       -      -  15   0 "
        " 85\n");
    release(&made);
}

/* A number that is as large as the whole column must not touch its neighbour. */
static void large_numbers_are_separated_by_blanks(void **state)
{
    struct made made;
    char *text = NULL;
    size_t size = 0;
    struct view_options options = { 0 };
    size_t words = 0;

    (void)state;
    make_second(&made);
    made.system.now.system.faults = UINT32_MAX;
    made.system.now.system.paged_in_bytes = UINT64_MAX / 2;
    fill(&made);
    options.stream = open_memstream(&text, &size);
    assert_int_equal(vmstat_view.record(&options, &made.record.document.record, 1), 0);
    fclose(options.stream);
    for (char *word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n"))
        words++;
    assert_int_equal(words, 20);
    free(text);
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_format_mpstat_has_the_columns_of_solaris),
        cmocka_unit_test(the_format_vmstat_has_the_columns_of_solaris),
        cmocka_unit_test(without_microstates_queues_are_those_of_proc_stat),
        cmocka_unit_test(what_the_system_does_not_count_is_a_dash),
        cmocka_unit_test(large_numbers_are_separated_by_blanks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
