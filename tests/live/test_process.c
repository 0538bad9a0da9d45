/* Compares values of processes and threads with those that a child reads about itself. */
#include "cpu_steal.h"
#include "process_child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define TMPFS_MAGIC 0x01021994

static void the_tid_of_another_thread_is_not_accepted_as_a_pid(void **state)
{
    struct child child = start_child();
    struct camp_thread threads[4];
    struct camp_process process;
    size_t count;
    uint64_t ns;

    (void)state;
    read_asleep(&child, (struct command){ 't', 1, "" });
    assert_int_equal(
        camp_thread_list(NULL, &child.process, threads, sizeof threads[0], 4, &count, NULL),
        CAMP_OK);
    assert_int_equal(camp_process_identify(NULL, threads[1].tid, &process, sizeof process, NULL),
                     CAMP_E_GONE);
    assert_int_equal(camp_pid_cpu_ns(threads[1].tid, &ns), CAMP_E_GONE);
    end_child(&child);
}

static void minor_faults_equal_the_count_that_the_child_reads_itself(void **state)
{
    struct child child = start_child();
    struct sandwich first = read_asleep(&child, (struct command){ 'm', 10, "" });
    struct sandwich second = read_asleep(&child, (struct command){ 'm', 1000, "" });

    (void)state;
    assert_between("minor faults", second.before.minor_faults, second.read.minor_faults,
                   second.after.minor_faults);
    assert_between("between two", second.before.minor_faults - first.after.minor_faults,
                   second.read.minor_faults - first.read.minor_faults,
                   second.after.minor_faults - first.before.minor_faults);
    /* The child touched 1000 new pages, with one fault each. */
    assert_at_least("between two", second.read.minor_faults - first.read.minor_faults, 1000, 0);
    end_child(&child);
}

/* Number of pages of a file that one fault maps. The default of fault_around_bytes is 64 KiB. */
#define FAULT_AROUND 16

static void the_resident_size_grows_by_the_pages_that_the_child_touches(void **state)
{
    const uint64_t page = (uint64_t)getpagesize(), cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
    /* Each CPU counts pages in batches of max(32, 2 x CPUs). So each of the two sizes may be wrong
     * by one batch for each CPU. */
    const uint64_t batch = cpus > 16 ? 2 * cpus : 32, off = 2 * batch * cpus, pages = 4096;
    struct child child = start_child();
    struct sandwich before = read_asleep(&child, (struct command){ '.', 0, "" });
    struct sandwich after = read_asleep(&child, (struct command){ 'm', (uint32_t)pages, "" });
    uint64_t grown = (after.read.resident_bytes - before.read.resident_bytes) / page;
    /* Each other fault of the process may have mapped FAULT_AROUND pages of a file. */
    uint64_t others = less(after.after.minor_faults - before.before.minor_faults, pages);

    (void)state;
    assert_int_equal(after.read.virtual_bytes - before.read.virtual_bytes, pages * page);
    assert_between("pages", less(pages, off), grown, pages + off + others * FAULT_AROUND);
    end_child(&child);
}

static void context_switches_equal_the_count_that_the_child_reads_itself(void **state)
{
    struct child child = start_child();
    struct sandwich first = read_asleep(&child, (struct command){ 's', 1, "" });
    struct sandwich second = read_asleep(&child, (struct command){ 's', 30, "" });

    (void)state;
    /* After its report, the child fell asleep once more. */
    assert_between("voluntary", second.before.voluntary_switches + 1,
                   second.read.voluntary_switches, second.after.voluntary_switches);
    assert_between("involuntary", second.before.involuntary_switches,
                   second.read.involuntary_switches, second.after.involuntary_switches);
    assert_in_range(second.read.voluntary_switches - first.read.voluntary_switches, 30, UINT64_MAX);
    end_child(&child);
}

