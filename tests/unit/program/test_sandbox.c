/* What a confined process can and cannot do. */
#include "sandbox_actions.h"

#include "program/linux/system_call_filter.h"

#ifdef SYS_socketcall
#define HAS_SOCKETCALL true
#else
#define HAS_SOCKETCALL false
#endif

static void need_landlock(void)
{
    if (sandbox_landlock_version() == 0 || !sandbox_is_used()) {
        print_message("this kernel has no Landlock, or this build has a sanitizer\n");
        skip();
    }
}

static void need_filter(void)
{
    if (!system_call_filter_exists() || !sandbox_is_used()) {
        print_message("no filter on this architecture, or this build has a sanitizer\n");
        skip();
    }
}

static void a_file_reader_opens_only_its_input_and_writes_only_its_output(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_FILE, .input = input, .output = output };

    (void)state;
    need_landlock();
    assert_int_equal(tried(&sandbox, read_input), 0);
    assert_int_equal(tried(&sandbox, read_other), EACCES);
    assert_int_equal(tried(&sandbox, write_input), EACCES);
    assert_int_equal(tried(&sandbox, write_elsewhere), EACCES);
    assert_int_equal(tried(&sandbox, replace_output), 0);
}

static void a_file_reader_without_an_output_writes_nothing(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_FILE, .input = input };

    (void)state;
    need_landlock();
    assert_int_equal(tried(&sandbox, read_input), 0);
    assert_int_equal(tried(&sandbox, replace_output), EACCES);
}

static void a_server_of_this_machine_reads_the_kernel_and_names_and_writes_nothing(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_MACHINE, .serves = true };

    (void)state;
    need_landlock();
    assert_int_equal(tried(&sandbox, read_names_and_processes), 0);
    assert_int_equal(tried(&sandbox, read_other), EACCES);
    assert_int_equal(tried(&sandbox, write_input), EACCES);
    assert_int_equal(tried(&sandbox, write_elsewhere), EACCES);
    assert_int_equal(tried(&sandbox, listen_on_loopback), 0);
    if (sandbox_landlock_version() >= 4)
        assert_int_equal(tried(&sandbox, connect_to_loopback), EACCES);
}

/* Opens a file below the root of the fixtures of container runtimes. */
static int read_below_root(const char *name)
{
    char path[PATH_MAX];
    int file;

    snprintf(path, sizeof path, "%s/%s", getenv("CAMP_ROOT"), name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    return system_error_of(file >= 0);
}

static int read_containers(void)
{
    return read_below_root("var/lib/containers/storage/overlay-containers/containers.json");
}

static int read_containers_of_a_user(void)
{
    return read_below_root("home/1000/.local/share/containers/storage/overlay-containers/"
                           "containers.json");
}

static int read_beside_containers(void)
{
    return read_below_root("run/user/1000/README");
}

static void names_of_containers_open_only_the_folders_of_the_runtimes(void **state)
{
    const struct sandbox with = { .kind = SANDBOX_MACHINE, .containers = true },
                         without = { .kind = SANDBOX_MACHINE };
    char root[PATH_MAX];

    (void)state;
    need_landlock();
    snprintf(root, sizeof root, "%s/containers", getenv("CAMP_FIXTURES"));
    setenv("CAMP_ROOT", root, 1);
    if (strncmp(root, "/usr/", 5) == 0 || strncmp(root, "/opt/", 5) == 0) {
        print_message("the fixtures are in a folder that each command may read\n");
        skip();
    }
    assert_int_equal(tried(&with, read_containers), 0);
    assert_int_equal(tried(&with, read_containers_of_a_user), 0);
    assert_int_equal(tried(&with, read_beside_containers), EACCES);
    assert_int_equal(tried(&with, write_elsewhere), EACCES);
    assert_int_equal(tried(&without, read_containers), EACCES);
    unsetenv("CAMP_ROOT");
}

static int read_secret(void)
{
    return read_below_root("secret/containers.json");
}

/* A user could otherwise choose what a command of root may read. */
static void a_link_of_a_user_opens_no_other_folder(void **state)
{
    static const char make[] = "cd \"$CAMP_ROOT\" && mkdir -p secret run/user/1000 "
                               "home/1000/.local/share/containers/storage "
                               "&& echo x >secret/containers.json && ln -s \"$CAMP_ROOT/secret\" "
                               "home/1000/.local/share/containers/storage/overlay-containers";
    const struct sandbox with = { .kind = SANDBOX_MACHINE, .containers = true };
    char root[] = "/tmp/camp-sandbox-XXXXXX", command[64];

    (void)state;
    need_landlock();
    assert_non_null(mkdtemp(root));
    setenv("CAMP_ROOT", root, 1);
    assert_int_equal(system(make), 0);
    assert_int_equal(read_secret(), 0);
    assert_int_equal(tried(&with, read_secret), EACCES);
    unsetenv("CAMP_ROOT");
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void a_file_reader_makes_no_socket(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_FILE, .input = input };

    (void)state;
    need_filter();
    assert_int_equal(tried(&sandbox, make_socket), EPERM);
    assert_int_equal(tried(&sandbox, make_unix_socket), EPERM);
}

static void a_server_of_a_file_listens_but_does_not_connect(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_FILE, .input = input, .serves = true };

    (void)state;
    need_filter();
    assert_int_equal(tried(&sandbox, listen_on_loopback), 0);
    assert_int_equal(tried(&sandbox, connect_to_loopback), EPERM);
    if (!HAS_SOCKETCALL)
        assert_int_equal(tried(&sandbox, make_unix_datagram_socket), EPERM);
}

