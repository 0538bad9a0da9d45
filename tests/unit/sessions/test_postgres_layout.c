/* The addresses of a server's variables and their contents. Synthetic entries of the table of
 * backends, this program's own executable and its children take the place of a server. */
#include "sources/machine/proc_clock.h"
#include "sources/sessions/postgres/postgres_layout.h"
#include "sources/sessions/postgres/postgres_memory.h"
#include "sources/sessions/postgres/server/elf_symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PID_OFFSET 4
#define ACTIVITY_OFFSET 232
#define ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

static unsigned char entries[6][POSTGRES_ENTRY_SIZE];

static const struct postgres_known known[6] = {
    { 1001, POSTGRES_ACTIVE }, { 1002, POSTGRES_IN_TRANSACTION }, { 1003, POSTGRES_IDLE },
    { 1004, POSTGRES_ACTIVE }, { 1005, POSTGRES_IN_TRANSACTION }, { 1006, POSTGRES_IDLE },
};

static void put(size_t entry, uint32_t offset, uint32_t number)
{
    memcpy(&entries[entry][offset], &number, sizeof number);
}

/* Makes entries as in version 15. Other numbers also differ between the entries. `first` is the
 * number of the first activity: 1 before version 18, and 2 since. */
static void make_entries_from(uint32_t first)
{
    memset(entries, 0, sizeof entries);
    for (size_t i = 0; i < 6; i++) {
        put(i, PID_OFFSET, (uint32_t)known[i].pid);
        put(i, 16, 0x70000000u + (uint32_t)i * 77777);
        put(i, 40, 5);
        put(i, ACTIVITY_OFFSET, first + (uint32_t)known[i].activity);
    }
}

static void make_entries(void)
{
    make_entries_from(1);
}

static void connections_in_known_states_reveal_where_memory_holds_the_state(void **state)
{
    struct postgres_layout layout = { .pid = 1 };

    (void)state;
    make_entries();
    for (size_t i = 0; i < 6; i++)
        /* Differs between the three states, but also between two idle backends. */
        put(i, 100, (uint32_t)i);
    assert_int_equal(postgres_layout_resolve(&layout, known, &entries[0][0], 6, NULL), CAMP_OK);
    assert_int_equal(layout.activities_known, 1);
    assert_int_equal(layout.activity_offset, ACTIVITY_OFFSET);
    assert_int_equal(layout.pid_offset, PID_OFFSET);
    assert_int_equal(postgres_layout_activity(&layout, 5), POSTGRES_IN_TRANSACTION_ABORTED);
    assert_int_equal(postgres_layout_activity(&layout, 0), POSTGRES_ACTIVITIES);
}

static void the_codes_of_other_activities_follow_from_their_order_in_each_version(void **state)
{
    struct postgres_layout layout = { .pid = 1 };

    (void)state;
    for (uint32_t first = 1; first <= 2; first++) {
        make_entries_from(first);
        assert_int_equal(postgres_layout_resolve(&layout, known, &entries[0][0], 6, NULL), CAMP_OK);
        for (uint32_t i = 0; i < POSTGRES_ACTIVITIES; i++)
            assert_int_equal(postgres_layout_activity(&layout, first + i), i);
    }
}

static void three_states_in_another_order_are_refused(void **state)
{
    struct postgres_layout layout = { .pid = 1 };

    (void)state;
    make_entries();
    for (size_t i = 0; i < 6; i++)
        put(i, ACTIVITY_OFFSET, 7 - (uint32_t)known[i].activity);
    assert_int_equal(postgres_layout_resolve(&layout, known, &entries[0][0], 6, NULL),
                     CAMP_E_FORMAT);
}