static void bytes_written_to_storage_are_counted(void **state)
{
    const uint32_t bytes = 1 << 20;
    struct child child = start_child();
    struct camp_task before = read_asleep(&child, (struct command){ '.', 0, "" }).read, after;
    struct statfs filesystem;

    (void)state;
    assert_int_equal(statfs("/var/tmp", &filesystem), 0);
    if (filesystem.f_type == TMPFS_MAGIC || (before.known & CAMP_TASK_READ_BYTES) == 0) {
        fprintf(stderr, "skipped: /var/tmp is in memory, or this kernel does not count I/O\n");
        end_child(&child);
        skip();
    }
    after = read_asleep(&child, (struct command){ 'w', bytes, "" }).read;
    /* The file system also writes metadata of unknown size. */
    assert_at_least("written", after.written_bytes - before.written_bytes, bytes, 0);
    end_child(&child);
}

static void process_names_with_blanks_and_parentheses_are_read_unchanged(void **state)
{
    static const char *const names[] = { "two words",  "a) S 1 2 3",      ")))", "((",
                                         "line\nfeed", ") R 0 0 0 0 0\n", "" };
    struct child child = start_child();

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct command command = { .action = 'n' };
        struct camp_task task;

        snprintf(command.name, sizeof command.name, "%s", names[i]);
        task = read_asleep(&child, command).read;
        assert_string_equal(task.name, names[i]);
        assert_int_equal(task.parent, getpid());
    }
    end_child(&child);
}

static void a_zombie_can_be_read_until_it_is_reaped(void **state)
{
    struct child child = start_child();
    struct camp_reader reader = { { 0 } };
    struct camp_task before = read_asleep(&child, (struct command){ 'b', 20, "" }).read, task;
    uint64_t ns, by_clock_ns;
    clockid_t clock;

    (void)state;
    assert_int_equal(camp_reader_open_process(&reader, NULL, &child.process, NULL), CAMP_OK);
    command_child(&child, (struct command){ 'q', 0, "" }, NULL);
    task = read_in_state(&child, 'Z');
    /* The clock of a zombie does not change, so all ways to read it must give the same time. */
    assert_int_equal(clock_getcpuclockid(child.pid, &clock), 0);
    by_clock_ns = now_ns(clock);
    assert_at_least("cpu_ns", task.cpu_ns, before.cpu_ns, 0);
    assert_int_equal(task.cpu_ns, by_clock_ns);
    assert_int_equal(task.virtual_bytes, 0);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_OK);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &ns, NULL), CAMP_OK);
    assert_int_equal(ns, by_clock_ns);
    end_child(&child);
    assert_int_equal(camp_process_read(NULL, &child.process, 0, &task, sizeof task, NULL),
                     CAMP_E_GONE);
    assert_int_equal(
        camp_process_read(NULL, &child.process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
    assert_int_equal(camp_process_cpu_ns(NULL, &child.process, &ns, NULL), CAMP_E_GONE);
    assert_int_equal(camp_pid_cpu_ns(child.pid, &ns), CAMP_E_GONE);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_GONE);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &ns, NULL), CAMP_E_GONE);
    camp_reader_close(&reader);
}

static uint64_t token_of(int32_t pid)
{
    static struct camp_pid pids[65536];
    size_t count;

    assert_int_equal(camp_pid_list(NULL, pids, sizeof pids[0], 65536, &count, NULL), CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        if (pids[i].pid == pid)
            return pids[i].token;
    }
    fail_msg("pid %d is not listed", pid);
    return 0;
}

/* Makes the kernel use the pid after this one for the next process, if that pid is free. Returns
 * false with errno if this is not permitted. */
static bool set_last_pid(pid_t pid)
{
    FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");

    if (last == NULL)
        return false;
    fprintf(last, "%d", pid);
    return fclose(last) == 0;
}

/* Starts a child with this pid. Returns false if other programs always got the pid first. */
static bool start_child_of_pid(pid_t pid, struct child *ret)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

    do {
        if (!set_last_pid(pid - 1))
            return false;
        *ret = start_child();
        if (ret->pid == pid)
            return true;
        end_child(ret);
    } while (wait_on(began_ns));
    return false;
}

