/* Tests machines with 64, 256 and 2,000 CPUs: /proc/stat and /proc/interrupts are synthetic. */
#include "../tree.h"
#include "ledger/frame.h"
#include "sources/machine/cpu_list.h"
#include "sources/machine/interrupts.h"
#include "sources/source.h"

#include <signal.h>

#define TICK_NS UINT64_C(10000000)
#define MOST_CPUS 2000
#define TEXT_SIZE (MOST_CPUS * 256)
#define INTERRUPTS 40000 /* numbers in the line "intr": about 20 for each of 2,000 CPUs */

static const size_t counts[] = { 64, 256, MOST_CPUS };
static const volatile sig_atomic_t never_stop;
static char text[TEXT_SIZE];

/* The number of the i-th CPU: each third number is missing, as those of offline CPUs. */
static int id_of(size_t i)
{
    return (int)(i + i / 2);
}

/* Until `round`, CPU i has been in user mode for i + 1 ticks of each round, and idle otherwise. */
static const char *stat_of(size_t count, unsigned round)
{
    size_t length = (size_t)sprintf(text, "cpu  1 0 0 1 0 0 0 0 0 0\n");

    for (size_t i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, "cpu%d %zu 0 0 %zu 0 0 0 0 0 0\n", id_of(i),
                                  round * (i + 1), round * (MOST_CPUS - i));
    length += (size_t)sprintf(text + length, "intr 12345");
    for (size_t i = 0; i < INTERRUPTS; i++)
        length += (size_t)sprintf(text + length, " 0");
    length += (size_t)sprintf(text + length, "\nctxt 77\nprocesses 4711\n");
    assert_true(length < sizeof text);
    return text;
}

static void rewrite(const struct tree *tree, const char *bytes)
{
    FILE *file = fopen(tree->file, "w");

    assert_non_null(file);
    assert_true(fputs(bytes, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void every_cpu_of_a_large_machine_is_read(void **state)
{
    static struct camp_cpu cpus[MOST_CPUS + 1];
    static int32_t ids[MOST_CPUS];

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct tree tree = text_tree("stat", stat_of(counts[i], 1));
        const struct camp_source *source = source_of(&tree);
        const size_t last = counts[i] - 1;
        size_t count = 0;
        uint64_t forks;

        assert_int_equal(camp_cpu_count(source, &count, NULL), CAMP_OK);
        assert_int_equal(count, counts[i]);
        assert_int_equal(camp_cpu_list(source, ids, MOST_CPUS, &count, NULL), CAMP_OK);
        assert_int_equal(count, counts[i]);
        assert_int_equal(ids[last], id_of(last));
        assert_int_equal(camp_cpu_read_all(source, cpus, sizeof cpus[0], counts[i], &count, NULL),
                         CAMP_E_SPACE);
        assert_int_equal(
            camp_cpu_read_all(source, cpus, sizeof cpus[0], MOST_CPUS + 1, &count, NULL), CAMP_OK);
        assert_int_equal(count, counts[i] + 1);
        for (size_t j = 0; j < counts[i]; j++) {
            assert_int_equal(cpus[j + 1].cpu, id_of(j));
            assert_int_equal(cpus[j + 1].user_ns, (j + 1) * TICK_NS);
        }
        assert_int_equal(camp_cpu_read(source, id_of(last), cpus, sizeof cpus[0], NULL), CAMP_OK);
        assert_int_equal(cpus[0].user_ns, counts[i] * TICK_NS);
        assert_int_equal(camp_cpu_read(source, id_of(last) + 1, cpus, sizeof cpus[0], NULL),
                         CAMP_E_GONE);
        assert_int_equal(camp_fork_count(source, &forks, NULL), CAMP_OK);
        assert_int_equal(forks, 4711);
        remove_tree(&tree);
    }
}

static void the_frame_of_a_large_machine_has_a_row_for_every_cpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct tree tree = text_tree("stat", stat_of(counts[i], 1));
        const uint64_t count = counts[i];
        const struct frame *frame;
        struct camp_error error;
        struct source *source;

        assert_int_equal(cpus_source_open(source_of(&tree), &never_stop, &source, &error), CAMP_OK);
        rewrite(&tree, stat_of(counts[i], 3));
        assert_int_equal(source->next(source, 0, &frame, &error), CAMP_OK);
        assert_int_equal(frame->entity_count, count + 1);
        assert_int_equal(frame->losses.partial, 0);
        assert_int_equal(frame_values(frame, 0)[CPUS_USER], count * (count + 1) * TICK_NS);
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(frame->entities[j + 1].id, id_of(j));
            assert_int_equal(frame_values(frame, j + 1)[CPUS_USER], 2 * (j + 1) * TICK_NS);
        }
        rewrite(&tree, stat_of(counts[i] - 1, 4)); /* The last CPU went offline. */
        assert_int_equal(source->next(source, 0, &frame, &error), CAMP_OK);
        assert_int_equal(frame->entity_count, count);
        assert_int_equal(frame->losses.partial, 1);
        source_close(source);
        remove_tree(&tree);
    }
}