static void a_report_by_sql_corrects_the_code_of_an_activity_that_was_not_probed(void **state)
{
    struct postgres_layout layout = { .pid = 1 };

    (void)state;
    make_entries();
    postgres_layout_confirm(&layout, POSTGRES_IN_TRANSACTION_ABORTED, 9);
    assert_int_equal(layout.code[POSTGRES_IN_TRANSACTION_ABORTED], 0);
    assert_int_equal(postgres_layout_resolve(&layout, known, &entries[0][0], 6, NULL), CAMP_OK);
    postgres_layout_confirm(&layout, POSTGRES_IN_TRANSACTION_ABORTED, 1); /* idle meanwhile */
    postgres_layout_confirm(&layout, POSTGRES_IN_TRANSACTION_ABORTED, 5);
    postgres_layout_confirm(&layout, POSTGRES_ACTIVE, 8);
    postgres_layout_confirm(&layout, POSTGRES_ACTIVITIES, 8);
    assert_int_equal(postgres_layout_activity(&layout, 5), POSTGRES_IN_TRANSACTION_ABORTED);
    assert_int_equal(postgres_layout_activity(&layout, 2), POSTGRES_ACTIVE);
    assert_int_equal(postgres_layout_activity(&layout, 8), POSTGRES_ACTIVITIES);
    postgres_layout_confirm(&layout, POSTGRES_IN_TRANSACTION_ABORTED, 9);
    assert_int_equal(postgres_layout_activity(&layout, 9), POSTGRES_IN_TRANSACTION_ABORTED);
    assert_int_equal(postgres_layout_activity(&layout, 5), POSTGRES_ACTIVITIES);
}

static void two_possible_places_of_the_state_in_memory_are_refused(void **state)
{
    struct postgres_layout layout = { .pid = 1 };
    struct camp_error error;

    (void)state;
    make_entries();
    for (size_t i = 0; i < 6; i++)
        put(i, 100, (uint32_t)known[i].activity);
    assert_int_equal(postgres_layout_resolve(&layout, known, &entries[0][0], 6, &error),
                     CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "2 places"));
    assert_int_equal(layout.activities_known, 0);
}

static void shared_memory_without_the_known_pids_is_refused(void **state)
{
    struct postgres_layout layout = { .pid = 1 };

    (void)state;
    make_entries();
    put(3, PID_OFFSET, 7);
    assert_int_equal(postgres_layout_resolve(&layout, known, &entries[0][0], 6, NULL),
                     CAMP_E_FORMAT);
}

static void a_set_of_known_connections_that_lacks_one_of_the_states_is_refused(void **state)
{
    struct postgres_layout layout = { .pid = 1 };

    (void)state;
    make_entries();
    assert_int_equal(postgres_layout_resolve(&layout, known, &entries[0][0], 2, NULL),
                     CAMP_E_INVALID);
}

static void the_id_of_a_known_statement_reveals_where_memory_holds_it(void **state)
{
    const int64_t id = -6018394756123049857;
    struct postgres_layout layout = { .pid = 1 };

    (void)state;
    make_entries();
    memcpy(&entries[0][424], &id, sizeof id);
    assert_int_equal(postgres_layout_find_statement(&layout, entries[0], id, NULL), CAMP_OK);
    assert_int_equal(layout.statement_offset, 424);
}

static void an_unknown_or_ambiguous_place_of_the_statement_is_refused(void **state)
{
    const int64_t id = -6018394756123049857;
    struct postgres_layout layout = { .pid = 1 };
    struct camp_error error;

    (void)state;
    make_entries();
    assert_int_equal(postgres_layout_find_statement(&layout, entries[0], id, &error),
                     CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "0 places"));
    memcpy(&entries[0][424], &id, sizeof id);
    memcpy(&entries[0][432], &id, sizeof id);
    assert_int_equal(postgres_layout_find_statement(&layout, entries[0], id, &error),
                     CAMP_E_FORMAT);
    assert_non_null(strstr(error.message, "2 places"));
    assert_int_equal(postgres_layout_find_statement(&layout, entries[1], 0, NULL), CAMP_E_FORMAT);
    assert_int_equal(layout.statement_offset, 0);
}

static void an_executable_other_than_postgresql_is_refused(void **state)
{
    struct postgres_layout layout;
    struct camp_error error;

    (void)state;
    assert_int_equal(postgres_layout_find(&layout, getpid(), &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "no PostgreSQL server"));
}

static void a_server_process_that_has_ended_is_reported_as_gone(void **state)
{
    struct postgres_layout layout;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    assert_int_equal(postgres_layout_find(&layout, pid, NULL), CAMP_E_GONE);
}

static void a_symbol_that_an_executable_lacks_has_no_address(void **state)
{
    static const char *const names[] = { "no_such_variable" };
    int descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct elf_image image;
    uint64_t value = 1;

    (void)state;
    if (elf_symbols(descriptor, names, 1, &value, &image, NULL) == CAMP_E_NOTSUP)
        skip();
    assert_true(image.low < image.high && image.entry >= image.low && image.entry < image.high);
    assert_int_equal(value, 0);
    close(descriptor);
}

