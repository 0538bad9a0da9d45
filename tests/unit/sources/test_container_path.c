/* Tests which container, pod and unit the path of a cgroup leads to. */
#include "sources/containers/container_path.h"

#include "../tree.h"

#define A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID "8a9b0c1d-2e3f-4a5b-8c7d-9e0f1a2b3c4d"
#define SLICE_UID "8a9b0c1d_2e3f_4a5b_8c7d_9e0f1a2b3c4d"
#define STATIC_UID "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

static const struct {
    const char *path, *runtime, *id, *pod, *unit;
} cases[] = {
    /* Docker */
    { "/system.slice/docker-" A ".scope", "docker", A, "", "docker-0123456789ab.scope" },
    { "/system.slice/docker-" A ".scope/init.scope", "docker", A, "", "init.scope" },
    { "/docker/" A, "docker", A, "", "" },
    { "/ecs/task/" A, "container", A, "", "" },
    { "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" A ".scope", "docker", A,
      "", "user@1000.service/docker-0123456789ab.scope" },
    /* Podman */
    { "/machine.slice/libpod-" A ".scope/container", "podman", A, "", "libpod-0123456789ab.scope" },
    { "/libpod_parent/libpod-" A, "podman", A, "", "" },
    { "/libpod_parent/" B "/libpod-" A, "podman", A, B, "" },
    { "/machine.slice/machine-libpod_pod_" B ".slice/libpod-" A ".scope", "podman", A, B,
      "libpod-0123456789ab.scope" },
    { "/machine.slice/libpod-conmon-" A ".scope", "", "", "", "libpod-conmon-0123456789ab.scope" },
    { "/libpod_parent/conmon", "", "", "", "" },
    /* Kubernetes: containerd, CRI-O, Docker, with both drivers */
    { "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" SLICE_UID
      ".slice/cri-containerd-" A ".scope",
      "containerd", A, UID, "cri-containerd-0123456789ab.scope" },
    { "/kubepods.slice/kubepods-pod" SLICE_UID ".slice/crio-" A ".scope", "cri-o", A, UID,
      "crio-0123456789ab.scope" },
    { "/kubepods.slice/kubepods-pod" SLICE_UID ".slice/crio-conmon-" A ".scope", "", "", UID,
      "crio-conmon-0123456789ab.scope" },
    { "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" SLICE_UID
      ".slice/docker-" A ".scope",
      "docker", A, UID, "docker-0123456789ab.scope" },
    { "/kubepods/burstable/pod" UID "/" A, "container", A, UID, "" },
    { "/kubepods/pod" UID "/crio-" A, "cri-o", A, UID, "" },
    { "/kubepods/burstable/pod" STATIC_UID "/" A, "container", A, STATIC_UID, "" },
    { "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" STATIC_UID
      ".slice/cri-containerd-" A ".scope",
      "containerd", A, STATIC_UID, "cri-containerd-0123456789ab.scope" },
    { "/kubepods/besteffort/pod" UID, "", "", UID, "" },
    { "/system.slice/containerd.service/kubepods-burstable-pod" SLICE_UID
      ".slice:cri-containerd:" A,
      "containerd", A, UID, "containerd.service" },
    /* nerdctl */
    { "/system.slice/nerdctl-" A ".scope", "containerd", A, "", "nerdctl-0123456789ab.scope" },
    { "/default/" A, "container", A, "", "" },
    /* LXC, machines */
    { "/lxc.payload.web-1", "lxc", "web-1", "", "" },
    { "/lxc.payload.web/system.slice/ssh.service", "lxc", "web", "", "ssh.service" },
    { "/lxc/101/ns/system.slice/cron.service", "lxc", "101", "", "cron.service" },
    { "/lxc.monitor.web-1", "", "", "", "" },
    { "/machine.slice/machine-web\\x2d1.scope/payload", "machine", "web-1", "",
      "machine-web-1.scope" },
    { "/machine.slice/systemd-nspawn@web\\x2d1.service/payload", "machine", "web-1", "",
      "systemd-nspawn@web-1.service" },
    { "/machine.slice/machine-qemu\\x2d1\\x2ddb.scope/libvirt/vcpu0", "machine", "qemu-1-db", "",
      "machine-qemu-1-db.scope" },
    /* units */
    { "/system.slice/ssh.service", "", "", "", "ssh.service" },
    { "/system.slice/system-getty.slice/getty@tty1.service", "", "", "", "getty@tty1.service" },
    { "/user.slice/user-1000.slice/session-3.scope", "", "", "", "session-3.scope" },
    { "/user.slice/user-1000.slice/user@1000.service/init.scope", "", "", "",
      "user@1000.service/init.scope" },
    { "/user.slice/user-1000.slice/user@1000.service", "", "", "", "user@1000.service" },
    { "/system.slice/dev-disk-by\\x2duuid-1.swap", "", "", "", "dev-disk-by-uuid-1.swap" },
    { "/user.slice/user-1000.slice", "", "", "", "user-1000.slice" },
    { "/", "", "", "", "" },
    { "", "", "", "", "" },
    /* not what it seems */
    { "/docker/0123456789abcdef", "", "", "", "" },
    { "/system.slice/docker-" A "0.scope", "", "", "", "" },
    { "/system.slice/mydocker.service", "", "", "", "mydocker.service" },
    { "/kubepods/pod12345", "", "", "", "" },
    { "/system.slice/a\\x0zb.service", "", "", "", "a\\x0zb.service" },
};