static void a_list_of_cpus_finds_each_of_them_and_no_other(void **state)
{
    struct tree tree = text_tree("stat", stat_of(MOST_CPUS, 1));
    struct camp_reader reader = { { 0 } };
    struct cpu_list list = { 0 };

    (void)state;
    assert_null(cpu_list_find(&list, 0));
    assert_int_equal(camp_reader_open_cpus(&reader, source_of(&tree), NULL), CAMP_OK);
    assert_int_equal(cpu_list_read(&list, &reader, NULL), CAMP_OK);
    assert_ptr_equal(cpu_list_find(&list, CAMP_CPU_TOTAL), list.cpus);
    for (size_t i = 0; i < MOST_CPUS; i++)
        assert_ptr_equal(cpu_list_find(&list, id_of(i)), &list.cpus[i + 1]);
    assert_null(cpu_list_find(&list, 2));
    assert_null(cpu_list_find(&list, id_of(MOST_CPUS)));
    camp_reader_close(&reader);
    free(list.cpus);
    remove_tree(&tree);
}

static int scan(const char *bytes, struct interrupts *ret)
{
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, strlen(bytes), "r");
    int r;

    assert_non_null(stream);
    r = interrupts_scan(stream, ret);
    fclose(stream);
    return r;
}

static void the_interrupts_of_every_cpu_are_read(void **state)
{
    struct interrupts interrupts = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t length = 0;

        for (size_t j = 0; j < counts[i]; j++)
            length += (size_t)sprintf(text + length, " CPU%d", id_of(j));
        length += (size_t)sprintf(text + length, "\nLOC:");
        for (size_t j = 0; j < counts[i]; j++)
            length += (size_t)sprintf(text + length, " %zu", 10 + j);
        sprintf(text + length, " Local timer interrupts\n");
        assert_int_equal(scan(text, &interrupts), CAMP_OK);
        assert_int_equal(interrupts.count, counts[i]);
        for (size_t j = 0; j < counts[i]; j++)
            assert_int_equal(interrupts_of_cpu(&interrupts, id_of(j))->interrupts, 10 + j);
        assert_null(interrupts_of_cpu(&interrupts, 2));
        assert_null(interrupts_of_cpu(&interrupts, INT64_MAX));
    }
    assert_int_equal(scan(" CPU1 CPU0\n", &interrupts), CAMP_E_FORMAT);
    assert_int_equal(scan(" CPU0 CPU0\n", &interrupts), CAMP_E_FORMAT);
    interrupts_release(&interrupts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cpu_of_a_large_machine_is_read),
        cmocka_unit_test(the_frame_of_a_large_machine_has_a_row_for_every_cpu),
        cmocka_unit_test(a_list_of_cpus_finds_each_of_them_and_no_other),
        cmocka_unit_test(the_interrupts_of_every_cpu_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
