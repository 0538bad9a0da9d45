/* The other ends of pipes and sockets, in a folder in place of /proc, and of a socket of this
 * process. */
#include "microstates/calls.h"
#include "sources/causes/cause_objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER "/tmp/camp-objects-XXXXXX"

static char folder[] = FOLDER;
static unsigned int clock_reads, late_from; /* 0: never late */

uint64_t __wrap_source_clock_ns(clockid_t clock);

/* The clock of the CPU time of a search stands still, and an hour later from a reading on. */
uint64_t __wrap_source_clock_ns(clockid_t clock)
{
    (void)clock;
    clock_reads++;
    return late_from != 0 && clock_reads >= late_from ? UINT64_C(3600000000000) : 0;
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s", FOLDER);
    assert_non_null(mkdtemp(folder));
    clock_reads = late_from = 0;
}

static void remove_in_folder(const char *path)
{
    char command[300];

    snprintf(command, sizeof command, "rm -r %s/%s", folder, path);
    assert_int_equal(system(command), 0);
}

static void make(const char *path, bool is_folder, const char *text)
{
    char whole[256];
    FILE *file;

    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    if (is_folder) {
        assert_int_equal(mkdir(whole, 0755), 0);
        return;
    }
    file = fopen(whole, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void open_file(int pid, int descriptor, const char *target)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%d/fd/%d", folder, pid, descriptor);
    assert_int_equal(symlink(target, path), 0);
}

static void make_process(int pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "%d", pid);
    make(path, true, NULL);
    snprintf(path, sizeof path, "%d/fd", pid);
    make(path, true, NULL);
    snprintf(path, sizeof path, "%d/net", pid);
    make(path, true, NULL);
    snprintf(path, sizeof path, "%d/comm", pid);
    make(path, false, name);
}

static struct camp_call_sleeps read_of(int descriptor)
{
    return (
        struct camp_call_sleeps){ .pid = 7, .call = SYS_read, .argument = (uint64_t)descriptor };
}

static void assert_peer(const struct cause_objects *objects, const char *name, const char *peer)
{
    assert_string_equal(cause_objects_peer(objects, name, 0), peer);
}

#define TABLE                                                                                      \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "  \
    "inode\n"                                                                                      \
    "   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "  \
    "1234 1 0\n"

static void set_up_processes(void)
{
    make_process(7, "victim\n");
    make_process(8, "writer\n");
    make_process(9, "\033[31m\n");
    open_file(7, 0, "pipe:[100]");
    open_file(7, 1, "pipe:[101]");
    open_file(7, 3, "socket:[1235]");
    open_file(7, 4, "socket:[1234]");
    open_file(7, 5, "socket:[1236]");
    open_file(7, 6, "pipe:[x");
    open_file(8, 1, "pipe:[100]");
    open_file(8, 2, "pipe:[100]");
    open_file(9, 1, "pipe:[100]");
    make("7/net/tcp", false,
         TABLE "   1: 0100007F:1538 0200000A:D431 01 00000000:00000000 00:00000000 00000000     0"
               "        0 1235 1 0\ngarbage\n   2: zz 5:\n");
    make("7/net/tcp6", false,
         TABLE "   1: 0:1 00000000000000000000000001000000:0050 01 0:0 00:0 0 0 0 1236 1 0\n");
}

static void other_ends_are_named_by_address_and_by_process(void **state)
{
    struct camp_call_sleeps calls[7];
    struct cause_objects objects = { 0 };

    (void)state;
    if (camp_call_name(SYS_read) == NULL) /* an architecture whose calls camp does not know */
        skip();
    make_folder();
    set_up_processes();
    for (int i = 0; i < 7; i++)
        calls[i] = read_of(i);
    calls[2].argument = 77; /* not open */
    cause_objects_find(&objects, calls, 7, folder);
    /* Either order of the folder is possible. */
    assert_non_null(strstr(cause_objects_peer(&objects, "pipe:[100]", 0), " and 1 other"));
    assert_peer(&objects, "pipe:[101]", ""); /* no other process has it */
    assert_peer(&objects, "socket:[1235]", "to 10.0.0.2:54321");
    assert_peer(&objects, "socket:[1234]", ""); /* it listens */
    assert_peer(&objects, "socket:[1236]", "to [::1]:80");
    assert_peer(&objects, "socket:[9]", "");
    assert_int_equal(objects.count, 5);
    cause_objects_find(&objects, calls, 7, folder);
    assert_int_equal(objects.count, 5);
    cause_objects_release(&objects);
    remove_in_folder("");
}

/* Processes 7 and 8 have the ends of a pipe. */
static void set_up_pipe(void)
{
    make_folder();
    make_process(7, "victim\n");
    make_process(8, "writer\n");
    open_file(7, 0, "pipe:[100]");
    open_file(7, 1, "pipe:[101]");
    open_file(8, 0, "pipe:[100]");
}

