/* Tests the names of containers by the files of their runtimes, quotas, and /proc/PID/cgroup. */
#include "sources/containers/container_place.h"
#include "sources/containers/process_cgroup.h"

#include "../tree.h"

#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <sys/wait.h>

#define FOUR(x) x x x x
#define ID(byte) FOUR(FOUR(byte byte))
#define UID "8a9b0c1d-2e3f-4a5b-8c7d-9e0f1a2b3c4d"

static void use_fixtures(void)
{
    char root[PATH_MAX];

    snprintf(root, sizeof root, "%s/containers", getenv("CAMP_FIXTURES"));
    setenv("CAMP_ROOT", root, 1);
}

/* Looks up the container of a path, and names it as containers.c does. */
static int name_of(const char *path, struct container_place *place)
{
    *place = (struct container_place){ 0 };
    container_path_parse(path, &place->parsed);
    place->own = place->parsed.runtime != RUNTIME_NONE ? place : NULL;
    if (place->own != NULL)
        place->result = container_lookup(&place->parsed, &place->names);
    container_place_name(place, &place, 1);
    return place->result;
}

static const struct {
    const char *path, *container, *pod;
} named[] = {
    { "/system.slice/docker-" ID("d1") ".scope", "web", "(no pod)" },
    { "/docker/" ID("d2"), "shop-db-1", "shop (compose)" },
    { "/kubepods/pod" UID "/" ID("d3"), "shop/api-0/api", "shop/api-0" },
    { "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID("d4") ".scope",
      "user-1000/web", "(no pod)" },
    { "/kubepods.slice/kubepods-pod8a9b0c1d_2e3f_4a5b_8c7d_9e0f1a2b3c4d.slice/cri-containerd-" ID(
          "c1") ".scope",
      "shop/db-0/postgres", "shop/db-0" },
    { "/kubepods/burstable/pod" UID "/" ID("c2"), "shop/db-0/(sandbox)", "shop/db-0" },
    { "/system.slice/nerdctl-" ID("c3") ".scope", "batch", "(no pod)" },
    { "/kubepods/pod" UID "/" ID("c4"), "kube-system/coredns-6799fbcd5-x7k2p/coredns",
      "kube-system/coredns-6799fbcd5-x7k2p" },
    { "/docker/" ID("d5"), "moved", "(no pod)" },
    { "/machine.slice/libpod-" ID("a5") ".scope/container", "far", "(no pod)" },
    { "/machine.slice/libpod-" ID("a1") ".scope/container", "cache", "(no pod)" },
    { "/libpod_parent/libpod-" ID("a2"), "queue", "(no pod)" },
    { "/libpod_parent/" ID("77") "/libpod-" ID("a3"), "job", "pod:777777777777" },
    { "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID("a4") ".scope",
      "user-1000/notes", "(no pod)" },
    { "/kubepods.slice/kubepods-pod8a9b0c1d_2e3f_4a5b_8c7d_9e0f1a2b3c4d.slice/crio-" ID(
          "b1") ".scope",
      "shop/front-7d9f/nginx", "shop/front-7d9f" },
    { "/kubepods/pod" UID "/crio-" ID("b2"), "shop/front-7d9f/(sandbox)", "shop/front-7d9f" },
};

static void each_runtime_names_its_containers(void **state)
{
    struct container_place place;

    (void)state;
    use_fixtures();
    for (size_t i = 0; i < COUNT(named); i++) {
        assert_int_equal(name_of(named[i].path, &place), CAMP_OK);
        assert_string_equal(place.texts[LABEL_CONTAINER], named[i].container);
        assert_string_equal(place.texts[LABEL_POD], named[i].pod);
    }
}

static void a_container_without_a_file_is_named_by_its_id(void **state)
{
    struct container_place place;

    (void)state;
    use_fixtures();
    assert_int_equal(name_of("/docker/" ID("ee"), &place), CAMP_E_GONE);
    assert_string_equal(place.texts[LABEL_CONTAINER], "docker:eeeeeeeeeeee");
    assert_int_equal(name_of("/kubepods/pod" UID "/crio-" ID("ee"), &place), CAMP_E_GONE);
    assert_string_equal(place.texts[LABEL_CONTAINER], "cri-o:eeeeeeeeeeee");
    assert_string_equal(place.texts[LABEL_POD], "pod:" UID);
    name_of("/kubepods/pod" UID, &place);
    assert_string_equal(place.texts[LABEL_CONTAINER], "pod:" UID);
    name_of("/system.slice/cron.service", &place);
    assert_string_equal(place.texts[LABEL_CONTAINER], "(host)");
    assert_string_equal(place.texts[LABEL_POD], "(host)");
    assert_string_equal(place.texts[LABEL_UNIT], "cron.service");
    name_of("/", &place);
    assert_string_equal(place.texts[LABEL_UNIT], "(no unit)");
}