static void a_process_with_a_reused_pid_is_another_process(void **state)
{
    struct child first = start_child(), second;
    struct camp_reader reader = { { 0 } };
    struct camp_task task;
    uint64_t token = token_of(first.pid), ns;

    (void)state;
    assert_int_equal(token_of(first.pid), token);
    if (!set_last_pid(first.pid)) {
        print_message("skipped, not passed: a pid is given out again by writing ns_last_pid: %s\n",
                      strerror(errno));
        end_child(&first);
        skip();
    }
    assert_int_equal(camp_reader_open_process(&reader, NULL, &first.process, NULL), CAMP_OK);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &ns, NULL), CAMP_OK);
    end_child(&first);
    /* The start time of the next process must be later. */
    usleep((useconds_t)(2 * proc_time_unit_ns() / NS_PER_US));
    if (!start_child_of_pid(first.pid, &second))
        fail_msg("pid %d was not given out again", first.pid);
    assert_int_equal(camp_pid_cpu_ns(first.pid, &ns), CAMP_OK);
    assert_int_equal(camp_process_cpu_ns(NULL, &first.process, &ns, NULL), CAMP_E_GONE);
    assert_int_equal(
        camp_process_read(NULL, &first.process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_GONE);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &ns, NULL), CAMP_E_GONE);
    assert_int_equal(
        camp_process_read(NULL, &second.process, CAMP_TASK_ALL, &task, sizeof task, NULL), CAMP_OK);
    assert_true(second.process.start > first.process.start);
    assert_true(token_of(second.pid) != token);
    camp_reader_close(&reader);
    end_child(&second);
}