static void a_holder_that_has_exited_or_changed_is_looked_up_again(void **state)
{
    const struct camp_call_sleeps calls[] = { read_of(0), read_of(1) };
    struct cause_objects objects = { 0 };

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    set_up_pipe();
    cause_objects_find(&objects, calls, 2, folder);
    assert_peer(&objects, "pipe:[100]", "with writer (8)");
    make("8/comm", false, "successor\n"); /* the pid is another process's, or execve(2) */
    cause_objects_find(&objects, calls, 2, folder);
    assert_peer(&objects, "pipe:[100]", "with successor (8)");
    make_process(9, "heir\n");
    open_file(9, 0, "pipe:[100]");
    remove_in_folder("8");
    cause_objects_find(&objects, calls, 2, folder);
    assert_peer(&objects, "pipe:[100]", "with heir (9)");
    remove_in_folder("9");
    cause_objects_find(&objects, calls, 2, folder);
    assert_peer(&objects, "pipe:[100]", "");
    assert_int_equal(objects.count, 2);
    cause_objects_release(&objects);
    remove_in_folder("");
}

/* Without the test among its descriptors, the clock is read once for the search, for each of the
 * four entries of the folder, and at the end: six times. */
static void a_process_with_many_descriptors_ends_the_search_in_time(void **state)
{
    const struct camp_call_sleeps call = read_of(0);
    struct cause_objects objects = { 0 };

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    set_up_pipe();
    for (int i = 1; i < 1024; i++)
        open_file(8, i, "/dev/null");
    late_from = 7;
    cause_objects_find(&objects, &call, 1, folder);
    assert_true(clock_reads >= late_from);
    cause_objects_release(&objects);
    remove_in_folder("");
}

static void what_a_late_search_did_not_find_is_looked_up_again(void **state)
{
    const struct camp_call_sleeps calls[] = { read_of(0), read_of(1) };
    struct cause_objects objects = { 0 };

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    set_up_pipe();
    late_from = 2; /* before the first process */
    cause_objects_find(&objects, calls, 2, folder);
    assert_peer(&objects, "pipe:[100]", "");
    late_from = 0;
    cause_objects_find(&objects, calls, 1, folder);
    assert_peer(&objects, "pipe:[100]", "with writer (8)");
    assert_int_equal(objects.count, 1);
    cause_objects_release(&objects);
    remove_in_folder("");
}

static void the_other_end_of_a_unix_socket_is_the_process_that_has_it(void **state)
{
    struct camp_call_sleeps sleeps = { .pid = getpid(), .call = SYS_read };
    struct cause_objects objects = { 0 };
    char name[CAUSE_NAME_SIZE], pid[40], here[] = "/tmp/camp-objects-XXXXXX", path[100], whole[100];
    int ends[2];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    sleeps.argument = (uint64_t)ends[0];
    /* Only this process is in the folder. */
    assert_non_null(mkdtemp(here));
    snprintf(path, sizeof path, "%s/%d", here, getpid());
    snprintf(whole, sizeof whole, "/proc/%d", getpid());
    assert_int_equal(symlink(whole, path), 0);
    cause_objects_find(&objects, &sleeps, 1, here);
    cause_object_name(name, &sleeps, here);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(here), 0);
    if (objects.count == 1 && objects.items[0].end == 0) {
        print_message("skipped, not passed: this kernel does not tell the ends of Unix sockets\n");
        cause_objects_release(&objects);
        skip();
    }
    snprintf(pid, sizeof pid, "(%d)", getpid());
    assert_non_null(strstr(cause_objects_peer(&objects, name, 0), pid));
    cause_objects_release(&objects);
    close(ends[0]);
    close(ends[1]);
}

static void open_here(int pid, int descriptor, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    open_file(pid, descriptor, path);
}

static void a_pipe_with_a_name_has_the_process_that_has_it_open(void **state)
{
    const struct camp_call_sleeps calls[] = { read_of(0) };
    struct cause_objects objects = { 0 };
    char path[128];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    make_folder();
    set_up_processes();
    remove_in_folder("7/fd/0");
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    open_here(7, 0, "fifo");
    open_here(8, 5, "fifo");
    cause_objects_find(&objects, calls, 1, folder);
    assert_peer(&objects, path, "with writer (8)");
    assert_int_equal(cause_objects_holder(&objects, path, 0), 8);
    cause_objects_release(&objects);
    remove_in_folder("");
}

/* Writes the list of locks: process 7 waits for a lock of `holder`, behind another one. */
static void make_locks(const char *path, int holder)
{
    struct stat file;
    char text[512];

    assert_int_equal(stat(path, &file), 0);
    snprintf(text, sizeof text,
             "1: POSIX  ADVISORY  READ 9 08:01:11 0 EOF\n"
             "garbage\n2: FLOCK\n"
             "3: FLOCK  ADVISORY  WRITE %d 08:01:%llu 0 EOF\n"
             "3: -> FLOCK  ADVISORY  WRITE 6 08:01:%llu 0 EOF\n"
             "3: -> FLOCK  ADVISORY  WRITE 7 08:01:%llu 0 EOF\n",
             holder, (unsigned long long)file.st_ino, (unsigned long long)file.st_ino,
             (unsigned long long)file.st_ino);
    make("locks", false, text);
}