static void a_text_file_is_refused_as_an_executable(void **state)
{
    static const char *const names[] = { "stdout" };
    int descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    struct elf_image image;
    uint64_t value;
    int r = elf_symbols(descriptor, names, 1, &value, &image, NULL);

    (void)state;
    assert_true(r == CAMP_E_FORMAT || r == CAMP_E_NOTSUP);
    close(descriptor);
}

/* Returns a descriptor of a file that contains only this ELF header. */
static int file_of(const void *header, size_t size)
{
    int descriptor = memfd_create("header", MFD_CLOEXEC);

    assert_int_equal(write(descriptor, header, size), size);
    return descriptor;
}

static void an_executable_of_another_word_size_is_refused(void **state)
{
    static const char *const names[] = { "stdout" };
    const Elf32_Ehdr narrow = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ORDER, EV_CURRENT },
                                .e_type = ET_EXEC,
                                .e_version = EV_CURRENT,
                                .e_ehsize = sizeof narrow };
    const Elf64_Ehdr wide = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ORDER, EV_CURRENT },
                              .e_type = ET_EXEC,
                              .e_version = EV_CURRENT,
                              .e_ehsize = sizeof wide };
    const bool is_wide = sizeof(void *) == 8;
    int descriptor = is_wide ? file_of(&narrow, sizeof narrow) : file_of(&wide, sizeof wide);
    struct camp_error error;
    struct elf_image image;
    uint64_t value;

    (void)state;
    assert_int_equal(elf_symbols(descriptor, names, 1, &value, &image, &error), CAMP_E_NOTSUP);
    close(descriptor);
    if (strstr(error.message, "without libelf") != NULL)
        skip();
    assert_non_null(strstr(error.message, is_wide
                                              ? "is a 32-bit program, whose memory a 64-bit camp"
                                              : "is a 64-bit program, whose memory a 32-bit camp"));
}

/* A child has these pointers at the same addresses as its parent, and they point to shared memory.
 */
static struct shared {
    uint32_t event[2];
    struct {
        uint32_t changes, pid, activity;
    } entry[2];
} * shared;
static uint32_t *volatile event_pointer;
static void *volatile entry_pointer;

static pid_t start_backend(size_t number)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* The child ends even after a failed test. */
        event_pointer = &shared->event[number];
        entry_pointer = &shared->entry[number];
        shared->entry[number].pid = (uint32_t)getpid();
        for (;;)
            pause();
    }
    for (volatile uint32_t *at = &shared->entry[number].pid; *at != (uint32_t)pid;)
        usleep(1000);
    return pid;
}

