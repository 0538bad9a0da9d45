/*
 * Tests what a snapshot from the list of changes reports of sleeping threads that others change:
 * their group, name, parent, and tid.
 */
#include "changes_session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static bool write_text(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    const bool ret = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

    close(file);
    return ret;
}

/* Returns the inode number of a group's folder. */
static uint64_t id_of(const char *folder)
{
    struct stat status;

    assert_int_equal(stat(folder, &status), 0);
    return status.st_ino;
}

/* Mounts the groups of version 2 at a new folder. Returns false if this is impossible. */
static bool mount_groups(char *folder)
{
    assert_non_null(mkdtemp(folder));
    if (mount("none", folder, "cgroup2", 0, NULL) == 0)
        return true;
    print_message("skipped, not passed: cgroups of version 2 cannot be mounted (%s)\n",
                  strerror(errno));
    rmdir(folder);
    return false;
}

/* A group cannot be removed until its processes have left it, a moment after their end. */
static void remove_group(const char *group, char *folder)
{
    for (int i = 0; i < 100 && rmdir(group) != 0; i++)
        usleep(10000);
    umount(folder);
    rmdir(folder);
}

static void the_new_group_of_a_sleeping_process_is_reported_for_each_of_its_threads(void **state)
{
    struct camp_states *session = open_changes_session();
    char folder[] = "/tmp/camp-groups-XXXXXX", group[64], file[80], pid[16];
    struct sleepers *sleepers = make_sleepers(2);
    struct threads threads;
    uint64_t id, first = 0, second = 0;
    pid_t child;

    (void)state;
    if (!mount_groups(folder)) {
        close_states(session);
        skip();
    }
    child = start(be_sleepers, sleepers);
    await_sleep(session, child, sleepers);
    snprintf(group, sizeof group, "%s/camp-test-%d", folder, getpid());
    snprintf(file, sizeof file, "%s/cgroup.procs", group);
    snprintf(pid, sizeof pid, "%d\n", child);
    assert_int_equal(mkdir(group, 0755), 0);
    id = id_of(group);
    assert_true(write_text(file, pid));
    threads = read_list(session);
    end_process(child);
    remove_group(group, folder);
    assert_int_equal(count_of_process(&threads, child), 2);
    first = find_tid(&threads, child)->cgroup;
    second = find_tid(&threads, sleepers->last_tid)->cgroup;
    assert_int_equal(first, id);
    assert_int_equal(second, id);
    free(threads.of);
    munmap(sleepers, sizeof *sleepers);
    close_states(session);
}

#define NEW_NAME "another name"

static struct renaming {
    struct sleepers sleepers;
    int go[2]; /* pipe: a byte lets the first thread rename the second one */
    atomic_bool done;
} * renaming;

static void rename_the_second_thread(void *unused)
{
    char path[64], byte;

    (void)unused;
    add_sleepers(&renaming->sleepers);
    atomic_fetch_add(&renaming->sleepers.asleep, 1);
    if (read(renaming->go[0], &byte, 1) != 1)
        _exit(1);
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", renaming->sleepers.last_tid);
    if (!write_text(path, NEW_NAME))
        _exit(1);
    renaming->done = true;
    sleep_for_ever(&renaming->sleepers);
}

static pid_t start_renaming(void)
{
    renaming = shared_memory(sizeof *renaming);
    renaming->sleepers.threads = 2;
    assert_int_equal(pipe(renaming->go), 0);
    return start(rename_the_second_thread, NULL);
}

static void let_rename(void)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

    assert_int_equal(write(renaming->go[1], "", 1), 1);
    while (!renaming->done && wait_on(began_ns))
        continue;
}

static void end_renaming(void)
{
    close(renaming->go[0]);
    close(renaming->go[1]);
    munmap(renaming, sizeof *renaming);
}

/* The event comes before the kernel writes the name. So the first snapshot after the event may
 * still have the old name, but not the second one. */
static void the_second_snapshot_has_the_new_name_of_a_renamed_sleeping_thread(void **state)
{
    struct camp_states *session = open_changes_session();
    const struct camp_thread_states *thread;
    struct threads threads;
    pid_t child;

    (void)state;
    child = start_renaming();
    await_sleep(session, child, &renaming->sleepers);
    let_rename();
    free(read_list(session).of);
    threads = read_list(session);
    end_process(child);
    assert_true(renaming->done);
    thread = find_tid(&threads, renaming->sleepers.last_tid);
    assert_non_null(thread);
    assert_true(is_asleep((int)thread->state));
    assert_string_equal(thread->name, NEW_NAME);
    free(threads.of);
    end_renaming();
    close_states(session);
}