static void the_holder_of_a_file_lock_is_looked_up_each_time(void **state)
{
    const struct camp_call_sleeps calls[] = {
        { .pid = 7, .call = SYS_flock, .state = CAMP_STATE_LOCK, .argument = 0 }
    };
    struct cause_objects objects = { 0 };
    char path[128];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    make_folder();
    set_up_processes();
    remove_in_folder("7/fd/0");
    make("lock", false, "");
    snprintf(path, sizeof path, "%s/lock", folder);
    open_here(7, 0, "lock");
    make_locks(path, 8);
    cause_objects_find(&objects, calls, 1, folder);
    assert_peer(&objects, path, "held by writer (8)");
    make_locks(path, 9);
    cause_objects_find(&objects, calls, 1, folder);
    assert_peer(&objects, path, "held by \033[31m (9)");
    assert_int_equal(cause_objects_holder(&objects, path, 0), 9);
    make_locks(path, 99); /* has exited, and another process has its descriptor */
    open_here(8, 5, "lock");
    cause_objects_find(&objects, calls, 1, folder);
    assert_peer(&objects, path, "open in writer (8)");
    cause_objects_release(&objects);
    remove_in_folder("");
}

static void two_sleeps_for_one_lock_have_one_object(void **state)
{
    const struct camp_call_sleeps calls[] = {
        { .pid = 7, .call = SYS_flock, .state = CAMP_STATE_LOCK, .argument = 0 },
        { .pid = 7, .call = SYS_flock, .state = CAMP_STATE_LOCK, .argument = 1 },
    };
    struct cause_objects objects = { 0 };
    char path[128];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    make_folder();
    set_up_processes();
    remove_in_folder("7/fd/0");
    remove_in_folder("7/fd/1");
    make("lock", false, "");
    snprintf(path, sizeof path, "%s/lock", folder);
    open_here(7, 0, "lock");
    open_here(7, 1, "lock");
    make_locks(path, 8);
    for (int i = 0; i < 3; i++) {
        cause_objects_find(&objects, calls, 2, folder);
        assert_int_equal(objects.count, 1);
        assert_int_equal(objects.found, 1);
        assert_peer(&objects, path, "held by writer (8)");
    }
    cause_objects_release(&objects);
    remove_in_folder("");
}

static void calls_for_locks_queues_and_signals_have_names(void **state)
{
    static const struct {
        int32_t number;
        const char *name;
        enum call_argument argument;
    } calls[] = {
        { SYS_flock, "flock", CALL_DESCRIPTOR },
        { SYS_fcntl, "fcntl", CALL_DESCRIPTOR },
        { SYS_rt_sigtimedwait, "rt_sigtimedwait", CALL_OTHER },
        { SYS_sync, "sync", CALL_OTHER },
        { SYS_fsync, "fsync", CALL_DESCRIPTOR },
#ifdef SYS_msgrcv
        { SYS_msgrcv, "msgrcv", CALL_OTHER },
#endif
#ifdef SYS_semtimedop
        { SYS_semtimedop, "semtimedop", CALL_SEMAPHORES },
#endif
    };
    uint8_t kinds[CALLS_MAX];

    (void)state;
    if (camp_call_name(SYS_read) == NULL)
        skip();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        assert_string_equal(camp_call_name(calls[i].number), calls[i].name);
        assert_int_equal(camp_call_argument(calls[i].number), calls[i].argument);
    }
    camp_calls_fill(kinds, CALLS_MAX);
    assert_int_equal(kinds[SYS_flock], CAMP_STATE_LOCK);
    assert_int_equal(kinds[SYS_fcntl], CAMP_STATE_LOCK);
    assert_int_equal(kinds[SYS_sync], CAMP_STATE_OTHER_SLEEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_ends_are_named_by_address_and_by_process),
        cmocka_unit_test(a_holder_that_has_exited_or_changed_is_looked_up_again),
        cmocka_unit_test(a_process_with_many_descriptors_ends_the_search_in_time),
        cmocka_unit_test(what_a_late_search_did_not_find_is_looked_up_again),
        cmocka_unit_test(the_other_end_of_a_unix_socket_is_the_process_that_has_it),
        cmocka_unit_test(a_pipe_with_a_name_has_the_process_that_has_it_open),
        cmocka_unit_test(the_holder_of_a_file_lock_is_looked_up_each_time),
        cmocka_unit_test(two_sleeps_for_one_lock_have_one_object),
        cmocka_unit_test(calls_for_locks_queues_and_signals_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