static void a_path_leads_to_a_container_a_pod_and_a_unit(void **state)
{
    struct container_path path;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        container_path_parse(cases[i].path, &path);
        print_message("%s\n", cases[i].path);
        assert_string_equal(container_runtime_name(path.runtime), cases[i].runtime);
        assert_string_equal(path.id, cases[i].id);
        assert_string_equal(path.pod, cases[i].pod);
        if (strstr(cases[i].path, A "0") == NULL)
            assert_string_equal(path.unit, cases[i].unit);
    }
}

static void check_part(const char *path, size_t length, const char *expected)
{
    char part[400];

    snprintf(part, sizeof part, "%.*s", (int)length, path);
    assert_string_equal(part, expected);
}

static void the_parts_of_a_path_are_the_cgroups_of_pod_and_container(void **state)
{
    static const char text[] =
        "/kubepods.slice/kubepods-pod" SLICE_UID ".slice/crio-" A ".scope/system.slice/a.service/b";
    struct container_path path;

    (void)state;
    container_path_parse(text, &path);
    check_part(text, path.pod_length, "/kubepods.slice/kubepods-pod" SLICE_UID ".slice");
    check_part(text, path.container_length,
               "/kubepods.slice/kubepods-pod" SLICE_UID ".slice/crio-" A ".scope");
    check_part(text, path.unit_length,
               "/kubepods.slice/kubepods-pod" SLICE_UID ".slice/crio-" A
               ".scope/system.slice/a.service");
    assert_int_equal(path.outer_length, 0);
}

static void a_container_in_a_container_names_both(void **state)
{
    static const char docker[] = "/docker/" A "/docker/" B,
                      kind[] = "/docker/" A "/kubelet.slice/kubelet-kubepods.slice/"
                               "kubelet-kubepods-pod" SLICE_UID ".slice/cri-containerd-" B ".scope";
    struct container_path path;

    (void)state;
    container_path_parse(docker, &path);
    assert_string_equal(path.id, B);
    check_part(docker, path.outer_length, "/docker/" A);
    container_path_parse(kind, &path);
    assert_int_equal(path.runtime, RUNTIME_CONTAINERD);
    assert_string_equal(path.pod, UID);
    check_part(kind, path.outer_length, "/docker/" A);
}

static void a_container_of_a_user_names_the_user(void **state)
{
    struct container_path path;

    (void)state;
    container_path_parse(
        "/user.slice/user-1234.slice/user@1234.service/user.slice/libpod-" A ".scope", &path);
    assert_int_equal(path.user, 1234);
    container_path_parse("/machine.slice/libpod-" A ".scope", &path);
    assert_int_equal(path.user, CONTAINER_NO_USER);
}

static uint32_t user_in(const char *path)
{
    struct container_path ret;

    container_path_parse(path, &ret);
    assert_int_equal(ret.runtime, RUNTIME_PODMAN);
    return ret.user;
}

static void the_user_is_that_of_the_outermost_slice_with_any_uid(void **state)
{
    (void)state;
    /* as of an Active Directory */
    assert_int_equal(user_in("/user.slice/user-1845200500.slice/libpod-" A ".scope"), 1845200500);
    assert_int_equal(user_in("/user.slice/user-1000.slice/user@1000.service/user-0.slice/"
                             "libpod-" A ".scope"),
                     1000);
    assert_int_equal(user_in("/user.slice/user-1000x.slice/libpod-" A ".scope"), CONTAINER_NO_USER);
    assert_int_equal(user_in("/user.slice/user--1.slice/libpod-" A ".scope"), CONTAINER_NO_USER);
    assert_int_equal(user_in("/user.slice/user-4294967296.slice/libpod-" A ".scope"),
                     CONTAINER_NO_USER);
}

static void any_bytes_are_a_path(void **state)
{
    static const char *const texts[] = { "///",    "/\xff/\x01",    "pod",
                                         ":",      "/kubepods/pod", "\\x",
                                         "/a\\x2", "/lxc/",         "/machine-.scope",
                                         ".scope", "/lxc.payload.", "/-pod.slice" };
    char text[700];
    struct container_path path;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        container_path_parse(texts[i], &path);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text + sizeof text - 9, ".service", 8);
    container_path_parse(text, &path);
    assert_int_equal(path.runtime, RUNTIME_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_leads_to_a_container_a_pod_and_a_unit),
        cmocka_unit_test(the_parts_of_a_path_are_the_cgroups_of_pod_and_container),
        cmocka_unit_test(a_container_in_a_container_names_both),
        cmocka_unit_test(a_container_of_a_user_names_the_user),
        cmocka_unit_test(the_user_is_that_of_the_outermost_slice_with_any_uid),
        cmocka_unit_test(any_bytes_are_a_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