/* What a visitor that only counts idle threads sees of one thread. */
struct watch {
    int32_t tid;
    size_t seen;
    bool adds_up;
    char before[CAMP_STATES_NAME_SIZE], now[CAMP_STATES_NAME_SIZE];
};

static void see_watched(void *context, const struct camp_thread_states *before,
                        const struct camp_thread_states *now, uint32_t *note)
{
    struct watch *watch = context;
    uint64_t sum = 0;

    (void)note;
    if (now->tid != watch->tid || before == NULL)
        return;
    for (int i = 0; i < CAMP_STATE_COUNT; i++)
        sum += now->state_ns[i];
    watch->seen++;
    watch->adds_up = sum == now->time_ns - now->begin_ns && now->time_ns > before->time_ns;
    snprintf(watch->before, sizeof watch->before, "%s", before->name);
    snprintf(watch->now, sizeof watch->now, "%s", now->name);
}

static void ignore_end(void *context, const struct camp_thread_states *before,
                       const struct camp_thread_states *last, uint32_t note)
{
    (void)context, (void)before, (void)last, (void)note;
}

static void ignore_missed(void *context, const struct camp_thread_states *before, uint32_t note)
{
    (void)context, (void)before, (void)note;
}

static void ignore_idle(void *context, uint64_t time_ns)
{
    (void)context, (void)time_ns;
}

static struct watch watch_once(struct camp_states *session, int32_t tid)
{
    struct watch watch = { .tid = tid };
    const struct camp_states_visitor visitor = { &watch,     see_watched,   NULL,
                                                 ignore_end, ignore_missed, ignore_idle };

    assert_int_equal(camp_states_visit(session, &visitor, sizeof visitor, NULL), CAMP_OK);
    return watch;
}

/* The iterator is all that older kernels have. */
static void a_visitor_that_counts_idle_threads_sees_a_renamed_one_also_by_the_iterator(void **state)
{
    struct camp_states *session = open_states_or_skip(CAMP_STATES_VISIT_ALL);
    struct watch watch;
    uint64_t began_ns;
    int32_t tid;
    pid_t child;

    (void)state;
    child = start_renaming();
    began_ns = now_ns(CLOCK_MONOTONIC);
    while (renaming->sleepers.asleep < 2 && wait_on(began_ns))
        continue;
    tid = renaming->sleepers.last_tid;
    while (watch_once(session, tid).seen > 0 && wait_on(began_ns))
        continue;
    let_rename();
    watch = watch_once(session, tid);
    assert_int_equal(watch.seen, 1);
    assert_true(watch.adds_up);
    assert_string_not_equal(watch.before, NEW_NAME);
    assert_string_equal(watch.now, NEW_NAME);
    watch = watch_once(session, tid);
    assert_int_equal(watch.seen, 0);
    end_process(child);
    end_renaming();
    close_states(session);
}

#define ORPHANS 20

struct family {
    struct sleepers parent;
    struct sleepers children[ORPHANS];
    pid_t pids[ORPHANS];
};

/* Every second child is one of the second thread. */
static void start_children(struct family *family, int first)
{
    for (int i = first; i < ORPHANS; i += 2) {
        const pid_t pid = fork();

        if (pid == 0) {
            alarm(100); /* Ends the child even if the test fails. */
            sleep_for_ever(&family->children[i]);
        }
        family->pids[i] = pid;
    }
}

static void *be_the_second_parent(void *memory)
{
    struct family *family = memory;

    start_children(family, 1);
    sleep_for_ever(&family->parent);
    return NULL;
}

static void be_a_family(void *memory)
{
    struct family *family = memory;
    pthread_t thread;

    if (pthread_create(&thread, NULL, be_the_second_parent, family) != 0)
        _exit(1);
    start_children(family, 0);
    sleep_for_ever(&family->parent);
}

/* The children get this process as their parent before the last thread of their old parent leaves
 * its CPU for ever. */