static void a_server_sends_only_to_its_clients(void **state)
{
    (void)state;
    need_filter();
    if (HAS_SOCKETCALL) {
        print_message("the filter cannot read the arguments of socketcall(2)\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        const struct sandbox sandbox = { .kind = i == 0 ? SANDBOX_FILE : SANDBOX_MACHINE,
                                         .serves = true };

        assert_int_equal(tried(&sandbox, send_to_loopback), EPERM);
        assert_int_equal(tried(&sandbox, make_udp_socket), EPERM);
        assert_int_equal(tried(&sandbox, make_raw_socket), EPERM);
        assert_int_equal(tried(&sandbox, make_packet_socket), EPERM);
        assert_int_equal(tried(&sandbox, make_sctp_socket), EPERM);
        assert_int_equal(tried(&sandbox, make_unix_socket), 0);
    }
}

static void a_reader_of_a_server_looks_names_up_but_makes_no_raw_socket(void **state)
{
    (void)state;
    need_filter();
    for (int i = 0; i < 2; i++) {
        const struct sandbox sandbox = { .kind = i == 0 ? SANDBOX_FLEET : SANDBOX_SESSIONS };

        assert_int_equal(tried(&sandbox, make_udp_socket), 0);
        assert_int_equal(tried(&sandbox, make_raw_socket), EPERM);
        assert_int_equal(tried(&sandbox, make_packet_socket), EPERM);
    }
}

static void no_kind_of_sandbox_permits_to_change_rights_or_other_processes(void **state)
{
    (void)state;
    need_filter();
    for (enum sandbox_kind kind = SANDBOX_FILE; kind <= SANDBOX_SESSIONS; kind++) {
        const struct sandbox sandbox = { .kind = kind, .input = input, .serves = true };

        assert_int_equal(tried(&sandbox, change_mode), EPERM);
        assert_int_equal(tried(&sandbox, change_owner), EPERM);
        assert_int_equal(tried(&sandbox, change_attribute), EPERM);
        assert_int_equal(tried(&sandbox, shorten_input), EPERM);
        assert_int_equal(tried(&sandbox, change_limit_of_parent), EPERM);
        assert_int_equal(tried(&sandbox, read_own_limit), 0);
    }
}

static void only_an_output_that_replaces_a_foreign_file_may_get_its_rights(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_FILE, .input = input, .output = other };

    (void)state;
    need_filter();
    assert_int_equal(tried(&sandbox, change_mode_of_open), EPERM);
    if (geteuid() != 0) {
        print_message("only root can give a file to another user\n");
        skip();
    }
    assert_int_equal(chown(other, 65534, 65534), 0);
    assert_int_equal(tried(&sandbox, change_mode_of_open), 0);
    assert_int_equal(tried(&sandbox, change_mode), EPERM);
    assert_int_equal(chown(other, 0, 0), 0);
}

static void a_reader_of_a_fleet_does_not_listen(void **state)
{
    const struct sandbox reader = { .kind = SANDBOX_FLEET };
    const struct sandbox server = { .kind = SANDBOX_FLEET, .serves = true };

    (void)state;
    need_filter();
    assert_int_equal(tried(&reader, listen_without_address), EPERM);
    assert_int_equal(tried(&server, listen_without_address), 0);
}

static void a_confined_process_keeps_only_the_capabilities_that_it_needs(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root has capabilities to give up\n");
        skip();
    }
    for (enum sandbox_kind kind = SANDBOX_FILE; kind <= SANDBOX_FLEET; kind++)
        assert_int_equal(tried(&(struct sandbox){ .kind = kind }, has_other_capabilities), 0);
    assert_int_equal(tried(&(struct sandbox){ .kind = SANDBOX_MACHINE, .serves = true },
                           has_other_capabilities_than_servers),
                     0);
    assert_int_equal(tried(&(struct sandbox){ .kind = SANDBOX_SESSIONS }, has_sys_admin), 0);
}

