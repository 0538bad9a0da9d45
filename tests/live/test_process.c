/* Laws of processes and threads on this machine: what is read of a child from outside is what the
 * child knows of itself, or what adds up. */
#include "cpu_steal.h"
#include "process_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define TMPFS_MAGIC 0x01021994

static void a_threads_number_is_not_a_processs(void **state)
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

static void minor_faults_are_what_the_child_knows(void **state)
{
    struct child child = start_child();
    struct sandwich first = read_asleep(&child, (struct command){ 'm', 10, "" });
    struct sandwich second = read_asleep(&child, (struct command){ 'm', 1000, "" });

    (void)state;
    assert_between("minor faults", second.before.minor_faults, second.read.minor_faults,
                   second.after.minor_faults, 20);
    assert_in_range(second.read.minor_faults - first.read.minor_faults, 1000, 1499);
    end_child(&child);
}

static void size_grows_by_what_the_child_touches(void **state)
{
    const uint64_t page = (uint64_t)getpagesize(), cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
    /* The kernel counts pages in batches, each CPU its own: max(32, 2 x CPUs). */
    const uint64_t batch = cpus > 16 ? 2 * cpus : 32, off = 2 * batch * cpus + 16;
    struct child child = start_child();
    struct camp_task before = read_asleep(&child, (struct command){ '.', 0, "" }).read;
    struct camp_task after = read_asleep(&child, (struct command){ 'm', 4096, "" }).read;
    uint64_t grown = (after.resident_bytes - before.resident_bytes) / page;

    (void)state;
    assert_int_equal(after.virtual_bytes - before.virtual_bytes, 4096 * page);
    assert_between("pages", 4096 - off, grown, 4096 + off, 2 * off);
    end_child(&child);
}

static void switches_are_what_the_child_knows(void **state)
{
    struct child child = start_child();
    struct sandwich first = read_asleep(&child, (struct command){ 's', 1, "" });
    struct sandwich second = read_asleep(&child, (struct command){ 's', 30, "" });

    (void)state;
    /* It fell asleep once more since it reported them. */
    assert_between("voluntary", second.before.voluntary_switches + 1,
                   second.read.voluntary_switches, second.after.voluntary_switches, 3);
    assert_between("involuntary", second.before.involuntary_switches,
                   second.read.involuntary_switches, second.after.involuntary_switches, 20);
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
    if (filesystem.f_type == TMPFS_MAGIC || (before.known & CAMP_TASK_IO) == 0) {
        fprintf(stderr, "skipped: /var/tmp is in memory, or this kernel does not count I/O\n");
        end_child(&child);
        skip();
    }
    after = read_asleep(&child, (struct command){ 'w', bytes, "" }).read;
    assert_between("written", bytes, after.written_bytes - before.written_bytes, bytes + bytes / 8,
                   bytes);
    end_child(&child);
}

static void names_that_look_like_more_are_read_back(void **state)
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

static void a_zombie_reads_and_a_reaped_process_is_gone(void **state)
{
    struct child child = start_child();
    struct camp_reader reader = CAMP_READER_NONE;
    struct camp_task before = read_asleep(&child, (struct command){ 'b', 100, "" }).read, task;
    uint64_t steal = steal_ns(), ns;

    (void)state;
    assert_int_equal(camp_reader_open_process(&reader, NULL, &child.process, NULL), CAMP_OK);
    command_child(&child, (struct command){ 'q', 0, "" }, NULL);
    task = read_in_state(&child, 'Z');
    assert_at_least("cpu_ns", task.cpu_ns, before.cpu_ns, 0);
    assert_at_most("cpu_ns", task.cpu_ns, before.cpu_ns, 20 * NS_PER_MS - 1 + stolen_since(steal));
    assert_int_equal(task.virtual_bytes, 0);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_OK);
    end_child(&child);
    assert_int_equal(camp_process_read(NULL, &child.process, 0, &task, sizeof task, NULL),
                     CAMP_E_GONE);
    assert_int_equal(
        camp_process_read(NULL, &child.process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
    assert_int_equal(camp_process_cpu_ns(NULL, &child.process, &ns, NULL), CAMP_E_GONE);
    assert_int_equal(camp_pid_cpu_ns(child.pid, &ns), CAMP_E_GONE);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_GONE);
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

/* A child of that pid, which must be free, or false: others start processes at the same time. */
static bool start_child_of_pid(pid_t pid, struct child *ret)
{
    for (int i = 0; i < 500; i++) {
        FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");

        assert_non_null(last);
        fprintf(last, "%d", pid - 1);
        if (fclose(last) != 0)
            return false;
        *ret = start_child();
        if (ret->pid == pid)
            return true;
        end_child(ret);
    }
    return false;
}

static void a_pid_that_is_reused_is_gone_and_has_another_token(void **state)
{
    struct child first = start_child(), second;
    struct camp_reader reader = CAMP_READER_NONE;
    struct camp_task task;
    uint64_t token = token_of(first.pid), ns;

    (void)state;
    assert_int_equal(token_of(first.pid), token);
    if (access("/proc/sys/kernel/ns_last_pid", W_OK) != 0) {
        fprintf(stderr, "skipped: giving out a pid again needs ns_last_pid: %s\n", strerror(errno));
        end_child(&first);
        skip();
    }
    assert_int_equal(camp_reader_open_process(&reader, NULL, &first.process, NULL), CAMP_OK);
    end_child(&first);
    usleep(30000); /* a start time of another tick */
    if (!start_child_of_pid(first.pid, &second))
        fail_msg("pid %d was not given out again in 500 tries", first.pid);
    assert_int_equal(camp_pid_cpu_ns(first.pid, &ns), CAMP_OK);
    assert_int_equal(camp_process_cpu_ns(NULL, &first.process, &ns, NULL), CAMP_E_GONE);
    assert_int_equal(
        camp_process_read(NULL, &first.process, CAMP_TASK_ALL, &task, sizeof task, NULL),
        CAMP_E_GONE);
    assert_int_equal(camp_reader_process(&reader, &task, sizeof task, NULL), CAMP_E_GONE);
    assert_int_equal(
        camp_process_read(NULL, &second.process, CAMP_TASK_ALL, &task, sizeof task, NULL), CAMP_OK);
    assert_true(second.process.start > first.process.start);
    assert_true(token_of(second.pid) != token);
    camp_reader_close(&reader);
    end_child(&second);
}

static void every_listed_process_and_thread_reads_or_is_gone(void **state)
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
    assert_in_range(read, count / 2, count);
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

static void all_children_of_an_executable_are_found_whatever_their_names(void **state)
{
    char folder[] = "/tmp/camp-find-XXXXXX", name[64], alias[64], path[128], link[128];
    struct camp_process found[8];
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
    for (int i = 0; i < 2000 && count < 4; i++, usleep(1000))
        count = find(name, found, 8);
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
        cmocka_unit_test(a_threads_number_is_not_a_processs),
        cmocka_unit_test(minor_faults_are_what_the_child_knows),
        cmocka_unit_test(size_grows_by_what_the_child_touches),
        cmocka_unit_test(switches_are_what_the_child_knows),
        cmocka_unit_test(bytes_written_to_storage_are_counted),
        cmocka_unit_test(names_that_look_like_more_are_read_back),
        cmocka_unit_test(a_zombie_reads_and_a_reaped_process_is_gone),
        cmocka_unit_test(a_pid_that_is_reused_is_gone_and_has_another_token),
        cmocka_unit_test(every_listed_process_and_thread_reads_or_is_gone),
        cmocka_unit_test(all_children_of_an_executable_are_found_whatever_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