static void the_new_parent_of_sleeping_processes_is_reported(void **state)
{
    struct camp_states *session = open_changes_session();
    struct family *family = shared_memory(sizeof *family);
    struct threads threads, ended = { 0 };
    int32_t before[ORPHANS], after[ORPHANS];
    uint64_t began_ns;
    size_t exited;
    pid_t parent;

    (void)state;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    family->parent.threads = 2;
    parent = start(be_a_family, family);
    await_sleep(session, parent, &family->parent);
    for (int i = 0; i < ORPHANS; i++) {
        family->children[i].threads = 1;
        await_sleep(session, family->pids[i], &family->children[i]);
    }
    threads = read_list(session);
    for (int i = 0; i < ORPHANS; i++)
        before[i] = find_tid(&threads, family->pids[i])->parent;
    free(threads.of);
    end_process(parent);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do {
        add_exited(session, &ended);
        exited = count_of_process(&ended, parent);
    } while (exited < 2 && wait_on(began_ns));
    threads = read_list(session);
    for (int i = 0; i < ORPHANS; i++) {
        after[i] = find_tid(&threads, family->pids[i])->parent;
        end_process(family->pids[i]);
    }
    assert_int_equal(exited, 2);
    assert_int_equal(count_of_process(&threads, parent), 0);
    for (int i = 0; i < ORPHANS; i++) {
        assert_int_equal(before[i], parent);
        assert_int_equal(after[i], getpid());
    }
    free(threads.of);
    free(ended.of);
    munmap(family, sizeof *family);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close_states(session);
}

static struct replacing {
    struct sleepers sleepers;
    int go[2]; /* pipe: a byte lets the second thread call exec */
} * replacing;

static void *run_another(void *unused)
{
    char byte;

    (void)unused;
    replacing->sleepers.last_tid = gettid();
    atomic_fetch_add(&replacing->sleepers.asleep, 1);
    if (read(replacing->go[0], &byte, 1) == 1)
        execl("/bin/sleep", "sleep", "100", (char *)NULL);
    _exit(1);
}

static void have_a_thread_run_another(void *unused)
{
    pthread_t thread;

    (void)unused;
    if (pthread_create(&thread, NULL, run_another, NULL) != 0)
        _exit(1);
    sleep_for_ever(&replacing->sleepers);
}

static bool is_named(pid_t pid, const char *name)
{
    char path[64], now[CAMP_STATES_NAME_SIZE + 1] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    file = fopen(path, "re");
    assert_non_null(file);
    if (fgets(now, sizeof now, file) == NULL)
        now[0] = '\0';
    fclose(file);
    now[strcspn(now, "\n")] = '\0';
    return strcmp(now, name) == 0;
}

/* execve(2) by the second thread ends the first one, and gives its tid to the second one. */
static void no_thread_remains_with_the_old_tid_after_execve(void **state)
{
    struct camp_states *session = open_changes_session();
    const struct camp_thread_states *thread;
    struct threads threads;
    uint64_t began_ns;
    int32_t old_tid;
    bool named;
    pid_t child;

    (void)state;
    replacing = shared_memory(sizeof *replacing);
    replacing->sleepers.threads = 2;
    assert_int_equal(pipe(replacing->go), 0);
    child = start(have_a_thread_run_another, NULL);
    await_sleep(session, child, &replacing->sleepers);
    old_tid = replacing->sleepers.last_tid;
    assert_int_equal(write(replacing->go[1], "", 1), 1);
    began_ns = now_ns(CLOCK_MONOTONIC);
    do
        named = is_named(child, "sleep");
    while (!named && wait_on(began_ns));
    threads = read_list(session);
    end_process(child);
    assert_true(named);
    assert_int_equal(count_of_process(&threads, child), 1);
    assert_null(find_tid(&threads, old_tid));
    thread = find_tid(&threads, child);
    assert_non_null(thread);
    assert_string_equal(thread->name, "sleep");
    assert_int_equal(sum_ns(thread), thread->time_ns - thread->begin_ns);
    free(threads.of);
    close(replacing->go[0]);
    close(replacing->go[1]);
    munmap(replacing, sizeof *replacing);
    close_states(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_new_group_of_a_sleeping_process_is_reported_for_each_of_its_threads),
        cmocka_unit_test(the_second_snapshot_has_the_new_name_of_a_renamed_sleeping_thread),
        cmocka_unit_test(
            a_visitor_that_counts_idle_threads_sees_a_renamed_one_also_by_the_iterator),
        cmocka_unit_test(the_new_parent_of_sleeping_processes_is_reported),
        cmocka_unit_test(no_thread_remains_with_the_old_tid_after_execve),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
