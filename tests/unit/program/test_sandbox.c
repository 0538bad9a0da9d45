/*
 * What a confined process can and cannot do. Each action is tried in a child process, which enters
 * the sandbox and returns the errno of the action as its exit status.
 */
#include "program/sandbox.h"
#include "program/system_call_filter.h"

#include "../tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/camp-sandbox-XXXXXX";
static char input[64], other[64], output[64], elsewhere[64];

static int system_error_of(bool succeeded)
{
    return succeeded ? 0 : errno;
}

static int tried(const struct sandbox *sandbox, int (*action)(void))
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        sandbox_enter(sandbox, NULL);
        _exit(action());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int read_input(void)
{
    return system_error_of(open(input, O_RDONLY) >= 0);
}

static int read_other(void)
{
    return system_error_of(open(other, O_RDONLY) >= 0);
}

static int write_input(void)
{
    return system_error_of(open(input, O_WRONLY) >= 0);
}

static int write_elsewhere(void)
{
    return system_error_of(open(elsewhere, O_WRONLY | O_CREAT, 0600) >= 0);
}

/* As output_file.c does it. */
static int replace_output(void)
{
    char part[80];
    int descriptor;

    snprintf(part, sizeof part, "%s.part", output);
    descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return system_error_of(descriptor >= 0 && ftruncate(descriptor, 1) == 0 &&
                           rename(part, output) == 0 && unlink(output) == 0);
}

static int make_socket(void)
{
    return system_error_of(socket(AF_INET, SOCK_STREAM, 0) >= 0);
}

static int make_unix_socket(void)
{
    return system_error_of(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

static int listen_on_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int listener = socket(AF_INET, SOCK_STREAM, 0);

    return system_error_of(listener >= 0 &&
                           bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                           listen(listener, 1) == 0);
}

static int connect_to_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(9),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int client = socket(AF_INET, SOCK_STREAM, 0);

    return system_error_of(client >= 0 &&
                           connect(client, (struct sockaddr *)&address, sizeof address) == 0);
}

/* TCP Fast Open connects without connect(2). */
static int send_to_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(9),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int client = socket(AF_INET, SOCK_STREAM, 0);

    return system_error_of(client >= 0 && sendto(client, "x", 1, MSG_FASTOPEN,
                                                 (struct sockaddr *)&address, sizeof address) == 1);
}

static int execute(void)
{
    char name[] = "true";
    char *arguments[] = { name, NULL }, *environment[] = { NULL };

    return system_error_of(execve("/bin/true", arguments, environment) == 0);
}

static int create_process(void)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    return system_error_of(child > 0);
}

static int signal_parent(void)
{
    return system_error_of(kill(getppid(), 0) == 0);
}

static int signal_thread_of_parent(void)
{
    return system_error_of(syscall(SYS_tgkill, getppid(), getppid(), 0) == 0);
}

static int signal_itself(void)
{
    return system_error_of(signal(SIGUSR1, SIG_IGN) != SIG_ERR && raise(SIGUSR1) == 0);
}

static int make_key(void)
{
    return system_error_of(syscall(SYS_keyctl, 0, 0, 0) >= 0);
}

static void *nothing(void *context)
{
    return context;
}

static int create_thread(void)
{
    pthread_t thread;

    errno = pthread_create(&thread, NULL, nothing, NULL);
    return errno != 0 ? errno : pthread_join(thread, NULL);
}

static void *execute_in_thread(void *result)
{
    *(int *)result = execute();
    return NULL;
}

static int create_thread_that_executes(void)
{
    pthread_t thread;
    int result = 0;

    errno = pthread_create(&thread, NULL, execute_in_thread, &result);
    return errno != 0 || pthread_join(thread, NULL) != 0 ? 0 : result;
}

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

static void a_server_of_this_machine_reads_all_files_and_writes_none(void **state)
{
    const struct sandbox sandbox = { .kind = SANDBOX_MACHINE, .serves = true };

    (void)state;
    need_landlock();
    assert_int_equal(tried(&sandbox, read_input), 0);
    assert_int_equal(tried(&sandbox, read_other), 0);
    assert_int_equal(tried(&sandbox, write_input), EACCES);
    assert_int_equal(tried(&sandbox, write_elsewhere), EACCES);
    assert_int_equal(tried(&sandbox, listen_on_loopback), 0);
    if (sandbox_landlock_version() >= 4)
        assert_int_equal(tried(&sandbox, connect_to_loopback), EACCES);
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
    assert_int_equal(tried(&sandbox, send_to_loopback), EPERM);
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

    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
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
        cmocka_unit_test(a_server_of_this_machine_reads_all_files_and_writes_none),
        cmocka_unit_test(a_file_reader_makes_no_socket),
        cmocka_unit_test(a_server_of_a_file_listens_but_does_not_connect),
        cmocka_unit_test(no_kind_of_sandbox_permits_programs_processes_or_signals),
        cmocka_unit_test(threads_and_signals_to_itself_are_permitted),
        cmocka_unit_test(a_command_with_a_converter_executes_it),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