static size_t count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static void closing_a_reader_closes_the_pidfd_too(void **state)
{
    struct child child = start_child();
    struct camp_reader reader = { { 0 } };
    size_t before = count_descriptors(), opened;
    uint64_t ns;

    (void)state;
    assert_int_equal(camp_reader_open_process(&reader, NULL, &child.process, NULL), CAMP_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(camp_reader_process_cpu_ns(&reader, &ns, NULL), CAMP_OK);
    opened = count_descriptors();
    assert_in_range(opened, before + 1, before + 2); /* Linux before 5.3 has no pidfd. */
    camp_reader_close(&reader);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(camp_reader_process_cpu_ns(&reader, &ns, NULL), CAMP_E_INVALID);
    end_child(&child);
}

/* The system call then fails as on a kernel older than 5.3. Returns false if filters are refused.
 */
static bool refuse_pidfd_open(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(SYS_pidfd_open, getpid(), 0) < 0;
}

enum { FILTERS_ARE_REFUSED = 77, TIME_DIFFERS };

/* Runs in a child process, as a filter cannot be removed. Returns the exit status. */
static int read_without_pidfd(const struct camp_process *process)
{
    struct camp_reader reader = { { 0 } };
    uint64_t ns, by_pid_ns;

    if (!refuse_pidfd_open())
        return FILTERS_ARE_REFUSED;
    if (camp_reader_open_process(&reader, NULL, process, NULL) != CAMP_OK ||
        camp_reader_process_cpu_ns(&reader, &ns, NULL) != CAMP_OK ||
        camp_pid_cpu_ns(process->pid, &by_pid_ns) != CAMP_OK || ns != by_pid_ns)
        return TIME_DIFFERS;
    camp_reader_close(&reader);
    return 0;
}

static void the_time_of_a_process_is_read_without_pidfd_open_too(void **state)
{
    struct child child = start_child();
    pid_t reading;
    int status;

    (void)state;
    read_asleep(&child, (struct command){ 'b', 20, "" });
    reading = fork();
    assert_true(reading >= 0);
    if (reading == 0)
        _exit(read_without_pidfd(&child.process));
    assert_int_equal(waitpid(reading, &status, 0), reading);
    assert_true(WIFEXITED(status));
    end_child(&child);
    if (WEXITSTATUS(status) == FILTERS_ARE_REFUSED) {
        print_message("skipped, not passed: a filter of system calls may not be set here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void every_listed_process_can_be_read_or_has_exited(void **state)
{
    static struct camp_process processes[65536];
    static struct camp_thread threads[4096];
    struct camp_task task;
    size_t count, read = 0, own = 0, thread_count;

    (void)state;
    assert_int_equal(camp_process_list(NULL, processes, sizeof processes[0], 65536, &count, NULL),
                     CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        int r = camp_process_read(NULL, &processes[i], CAMP_TASK_ALL, &task, sizeof task, NULL);

        assert_true(r == CAMP_OK || r == CAMP_E_GONE);
        assert_true(i == 0 || processes[i].pid > processes[i - 1].pid);
        read += r == CAMP_OK;
        own += processes[i].pid == getpid();
        r = camp_thread_list(NULL, &processes[i], threads, sizeof threads[0], 4096, &thread_count,
                             NULL);
        assert_true(r == CAMP_OK || r == CAMP_E_GONE);
        for (size_t k = 0; r == CAMP_OK && k < thread_count; k++) {
            int of_thread =
                camp_thread_read(NULL, &threads[k], CAMP_TASK_ALL, &task, sizeof task, NULL);

            assert_true(of_thread == CAMP_OK || of_thread == CAMP_E_GONE);
        }
    }
    assert_int_equal(own, 1);
    assert_in_range(read, 1, count); /* All other processes may have exited meanwhile. */
}

static void copy_file(const char *from, const char *to)
{
    char command[512];

    snprintf(command, sizeof command, "cp -L %s %s", from, to);
    assert_int_equal(system(command), 0);
}

static pid_t launch(const char *path)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(path, "another-name", "100", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static size_t find(const char *name, struct camp_process *found, size_t capacity)
{
    size_t count;

    assert_int_equal(camp_process_find(NULL, name, found, sizeof found[0], capacity, &count, NULL),
                     CAMP_OK);
    return count;
}

static void processes_of_an_executable_are_found_whatever_their_name_is(void **state)
{
    char folder[] = "/tmp/camp-find-XXXXXX", name[64], alias[64], path[128], link[128];
    struct camp_process found[8];
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    pid_t children[4];
    size_t count = 0;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "sleep-of-camp-%d", getpid());
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(alias, sizeof alias, "link-%d", getpid());
    snprintf(link, sizeof link, "%s/%s", folder, alias);
    copy_file("/bin/sleep", path);
    assert_int_equal(symlink(path, link), 0);
    for (int i = 0; i < 4; i++)
        children[i] = launch(i < 2 ? path : link);
    do
        count = find(name, found, 8);
    while (count < 4 && wait_on(began_ns));
    assert_int_equal(count, 4);
    unlink(path);
    assert_int_equal(find(name, found, 8), 4);
    assert_int_equal(find(alias, found, 8), 0);
    for (int i = 0; i < 4; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    assert_int_equal(find(name, found, 8), 0);
    unlink(link);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tid_of_another_thread_is_not_accepted_as_a_pid),
        cmocka_unit_test(minor_faults_equal_the_count_that_the_child_reads_itself),
        cmocka_unit_test(the_resident_size_grows_by_the_pages_that_the_child_touches),
        cmocka_unit_test(context_switches_equal_the_count_that_the_child_reads_itself),
        cmocka_unit_test(bytes_written_to_storage_are_counted),
        cmocka_unit_test(process_names_with_blanks_and_parentheses_are_read_unchanged),
        cmocka_unit_test(a_zombie_can_be_read_until_it_is_reaped),
        cmocka_unit_test(a_process_with_a_reused_pid_is_another_process),
        cmocka_unit_test(closing_a_reader_closes_the_pidfd_too),
        cmocka_unit_test(the_time_of_a_process_is_read_without_pidfd_open_too),
        cmocka_unit_test(every_listed_process_can_be_read_or_has_exited),
        cmocka_unit_test(processes_of_an_executable_are_found_whatever_their_name_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