static void end_backend(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static struct postgres_layout place_of_this_test(void)
{
    return (struct postgres_layout){ .pid = getpid(),
                                     .event_pointer = (uint64_t)(uintptr_t)&event_pointer,
                                     .entry_pointer = (uint64_t)(uintptr_t)&entry_pointer,
                                     .pid_offset = 4,
                                     .activity_offset = 8,
                                     .activities_known = 1,
                                     .code = { 1, 2, 3, 4, 5, 6 } };
}

static void backends_are_read_through_the_memory_of_their_parent(void **state)
{
    struct postgres_layout layout = place_of_this_test();
    struct postgres_backend backends[2] = { 0 };

    (void)state;
    for (size_t i = 0; i < 2; i++)
        backends[i].pid = start_backend(i);
    for (uint32_t round = 1; round < 4; round++) {
        for (uint32_t i = 0; i < 2; i++) {
            shared->event[i] = 0x03000000 + round + i;
            shared->entry[i].activity = 1 + i;
        }
        assert_int_equal(postgres_memory_read(&layout, backends, 2, NULL), CAMP_OK);
        for (uint32_t i = 0; i < 2; i++) {
            assert_true(backends[i].known);
            assert_int_equal(backends[i].event, 0x03000000 + round + i);
            assert_int_equal(postgres_layout_activity(&layout, backends[i].code), i);
        }
    }
    for (size_t i = 0; i < 2; i++)
        end_backend(backends[i].pid);
}

/* The new backend uses the entry and the event of the ended backend. */
static void an_ended_backend_is_not_mistaken_for_its_successor(void **state)
{
    struct postgres_layout layout = place_of_this_test();
    struct postgres_backend backends[2] = { 0 };
    pid_t pid = start_backend(0);

    (void)state;
    backends[0].pid = pid;
    assert_int_equal(postgres_memory_read(&layout, backends, 1, NULL), CAMP_OK);
    assert_true(backends[0].known);
    end_backend(pid);
    backends[1].pid = start_backend(0);
    assert_int_equal(postgres_memory_read(&layout, backends, 2, NULL), CAMP_OK);
    assert_false(backends[0].known);
    assert_true(backends[1].known);
    end_backend(backends[1].pid);
}

static void the_cpu_clock_of_a_task_in_proc_never_decreases_and_ends_with_the_task(void **state)
{
    struct camp_thread task;
    struct proc_clock first, second;
    pid_t pid = start_backend(0);

    (void)state;
    assert_int_equal(proc_clock_find(pid, &task, NULL), CAMP_OK);
    assert_int_equal(proc_clock_read(&task, &first, NULL), CAMP_OK);
    assert_int_equal(proc_clock_read(&task, &second, NULL), CAMP_OK);
    assert_true(second.cpu_ns >= first.cpu_ns && second.time_ns >= first.time_ns);
    usleep(20000);
    assert_int_equal(proc_clock_state(&task, &second.state, NULL), CAMP_OK);
    assert_int_equal(second.state, 'S');
    end_backend(pid);
    assert_int_equal(proc_clock_read(&task, &first, NULL), CAMP_E_GONE);
    assert_int_equal(proc_clock_state(&task, &first.state, NULL), CAMP_E_GONE);
}

static void cpu_time_beyond_the_elapsed_time_is_carried_over_to_the_next_interval(void **state)
{
    const struct proc_clock before = { .cpu_ns = 100, .run_queue_ns = 1000 };
    struct proc_clock now = { .cpu_ns = 160, .run_queue_ns = 1070 }, next = now;
    uint64_t cpu_ns, run_queue_ns;

    (void)state;
    assert_true(proc_clock_since(&before, &now, 130, &cpu_ns, &run_queue_ns));
    assert_true(cpu_ns == 60 && run_queue_ns == 70);
    assert_false(proc_clock_since(&before, &now, 100, &cpu_ns, &run_queue_ns));
    assert_true(cpu_ns == 60 && run_queue_ns == 40);
    assert_true(proc_clock_since(&now, &next, 100, &cpu_ns, &run_queue_ns));
    assert_true(cpu_ns == 0 && run_queue_ns == 30);
    assert_false(proc_clock_since(&before, &next, 50, &cpu_ns, &run_queue_ns));
    assert_true(cpu_ns == 50 && run_queue_ns == 0);
}

static int share_memory(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_in_known_states_reveal_where_memory_holds_the_state),
        cmocka_unit_test(the_codes_of_other_activities_follow_from_their_order_in_each_version),
        cmocka_unit_test(three_states_in_another_order_are_refused),
        cmocka_unit_test(a_report_by_sql_corrects_the_code_of_an_activity_that_was_not_probed),
        cmocka_unit_test(two_possible_places_of_the_state_in_memory_are_refused),
        cmocka_unit_test(shared_memory_without_the_known_pids_is_refused),
        cmocka_unit_test(a_set_of_known_connections_that_lacks_one_of_the_states_is_refused),
        cmocka_unit_test(the_id_of_a_known_statement_reveals_where_memory_holds_it),
        cmocka_unit_test(an_unknown_or_ambiguous_place_of_the_statement_is_refused),
        cmocka_unit_test(an_executable_other_than_postgresql_is_refused),
        cmocka_unit_test(a_server_process_that_has_ended_is_reported_as_gone),
        cmocka_unit_test(a_symbol_that_an_executable_lacks_has_no_address),
        cmocka_unit_test(a_text_file_is_refused_as_an_executable),
        cmocka_unit_test(an_executable_of_another_word_size_is_refused),
        cmocka_unit_test(backends_are_read_through_the_memory_of_their_parent),
        cmocka_unit_test(an_ended_backend_is_not_mistaken_for_its_successor),
        cmocka_unit_test(the_cpu_clock_of_a_task_in_proc_never_decreases_and_ends_with_the_task),
        cmocka_unit_test(cpu_time_beyond_the_elapsed_time_is_carried_over_to_the_next_interval),
    };

    return cmocka_run_group_tests(tests, share_memory, NULL);
}