static void no_kind_of_sandbox_permits_programs_processes_or_signals(void **state)
{
    (void)state;
    need_filter();
    for (enum sandbox_kind kind = SANDBOX_FILE; kind <= SANDBOX_SESSIONS; kind++) {
        const struct sandbox sandbox = { .kind = kind, .serves = true };

        assert_int_equal(tried(&sandbox, execute), EPERM);
        assert_int_equal(tried(&sandbox, create_process), EPERM);
        assert_int_equal(tried(&sandbox, create_thread_that_executes), EPERM);
        assert_int_equal(tried(&sandbox, signal_parent), EPERM);
        assert_int_equal(tried(&sandbox, signal_thread_of_parent), EPERM);
        assert_int_equal(tried(&sandbox, signal_thread_by_its_id), EPERM);
        assert_int_equal(tried(&sandbox, queue_signal_of_parent), EPERM);
        assert_int_equal(tried(&sandbox, type_into_terminal), EPERM);
        assert_int_equal(tried(&sandbox, make_shared_memory), EPERM);
        assert_int_equal(tried(&sandbox, make_key), EPERM);
    }
}

static void threads_and_signals_to_itself_are_permitted(void **state)
{
    (void)state;
    need_filter();
    for (enum sandbox_kind kind = SANDBOX_FILE; kind <= SANDBOX_SESSIONS; kind++) {
        const struct sandbox sandbox = { .kind = kind };

        assert_int_equal(tried(&sandbox, create_thread), 0);
        assert_int_equal(tried(&sandbox, signal_itself), 0);
    }
}

static void a_command_with_a_converter_executes_it(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_FILE, .input = input, .converts = true };

    (void)state;
    need_filter();
    if (sizeof(long) == 4) {
        print_message("the programs of this system may make calls of 64 bits\n");
        skip();
    }
    assert_int_equal(tried(&sandbox, execute), 0);
    assert_int_equal(tried(&sandbox, make_socket), EPERM);
}

static int make_folder(void **state)
{
    const char *const files[] = { input, other };
    const int pseudo_terminal = posix_openpt(O_RDWR | O_NOCTTY);

    (void)state;
    if (mkdtemp(folder) == NULL || grantpt(pseudo_terminal) != 0 || unlockpt(pseudo_terminal) != 0)
        return -1;
    terminal = open(ptsname(pseudo_terminal), O_RDWR | O_NOCTTY);
    snprintf(input, sizeof input, "%s/input", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(output, sizeof output, "%s/out/output", folder);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    for (size_t i = 0; i < 2; i++) {
        const int descriptor = open(files[i], O_WRONLY | O_CREAT, 0600);

        if (descriptor < 0 || close(descriptor) != 0)
            return -1;
    }
    *strrchr(output, '/') = '\0';
    if (mkdir(output, 0700) != 0)
        return -1;
    output[strlen(output)] = '/';
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(input);
    unlink(other);
    unlink(elsewhere);
    *strrchr(output, '/') = '\0';
    rmdir(output);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_reader_opens_only_its_input_and_writes_only_its_output),
        cmocka_unit_test(a_file_reader_without_an_output_writes_nothing),
        cmocka_unit_test(a_server_of_this_machine_reads_the_kernel_and_names_and_writes_nothing),
        cmocka_unit_test(names_of_containers_open_only_the_folders_of_the_runtimes),
        cmocka_unit_test(a_link_of_a_user_opens_no_other_folder),
        cmocka_unit_test(a_file_reader_makes_no_socket),
        cmocka_unit_test(a_server_of_a_file_listens_but_does_not_connect),
        cmocka_unit_test(a_server_sends_only_to_its_clients),
        cmocka_unit_test(a_reader_of_a_server_looks_names_up_but_makes_no_raw_socket),
        cmocka_unit_test(no_kind_of_sandbox_permits_to_change_rights_or_other_processes),
        cmocka_unit_test(only_an_output_that_replaces_a_foreign_file_may_get_its_rights),
        cmocka_unit_test(a_reader_of_a_fleet_does_not_listen),
        cmocka_unit_test(a_confined_process_keeps_only_the_capabilities_that_it_needs),
        cmocka_unit_test(no_kind_of_sandbox_permits_programs_processes_or_signals),
        cmocka_unit_test(threads_and_signals_to_itself_are_permitted),
        cmocka_unit_test(a_command_with_a_converter_executes_it),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