/* Names a place of a pod beside a container whose file names that pod. */
static void name_beside(const char *path, const char *expected)
{
    struct container_place known, place = { 0 }, around = { 0 };
    struct container_place *siblings[] = { &known, &place };

    assert_int_equal(name_of("/kubepods/pod" UID "/" ID("d3"), &known), CAMP_OK);
    container_path_parse(path, &place.parsed);
    snprintf(around.texts[LABEL_CONTAINER], CONTAINER_TEXT_SIZE, "web");
    if (place.parsed.container_length > 0)
        place.own = &around;
    container_place_name(&place, siblings, 2);
    assert_string_equal(place.texts[LABEL_POD], expected);
}

static void only_a_place_of_root_has_the_name_of_a_pod_of_root(void **state)
{
    static const char slice[] = "8a9b0c1d_2e3f_4a5b_8c7d_9e0f1a2b3c4d.slice";
    char path[400];

    (void)state;
    use_fixtures();
    name_beside("/kubepods/pod" UID, "shop/api-0");
    snprintf(path, sizeof path, "/user.slice/user-1000.slice/user@1000.service/a-pod%s", slice);
    name_beside(path, "user-1000/pod:" UID);
    snprintf(path, sizeof path, "/docker/" ID("ee") "/kubepods/pod" UID);
    name_beside(path, "web/pod:" UID);
    snprintf(path, sizeof path, "/docker/" ID("ee") "/kubepods/pod" UID "/" ID("ff"));
    name_beside(path, "web/pod:" UID);
}

static void a_user_does_not_read_the_files_of_root_and_root_not_those_of_a_user(void **state)
{
    struct container_place place;

    (void)state;
    use_fixtures();
    assert_int_equal(name_of("/user.slice/user-1000.slice/docker-" ID("d1") ".scope", &place),
                     CAMP_E_GONE);
    assert_int_equal(name_of("/system.slice/docker-" ID("d4") ".scope", &place), CAMP_E_GONE);
}

/* Makes the folder of a container of Docker in a new root, and returns the path of its file. */
static const char *docker_file(struct tree *tree)
{
    static char path[PATH_MAX];
    static const char *const parts[] = { "var", "lib", "docker", "containers", ID("d1") };

    *tree = (struct tree){ 0 };
    snprintf(tree->folder, sizeof tree->folder, "/tmp/camp-containers-XXXXXX");
    assert_non_null(mkdtemp(tree->folder));
    snprintf(path, sizeof path, "%s", tree->folder);
    for (size_t i = 0; i < COUNT(parts); i++) {
        snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", parts[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path + strlen(path), sizeof path - strlen(path), "/config.v2.json");
    setenv("CAMP_ROOT", tree->folder, 1);
    return path;
}

static void remove_root(struct tree *tree)
{
    char command[PATH_MAX + 32];

    snprintf(command, sizeof command, "rm -r %s", tree->folder);
    assert_int_equal(system(command), 0);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_link_a_pipe_and_a_folder_are_not_read(void **state)
{
    struct tree tree;
    struct container_place place;
    const char *path = docker_file(&tree);
    char other[PATH_MAX + 8];

    (void)state;
    snprintf(other, sizeof other, "%s.other", path);
    write_file(other, "{\"Name\":\"/secret\"}");
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(name_of("/docker/" ID("d1"), &place), CAMP_E_FORMAT);
    assert_string_equal(place.texts[LABEL_CONTAINER], "docker:d1d1d1d1d1d1");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(name_of("/docker/" ID("d1"), &place), CAMP_E_FORMAT);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(name_of("/docker/" ID("d1"), &place), CAMP_E_FORMAT);
    rmdir(path);
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(name_of("/docker/" ID("d1"), &place), CAMP_OK);
    assert_string_equal(place.texts[LABEL_CONTAINER], "secret");
    remove_root(&tree);
}

static void a_file_that_may_not_be_read_says_so(void **state)
{
    struct tree tree;
    struct container_place place;
    const char *path = docker_file(&tree);

    (void)state;
    write_file(path, "{\"Name\":\"/web\"}");
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() == 0)
        assert_int_equal(name_of("/docker/" ID("d1"), &place), CAMP_OK);
    else
        assert_int_equal(name_of("/docker/" ID("d1"), &place), CAMP_E_PERM);
    remove_root(&tree);
}

static void write_at(const char *folder, const char *path, const char *text)
{
    char whole[PATH_MAX * 2];

    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    if (text == NULL)
        assert_int_equal(mkdir(whole, 0700), 0);
    else
        write_file(whole, text);
}

static void the_least_quota_around_a_cgroup_counts(void **state)
{
    struct tree tree = { 0 };
    struct cpu_hierarchy hierarchy = { tree.folder, false };

    (void)state;
    snprintf(tree.folder, sizeof tree.folder, "/tmp/camp-quota-XXXXXX");
    assert_non_null(mkdtemp(tree.folder));
    write_at(tree.folder, "a", NULL);
    write_at(tree.folder, "a/cpu.max", "150000 100000\n");
    write_at(tree.folder, "a/b", NULL);
    write_at(tree.folder, "a/b/cpu.max", "max 100000\n");
    write_at(tree.folder, "a/b/c", NULL);
    write_at(tree.folder, "a/b/c/cpu.max", "25000 50000\n");
    write_at(tree.folder, "a/b/d", NULL);
    write_at(tree.folder, "a/b/d/cpu.max", "400000 100000\n");
    assert_float_equal(cpu_quota(&hierarchy, "/a/b/c", 6), 0.5, 1e-9);
    assert_float_equal(cpu_quota(&hierarchy, "/a/b/d", 6), 1.5, 1e-9);
    write_at(tree.folder, "a/b/none", NULL); /* without the controller */
    assert_float_equal(cpu_quota(&hierarchy, "/a/b/none", 9), 1.5, 1e-9);
    assert_float_equal(cpu_quota(&hierarchy, "/", 1), 0, 1e-9);
    write_at(tree.folder, "x", NULL);
    assert_float_equal(cpu_quota(&hierarchy, "/x", 2), 0, 1e-9);
    hierarchy.is_v1 = true;
    write_at(tree.folder, "a/b/c/cpu.cfs_quota_us", "20000\n");
    write_at(tree.folder, "a/b/c/cpu.cfs_period_us", "100000\n");
    write_at(tree.folder, "a/cpu.cfs_quota_us", "-1\n");
    write_at(tree.folder, "a/cpu.cfs_period_us", "100000\n");
    assert_float_equal(cpu_quota(&hierarchy, "/a/b/c", 6), 0.2, 1e-9);
    assert_float_equal(cpu_quota(&hierarchy, "/a", 2), 0, 1e-9);
    remove_root(&tree);
}

static void the_quota_of_a_removed_cgroup_is_unknown_or_as_it_was(void **state)
{
    struct container_place place = { .path = (char *)(uintptr_t) "/lxc/web" };
    struct cpu_hierarchy hierarchy;
    struct tree tree = { 0 };

    (void)state;
    snprintf(tree.folder, sizeof tree.folder, "/tmp/camp-quota-XXXXXX");
    assert_non_null(mkdtemp(tree.folder));
    hierarchy = (struct cpu_hierarchy){ tree.folder, false };
    write_at(tree.folder, "lxc", NULL);
    container_path_parse(place.path, &place.parsed);
    container_place_read_quotas(&place, &hierarchy);
    assert_string_equal(place.texts[LABEL_CONTAINER_QUOTA], "");
    assert_string_equal(place.texts[LABEL_POD_QUOTA], "none");
    write_at(tree.folder, "lxc/web", NULL);
    write_at(tree.folder, "lxc/web/cpu.max", "50000 100000\n");
    container_place_read_quotas(&place, &hierarchy);
    assert_string_equal(place.texts[LABEL_CONTAINER_QUOTA], "0.5");
    remove_root(&tree);
    container_place_read_quotas(&place, &hierarchy);
    assert_string_equal(place.texts[LABEL_CONTAINER_QUOTA], "0.5");
}

/* That of musl before 1.2.5: it finds the option within a word. */
char *hasmntopt(const struct mntent *entry, const char *option)
{
    return strstr(entry->mnt_opts, option);
}

static void find_hierarchy(const char *mounts, const char *mount, bool is_v1)
{
    FILE *file = fmemopen((void *)(uintptr_t)mounts, strlen(mounts), "r");
    struct cpu_hierarchy hierarchy;

    assert_non_null(file);
    cpu_hierarchy_find(file, &hierarchy);
    fclose(file);
    if (mount == NULL)
        assert_null(hierarchy.mount);
    else
        assert_string_equal(hierarchy.mount, mount);
    assert_int_equal(hierarchy.is_v1, is_v1);
    cpu_hierarchy_release(&hierarchy);
}

static void the_cpu_controller_of_version_1_comes_before_version_2(void **state)
{
    (void)state;
    find_hierarchy("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "/sys/fs/cgroup", false);
    find_hierarchy("cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
                   "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
                   "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n",
                   "/sys/fs/cgroup/cpu,cpuacct", true);
    find_hierarchy("cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n", NULL, false);
    find_hierarchy("cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n", NULL, false);
}

static void the_path_that_says_most_is_that_of_a_process(void **state)
{
    struct process_cgroup cgroup;

    (void)state;
    assert_true(
        process_cgroup_parse("9:name=systemd:/\n4:memory:/docker/" ID(
                                 "d1") "\n3:cpuset:/\n2:cpu,cpuacct:/docker/" ID("d1") "\n0::/\n",
                             &cgroup));
    assert_string_equal(cgroup.path, "/docker/" ID("d1"));
    assert_string_equal(cgroup.cpu_path, "/docker/" ID("d1"));
    assert_true(process_cgroup_parse("1:cpu:/system.slice\n0::/system.slice/cron.service (deleted)",
                                     &cgroup));
    assert_string_equal(cgroup.path, "/system.slice/cron.service");
    assert_string_equal(cgroup.cpu_path, "/system.slice");
    assert_true(process_cgroup_parse("0::/\n", &cgroup));
    assert_string_equal(cgroup.path, "/");
    assert_string_equal(cgroup.cpu_path, "");
    assert_false(process_cgroup_parse("", &cgroup));
    assert_false(process_cgroup_parse("no path\n::\n0::x\n", &cgroup));
}

static void the_cgroup_of_this_process_is_found(void **state)
{
    struct process_cgroup cgroup;

    (void)state;
    assert_true(process_cgroup_read(getpid(), &cgroup));
    assert_int_equal(cgroup.path[0], '/');
    assert_false(process_cgroup_read(0, &cgroup));
}

static const struct container_place *place_of(struct containers *containers, int32_t pid,
                                              int32_t parent)
{
    const struct container_task task = { 0, pid, parent };
    const struct container_place *place = containers_find(containers, &task);

    assert_non_null(place);
    return place;
}

static void a_process_that_ended_keeps_its_place_or_has_that_of_its_parent(void **state)
{
    const struct container_place *own, *unknown;
    struct containers *containers;
    struct camp_error error = { 0 };
    const pid_t child = fork();

    (void)state;
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    if (containers_open(&containers, &error) != CAMP_OK) {
        print_message("%s\n", error.message);
        kill(child, SIGKILL);
        skip();
    }
    own = place_of(containers, getpid(), 0);
    assert_ptr_equal(place_of(containers, child, getpid()), own);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    containers_start(containers);
    assert_ptr_equal(place_of(containers, child, 0), own);
    containers_start(containers);
    assert_ptr_equal(place_of(containers, INT32_MAX, child), own);
    unknown = place_of(containers, INT32_MAX - 1, INT32_MAX - 2);
    assert_string_equal(container_place_text(unknown, LABEL_CONTAINER), "(unknown)");
    assert_string_equal(container_place_text(unknown, LABEL_POD_QUOTA), "");
    assert_string_not_equal(container_place_text(own, LABEL_POD_QUOTA), "");
    for (int i = 0; i < 200; i++) /* longer than a place is kept without a task */
        containers_start(containers);
    assert_string_equal(container_place_text(place_of(containers, child, 0), LABEL_CONTAINER),
                        "(unknown)");
    containers_close(containers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_runtime_names_its_containers),
        cmocka_unit_test(a_container_without_a_file_is_named_by_its_id),
        cmocka_unit_test(only_a_place_of_root_has_the_name_of_a_pod_of_root),
        cmocka_unit_test(a_user_does_not_read_the_files_of_root_and_root_not_those_of_a_user),
        cmocka_unit_test(a_link_a_pipe_and_a_folder_are_not_read),
        cmocka_unit_test(a_file_that_may_not_be_read_says_so),
        cmocka_unit_test(the_least_quota_around_a_cgroup_counts),
        cmocka_unit_test(the_quota_of_a_removed_cgroup_is_unknown_or_as_it_was),
        cmocka_unit_test(the_cpu_controller_of_version_1_comes_before_version_2),
        cmocka_unit_test(the_path_that_says_most_is_that_of_a_process),
        cmocka_unit_test(the_cgroup_of_this_process_is_found),
        cmocka_unit_test(a_process_that_ended_keeps_its_place_or_has_that_of_its_parent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
